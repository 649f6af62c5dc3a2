// SPDX-License-Identifier: GPL-2.0-or-later
/* fault-analyze kunit: results and bench lines of a KUnit run, batched against one by one. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "json_out.h"
#include "ktap.h"
#include "output.h"
#include "stream.h"
#include "table.h"
#include "usage.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof(*(a)))

/* What is printed, and how. */
struct view {
	FILE *out;
	enum format format;
	bool bench_alone;
	const char *file;
	const struct ktap_result *result;
};

/* The columns of a test. */

struct test_row {
	const struct ktap_result *result;
	const struct ktap_test *test;
	const char *name; /* in text moved to the right by its depth */
};

static struct cell get_name(const void *row, const struct column *c)
{
	const struct test_row *r = row;

	return (struct cell){ .type = CELL_TEXT, .text = r->name };
}

static struct cell get_status(const void *row, const struct column *c)
{
	const struct test_row *r = row;

	return (struct cell){ .type = CELL_TEXT, .text = ktap_status_name(r->test->status) };
}

static struct cell get_depth(const void *row, const struct column *c)
{
	const struct test_row *r = row;

	return (struct cell){ .type = CELL_COUNT, .count = r->test->depth };
}

static struct cell get_count(const void *row, const struct column *c)
{
	const struct test_row *r = row;

	return (struct cell){ .type = CELL_COUNT,
			      .count = *(const uint64_t *)((const char *)r->test + c->offset) };
}

/* Most tests are not skipped: in a table the rest stays empty. */
static struct cell get_reason(const void *row, const struct column *c)
{
	const struct test_row *r = row;
	const char *reason = r->test->skip_reason;

	return (struct cell){ .type = CELL_TEXT, .text = reason ? reason : "" };
}

static struct json_object *json_reason(const void *row, const struct column *c)
{
	const struct test_row *r = row;

	return json_text(r->test->skip_reason);
}

#define COUNT(key, head, help, member)                                                     \
	{                                                                                  \
		key, head, help, 0, get_count, NULL, offsetof(struct ktap_test, member), 0 \
	}

static const struct column test_columns[] = {
	{ "depth", "DEPTH", "1 for a suite, 2 for its cases, 3 for their parameters", 0, get_depth,
	  NULL, 0, 0 },
	{ "test", "TEST", "name", COLUMN_LEFT, get_name, NULL, 0, 0 },
	{ "status", "STATUS", "passed, failed, skipped, crashed or no tests", COLUMN_LEFT,
	  get_status, NULL, 0, 0 },
	COUNT("line", "LINE", "line of its result", line),
	COUNT("passed", "PASSED", "cases in it that passed; itself where it is a case",
	      counts.passed),
	COUNT("failed", "FAILED", "that failed", counts.failed),
	COUNT("skipped", "SKIPPED", "that were skipped", counts.skipped),
	COUNT("crashed", "CRASHED", "that crashed or have no result", counts.crashed),
	COUNT("missing", "MISSING", "those of its plan that the KTAP does not hold", missing),
	COUNT("errors", "ERRORS", "faults in the KTAP of it", counts.errors),
	{ "skip_reason", "REASON", "why it was skipped", COLUMN_LEFT, get_reason, json_reason, 0,
	  0 },
};

#define TEXT_TEST "test,status,passed,failed,skipped,crashed,line,skip_reason"

/* The columns of a bench line. */

struct bench_row {
	const struct ktap_result *result;
	const struct ktap_bench *bench;
};

enum bench_real {
	BATCHED,
	SINGLE,
	BATCHED_PER_PTE,
	SINGLE_PER_PTE,
	RATIO,
};

static struct cell get_helper(const void *row, const struct column *c)
{
	const struct bench_row *r = row;

	return (struct cell){ .type = CELL_TEXT, .text = r->bench->helper };
}

static struct cell get_nr(const void *row, const struct column *c)
{
	const struct bench_row *r = row;

	return (struct cell){ .type = CELL_COUNT, .count = r->bench->nr_ptes };
}

static struct cell get_bench_line(const void *row, const struct column *c)
{
	const struct bench_row *r = row;

	return (struct cell){ .type = CELL_COUNT, .count = r->bench->line };
}

static double bench_real(const struct ktap_bench *b, enum bench_real which)
{
	switch (which) {
	case BATCHED:
		return b->batched_ns;
	case SINGLE:
		return b->single_ns;
	case BATCHED_PER_PTE:
		return b->batched_ns / b->nr_ptes;
	case SINGLE_PER_PTE:
		return b->single_ns / b->nr_ptes;
	default:
		return b->batched_ns > 0 ? b->single_ns / b->batched_ns : NAN;
	}
}

static struct cell get_real(const void *row, const struct column *c)
{
	const struct bench_row *r = row;

	return (struct cell){ .type = CELL_REAL, .real = bench_real(r->bench, c->which) };
}

static const struct ktap_test *bench_case(const struct bench_row *r)
{
	return r->bench->test == KTAP_NO_TEST ? NULL : &r->result->tests[r->bench->test];
}

static struct cell get_case(const void *row, const struct column *c)
{
	const struct ktap_test *test = bench_case(row);

	return (struct cell){ .type = CELL_TEXT, .text = test ? test->name : NULL };
}

static struct cell get_case_status(const void *row, const struct column *c)
{
	const struct ktap_test *test = bench_case(row);

	return (struct cell){ .type = CELL_TEXT,
			      .text = test ? ktap_status_name(test->status) : NULL };
}

#define REAL(key, head, help, which)                         \
	{                                                    \
		key, head, help, 0, get_real, NULL, 0, which \
	}

static const struct column bench_columns[] = {
	{ "helper", "HELPER", "function of the kernel", COLUMN_LEFT, get_helper, NULL, 0, 0 },
	{ "nr_ptes", "PTES", "PTEs that it worked on", 0, get_nr, NULL, 0, 0 },
	REAL("batched_ns", "BATCHED", "ns of one call for all of them", BATCHED),
	REAL("single_ns", "SINGLE", "ns of one call for each of them", SINGLE),
	REAL("batched_ns_per_pte", "BATCHED/PTE", "batched_ns / nr_ptes", BATCHED_PER_PTE),
	REAL("single_ns_per_pte", "SINGLE/PTE", "single_ns / nr_ptes", SINGLE_PER_PTE),
	REAL("ratio", "SINGLE/BATCHED", "single_ns / batched_ns: what batching gains", RATIO),
	{ "case", "CASE", "test case that printed it", COLUMN_LEFT, get_case, NULL, 0, 0 },
	{ "case_status", "STATUS", "of that case: do not trust figures of one that failed",
	  COLUMN_LEFT, get_case_status, NULL, 0, 0 },
	{ "line", "LINE", "line of the KTAP", 0, get_bench_line, NULL, 0, 0 },
};

#define TEXT_BENCH "helper,nr_ptes,batched_ns,single_ns,batched_ns_per_pte,single_ns_per_pte,ratio"

/* Tables. */

/* The name of @test, in text two columns to the right a level, in a string to free. */
static char *shown_name(const struct ktap_test *test, enum format format)
{
	unsigned int indent = format == FORMAT_TEXT ? 2 * (test->depth - 1) : 0;
	size_t bytes = indent + strlen(test->name) + 1;
	char *name = malloc(bytes);

	if (name)
		snprintf(name, bytes, "%*s%s", indent, "", test->name);
	return name;
}

static int add_test_rows(struct table *t, const struct view *v)
{
	const struct ktap_result *result = v->result;
	int err = 0;

	for (size_t i = 1; i < result->nr_tests && !err; i++) {
		char *name = shown_name(&result->tests[i], v->format);
		const struct test_row row = { result, &result->tests[i], name };

		err = name ? table_row(t, &row, true) : -ENOMEM;
		free(name);
	}
	return err;
}

static int add_bench_rows(struct table *t, const struct view *v)
{
	int err = 0;

	for (size_t i = 0; i < v->result->nr_benches && !err; i++) {
		const struct bench_row row = { v->result, &v->result->benches[i] };

		err = table_row(t, &row, true);
	}
	return err;
}

static int write_table(const struct view *v, const struct column *columns, size_t nr,
		       const char *list, int (*add_rows)(struct table *t, const struct view *v))
{
	struct table *t = table_open(v->out, v->format, columns, nr, list, true, false);
	int err, close_err;

	if (!t)
		return -ENOMEM;
	err = add_rows(t, v);
	close_err = table_close(t);
	return err ? err : close_err;
}

static int write_tests(const struct view *v)
{
	return write_table(v, test_columns, ARRAY_SIZE(test_columns),
			   v->format == FORMAT_TEXT ? TEXT_TEST : NULL, add_test_rows);
}

static bool all_cases_passed(const struct ktap_result *result)
{
	for (size_t i = 0; i < result->nr_benches; i++) {
		size_t test = result->benches[i].test;

		if (test == KTAP_NO_TEST || result->tests[test].status != KTAP_PASSED)
			return false;
	}
	return true;
}

static int write_benches(const struct view *v)
{
	const char *list = NULL;

	if (v->format == FORMAT_TEXT)
		list = all_cases_passed(v->result) ? TEXT_BENCH : TEXT_BENCH ",case_status";
	return write_table(v, bench_columns, ARRAY_SIZE(bench_columns), list, add_bench_rows);
}

/* Text. */

static void write_head(const struct view *v)
{
	const struct ktap_result *result = v->result;
	const struct ktap_counts *c = &result->tests[0].counts;
	uint64_t total = ktap_total(c), errors = ktap_errors(result);

	text_write(v->out, v->file);
	fprintf(v->out,
		"\n  %" PRIu64 " test%s: %" PRIu64 " passed, %" PRIu64 " failed, %" PRIu64
		" skipped, %" PRIu64 " crashed\n",
		total, total == 1 ? "" : "s", c->passed, c->failed, c->skipped, c->crashed);
	if (!errors)
		return;
	fprintf(v->out, "  damaged at line %" PRIu64 ": ", result->error.line);
	text_write(v->out, result->error.text);
	if (errors > 1)
		fprintf(v->out, "; %" PRIu64 " errors in all", errors);
	putc('\n', v->out);
}

static int write_text(const struct view *v)
{
	int err = 0;

	if (!v->bench_alone) {
		write_head(v);
		putc('\n', v->out);
		err = write_tests(v);
		if (err || !v->result->nr_benches)
			return err;
		fputs("\nTimes in ns.\n\n", v->out);
	}
	return write_benches(v);
}

/* JSON. */

static int write_json_tests(const struct view *v)
{
	const struct ktap_result *result = v->result;
	int err = 0;

	fputs(",\n\"tests\":[", v->out);
	for (size_t i = 1; i < result->nr_tests && !err; i++) {
		const struct test_row row = { result, &result->tests[i], result->tests[i].name };

		fputs(i > 1 ? ",\n" : "\n", v->out);
		err = json_write(v->out, columns_json(test_columns, ARRAY_SIZE(test_columns), 0,
						      &row, true));
	}
	fputs("\n]", v->out);
	return err;
}

static int write_json_benches(const struct view *v)
{
	const struct ktap_result *result = v->result;
	int err = 0;

	fputs(",\n\"benches\":[", v->out);
	for (size_t i = 0; i < result->nr_benches && !err; i++) {
		const struct bench_row row = { result, &result->benches[i] };

		fputs(i ? ",\n" : "\n", v->out);
		err = json_write(v->out, columns_json(bench_columns, ARRAY_SIZE(bench_columns), 0,
						      &row, true));
	}
	fputs("\n]", v->out);
	return err;
}

static int write_json_head(const struct view *v)
{
	const struct ktap_result *result = v->result;
	const struct ktap_counts *c = &result->tests[0].counts;
	int err = json_begin(v->out);

	if (err)
		return err;
	fputs(",\n\"file\":", v->out);
	err = json_write(v->out, json_text(v->file));
	fprintf(v->out,
		",\n\"status\":\"%s\",\n\"counts\":{\"passed\":%" PRIu64 ",\"failed\":%" PRIu64
		",\"skipped\":%" PRIu64 ",\"crashed\":%" PRIu64 ",\"errors\":%" PRIu64
		"},\n\"bad_benches\":%" PRIu64 ",\"uncounted\":%" PRIu64 ",\n\"error\":",
		ktap_status_name(result->tests[0].status), c->passed, c->failed, c->skipped,
		c->crashed, c->errors, result->bad_benches, result->uncounted);
	if (err || !ktap_errors(result)) {
		fputs("null", v->out);
		return err;
	}
	fprintf(v->out, "{\"line\":%" PRIu64 ",\"reason\":", result->error.line);
	err = json_write(v->out, json_text(result->error.text));
	putc('}', v->out);
	return err;
}

/* One row at a time: the end is written only when all before it was. */
static int write_json(const struct view *v)
{
	int err = write_json_head(v);

	if (!err && !v->bench_alone)
		err = write_json_tests(v);
	if (!err)
		err = write_json_benches(v);
	if (!err)
		fputs("}\n", v->out);
	return err;
}

/* The command. */

static void usage(void)
{
	fputs("Usage: fault-analyze kunit [-b] [-F text|tsv|csv|json] KTAP\n"
	      "\n"
	      "Print the results in KTAP, what a kernel says that runs KUnit (kunit.py run\n"
	      "--raw_output=all, or dmesg), \"-\" being standard input; and the bench lines in it:\n"
	      "what each helper costs for a batch of PTEs and for the same PTEs one by one.\n"
	      "Results are counted as by the kernel's kunit.py.\n"
	      "\n"
	      "  -b, --bench          the bench lines alone\n"
	      "  -F, --format FORMAT  text (default), json, or one table as tsv or csv: the tests,\n"
	      "                       with -b the bench lines\n"
	      "  -h, --help           show this\n"
	      "\n"
	      "Exit status: 0 when the KTAP was read and is whole, whatever the results (tests that\n"
	      "failed or crashed are counted on standard error, too); 1 usage; 2 no KTAP, KTAP that\n"
	      "is cut or has other errors, or a bench line that could not be read.\n"
	      "\n"
	      "Columns of the tests:\n",
	      stdout);
	columns_help(stdout, test_columns, ARRAY_SIZE(test_columns));
	fputs("\nColumns of the bench lines:\n", stdout);
	columns_help(stdout, bench_columns, ARRAY_SIZE(bench_columns));
}

/* One line about what is wrong at which line of @path, of @errors in all. */
static int complain_error(const char *path, const struct ktap_error *error, uint64_t errors)
{
	fputs("fault-analyze: ", stderr);
	text_write(stderr, path);
	fputs(": ", stderr);
	if (error->line)
		fprintf(stderr, "line %" PRIu64 ": ", error->line);
	text_write(stderr, error->text);
	if (errors > 1)
		fprintf(stderr, " (and %" PRIu64 " more)", errors - 1);
	putc('\n', stderr);
	return EXIT_DAMAGED;
}

static int print(const struct view *v)
{
	int err, flush_err;

	switch (v->format) {
	case FORMAT_TEXT:
		err = write_text(v);
		break;
	case FORMAT_JSON:
		err = write_json(v);
		break;
	default:
		err = v->bench_alone ? write_benches(v) : write_tests(v);
	}
	flush_err = output_flush(v->out);
	return err ? err : flush_err;
}

/* What remains to be said, and the exit code. */
static int conclude(const struct view *v)
{
	const struct ktap_counts *c = &v->result->tests[0].counts;
	uint64_t errors = ktap_errors(v->result);

	if (errors)
		return complain_error(v->file, &v->result->error, errors);
	if (c->failed || c->crashed)
		fprintf(stderr,
			"fault-analyze: %s: %" PRIu64 " of %" PRIu64 " tests failed, %" PRIu64
			" crashed\n",
			v->file, c->failed, ktap_total(c), c->crashed);
	else if (v->bench_alone && !v->result->nr_benches)
		fprintf(stderr, "fault-analyze: %s: no bench lines\n", v->file);
	return EXIT_GOOD;
}

static int show(const char *path, enum format format, bool bench_alone)
{
	FILE *in = stream_open(path);
	struct ktap_result result = { 0 };
	struct view v = { stdout, format, bench_alone, path, &result };
	int err, code;

	if (!in)
		return command_complain(path, strerror(errno));
	err = ktap_read(in, &result);
	stream_close(in);
	if (err) {
		code = complain_error(path, &result.error, 1);
	} else {
		err = print(&v);
		code = err ? command_complain("standard output", strerror(-err)) : conclude(&v);
	}
	ktap_release(&result);
	return code;
}

int cmd_kunit(int argc, char **argv)
{
	static const struct option options[] = { { "bench", no_argument, NULL, 'b' },
						 { "format", required_argument, NULL, 'F' },
						 { "help", no_argument, NULL, 'h' },
						 { 0 } };
	int format = FORMAT_TEXT, c;
	bool bench_alone = false;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":bF:h", options, NULL)) != -1) {
		switch (c) {
		case 'b':
			bench_alone = true;
			break;
		case 'F':
			format = format_parse(optarg);
			if (format < 0)
				return usage_error(argv[0], "--format '%s' is no format", optarg);
			break;
		case 'h':
			usage();
			return EXIT_GOOD;
		default:
			return usage_wrong_option(argv[0], c, argv);
		}
	}
	if (optind != argc - 1)
		return usage_error(argv[0], "kunit takes one file of KTAP");
	return show(argv[optind], format, bench_alone);
}
