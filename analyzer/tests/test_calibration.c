// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Simulated runs with known effects: how often the intervals cover the truth, and how often a
 * family without any effect is marked. With a number as its argument it simulates that many pairs a
 * case.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "random.h"
#include "stats.h"

#define FAULTS	  21 /* a run; odd, for a plain median */
#define MAX_RUNS  12
#define NR_FAMILY 10

static unsigned int nr_pairs = 1000;

enum shape {
	SKEWED,
	BIMODAL,
	TICKED,
	NR_SHAPES
};

static const char *const shape_names[NR_SHAPES] = { "skewed", "bimodal", "ticks of 16" };

enum metric {
	TOTAL,
	P50,
	NR_METRICS
};

static const char *const metric_names[NR_METRICS] = { "total", "p50" };

static double normal(uint64_t *rng)
{
	return sqrt(-2 * log(1 - random_unit(rng))) * cos(2 * M_PI * random_unit(rng));
}

/* What all faults of one run share: the boot's layout of memory, the build's alignment. */
static double run_factor(uint64_t *rng, enum shape shape)
{
	double factor = exp(0.03 * normal(rng));

	return shape == BIMODAL && random_unit(rng) < 0.3 ? 1.35 * factor : factor;
}

static double fault_latency(uint64_t *rng, enum shape shape)
{
	double latency = 2780 * exp(0.4 * normal(rng)); /* a long tail to the right */

	return shape == BIMODAL && random_unit(rng) < 0.2 ? 6 * latency : latency;
}

static int compare_doubles(const void *a, const void *b)
{
	double va = *(const double *)a, vb = *(const double *)b;

	return (va > vb) - (va < vb);
}

/* The figures of one run whose true latencies are @effect times those of others. */
static void simulate_run(uint64_t *rng, enum shape shape, double effect, double out[NR_METRICS])
{
	double factor = effect * run_factor(rng, shape), latencies[FAULTS];

	out[TOTAL] = 0;
	for (unsigned int i = 0; i < FAULTS; i++) {
		latencies[i] = factor * fault_latency(rng, shape);
		if (shape == TICKED)
			latencies[i] = 16 * floor(latencies[i] / 16);
		out[TOTAL] += latencies[i];
	}
	qsort(latencies, FAULTS, sizeof(*latencies), compare_doubles);
	out[P50] = latencies[FAULTS / 2];
}

static void simulate_side(uint64_t *rng, enum shape shape, double effect, size_t runs,
			  double out[NR_METRICS][MAX_RUNS])
{
	for (size_t i = 0; i < runs; i++) {
		double figures[NR_METRICS];

		simulate_run(rng, shape, effect, figures);
		for (unsigned int m = 0; m < NR_METRICS; m++)
			out[m][i] = figures[m];
	}
}

/* Three standard errors of a simulated share, in percent: 2 points for 1,000 pairs, 0.2 for
 * 100,000. */
static double noise(double percent)
{
	return 3 * sqrt(percent * (100 - percent) / nr_pairs);
}

static bool covers(double *before, size_t n, double *after, size_t m, double effect)
{
	struct stats_shift shift;

	for (size_t i = 0; i < n; i++)
		before[i] = log(before[i]);
	for (size_t i = 0; i < m; i++)
		after[i] = log(after[i]);
	shift = stats_hodges_lehmann(before, n, after, m, 0.95);
	return shift.low <= log(effect) && log(effect) <= shift.high;
}

static void check_case(enum shape shape, size_t n, size_t m, double effect)
{
	uint64_t rng = 1000 * shape + 100 * n + m + (effect == 1);
	double covered[NR_METRICS] = { 0 }, marked[NR_METRICS] = { 0 };

	for (unsigned int pair = 0; pair < nr_pairs; pair++) {
		double before[NR_METRICS][MAX_RUNS], after[NR_METRICS][MAX_RUNS];

		simulate_side(&rng, shape, 1, n, before);
		simulate_side(&rng, shape, effect, m, after);
		for (unsigned int i = 0; i < NR_METRICS; i++) {
			marked[i] += stats_mann_whitney(before[i], n, after[i], m) <= 0.05;
			covered[i] += covers(before[i], n, after[i], m, effect);
		}
	}
	for (unsigned int i = 0; i < NR_METRICS; i++) {
		double cover_percent = 100 * covered[i] / nr_pairs;
		double mark_percent = 100 * marked[i] / nr_pairs;

		print_message("%-11s %-5s %2zu v %2zu runs, effect %.2f: interval covers %.2f %%, "
			      "significant %.2f %%\n",
			      shape_names[shape], metric_names[i], n, m, effect, cover_percent,
			      mark_percent);
		assert_true(cover_percent >= 93 - noise(93) && cover_percent <= 97 + noise(97));
		if (effect == 1)
			assert_true(mark_percent <= 5 + noise(5));
		else if (shape != BIMODAL)
			assert_true(mark_percent > 95); /* such an effect is not missed */
	}
}

static void test_intervals_and_tests(void **state)
{
	static const size_t runs[][2] = { { 6, 6 }, { 7, 7 }, { 6, 9 }, { 8, 8 } };

	for (enum shape shape = 0; shape < NR_SHAPES; shape++) {
		for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
			check_case(shape, runs[i][0], runs[i][1], 1);
			check_case(shape, runs[i][0], runs[i][1], 0.7);
		}
	}
}

/* A whole table of rows without any effect: the chance of a single mark in it. */
static double false_marks_percent(enum shape shape, size_t runs)
{
	uint64_t rng = 77 + shape;
	double marked = 0;

	for (unsigned int pair = 0; pair < nr_pairs; pair++) {
		double p[NR_FAMILY];
		bool any = false;

		for (unsigned int i = 0; i < NR_FAMILY; i += NR_METRICS) {
			double before[NR_METRICS][MAX_RUNS], after[NR_METRICS][MAX_RUNS];

			simulate_side(&rng, shape, 1, runs, before);
			simulate_side(&rng, shape, 1, runs, after);
			for (unsigned int m = 0; m < NR_METRICS; m++)
				p[i + m] = stats_mann_whitney(before[m], runs, after[m], runs);
		}
		stats_holm(p, NR_FAMILY);
		for (unsigned int i = 0; i < NR_FAMILY; i++)
			any |= p[i] <= 0.05;
		marked += any;
	}
	return 100 * marked / nr_pairs;
}

static void test_families(void **state)
{
	for (enum shape shape = 0; shape < NR_SHAPES; shape++) {
		for (size_t runs = 6; runs <= 8; runs += 2) {
			double percent = false_marks_percent(shape, runs);

			print_message("%-11s %2zu v %2zu runs, family of %d without effect: marked "
				      "%.2f %%\n",
				      shape_names[shape], runs, runs, NR_FAMILY, percent);
			assert_true(percent <= 5 + noise(5));
		}
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_intervals_and_tests),
		cmocka_unit_test(test_families),
	};

	if (argc > 1)
		nr_pairs = strtoul(argv[1], NULL, 10);
	if (!nr_pairs) {
		fprintf(stderr, "usage: %s [PAIRS]\n", argv[0]);
		return 1;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
