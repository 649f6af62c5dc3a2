// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Merging is exact, associative and commutative: recordings in any order, split at random into
 * groups of groups that are reported and merged, give what one report over all of them gives.
 */
#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "command.h"
#include "random.h"
#include "run_command.h"
#include "trace_writer.h"
#include "trace_writer_faults.h"

#define NR_RECORDINGS 12
#define NR_ROUNDS     20
#define BASE	      UINT64_C(0x7f0000000000)
#define MM	      UINT64_C(0xffff888000100000)
#define WRITE	      0x1255
/* faults of most recordings: two of them have more latencies than the 4,096 that are kept */
#define MANY	      5000

static char folder[] = "/tmp/test_merge_splits-XXXXXX";
static char *recordings[NR_RECORDINGS];

static char *new_path(const char *kind, unsigned int nr)
{
	char *path;

	assert_true(asprintf(&path, "%s/%s-%u", folder, kind, nr) > 0);
	return path;
}

/* Recording @nr: every kind of file; some empty, with losses, or of a clock that counts no ns. */
static void write_recording(unsigned int nr)
{
	const struct tw_config config = { .version = nr % 3 ? 7 : 6,
					  .compression = nr % 3 == 2 ? TW_ZSTD : TW_PLAIN,
					  .nr_cpus = 1 + nr % 2,
					  .clock = nr == 7 ? "x86-tsc" : NULL };
	unsigned int nr_faults = nr == 5 ? 0 : nr % 2 ? MANY : 100, order = nr % 4 == 1 ? 0 : 4;
	const struct tw_vma vma = { BASE, BASE + ((uint64_t)nr_faults << 21), MM };
	struct trace_writer *w = tw_new(&config);
	uint64_t seed = 77 + nr, ts = 1000;

	assert_non_null(w);
	tw_option_u64(w, TW_OPT_TRACEID, 1000 + nr);
	tw_option_text(w, TW_OPT_UNAME, nr % 4 ? "Linux a 7.3.4 x86_64" : "Linux b 6.12.0 aarch64");
	tw_declare_faults(w);
	for (unsigned int i = 0; i < nr_faults; i++) {
		uint64_t address = BASE + ((uint64_t)i << (12 + order)), lat = random_u64(&seed);

		lat = 2000 + lat % (lat & 1 ? 1000 : 100000000);
		tw_fault_entry(w, TW_AT(0, ts, 100), &vma, address, WRITE);
		if (i % 5)
			tw_page_alloc(w, TW_AT(0, ts + 1, 100), (uint64_t)i << order, order,
				      order ? TW_GFP_MTHP : TW_GFP_FOLIO);
		tw_fault_exit(w, TW_AT(0, ts += lat, 100), i % 100 == 50 ? 0x400 : 0);
		if (i % 64 == 32 && nr == 3)
			tw_lost(w, 0, i, true);
	}
	recordings[nr] = new_path("recording", nr);
	assert_int_equal(tw_write(w, recordings[nr]), 0);
	tw_free(w);
}

/* What @command prints as JSON of the @nr files, with exit code 0. */
static char *json_of(int (*command)(int argc, char **argv), const char *name, char **files, int nr)
{
	char *words[NR_RECORDINGS + 4] = { (char *)name, "-F", "json" };
	struct run run;

	memcpy(words + 3, files, nr * sizeof(*files));
	run = run_command_words(command, nr + 3, words);
	if (run.code || *run.err)
		fail_msg("%s of %d files: exit %d, %s", name, nr, run.code, run.err);
	free(run.err);
	return run.out;
}

/* The same into a new file. */
static char *json_file_of(int (*command)(int argc, char **argv), const char *name, char **files,
			  int nr)
{
	char *text = json_of(command, name, files, nr), *path = text_to_file(text);

	free(text);
	return path;
}

/* A file that holds the report of @files, made in one or by merging those of random groups. */
static char *summarise(char **files, int nr, uint64_t *seed)
{
	char *parts[NR_RECORDINGS], *path;
	int nr_parts = 0;

	if (nr == 1 || random_u64(seed) % 3 == 0)
		return json_file_of(cmd_report, "report", files, nr);
	for (int i = 0, take; i < nr; i += take) {
		take = 1 + random_u64(seed) % (nr - (i == 0)); /* not all of them again */
		if (take > nr - i)
			take = nr - i;
		parts[nr_parts++] = summarise(files + i, take, seed);
	}
	path = json_file_of(cmd_merge, "merge", parts, nr_parts);
	for (int i = 0; i < nr_parts; i++) {
		unlink(parts[i]);
		free(parts[i]);
	}
	return path;
}

static void shuffle(char **files, int nr, uint64_t *seed)
{
	for (int i = nr - 1; i > 0; i--) {
		int j = random_u64(seed) % (i + 1);
		char *file = files[i];

		files[i] = files[j];
		files[j] = file;
	}
}

/* The sums alone: what does not depend on the recordings' order. */
static char *sums_of(const char *text)
{
	struct json_object *root = json_tokener_parse(text);
	char *sums;

	assert_non_null(root);
	json_object_object_del(root, "recordings");
	sums = strdup(json_object_to_json_string(root));
	assert_non_null(sums);
	json_object_put(root);
	return sums;
}

/* One round: some of the recordings, in two orders, each split anew. */
static void check_round(uint64_t *seed)
{
	int nr = 2 + random_u64(seed) % (NR_RECORDINGS - 1);
	char *files[NR_RECORDINGS], *sums[2];

	memcpy(files, recordings, sizeof(files));
	shuffle(files, NR_RECORDINGS, seed);
	for (int i = 0; i < 2; i++) {
		char *path, *one, *merged;

		shuffle(files, nr, seed);
		path = summarise(files, nr, seed);
		merged = json_of(cmd_merge, "merge", &path, 1);
		one = json_of(cmd_report, "report", files, nr);
		assert_string_equal(merged, one);
		sums[i] = sums_of(merged);
		free(one);
		free(merged);
		unlink(path);
		free(path);
	}
	assert_string_equal(sums[0], sums[1]);
	free(sums[0]);
	free(sums[1]);
}

static void test_any_split_is_one_report(void **state)
{
	uint64_t seed = 20261130;

	for (int i = 0; i < NR_ROUNDS; i++)
		check_round(&seed);
}

/* The rounds meet both: distributions that stay exact, and some that become buckets. */
static void test_has_both_distributions(void **state)
{
	char *files[] = { recordings[1], recordings[3], recordings[9] };
	char *text = json_of(cmd_report, "report", files, 3);
	struct json_object *root = json_tokener_parse(text), *classes, *dist, *value;
	unsigned int nr[2] = { 0 };

	assert_true(json_object_object_get_ex(root, "classes", &classes));
	for (size_t i = 0; i < json_object_array_length(classes); i++) {
		assert_true(json_object_object_get_ex(json_object_array_get_idx(classes, i),
						      "latency_ns", &dist));
		assert_true(json_object_object_get_ex(dist, "exact", &value));
		nr[json_object_get_boolean(value)]++;
	}
	assert_true(nr[0] && nr[1]);
	json_object_put(root);
	free(text);
}

static int setup(void **state)
{
	if (!mkdtemp(folder))
		return -1;
	for (unsigned int i = 0; i < NR_RECORDINGS; i++)
		write_recording(i);
	return 0;
}

static int teardown(void **state)
{
	for (unsigned int i = 0; i < NR_RECORDINGS; i++) {
		unlink(recordings[i]);
		free(recordings[i]);
	}
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_split_is_one_report),
		cmocka_unit_test(test_has_both_distributions),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
