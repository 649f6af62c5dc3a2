// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Our reader against libtracecmd and libtraceevent: every record, time stamp, format and numeric
 * value of the recordings in traces/lab, of those in ../shared/traces/public where that folder is,
 * and of the writer's files of every kind.
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

#include "formats.h"
#include "kinds.h"
#include "oracle.h"
#include "timeline.h"
#include "trace_writer.h"
#include "tracefile.h"
#include "unzlib.h"

#define MAX_STREAMS 8192
#define NR_IDS	    65536

static char temp_dir[] = "/tmp/test_differential-XXXXXX";
static char path[64], plain_path[64];

/* What the tests have compared, for the last line of their output. */
static struct {
	uint64_t files, records, values, fields;
} compared;

/* Our reader on one file. */
struct ours {
	struct tracefile tf;
	struct formats formats;
	struct page_layout layout;
	struct timeline timeline;
	const struct event_format *by_id[NR_IDS];
	size_t last_stream; /* whose record came last */
	uint64_t last_ts;
};

static void ours_open(struct ours *o, const char *file)
{
	memset(o, 0, sizeof(*o));
	assert_int_equal(tracefile_open(&o->tf, file), 0);
	assert_int_equal(
		formats_parse(&o->formats, o->tf.formats, o->tf.nr_formats, &o->tf.damages), 0);
	assert_int_equal(page_layout_parse(&o->layout, &o->tf.header_page, &o->tf.damages), 0);
	assert_int_equal(timeline_open(&o->timeline, &o->tf, &o->layout), 0);
	for (size_t i = 0; i < o->formats.nr; i++)
		o->by_id[o->formats.list[i].id % NR_IDS] = &o->formats.list[i];
}

static void ours_forget(struct ours *o)
{
	timeline_close(&o->timeline);
	formats_release(&o->formats);
	tracefile_close(&o->tf);
}

/* Nothing of a good file may be called damaged. */
static void ours_close(struct ours *o, const char *file)
{
	if (o->tf.damages.nr)
		fail_msg("%s: damaged at %llu: %s", file,
			 (unsigned long long)o->tf.damages.list[0].offset,
			 o->tf.damages.list[0].reason);
	ours_forget(o);
}

/* The next record and the number of its stream: all CPUs of buffer 0, then those of 1, … */
static const struct record *ours_next(struct ours *o, size_t *stream)
{
	const struct record *r = timeline_next(&o->timeline);

	if (!r)
		return NULL;
	*stream = timeline_stream(&o->timeline);
	/* The merge keeps time in order; one CPU may go back by an absolute stamp. */
	if (*stream != o->last_stream && r->ts < o->last_ts)
		fail_msg("time goes back from %llu to %llu", (unsigned long long)o->last_ts,
			 (unsigned long long)r->ts);
	o->last_stream = *stream;
	o->last_ts = r->ts;
	return r;
}

static unsigned int record_id(const struct ours *o, const struct record *r)
{
	assert_true(r->size >= 2);
	return read_u16(r->data, o->tf.big_endian);
}

static void compare_field(const struct oracle_event *event, const struct field *ours,
			  const struct oracle_field *theirs)
{
	if (strcmp(ours->name, theirs->name) || ours->offset != theirs->offset ||
	    ours->size != theirs->size || ours->is_signed != theirs->is_signed ||
	    (ours->kind == FIELD_NUMBER) != theirs->is_numeric)
		fail_msg("%s:%s: field %s offset %u size %u signed %d kind %d, "
			 "theirs %s %u %u %d %d",
			 event->system, event->name, ours->name, ours->offset, ours->size,
			 ours->is_signed, ours->kind, theirs->name, theirs->offset, theirs->size,
			 theirs->is_signed, theirs->is_numeric);
	compared.fields++;
}

/* The same events, and the same fields in each, in the same order. */
static void compare_formats(const struct ours *ours, const struct oracle *theirs)
{
	for (size_t i = 0; i < ours->formats.nr; i++) {
		const struct event_format *e = &ours->formats.list[i];

		if (!oracle_event(theirs, e->id))
			fail_msg("%s:%s (%u) is not among theirs", e->system, e->name, e->id);
	}
	for (size_t i = 0; i < theirs->nr_events; i++) {
		const struct oracle_event *event = &theirs->events[i];
		const struct event_format *e = ours->by_id[event->id % NR_IDS];

		/* libtracecmd adds this one to every file, for the blk tracer's records */
		if (!strcmp(event->system, "ftrace") && !strcmp(event->name, "blktrace"))
			continue;
		if (!e || strcmp(e->system, event->system) || strcmp(e->name, event->name))
			fail_msg("%s:%s (%u) is not among ours", event->system, event->name,
				 event->id);
		assert_int_equal(e->nr_fields, event->nr_fields);
		for (size_t f = 0; f < e->nr_fields; f++)
			compare_field(event, &e->fields[f], &event->fields[f]);
	}
}

static void compare_values(const struct ours *ours, const struct record *r,
			   const struct oracle *theirs, const struct oracle_record *their)
{
	const struct oracle_event *event = oracle_event(theirs, their->id);
	const struct event_format *e = ours->by_id[their->id];
	int64_t value;

	if (!event || !e) /* a record of an event whose format is not in the file */
		return;
	for (size_t f = 0; f < event->nr_fields; f++) {
		if (!oracle_number(theirs, their, &event->fields[f], &value))
			continue;
		compared.values++;
		if ((int64_t)field_value(&e->fields[f], r->data, ours->tf.big_endian) != value)
			fail_msg("%s:%s %s is %llx, theirs %llx at %llu", event->system,
				 event->name, event->fields[f].name,
				 (unsigned long long)field_value(&e->fields[f], r->data,
								 ours->tf.big_endian),
				 (unsigned long long)value, (unsigned long long)their->ts);
	}
}

static void compare_record(const struct ours *ours, const struct record *r,
			   const struct oracle *theirs, const struct oracle_record *their)
{
	if (r->ts != their->ts || record_id(ours, r) != their->id || r->size != their->size ||
	    r->after_loss != (their->missed != 0))
		fail_msg("CPU %u: event %u of %u bytes at %llu, lost %d; theirs %u %u %llu %lld",
			 r->cpu, record_id(ours, r), r->size, (unsigned long long)r->ts,
			 r->after_loss, their->id, their->size, (unsigned long long)their->ts,
			 (long long)their->missed);
	compare_values(ours, r, theirs, their);
	compared.records++;
}

/* For each of our streams, what libtracecmd has of that CPU of that buffer; NULL if nothing. */
static size_t pair_streams(const struct ours *ours, const struct oracle *theirs,
			   const struct oracle_cpu **cpus)
{
	size_t nr = 0;

	for (size_t i = 0; i < ours->tf.nr_buffers; i++) {
		const struct trace_buffer *b = &ours->tf.buffers[i];
		unsigned int buffer = 0;

		while (buffer < theirs->nr_buffers && strcmp(theirs->buffers[buffer].name, b->name))
			buffer++;
		assert_true(buffer < theirs->nr_buffers);
		for (size_t c = 0; c < b->nr_cpus; c++) {
			assert_true(nr < MAX_STREAMS);
			cpus[nr++] = oracle_cpu(theirs, buffer, b->cpus[c].cpu);
		}
	}
	return nr;
}

/* Compare what we make of one file with what libtracecmd makes of the same or its plain twin. */
static void compare(const char *file, const char *plain_file)
{
	static const struct oracle_cpu *cpus[MAX_STREAMS];
	static size_t next[MAX_STREAMS];
	static uint64_t by_id[NR_IDS]; /* our records minus theirs */
	static struct ours ours;
	size_t nr_streams, stream, nr = 0, nr_theirs = 0;
	const struct record *r;
	struct oracle theirs;

	assert_int_equal(oracle_open(&theirs, plain_file), 0);
	ours_open(&ours, file);
	compare_formats(&ours, &theirs);
	nr_streams = pair_streams(&ours, &theirs, cpus);
	memset(next, 0, sizeof(next));
	memset(by_id, 0, sizeof(by_id));

	while ((r = ours_next(&ours, &stream))) {
		const struct oracle_cpu *cpu = cpus[stream];

		if (!cpu || next[stream] == cpu->nr_records)
			fail_msg("CPU %u has more than their %zu records", r->cpu, next[stream]);
		compare_record(&ours, r, &theirs, &cpu->records[next[stream]++]);
		by_id[record_id(&ours, r)]++;
		nr++;
	}
	for (size_t i = 0; i < theirs.nr_cpus; i++) {
		nr_theirs += theirs.cpus[i].nr_records;
		for (size_t j = 0; j < theirs.cpus[i].nr_records; j++)
			by_id[theirs.cpus[i].records[j].id]--;
	}
	for (size_t i = 0; i < nr_streams; i++)
		assert_int_equal(next[i], cpus[i] ? cpus[i]->nr_records : 0);
	for (size_t id = 0; id < NR_IDS; id++)
		assert_int_equal(by_id[id], 0);
	assert_int_equal(nr, nr_theirs);
	assert_int_equal(nr, ours.timeline.records);
	ours_close(&ours, file);
	oracle_close(&theirs);
	compared.files++;
}

/* A recording that comes with the project or with its surroundings. */
struct recording_file {
	const char *folder, *name;
	bool zlib;
	size_t nr_records; /* as the recordings' README has them; 0: not told */
};

static const struct recording_file recordings[] = {
	{ "traces/lab", "x86_64-reuse-64k", false, 7138 },
	{ "traces/lab", "x86_64-reuse-4k", false, 4439 },
	{ "traces/lab", "x86_64-reuse-2m-pmd", false, 382 },
	{ "traces/lab", "x86_64-cow-64k", false, 4754 },
	{ "traces/lab", "aarch64-reuse-64k", false, 4883 },
	{ "traces/lab", "aarch64-reuse-4k", false, 3535 },
	{ "traces/lab", "aarch64-reuse-2m-pmd", false, 503 },
	{ "traces/lab", "aarch64-cow-64k", false, 3801 },
	{ "../shared/traces/public", "v7-zstd-all-events-faults", false, 7283 },
	{ "../shared/traces/public", "v7-zlib-guest-timeshift", true, 0 },
	{ "../shared/traces/public", "v7-zlib-host", true, 0 },
	{ "../shared/traces/public", "v7-zstd-350k-events", false, 350725 },
	{ "../shared/traces/public", "v6-no-options", false, 10375 },
	{ "../shared/traces/public", "v6-arm32", false, 2292 },
	{ "../shared/traces/public", "v6-arm64-no-clock", false, 3724 },
	{ "../shared/traces/public", "v6-i686-function", false, 15127 },
	{ "../shared/traces/public", "v6-i686-funcgraph", false, 9 },
};

#define NR_RECORDINGS (sizeof(recordings) / sizeof(recordings[0]))

static size_t count_records(const char *file)
{
	static struct ours ours;
	size_t stream, nr = 0;

	ours_open(&ours, file);
	while (ours_next(&ours, &stream))
		nr++;
	ours_close(&ours, file);
	return nr;
}

static void test_recording(void **state)
{
	const struct recording_file *rec = *state;
	char file[256];

	snprintf(file, sizeof(file), "%s/%s.dat", rec->folder, rec->name);
	if (access(file, R_OK)) {
		if (!strncmp(rec->folder, "..", 2))
			skip();
		fail_msg("%s: %s", file, strerror(errno));
	}
	if (rec->zlib)
		assert_int_equal(unzlib(file, plain_path), 0);
	compare(file, rec->zlib ? plain_path : file);
	if (rec->nr_records)
		assert_int_equal(count_records(file), rec->nr_records);
}

/* Recordings that libtracecmd reads in silence, or crashes on: we say that they are damaged. */
static const struct recording_file damaged[] = {
	{ "../shared/traces/public", "v6-truncated", false, 0 },
	{ "../shared/traces/public", "v7-corrupt-20-bytes", false, 7821 },
	{ "../shared/traces/public", "v6-corrupt-crashes-libtracecmd-a", false, 7821 },
	{ "../shared/traces/public", "v6-corrupt-crashes-libtracecmd-b", false, 7821 },
};

#define NR_DAMAGED (sizeof(damaged) / sizeof(damaged[0]))

static void test_damaged(void **state)
{
	const struct recording_file *rec = *state;
	static struct ours ours;
	size_t nr = 0;
	char file[256];

	snprintf(file, sizeof(file), "%s/%s.dat", rec->folder, rec->name);
	if (access(file, R_OK))
		skip();
	ours_open(&ours, file);
	while (timeline_next(&ours.timeline))
		nr++;
	assert_true(ours.tf.damages.nr > 0);
	assert_true(nr <= rec->nr_records); /* of the whole recording */
	ours_forget(&ours);
}

/* What was written, for kinds that libtracecmd misreads too. */
static void compare_with_list(const struct kind *kind, const struct kind_record *list, size_t nr)
{
	static size_t next[MAX_STREAMS];
	static struct ours ours;
	size_t stream, found = 0;
	const struct record *r;
	uint64_t lost = 0, lost_uncounted = 0;

	/* Where each stream's records begin in the list: it goes from CPU to CPU and holds each
	 * once. */
	ours_open(&ours, path);
	for (size_t i = 0, s = 0; i < ours.tf.nr_buffers; i++) {
		for (size_t c = 0; c < ours.tf.buffers[i].nr_cpus; c++, s++) {
			next[s] = 0;
			while (next[s] < nr &&
			       (list[next[s]].cpu != ours.tf.buffers[i].cpus[c].cpu ||
				list[next[s]].buffer != (*ours.tf.buffers[i].name != '\0')))
				next[s]++;
		}
	}
	while ((r = ours_next(&ours, &stream))) {
		const struct kind_record *e = &list[next[stream]++];
		const struct event_format *format = ours.by_id[record_id(&ours, r)];

		assert_true(found < nr);
		assert_int_equal(r->cpu, e->cpu);
		assert_int_equal(r->ts, e->ts);
		assert_int_equal(record_id(&ours, r), e->id);
		assert_int_equal(r->after_loss, e->missed != 0);
		lost += e->missed > 0 ? e->missed : 0;
		lost_uncounted += e->missed < 0;
		assert_int_equal(format->nr_fields, 4 + e->nr_values);
		for (size_t i = 0; i < e->nr_values && e->id <= KIND_PACKED; i++) {
			const struct field *f = &format->fields[4 + i];
			uint64_t mask = f->size == 8 ? ~0ULL : (1ULL << 8 * f->size) - 1;

			assert_int_equal(field_value(f, r->data, ours.tf.big_endian) & mask,
					 e->values[i] & mask);
		}
		found++;
	}
	assert_int_equal(found, nr);
	assert_int_equal(ours.timeline.lost, lost);
	assert_int_equal(ours.timeline.lost_uncounted, lost_uncounted);
	ours_close(&ours, kind->name);
}

static void test_kind(void **state)
{
	const struct kind *kind = *state;
	struct kind_record *list;
	size_t nr;

	assert_int_equal(kind_write(kind, path, &list, &nr), 0);
	compare_with_list(kind, list, nr);
	free(list);
	if (kind->unknown_to_libtracecmd)
		return;
	if (kind->config.compression == TW_ZLIB)
		assert_int_equal(unzlib(path, plain_path), 0);
	compare(path, kind->config.compression == TW_ZLIB ? plain_path : path);
}

/* Options that change time, in all their combinations, on stamps at and between the samples. */
static void test_times(void **state)
{
	static const struct tw_shift_sample one[] = { { 0, -100, 2, 0 } };
	static const struct tw_shift_sample two[] = { { 5000, 777, 3, 1 }, { 9000, -3000, 5, 2 } };
	static const struct tw_shift_sample many[] = {
		{ 90000, 400, 1 << 20, 20 }, { 1000, -100, 1, 0 }, { 20000, 2000, 7, 3 },
		{ 20000, 9999, 9, 0 },	     { 40000, -50, 1, 0 },
	};
	static const struct tw_shift_cpu cpus[] = { { one, 1 }, { two, 2 }, { many, 5 } };
	const struct tw_config *config = *state;

	for (unsigned int bits = 0; bits < 64; bits++) {
		struct trace_writer *w = tw_new(config);
		struct tw_event *event = tw_add_event(w, "writer", "tick", 700, "int n");

		if (bits & 1)
			tw_time_shift(w, 1, bits & 2 ? TW_SHIFT_INTERPOLATE : 0, cpus, 3, bits & 4);
		if (bits & 8)
			/* libtracecmd takes a mult with its top bit set for negative */
			tw_tsc2nsec(w, 0x7edcba98, 31, 12345);
		if (bits & 16)
			tw_option_text(w, TW_OPT_OFFSET, "-123456789");
		if (bits & 32)
			tw_option_text(w, TW_OPT_DATE, "0x5f5e100");
		for (unsigned int cpu = 0; cpu < 5; cpu++) {
			for (unsigned int i = 0; i < 200; i++)
				tw_record(w, TW_AT(cpu, 500 + 500 * i, 1), event, TW_VALUES(i));
			tw_record(w, TW_AT(cpu, 1ULL << 58, 1), event, TW_VALUES(0));
		}
		assert_int_equal(tw_write(w, path), 0);
		tw_free(w);
		compare(path, path);
	}
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
	print_message("compared %llu files: %llu records, %llu values, %llu fields of formats\n",
		      (unsigned long long)compared.files, (unsigned long long)compared.records,
		      (unsigned long long)compared.values, (unsigned long long)compared.fields);
	unlink(path);
	unlink(plain_path);
	return rmdir(temp_dir);
}

int main(void)
{
	static struct CMUnitTest tests[KIND_MAX_KINDS + NR_RECORDINGS + NR_DAMAGED + 2];
	static struct tw_config v6 = { .version = 6 }, v7 = { .compression = TW_ZSTD };
	const struct kind *all;
	size_t nr_kinds, nr = 0;

	for (size_t i = 0; i < NR_RECORDINGS; i++) {
		tests[nr++] = (struct CMUnitTest){ .name = recordings[i].name,
						   .test_func = test_recording,
						   .initial_state = (void *)&recordings[i] };
	}
	for (size_t i = 0; i < NR_DAMAGED; i++) {
		tests[nr++] = (struct CMUnitTest){ .name = damaged[i].name,
						   .test_func = test_damaged,
						   .initial_state = (void *)&damaged[i] };
	}
	all = kinds(&nr_kinds);
	for (size_t i = 0; i < nr_kinds; i++) {
		tests[nr++] = (struct CMUnitTest){ .name = all[i].name,
						   .test_func = test_kind,
						   .initial_state = (void *)&all[i] };
	}
	tests[nr++] = (struct CMUnitTest)cmocka_unit_test_prestate(test_times, &v6);
	tests[nr++] = (struct CMUnitTest)cmocka_unit_test_prestate(test_times, &v7);
	return _cmocka_run_group_tests("differential", tests, nr, make_temp_dir, remove_temp_dir);
}
