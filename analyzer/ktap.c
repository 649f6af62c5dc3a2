// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads KTAP by Documentation/dev-tools/ktap.rst, and where that leaves a choice, as the kernel's
 * tools/testing/kunit/kunit_parser.py of 7.3 does; the names of its rules stand beside ours.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ktap.h"
#include "ktap_line.h"
#include "ktap_text.h"

#define NO_PLAN (-1)

/*
 * The text, one line at a time. The line stays after it is taken, as long as no further one is
 * there: at the end the last one can still be looked at.
 */
struct parser {
	struct ktap_text text;
	struct ktap_result *result;
	const char *line; /* in text: the line at hand */
	bool fetched;	  /* it is, or the end is */
	bool end;
	uint64_t line_nr;   /* of the line at hand */
	size_t benches_due; /* the first bench line whose case is not known yet */
	size_t max_tests, max_benches;
	int err;
};

/* What is wrong. */

/* Keep what is wrong, where it is the first thing. */
static void __attribute__((format(printf, 3, 0)))
vnote(struct parser *p, uint64_t line, const char *fmt, va_list ap)
{
	struct ktap_error *error = &p->result->error;

	if (error->text[0])
		return;
	error->line = line;
	vsnprintf(error->text, sizeof(error->text), fmt, ap);
}

static void __attribute__((format(printf, 2, 3))) note(struct parser *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vnote(p, p->line_nr, fmt, ap);
	va_end(ap);
}

/* The text breaks the format in @test; reading goes on. */
static void __attribute__((format(printf, 3, 4)))
test_error(struct parser *p, size_t test, const char *fmt, ...)
{
	va_list ap;

	p->result->tests[test].counts.errors++;
	va_start(ap, fmt);
	vnote(p, p->line_nr, fmt, ap);
	va_end(ap);
}

/* Reading ends here, with @err: all that follows sees the end of the text. */
static void __attribute__((format(printf, 3, 4)))
stop(struct parser *p, int err, const char *fmt, ...)
{
	va_list ap;

	p->result->error.text[0] = '\0'; /* it outweighs what was noted before */
	va_start(ap, fmt);
	vnote(p, p->text.lines, fmt, ap);
	va_end(ap);
	p->err = err;
	p->fetched = true;
	p->end = true;
}

/* Storage. */

static char *copy_string(struct parser *p, const char *text, size_t bytes)
{
	char *copy = strndup(text, bytes);

	if (!copy)
		stop(p, -ENOMEM, "%s", strerror(ENOMEM));
	return copy;
}

/* Put a copy of the first @bytes of @text in the place of *@string. */
static void set_string(struct parser *p, char **string, const char *text, size_t bytes)
{
	char *copy = copy_string(p, text, bytes);

	if (copy) {
		free(*string);
		*string = copy;
	}
}

/* Make room in *@list of *@max entries for one behind @nr. Returns false and stops at a limit. */
static bool make_room(struct parser *p, void **list, size_t *max, size_t nr, size_t size)
{
	size_t wanted = *max ? *max * 2 : 64;
	void *more;

	if (nr < *max)
		return true;
	if (nr >= KTAP_MAX_TESTS) {
		stop(p, -E2BIG, "more than %u tests or bench lines", KTAP_MAX_TESTS);
		return false;
	}
	more = reallocarray(*list, wanted, size);
	if (!more) {
		stop(p, -ENOMEM, "%s", strerror(ENOMEM));
		return false;
	}
	*list = more;
	*max = wanted;
	return true;
}

/* Keep the line where it is a bench line. */
static void look_for_bench(struct parser *p)
{
	struct ktap_result *result = p->result;
	void *list = result->benches;
	struct ktap_bench_line line;
	const char *lacks;
	char *helper;
	int found = ktap_bench_line(p->line, &line, &lacks);

	if (found < 0) {
		result->bad_benches++;
		note(p, "bench line without %s", lacks);
	}
	if (found <= 0 ||
	    !make_room(p, &list, &p->max_benches, result->nr_benches, sizeof(*result->benches)))
		return;
	result->benches = list;
	helper = copy_string(p, line.helper, line.helper_bytes);
	if (helper)
		result->benches[result->nr_benches++] =
			(struct ktap_bench){ .helper = helper,
					     .nr_ptes = line.nr_ptes,
					     .batched_ns = line.batched_ns,
					     .single_ns = line.single_ns,
					     .line = p->line_nr,
					     .test = KTAP_NO_TEST };
}

/* The bench lines since the last result are those of @test, whose result is at hand. */
static void own_benches(struct parser *p, size_t test)
{
	for (; p->benches_due < p->result->nr_benches; p->benches_due++)
		p->result->benches[p->benches_due].test = test;
}

/* The text. */

/* Whether there is a line at hand. At the end p->line stays the last one. */
static bool more(struct parser *p)
{
	int got;

	if (p->fetched)
		return !p->end;
	got = ktap_text_next(&p->text, &p->line);
	if (got == -E2BIG)
		stop(p, got, "line longer than %d bytes", KTAP_MAX_LINE);
	else if (got < 0)
		stop(p, got, "%s", strerror(-got));
	p->fetched = true;
	p->end = got <= 0;
	if (got <= 0)
		return false;
	p->line_nr = p->text.lines;
	look_for_bench(p);
	return !p->end;
}

static void take_line(struct parser *p)
{
	if (!p->end)
		p->fetched = false;
}

static void skip_diagnostics(struct parser *p)
{
	while (more(p) && ktap_diagnostic_line(p->line))
		take_line(p);
}

/* Counts. */

uint64_t ktap_total(const struct ktap_counts *c)
{
	return c->passed + c->failed + c->skipped + c->crashed;
}

static void count_status(struct ktap_counts *c, enum ktap_status status)
{
	c->passed += status == KTAP_PASSED;
	c->failed += status == KTAP_FAILED;
	c->skipped += status == KTAP_SKIPPED;
	c->crashed += status == KTAP_CRASHED;
}

static void add_counts(struct ktap_counts *to, const struct ktap_counts *from)
{
	to->passed += from->passed;
	to->failed += from->failed;
	to->skipped += from->skipped;
	to->crashed += from->crashed;
	to->errors += from->errors;
}

static enum ktap_status worst_status(const struct ktap_counts *c)
{
	if (!ktap_total(c))
		return KTAP_NO_TESTS;
	if (c->crashed)
		return KTAP_CRASHED;
	if (c->failed)
		return KTAP_FAILED;
	return c->passed ? KTAP_PASSED : KTAP_SKIPPED;
}

/* Tests. */

static size_t add_test(struct parser *p, size_t parent, const char *name)
{
	struct ktap_result *result = p->result;
	void *list = result->tests;
	struct ktap_test *test;
	unsigned int depth;

	depth = parent == KTAP_NO_TEST ? 0 : result->tests[parent].depth + 1;
	if (depth > KTAP_MAX_DEPTH) {
		stop(p, -E2BIG, "tests nested deeper than %d", KTAP_MAX_DEPTH);
		return KTAP_NO_TEST;
	}
	if (!make_room(p, &list, &p->max_tests, result->nr_tests, sizeof(*test)))
		return KTAP_NO_TEST;
	result->tests = list;
	test = &result->tests[result->nr_tests];
	*test = (struct ktap_test){ .name = copy_string(p, name, strlen(name)),
				    .status = KTAP_CRASHED,
				    .depth = depth,
				    .parent = parent,
				    .line = p->line_nr };
	if (!test->name)
		return KTAP_NO_TEST;
	return result->nr_tests++;
}

/* For errors: what is wrong where the text ends is that it was cut. */
static const char *cut(struct parser *p)
{
	return more(p) ? "" : "KTAP is cut: ";
}

/* The start of its name, as long as a line of errors can be. */
static const char *quoted_name(struct parser *p, size_t test, char buf[72])
{
	const char *name = p->result->tests[test].name;

	if (!test)
		return "the whole run";
	if (!*name)
		return "a suite without a name";
	snprintf(buf, 72, "\"%.*s\"", 64, name);
	return buf;
}

/* Take a version line. Returns whether there was one. */
static bool parse_version(struct parser *p, size_t test)
{
	uint64_t version;
	bool known;

	if (ktap_version_line(p->line, "KTAP version", &version))
		known = version == 1;
	else if (ktap_version_line(p->line, "TAP version", &version))
		known = version == 13 || version == 14;
	else
		return false;
	if (!known)
		test_error(p, test, "version %llu of KTAP or TAP is not known",
			   (unsigned long long)version);
	take_line(p);
	return true;
}

static bool parse_header(struct parser *p, size_t test)
{
	const char *name = more(p) ? ktap_header_line(p->line) : NULL;

	if (!name)
		return false;
	set_string(p, &p->result->tests[test].name, name, strlen(name));
	take_line(p);
	return true;
}

/* Take a plan. Returns the number of tests, or NO_PLAN. */
static int64_t parse_plan(struct parser *p)
{
	uint64_t nr;

	skip_diagnostics(p);
	if (!more(p) || !ktap_plan_line(p->line, &nr))
		return NO_PLAN;
	if (nr > KTAP_MAX_TESTS) {
		stop(p, -E2BIG, "a plan of more than %u tests", KTAP_MAX_TESTS);
		return NO_PLAN;
	}
	take_line(p);
	return nr;
}

/*
 * peek_test_name_match: whether the line is the result of @test by its name. At the end that is the
 * last line, which kunit.py looks at, too.
 */
static bool is_result_of(struct parser *p, size_t test)
{
	const char *name = p->result->tests[test].name;
	struct ktap_result_line r;

	return ktap_result_line(p->line, &r) && r.plain_bytes && strlen(name) == r.plain_bytes &&
	       !memcmp(r.plain, name, r.plain_bytes);
}

static void parse_result(struct parser *p, size_t test, uint64_t number)
{
	struct ktap_test *t = &p->result->tests[test];
	struct ktap_result_line r;

	if (!ktap_result_line(p->line, &r))
		return;
	set_string(p, &t->name, r.name, r.name_bytes);
	if (r.skip && *r.reason)
		set_string(p, &t->skip_reason, r.reason, strlen(r.reason));
	t->status = r.skip ? KTAP_SKIPPED : r.ok ? KTAP_PASSED : KTAP_FAILED;
	t->line = p->line_nr;
	own_benches(p, test);
	if (r.number != number)
		test_error(p, test, "test number is not %llu", (unsigned long long)number);
	take_line(p);
}

static void parse_test(struct parser *p, size_t parent, uint64_t number);

/* The tests of @test: as many as planned, or up to its result line or the end. */
static void parse_subtests(struct parser *p, size_t test, int64_t plan)
{
	for (int64_t number = 1; plan == NO_PLAN || number <= plan; number++) {
		char name[72];

		skip_diagnostics(p);
		if (more(p) && !(test && is_result_of(p, test))) {
			parse_test(p, test, number);
			continue;
		}
		if (plan != NO_PLAN) {
			struct ktap_test *t = &p->result->tests[test];

			t->missing = plan - number + 1;
			t->counts.crashed += t->missing;
			test_error(p, test, "%s%llu of %lld tests of %s missing", cut(p),
				   (unsigned long long)t->missing, (long long)plan,
				   quoted_name(p, test, name));
			t->counts.errors += t->missing - 1;
		}
		return;
	}
}

static bool has_tests(const struct ktap_result *result, size_t test)
{
	return result->nr_tests > test + 1 || result->tests[test].missing;
}

/* Nothing more is to come for @test: count it, and all in it, and in its parent. */
static void finish_test(struct parser *p, size_t test, bool suite)
{
	struct ktap_test *t = &p->result->tests[test];
	enum ktap_status status;
	char name[72];

	if (suite && !has_tests(p->result, test) &&
	    (t->status == KTAP_CRASHED || t->status == KTAP_PASSED)) {
		t->status = KTAP_NO_TESTS;
		if (p->text.started)
			test_error(p, test, "no test ran in %s", quoted_name(p, test, name));
		else
			test_error(p, test, "%s", p->line); /* why KUnit's executor ran none */
	}
	status = t->status;
	if (!ktap_total(&t->counts))
		count_status(&t->counts, status);
	else if (t->counts.crashed)
		t->status = KTAP_CRASHED;
	/* A suite that failed though its tests passed: in its init or exit. */
	if (status == KTAP_FAILED && worst_status(&t->counts) == KTAP_PASSED)
		count_status(&t->counts, KTAP_FAILED);
	if (test)
		add_counts(&p->result->tests[t->parent].counts, &t->counts);
}

/* The test that begins at the line at hand: a result, or a suite with its header and tests. */
static void parse_test(struct parser *p, size_t parent, uint64_t number)
{
	size_t test = add_test(p, parent, "");
	bool suite;
	char name[72];
	int64_t plan;

	if (test == KTAP_NO_TEST)
		return;
	suite = parse_version(p, test);
	suite |= parse_header(p, test);
	plan = parse_plan(p);
	if (suite)
		parse_subtests(p, test, plan);
	skip_diagnostics(p);
	if (*p->result->tests[test].name && !is_result_of(p, test)) {
		test_error(p, test, "%sno result of %s", cut(p), quoted_name(p, test, name));
	} else if (!more(p)) {
		p->result->tests[test].status = KTAP_NO_TESTS;
		test_error(p, test, "%sno result of %s", cut(p), quoted_name(p, test, name));
	} else {
		parse_result(p, test, number);
	}
	finish_test(p, test, suite);
}

/* The whole run: a version, a plan, and suites. */
static void parse_run(struct parser *p)
{
	size_t run = add_test(p, KTAP_NO_TEST, "main");
	struct ktap_test *t;

	if (run == KTAP_NO_TEST)
		return;
	skip_diagnostics(p);
	if (more(p))
		parse_version(p, run);
	parse_subtests(p, run, parse_plan(p));
	finish_test(p, run, true);
	t = &p->result->tests[run];
	t->status = worst_status(&t->counts);
}

/* The plan may end before the text does. */
static void count_rest(struct parser *p)
{
	struct ktap_result_line r;

	for (; more(p); take_line(p)) {
		if (!ktap_result_line(p->line, &r))
			continue;
		p->result->uncounted++;
		note(p, "results behind the end of the plan, counted nowhere");
	}
}

int ktap_read(FILE *in, struct ktap_result *result)
{
	struct parser *p = calloc(1, sizeof(*p));
	int err;

	if (!p) {
		snprintf(result->error.text, sizeof(result->error.text), "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	p->text.in = in;
	p->result = result;
	errno = 0;
	if (more(p)) {
		parse_run(p);
		count_rest(p);
	} else if (!p->err) {
		stop(p, -ENODATA, "no KTAP: no line \"KTAP version 1\"");
	}
	err = p->err;
	memcpy(result->arch, p->text.arch, sizeof(result->arch));
	free(p);
	return err;
}

uint64_t ktap_errors(const struct ktap_result *result)
{
	return (result->nr_tests ? result->tests[0].counts.errors : 0) + result->bad_benches +
	       result->uncounted;
}

const char *ktap_status_name(enum ktap_status status)
{
	static const char *const names[] = { "passed", "failed", "skipped", "crashed", "no tests" };

	return names[status];
}

void ktap_release(struct ktap_result *result)
{
	for (size_t i = 0; i < result->nr_tests; i++) {
		free(result->tests[i].name);
		free(result->tests[i].skip_reason);
	}
	for (size_t i = 0; i < result->nr_benches; i++)
		free(result->benches[i].helper);
	free(result->tests);
	free(result->benches);
	*result = (struct ktap_result){ 0 };
}
