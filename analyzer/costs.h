/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a fault costs more that resolves more PTEs: measured by the KUnit suite, fitted from other
 * recordings, or stated. A curve over the number of PTEs, since a batch has a price of its own.
 */
#ifndef COSTS_H
#define COSTS_H

#include <stdbool.h>

#include "recording.h"

#define COST_MAX_POINTS 64

struct ktap_result;

/* A fault that resolves @ptes takes @ns more than one that resolves one; within low and high. */
struct cost_point {
	double ptes;
	double ns, low, high;
};

/* Straight lines through the points, the outer ones prolonged. */
struct cost {
	size_t nr;				   /* 0: not known */
	struct cost_point points[COST_MAX_POINTS]; /* ascending */
};

struct costs {
	struct cost reuse; /* of PTEs made writable */
	struct cost copy;  /* of pages copied */
};

/* What a fault costs more that resolves @ptes, two or more; @cost is known. */
struct cost_point cost_at(const struct cost *cost, double ptes);

/* "X" or "X,BASE" in ns, for reuse and copies alike. NULL, or why @text is wrong. */
const char *costs_parse(struct costs *c, const char *text);

/*
 * From the bench lines of @nr runs of the suite. NULL, or what they lack; what the policy does not
 * need may stay unknown. The interval goes from a little less than what the PTEs alone take, the
 * calls being free, to what the helpers take that are called once a PTE; runs that differ widen it.
 */
const char *costs_from_ktap(struct costs *c, const struct ktap_result *ktaps, size_t nr,
			    bool needs_reuse, bool needs_copy);

/*
 * From recordings: what a fault of the @nr ones in @after, which resolve more, costs more than one
 * of @before. Two sizes of batches give base and slope; of one, the base is anything from nothing
 * to all of it. NULL, or what they lack.
 */
const char *costs_fit(struct costs *c, const struct summary *before, const struct recording *after,
		      size_t nr, bool needs_reuse, bool needs_copy);

#endif
