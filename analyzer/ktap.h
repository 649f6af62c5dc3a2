/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads KTAP, what KUnit says: the tests with their results, and the bench lines among them. Agrees
 * with the parser of the kernel's tools/testing/kunit on what passed, failed, was skipped or
 * crashed.
 */
#ifndef KTAP_H
#define KTAP_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Limits: beyond them a text is refused. The kernel itself stays far below. */
#define KTAP_MAX_LINE  65536
#define KTAP_MAX_DEPTH 64
#define KTAP_MAX_TESTS (1u << 20) /* in all and in one plan; as many bench lines */
#define KTAP_MAX_PTES  8192	  /* of a page table: arm64 with 64K pages has the most */
#define KTAP_MAX_ARCH  15	  /* characters of an architecture's name */

#define KTAP_NO_TEST SIZE_MAX

enum ktap_status {
	KTAP_PASSED,
	KTAP_FAILED,
	KTAP_SKIPPED,
	KTAP_CRASHED, /* or no result was found */
	KTAP_NO_TESTS /* a suite without any */
};

/* Test cases, that is tests without tests of their own, by status; and what broke the format. */
struct ktap_counts {
	uint64_t passed, failed, skipped, crashed;
	uint64_t errors;
};

struct ktap_test {
	char *name;	   /* owned; "" where no line named it */
	char *skip_reason; /* owned; NULL, or why a skipped one was skipped */
	enum ktap_status status;
	unsigned int depth; /* 0 is the whole run, 1 a suite */
	size_t parent;	    /* its number, KTAP_NO_TEST for the whole run */
	uint64_t line;	    /* of its result, else of its first line; from 1 */
	uint64_t missing; /* tests that its plan holds but the text does not; crashed, in counts */
	struct ktap_counts counts; /* of itself and all in it */
};

/*
 * One bench line: "# bench: helper=NAME nr=N batched_ns=X single_ns=Y". X and Y are the times of N
 * PTEs: of one call of the helper on all of them, and of N calls on one each.
 */
struct ktap_bench {
	char *helper; /* owned */
	uint32_t nr_ptes;
	double batched_ns, single_ns;
	uint64_t line;
	size_t test; /* the case that printed it, KTAP_NO_TEST where the text ends before its result
		      */
};

/* Why a text is not good KTAP. */
struct ktap_error {
	uint64_t line;
	char text[256];
};

/* All zero is empty; ktap_release() returns it to that. */
struct ktap_result {
	char arch[KTAP_MAX_ARCH + 1]; /* by "# ... ARCH=NAME ..." before the version line; or "" */
	struct ktap_test *tests; /* owned; each before those in it. The first is the whole run */
	size_t nr_tests;
	struct ktap_bench *benches; /* owned; in the text's order, repeats included */
	size_t nr_benches;
	uint64_t bad_benches; /* lines that looked like bench lines but could not be read */
	uint64_t uncounted;   /* results behind the end of the plan: in no count, as in kunit.py */
	struct ktap_error error; /* the first of all the above and of tests[0].counts.errors */
};

/*
 * Read @in up to its end, or to where the kernel halts, into the empty @result. Before the version
 * line anything may stand, and what stands before its words is taken off every line (a time stamp).
 * Returns 0 when there was KTAP; it may have errors, see ktap_errors(). Else -errno and
 * result->error says why: -ENODATA no KTAP, -E2BIG beyond a limit, -ENOMEM, or of reading @in; what
 * was read until then stays in @result.
 */
int ktap_read(FILE *in, struct ktap_result *result);

/* How many things were wrong with the text, whatever the tests' results; 0 for good KTAP. */
uint64_t ktap_errors(const struct ktap_result *result);

/* Cases that ran, were skipped or went missing. */
uint64_t ktap_total(const struct ktap_counts *counts);

/* "passed", "failed", "skipped", "crashed" or "no tests". */
const char *ktap_status_name(enum ktap_status status);

void ktap_release(struct ktap_result *result);

#endif
