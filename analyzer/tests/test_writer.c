// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The writer against libtracecmd: every kind of file that it can make is read back with the same
 * records, stamps and field values. zlib files, which Debian's library refuses, take the way
 * through unzlib(), which shares no code with the writer. The few kinds that it misreads are
 * tried with our own reader alone, in test_differential.c.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "kinds.h"
#include "oracle.h"
#include "trace_writer.h"
#include "trace_writer_faults.h"
#include "unzlib.h"

static char temp_dir[] = "/tmp/test_writer-XXXXXX";
static char path[64], plain_path[64];

/* The bits of a value that a field of this size and sign can hold. */
static int64_t as_field(uint64_t value, const struct oracle_field *f)
{
	unsigned int unused = 64 - 8 * f->size;

	return f->is_signed ? (int64_t)(value << unused) >> unused
			    : (int64_t)(value << unused >> unused);
}

static void check_text(const struct oracle *o, const struct oracle_record *rec,
		       const struct oracle_field *f, const char *text)
{
	unsigned int at = f->offset;
	int64_t place;

	if (f->size == 4) { /* a dynamic one: length and offset */
		struct oracle_field word = *f;

		word.is_numeric = true;
		assert_true(oracle_number(o, rec, &word, &place));
		at = place & 0xffff;
		assert_int_equal(place >> 16, strlen(text) + 1);
	}
	assert_true(at + strlen(text) + 1 <= rec->size);
	assert_string_equal((const char *)rec->data + at, text);
}

static void check_record(const struct oracle *o, const struct oracle_record *rec,
			 const struct kind_record *e)
{
	const struct oracle_event *event = oracle_event(o, e->id);
	int64_t value;

	assert_int_equal(rec->ts, e->ts);
	assert_int_equal(rec->id, e->id);
	assert_int_equal(rec->missed, e->missed);
	assert_non_null(event);
	assert_int_equal(event->nr_fields, 4 + e->nr_values);
	assert_string_equal(event->fields[3].name, "common_pid");
	assert_true(oracle_number(o, rec, &event->fields[3], &value));
	assert_int_equal(value, e->pid);
	for (size_t i = 0; i < e->nr_values; i++) {
		const struct oracle_field *f = &event->fields[4 + i];

		if (oracle_number(o, rec, f, &value))
			assert_int_equal(value, as_field(e->values[i], f));
		else if (e->id == KIND_TEXT)
			check_text(o, rec, f, (const char *)(uintptr_t)e->values[i]);
		else
			assert_memory_equal(rec->data + f->offset,
					    (const void *)(uintptr_t)e->values[i], f->size);
	}
}

/* Every expected record is there, in order, and no other. */
static void check_file(const struct kind *kind, const char *file, const struct kind_record *list,
		       size_t nr_listed)
{
	struct oracle o;
	size_t nr = 0, at[2][64] = { 0 };

	assert_int_equal(oracle_open(&o, file), 0);
	assert_int_equal(o.nr_buffers, kind->two_buffers ? 2 : 1);
	if (kind->two_buffers)
		assert_string_equal(o.buffers[1].name, "second");
	for (size_t i = 0; i < o.nr_cpus; i++)
		nr += o.cpus[i].nr_records;
	assert_int_equal(nr, nr_listed);
	for (size_t i = 0; i < nr_listed; i++) {
		const struct kind_record *e = &list[i];
		const struct oracle_cpu *cpu = oracle_cpu(&o, e->buffer, e->cpu);
		size_t *next = &at[e->buffer][e->cpu];

		assert_non_null(cpu);
		assert_true(*next < cpu->nr_records);
		check_record(&o, &cpu->records[(*next)++], e);
	}
	oracle_close(&o);
}

static void test_kind(void **state)
{
	const struct kind *kind = *state;
	struct kind_record *list;
	size_t nr;

	assert_int_equal(kind_write(kind, path, &list, &nr), 0);
	if (kind->config.compression == TW_ZLIB) {
		assert_int_equal(oracle_try(path), -EBADF);
		assert_int_equal(unzlib(path, plain_path), 0);
		check_file(kind, plain_path, list, nr);
	} else {
		check_file(kind, path, list, nr);
	}
	free(list);
}

/* Offsets and sizes as kernels of 64 and 32 bits (x86) lay them out. */
static void check_layout(unsigned int long_size, const unsigned int layout[][2])
{
	struct trace_writer *w = tw_new(&(struct tw_config){ .long_size = long_size });
	const struct oracle_event *event;
	struct oracle o;

	tw_add_event(w, "writer", "natural", 700,
		     "unsigned char a; short b; int c; unsigned long d; u64 e; s8 f; long g; "
		     "struct page * h; char comm[16]; __data_loc char[] path; int n; u64 words[4]");
	tw_add_probe(w, "writer", "packed", 701, "u8 a; u64 b; u16 c; unsigned long d");
	assert_int_equal(tw_write(w, path), 0);
	tw_free(w);
	assert_int_equal(oracle_open(&o, path), 0);
	for (unsigned int id = 700, row = 0; id <= 701; id++) {
		event = oracle_event(&o, id);
		assert_non_null(event);
		for (size_t f = 4; f < event->nr_fields; f++, row++) {
			assert_int_equal(event->fields[f].offset, layout[row][0]);
			assert_int_equal(event->fields[f].size, layout[row][1]);
		}
	}
	oracle_close(&o);
}

static void test_layout(void **state)
{
	static const unsigned int layout64[][2] = {
		{ 8, 1 },  { 10, 2 }, { 12, 4 },  { 16, 8 }, { 24, 8 }, { 32, 1 },
		{ 40, 8 }, { 48, 8 }, { 56, 16 }, { 72, 4 }, { 76, 4 }, { 80, 32 },
		{ 8, 1 },  { 9, 8 },  { 17, 2 },  { 19, 8 },
	};
	static const unsigned int layout32[][2] = {
		{ 8, 1 },  { 10, 2 }, { 12, 4 },  { 16, 4 }, { 20, 8 }, { 28, 1 },
		{ 32, 4 }, { 36, 4 }, { 40, 16 }, { 56, 4 }, { 60, 4 }, { 64, 32 },
		{ 8, 1 },  { 9, 8 },  { 17, 2 },  { 19, 4 },
	};

	check_layout(8, layout64);
	check_layout(4, layout32);
}

/* The stamps that libtracecmd makes of three records at 1000, 2000 and 3000 of CPU 0. */
static void check_times(struct trace_writer *w, uint64_t first, uint64_t second, uint64_t third)
{
	struct tw_event *event = tw_add_event(w, "writer", "tick", 700, "int n");
	const struct oracle_cpu *cpu;
	struct oracle o;

	for (int i = 1; i <= 3; i++)
		tw_record(w, TW_AT(0, 1000 * i, 1), event, TW_VALUES(i));
	assert_int_equal(tw_write(w, path), 0);
	tw_free(w);
	assert_int_equal(oracle_open(&o, path), 0);
	cpu = oracle_cpu(&o, 0, 0);
	assert_non_null(cpu);
	assert_int_equal(cpu->nr_records, 3);
	assert_int_equal(cpu->records[0].ts, first);
	assert_int_equal(cpu->records[1].ts, second);
	assert_int_equal(cpu->records[2].ts, third);
	oracle_close(&o);
}

static void test_time_options(void **state)
{
	const struct tw_config *config = *state;
	struct trace_writer *w;

	w = tw_new(config);
	tw_option_text(w, TW_OPT_OFFSET, "500");
	check_times(w, 1500, 2500, 3500);

	w = tw_new(config);
	tw_option_text(w, TW_OPT_DATE, "0x10"); /* microseconds */
	tw_option_text(w, TW_OPT_OFFSET, "-16000");
	check_times(w, 1000, 2000, 3000);

	w = tw_new(config);
	tw_tsc2nsec(w, 3, 1, 777);
	check_times(w, 1500, 3000, 4500);
}

static void test_time_shift(void **state)
{
	static const struct tw_shift_sample one[] = { { 0, -100, 2, 0 } };
	static const struct tw_shift_sample three[] = {
		{ 3000, 400, 2, 1 },
		{ 1000, 100, 2, 1 },
		{ 2000, 200, 2, 1 },
	};
	static const struct tw_shift_cpu one_cpu = { one, 1 }, three_cpu = { three, 3 };
	const struct tw_config *config = *state;
	struct trace_writer *w;

	/* One sample: its offset alone. */
	w = tw_new(config);
	tw_time_shift(w, 1, 0, &one_cpu, 1, false);
	check_times(w, 900, 1900, 2900);

	/* Steps: the offset of the sample before, of the last but one at the end; scaled by 2/2. */
	w = tw_new(config);
	tw_time_shift(w, 1, 0, &three_cpu, 1, true);
	check_times(w, 1100, 2200, 3200);

	/* Without fraction bits the scaling stands as it is. */
	w = tw_new(config);
	tw_time_shift(w, 1, 0, &three_cpu, 1, false);
	check_times(w, 2100, 4200, 6200);

	/* Interpolated between samples. */
	w = tw_new(config);
	tw_time_shift(w, 1, TW_SHIFT_INTERPOLATE, &three_cpu, 1, true);
	check_times(w, 1100, 2200, 3400);

	/* Then to nanoseconds, then the offset. */
	w = tw_new(config);
	tw_time_shift(w, 1, 0, &one_cpu, 1, false);
	tw_tsc2nsec(w, 3, 0, 0);
	tw_option_text(w, TW_OPT_OFFSET, "7");
	check_times(w, 2707, 5707, 8707);
}

static int generate(struct trace_writer *w, unsigned int cpu, void *ctx)
{
	static const struct tw_vma vma = { 0x7f0000000000, 0x7f0000100000, 0xffff888000001000 };

	for (unsigned int i = 0; i < *(unsigned int *)ctx; i++)
		tw_fault(w, TW_AT(cpu, 1000 + 100 * i, 10), 50, &vma, vma.start + 4096 * cpu, 0x55,
			 0);
	return tw_error(w);
}

/* Records made while the file is written are those that were kept in memory. */
static void test_generate(void **state)
{
	const struct tw_config *config = *state;
	unsigned int nr = 1000;
	char *memory, *streamed;
	size_t size[2];
	FILE *f;

	for (int pass = 0; pass < 2; pass++) {
		struct trace_writer *w = tw_new(config);

		tw_declare_faults(w);
		if (pass)
			tw_generate(w, generate, &nr);
		else
			for (unsigned int cpu = 0; cpu < config->nr_cpus; cpu++)
				generate(w, cpu, &nr);
		assert_int_equal(tw_write(w, pass ? plain_path : path), 0);
		tw_free(w);
	}
	memory = malloc(1 << 22);
	streamed = malloc(1 << 22);
	f = fopen(path, "r");
	size[0] = fread(memory, 1, 1 << 22, f);
	fclose(f);
	f = fopen(plain_path, "r");
	size[1] = fread(streamed, 1, 1 << 22, f);
	fclose(f);
	assert_true(size[0] > 1000 && size[0] < 1 << 22);
	assert_int_equal(size[0], size[1]);
	assert_memory_equal(memory, streamed, size[0]);
	free(memory);
	free(streamed);
}

/* The fault events of traces/lab, read back under the lab's names. */
static void test_faults(void **state)
{
	static const struct tw_vma vma = { 0x1000000, 0x2000000, 0xffff888000001000 };
	struct trace_writer *w = tw_new(&(struct tw_config){ 0 });
	const struct oracle_event *entry, *last;
	const struct oracle_cpu *cpu;
	struct oracle o;
	int64_t value;

	tw_fault_entry(w, TW_AT(0, 10, 5), &vma, 0x1234000, 0x1255);
	tw_page_alloc(w, TW_AT(0, 20, 5), 0x1b85, 4, TW_GFP_FOLIO);
	tw_rss_stat(w, TW_AT(0, 21, 5), true, 1, 65536);
	tw_fault_exit(w, TW_AT(0, 30, 5), 0x100);
	tw_page_fault(w, TW_AT(0, 40, 5), false, 0x1234000, 0x400000, 7);
	tw_dup_mmap_entry(w, TW_AT(0, 50, 5), 0xffff888000002000, vma.mm);
	tw_dup_mmap_exit(w, TW_AT(0, 60, 5), -12);
	tw_process_fork(w, TW_AT(0, 70, 5), "parent", 6);
	tw_process_exec(w, TW_AT(0, 80, 6), "/bin/true", 6);
	tw_sched_switch(w, TW_AT(0, 90, 6), "true", "parent", 5);
	tw_process_exit(w, TW_AT(0, 100, 6), "true", true);
	tw_exit_mmap(w, TW_AT(0, 110, 6), vma.mm);
	tw_funcgraph_entry(w, TW_AT(0, 120, 6), 0xffffffff8120d574, 3);
	tw_funcgraph_exit(w, TW_AT(0, 130, 6), 0xffffffff8120d574, 3, 120, 0x100);
	assert_int_equal(tw_write(w, path), 0);
	tw_free(w);

	assert_int_equal(oracle_open(&o, path), 0);
	cpu = oracle_cpu(&o, 0, 0);
	assert_non_null(cpu);
	assert_int_equal(cpu->nr_records, 14);
	entry = oracle_event(&o, cpu->records[0].id);
	assert_string_equal(entry->system, "faults");
	assert_string_equal(entry->name, "fault_entry");
	assert_string_equal(entry->fields[8].name, "address");
	assert_int_equal(entry->fields[8].offset, 40);
	assert_true(oracle_number(&o, &cpu->records[0], &entry->fields[8], &value));
	assert_int_equal(value, 0x1234000);
	last = oracle_event(&o, cpu->records[13].id);
	assert_string_equal(last->system, "ftrace");
	assert_string_equal(last->name, "funcgraph_exit");
	oracle_close(&o);
}

/* The first error is kept and told, whatever is called after it. */
static void test_errors(void **state)
{
	struct trace_writer *w = tw_new(&(struct tw_config){ 0 });
	struct tw_event *event = tw_add_event(w, "writer", "tick", 700, "int n");

	assert_non_null(event);
	tw_record(w, TW_AT(0, 1000, 1), event, TW_VALUES(1));
	tw_record(w, TW_AT(0, 999, 1), event, TW_VALUES(1));
	assert_int_equal(tw_error(w), -ERANGE);
	tw_record(w, TW_AT(0, 2000, 1), event, TW_VALUES(1));
	assert_int_equal(tw_write(w, path), -ERANGE);
	tw_free(w);

	w = tw_new(&(struct tw_config){ 0 });
	assert_null(tw_add_event(w, "writer", "bad", 700, "no_such_type n"));
	assert_int_equal(tw_write(w, path), -EINVAL);
	tw_free(w);

	w = tw_new(&(struct tw_config){ 0 });
	event = tw_add_event(w, "writer", "tick", 700, "int n");
	tw_record(w, TW_AT(0, 1, 1), event, TW_VALUES(1, 2));
	assert_int_equal(tw_write(w, path), -EINVAL);
	tw_free(w);

	w = tw_new(&(struct tw_config){ 0 });
	assert_int_equal(tw_write(w, "/nonexistent/directory/file"), -ENOENT);
	tw_free(w);

	assert_null(tw_new(&(struct tw_config){ .version = 6, .compression = TW_ZSTD }));
	assert_null(tw_new(&(struct tw_config){ .version = 8 }));
	assert_null(tw_new(&(struct tw_config){ .subbuf_size = 5000 }));
}

/* The parts cover the file from its header to its end. */
static void test_parts(void **state)
{
	const struct tw_config *config = *state;
	struct trace_writer *w = tw_new(config);
	struct tw_event *event = tw_add_event(w, "writer", "tick", 700, "int n");
	const struct tw_part *parts;
	uint64_t at;
	size_t nr;
	FILE *f;

	tw_record(w, TW_AT(0, 1000, 1), event, TW_VALUES(1));
	assert_int_equal(tw_write(w, path), 0);
	parts = tw_parts(w, &nr);
	assert_true(nr > 6);
	at = parts[0].offset;
	for (size_t i = 0; i < nr; i++) {
		/* in v6 the CPU count, 4 bytes, stands between */
		assert_in_range(parts[i].offset, at, at + 4);
		assert_true(parts[i].end > parts[i].offset);
		at = parts[i].end;
	}
	f = fopen(path, "r");
	assert_int_equal(fseek(f, 0, SEEK_END), 0);
	assert_int_equal(ftell(f), at);
	fclose(f);
	tw_free(w);
}

static int make_temp_dir(void **state)
{
	if (!mkdtemp(temp_dir))
		return -1;
	snprintf(path, sizeof(path), "%s/a.dat", temp_dir);
	snprintf(plain_path, sizeof(plain_path), "%s/b.dat", temp_dir);
	return 0;
}

static int remove_temp_dir(void **state)
{
	unlink(path);
	unlink(plain_path);
	return rmdir(temp_dir);
}

int main(void)
{
	static struct tw_config v6 = { .version = 6, .nr_cpus = 3 };
	static struct tw_config v7 = { .version = 7, .nr_cpus = 3 };
	static struct tw_config v7_zstd = { .compression = TW_ZSTD, .nr_cpus = 3 };
	static const struct CMUnitTest fixed[] = {
		cmocka_unit_test(test_layout),
		cmocka_unit_test_prestate(test_time_options, &v6),
		cmocka_unit_test_prestate(test_time_options, &v7_zstd),
		cmocka_unit_test_prestate(test_time_shift, &v6),
		cmocka_unit_test_prestate(test_time_shift, &v7),
		cmocka_unit_test_prestate(test_generate, &v6),
		cmocka_unit_test_prestate(test_generate, &v7_zstd),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_errors),
		cmocka_unit_test_prestate(test_parts, &v6),
		cmocka_unit_test_prestate(test_parts, &v7_zstd),
	};
	static struct CMUnitTest tests[KIND_MAX_KINDS + sizeof(fixed) / sizeof(fixed[0])];
	size_t nr_kinds, nr = sizeof(fixed) / sizeof(fixed[0]);
	const struct kind *all;

	memcpy(tests, fixed, sizeof(fixed));
	all = kinds(&nr_kinds);
	for (size_t i = 0; i < nr_kinds; i++) {
		if (all[i].unknown_to_libtracecmd)
			continue;
		tests[nr++] = (struct CMUnitTest){ .name = all[i].name,
						   .test_func = test_kind,
						   .initial_state = (void *)&all[i] };
	}
	return _cmocka_run_group_tests("writer", tests, nr, make_temp_dir, remove_temp_dir);
}
