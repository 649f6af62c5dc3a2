// SPDX-License-Identifier: GPL-2.0-or-later
/* The merge command: what one report over all recordings gives, and what it refuses. */
#include <fcntl.h>
#include <getopt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "command.h"
#include "make_recording.h"
#include "output.h"
#include "run_command.h"
#include "version.h"

struct report {
	struct recording *recs;
	size_t nr;
	struct recording total;
	const struct output_filter *filter;
};

static int write_report(FILE *out, void *arg)
{
	struct report *r = arg;
	const struct output_options opt = { .filters = r->filter, .nr_filters = !!r->filter };

	return output_report(out, FORMAT_JSON, r->recs, r->nr, &r->total, &opt);
}

static char *report_json(struct recording *recs, size_t nr, const struct output_filter *filter)
{
	struct report r = { .recs = recs, .nr = nr, .filter = filter };
	char *text;
	int err;

	assert_int_equal(recordings_total(&r.total, recs, nr), 0);
	text = written_by(write_report, &r, &err);
	assert_int_equal(err, 0);
	recording_release(&r.total);
	return text;
}

static char *report_to_file(struct recording *recs, size_t nr, const struct output_filter *filter)
{
	char *text = report_json(recs, nr, filter), *path = text_to_file(text);

	free(text);
	return path;
}

static void release_file(char *path)
{
	unlink(path);
	free(path);
}

static void test_is_one_report_over_all(void **state)
{
	struct recording recs[3] = { make_recording("a.dat", 1, 5, 2780),
				     make_recording("b.dat", 2, 7, 2900),
				     make_recording("c.dat", 3, 0, 1) };
	char *one = report_to_file(recs, 2, NULL), *two = report_to_file(recs + 2, 1, NULL);
	char *all = report_json(recs, 3, NULL);
	struct run run = run_command(cmd_merge, "merge", one, two, NULL);

	assert_int_equal(run.code, 0);
	assert_string_equal(run.out, all);
	assert_string_equal(run.err, "");
	run_release(&run);
	free(all);
	release_file(one);
	release_file(two);
	for (size_t i = 0; i < 3; i++)
		recording_release(&recs[i]);
}

static void test_keeps_damage_and_filters(void **state)
{
	const struct output_filter filter = { "pid", "42" };
	struct recording recs[2] = { make_recording("a.dat", 1, 5, 2780),
				     make_recording("b.dat", 2, 7, 2900) };
	char *one, *two, *all;
	struct run run;

	damage_add(&recs[1].damages, 99, "cut");
	one = report_to_file(recs, 1, &filter);
	two = report_to_file(recs + 1, 1, &filter);
	all = report_json(recs, 2, &filter);
	run = run_command(cmd_merge, "merge", one, two, NULL);
	assert_int_equal(run.code, 2);
	assert_string_equal(run.out, all);
	run_release(&run);
	run = run_command(cmd_merge, "merge", "-F", "text", two, NULL);
	assert_non_null(strstr(run.out, "damaged at byte 99: cut"));
	assert_non_null(strstr(run.out, "counted only: pid 42"));
	run_release(&run);
	free(all);
	release_file(one);
	release_file(two);
	recording_release(&recs[0]);
	recording_release(&recs[1]);
}

static void assert_refused(const struct run *run, int code, const char *words)
{
	assert_int_equal(run->code, code);
	assert_string_equal(run->out, "");
	if (!strstr(run->err, words))
		fail_msg("\"%s\" does not say \"%s\"", run->err, words);
	if (code == 2)
		assert_ptr_equal(strchr(run->err, '\n'), run->err + strlen(run->err) - 1);
}

static void test_refusals(void **state)
{
	const struct output_filter filter = { "pid", "42" };
	struct recording a = make_recording("a.dat", 1, 1, 2780);
	struct recording b = make_recording("b.dat", 2, 1, 2780);
	struct recording twice[2] = { a, a };
	char *one = report_to_file(&a, 1, NULL), *filtered = report_to_file(&b, 1, &filter);
	char *doubled = report_to_file(twice, 2, NULL), *cut = text_to_file("{\"schema\":");
	struct run run;

	run = run_command(cmd_merge, "merge", one, one, NULL);
	assert_refused(&run, 2, "same trace_id");
	run_release(&run);
	run = run_command(cmd_merge, "merge", doubled, NULL);
	assert_refused(&run, 2, "same trace_id");
	run_release(&run);
	run = run_command(cmd_merge, "merge", one, filtered, NULL);
	assert_refused(&run, 2, "other filters");
	run_release(&run);
	run = run_command(cmd_merge, "merge", one, cut, NULL);
	assert_refused(&run, 2, "JSON is cut at byte 10");
	run_release(&run);
	run = run_command(cmd_merge, "merge", "/no/such.json", NULL);
	assert_refused(&run, 2, "/no/such.json: No such file");
	run_release(&run);
	run = run_command(cmd_merge, "merge", NULL);
	assert_refused(&run, 1, "see 'fault-analyze merge --help'");
	run_release(&run);
	run = run_command(cmd_merge, "merge", "-F", "xml", one, NULL);
	assert_refused(&run, 1, "'xml' is no format");
	run_release(&run);
	release_file(one);
	release_file(filtered);
	release_file(doubled);
	release_file(cut);
	recording_release(&a);
	recording_release(&b);
}

static void test_names_other_versions(void **state)
{
	struct recording rec = make_recording("a.dat", 1, 5, 2780);
	char *text = report_json(&rec, 1, NULL), *old = strstr(text, tool_version), *path;
	struct run run;

	assert_non_null(old);
	*old = '~';
	path = text_to_file(text);
	run = run_command(cmd_merge, "merge", path, NULL);
	assert_int_equal(run.code, 0);
	assert_non_null(strstr(run.err, "made by version ~"));
	*old = *tool_version;
	assert_string_equal(run.out, text);
	run_release(&run);
	free(text);
	release_file(path);
	recording_release(&rec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_is_one_report_over_all),
		cmocka_unit_test(test_keeps_damage_and_filters),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_names_other_versions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
