// SPDX-License-Identifier: GPL-2.0-or-later
/* Reports in every format: the same figures under the same keys, and honest ends. */
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "columns.h"
#include "json_out.h"
#include "make_recording.h"
#include "output.h"

struct report {
	enum format format;
	struct recording recs[2], total;
	size_t nr;
	struct output_options opt;
};

static int write_report(FILE *out, void *arg)
{
	struct report *r = arg;

	return output_report(out, r->format, r->recs, r->nr, &r->total, &r->opt);
}

/* The report of @r in @format, to free(). */
static char *report_text(struct report *r, enum format format)
{
	char *text;
	int err;

	r->format = format;
	if (!r->total.kernel && !r->total.summary.rows)
		assert_int_equal(recordings_total(&r->total, r->recs, r->nr), 0);
	text = written_by(write_report, r, &err);
	assert_int_equal(err, 0);
	return text;
}

static void release_report(struct report *r)
{
	for (size_t i = 0; i < r->nr; i++)
		recording_release(&r->recs[i]);
	recording_release(&r->total);
}

static struct report two_recordings(void)
{
	return (struct report){ .recs = { make_recording("before.dat", 1, 20, 2780),
					  make_recording("other.dat", 2, 10, 2900) },
				.nr = 2 };
}

static void assert_contains(const char *text, const char *words)
{
	if (!strstr(text, words))
		fail_msg("no \"%s\" in:\n%s", words, text);
}

/* Field @key of line @line (0: the first below the heading) of a TSV, to free(). */
static char *tsv_field(const char *tsv, size_t line, const char *key)
{
	const char *end = strchr(tsv, '\n'), *field = tsv;
	size_t number = 0, length = strlen(key);

	while (strncmp(field, key, length) || (field[length] != '\t' && field[length] != '\n')) {
		field += strcspn(field, "\t\n");
		if (field == end)
			fail_msg("no column %s", key);
		field++;
		number++;
	}
	field = end + 1;
	for (; line; line--) {
		field = strchr(field, '\n');
		assert_non_null(field);
		field++;
	}
	for (; number; number--)
		field += strcspn(field, "\t\n") + 1;
	return strndup(field, strcspn(field, "\t\n"));
}

static void assert_tsv(const char *tsv, size_t line, const char *key, const char *value)
{
	char *field = tsv_field(tsv, line, key);

	if (strcmp(field, value))
		fail_msg("%s of line %zu is %s, not %s", key, line, field, value);
	free(field);
}

static void test_tsv_figures(void **state)
{
	const struct fault_key key = { .class = CLASS_COW, .order = 4, .from = FROM_ANON };
	struct report r = { .recs = { make_recording("a\tb.dat", 1, 0, 1) }, .nr = 1 };
	char *tsv;

	for (unsigned int i = 1; i <= 100; i++)
		make_fault(&r.recs[0].summary, &key, i * 10, i <= 50 ? 16 : 1);
	r.recs[0].lost_events = 3;
	tsv = report_text(&r, FORMAT_TSV);
	assert_tsv(tsv, 0, "file", "a\\x09b.dat");
	assert_tsv(tsv, 0, "class", "cow");
	assert_tsv(tsv, 0, "from", "anon");
	assert_tsv(tsv, 0, "folio_bytes", "65536");
	assert_tsv(tsv, 0, "source", "unknown");
	assert_tsv(tsv, 0, "faults", "100");
	assert_tsv(tsv, 0, "faults.total", "100");
	assert_tsv(tsv, 0, "ptes", "1600");
	assert_tsv(tsv, 0, "ptes_touched", "100");
	assert_tsv(tsv, 0, "ptes_resolved", "850");
	assert_tsv(tsv, 0, "faults_per_pte", "0.0625");
	assert_tsv(tsv, 0, "latency_ns.p50", "510");
	assert_tsv(tsv, 0, "latency_ns.p99", "1000");
	assert_tsv(tsv, 0, "latency_ns.p999", "1000");
	assert_tsv(tsv, 0, "latency_ns.mean", "505.0");
	assert_tsv(tsv, 0, "latency_ns.sum", "50500");
	assert_tsv(tsv, 0, "ns_per_pte", "59.411764705882355"); /* 50500 / 850 */
	assert_tsv(tsv, 0, "time_to_complete_ns.count", "50");
	assert_tsv(tsv, 0, "ptes_per_fault.p50", "16");
	assert_tsv(tsv, 0, "ptes_per_fault.p90", "16");
	assert_tsv(tsv, 0, "waste_ptes", "n/a");
	assert_tsv(tsv, 0, "lost_events", "3");
	free(tsv);
	release_report(&r);
}

static void test_total_follows(void **state)
{
	struct report r = two_recordings();
	char *tsv = report_text(&r, FORMAT_TSV);
	char *text = report_text(&r, FORMAT_TEXT);

	assert_tsv(tsv, 0, "recording", "1");
	assert_tsv(tsv, 1, "class", "reuse");
	assert_tsv(tsv, 2, "recording", "2");
	assert_tsv(tsv, 5, "recording", "total");
	assert_tsv(tsv, 1, "faults", "320");
	assert_tsv(tsv, 3, "faults", "160");
	assert_tsv(tsv, 5, "faults", "480");
	assert_tsv(tsv, 5, "kernel", "7.3.4");
	assert_contains(text, "before.dat\n");
	assert_contains(text, "other.dat\n");
	assert_contains(text, "total of 2 recordings\n");
	free(text);
	free(tsv);
	release_report(&r);
}

/* A recording that says nothing of faults still says what was lost. */
static void test_no_faults(void **state)
{
	struct report r = { .recs = { { .file = strdup("empty.dat"),
					.time_is_ns = true,
					.lost_events = 9,
					.lost_uncounted = 2 } },
			    .nr = 1 };
	char *tsv = report_text(&r, FORMAT_TSV);
	char *text = report_text(&r, FORMAT_TEXT);

	assert_tsv(tsv, 0, "lost_events", "9");
	assert_tsv(tsv, 0, "class", "n/a");
	assert_tsv(tsv, 0, "kernel", "n/a");
	assert_tsv(tsv, 0, "latency_ns.p50", "n/a");
	assert_contains(text, "9 lost, and an unknown number more in 2 places");
	assert_contains(text, "no faults");
	assert_contains(text, "kernel unknown");
	free(text);
	free(tsv);
	release_report(&r);
}

static void test_text_says_what_is_wrong(void **state)
{
	const struct output_filter filter = { "addr", "7000-8000" };
	struct report r = { .recs = { make_recording("bad\033[31m.dat", 1, 2, 100) },
			    .nr = 1,
			    .opt = { .filters = &filter, .nr_filters = 1 } };
	char *text;

	for (unsigned int i = 0; i < DAMAGE_MAX_KEPT + 5; i++)
		damage_add(&r.recs[0].damages, 4711 + i, "page of CPU %u", i);
	text = report_text(&r, FORMAT_TEXT);
	assert_contains(text, "bad\\x1b[31m.dat");
	assert_contains(text, "damaged at byte 4711: page of CPU 0\n");
	assert_contains(text, "damaged in 5 more places\n");
	assert_contains(text, "counted only: addr 7000-8000\n");
	assert_contains(text, "percentiles are exact\n");
	assert_null(strchr(text, '\033'));
	free(text);
	release_report(&r);
}

static void test_text_without_latency(void **state)
{
	struct report r = { .recs = { { .file = strdup("exceptions.dat"), .time_is_ns = true } },
			    .nr = 1 };
	struct fault f = { .counted = true };
	struct outcome o = { .key = { .class = CLASS_UNKNOWN, .order = ORDER_UNKNOWN } };
	char *text;

	assert_int_equal(summary_add_fault(&r.recs[0].summary, &f, &o), 0);
	text = report_text(&r, FORMAT_TEXT);
	assert_contains(text, "no latency: ");
	assert_null(strstr(text, "P99"));
	free(text);
	release_report(&r);
}

static void test_bucketed_is_said(void **state)
{
	const struct fault_key key = { .class = CLASS_MAP };
	struct report r = { .recs = { make_recording("many.dat", 1, 0, 1) }, .nr = 1 };
	char *text, *tsv;

	for (unsigned int i = 0; i <= HIST_MAX_EXACT; i++)
		make_fault(&r.recs[0].summary, &key, i, 1);
	text = report_text(&r, FORMAT_TEXT);
	tsv = report_text(&r, FORMAT_TSV);
	assert_contains(text, "percentiles of 1 row come from buckets");
	assert_tsv(tsv, 0, "latency_ns.exact", "no");
	assert_tsv(tsv, 0, "ptes_per_fault.exact", "yes");
	free(tsv);
	free(text);
	release_report(&r);
}

/* Rows that differ only in what a compact table leaves out are told apart. */
static void test_text_splits_same_looking_rows(void **state)
{
	struct fault_key key = { .class = CLASS_COW, .order = 2, .from = FROM_ANON };
	struct report r = { .recs = { make_recording("a.dat", 1, 0, 1) }, .nr = 1 };
	char *text;

	make_fault(&r.recs[0].summary, &key, 10, 1);
	text = report_text(&r, FORMAT_TEXT);
	assert_null(strstr(text, "FROM"));
	free(text);
	key.from = FROM_ZERO;
	key.evidence = EVIDENCE_INFERRED; /* shown, but not what tells them apart */
	make_fault(&r.recs[0].summary, &key, 10, 1);
	text = report_text(&r, FORMAT_TEXT);
	assert_contains(text, "FROM");
	assert_contains(text, "zero");
	assert_null(strstr(text, "SOURCE"));
	free(text);
	key.source = SOURCE_ASSUMED;
	make_fault(&r.recs[0].summary, &key, 10, 1);
	text = report_text(&r, FORMAT_TEXT);
	assert_contains(text, "SOURCE");
	assert_contains(text, "assumed");
	free(text);
	release_report(&r);
}

static void test_csv_quotes(void **state)
{
	struct report r = { .recs = { make_recording("a,\"b\"\n.dat", 1, 1, 100) },
			    .nr = 1,
			    .opt = { .columns = "file,class,faults" } };
	char *csv = report_text(&r, FORMAT_CSV);

	assert_string_equal(csv, "file,class,faults\n"
				 "\"a,\"\"b\"\"\n.dat\",map,1\n"
				 "\"a,\"\"b\"\"\n.dat\",reuse,16\n");
	free(csv);
	release_report(&r);
}

/* A quote alone asks for quotes, too. */
static void test_csv_quotes_quotes(void **state)
{
	struct report r = { .recs = { make_recording("a\"b.dat", 1, 0, 1) },
			    .nr = 1,
			    .opt = { .columns = "file" } };
	char *csv = report_text(&r, FORMAT_CSV);

	assert_string_equal(csv, "file\n\"a\"\"b.dat\"\n");
	free(csv);
	release_report(&r);
}

static void test_columns_named(void **state)
{
	const struct column *columns;
	size_t nr;

	columns = report_columns(&nr);
	assert_null(columns_unknown(columns, nr, "all"));
	assert_null(
		columns_unknown(columns, nr, "faults,latency_ns,latency_ticks.p50,ticks_per_pte"));
	assert_string_equal(columns_unknown(columns, nr, "faults,latency,order"), "latency,order");
	assert_string_equal(columns_unknown(columns, nr, "faults,,order"), ",order");
	assert_non_null(columns_unknown(columns, nr, "latency_ns.values"));
	assert_null(table_open(stdout, FORMAT_TSV, columns, nr, "nonsense", true, false));
}

/* The value at path "a.b" of @object; fails when there is no such key. */
static struct json_object *json_at(struct json_object *object, const char *path)
{
	char *copy = strdup(path), *save, *name;

	for (name = strtok_r(copy, ".", &save); name; name = strtok_r(NULL, ".", &save))
		if (!json_object_object_get_ex(object, name, &object))
			fail_msg("no %s", path);
	free(copy);
	return object;
}

static void assert_same_figure(struct json_object *value, const char *field)
{
	if (!value)
		assert_string_equal(field, "n/a");
	else if (json_object_is_type(value, json_type_boolean))
		assert_string_equal(field, json_object_get_boolean(value) ? "yes" : "no");
	else
		assert_string_equal(field, json_object_get_string(value));
}

/* Every column of the TSV stands in the JSON under its key, with the same figure. */
static void test_json_says_what_tsv_says(void **state)
{
	struct report r = two_recordings();
	char *tsv = report_text(&r, FORMAT_TSV), *json = report_text(&r, FORMAT_JSON);
	struct json_object *root = json_tokener_parse(json);
	const struct column *columns;
	size_t nr, compared = 0;

	assert_non_null(root);
	columns = report_columns(&nr);
	for (size_t line = 0; line < 6; line++) {
		struct json_object *object = root, *row;

		if (line < 4)
			object = json_object_array_get_idx(json_at(root, "recordings"), line / 2);
		row = json_object_array_get_idx(json_at(object, "classes"), line % 2);
		for (size_t i = 0; i < nr; i++) {
			const struct column *c = &columns[i];
			char *field;

			if (c->flags & (COLUMN_NO_JSON | COLUMN_JSON_ONLY) ||
			    (line >= 4 && c->flags & REPORT_RECORDING))
				continue;
			field = tsv_field(tsv, line, c->key);
			assert_same_figure(json_at(c->flags & REPORT_CLASS ? row : object, c->key),
					   field);
			free(field);
			compared++;
		}
	}
	assert_true(compared > 300);
	json_object_put(root);
	free(json);
	free(tsv);
	release_report(&r);
}

static void test_json_contract(void **state)
{
	static const char *const top[] = { "schema",	 "tool_version", "filters",
					   "recordings", "faults",	 "classes" };
	static const char *const recording[] = {
		"file",	       "trace_id", "kernel", "arch",   "page_size",   "clock",
		"time_unit",   "exact",	   "cpus",   "probes", "duration_ns", "events",
		"lost_events", "damaged",  "faults", "classes"
	};
	static const char *const faults[] = { "total",		"entries",
					      "exits",		"unpaired_entries",
					      "unpaired_exits", "retries",
					      "major",		"remote" };
	static const char *const class[] = { "class",
					     "order",
					     "level",
					     "evidence",
					     "faults",
					     "folios",
					     "episodes",
					     "ptes",
					     "ptes_touched",
					     "ptes_resolved",
					     "faults_per_pte",
					     "ns_per_pte",
					     "waste_ptes",
					     "latency_ns",
					     "per_folio_latency_ns",
					     "time_to_complete_ns",
					     "ptes_per_fault" };
	static const char *const dist[] = { "count", "min",  "p50", "p90",   "p99",   "p999",
					    "max",   "mean", "sum", "exact", "values" };
	struct report r = two_recordings();
	struct json_object *root, *rec, *row;
	char *json;

	damage_add(&r.recs[0].damages, 99, "cut");
	json = report_text(&r, FORMAT_JSON);
	root = json_tokener_parse(json);
	for (size_t i = 0; i < sizeof(top) / sizeof(*top); i++)
		json_at(root, top[i]);
	assert_string_equal(json_object_get_string(json_at(root, "schema")), "fault-analyze/1");
	rec = json_object_array_get_idx(json_at(root, "recordings"), 0);
	for (size_t i = 0; i < sizeof(recording) / sizeof(*recording); i++)
		json_at(rec, recording[i]);
	assert_int_equal(json_object_get_int(json_at(
				 json_object_array_get_idx(json_at(rec, "damaged"), 0), "offset")),
			 99);
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
		assert_true(json_object_is_type(json_at(json_at(root, "faults"), faults[i]),
						json_type_int));
		json_at(json_at(rec, "faults"), faults[i]);
	}
	row = json_object_array_get_idx(json_at(root, "classes"), 1);
	for (size_t i = 0; i < sizeof(class) / sizeof(*class); i++)
		json_at(row, class[i]);
	for (size_t i = 0; i < sizeof(dist) / sizeof(*dist); i++)
		for (size_t d = 13; d < sizeof(class) / sizeof(*class); d++)
			json_at(json_at(row, class[d]), dist[i]);
	json_object_put(root);
	free(json);
	release_report(&r);
}

static void test_json_values_add_up(void **state)
{
	struct report r = two_recordings();
	char *json = report_text(&r, FORMAT_JSON);
	struct json_object *root = json_tokener_parse(json), *values, *row;
	uint64_t count = 0, sum = 0, last = 0;

	row = json_object_array_get_idx(json_at(root, "classes"), 1);
	values = json_at(row, "latency_ns.values");
	for (size_t i = 0; i < json_object_array_length(values); i++) {
		struct json_object *pair = json_object_array_get_idx(values, i);
		uint64_t v = json_object_get_uint64(json_object_array_get_idx(pair, 0));
		uint64_t n = json_object_get_uint64(json_object_array_get_idx(pair, 1));

		assert_true(!i || v > last);
		last = v;
		count += n;
		sum += v * n;
	}
	assert_int_equal(count, 480);
	assert_int_equal(sum, json_object_get_uint64(json_at(row, "latency_ns.sum")));
	json_object_put(root);
	free(json);
	release_report(&r);
}

static void test_ticks(void **state)
{
	struct report r = { .recs = { make_recording("tsc.dat", 1, 5, 100) }, .nr = 1 };
	struct json_object *root, *rec, *row;
	char *json, *tsv, *text;

	free(r.recs[0].clock);
	r.recs[0].clock = strdup("x86-tsc");
	r.recs[0].time_is_ns = false;
	json = report_text(&r, FORMAT_JSON);
	tsv = report_text(&r, FORMAT_TSV);
	text = report_text(&r, FORMAT_TEXT);
	root = json_tokener_parse(json);
	rec = json_object_array_get_idx(json_at(root, "recordings"), 0);
	row = json_object_array_get_idx(json_at(rec, "classes"), 1);
	assert_string_equal(json_object_get_string(json_at(rec, "time_unit")), "cycles");
	assert_null(json_at(rec, "duration_ns"));
	assert_int_equal(json_object_get_int(json_at(rec, "duration_ticks")), 1234567890);
	assert_null(json_at(row, "latency_ns"));
	assert_null(json_at(row, "ns_per_pte"));
	assert_int_equal(json_object_get_int(json_at(row, "latency_ticks.count")), 80);
	assert_true(json_object_get_double(json_at(row, "ticks_per_pte")) > 100);
	assert_tsv(tsv, 0, "latency_ticks.count", "5");
	assert_null(strstr(tsv, "_ns"));
	assert_contains(text, "times in cycles");
	json_object_put(root);
	free(json);
	free(tsv);
	free(text);
	release_report(&r);
}

static void test_mixed_units(void **state)
{
	struct report r = two_recordings();
	char *tsv, *text;

	r.recs[1].time_is_ns = false;
	tsv = report_text(&r, FORMAT_TSV);
	text = report_text(&r, FORMAT_TEXT);
	assert_tsv(tsv, 0, "latency_ns.count", "20");
	assert_tsv(tsv, 0, "latency_ticks.count", "n/a");
	assert_tsv(tsv, 2, "latency_ns.count", "n/a");
	assert_tsv(tsv, 2, "latency_ticks.count", "10");
	assert_contains(text, "or their times are in different units");
	free(tsv);
	free(text);
	release_report(&r);
}

/* Bytes of a damaged recording must not make JSON that nobody can read. */
static void test_json_is_utf8(void **state)
{
	struct json_object *json = json_text("ok \xc3\xa9 \xff \xc0\xaf \xed\xa0\x80 \xe2\x82");

	assert_string_equal(json_object_get_string(json),
			    "ok \xc3\xa9 \xef\xbf\xbd \xef\xbf\xbd\xef\xbf\xbd "
			    "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd \xef\xbf\xbd\xef\xbf\xbd");
	json_object_put(json);
	assert_null(json_text(NULL));
}

static void test_reals(void **state)
{
	char buf[REAL_MAX];

	real_text(buf, sizeof(buf), 0.0625);
	assert_string_equal(buf, "0.0625");
	real_text(buf, sizeof(buf), 3);
	assert_string_equal(buf, "3.0");
	real_text(buf, sizeof(buf), 1.0 / 3);
	assert_true(strtod(buf, NULL) == 1.0 / 3);
	real_text(buf, sizeof(buf), 1e300);
	assert_string_equal(buf, "1e+300");
}

static void test_full_disk(void **state)
{
	struct report r = two_recordings();

	assert_int_equal(recordings_total(&r.total, r.recs, r.nr), 0);
	for (enum format f = FORMAT_TEXT; f <= FORMAT_JSON; f++) {
		FILE *full = fopen("/dev/full", "w");

		assert_non_null(full);
		assert_int_equal(output_report(full, f, r.recs, r.nr, &r.total, &r.opt), -ENOSPC);
		fclose(full);
	}
	release_report(&r);
}

static void test_closed_pipe(void **state)
{
	struct report r = two_recordings();
	int ends[2];
	FILE *out;

	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	out = fdopen(ends[1], "w");
	assert_int_equal(recordings_total(&r.total, r.recs, r.nr), 0);
	assert_int_equal(output_report(out, FORMAT_JSON, r.recs, r.nr, &r.total, &r.opt), -EPIPE);
	fclose(out);
	release_report(&r);
}

struct episodes {
	enum format format;
	struct recording rec;
	size_t nr;
	struct output_options opt;
};

static int write_episodes(FILE *out, void *arg)
{
	struct episodes *all = arg;
	struct folio_writer *w = folio_writer_open(out, all->format, &all->rec, &all->opt);

	assert_non_null(w);
	for (size_t i = 0; i < all->nr; i++) {
		struct episode e = { .key = { .class = CLASS_REUSE, .order = 4 },
				     .mm = 0xffff888000000000,
				     .address = 0x7fc78c200000 + (i << 16),
				     .first = 1000000007 + i,
				     .latency = 1600,
				     .complete = 2000,
				     .faults = 4,
				     .ptes = 16,
				     .ptes_touched = 4,
				     .ptes_resolved = 16,
				     .timed = i != 1,
				     .completed = i != 1 };

		assert_int_equal(folio_writer_row(w, &e), 0);
	}
	all->rec.events = 4711;
	return folio_writer_close(w);
}

static void test_folios(void **state)
{
	struct episodes all = {
		.rec = { .file = strdup("f.dat"), .page_size = 4096, .time_is_ns = true }, .nr = 2
	};
	struct json_object *root, *row;
	char *text;
	int err;

	all.format = FORMAT_TSV;
	text = written_by(write_episodes, &all, &err);
	assert_int_equal(err, 0);
	assert_tsv(text, 0, "mm", "0xffff888000000000");
	assert_tsv(text, 1, "address", "0x7fc78c210000");
	assert_tsv(text, 0, "faults_per_pte", "0.25");
	assert_tsv(text, 0, "ns_per_pte", "100.0");
	assert_tsv(text, 0, "first_ns", "1000000007");
	assert_tsv(text, 0, "time_to_complete_ns", "2000");
	assert_tsv(text, 1, "latency_ns", "n/a");
	assert_tsv(text, 1, "time_to_complete_ns", "n/a");
	free(text);

	all.format = FORMAT_JSON;
	text = written_by(write_episodes, &all, &err);
	assert_int_equal(err, 0);
	root = json_tokener_parse(text);
	assert_int_equal(json_object_array_length(json_at(root, "episodes")), 2);
	row = json_object_array_get_idx(json_at(root, "episodes"), 1);
	assert_null(json_at(row, "latency_ns"));
	assert_int_equal(json_object_get_int(json_at(row, "ptes_touched")), 4);
	assert_int_equal(json_object_get_int(json_at(root, "recording.events")), 4711);
	json_object_put(root);
	free(text);

	all.format = FORMAT_TEXT;
	text = written_by(write_episodes, &all, &err);
	assert_int_equal(err, 0);
	assert_contains(text, "1.000000007");
	assert_contains(text, " 64K ");
	assert_contains(text, "4711 events");
	free(text);
	recording_release(&all.rec);
}

static void test_no_folios(void **state)
{
	struct episodes all = { .rec = { .file = strdup("f.dat"), .time_is_ns = true } };
	struct json_object *root;
	char *text;
	int err;

	all.format = FORMAT_JSON;
	text = written_by(write_episodes, &all, &err);
	assert_int_equal(err, 0);
	root = json_tokener_parse(text);
	assert_int_equal(json_object_array_length(json_at(root, "episodes")), 0);
	json_object_put(root);
	free(text);
	recording_release(&all.rec);
}

/* Many episodes in text come in tables of their own, so that memory stays bounded. */
static void test_many_folios(void **state)
{
	struct episodes all = {
		.rec = { .file = strdup("f.dat"), .page_size = 4096, .time_is_ns = true },
		.format = FORMAT_TEXT,
		.nr = 2500
	};
	size_t headings = 0, lines = 0;
	char *text;
	int err;

	text = written_by(write_episodes, &all, &err);
	assert_int_equal(err, 0);
	for (const char *s = text; (s = strstr(s, "ADDRESS")); s++)
		headings++;
	for (const char *s = text; (s = strstr(s, "0x7fc7")); s++)
		lines++;
	assert_int_equal(headings, 3);
	assert_int_equal(lines, 2500);
	free(text);
	recording_release(&all.rec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tsv_figures),
		cmocka_unit_test(test_total_follows),
		cmocka_unit_test(test_no_faults),
		cmocka_unit_test(test_text_says_what_is_wrong),
		cmocka_unit_test(test_text_without_latency),
		cmocka_unit_test(test_bucketed_is_said),
		cmocka_unit_test(test_text_splits_same_looking_rows),
		cmocka_unit_test(test_csv_quotes),
		cmocka_unit_test(test_csv_quotes_quotes),
		cmocka_unit_test(test_columns_named),
		cmocka_unit_test(test_json_says_what_tsv_says),
		cmocka_unit_test(test_json_contract),
		cmocka_unit_test(test_json_values_add_up),
		cmocka_unit_test(test_ticks),
		cmocka_unit_test(test_mixed_units),
		cmocka_unit_test(test_json_is_utf8),
		cmocka_unit_test(test_reals),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_closed_pipe),
		cmocka_unit_test(test_folios),
		cmocka_unit_test(test_no_folios),
		cmocka_unit_test(test_many_folios),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
