// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Simulated recordings with known effects, compared as the program compares them: how often the
 * intervals cover the truth, and how often a table without any effect has a mark. With a number as
 * its argument it simulates that many pairs of sides a case.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "columns.h"
#include "compare.h"
#include "random.h"

#define TIMED_FAULTS 21	  /* of a row in a run; odd, for a plain median */
#define FAULTS_MEAN  1000 /* of a row in all, most of them without an exit */
#define MANY_ROWS    5
#define ENOUGH_PAIRS 20000

static unsigned int nr_pairs = 1000;

enum shape {
	SKEWED,
	BIMODAL,
	TICKED,
	NR_SHAPES
};

static const char *const shape_names[NR_SHAPES] = { "skewed", "bimodal", "ticks of 16" };

/* What a case is: latencies, runs a side, rows of the table, and what after is times before. */
struct sides_of {
	enum shape shape;
	size_t runs[NR_SIDES];
	unsigned int nr_rows;
	double effect;
};

enum metric {
	FAULTS,
	P50,
	TOTAL,
	NR_METRICS
};

static const char *const metric_keys[NR_METRICS] = { "faults", "latency_ns.p50", "latency_ns.sum" };

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

static uint64_t fault_latency(uint64_t *rng, enum shape shape, double factor)
{
	double latency = factor * 2780 * exp(0.4 * normal(rng)); /* a long tail to the right */

	if (shape == BIMODAL && random_unit(rng) < 0.2)
		latency *= 6;
	return shape == TICKED ? 16 * (uint64_t)(latency / 16) : (uint64_t)latency;
}

/* One row: its faults vary between runs, their latencies with what the run's faults share. */
static void simulate_row(uint64_t *rng, enum shape shape, double effect, unsigned int number,
			 struct recording *rec)
{
	const struct outcome o = { .key = { .class = CLASS_REUSE, .order = number } };
	double factor = effect * run_factor(rng, shape);

	for (unsigned int i = 0; i < TIMED_FAULTS; i++) {
		const struct fault f = { .counted = true,
					 .has_exit = true,
					 .latency = fault_latency(rng, shape, factor) };

		assert_int_equal(summary_add_fault(&rec->summary, &f, &o), 0);
	}
	summary_row(&rec->summary, &o.key)->faults = FAULTS_MEAN * exp(0.02 * normal(rng));
}

/* A run whose true latencies are @effect times those of others: rows are told apart by order. */
static void simulate_run(uint64_t *rng, const struct sides_of *c, double effect,
			 struct recording *rec)
{
	rec->time_is_ns = true;
	for (unsigned int row = 0; row < c->nr_rows; row++)
		simulate_row(rng, c->shape, effect, row, rec);
}

static void simulate_side(uint64_t *rng, const struct sides_of *c, enum side side,
			  struct compare_side *out)
{
	out->nr = c->runs[side];
	out->inputs = calloc(out->nr, sizeof(*out->inputs));
	assert_non_null(out->inputs);
	for (size_t i = 0; i < out->nr; i++)
		simulate_run(rng, c, side == AFTER ? c->effect : 1, &out->inputs[i].rec);
}

/* How often, in percent of all pairs. */
struct shares {
	double covered[NR_METRICS]; /* the interval of a metric has the true change */
	double marked;		    /* a mark is in the table */
};

static void count_rows(const struct comparison *c, double effect, struct shares *shares)
{
	bool marked = false;

	for (size_t i = 0; i < c->nr_rows; i++) {
		const struct compare_row *row = &c->rows[i];
		size_t m = i % NR_METRICS;
		double change = m == FAULTS ? 0 : effect - 1;

		marked |= row->verdict == VERDICT_IMPROVEMENT || row->verdict == VERDICT_REGRESSION;
		shares->covered[m] += (row->low <= change && change <= row->high) *
				      (100.0 * NR_METRICS / c->nr_rows / nr_pairs);
	}
	shares->marked += marked * (100.0 / nr_pairs);
}

static struct shares simulate(const struct sides_of *c)
{
	uint64_t rng = 10000 * c->shape + 1000 * c->nr_rows + 100 * c->runs[BEFORE] +
		       c->runs[AFTER] + (c->effect == 1);
	const struct column *columns, *metrics[NR_METRICS];
	struct compare_options options = { .metrics = metrics,
					   .nr_metrics = NR_METRICS,
					   .threshold = 0.01,
					   .by = BY_CLASS | BY_ORDER };
	struct shares shares = { 0 };
	size_t nr;

	columns = report_columns(&nr);
	for (size_t m = 0; m < NR_METRICS; m++)
		assert_int_equal(columns_listed(columns, nr, metric_keys[m], &metrics[m], 1), 1);
	for (unsigned int pair = 0; pair < nr_pairs; pair++) {
		struct compare_side sides[NR_SIDES];
		struct comparison comparison = { 0 };

		for (enum side s = BEFORE; s < NR_SIDES; s++)
			simulate_side(&rng, c, s, &sides[s]);
		assert_int_equal(compare_sides(&comparison, sides, &options), 0);
		count_rows(&comparison, c->effect, &shares);
		comparison_release(&comparison);
		for (enum side s = BEFORE; s < NR_SIDES; s++)
			compare_side_release(&sides[s]);
	}
	return shares;
}

/* The least and the most that any case came to. */
struct extremes {
	double least_covered, most_covered, most_marked;
};

/*
 * What is granted to chance: three standard errors of a simulated share, in percent, 2 points of 5
 * for 1,000 pairs. From ENOUGH_PAIRS on nothing: the figures themselves have to hold.
 */
static double noise(double percent)
{
	return nr_pairs < ENOUGH_PAIRS ? 3 * sqrt(percent * (100 - percent) / nr_pairs) : 0;
}

static void check_case(struct extremes *extremes, const struct sides_of *c)
{
	struct shares shares = simulate(c);

	print_message(
		"%-11s %zu v %zu runs, %u row%s, effect %.2f: intervals cover %.2f %% (total), "
		"%.2f %% (p50), %.2f %% (faults); a mark in %.2f %%\n",
		shape_names[c->shape], c->runs[BEFORE], c->runs[AFTER], c->nr_rows,
		c->nr_rows == 1 ? "" : "s", c->effect, shares.covered[TOTAL], shares.covered[P50],
		shares.covered[FAULTS], shares.marked);
	for (unsigned int m = 0; m < NR_METRICS; m++) {
		extremes->least_covered = fmin(extremes->least_covered, shares.covered[m]);
		extremes->most_covered = fmax(extremes->most_covered, shares.covered[m]);
		if (shares.covered[m] < 93 - noise(93) || shares.covered[m] > 97 + noise(97))
			fail_msg("%s covers %.2f %%", metric_keys[m], shares.covered[m]);
	}
	if (c->effect == 1) {
		extremes->most_marked = fmax(extremes->most_marked, shares.marked);
		assert_true(shares.marked <= 5 + noise(5));
	} else if (c->shape != BIMODAL) {
		assert_true(shares.marked > 95); /* such an effect is not missed */
	}
}

static void test_one_row(void **state)
{
	static const size_t runs[][NR_SIDES] = { { 6, 6 }, { 7, 7 }, { 6, 9 }, { 8, 8 } };

	for (enum shape shape = 0; shape < NR_SHAPES; shape++) {
		for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
			struct sides_of c = { shape, { runs[i][0], runs[i][1] }, 1, 1 };

			check_case(*state, &c);
			c.effect = 0.7;
			check_case(*state, &c);
		}
	}
}

/* The more rows, the more could be marked by chance: Holm's correction is for all of the table. */
static void test_many_rows(void **state)
{
	for (enum shape shape = 0; shape < NR_SHAPES; shape++) {
		for (size_t runs = 6; runs <= 8; runs += 2) {
			const struct sides_of c = { shape, { runs, runs }, MANY_ROWS, 1 };

			check_case(*state, &c);
		}
	}
}

static int begin(void **state)
{
	static struct extremes extremes = { .least_covered = 100 };

	*state = &extremes;
	return 0;
}

static int print_extremes(void **state)
{
	const struct extremes *e = *state;

	print_message("%u pairs of sides a case: intervals cover %.2f to %.2f %%, and without any "
		      "change at most %.2f %% have a mark (standard error %.2f)\n",
		      nr_pairs, e->least_covered, e->most_covered, e->most_marked,
		      sqrt(e->most_marked * (100 - e->most_marked) / nr_pairs));
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_row),
		cmocka_unit_test(test_many_rows),
	};

	if (argc > 1)
		nr_pairs = strtoul(argv[1], NULL, 10);
	if (!nr_pairs) {
		fprintf(stderr, "usage: %s [PAIRS]\n", argv[0]);
		return 1;
	}
	return cmocka_run_group_tests(tests, begin, print_extremes);
}
