// SPDX-License-Identifier: GPL-2.0-or-later
/* Rank statistics against enumeration, published tables and their own definitions. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "random.h"
#include "stats.h"

static void assert_near(double value, double expected)
{
	if (isnan(value) || fabs(value - expected) > 1e-9 * fmax(1, fabs(expected)))
		fail_msg("%.12g is not %.12g", value, expected);
}

/* Twice the rank sum of the values whose bits are set in @chosen, by counting. */
static int rank_sum_of(const double *values, unsigned int nr, unsigned int chosen)
{
	int sum = 0;

	for (unsigned int i = 0; i < nr; i++)
		for (unsigned int j = 0; chosen & 1u << i && j < nr; j++)
			sum += values[j] < values[i] ? 2 : values[j] == values[i] ? 1 : 0;
	return sum;
}

/* The definition: every way to choose n of all values, one after another. */
static double enumerated_p(const double *values, unsigned int n, unsigned int nr)
{
	int mean = n * nr; /* of such doubled sums */
	int distance = abs(rank_sum_of(values, nr, (1u << n) - 1) - mean);
	double all = 0, as_far = 0;

	for (unsigned int chosen = 0; chosen < 1u << nr; chosen++) {
		if (__builtin_popcount(chosen) != (int)n)
			continue;
		all++;
		as_far += abs(rank_sum_of(values, nr, chosen) - mean) >= distance;
	}
	return as_far / all;
}

static void test_mann_whitney_enumerated(void **state)
{
	uint64_t rng = 1;

	for (unsigned int round = 0; round < 60; round++) {
		unsigned int n = 1 + random_u64(&rng) % 6, m = 1 + random_u64(&rng) % 6;
		double values[12];

		for (unsigned int i = 0; i < n + m; i++) /* often tied */
			values[i] = random_u64(&rng) % (2 + round % 20) + (i < n ? 0 : round % 3);
		assert_near(stats_mann_whitney(values, n, values + n, m),
			    enumerated_p(values, n, n + m));
	}
}

static void test_mann_whitney_known(void **state)
{
	const double same[] = { 5, 5, 5, 5, 5, 5 };
	const double low[] = { 1, 2, 3, 4, 5, 6 }, high[] = { 7, 8, 9, 10, 11, 12 };
	const double equal_low[] = { 128, 128, 128, 128, 128, 128 };
	const double equal_high[] = { 2048, 2048, 2048, 2048, 2048, 2048 };

	assert_near(stats_mann_whitney(same, 6, same, 6), 1);
	assert_near(stats_mann_whitney(low, 6, high, 6), 2.0 / 924);
	assert_near(stats_mann_whitney(high, 6, low, 6), 2.0 / 924);
	assert_near(stats_mann_whitney(equal_low, 6, equal_high, 6), 2.0 / 924);
	assert_near(stats_mann_whitney(low, 3, high, 3), 0.1);
	assert_true(isnan(stats_mann_whitney(low, 0, high, 3)));
	assert_true(isnan(stats_mann_whitney(low, 3, high, 0)));
}

/* Where exact and normal meet they have to agree, ties or not. */
static void test_mann_whitney_large(void **state)
{
	uint64_t rng = 2;

	for (unsigned int round = 0; round < 40; round++) {
		double a[33], b[33], exact, normal;

		for (unsigned int i = 0; i < 33; i++) {
			a[i] = random_u64(&rng) % 50;
			b[i] = random_u64(&rng) % 50 + round % 20;
		}
		exact = stats_mann_whitney(a, 32, b, 32);
		a[32] = -1; /* one value more at either end: about the same p */
		b[32] = 100;
		normal = stats_mann_whitney(a, 33, b, 33);
		assert_true(normal < exact + 0.01);
		assert_true(exact < 0.001 || normal > exact / 3 - 0.01);
	}
}

static int compare_doubles(const void *a, const void *b)
{
	double va = *(const double *)a, vb = *(const double *)b;

	return (va > vb) - (va < vb);
}

static void test_hodges_lehmann_enumerated(void **state)
{
	/* Ranks of the interval's ends at 95 %: Hollander and Wolfe's table of U, tail 0.025. */
	static const struct {
		size_t n, m, k;
	} known[] = { { 4, 4, 1 },  { 5, 5, 3 },    { 6, 6, 6 }, { 7, 7, 9 },
		      { 8, 8, 14 }, { 10, 10, 24 }, { 5, 8, 7 }, { 6, 9, 11 } };
	uint64_t rng = 3;

	for (unsigned int round = 0; round < 400; round++) {
		size_t n = known[round % 8].n, m = known[round % 8].m, k = known[round % 8].k,
		       nr = 0;
		double a[10], b[10], differences[100];
		struct stats_shift shift;

		for (size_t i = 0; i < n; i++)
			a[i] = round % 3 ? log(1 + random_unit(&rng)) : random_u64(&rng) % 4;
		for (size_t j = 0; j < m; j++)
			b[j] = round % 3 ? log(1 + random_unit(&rng)) : random_u64(&rng) % 4;
		for (size_t i = 0; i < n; i++)
			for (size_t j = 0; j < m; j++)
				differences[nr++] = b[j] - a[i];
		qsort(differences, nr, sizeof(*differences), compare_doubles);
		shift = stats_hodges_lehmann(a, n, b, m, 0.95);
		assert_near(shift.median, (differences[(nr - 1) / 2] + differences[nr / 2]) / 2);
		assert_near(shift.low, differences[k - 1]);
		assert_near(shift.high, differences[nr - k]);
	}
}

static void test_hodges_lehmann_known(void **state)
{
	double one[] = { 3 }, two[] = { 5 }, low[] = { 1, 2, 3 }, high[] = { 11, 12, 13 };
	struct stats_shift shift = stats_hodges_lehmann(one, 1, two, 1, 0.95);

	assert_near(shift.median, 2);
	assert_true(isnan(shift.low) && isnan(shift.high));
	shift = stats_hodges_lehmann(low, 3, high, 3, 0.95); /* 3 a side reach 90 % at most */
	assert_near(shift.median, 10);
	assert_true(isnan(shift.low));
	shift = stats_hodges_lehmann(low, 3, high, 3, 0.90);
	assert_near(shift.low, 8);
	assert_near(shift.high, 12);
	shift = stats_hodges_lehmann(low, 0, high, 3, 0.95);
	assert_true(isnan(shift.median));
}

/* A thousand runs a side neither overflow nor need a million differences in memory. */
static void test_hodges_lehmann_large(void **state)
{
	enum {
		NR = 1000
	};
	double a[NR], b[NR];
	struct stats_shift shift;
	uint64_t rng = 1;

	for (size_t i = 0; i < NR; i++) {
		a[i] = random_unit(&rng);
		b[i] = random_unit(&rng) + 0.5;
	}
	shift = stats_hodges_lehmann(a, NR, b, NR, 0.95);
	assert_true(shift.low < shift.median && shift.median < shift.high);
	assert_true(shift.low < 0.5 && 0.5 < shift.high);
	/* Twice 1.96 / sqrt(12 * NR / 2) over the integral of the squared density, 1. */
	assert_true(fabs(shift.high - shift.low - 2 * 1.96 / sqrt(6.0 * NR)) < 0.005);
}

static void test_holm(void **state)
{
	double p[] = { 0.04, NAN, 0.01, 0.03, 0.005 };
	double tied[] = { 0.02, 0.02, 0.9 };

	stats_holm(p, 5); /* 0.005 * 4, 0.01 * 3, 0.03 * 2, 0.04 * 1 but not below the one before */
	assert_near(p[4], 0.02);
	assert_near(p[2], 0.03);
	assert_near(p[3], 0.06);
	assert_near(p[0], 0.06);
	assert_true(isnan(p[1]));
	stats_holm(tied, 3);
	assert_near(tied[0], 0.06);
	assert_near(tied[1], 0.06);
	assert_near(tied[2], 0.9);
	stats_holm(p, 0);
}

static void test_runs_needed(void **state)
{
	assert_int_equal(stats_runs_needed(1, 0.05), 4);
	assert_int_equal(stats_runs_needed(6, 0.05), 5);
	assert_int_equal(stats_runs_needed(7, 0.05), 6);
	assert_int_equal(stats_runs_needed(23, 0.05), 6);
	assert_int_equal(stats_runs_needed(24, 0.05), 7);
	assert_int_equal(stats_runs_needed(85, 0.05), 7);
	assert_int_equal(stats_runs_needed(86, 0.05), 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mann_whitney_enumerated),
		cmocka_unit_test(test_mann_whitney_known),
		cmocka_unit_test(test_mann_whitney_large),
		cmocka_unit_test(test_hodges_lehmann_enumerated),
		cmocka_unit_test(test_hodges_lehmann_known),
		cmocka_unit_test(test_hodges_lehmann_large),
		cmocka_unit_test(test_holm),
		cmocka_unit_test(test_runs_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
