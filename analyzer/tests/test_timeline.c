// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The order in which records of many CPUs come, held against the plainest merge: of all CPUs' next
 * records the earliest, of equally early ones the first in the file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "random.h"
#include "timeline.h"
#include "trace_writer.h"

#define MAX_CPUS    2100 /* so many are merged in another way */
#define MAX_RECORDS 1500 /* of a CPU: of so many the file is read in several pieces */

enum pace {
	PACE_TIES,  /* most are of a time that other CPUs have, too */
	PACE_BUSY,  /* as a machine under load */
	PACE_LEAPS, /* up to most of what 64 bits hold */
	PACE_BACK,  /* sub-buffers that begin before the last one ended */
	PACE_ANY,   /* sub-buffers that begin at any time */
	PACE_FALL,  /* late at first, early then */
	NR_PACES
};

struct cpu_records {
	uint64_t ts[MAX_RECORDS];
	size_t nr, next;
	const uint8_t *page; /* where its last record was */
	uint64_t page_offset;
};

struct lab {
	struct cpu_records cpus[MAX_CPUS];
	unsigned int nr_cpus;
	struct tracefile tf;
	struct page_layout layout;
	struct timeline timeline;
};

/* What a record holds: an id that no event has, and where it belongs. */
struct payload {
	uint16_t id;
	uint16_t cpu;
	uint32_t number;
};

static uint64_t step(enum pace pace, uint64_t *seed)
{
	uint64_t r = random_u64(seed);

	switch (pace) {
	case PACE_TIES:
		return r % 3;
	case PACE_LEAPS:
		return r >> (1 + random_u64(seed) % 63);
	default:
		return r % 5000;
	}
}

static void write_cpu(struct lab *lab, struct trace_writer *w, unsigned int cpu, enum pace pace,
		      uint64_t *seed)
{
	struct cpu_records *c = &lab->cpus[cpu];
	uint64_t ts = pace == PACE_BACK ? 1 << 20 : pace == PACE_FALL ? UINT64_C(3) << 62 : 1;
	size_t nr = random_u64(seed) % (random_u64(seed) % 4 ? MAX_RECORDS : 2);

	if (lab->nr_cpus == MAX_CPUS) /* each is to be in the file */
		nr = 1 + random_u64(seed) % 2;

	*c = (struct cpu_records){ 0 };
	while (c->nr < nr) {
		const struct payload p = { .id = 0xfffe, .cpu = cpu, .number = c->nr };
		uint8_t bytes[100] = { 0 };
		uint64_t more = step(pace, seed);

		if (more > UINT64_MAX - ts)
			break;
		ts += more;
		if (pace == PACE_ANY && !(random_u64(seed) % 20)) {
			ts = random_u64(seed) >> random_u64(seed) % 64;
			ts = random_u64(seed) % 2 ? ts : ~ts;
			tw_begin_page(w, cpu, ts);
		} else if (pace == PACE_FALL && c->nr == 20) {
			ts = random_u64(seed) % (1 << 20);
			tw_begin_page(w, cpu, ts);
		} else if (pace == PACE_BACK && !(random_u64(seed) % 40)) {
			ts -= random_u64(seed) % (1 << 20);
			tw_begin_page(w, cpu, ts);
		} else if (more >> 58) { /* more than a time extend holds */
			tw_begin_page(w, cpu, ts);
		} else if (!(random_u64(seed) % 50)) {
			tw_end_page(w, cpu);
		}
		memcpy(bytes, &p, sizeof(p));
		tw_raw(w, cpu, ts, bytes, 8 + random_u64(seed) % (sizeof(bytes) - 8));
		c->ts[c->nr++] = ts;
	}
}

/* A recording of random CPUs, which is then open. */
static void lab_open(struct lab *lab, enum pace pace, bool ticks, bool many, uint64_t *seed)
{
	static const unsigned int nr_cpus[] = { 1, 2, 3, 5, 16, 33, 64, 65, 80 };
	char path[] = "/tmp/test_timeline-XXXXXX";
	struct trace_writer *w;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	memset(lab, 0, sizeof(*lab));
	lab->nr_cpus = nr_cpus[random_u64(seed) % (sizeof(nr_cpus) / sizeof(*nr_cpus))];
	if (many)
		lab->nr_cpus = MAX_CPUS;
	w = tw_new(&(struct tw_config){ .nr_cpus = lab->nr_cpus,
					/* sub-buffers of small pieces lie all in one place */
					.compression =
						!many && random_u64(seed) % 2 ? TW_ZSTD : TW_PLAIN,
					.clock = ticks ? "x86-tsc" : "local" });
	assert_non_null(w);
	if (ticks) /* two of them are 3 ns: times that differ become equal */
		tw_tsc2nsec(w, 3, 3, 0);
	for (unsigned int cpu = 0; cpu < lab->nr_cpus; cpu++)
		write_cpu(lab, w, cpu, pace, seed);
	assert_int_equal(tw_write(w, path), 0);
	tw_free(w);
	assert_int_equal(tracefile_open(&lab->tf, path), 0);
	assert_int_equal(page_layout_parse(&lab->layout, &lab->tf.header_page, &lab->tf.damages),
			 0);
	assert_int_equal(timeline_open(&lab->timeline, &lab->tf, &lab->layout), 0);
	assert_int_equal(trace_clock_is_identity(&lab->tf.clock), !ticks);
	unlink(path);
	close(fd);
}

static void lab_close(struct lab *lab)
{
	assert_int_equal(lab->tf.damages.nr, 0);
	timeline_close(&lab->timeline);
	tracefile_close(&lab->tf);
}

static uint64_t time_of(const struct lab *lab, unsigned int cpu)
{
	const struct cpu_records *c = &lab->cpus[cpu];

	return trace_clock_convert(&lab->tf.clock, cpu, c->ts[c->next]);
}

/* The CPU whose record has to come next; nr_cpus at the end. */
static unsigned int next_cpu(const struct lab *lab)
{
	unsigned int best = lab->nr_cpus;

	for (unsigned int cpu = 0; cpu < lab->nr_cpus; cpu++) {
		const struct cpu_records *c = &lab->cpus[cpu];

		if (c->next < c->nr &&
		    (best == lab->nr_cpus || time_of(lab, cpu) < time_of(lab, best)))
			best = cpu;
	}
	return best;
}

static void check_record(struct lab *lab, const struct record *r, unsigned int cpu)
{
	const struct stream *s = &lab->timeline.streams[timeline_stream(&lab->timeline)];
	struct cpu_records *c = &lab->cpus[cpu];
	struct payload p;

	memcpy(&p, r->data, sizeof(p));
	assert_int_equal(p.cpu, cpu);
	assert_int_equal(p.number, c->next);
	assert_int_equal(r->cpu, cpu);
	assert_int_equal(s->next.cpu, cpu);
	assert_int_equal(r->ts, time_of(lab, cpu));
	assert_int_equal(r->begins_page,
			 s->page_start != c->page || s->page_offset != c->page_offset);
	c->page = s->page_start;
	c->page_offset = s->page_offset;
}

static void check_order(struct lab *lab)
{
	const struct record *r;
	uint64_t last = 0, nr = 0;
	unsigned int cpu;

	for (; (cpu = next_cpu(lab)) < lab->nr_cpus; nr++) {
		r = timeline_next(&lab->timeline);
		assert_non_null(r);
		check_record(lab, r, cpu);
		last = r->ts;
		lab->cpus[cpu].next++;
	}
	for (int i = 0; i < 3; i++) {
		assert_null(timeline_next(&lab->timeline));
		assert_int_equal(lab->timeline.last, last);
		assert_int_equal(timeline_offset(&lab->timeline), 0);
	}
	assert_int_equal(lab->timeline.records, nr);
}

static void test_order(void **state)
{
	static struct lab lab;
	uint64_t seed = 3;

	for (unsigned int round = 0; round < 240; round++) {
		lab_open(&lab, round / 2 % NR_PACES, round % 2, round < NR_PACES, &seed);
		check_order(&lab);
		lab_close(&lab);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
	};

	return cmocka_run_group_tests_name("timeline", tests, NULL, NULL);
}
