// SPDX-License-Identifier: GPL-2.0-or-later
/* Pages that a workload says it used, from the manifest to the waste of a report's rows. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "manifest.h"
#include "report.h"
#include "used.h"

static void test_list(void **state)
{
	static const struct used_range ranges[] = {
		{ 0x30000, 0x40000, 0x4000 },
		{ 0x10000, 0x20000, 0x1000 },
		{ 0x20000, 0x21000, 0x1000 },
	};
	const struct used_range overlapping = { 0x20000, 0x20001, 1 }, empty = { 7, 7, 1 };
	struct used_pages used = { 0 };

	for (size_t i = 0; i < 3; i++)
		assert_int_equal(used_add(&used, CLASS_COW, &ranges[i]), 0);
	assert_int_equal(used_add(&used, CLASS_COW, &empty), -EINVAL);
	assert_int_equal(used_finish(&used), 0);
	assert_true(used_has(&used, CLASS_COW, 0x10000));
	assert_true(used_has(&used, CLASS_COW, 0x1f000));
	assert_true(used_has(&used, CLASS_COW, 0x20000));
	assert_false(used_has(&used, CLASS_COW, 0x21000));
	assert_false(used_has(&used, CLASS_COW, 0x0f000));
	assert_true(used_has(&used, CLASS_COW, 0x34000));
	assert_false(used_has(&used, CLASS_COW, 0x35000));
	assert_false(used_has(&used, CLASS_COW, 0x40000));
	assert_false(used_has(&used, CLASS_REUSE, 0x10000));
	assert_int_equal(used_add(&used, CLASS_COW, &overlapping), 0);
	assert_int_equal(used_finish(&used), -EINVAL);
	used_release(&used);
}

/* A link to @recording with @manifest beside it, to remove with drop(). */
static char *with_manifest(const char *recording, const char *manifest)
{
	char *dir = strdup("/tmp/fault-analyze-test-XXXXXX"), *path, *json, *target;
	FILE *out;

	assert_non_null(mkdtemp(dir));
	target = realpath(recording, NULL);
	assert_non_null(target);
	assert_true(asprintf(&path, "%s/r.dat", dir) > 0 && asprintf(&json, "%s.json", path) > 0);
	assert_int_equal(symlink(target, path), 0);
	out = fopen(json, "w");
	assert_non_null(out);
	fprintf(out, "{ \"schema\": \"" MANIFEST_SCHEMA "\", %s }", manifest);
	fclose(out);
	free(json);
	free(target);
	free(dir);
	return path;
}

static void drop(char *path)
{
	char *json;

	assert_true(asprintf(&json, "%s.json", path) > 0);
	unlink(json);
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	free(json);
	free(path);
}

static int read_report(const char *path, struct recording *rec, const char **reason)
{
	const struct report_options options = { 0 };

	*rec = (struct recording){ 0 };
	return report_read(path, &options, rec, reason);
}

static const struct summary_row *find(const struct recording *rec, enum fault_class class)
{
	for (size_t i = 0; i < rec->summary.nr_rows; i++)
		if (rec->summary.rows[i]->key.class == class &&
		    rec->summary.rows[i]->key.order == 4)
			return rec->summary.rows[i];
	fail_msg("no row");
	return NULL;
}

#define LAB "traces/lab/x86_64-reuse-64k.dat" /* 8 MiB of 64K from 7fc78c200000 on */

/* What populating took beside the pages that were used; reuse took its own page each time. */
static void test_waste(void **state)
{
	static const struct {
		const char *manifest;
		bool known;
		uint64_t waste;
	} cases[] = {
		{ "\"used\": []", false, 0 },
		{ "\"used\": [{\"class\": \"map\", \"start\": \"7fc78c200000\", "
		  "\"end\": \"7fc78ca00000\"}]",
		  true, 0 },
		{ "\"used\": [{\"class\": \"map\", \"start\": \"7fc78c200000\", "
		  "\"end\": \"7fc78ca00000\", \"every\": 16}]",
		  true, 128 * 15 },
		{ "\"used\": [{\"class\": \"map\", \"start\": \"7fc78c200000\", "
		  "\"end\": \"7fc78ca00000\", \"every\": 4}]",
		  true, 128 * 12 },
		/* it took a fault on pages that the list does not have: not a list of this */
		{ "\"used\": [{\"class\": \"map\", \"start\": \"7fc78c201000\", "
		  "\"end\": \"7fc78ca00000\", \"every\": 16}]",
		  false, 0 },
		{ "\"used\": [{\"class\": \"map\", \"start\": \"7fc78c200000\", "
		  "\"end\": \"7fc78c9f0000\"}]",
		  false, 0 },
		{ "\"used\": [{\"class\": \"cow\", \"start\": \"7fc78c200000\", "
		  "\"end\": \"7fc78ca00000\"}]",
		  false, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *path = with_manifest(LAB, cases[i].manifest);
		const struct summary_row *map, *reuse;
		struct recording rec;
		const char *reason;

		assert_int_equal(read_report(path, &rec, &reason), 0);
		map = find(&rec, CLASS_MAP);
		reuse = find(&rec, CLASS_REUSE);
		assert_int_equal(map->ptes_resolved, 2048);
		if (row_waste_known(map) != cases[i].known)
			fail_msg("case %zu: known is %d", i, row_waste_known(map));
		if (cases[i].known)
			assert_int_equal(map->waste_ptes, cases[i].waste);
		assert_true(row_waste_known(reuse));
		assert_int_equal(reuse->waste_ptes, 0);
		recording_release(&rec);
		drop(path);
	}
}

/* The list is left out and said, the rest of the manifest holds. */
static void test_bad_lists(void **state)
{
	static const char *const lists[] = {
		"\"used\": 7",
		"\"used\": [7]",
		"\"used\": [{}]",
		"\"used\": [{\"class\": \"cows\", \"start\": \"0\", \"end\": \"1000\"}]",
		"\"used\": [{\"class\": \"cow\", \"start\": \"10\", \"end\": \"1000\"}]",
		"\"used\": [{\"class\": \"cow\", \"start\": \"2000\", \"end\": \"1000\"}]",
		"\"used\": [{\"class\": \"cow\", \"start\": \"x\", \"end\": \"1000\"}]",
		"\"used\": [{\"class\": \"cow\", \"start\": \"0\", \"end\": \"1000\", "
		"\"every\": 0}]",
		"\"used\": [{\"class\": \"cow\", \"start\": \"0\", \"end\": \"2000\"}, "
		"{\"class\": \"cow\", \"start\": \"1000\", \"end\": \"2000\"}]",
	};

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		struct recording rec;
		const char *reason;
		char *path, *manifest;

		assert_true(asprintf(&manifest, "\"boot\": \"b\", %s", lists[i]) > 0);
		path = with_manifest(LAB, manifest);
		assert_int_equal(read_report(path, &rec, &reason), 0);
		if (rec.damages.nr != 1 || !strstr(rec.damages.list[0].reason, "used pages") ||
		    !strstr(rec.damages.list[0].reason, ": r.dat.json"))
			fail_msg("%s: %s", lists[i],
				 rec.damages.nr ? rec.damages.list[0].reason : "taken");
		assert_false(row_waste_known(find(&rec, CLASS_MAP)));
		assert_string_equal(rec.boot, "b");
		recording_release(&rec);
		free(manifest);
		drop(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_waste),
		cmocka_unit_test(test_bad_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
