// SPDX-License-Identifier: GPL-2.0-or-later
/* Rank statistics of two small samples: test, shift with its interval, correction of a family. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "stats.h"

#define MAX_EXACT 64 /* values on both sides together */

static int compare_doubles(const void *a, const void *b)
{
	double va = *(const double *)a, vb = *(const double *)b;

	return (va > vb) - (va < vb);
}

static void sort(double *values, size_t nr)
{
	qsort(values, nr, sizeof(*values), compare_doubles);
}

/*
 * Rank sums. Ranks are doubled, so that the mean rank of tied values is a whole number.
 */

/* Twice the rank of each of @nr sorted values. Returns the sum of t^3 - t over groups of ties. */
static double double_ranks(const double *sorted, size_t nr, unsigned int *ranks)
{
	double ties = 0;

	for (size_t first = 0, next; first < nr; first = next) {
		double group;

		for (next = first + 1; next < nr && sorted[next] == sorted[first]; next++)
			;
		group = next - first;
		ties += group * group * group - group;
		for (size_t i = first; i < next; i++)
			ranks[i] = first + next + 1; /* ranks first + 1 .. next */
	}
	return ties;
}

/* Twice the rank sum of @a among the @nr values of @sorted. */
static unsigned long rank_sum(const double *a, size_t n, const double *sorted, size_t nr,
			      const unsigned int *ranks)
{
	unsigned long sum = 0;

	for (size_t i = 0; i < n; i++) {
		const double *found = bsearch(&a[i], sorted, nr, sizeof(*sorted), compare_doubles);

		sum += ranks[found - sorted];
	}
	return sum;
}

/*
 * In how many ways @n of the @nr doubled ranks can be chosen, by their sum: an array to free() of
 * nr (nr + 1) + 1 counts, NULL when out of memory. C(64, 32) fits a double to 17 digits.
 */
static double *count_rank_sums(const unsigned int *ranks, size_t nr, size_t n)
{
	size_t width = nr * (nr + 1) + 1, top = 0; /* all ranks so far */
	double *ways = calloc((n + 1) * width, sizeof(*ways)), *of_n;

	if (!ways)
		return NULL;
	ways[0] = 1;
	for (size_t i = 0; i < nr; i++) {
		top += ranks[i];
		for (size_t k = i + 1 < n ? i + 1 : n; k > 0; k--)
			for (size_t sum = ranks[i]; sum <= top; sum++)
				ways[k * width + sum] += ways[(k - 1) * width + sum - ranks[i]];
	}
	of_n = malloc(width * sizeof(*of_n));
	if (of_n)
		memcpy(of_n, ways + n * width, width * sizeof(*of_n));
	free(ways);
	return of_n;
}

/* The share of choices whose doubled rank sum is at least as far from the mean as @sum. */
static double exact_p(const unsigned int *ranks, size_t nr, size_t n, unsigned long sum)
{
	double *ways = count_rank_sums(ranks, nr, n), all = 0, as_far = 0;
	long mean = n * (nr + 1);
	long distance = labs((long)sum - mean);

	if (!ways)
		return NAN;
	for (size_t s = 0; s <= nr * (nr + 1); s++) {
		all += ways[s];
		if (labs((long)s - mean) >= distance)
			as_far += ways[s];
	}
	free(ways);
	return as_far / all;
}

static double normal_p(size_t n, size_t m, unsigned long sum, double ties)
{
	double nr = n + m, mean = n * (nr + 1) / 2;
	double variance = n * (double)m / 12 * (nr + 1 - ties / (nr * (nr - 1)));
	double distance = fabs(sum / 2.0 - mean) - 0.5; /* correction for continuity */

	if (variance <= 0 || distance <= 0)
		return 1;
	return erfc(distance / sqrt(variance) / M_SQRT2);
}

double stats_mann_whitney(const double *a, size_t n, const double *b, size_t m)
{
	size_t nr = n + m;
	double *sorted = malloc((nr + 1) * sizeof(*sorted));
	unsigned int *ranks = malloc((nr + 1) * sizeof(*ranks));
	double p = NAN, ties;
	unsigned long sum;

	if (sorted && ranks && n && m) {
		memcpy(sorted, a, n * sizeof(*a));
		memcpy(sorted + n, b, m * sizeof(*b));
		sort(sorted, nr);
		ties = double_ranks(sorted, nr, ranks);
		sum = rank_sum(a, n, sorted, nr, ranks);
		p = nr <= MAX_EXACT ? exact_p(ranks, nr, n, sum) : normal_p(n, m, sum, ties);
	}
	free(sorted);
	free(ranks);
	return p;
}

double stats_median(double *values, size_t nr)
{
	if (!nr)
		return NAN;
	sort(values, nr);
	return (values[(nr - 1) / 2] + values[nr / 2]) / 2;
}

/*
 * Differences of all pairs, in order but never stored: both sides are sorted, so counting those up
 * to a bound is one walk, and the k-th is found by bisecting the bound.
 */

static size_t differences_up_to(const double *a, size_t n, const double *b, size_t m, double bound)
{
	size_t count = 0;

	for (size_t i = 0, j = 0; i < n; i++) {
		while (j < m && b[j] - a[i] <= bound)
			j++;
		count += j;
	}
	return count;
}

/* The @k-th least difference b - a, k from 1 to n * m. */
static double kth_difference(const double *a, size_t n, const double *b, size_t m, size_t k)
{
	double low = b[0] - a[n - 1], high = b[m - 1] - a[0];

	if (differences_up_to(a, n, b, m, low) >= k)
		return low;
	for (;;) { /* fewer than k up to low, at least k up to high */
		double middle = low + (high - low) / 2;

		if (middle <= low || middle >= high)
			return high;
		if (differences_up_to(a, n, b, m, middle) >= k)
			high = middle;
		else
			low = middle;
	}
}

static double median_difference(const double *a, size_t n, const double *b, size_t m)
{
	size_t pairs = n * m;

	return (kth_difference(a, n, b, m, (pairs + 1) / 2) +
		kth_difference(a, n, b, m, pairs / 2 + 1)) /
	       2;
}

/*
 * The largest k for which the chance of k - 1 or fewer of the n * m differences on the wrong side
 * of the true shift is at most @tail; 0 when there is none. That number is Mann and Whitney's U.
 */
static size_t exact_rank(size_t n, size_t m, double tail)
{
	unsigned int ranks[MAX_EXACT];
	size_t nr = n + m, k = 0;
	double *ways, all = 0, below = 0;

	for (size_t i = 0; i < nr; i++)
		ranks[i] = 2 * (i + 1);
	ways = count_rank_sums(ranks, nr, n);
	if (!ways)
		return 0;
	for (size_t s = 0; s <= nr * (nr + 1); s++)
		all += ways[s];
	for (k = 0; k <= n * m; k++) { /* U = k has the doubled rank sum n (n + 1) + 2 k */
		below += ways[n * (n + 1) + 2 * k];
		if (below > tail * all * (1 + 1e-9)) /* (1 - 0.9) / 2 is a little less than 0.05 */
			break;
	}
	free(ways);
	return k;
}

/* z of a normal distribution with @tail above it, by bisection. */
static double normal_quantile(double tail)
{
	double low = 0, high = 40;

	for (unsigned int i = 0; i < 100; i++) {
		double middle = (low + high) / 2;

		if (erfc(middle / M_SQRT2) / 2 > tail)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static size_t interval_rank(size_t n, size_t m, double tail)
{
	double mean = n * (double)m / 2, sigma = sqrt(n * (double)m * (n + m + 1) / 12), rank;

	if (n + m <= MAX_EXACT)
		return exact_rank(n, m, tail);
	rank = floor(mean - normal_quantile(tail) * sigma);
	return rank > 0 ? rank : 0;
}

struct stats_shift stats_hodges_lehmann(double *a, size_t n, double *b, size_t m, double confidence)
{
	struct stats_shift shift = { NAN, NAN, NAN };
	size_t k;

	if (!n || !m)
		return shift;
	sort(a, n);
	sort(b, m);
	shift.median = median_difference(a, n, b, m);
	k = interval_rank(n, m, (1 - confidence) / 2);
	if (k) {
		shift.low = kth_difference(a, n, b, m, k);
		shift.high = kth_difference(a, n, b, m, n * m + 1 - k);
	}
	return shift;
}

static int compare_pointed(const void *a, const void *b)
{
	return compare_doubles(*(double *const *)a, *(double *const *)b);
}

void stats_holm(double *p, size_t nr)
{
	double **order = malloc((nr + 1) * sizeof(*order)), last = 0;
	size_t left = 0;

	for (size_t i = 0; i < nr; i++) {
		if (!order)
			p[i] = NAN;
		else if (!isnan(p[i]))
			order[left++] = &p[i];
	}
	if (left)
		qsort(order, left, sizeof(*order), compare_pointed);
	for (size_t i = 0; left; i++, left--) {
		last = fmax(last, fmin(1, left * *order[i]));
		*order[i] = last;
	}
	free(order);
}

size_t stats_runs_needed(size_t nr_tests, double alpha)
{
	double separated = 1; /* 2 / C(2n, n) */
	size_t n = 1;

	/* C(2n + 2, n + 1) = C(2n, n) (4n + 2) / (n + 1) */
	while (separated * nr_tests > alpha) {
		separated *= (n + 1.0) / (4 * n + 2);
		n++;
	}
	return n;
}
