/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one line of KTAP says. Spaces before it never matter; what is a space, a name or a number is
 * as in the patterns of the kernel's tools/testing/kunit/kunit_parser.py of 7.3, whose names stand
 * beside ours.
 */
#ifndef KTAP_LINE_H
#define KTAP_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What \s is in a Python pattern, ASCII alone. */
bool ktap_space(char c);

/*
 * Whether the line is @words ("KTAP version", "TAP version") and a number: KTAP_START, TAP_START.
 * Here and below a number too large is UINT64_MAX.
 */
bool ktap_version_line(const char *line, const char *words, uint64_t *version);

/* The name in "# Subtest: NAME", or NULL: TEST_HEADER. */
const char *ktap_header_line(const char *line);

/* Whether the line is "1..N", with anything behind it: TEST_PLAN. */
bool ktap_plan_line(const char *line, uint64_t *nr);

/* "ok N - NAME", "not ok N - NAME # SKIP REASON". All points into the line. */
struct ktap_result_line {
	bool ok, skip;
	uint64_t number;
	const char *name; /* of a skipped test up to the last " # SKIP" */
	size_t name_bytes;
	const char *plain; /* up to the first " # ": what is compared with a suite's name */
	size_t plain_bytes;
	const char *reason; /* of a skip; "" without one */
};

/* TEST_RESULT and TEST_RESULT_SKIP. */
bool ktap_result_line(const char *line, struct ktap_result_line *r);

/* Whether the line is none of the above. */
bool ktap_diagnostic_line(const char *line);

/* "# bench: helper=NAME nr=N batched_ns=X single_ns=Y". The helper points into the line. */
struct ktap_bench_line {
	const char *helper;
	size_t helper_bytes;
	uint32_t nr_ptes;
	double batched_ns, single_ns;
};

/*
 * Read a bench line; the name of a test may stand before "bench:", and other words among its own.
 * Returns 1, 0 where the line is none, or -1 where it lacks *@lacks, a key and what must follow.
 */
int ktap_bench_line(const char *line, struct ktap_bench_line *b, const char **lacks);

#endif
