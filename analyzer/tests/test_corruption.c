// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One workload stored in four ways, its files changed in some bytes: each ends with the right
 * answer or with damage told, zlib always. Where a change is not told, as a bit in a field's value
 * cannot be, libtracecmd has to read the same; how many there are is printed. FAULT_ANALYZE_LONG=1
 * makes 10,000 changes, else 1,000.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "oracle.h"
#include "output.h"
#include "random.h"
#include "reading.h"
#include "report.h"
#include "trace_writer.h"
#include "trace_writer_faults.h"

#define MAX_CHANGED 16 /* bytes */
#define BASE	    UINT64_C(0x7f0000000000)
#define NR_FOLIOS   40
#define WRITE	    0x1255

static char temp_path[] = "/tmp/test_corruption-XXXXXX";
static unsigned int nr_changes = 250; /* of each recording */

static struct {
	const char *name;
	struct tw_config config;
	bool checksums; /* everything but the container's own sections has one */
} stores[] = {
	{ "v7 zlib", { .compression = TW_ZLIB, .nr_cpus = 2 }, true },
	{ "v7 zstd", { .compression = TW_ZSTD, .nr_cpus = 2 }, false },
	{ "v7 plain", { .nr_cpus = 2 }, false },
	{ "v6", { .version = 6, .nr_cpus = 2 }, false },
};

/* Populate folios of 16 pages, fork, exit, store to each page once more; on two CPUs. */
static void record_workload(struct trace_writer *w, unsigned int cpu)
{
	struct tw_vma vma = { BASE, BASE + (NR_FOLIOS << 16), 0xffff888000100000 + 0x1000 * cpu };
	uint64_t seed = cpu, ts = 1000000 + 77 * cpu;
	int pid = 100 + cpu;

	tw_process_exec(w, TW_AT(cpu, ts, pid), "/bin/worker", pid);
	for (unsigned int i = 0; i < NR_FOLIOS; i++) {
		uint64_t address = BASE + ((uint64_t)i << 16);

		ts += 1000 + random_u64(&seed) % 5000;
		tw_fault_entry(w, TW_AT(cpu, ts, pid), &vma, address, WRITE);
		tw_page_alloc(w, TW_AT(cpu, ts += 1000, pid), i << 4, 4, TW_GFP_MTHP);
		tw_rss_stat(w, TW_AT(cpu, ts += 200, pid), true, 1, (i + 1) << 16);
		tw_fault_exit(w, TW_AT(cpu, ts += 700 + random_u64(&seed) % 300, pid), 0);
	}
	tw_dup_mmap_entry(w, TW_AT(cpu, ts += 100, pid), 0xffff888000200000, vma.mm);
	tw_dup_mmap_exit(w, TW_AT(cpu, ts += 100, pid), 0);
	tw_process_fork(w, TW_AT(cpu, ts += 10, pid), "worker", 200);
	tw_exit_mmap(w, TW_AT(cpu, ts += 500, 200), 0xffff888000200000);
	for (unsigned int i = 0; i < NR_FOLIOS * 16; i++) {
		ts += 500 + random_u64(&seed) % 2000;
		tw_fault(w, TW_AT(cpu, ts, pid), 2780 + random_u64(&seed) % 100, &vma,
			 BASE + ((uint64_t)i << 12), WRITE, 0);
		ts += 3000;
	}
}

static void write_recording(const struct tw_config *config)
{
	struct trace_writer *w = tw_new(config);

	assert_non_null(w);
	tw_option_text(w, TW_OPT_UNAME, "Linux lab 7.3.4 x86_64");
	tw_option_u64(w, TW_OPT_TRACEID, 0x1122334455667788);
	tw_comm(w, 100, "worker");
	tw_kallsyms(w, "ffffffff81000000 T _text\nffffffff81234560 T handle_mm_fault\n");
	record_workload(w, 0);
	record_workload(w, 1);
	assert_int_equal(tw_write(w, temp_path), 0);
	tw_free(w);
}

/* What report prints as JSON, and whether it exits with 0. */
static char *report(const char *path, bool *good)
{
	const struct report_options options = { 0 };
	const struct output_options output = { 0 };
	struct recording rec = { 0 }, total = { 0 };
	const char *reason;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	*good = !report_read(path, &options, &rec, &reason) && !rec.damages.nr;
	assert_int_equal(recordings_total(&total, &rec, 1), 0);
	assert_int_equal(output_report(out, FORMAT_JSON, &rec, 1, &total, &output), 0);
	assert_int_equal(fclose(out), 0);
	recording_release(&total);
	recording_release(&rec);
	return text;
}

/* Whether libtracecmd makes the same of the file; it may crash on it, so in a child. */
static bool oracle_agrees(const char *path, const struct reading *ours)
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		struct reading theirs = { 0 };
		struct oracle o;

		if (!freopen("/dev/null", "w", stderr) || oracle_open(&o, path))
			_exit(2);
		reading_of_oracle(&theirs, &o);
		_exit(!reading_same(ours, &theirs));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

/* What became of the changes of one recording. */
struct verdicts {
	unsigned int told, right, silent_words, silent_records, disputed;
};

/* Change one to MAX_CHANGED bytes, half of the time a single bit. */
static void change(uint8_t *data, size_t size, uint64_t *seed, char *what, size_t what_size)
{
	unsigned int how = random_u64(seed) % 4;
	unsigned int nr = how < 3 ? 1 : 2 + random_u64(seed) % (MAX_CHANGED - 1);
	size_t at = random_u64(seed) % size;

	for (unsigned int i = 0; i < nr; i++) {
		uint8_t mask = how < 2 ? 1u << random_u64(seed) % 8 : 1 + random_u64(seed) % 255;

		data[at] ^= mask;
		if (!i)
			snprintf(what, what_size, "%u bytes from %zu on, the first ^ 0x%02x", nr,
				 at, mask);
		/* a run or scattered */
		at = how == 3 && nr % 2 ? (at + 1) % size : random_u64(seed) % size;
	}
}

static void check_change(const char *path, const char *what, const struct reading *truth,
			 const char *true_report, struct verdicts *t)
{
	struct reading r;
	bool good;
	char *text = report(path, &good);

	reading_open(&r, path);
	if (!good) {
		t->told++;
	} else if (r.nr_damages) {
		fail_msg("%s: %s, and report calls it good", what, r.reason);
	} else if (!reading_same_records(&r, truth)) {
		t->silent_records++;
		if (!oracle_agrees(path, &r)) {
			t->disputed++;
			print_message("%s: changed records, libtracecmd does not agree\n", what);
		}
	} else if (strcmp(text, true_report) || !reading_same(&r, truth)) {
		t->silent_words++;
	} else {
		t->right++;
	}
	reading_close(&r);
	free(text);
}

static void test_store(void **state)
{
	size_t store = (size_t)*state, size;
	uint64_t seed = 1000 + store;
	struct reading truth;
	struct verdicts t = { 0 };
	uint8_t *data, *changed;
	char path[32], what[128], *true_report;
	bool good;
	int fd;

	write_recording(&stores[store].config);
	data = file_bytes(temp_path, &size);
	changed = malloc(size);
	assert_non_null(changed);
	fd = memory_file(data, size, path);
	reading_open(&truth, path);
	true_report = report(path, &good);
	assert_true(good && !truth.nr_damages);
	assert_true(oracle_agrees(path, &truth) || stores[store].checksums);
	for (unsigned int i = 0; i < nr_changes; i++) {
		memcpy(changed, data, size);
		change(changed, size, &seed, what, sizeof(what));
		assert_int_equal(pwrite(fd, changed, size, 0), size);
		check_change(path, what, &truth, true_report, &t);
	}
	print_message(
		"%s, %zu bytes, %zu records: of %u changes %u told, %u without effect, silent: "
		"%u that libtracecmd reads too, %u other, %u in words about the recording\n",
		stores[store].name, size, truth.nr_records, nr_changes, t.told, t.right,
		t.silent_records - t.disputed, t.disputed, t.silent_words);
	assert_int_equal(t.disputed, 0);
	if (stores[store].checksums)
		assert_int_equal(t.silent_records, 0);
	reading_close(&truth);
	free(true_report);
	free(changed);
	free(data);
	close(fd);
}

static int setup(void **state)
{
	int fd = mkstemp(temp_path);
	const char *text = getenv("FAULT_ANALYZE_LONG");

	if (text && !strcmp(text, "1"))
		nr_changes *= 10;
	return fd < 0 ? -1 : close(fd);
}

static int teardown(void **state)
{
	return unlink(temp_path);
}

int main(void)
{
	struct CMUnitTest tests[sizeof(stores) / sizeof(*stores)];
	size_t nr;

	for (nr = 0; nr < sizeof(stores) / sizeof(*stores); nr++)
		tests[nr] = (struct CMUnitTest){ .name = stores[nr].name,
						 .test_func = test_store,
						 .initial_state = (void *)nr };
	return _cmocka_run_group_tests("corruption", tests, nr, setup, teardown);
}
