// SPDX-License-Identifier: GPL-2.0-or-later
/* Comparisons: runs, changes, verdicts, what is refused, and every format. */
#include <json-c/json.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "columns.h"
#include "command.h"
#include "compare_out.h"
#include "make_recording.h"
#include "output.h"
#include "random.h"
#include "run_command.h"

#define MAX_RUNS 8

/* Both sides as recordings, and the comparison of some metrics. */
struct fixture {
	struct compare_side sides[NR_SIDES];
	const struct column *metrics[8];
	struct compare_options options;
	struct comparison c;
};

static void fixture_init(struct fixture *f, const char *metrics)
{
	const struct column *columns;
	size_t nr;

	columns = report_columns(&nr);
	*f = (struct fixture){ .options = { .threshold = 0.01, .by = BY_CLASS | BY_ORDER } };
	f->options.metrics = f->metrics;
	f->options.nr_metrics = columns_listed(columns, nr, metrics, f->metrics, 8);
	for (size_t s = 0; s < NR_SIDES; s++) {
		f->sides[s].inputs = calloc(MAX_RUNS, sizeof(*f->sides[s].inputs));
		assert_non_null(f->sides[s].inputs);
	}
}

static struct recording *add_run(struct fixture *f, enum side side, struct recording rec)
{
	assert_true(f->sides[side].nr < MAX_RUNS);
	f->sides[side].inputs[f->sides[side].nr].rec = rec;
	return &f->sides[side].inputs[f->sides[side].nr++].rec;
}

/* A run with @faults reuse faults of order 4, each of @latency. */
static struct recording *add_reuse(struct fixture *f, enum side side, unsigned int faults,
				   uint64_t latency)
{
	const struct fault_key key = { .class = CLASS_REUSE,
				       .order = 4,
				       .evidence = EVIDENCE_INFERRED };
	size_t nr = f->sides[BEFORE].nr * 100 + f->sides[AFTER].nr;
	char name[32];
	struct recording *rec;

	snprintf(name, sizeof(name), "%s-%zu.dat", side == BEFORE ? "before" : "after",
		 f->sides[side].nr);
	rec = add_run(f, side, make_recording(name, nr, 0, 1));
	for (unsigned int i = 0; i < faults; i++)
		make_fault(&rec->summary, &key, latency, 16);
	rec->summary.counts.exits = 1000;
	rec->events = 4000;
	return rec;
}

static void compare(struct fixture *f)
{
	assert_int_equal(compare_sides(&f->c, f->sides, &f->options), 0);
}

static const struct compare_row *find(const struct fixture *f, enum fault_class class,
				      const char *metric)
{
	for (size_t i = 0; i < f->c.nr_rows; i++)
		if (f->c.rows[i].key.class == class && !strcmp(f->c.rows[i].metric->key, metric))
			return &f->c.rows[i];
	fail_msg("no row %d %s", class, metric);
	return NULL;
}

static void fixture_release(struct fixture *f)
{
	comparison_release(&f->c);
	for (size_t s = 0; s < NR_SIDES; s++)
		compare_side_release(&f->sides[s]);
}

static void assert_near(double value, double expected)
{
	if (isnan(value) || fabs(value - expected) > 1e-9)
		fail_msg("%.12g is not %.12g", value, expected);
}

static void test_clear_change(void **state)
{
	const struct compare_row *row;
	struct fixture f;

	fixture_init(&f, "faults,latency_ns.p50,latency_ns.sum");
	for (unsigned int i = 0; i < 6; i++) {
		add_reuse(&f, BEFORE, 160, 2780 + i);
		add_reuse(&f, AFTER, 10, 4000 + i);
	}
	compare(&f);
	assert_int_equal(f.c.blocks[0].nr_tests, 2);
	assert_int_equal(f.c.blocks[0].runs_needed, 5);
	row = find(&f, CLASS_REUSE, "faults");
	assert_near(row->value[BEFORE], 160);
	assert_near(row->value[AFTER], 10);
	assert_near(row->change, 10.0 / 160 - 1);
	assert_near(row->low, row->change);
	assert_near(row->p, 2 * 2.0 / 924); /* two tests */
	assert_int_equal(row->verdict, VERDICT_IMPROVEMENT);
	row = find(&f, CLASS_REUSE, "latency_ns.p50");
	assert_near(row->value[BEFORE], 2782.5);
	assert_true(row->change > 0.43 && row->change < 0.45);
	assert_true(row->low < row->change && row->change < row->high);
	assert_int_equal(row->verdict, VERDICT_NONE);
	assert_true(isnan(row->p));
	row = find(&f, CLASS_REUSE, "latency_ns.sum");
	assert_int_equal(row->verdict, VERDICT_IMPROVEMENT);
	fixture_release(&f);
}

static void test_verdicts(void **state)
{
	static const struct {
		unsigned int spread; /* of latencies, in 1/1000 between runs */
		unsigned int after;  /* latency; 10000 before */
		enum verdict verdict;
	} cases[] = {
		{ 0, 10000, VERDICT_SAME },	     { 1, 10005, VERDICT_SAME },
		{ 1, 11000, VERDICT_REGRESSION },    { 1, 9000, VERDICT_IMPROVEMENT },
		{ 1, 10050, VERDICT_SAME },	     /* significant, but within the threshold */
		{ 50, 10800, VERDICT_INCONCLUSIVE }, /* large, but not significant */
		{ 50, 10100, VERDICT_INCONCLUSIVE }, { 50, 10000, VERDICT_INCONCLUSIVE },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fixture f;

		fixture_init(&f, "latency_ns.sum");
		for (unsigned int run = 0; run < 6; run++) {
			add_reuse(&f, BEFORE, 10, 10000 + 10 * cases[i].spread * run);
			add_reuse(&f, AFTER, 10, cases[i].after + 10 * cases[i].spread * run);
		}
		compare(&f);
		if (f.c.rows[0].verdict != cases[i].verdict)
			fail_msg("case %zu: %s", i, verdict_names[f.c.rows[0].verdict]);
		fixture_release(&f);
	}
}

static void test_too_few_runs(void **state)
{
	const struct compare_row *row;
	struct fixture f;

	fixture_init(&f, "faults,latency_ns.sum");
	for (unsigned int i = 0; i < 4; i++)
		add_reuse(&f, BEFORE, 160, 2780);
	for (unsigned int i = 0; i < 8; i++)
		add_reuse(&f, AFTER, 10, 2780);
	compare(&f);
	row = find(&f, CLASS_REUSE, "faults");
	assert_int_equal(row->verdict, VERDICT_INSUFFICIENT);
	assert_int_equal(row->runs[BEFORE], 4);
	assert_int_equal(row->runs[AFTER], 8);
	assert_near(row->change, -0.9375);
	fixture_release(&f);
}

/* Runs of one boot are one: what they say together counts once. */
static void test_boots(void **state)
{
	struct fixture f;

	fixture_init(&f, "faults");
	for (unsigned int i = 0; i < 8; i++) {
		struct recording *before = add_reuse(&f, BEFORE, 160, 2780);
		struct recording *after = add_reuse(&f, AFTER, 10, 2780);

		before->boot = strdup(i % 2 ? "b1" : "b0");
		before->build = strdup("one");
		after->build = strdup(i % 4 ? "two" : "three");
	}
	compare(&f);
	assert_int_equal(f.c.blocks[0].runs[BEFORE], 2);
	assert_int_equal(f.c.blocks[0].runs[AFTER], 8);
	assert_int_equal(f.c.blocks[0].boots[BEFORE], 2);
	assert_int_equal(f.c.blocks[0].boots[AFTER], 0);
	assert_int_equal(f.c.blocks[0].builds[BEFORE], 1);
	assert_int_equal(f.c.blocks[0].builds[AFTER], 2);
	assert_near(f.c.rows[0].value[BEFORE], 640);
	assert_int_equal(f.c.rows[0].verdict, VERDICT_INSUFFICIENT);
	fixture_release(&f);
}

/* An instruction-counting clock needs one run and still says better or worse. */
static void test_exact(void **state)
{
	const struct compare_row *row;
	struct fixture f;

	fixture_init(&f, "faults,latency_ns.p50,latency_ns.sum");
	add_reuse(&f, BEFORE, 160, 2780)->exact = true;
	add_reuse(&f, AFTER, 10, 4000)->exact = true;
	compare(&f);
	assert_true(f.c.blocks[0].exact);
	row = find(&f, CLASS_REUSE, "faults");
	assert_int_equal(row->verdict, VERDICT_IMPROVEMENT);
	assert_true(isnan(row->p));
	row = find(&f, CLASS_REUSE, "latency_ns.p50");
	assert_near(row->change, 4000.0 / 2780 - 1);
	comparison_release(&f.c);
	add_reuse(&f, AFTER, 10, 5000)->exact = true; /* another build of the kernel */
	compare(&f);
	row = find(&f, CLASS_REUSE, "latency_ns.p50");
	assert_near(row->low, 4000.0 / 2780 - 1);
	assert_near(row->high, 5000.0 / 2780 - 1);
	fixture_release(&f);
}

/* What came or went has no ratio, but is better or worse. */
static void test_zero_side(void **state)
{
	const struct compare_row *row;
	struct fixture f;

	fixture_init(&f, "faults,latency_ns.sum,latency_ns.p50");
	for (unsigned int i = 0; i < 6; i++) {
		add_reuse(&f, BEFORE, 160, 2780);
		add_reuse(&f, AFTER, 0, 0);
	}
	compare(&f);
	row = find(&f, CLASS_REUSE, "faults");
	assert_near(row->value[AFTER], 0);
	assert_true(isnan(row->change) && isnan(row->low));
	assert_int_equal(row->verdict, VERDICT_IMPROVEMENT);
	assert_int_equal(find(&f, CLASS_REUSE, "latency_ns.sum")->verdict, VERDICT_IMPROVEMENT);
	row = find(&f, CLASS_REUSE, "latency_ns.p50");
	assert_int_equal(row->runs[AFTER], 0);
	assert_true(isnan(row->value[AFTER]));
	fixture_release(&f);
}

/* Without exits no time is known, so none may be called zero. */
static void test_no_latency(void **state)
{
	struct fixture f;

	fixture_init(&f, "latency_ns.sum");
	for (unsigned int i = 0; i < 6; i++) {
		add_reuse(&f, BEFORE, 160, 2780);
		add_reuse(&f, AFTER, 0, 0)->summary.counts.exits = 0;
	}
	compare(&f);
	assert_true(isnan(f.c.rows[0].value[AFTER]));
	assert_int_equal(f.c.rows[0].verdict, VERDICT_INSUFFICIENT);
	fixture_release(&f);
}

static void test_by(void **state)
{
	const struct fault_key cow = { .class = CLASS_COW, .order = 2, .from = FROM_ANON };
	struct fixture f;

	fixture_init(&f, "faults");
	for (size_t s = 0; s < NR_SIDES; s++) {
		struct recording *rec = add_reuse(&f, s, 10, 100);

		make_fault(&rec->summary, &cow, 100, 1);
	}
	compare(&f);
	assert_int_equal(f.c.nr_rows, 2);
	comparison_release(&f.c);
	f.options.by = BY_CLASS;
	compare(&f);
	assert_int_equal(f.c.nr_rows, 2);
	assert_int_equal(f.c.rows[0].key.order, ORDER_UNKNOWN);
	comparison_release(&f.c);
	f.options.by = 0;
	compare(&f);
	assert_int_equal(f.c.nr_rows, 1);
	assert_int_equal(f.c.rows[0].key.class, CLASS_ANY);
	assert_near(f.c.rows[0].value[BEFORE], 11);
	fixture_release(&f);
}

/* Architectures stand side by side; figures of one never meet those of the other. */
static void test_architectures(void **state)
{
	struct fixture f;

	fixture_init(&f, "faults");
	for (size_t s = 0; s < NR_SIDES; s++) {
		add_reuse(&f, s, s == BEFORE ? 160 : 10, 100);
		free(add_reuse(&f, s, s == BEFORE ? 320 : 20, 100)->arch);
		f.sides[s].inputs[1].rec.arch = strdup("aarch64");
	}
	compare(&f);
	assert_int_equal(f.c.nr_blocks, 2);
	assert_int_equal(f.c.nr_rows, 2);
	assert_near(f.c.rows[0].value[BEFORE], 160);
	assert_near(f.c.rows[1].value[BEFORE], 320);
	assert_near(f.c.rows[1].value[AFTER], 20);
	fixture_release(&f);
}

/* Fifty rows of noise: a family this large needs more runs, and nothing is marked. */
static void test_large_family_needs_more_runs(void **state)
{
	struct fixture f;

	fixture_init(&f, "faults");
	for (size_t s = 0; s < NR_SIDES; s++) {
		for (unsigned int run = 0; run < 6; run++) {
			struct recording *rec = add_reuse(&f, s, 1, 100);

			for (uint8_t order = 0; order < 12; order++) {
				struct fault_key key = { .class = CLASS_MAP, .order = order };

				make_fault(&rec->summary, &key, 100 + run, 1);
			}
		}
	}
	compare(&f);
	assert_int_equal(f.c.blocks[0].nr_tests, 26);
	assert_int_equal(f.c.blocks[0].runs_needed, 7);
	for (size_t i = 0; i < f.c.nr_rows; i++)
		assert_int_equal(f.c.rows[i].verdict, VERDICT_INSUFFICIENT);
	fixture_release(&f);
}

static void assert_unlike(struct fixture *f, const char *reason)
{
	struct compare_reasons reasons = { 0 };
	bool found = false;

	assert_int_equal(compare_unlike(&reasons, f->sides), 0);
	for (size_t i = 0; i < reasons.nr; i++)
		found |= strstr(reasons.list[i], reason) != NULL;
	if (!found)
		fail_msg("\"%s\" is not among %zu reasons, the first \"%s\"", reason, reasons.nr,
			 reasons.nr ? reasons.list[0] : "");
	compare_reasons_release(&reasons);
}

static void replace_text(char **text, const char *with)
{
	free(*text);
	*text = with ? strdup(with) : NULL;
}

static void test_unlike(void **state)
{
	struct compare_reasons reasons = { 0 };
	const struct recording *x, *y;
	struct recording *a, *b;
	struct fixture f;

	fixture_init(&f, "faults");
	a = add_reuse(&f, BEFORE, 10, 100);
	b = add_reuse(&f, AFTER, 10, 100);
	assert_int_equal(compare_unlike(&reasons, f.sides), 0);
	assert_int_equal(reasons.nr, 0);
	assert_false(compare_same_recording(f.sides, &x, &y));

	replace_text(&b->arch, "aarch64");
	assert_unlike(&f, "architectures differ");
	replace_text(&b->arch, "x86_64");
	replace_text(&b->probes[1], "faults:other_exit");
	assert_unlike(&f,
		      "probe sets differ: before-0.dat has faults:fault_exit, after-0.dat has not");
	replace_text(&b->probes[1], "faults:fault_exit");
	b->nr_probes--;
	assert_unlike(&f, "probe sets differ");
	b->nr_probes++;
	replace_text(&b->clock, "mono");
	assert_unlike(&f, "clocks differ: local (ns)");
	replace_text(&b->clock, "local");
	b->time_is_ns = false;
	assert_unlike(&f, "clocks differ");
	b->time_is_ns = true;
	b->exact = true;
	assert_unlike(&f, "that of after-0.dat counts instructions");
	b->exact = false;
	b->page_size = 65536;
	assert_unlike(&f, "page sizes differ: 4096 bytes");
	b->page_size = 4096;
	replace_text(&a->workload, "workload reuse");
	replace_text(&b->workload, "workload cow");
	assert_unlike(&f, "workloads differ: 'workload reuse' in before-0.dat, "
			  "'workload cow' in after-0.dat");
	replace_text(&a->workload, NULL);
	b->lost_events = 5; /* of 4005: 0.125 % */
	assert_unlike(&f, "after-0.dat lost 0.12 % of its events");
	b->lost_events = 4;
	assert_int_equal(compare_unlike(&reasons, f.sides), 0);
	assert_int_equal(reasons.nr, 0);
	b->lost_events = 0;
	a->lost_uncounted = 1;
	assert_unlike(&f, "before-0.dat lost events without a count");
	a->lost_uncounted = 0;
	damage_add(&a->damages, 7, "x");
	assert_unlike(&f, "before-0.dat is damaged");
	b->trace_id = a->trace_id;
	assert_true(compare_same_recording(f.sides, &x, &y));
	fixture_release(&f);
}

/* The command, fed with reports. */

struct report {
	struct recording *rec;
	const struct output_filter *filter;
};

static int write_report(FILE *out, void *arg)
{
	const struct report *r = arg;
	const struct output_options opt = { .filters = r->filter, .nr_filters = !!r->filter };
	struct recording total = { 0 };
	int err;

	assert_int_equal(recordings_total(&total, r->rec, 1), 0);
	err = output_report(out, FORMAT_JSON, r->rec, 1, &total, &opt);
	recording_release(&total);
	return err;
}

static char *report_file(struct recording *rec, const struct output_filter *filter)
{
	struct report r = { rec, filter };
	char *text, *path;
	int err;

	text = written_by(write_report, &r, &err);
	assert_int_equal(err, 0);
	path = text_to_file(text);
	free(text);
	return path;
}

static void release_path(char *path)
{
	unlink(path);
	free(path);
}

/* Six runs a side as files: 0 to 5 before, 6 to 11 after. */
static void make_files(char *paths[12])
{
	struct fixture f;

	fixture_init(&f, "faults");
	for (unsigned int i = 0; i < 6; i++) {
		const struct fault_key map = { .class = CLASS_MAP, .order = 4 };

		for (size_t s = 0; s < NR_SIDES; s++) {
			struct recording *rec = add_reuse(&f, s, s == BEFORE ? 160 : 10, 2780 + i);

			make_fault(&rec->summary, &map, 15570 + i, 16);
			summary_sort(&rec->summary);
			paths[6 * s + i] = report_file(rec, NULL);
		}
	}
	fixture_release(&f);
}

static void release_files(char *paths[12])
{
	for (unsigned int i = 0; i < 12; i++)
		release_path(paths[i]);
}

#define SIDES(p) p[0], p[1], p[2], p[3], p[4], p[5], "--", p[6], p[7], p[8], p[9], p[10], p[11]

static void assert_contains(const char *text, const char *words)
{
	if (!strstr(text, words))
		fail_msg("no \"%s\" in:\n%s", words, text);
}

static size_t longest_line(const char *text)
{
	size_t longest = 0;

	for (; *text; text += *text == '\n') {
		size_t length = strcspn(text, "\n");

		if (length > longest)
			longest = length;
		text += length;
	}
	return longest;
}

static size_t count_lines(const char *text, const char *start)
{
	size_t nr = 0;

	for (; text; text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL)
		nr += !strncmp(text, start, strlen(start)) && text[strlen(start)] != ' ';
	return nr;
}

static void test_text(void **state)
{
	char *paths[12];
	struct run run, brief, raw;

	make_files(paths);
	run = run_command(cmd_compare, "compare", SIDES(paths), NULL);
	assert_int_equal(run.code, 0);
	assert_string_equal(run.err, "");
	assert_true(longest_line(run.out) <= 72);
	assert_contains(run.out, "x86_64, 7.3.4, 4K pages, clock local in ns\n");
	assert_contains(run.out,
			"6:6 runs, boots n/a, builds n/a; marked from 1 % on, p <= 0.05\n");
	assert_contains(run.out, "reuse, order 4 (64K)\n");
	assert_contains(run.out,
			"  faults                 160        10   -93.8%  [-93.8, -93.8]    (I)\n");
	assert_contains(run.out, "waste, PTEs            n/a       n/a      n/a");
	brief = run_command(cmd_compare, "compare", "--commit-message", SIDES(paths), NULL);
	raw = run_command(cmd_compare, "compare", "--raw", SIDES(paths), NULL);
	assert_true(count_lines(brief.out, "  ") <= 12);
	assert_contains(brief.out, "faults                 160        10");
	assert_contains(brief.out, "builds n/a");
	/* Together they are the whole: every row of figures is in one of them. */
	assert_int_equal(count_lines(brief.out, "  ") + count_lines(raw.out, "  "),
			 count_lines(run.out, "  "));
	run_release(&run);
	run_release(&brief);
	run_release(&raw);
	release_files(paths);
}

static void test_json_and_tsv(void **state)
{
	struct json_object *root, *rows, *row, *value;
	char *paths[12];
	struct run run;

	make_files(paths);
	run = run_command(cmd_compare, "compare", "-F", "json", "--metric", "faults,latency_ns.p50",
			  "--class", "reuse", SIDES(paths), NULL);
	assert_int_equal(run.code, 2); /* the reports were made without that filter */
	run_release(&run);
	run = run_command(cmd_compare, "compare", "-F", "json", "--metric", "faults,latency_ns.p50",
			  SIDES(paths), NULL);
	assert_int_equal(run.code, 0);
	root = json_tokener_parse(run.out);
	assert_non_null(root);
	assert_string_equal(json_object_get_string(json_object_object_get(root, "schema")),
			    "fault-analyze/1");
	assert_true(json_object_object_get_ex(root, "before", &value));
	rows = json_object_object_get(root, "rows");
	assert_int_equal(json_object_array_length(rows), 4);
	row = json_object_array_get_idx(rows, 2);
	assert_string_equal(json_object_get_string(json_object_object_get(row, "class")), "reuse");
	assert_string_equal(json_object_get_string(json_object_object_get(row, "metric")),
			    "faults");
	assert_int_equal(json_object_get_int(json_object_object_get(row, "before")), 160);
	assert_string_equal(json_object_get_string(json_object_object_get(row, "verdict")),
			    "improvement");
	assert_int_equal(json_object_array_length(json_object_object_get(row, "ci95_percent")), 2);
	assert_int_equal(json_object_array_length(json_object_object_get(row, "runs")), 2);
	row = json_object_array_get_idx(rows, 3);
	assert_true(json_object_object_get_ex(row, "verdict", &value));
	assert_null(value);
	json_object_put(root);
	run_release(&run);
	run = run_command(cmd_compare, "compare", "-F", "tsv", "-o",
			  "class,metric,before,after,change_percent,verdict", "--metric", "faults",
			  SIDES(paths), NULL);
	assert_string_equal(run.out, "class\tmetric\tbefore\tafter\tchange_percent\tverdict\n"
				     "map\tfaults\t1\t1\t0.0\tsame\n"
				     "reuse\tfaults\t160\t10\t-93.75\timprovement\n");
	run_release(&run);
	release_files(paths);
}

static void assert_run(struct run run, int code, const char *words)
{
	assert_int_equal(run.code, code);
	assert_string_equal(run.out, "");
	assert_contains(run.err, words);
	run_release(&run);
}

static void test_refusals(void **state)
{
	const struct output_filter filter = { "pid", "42" };
	char *paths[12], *odd, *filtered, *cut = text_to_file("{\"schema\":");
	struct recording rec = make_recording("odd.dat", 4711, 1, 100);
	struct run run;

	make_files(paths);
	replace_text(&rec.clock, "mono");
	odd = report_file(&rec, NULL);
	filtered = report_file(&rec, &filter);
	recording_release(&rec);
	assert_run(run_command(cmd_compare, "compare", paths[0], NULL), 1, "exactly two files");
	assert_run(run_command(cmd_compare, "compare", paths[0], paths[1], paths[2], NULL), 1,
		   "exactly two files");
	assert_run(run_command(cmd_compare, "compare", "--", paths[0], NULL), 1,
		   "no recording before");
	assert_run(run_command(cmd_compare, "compare", paths[0], "--", NULL), 1,
		   "no recording after");
	assert_run(run_command(cmd_compare, "compare", paths[0], "--", paths[6], paths[0], NULL), 3,
		   "are the same recording");
	assert_run(run_command(cmd_compare, "compare", paths[0], cut, NULL), 2,
		   "JSON is cut at byte 10");
	assert_run(run_command(cmd_compare, "compare", paths[0], "/no/such", NULL), 2,
		   "/no/such: No such file");
	assert_run(run_command(cmd_compare, "compare", paths[0], filtered, NULL), 2,
		   "other filters");
	assert_run(run_command(cmd_compare, "compare", "--by", "comm", paths[0], paths[6], NULL), 2,
		   "a report does not know tasks");
	assert_run(run_command(cmd_compare, "compare", "--by", "cpu", paths[0], paths[6], NULL), 1,
		   "--by 'cpu'");
	assert_run(
		run_command(cmd_compare, "compare", "--metric", "speed", paths[0], paths[6], NULL),
		1, "--metric 'speed'");
	assert_run(
		run_command(cmd_compare, "compare", "--metric", "class", paths[0], paths[6], NULL),
		1, "is no figure");
	assert_run(
		run_command(cmd_compare, "compare", "--threshold", "x", paths[0], paths[6], NULL),
		1, "is no percentage");
	assert_run(run_command(cmd_compare, "compare", paths[0], odd, NULL), 3, "clocks differ");
	run = run_command(cmd_compare, "compare", paths[0], paths[6], NULL);
	assert_contains(run.out, "insufficient: 4 tests need 5 runs a side, here 1 and 1\n");
	run_release(&run);
	run = run_command(cmd_compare, "compare", "--exact", paths[0], paths[6], NULL);
	assert_contains(run.out, "  faults                 160        10   -93.8%  exact (I)\n");
	run_release(&run);
	run = run_command(cmd_compare, "compare", "--force", paths[0], odd, NULL);
	assert_int_equal(run.code, 0);
	assert_contains(run.err, "clocks differ");
	assert_contains(run.out, "forced: ");
	run_release(&run);
	release_files(paths);
	release_path(odd);
	release_path(filtered);
	release_path(cut);
}

/* Splitting by task and by mm, on a recording of a workload that forks. */
static void test_split(void **state)
{
	struct run run = run_command(
		cmd_compare, "compare", "-F", "tsv", "-o", "group,class,order,before,after",
		"--metric", "faults", "--class", "reuse", "--by", "class,order,comm",
		"traces/lab/x86_64-reuse-64k.dat", "traces/lab/x86_64-reuse-4k.dat", NULL);

	assert_int_equal(run.code, 0);
	assert_string_equal(run.err, "");
	assert_string_equal(run.out, "group\tclass\torder\tbefore\tafter\n"
				     "w3\treuse\t0\t7\t519\n"
				     "w3\treuse\t4\t2048\t0\n");
	run_release(&run);
	run = run_command(cmd_compare, "compare", "-F", "tsv", "-o", "group,before", "--metric",
			  "faults", "--by", "mm", "traces/lab/x86_64-reuse-64k.dat",
			  "traces/lab/x86_64-reuse-4k.dat", NULL);
	assert_int_equal(run.code, 0);
	assert_contains(run.out, "mm 1\t");
	run_release(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clear_change),
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_too_few_runs),
		cmocka_unit_test(test_boots),
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_zero_side),
		cmocka_unit_test(test_no_latency),
		cmocka_unit_test(test_by),
		cmocka_unit_test(test_architectures),
		cmocka_unit_test(test_large_family_needs_more_runs),
		cmocka_unit_test(test_unlike),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_json_and_tsv),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_split),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
