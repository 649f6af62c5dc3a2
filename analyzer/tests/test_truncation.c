// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Recordings of every kind, cut at every 512th byte and at the bounds of their parts: never read as
 * if whole, and what is read of them is what was there. FAULT_ANALYZE_LONG=1 tries all the cuts,
 * else a sample by a seed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "kinds.h"
#include "random.h"
#include "reading.h"
#include "report.h"

#define CUT_STEP 512
#define SAMPLE	 16 /* one cut of so many, when not all are tried */

static char temp_path[] = "/tmp/test_truncation-XXXXXX";
static bool all_cuts;
static uint64_t seed = 20240917;
static uint64_t nr_cuts;

/* As report exits: 0 only when all was read. */
static bool is_called_whole(const char *path)
{
	const struct report_options options = { 0 };
	struct recording rec = { 0 };
	const char *reason;
	bool whole = !report_read(path, &options, &rec, &reason) && !rec.damages.nr;

	recording_release(&rec);
	return whole;
}

static void check_cut(const char *path, const char *name, size_t size, const struct reading *whole)
{
	const struct read_stream *beyond;
	struct reading r;

	nr_cuts++;
	if (is_called_whole(path))
		fail_msg("%s: cut to %zu bytes and called whole", name, size);
	reading_open(&r, path);
	if (!r.nr_damages)
		fail_msg("%s: cut to %zu bytes and no damage", name, size);
	beyond = reading_beyond(&r, whole);
	if (beyond)
		fail_msg("%s: cut to %zu bytes, buffer '%s' CPU %u has records that were not there",
			 name, size, beyond->buffer, beyond->cpu);
	reading_close(&r);
}

static int descending(const void *a, const void *b)
{
	const size_t *x = a, *y = b;

	return (*x < *y) - (*x > *y);
}

/* Where to cut a file of @size bytes, from its end to its start; *nr of them. */
static size_t *cuts_of(size_t size, const size_t *bounds, size_t nr_bounds, size_t *nr)
{
	size_t *cuts = calloc(size / CUT_STEP + 1 + 2 * nr_bounds, sizeof(*cuts));

	assert_non_null(cuts);
	*nr = 0;
	for (size_t at = 0; at < size; at += CUT_STEP) {
		if (all_cuts || !(random_u64(&seed) % SAMPLE))
			cuts[(*nr)++] = at;
	}
	for (size_t i = 0; i < nr_bounds; i++) {
		if (bounds[i] < size)
			cuts[(*nr)++] = bounds[i];
		if (bounds[i])
			cuts[(*nr)++] = bounds[i] - 1;
	}
	qsort(cuts, *nr, sizeof(*cuts), descending);
	return cuts;
}

static void try_cuts(const char *name, const char *file, const size_t *bounds, size_t nr_bounds)
{
	size_t size, nr, *cuts;
	uint8_t *data = file_bytes(file, &size);
	struct reading whole;
	char path[32];
	int fd = memory_file(data, size, path);

	reading_open(&whole, path);
	if (whole.nr_damages || !is_called_whole(path))
		fail_msg("%s: whole, and called damaged: %s", name, whole.reason);
	cuts = cuts_of(size, bounds, nr_bounds, &nr);
	for (size_t i = 0; i < nr; i++) {
		assert_int_equal(ftruncate(fd, cuts[i]), 0);
		check_cut(path, name, cuts[i], &whole);
	}
	free(cuts);
	reading_close(&whole);
	close(fd);
	free(data);
}

static void test_kind(void **state)
{
	const struct kind *kind = *state;
	struct kind_record *list;
	size_t *bounds, nr, nr_bounds;

	assert_int_equal(kind_write_parts(kind, temp_path, &list, &nr, &bounds, &nr_bounds), 0);
	try_cuts(kind->name, temp_path, bounds, nr_bounds);
	free(bounds);
	free(list);
}

static void test_lab(void **state)
{
	try_cuts("lab", "traces/lab/x86_64-reuse-64k.dat", NULL, 0);
	try_cuts("lab", "traces/lab/aarch64-cow-64k.dat", NULL, 0);
}

static int setup(void **state)
{
	int fd = mkstemp(temp_path);
	const char *text = getenv("FAULT_ANALYZE_LONG");

	all_cuts = text && !strcmp(text, "1");
	return fd < 0 ? -1 : close(fd);
}

static int teardown(void **state)
{
	print_message("%llu cuts, all told\n", (unsigned long long)nr_cuts);
	return unlink(temp_path);
}

int main(void)
{
	static struct CMUnitTest tests[KIND_MAX_KINDS + 1];
	const struct kind *all;
	size_t nr_kinds, nr = 0;

	all = kinds(&nr_kinds);
	for (size_t i = 0; i < nr_kinds; i++) {
		tests[nr++] = (struct CMUnitTest){ .name = all[i].name,
						   .test_func = test_kind,
						   .initial_state = (void *)&all[i] };
	}
	tests[nr++] = (struct CMUnitTest)cmocka_unit_test(test_lab);
	return _cmocka_run_group_tests("truncation", tests, nr, setup, teardown);
}
