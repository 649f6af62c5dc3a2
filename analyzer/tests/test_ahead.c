// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compressed recordings, whole and changed in some bytes, read by one thread and by two: both give
 * the same records and the same damage, within the budget of memory.
 */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "ahead.h"
#include "random.h"
#include "reading.h"
#include "timeline.h"
#include "trace_writer.h"
#include "trace_writer_faults.h"

#define NR_CPUS	   3
#define NR_FAULTS  3000 /* a CPU: about eight chunks */
#define NR_CHANGES 60

#define MANY_CPUS    120
#define LARGE_SUBBUF 16384 /* bytes: ten of them a chunk, of MANY_CPUS more than the budget */

static void record_faults(struct trace_writer *w, unsigned int cpu)
{
	struct tw_vma vma = { 0x7f0000000000, 0x7f0001000000, 0xffff888000100000 };
	uint64_t seed = cpu, ts = 1000000 + 77 * cpu;

	for (unsigned int i = 0; i < NR_FAULTS; i++) {
		ts += 1000 + random_u64(&seed) % 5000;
		tw_fault(w, TW_AT(cpu, ts, 100 + cpu), 500, &vma,
			 vma.start + (random_u64(&seed) & 0xfff000), 0x1255, 0);
	}
}

static uint8_t *make_recording(enum tw_compression compression, size_t *size)
{
	char path[] = "/tmp/test_ahead-XXXXXX";
	int fd = mkstemp(path);
	struct trace_writer *w =
		tw_new(&(struct tw_config){ .compression = compression, .nr_cpus = NR_CPUS });
	uint8_t *bytes;

	assert_true(fd >= 0);
	assert_non_null(w);
	for (unsigned int cpu = 0; cpu < NR_CPUS; cpu++)
		record_faults(w, cpu);
	assert_int_equal(tw_write(w, path), 0);
	tw_free(w);
	bytes = file_bytes(path, size);
	unlink(path);
	close(fd);
	return bytes;
}

/* Read with the first @nr_cpus CPUs of those that this process may use. */
static void read_on(struct reading *r, const char *path, int nr_cpus, const cpu_set_t *all)
{
	cpu_set_t some;

	CPU_ZERO(&some);
	for (int cpu = 0; CPU_COUNT(&some) < nr_cpus; cpu++) {
		if (CPU_ISSET(cpu, all))
			CPU_SET(cpu, &some);
	}
	assert_int_equal(sched_setaffinity(0, sizeof(some), &some), 0);
	reading_open(r, path);
	assert_int_equal(sched_setaffinity(0, sizeof(*all), all), 0);
}

static void expect_same(const uint8_t *bytes, size_t size, bool whole, const cpu_set_t *all)
{
	struct reading one, two;
	char path[32];
	int fd = memory_file(bytes, size, path);

	read_on(&one, path, 1, all);
	read_on(&two, path, 2, all);
	assert_true(reading_same(&one, &two));
	assert_int_equal(one.nr_damages, two.nr_damages);
	assert_string_equal(one.reason, two.reason);
	if (whole) {
		assert_int_equal(one.nr_records, 2 * NR_FAULTS * NR_CPUS);
		assert_int_equal(one.nr_damages, 0);
	}
	reading_close(&one);
	reading_close(&two);
	close(fd);
}

static void one_thread_and_two(void **state)
{
	const enum tw_compression *compression = *state;
	uint64_t seed = 7;
	cpu_set_t all;
	uint8_t *bytes;
	size_t size;

	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	if (CPU_COUNT(&all) < 2) {
		print_message("there is one CPU, and so no second thread\n");
		skip();
	}
	bytes = make_recording(*compression, &size);
	expect_same(bytes, size, true, &all);
	for (int i = 0; i < NR_CHANGES; i++) {
		uint8_t *changed = malloc(size);

		assert_non_null(changed);
		memcpy(changed, bytes, size);
		for (int j = 0; j < 1 << i % 5; j++)
			changed[random_u64(&seed) % size] ^= 1 + random_u64(&seed) % 255;
		/* and cut now and then */
		expect_same(changed, i % 6 ? size : random_u64(&seed) % size, false, &all);
		free(changed);
	}
	free(bytes);
}

/* What the thread has not begun is done by who asks for it, and what nobody asks for is dropped. */
static void chunks_on_their_way(void **state)
{
	struct unpacker own = { .method = COMPRESSION_ZLIB };
	struct ahead_chunk chunks[50] = { 0 };
	uint8_t to[50] = { 0 };
	struct ahead a;

	ahead_open(&a, &own);
	for (int round = 0; round < 200 && a.started; round++) {
		for (int i = 0; i < 50; i++) {
			chunks[i].block = (struct packed_block){ .fd = -1, .size = 1 };
			chunks[i].to = &to[i];
			ahead_push(&a, &chunks[i]);
		}
		for (int i = 49; i >= 0; i--) {
			if (i % 3)
				assert_true(ahead_wait(&a, &chunks[i], &own) < 0);
			else
				ahead_cancel(&a, &chunks[i]);
			assert_int_equal(chunks[i].state, AHEAD_IDLE);
		}
	}
	ahead_close(&a);
	unpacker_close(&own);
}

/* A chunk may hold nothing: no memory is asked for it, and none is touched. */
static void chunk_of_no_bytes(void **state)
{
	struct unpacker own = { .method = COMPRESSION_ZLIB };
	struct ahead_chunk c = { 0 };
	uint8_t packed[32];
	uLongf size = sizeof(packed);
	char path[32];
	struct ahead a;

	assert_int_equal(compress(packed, &size, (const Bytef *)"", 0), Z_OK);
	c.block = (struct packed_block){ .fd = memory_file(packed, size, path), .packed = size };
	ahead_open(&a, &own);
	for (int round = 0; round < 200 && a.started; round++) {
		ahead_push(&a, &c);
		if (round % 2)
			sched_yield(); /* so that either thread gets it */
		assert_int_equal(ahead_wait(&a, &c, &own), 0);
	}
	ahead_close(&a);
	unpacker_close(&own);
	close(c.block.fd);
}

/* A recording's timeline, of whatever compression. */
struct opened {
	char path[32];
	struct tracefile tf;
	struct timeline t;
};

static void open_many(struct opened *o, enum tw_compression compression)
{
	struct tw_config config = { .compression = compression,
				    .nr_cpus = MANY_CPUS,
				    .subbuf_size = LARGE_SUBBUF };
	struct trace_writer *w = tw_new(&config);
	struct page_layout layout;
	int fd;

	assert_non_null(w);
	for (unsigned int cpu = 0; cpu < MANY_CPUS; cpu++)
		record_faults(w, cpu);
	strcpy(o->path, "/tmp/test_ahead-XXXXXX");
	fd = mkstemp(o->path);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(tw_write(w, o->path), 0);
	tw_free(w);
	assert_int_equal(tracefile_open(&o->tf, o->path), 0);
	unlink(o->path);
	assert_int_equal(page_layout_parse(&layout, &o->tf.header_page, &o->tf.damages), 0);
	assert_int_equal(timeline_open(&o->t, &o->tf, &layout), 0);
}

/* Where chunks do not fit into the budget, streams share the memory that they are unpacked to. */
static void more_chunks_than_budget(void **state)
{
	struct opened packed, plain;
	const struct record *p, *q;
	uint64_t most = 0, nr = 0;

	open_many(&packed, TW_ZSTD);
	open_many(&plain, TW_PLAIN);
	do {
		uint64_t held = packed.tf.chunks_size + packed.tf.coming_size;

		most = held > most ? held : most;
		p = timeline_next(&packed.t);
		q = timeline_next(&plain.t);
		assert_int_equal(p != NULL, q != NULL);
		if (p && (p->ts != q->ts || p->cpu != q->cpu || p->size != q->size ||
			  memcmp(p->data, q->data, p->size)))
			fail_msg("record %llu differs", (unsigned long long)nr);
		nr++;
	} while (p);
	assert_int_equal(nr, 2 * NR_FAULTS * MANY_CPUS + 1);
	assert_in_range(most, PAGES_BUDGET / 2, PAGES_BUDGET);
	assert_true(packed.tf.shared.room > 0);
	assert_int_equal(packed.tf.damages.nr + plain.tf.damages.nr, 0);
	timeline_close(&packed.t);
	timeline_close(&plain.t);
	assert_int_equal(packed.tf.chunks_size + packed.tf.coming_size, 0);
	tracefile_close(&packed.tf);
	tracefile_close(&plain.tf);
}

int main(void)
{
	static enum tw_compression zstd = TW_ZSTD, zlib = TW_ZLIB;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(one_thread_and_two, &zstd),
		cmocka_unit_test_prestate(one_thread_and_two, &zlib),
		cmocka_unit_test(chunks_on_their_way),
		cmocka_unit_test(chunk_of_no_bytes),
		cmocka_unit_test(more_chunks_than_budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
