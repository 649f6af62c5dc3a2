// SPDX-License-Identifier: GPL-2.0-or-later
/* Distributions against a sorted array of the same values. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "hist.h"
#include "random.h"

static int compare_u64(const void *a, const void *b)
{
	uint64_t va = *(const uint64_t *)a, vb = *(const uint64_t *)b;

	return (va > vb) - (va < vb);
}

/* The definition itself: the smallest value with more than permille/1000 of all at or below it. */
static uint64_t sorted_quantile(const uint64_t *sorted, size_t nr, unsigned int permille)
{
	for (size_t i = 0; i < nr; i++)
		if ((i + 1) * 1000 > (size_t)permille * nr)
			return sorted[i];
	return sorted[nr - 1];
}

static const unsigned int permilles[] = { 1, 10, 70, 250, 290, 500, 900, 990, 999, 1000 };

static void fill(struct hist *h, const uint64_t *values, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(hist_add(h, values[i], 1), 0);
}

static void test_empty(void **state)
{
	struct hist h = { 0 };
	size_t nr;

	assert_int_equal(hist_quantile(&h, 500), 0);
	assert_true(isnan(hist_mean(&h)));
	assert_true(hist_exact(&h));
	assert_null(hist_sorted(&h, &nr));
	assert_int_equal(nr, 0);
	assert_int_equal(hist_add(&h, 5, 0), 0);
	assert_int_equal(h.count, 0);
	hist_release(&h);
}

static void test_exact_quantiles(void **state)
{
	uint64_t rng = 1, values[3000];

	for (size_t nr = 1; nr <= 3000; nr = nr * 3 / 2 + 1) {
		struct hist h = { 0 };

		for (size_t i = 0; i < nr; i++)
			values[i] = random_u64(&rng) >> (random_u64(&rng) % 64);
		fill(&h, values, nr);
		qsort(values, nr, sizeof(*values), compare_u64);
		assert_true(hist_exact(&h));
		for (size_t i = 0; i < sizeof(permilles) / sizeof(*permilles); i++)
			assert_int_equal(hist_quantile(&h, permilles[i]),
					 sorted_quantile(values, nr, permilles[i]));
		assert_int_equal(h.min, values[0]);
		assert_int_equal(h.max, values[nr - 1]);
		hist_release(&h);
	}
}

static void test_repeats_stay_exact(void **state)
{
	struct hist h = { 0 };
	struct hist_slot *sorted;
	size_t nr;

	for (unsigned int i = 0; i < 1000000; i++)
		assert_int_equal(hist_add(&h, i % HIST_MAX_EXACT, 1), 0);
	assert_true(hist_exact(&h));
	sorted = hist_sorted(&h, &nr);
	assert_int_equal(nr, HIST_MAX_EXACT);
	for (size_t i = 0; i < nr; i++) {
		assert_int_equal(sorted[i].value, i);
		assert_int_equal(sorted[i].count,
				 1000000 / HIST_MAX_EXACT + (i < 1000000 % HIST_MAX_EXACT));
	}
	free(sorted);
	assert_int_equal(hist_add(&h, HIST_MAX_EXACT, 1), 0);
	assert_false(hist_exact(&h));
	assert_int_equal(h.count, 1000001);
	hist_release(&h);
}

/* Each bucket's figure is at or above the true value, by less than 1 %. */
static void test_bucket_error(void **state)
{
	enum {
		NR = 200000
	};
	uint64_t *values = calloc(NR, sizeof(*values)), rng = 2;
	uint64_t sum = 0;
	struct hist h = { 0 };

	assert_non_null(values);
	for (size_t i = 0; i < NR; i++) {
		values[i] = random_u64(&rng) >> (24 + random_u64(&rng) % 40);
		sum += values[i];
	}
	fill(&h, values, NR);
	assert_false(hist_exact(&h));
	qsort(values, NR, sizeof(*values), compare_u64);
	for (unsigned int permille = 1; permille <= 1000; permille++) {
		uint64_t truth = sorted_quantile(values, NR, permille);
		uint64_t shown = hist_quantile(&h, permille);

		assert_true(shown >= truth);
		assert_true(shown - truth <= truth / 100);
	}
	assert_int_equal(hist_quantile(&h, 1000), values[NR - 1]);
	assert_int_equal(h.sum, sum);
	hist_release(&h);
	free(values);
}

/* Values at the borders of powers of two, up to the largest, come back within the bound. */
static void test_bucket_borders(void **state)
{
	for (unsigned int bit = 0; bit < 64; bit++) {
		for (int off = -1; off <= 1; off++) {
			uint64_t value = (1ull << bit) + off;
			struct hist h = { 0 };
			uint64_t low;

			assert_int_equal(hist_add(&h, value, 1), 0);
			assert_int_equal(hist_add(&h, UINT64_MAX, 1), 0);
			assert_int_equal(hist_make_buckets(&h), 0);
			low = hist_quantile(&h, 490);
			assert_true(low >= value && low - value <= value / 100);
			assert_int_equal(hist_quantile(&h, 1000), UINT64_MAX);
			hist_release(&h);
		}
	}
}

static void assert_hists_equal(const struct hist *a, const struct hist *b)
{
	struct hist_slot *sa, *sb;
	size_t na, nb;

	assert_int_equal(a->count, b->count);
	assert_int_equal(a->sum, b->sum);
	assert_int_equal(a->min, b->min);
	assert_int_equal(a->max, b->max);
	assert_int_equal(hist_exact(a), hist_exact(b));
	sa = hist_sorted(a, &na);
	sb = hist_sorted(b, &nb);
	assert_int_equal(na, nb);
	if (na)
		assert_memory_equal(sa, sb, na * sizeof(*sa));
	free(sa);
	free(sb);
}

/* Values split at random over parts, merged in a random tree: always what one pass gives. */
static void merge_at_random(uint64_t *rng, size_t nr_values, uint64_t range)
{
	enum {
		PARTS = 7
	};
	struct hist whole = { 0 }, parts[PARTS] = { 0 };
	size_t left = PARTS;

	for (size_t i = 0; i < nr_values; i++) {
		uint64_t value = random_u64(rng) % range;

		assert_int_equal(hist_add(&whole, value, 3), 0);
		assert_int_equal(hist_add(&parts[random_u64(rng) % PARTS], value, 3), 0);
	}
	while (left > 1) {
		size_t to = random_u64(rng) % left, from = random_u64(rng) % left;

		if (to == from)
			continue;
		assert_int_equal(hist_merge(&parts[to], &parts[from]), 0);
		hist_release(&parts[from]);
		parts[from] = parts[--left];
		parts[left] = (struct hist){ 0 };
	}
	assert_hists_equal(&parts[0], &whole);
	hist_release(&parts[0]);
	hist_release(&whole);
}

static void test_merge_any_order(void **state)
{
	uint64_t rng = 3;

	for (unsigned int i = 0; i < 20; i++) {
		merge_at_random(&rng, i, 1000);	   /* some parts empty */
		merge_at_random(&rng, 5000, 100);  /* exact */
		merge_at_random(&rng, 6000, 6500); /* on either side of the limit */
		merge_at_random(&rng, 30000, 1ull << (20 + 2 * i)); /* bucketed parts */
	}
}

static void test_sum_overflow_is_unknown(void **state)
{
	struct hist a = { 0 }, b = { 0 };

	assert_int_equal(hist_add(&a, UINT64_MAX / 2, 1), 0);
	assert_true(hist_has_sum(&a));
	assert_int_equal(hist_add(&b, UINT64_MAX / 2, 2), 0);
	assert_int_equal(hist_merge(&a, &b), 0);
	assert_false(hist_has_sum(&a));
	assert_true(isnan(hist_mean(&a)));
	assert_int_equal(a.count, 3);
	assert_int_equal(hist_quantile(&a, 990), UINT64_MAX / 2);
	hist_release(&a);
	hist_release(&b);
}

static void test_count_overflow_saturates(void **state)
{
	struct hist h = { 0 };

	assert_int_equal(hist_add(&h, 1, UINT64_MAX - 1), 0);
	assert_int_equal(hist_add(&h, 2, 5), 0);
	assert_int_equal(h.count, UINT64_MAX);
	assert_int_equal(hist_quantile(&h, 500), 1);
	assert_in_range(hist_quantile(&h, 1000), 1, 2);
	hist_release(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_exact_quantiles),
		cmocka_unit_test(test_repeats_stay_exact),
		cmocka_unit_test(test_bucket_error),
		cmocka_unit_test(test_bucket_borders),
		cmocka_unit_test(test_merge_any_order),
		cmocka_unit_test(test_sum_overflow_is_unknown),
		cmocka_unit_test(test_count_overflow_saturates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
