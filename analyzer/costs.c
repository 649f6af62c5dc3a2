// SPDX-License-Identifier: GPL-2.0-or-later
/* What a fault costs more that resolves more PTEs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "costs.h"
#include "ktap.h"

const char *costs_parse(struct costs *c, const char *text)
{
	char *end;
	double per_pte = strtod(text, &end), base = 0;

	if (end == text || !isfinite(per_pte) || per_pte < 0)
		return "is no cost in ns";
	if (*end == ',') {
		text = end + 1;
		base = strtod(text, &end);
		if (end == text || !isfinite(base) || base < 0)
			return "has a base that is no cost in ns";
	}
	if (*end)
		return "is not X or X,BASE";
	c->reuse = c->copy = (struct cost){
		.known = true, .base = base, .per_pte = per_pte, .low = per_pte, .high = per_pte
	};
	return NULL;
}

static int by_nr(const void *a, const void *b)
{
	const struct ktap_bench *x = *(const struct ktap_bench *const *)a;
	const struct ktap_bench *y = *(const struct ktap_bench *const *)b;

	return (x->nr_ptes > y->nr_ptes) - (x->nr_ptes < y->nr_ptes);
}

/*
 * Add what one more PTE costs the batched @helper: over all sizes that were measured, with the
 * least and the most between two neighbouring ones. Returns false when fewer than two sizes were.
 */
static bool add_slope(struct cost *cost, const struct ktap_result *ktap, const char *helper)
{
	const struct ktap_bench **list = calloc(ktap->nr_benches + 1, sizeof(*list));
	double low = INFINITY, high = -INFINITY;
	size_t nr = 0;

	for (size_t i = 0; list && i < ktap->nr_benches; i++) {
		if (!strcmp(ktap->benches[i].helper, helper))
			list[nr++] = &ktap->benches[i];
	}
	if (nr)
		qsort(list, nr, sizeof(*list), by_nr);
	for (size_t i = 1; i < nr; i++) {
		uint32_t ptes = list[i]->nr_ptes - list[i - 1]->nr_ptes;
		double slope = (list[i]->batched_ns - list[i - 1]->batched_ns) / (ptes ? ptes : 1);

		if (!ptes)
			continue;
		low = fmin(low, slope);
		high = fmax(high, slope);
	}
	if (high >= low) {
		cost->per_pte += (list[nr - 1]->batched_ns - list[0]->batched_ns) /
				 (list[nr - 1]->nr_ptes - list[0]->nr_ptes);
		cost->low += fmax(low, 0);
		cost->high += high;
		cost->known = true;
	}
	free(list);
	return high >= low;
}

const char *costs_from_ktap(struct costs *c, const struct ktap_result *ktap, bool needs_reuse,
			    bool needs_copy)
{
	*c = (struct costs){ 0 };
	/* a batched reuse finds its PTEs, then changes their protection */
	if (!add_slope(&c->reuse, ktap, "modify_prot_ptes") ||
	    !add_slope(&c->reuse, ktap, "folio_pte_batch_flags")) {
		c->reuse.known = false;
		if (needs_reuse)
			return "has no bench lines of modify_prot_ptes and folio_pte_batch_flags; "
			       "make kunit CONFIG=latency makes them";
	}
	if (!add_slope(&c->copy, ktap, "folio_copy") && needs_copy)
		return "has no bench lines of folio_copy; make kunit CONFIG=latency makes them";
	return NULL;
}

static const struct summary_row *find_row(const struct summary *s, unsigned int class,
					  unsigned int order)
{
	for (size_t i = 0; i < s->nr_rows; i++) {
		const struct summary_row *row = s->rows[i];

		if (row->key.class == class && row->key.order == order &&
		    row->key.level == LEVEL_PTE && row->latency.count && row->episodes)
			return row;
	}
	return NULL;
}

/* One order's part: faults of @after resolve ptes / faults each, those of @before one. */
static void fit_order(struct cost *cost, double *weight, const struct summary_row *before,
		      const struct summary_row *after)
{
	double extra = (double)after->ptes / after->faults - 1;
	double base = hist_mean(&before->latency);

	if (extra < 0.5)
		return;
	cost->low = fmin(cost->low, (hist_quantile(&after->latency, 100) - base) / extra);
	cost->high = fmax(cost->high, (hist_quantile(&after->latency, 900) - base) / extra);
	cost->per_pte += (hist_mean(&after->latency) - base) * after->faults;
	*weight += extra * after->faults;
}

/* A fault on one page costs the same whatever its folio: where the order is missing, any will do.
 */
static const struct summary_row *find_base(const struct summary *s, unsigned int class,
					   unsigned int order)
{
	const struct summary_row *row = find_row(s, class, order);

	for (unsigned int other = 1; other < ORDER_UNKNOWN && !row; other++)
		row = find_row(s, class, other);
	return row;
}

static struct cost fit_class(unsigned int class, const struct summary *before,
			     const struct summary *after)
{
	struct cost cost = { .low = INFINITY, .high = -INFINITY };
	double weight = 0;

	for (unsigned int order = 1; order < ORDER_UNKNOWN; order++) {
		const struct summary_row *b = find_base(before, class, order);
		const struct summary_row *a = find_row(after, class, order);

		if (a && b)
			fit_order(&cost, &weight, b, a);
	}
	if (!weight)
		return (struct cost){ 0 };
	cost.per_pte = fmax(cost.per_pte / weight, 0);
	cost.low = fmin(fmax(cost.low, 0), cost.per_pte);
	cost.high = fmax(cost.high, cost.per_pte);
	cost.known = true;
	return cost;
}

const char *costs_fit(struct costs *c, const struct summary *before, const struct summary *after,
		      bool needs_reuse, bool needs_copy)
{
	c->reuse = fit_class(CLASS_REUSE, before, after);
	c->copy = fit_class(CLASS_COW, before, after);
	if (needs_reuse && !c->reuse.known)
		return "has no batched reuse faults of large folios, or BEFORE has none";
	if (needs_copy && !c->copy.known)
		return "has no batched copies of large folios, or BEFORE has none";
	return NULL;
}
