// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What fuzzing and reading with a hostile eye found, and what a file or a user may do while one is
 * read: each stays within a second of the processor and the memory that its size justifies, and
 * what is wrong is told.
 */
#include <fcntl.h>
#include <json-c/json.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>
#include <cmocka.h>

#include "faults.h"
#include "model.h"
#include "pages.h"
#include "reading.h"
#include "report.h"
#include "ringbuf.h"
#include "trace_writer.h"
#include "trace_writer_faults.h"

#define BASE	UINT64_C(0x7f0000000000)
#define WRITE	0x1255
#define NR_MANY 30000 /* what took minutes where it took time by the square */

static char temp_path[] = "/tmp/test_hostile-XXXXXX";

static double cpu_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* A recording of @nr folios mapped and as many faults on a second CPU; the first loses events. */
static void write_recording(const struct tw_config *config, unsigned int nr)
{
	const struct tw_vma vma = { BASE, BASE + ((uint64_t)nr << 13), 0xffff888000100000 };
	struct trace_writer *w = tw_new(config);

	assert_non_null(w);
	for (unsigned int i = 0; i < nr; i++) {
		uint64_t ts = 1000 + (uint64_t)i * (NR_MANY + 10);

		tw_fault_entry(w, TW_AT(0, ts, 100), &vma, BASE + ((uint64_t)i << 13), WRITE);
		tw_page_alloc(w, TW_AT(0, ts + 1, 100), 2 * i, 1, TW_GFP_MTHP);
		tw_fault_exit(w, TW_AT(0, ts + 2 + i, 100), 0); /* all latencies differ */
		tw_fault(w, TW_AT(1, ts, 101), 5, &vma, BASE, WRITE, 0);
		if (i == nr / 2)
			tw_lost(w, 0, 3, true);
	}
	assert_int_equal(tw_write(w, temp_path), 0);
	tw_free(w);
}

/* Whether report tells damage at @path for @reason. */
static bool is_told(const char *path, const char *reason)
{
	const struct report_options options = { 0 };
	struct recording rec = { 0 };
	const char *why;
	bool told = false;

	report_read(path, &options, &rec, &why);
	for (size_t i = 0; i < rec.damages.nr_kept; i++)
		told |= strstr(rec.damages.list[i].reason, reason) != NULL;
	recording_release(&rec);
	return told;
}

/* The place of CPU @nr in the BUFFER option of the file: its number, then offset and size. */
static size_t cpu_entry(const uint8_t *data, size_t size, unsigned int nr)
{
	struct tracefile tf;
	uint8_t entry[20];
	const uint8_t *hit;

	assert_int_equal(tracefile_open(&tf, temp_path), 0);
	memcpy(entry, &tf.buffers[0].cpus[nr].cpu, 4);
	memcpy(entry + 4, &tf.buffers[0].cpus[nr].offset, 8);
	memcpy(entry + 12, &tf.buffers[0].cpus[nr].size, 8);
	tracefile_close(&tf);
	hit = memmem(data, size, entry, sizeof(entry));
	assert_non_null(hit);
	return hit - data;
}

/* The model keeps so many bits of a pid as Linux has: one that has more is told of. */
static void test_pids(void **state)
{
	static const struct {
		int pid;
		bool is_bad;
	} cases[] = { { 0, false }, { PID_LIMIT - 1, false }, { PID_LIMIT, true }, { -1, true } };
	const struct tw_vma vma = { BASE, BASE + 4096, 0xffff888000100000 };
	const struct tw_config config = { .nr_cpus = 1 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct trace_writer *w = tw_new(&config);

		tw_fault(w, TW_AT(0, 1000, cases[i].pid), 5, &vma, BASE, WRITE, 0);
		assert_int_equal(tw_write(w, temp_path), 0);
		tw_free(w);
		assert_int_equal(is_told(temp_path, "is none that Linux can have"),
				 cases[i].is_bad);
	}
}

/* Change a word of the file, which ends with @reason. */
static void check_word(uint8_t *data, size_t size, size_t at, uint32_t word, const char *reason)
{
	uint32_t saved;
	char path[32];
	int fd;

	memcpy(&saved, data + at, 4);
	memcpy(data + at, &word, 4);
	fd = memory_file(data, size, path);
	if (!is_told(path, reason))
		fail_msg("%u at %zu: not '%s'", word, at, reason);
	close(fd);
	memcpy(data + at, &saved, 4);
}

/* These wrote behind an array of losses, and left a buffer without a name. */
static void test_lies_about_cpus(void **state)
{
	static const struct tw_config config = { .nr_cpus = 2 };
	size_t size, first, second;
	uint8_t *data;

	write_recording(&config, 100);
	data = file_bytes(temp_path, &size);
	first = cpu_entry(data, size, 0);
	second = cpu_entry(data, size, 1);
	check_word(data, size, first, UINT32_MAX, "is none that Linux can have");
	check_word(data, size, first, 65536, "is none that Linux can have");
	check_word(data, size, first, 1, "stands behind CPU");
	check_word(data, size, first - 4, 0, "BUFFER option lies");
	check_word(data, size, first - 4, 1, "BUFFER option lies");
	check_word(data, size, first - 4, 3, "BUFFER option lies");
	check_word(data, size, first - 4, UINT32_MAX, "BUFFER option lies");
	check_word(data, size, first + 12, 4096, "belong to no CPU");
	check_word(data, size, second + 12, 4096, "belong to no CPU");
	check_word(data, size, second + 4, 4096, "overlaps");
	free(data);
}

/* An event of no bytes had its id read behind the page. */
static void test_event_of_no_bytes(void **state)
{
	const struct page_layout layout = {
		.commit_offset = 8, .commit_size = 8, .data_offset = 16, .page_size = 24
	};
	const uint64_t words[3] = { 0, 8, UINT64_C(4) << 32 };
	uint8_t *page = malloc(sizeof(words)); /* of its own: ASan sees its end */
	struct record r = { 0 };
	struct ringbuf rb;
	uint64_t lost;

	assert_non_null(page);
	memcpy(page, words, sizeof(words));
	assert_null(ringbuf_load(&rb, &layout, page, false, &lost));
	assert_int_equal(ringbuf_next(&rb, &r), -1);
	free(page);
}

/* A v7 file whose options unpack from some KiB to @plain bytes. */
static size_t packed_options(uint8_t *file, size_t room, uint32_t plain)
{
	static const char header[] = "\x17\x08\x44tracing7\0\0\x08\0\x10\0\0zstd\0"
				     "1";
	const uint64_t options = sizeof(header) + 8;
	uint8_t *zeros = calloc(1, plain);
	uint64_t section_size;
	uint32_t packed;

	assert_non_null(zeros);
	packed = ZSTD_compress(file + options + 24, room - options - 24, zeros, plain, 1);
	assert_false(ZSTD_isError(packed));
	memcpy(file, header, sizeof(header));
	memcpy(file + sizeof(header), &options, 8);
	section_size = packed + 8;
	memcpy(file + options, "\0\0\1\0\0\0\0\0", 8);
	memcpy(file + options + 8, &section_size, 8);
	memcpy(file + options + 16, &packed, 4);
	memcpy(file + options + 20, &plain, 4);
	free(zeros);
	return options + 24 + packed;
}

static void test_metadata_that_unpacks_to_much(void **state)
{
	uint8_t file[65536];
	char path[32];
	int fd = memory_file(file, packed_options(file, sizeof(file), 200 << 20), path);

	assert_true(is_told(path, "metadata is larger than the file can hold"));
	close(fd);
}

/* The next page but for the word that a compressed CPU's size leaves out is no gap. */
static void test_size_without_its_word(void **state)
{
	for (int more = 0; more < 2; more++) {
		struct tracefile tf = { .fd = -1, .size = 1 << 20, .page_size = 4096 };
		struct trace_buffer b = { .compressed = true };

		assert_int_equal(tracefile_add_cpu(&tf, &b, 0, 4096, 8189 - more), 0);
		assert_int_equal(tracefile_add_cpu(&tf, &b, 1, 16384, 100), 0);
		assert_int_equal(tf.damages.nr, more);
		free(b.cpus);
		damages_release(&tf.damages);
	}
}

/* Many CPUs, each of which holds a chunk that unpacks to 32 MiB. */
static void test_chunks_that_unpack_to_much(void **state)
{
	const uint32_t plain = 32 << 20;
	uint8_t *zeros = calloc(1, plain), file[16384];
	uint32_t packed = ZSTD_compress(file + 12, sizeof(file) - 12, zeros, plain, 1);
	const struct trace_buffer buffer = { .name = "", .compressed = true };
	const struct trace_cpu cpu = { .size = packed + 12 };
	struct tracefile tf = { .size = packed + 12 };
	struct pages pages[10];
	uint64_t offset;
	char path[32];

	free(zeros);
	memcpy(file, &(uint32_t){ 1 }, 4);
	memcpy(file + 4, &packed, 4);
	memcpy(file + 8, &plain, 4);
	tf.fd = memory_file(file, packed + 12, path);
	assert_int_equal(unpacker_open(&tf.unpacker, "zstd"), 0);
	for (int i = 0; i < 10; i++) {
		pages_open(&pages[i], &tf, &buffer, &cpu, 4096, 10);
		pages_next(&pages[i], &offset);
		assert_true(tf.chunks_size <= (64 << 20) + 16 * tf.size);
	}
	assert_int_equal(tf.damages.nr, 1);
	assert_int_equal(tf.damages.list[0].times, 8);
	for (int i = 0; i < 10; i++)
		pages_close(&pages[i]);
	assert_int_equal(tf.chunks_size, 0);
	tracefile_close(&tf);
}

/* Times of samples and products that pass 64 bits. */
static void test_clock_overflows(void **state)
{
	struct time_sample samples[2] = { { 0, INT64_MAX, UINT64_MAX, 0 },
					  { UINT64_MAX, INT64_MIN, UINT64_MAX, 63 } };
	struct time_shift shift = { samples, 2 };
	const struct trace_clock clock = { .shifts = &shift,
					   .nr_shifts = 1,
					   .shift_flags = TIME_SHIFT_INTERPOLATE,
					   .tsc2nsec = true,
					   .mult = UINT32_MAX,
					   .offset_ns = INT64_MAX };

	samples[1].time = INT64_MAX;
	for (uint64_t ts = 1; ts < UINT64_MAX / 3; ts *= 3)
		trace_clock_convert(&clock, 0, ts);
}

static int ignore_episode(void *ctx, const struct episode *e)
{
	return 0;
}

static void model_of(struct model *m)
{
	const struct model_options options = { .page_shift = 12,
					       .assumed_order = ORDER_UNKNOWN,
					       .episode = ignore_episode };

	assert_int_equal(model_open(m, &options), 0);
	m->sees_alloc = true;
}

static void map_page(struct model *m, uint64_t mm, uint64_t page, uint64_t vma_start)
{
	struct step s = { .kind = STEP_FAULT, .mm = mm };
	struct outcome o;

	s.fault = &(struct fault){ .mm = mm,
				   .vma_start = vma_start,
				   .vma_end = vma_start + 4096,
				   .address = page << 12,
				   .flags = FAULT_FLAG_WRITE,
				   .has_address = true,
				   .has_flags = true,
				   .has_exit = true,
				   .allocated = true,
				   .worker_ptes = -1 };
	assert_int_equal(model_step(m, &s, &o), 0);
}

/* Each fork copies what all forks before it have copied. */
static void test_forks_of_forks(void **state)
{
	double start = cpu_seconds();
	struct model m;
	struct outcome o;

	model_of(&m);
	for (uint64_t i = 0; i < 1000; i++)
		map_page(&m, 1, i, i << 12);
	for (uint64_t i = 0; i < NR_MANY; i++) {
		const struct step s = { .kind = STEP_FORK, .mm = 2 + i, .oldmm = 1 };

		assert_int_equal(model_step(&m, &s, &o), 0);
		assert_true(m.memory.size < (33 << 20) + 256 * m.steps);
	}
	assert_true(m.untracked_forks > 0);
	assert_true(cpu_seconds() - start < 1);
	assert_int_equal(model_finish(&m), 0);
	model_close(&m);
}

/* A child that is gone at once costs time, if no memory. */
static void test_forks_that_exit(void **state)
{
	double start = cpu_seconds();
	struct model m;
	struct outcome o;

	model_of(&m);
	for (uint64_t i = 0; i < NR_MANY / 3; i++)
		map_page(&m, 1, i, i << 12);
	for (uint64_t i = 0; i < NR_MANY; i++) {
		struct step s = { .kind = STEP_FORK, .mm = 2, .oldmm = 1 };

		assert_int_equal(model_step(&m, &s, &o), 0);
		s = (struct step){ .kind = STEP_MM_EXIT, .mm = 2 };
		assert_int_equal(model_step(&m, &s, &o), 0);
	}
	assert_true(m.untracked_forks > 0);
	assert_true(cpu_seconds() - start < 10);
	assert_int_equal(model_finish(&m), 0);
	model_close(&m);
}

static void test_vmas_without_number(void **state)
{
	struct model m;

	model_of(&m);
	for (uint64_t i = 0; i < 200000; i++) {
		map_page(&m, 1, i, i << 12);
		assert_true(m.memory.mms[1].nr_vmas <= 65536);
	}
	assert_int_equal(model_finish(&m), 0);
	model_close(&m);
}

static void push(struct faults *f, struct event e)
{
	struct step s;

	assert_true(faults_push(f, &e, &s) >= 0);
}

/* Tasks whose pids met in one slot, which all exit, or whose exceptions all wait for the end. */
static void test_tasks_that_meet(void **state)
{
	const struct faults_options options = { 0 };
	double start = cpu_seconds();
	struct faults f;
	struct step s;
	uint64_t nr = 0;

	assert_int_equal(faults_open(&f, &options), 0);
	for (int i = 0; i < NR_MANY; i++) {
		struct event e = { .role = EVENT_ENTRY, .pid = i << 16, .mm = 1 + i };

		push(&f, e);
		e.role = EVENT_EXIT;
		push(&f, e);
		e.role = EVENT_EXCEPTION;
		e.pid = i << 16 | 1;
		push(&f, e);
	}
	for (int i = 0; i < NR_MANY; i++)
		push(&f, (struct event){ .role = EVENT_TASK_EXIT, .pid = i << 16 });
	while (faults_finish(&f, &s))
		nr++;
	faults_close(&f);
	assert_true(cpu_seconds() - start < 1);
}

/* Truncates or extends the file when its metadata is read. */
static int resize(void *ctx, const struct steps *steps)
{
	const off_t *how = ctx; /* descriptor, size */

	return ftruncate(how[0], how[1]);
}

/* Read the recording, whose size becomes @percent of what it was when its metadata is read. */
static void read_resized(struct recording *rec, unsigned int percent)
{
	struct report_options options = { .begin = resize };
	const char *reason;
	size_t size;
	uint8_t *data;
	char path[32];
	off_t how[2];

	data = file_bytes(temp_path, &size);
	how[0] = memory_file(data, size, path);
	how[1] = size * percent / 100;
	options.ctx = how;
	assert_int_equal(report_read(path, &options, rec, &reason), 0);
	close(how[0]);
	free(data);
}

static void test_file_shrinks(void **state)
{
	static const struct tw_config configs[] = { { .version = 6 },
						    { .version = 7 },
						    { .compression = TW_ZSTD },
						    { .compression = TW_ZLIB } };

	for (size_t i = 0; i < 4; i++) {
		struct recording rec = { 0 };

		write_recording(&configs[i], 10000);
		read_resized(&rec, 50);
		assert_true(rec.damages.nr > 0);
		assert_true(rec.events < 50000);
		recording_release(&rec);
	}
}

/* What is appended while it is read is not of the recording that was opened. */
static void test_file_grows(void **state)
{
	static const struct tw_config config = { .version = 7 };
	struct recording rec = { 0 };

	write_recording(&config, 1000);
	read_resized(&rec, 300);
	assert_int_equal(rec.damages.nr, 0);
	assert_int_equal(rec.events, 5000);
	recording_release(&rec);
}

/* Whether the text is JSON from its first to its last byte. */
static bool is_json(const char *text)
{
	struct json_object *json = json_tokener_parse(text);

	json_object_put(json);
	return json;
}

/*
 * The program, whose standard output is a pipe that takes a page, is interrupted while it waits for
 * a reader: dead by the signal, and what it wrote does not parse.
 */
static void check_interrupt(const char *command)
{
	const char *program = getenv("FAULT_ANALYZE");
	char text[65536];
	size_t size = 0;
	int fds[2], status;
	ssize_t nr;
	pid_t pid;

	if (!program)
		fail_msg("FAULT_ANALYZE does not name the program");
	assert_int_equal(pipe(fds), 0);
	assert_true(fcntl(fds[1], F_SETPIPE_SZ, 4096) >= 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		signal(SIGINT, SIG_DFL);
		dup2(fds[1], STDOUT_FILENO);
		close(fds[0]);
		close(fds[1]);
		execl(program, program, command, "-F", "json", temp_path, NULL);
		_exit(127);
	}
	close(fds[1]);
	/* once there is something, the rest is on its way */
	nr = read(fds[0], text, 1);
	assert_int_equal(nr, 1);
	assert_int_equal(kill(pid, SIGINT), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
	for (size = 1; (nr = read(fds[0], text + size, sizeof(text) - 1 - size)) > 0;)
		size += nr;
	text[size] = '\0';
	close(fds[0]);
	if (is_json(text))
		fail_msg("%s was interrupted, and its %zu bytes are JSON", command, size);
}

static void test_interrupt(void **state)
{
	static const struct tw_config config = { .version = 7 };

	write_recording(&config, 10000);
	check_interrupt("folios");
	check_interrupt("report");
}

static int setup(void **state)
{
	int fd = mkstemp(temp_path);

	return fd < 0 ? -1 : close(fd);
}

static int teardown(void **state)
{
	return unlink(temp_path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pids),
		cmocka_unit_test(test_lies_about_cpus),
		cmocka_unit_test(test_event_of_no_bytes),
		cmocka_unit_test(test_metadata_that_unpacks_to_much),
		cmocka_unit_test(test_size_without_its_word),
		cmocka_unit_test(test_chunks_that_unpack_to_much),
		cmocka_unit_test(test_clock_overflows),
		cmocka_unit_test(test_forks_of_forks),
		cmocka_unit_test(test_forks_that_exit),
		cmocka_unit_test(test_vmas_without_number),
		cmocka_unit_test(test_tasks_that_meet),
		cmocka_unit_test(test_file_shrinks),
		cmocka_unit_test(test_file_grows),
		cmocka_unit_test(test_interrupt),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
