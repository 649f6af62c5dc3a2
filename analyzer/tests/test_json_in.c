// SPDX-License-Identifier: GPL-2.0-or-later
/* Reports read back: the same bytes again, and nothing that was cut or does not add up. */
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "json_in.h"
#include "make_recording.h"
#include "output.h"
#include "random.h"

#define PATH_TEMPLATE "/tmp/fault-analyze-test-XXXXXX"

struct report {
	struct recording recs[3], total;
	size_t nr;
	struct output_options opt;
};

static int write_report(FILE *out, void *arg)
{
	struct report *r = arg;

	return output_report(out, FORMAT_JSON, r->recs, r->nr, &r->total, &r->opt);
}

/* The JSON of @r, which is released; to free(). */
static char *report_json(struct report *r)
{
	char *text;
	int err;

	assert_int_equal(recordings_total(&r->total, r->recs, r->nr), 0);
	text = written_by(write_report, r, &err);
	assert_int_equal(err, 0);
	for (size_t i = 0; i < r->nr; i++)
		recording_release(&r->recs[i]);
	recording_release(&r->total);
	return text;
}

static int read_bytes(const char *text, size_t length, struct report_file *file,
		      struct json_error *error)
{
	char path[] = PATH_TEMPLATE;
	int fd = mkstemp(path), err;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, length), length);
	close(fd);
	err = report_json_read(path, file, error);
	unlink(path);
	return err;
}

static int read_text(const char *text, struct report_file *file, struct json_error *error)
{
	return read_bytes(text, strlen(text), file, error);
}

static void assert_refused(const char *text, const char *reason)
{
	struct report_file file = { 0 };
	struct json_error error;

	assert_int_equal(read_text(text, &file, &error), -EINVAL);
	if (!strstr(error.text, reason))
		fail_msg("\"%s\" does not say \"%s\"", error.text, reason);
	assert_null(strchr(error.text, '\n'));
	assert_null(file.recs);
}

/* What is read and written again is the same, byte for byte. */
static void assert_round_trip(const char *text)
{
	struct report_file file = { 0 };
	struct output_filter filters[4];
	struct report again = { .opt = { .filters = filters } };
	struct json_error error;
	char *second;

	if (read_text(text, &file, &error))
		fail_msg("%s", error.text);
	for (size_t i = 0; i < file.nr_filters; i++)
		filters[again.opt.nr_filters++] =
			(struct output_filter){ file.filters[i].name, file.filters[i].value };
	assert_true(file.nr_recs <= 3);
	again.nr = file.nr_recs;
	for (size_t i = 0; i < file.nr_recs; i++) {
		again.recs[i] = file.recs[i];
		file.recs[i] = (struct recording){ 0 };
	}
	second = report_json(&again);
	assert_string_equal(second, text);
	free(second);
	report_file_release(&file);
}

static struct recording bucketed_recording(void)
{
	const struct fault_key key = { .class = CLASS_MAP, .order = 2, .source = SOURCE_PROBE };
	struct recording r = make_recording("many.dat", 9, 3, 500);
	uint64_t rng = 5;

	for (unsigned int i = 0; i < 6000; i++)
		make_fault(&r.summary, &key, random_u64(&rng) >> (20 + random_u64(&rng) % 30), 4);
	summary_sort(&r.summary);
	return r;
}

static void test_round_trip(void **state)
{
	const struct output_filter filters[] = { { "addr", "7000-8000" }, { "class", "reuse" } };
	struct report r = { .recs = { make_recording("a \"b\".dat", 1, 5, 2780),
				      bucketed_recording(), make_recording("c.dat", 2, 0, 1) },
			    .nr = 3,
			    .opt = { .filters = filters, .nr_filters = 2 } };
	char *text;

	damage_add(&r.recs[2].damages, 4711, "page lies about its size");
	r.recs[0].exact = true;
	r.recs[0].boot = strdup("29ab-4");
	r.recs[0].build = strdup("7.3.4 #3");
	r.recs[0].lost_events = 12;
	r.recs[0].lost_uncounted = 1;
	r.recs[0].unknown_events = 7;
	r.recs[0].unmatched_exceptions = 3;
	r.recs[0].untracked_forks = 2;
	r.recs[0].repeated_events = 4;
	r.recs[1].trace_id = 0;
	r.recs[2].page_size = 0;
	text = report_json(&r);
	assert_round_trip(text);
	free(text);
}

static void test_round_trip_of_ticks(void **state)
{
	struct report r = { .recs = { make_recording("a.dat", 1, 5, 2780) }, .nr = 1 };
	char *text;

	r.recs[0].time_is_ns = false;
	text = report_json(&r);
	assert_non_null(strstr(text, "latency_ticks"));
	assert_round_trip(text);
	free(text);
}

static void test_round_trip_of_mixed_units(void **state)
{
	struct report r = { .recs = { make_recording("a.dat", 1, 5, 2780),
				      make_recording("b.dat", 2, 5, 2780) },
			    .nr = 2 };
	char *text;

	r.recs[0].time_is_ns = false;
	text = report_json(&r);
	assert_round_trip(text);
	free(text);
}

static void test_round_trip_of_nothing(void **state)
{
	struct report r = { .nr = 0 };
	char *text = report_json(&r);

	assert_round_trip(text);
	free(text);
}

/* A sum that has passed 64 bits is unknown, there and back. */
static void test_round_trip_of_unknown_sum(void **state)
{
	const struct fault_key key = { .class = CLASS_MAP };
	struct report r = { .recs = { make_recording("a.dat", 1, 0, 1) }, .nr = 1 };
	char *text;

	make_fault(&r.recs[0].summary, &key, UINT64_MAX / 2, 1);
	make_fault(&r.recs[0].summary, &key, UINT64_MAX - 1, 1);
	text = report_json(&r);
	assert_non_null(strstr(text, "\"sum\":null"));
	assert_round_trip(text);
	free(text);
}

/* Somebody's jq or Python may have laid it out anew. */
static void test_layout_does_not_matter(void **state)
{
	struct report r = { .recs = { make_recording("a.dat", 1, 5, 2780) }, .nr = 1 };
	char *text = report_json(&r);
	struct json_object *root = json_tokener_parse(text);
	struct report_file file = { 0 };
	struct json_error error;

	assert_int_equal(read_text(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY),
				   &file, &error),
			 0);
	assert_int_equal(file.nr_recs, 1);
	assert_int_equal(file.recs[0].summary.counts.total, 85);
	report_file_release(&file);
	json_object_put(root);
	free(text);
}

static void test_every_cut_is_refused(void **state)
{
	struct report r = { .recs = { make_recording("a.dat", 1, 1, 2780) }, .nr = 1 };
	char *text = report_json(&r);
	size_t length = strlen(text);

	for (size_t cut = 1; cut < length - 1; cut += 7) {
		struct report_file file = { 0 };
		struct json_error error;
		char where[40];

		assert_int_equal(read_bytes(text, cut, &file, &error), -EINVAL);
		snprintf(where, sizeof(where), "cut at byte %zu", cut);
		if (!strstr(error.text, where))
			fail_msg("%s, not %s", error.text, where);
	}
	free(text);
}

static void test_not_json(void **state)
{
	char deep[201];

	assert_refused("", "cut at byte 0");
	assert_refused("{\"a\": 1} x", "more than one JSON value at byte 9");
	assert_refused("{\"a\": nonsense}", "no JSON at byte 7");
	assert_refused("[1]", "no JSON object");
	assert_refused("{}", "schema: missing");
	assert_refused("{\"schema\":\"fault-analyze/2\"}", "schema: is \"fault-analyze/2\"");
	assert_refused("{\"schema\":\"fault-analyze/1\",\"filters\":{}}", "recordings: missing");
	assert_refused("{\"schema\":\"fault-analyze/1\",\"filters\":{},\"recordings\":[3]}",
		       "recordings[0]: is no object");
	memset(deep, '[', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	assert_refused(deep, "nesting");
}

static void test_unreadable(void **state)
{
	struct report_file file = { 0 };
	struct json_error error;

	assert_int_equal(report_json_read("/no/such/file", &file, &error), -ENOENT);
	assert_string_equal(error.text, "No such file or directory");
	assert_int_equal(report_json_read("/tmp", &file, &error), -EISDIR);
	assert_int_equal(report_json_probe("/no/such/file"), -ENOENT);
	assert_int_equal(report_json_probe("/tmp"), -EISDIR);
}

static void test_probe(void **state)
{
	static const struct {
		const char *text;
		int answer;
	} cases[] = { { " \n{", 1 }, { "{}", 1 }, { "\x17\x08\x44tracing6", 0 }, { "", 0 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char path[] = PATH_TEMPLATE;
		int fd = mkstemp(path);

		assert_int_equal(write(fd, cases[i].text, strlen(cases[i].text)),
				 strlen(cases[i].text));
		close(fd);
		assert_int_equal(report_json_probe(path), cases[i].answer);
		unlink(path);
	}
}

/* Facts that nothing else in the file follows from: any value of them is as good. */
static bool is_free_fact(const char *key)
{
	static const char *const facts[] = { "page_size",	"cpus",
					     "duration_ns",	"events",
					     "lost_events",	"lost_uncounted",
					     "offset",		"damaged_places",
					     "unknown_events",	"unmatched_exceptions",
					     "untracked_forks", "repeated_events" };

	for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++)
		if (!strcmp(key, facts[i]))
			return true;
	return false;
}

static unsigned int nr_changed;

/* Change one figure after another by one; each time the file has to be refused. */
static void change_each(struct json_object *root, struct json_object *value, const char *key)
{
	struct report_file file = { 0 };
	struct json_error error;

	if (json_object_is_type(value, json_type_object)) {
		json_object_object_foreach(value, name, child) change_each(root, child, name);
	} else if (json_object_is_type(value, json_type_array)) {
		for (size_t i = 0; i < json_object_array_length(value); i++)
			change_each(root, json_object_array_get_idx(value, i), key);
	} else if (json_object_is_type(value, json_type_int) && !is_free_fact(key)) {
		json_object_set_int64(value, json_object_get_int64(value) + 1);
		if (read_text(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PLAIN), &file,
			      &error) != -EINVAL)
			fail_msg("a changed %s was believed", key);
		json_object_set_int64(value, json_object_get_int64(value) - 1);
		nr_changed++;
	}
}

static void test_every_figure_is_checked(void **state)
{
	struct report r = { .recs = { make_recording("a.dat", 1, 2, 300) }, .nr = 1 };
	char *text = report_json(&r);
	struct json_object *root = json_tokener_parse(text);

	change_each(root, root, "");
	assert_true(nr_changed > 150);
	json_object_put(root);
	free(text);
}

static char *replaced(const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);
	char *out;

	assert_non_null(at);
	assert_true(asprintf(&out, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)) > 0);
	return out;
}

static void test_lies(void **state)
{
	static const struct {
		const char *from, *to, *reason;
	} lies[] = {
		{ "\"time_unit\":\"ns\"", "\"time_unit\":\"s\"", "no such time_unit" },
		{ "\"time_unit\":\"ns\"", "\"time_unit\":\"cycles\"", "not the unit of the clock" },
		{ "\"trace_id\":\"0x2\"", "\"trace_id\":\"2\"", "trace_id: is no number in hex" },
		{ "\"trace_id\":\"0x2\"", "\"trace_id\":2", "trace_id: is int, not string" },
		{ "\"class\":\"map\"", "\"class\":\"mop\"", "no such class: mop" },
		{ "\"class\":\"map\"", "\"class\":null", "class: is null" },
		{ "\"class\":\"map\"", "\"class\":\"reuse\"",
		  "classes: reuse, order 4: is not the sum" },
		{ "\"order\":4", "\"order\":15", "order: is too large" },
		{ "\"faults\":2,", "\"faults\":-2,", "faults: is not a count" },
		{ "\"faults\":2,", "\"faults\":2.5,", "faults: is double, not int" },
		{ "\"exact\":true,\"values\"", "\"exact\":false,\"values\"", "no bucket's bound" },
		{ "\"page_size\":4096", "\"page_size\":5000000000", "page_size: is too large" },
		{ "\"values\":[[", "\"values\":[[0,0],[", "not ascending, each counted" },
		{ "\"values\":[[", "\"values\":[[1],[", "is not a pair" },
		{ "\"faults_per_pte\":0.0625", "\"faults_per_pte\":0.0626", "does not add up" },
	};
	struct report r = { .recs = { make_recording("a.dat", 1, 2, 3000) }, .nr = 1 };
	char *text = report_json(&r);

	for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
		char *lie = replaced(text, lies[i].from, lies[i].to);

		assert_refused(lie, lies[i].reason);
		free(lie);
	}
	free(text);
}

static char *replaced_everywhere(const char *text, const char *from, const char *to)
{
	char *out = replaced(text, from, to), *next;
	size_t done = strstr(text, from) - text + strlen(to);

	while (strstr(out + done, from)) {
		size_t at = strstr(out + done, from) - out;

		assert_true(asprintf(&next, "%.*s%s%s", (int)at, out, to, out + at + strlen(from)) >
			    0);
		free(out);
		out = next;
		done = at + strlen(to);
	}
	return out;
}

/* Lies that recording and total agree on. */
static void test_consistent_lies(void **state)
{
	static const struct {
		const char *from, *to, *reason;
	} lies[] = {
		{ "\"total\":34", "\"total\":35", "faults add up to 34, faults.total is 35" },
		{ "\"faults\":32,", "\"faults\":31,", "more figures than there were faults" },
		{ "\"folios\":2,\"episodes\":2", "\"folios\":2,\"episodes\":1",
		  "more figures than there were faults or episodes" },
		{ "\"unpaired_exits\":0", "\"unpaired_exits\":99", "more unpaired than recorded" },
		{ "\"remote\":0", "\"remote\":35", "more major or remote faults than faults" },
	};
	struct report r = { .recs = { make_recording("a.dat", 1, 2, 3000) }, .nr = 1 };
	char *text = report_json(&r);

	for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
		char *lie = replaced_everywhere(text, lies[i].from, lies[i].to);

		assert_refused(lie, lies[i].reason);
		free(lie);
	}
	free(text);
}

/* The total may not have a row that no recording has, not even one without faults. */
static void test_row_from_nowhere(void **state)
{
	static const char empty[] = "{\"count\":0,\"min\":null,\"p50\":null,\"p90\":null,"
				    "\"p99\":null,\"p999\":null,\"max\":null,\"mean\":null,"
				    "\"sum\":null,\"exact\":true,\"values\":[]}";
	struct report r = { .recs = { make_recording("a.dat", 1, 2, 3000) }, .nr = 1 };
	char *text = report_json(&r), *row, *lie;

	assert_true(asprintf(&row,
			     ",{\"class\":\"unknown\",\"from\":null,\"order\":null,"
			     "\"level\":\"pmd\",\"evidence\":\"seen\",\"source\":\"unknown\","
			     "\"faults\":0,\"folios\":0,\"episodes\":0,\"ptes\":0,"
			     "\"ptes_touched\":0,\"ptes_resolved\":0,\"timed_ptes\":0,"
			     "\"faults_per_pte\":null,\"ns_per_pte\":null,\"latency_ns\":%s,"
			     "\"per_folio_latency_ns\":%s,\"time_to_complete_ns\":%s,"
			     "\"ptes_per_fault\":%s}\n]}\n",
			     empty, empty, empty, empty) > 0);
	text[strlen(text) - strlen("\n]}\n")] = '\0';
	assert_true(asprintf(&lie, "%s%s", text, row) > 0);
	assert_refused(lie, "classes: are not the sum of the recordings'");
	free(lie);
	free(row);
	free(text);
}

static void set_sum(struct json_object *root, const char *list, size_t row, int64_t sum)
{
	struct json_object *classes, *latency;

	if (*list)
		root = json_object_array_get_idx(json_object_object_get(root, list), 0);
	classes = json_object_object_get(root, "classes");
	latency = json_object_object_get(json_object_array_get_idx(classes, row), "latency_ns");
	assert_false(json_object_get_boolean(json_object_object_get(latency, "exact")));
	json_object_object_add(latency, "sum", json_object_new_int64(sum));
}

/* The sum of buckets is taken from the text, but it has to be one that they can have. */
static void test_impossible_sum(void **state)
{
	struct report r = { .recs = { bucketed_recording() }, .nr = 1 };
	char *text = report_json(&r);

	for (int64_t sum = 1; sum > 0; sum = sum == 1 ? INT64_MAX : 0) {
		struct json_object *root = json_tokener_parse(text);

		set_sum(root, "recordings", 0, sum);
		set_sum(root, "", 0, sum);
		assert_refused(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PLAIN),
			       "sum is not within the buckets");
		json_object_put(root);
	}
	free(text);
}

static void test_row_twice(void **state)
{
	struct report r = { .recs = { make_recording("a.dat", 1, 2, 3000) }, .nr = 1 };
	char *text = report_json(&r);
	char *first = replaced(text, "\"class\":\"map\"", "\"class\":\"reuse\"");
	char *both = replaced(first, "\"evidence\":\"seen\"", "\"evidence\":\"inferred\"");

	assert_refused(both, "recordings[0].classes[1]: stands here twice");
	free(both);
	free(first);
	free(text);
}

/* Whatever bytes change, it is read or refused, and never crashes (the sanitizers watch). */
static void test_random_bytes(void **state)
{
	struct report r = { .recs = { bucketed_recording() }, .nr = 1 };
	char *text = report_json(&r);
	size_t length = strlen(text);
	uint64_t rng = 6;

	for (unsigned int i = 0; i < 200; i++) {
		struct report_file file = { 0 };
		struct json_error error;
		size_t at = random_u64(&rng) % (i % 2 ? length : 2000);
		char old = text[at];

		text[at] = random_u64(&rng);
		if (!read_bytes(text, length, &file, &error))
			report_file_release(&file);
		text[at] = old;
	}
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_round_trip_of_ticks),
		cmocka_unit_test(test_round_trip_of_mixed_units),
		cmocka_unit_test(test_round_trip_of_nothing),
		cmocka_unit_test(test_round_trip_of_unknown_sum),
		cmocka_unit_test(test_layout_does_not_matter),
		cmocka_unit_test(test_every_cut_is_refused),
		cmocka_unit_test(test_not_json),
		cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_probe),
		cmocka_unit_test(test_every_figure_is_checked),
		cmocka_unit_test(test_lies),
		cmocka_unit_test(test_row_twice),
		cmocka_unit_test(test_consistent_lies),
		cmocka_unit_test(test_row_from_nowhere),
		cmocka_unit_test(test_impossible_sum),
		cmocka_unit_test(test_random_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
