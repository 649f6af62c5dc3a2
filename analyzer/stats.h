/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Statistics of runs: a handful of figures a side, one a run. Computes on plain arrays, does no I/O
 * and assumes no distribution: Mann and Whitney (1947), Hodges and Lehmann (1963), Holm (1979).
 */
#ifndef STATS_H
#define STATS_H

#include <stddef.h>

/*
 * The two-sided p value of the Mann-Whitney test that @a (@n values) and @b (@m values) come from
 * one distribution: the share of all ways to choose @n of the n + m values whose rank sum is as far
 * from its mean as that of @a. Exact, ties included, up to 64 values; beyond, by the normal
 * distribution with its correction for ties. NAN when a side is empty or memory ran out.
 */
double stats_mann_whitney(const double *a, size_t n, const double *b, size_t m);

/* The median of @nr values, which it sorts: of an even number the mean of two; NAN of none. */
double stats_median(double *values, size_t nr);

/* How far @b lies above @a: the median of all differences, and an interval around it. */
struct stats_shift {
	double median;
	double low, high; /* NAN: too few values for that confidence */
};

/*
 * The Hodges-Lehmann shift from @a to @b with the distribution-free interval that covers the true
 * shift with at least @confidence (0.95), if the two sides differ in nothing else. Sorts both. All
 * NAN when a side is empty.
 */
struct stats_shift stats_hodges_lehmann(double *a, size_t n, double *b, size_t m,
					double confidence);

/*
 * Holm's step-down correction of a family of @nr p values, in place: an adjusted value of at most
 * alpha is significant, and the chance of any false one in the family is at most alpha. NAN stays
 * NAN and is no member; when memory runs out, all become NAN.
 */
void stats_holm(double *p, size_t nr);

/*
 * The least number of runs a side with which every test of a family of @nr_tests could be
 * significant at @alpha: the p value of a complete separation is 2 / C(2n, n).
 */
size_t stats_runs_needed(size_t nr_tests, double alpha);

#endif
