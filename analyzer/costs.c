// SPDX-License-Identifier: GPL-2.0-or-later
/* What a fault costs more that resolves more PTEs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "costs.h"
#include "ktap.h"

static double on_line(double x, double x0, double y0, double x1, double y1)
{
	return x1 > x0 ? y0 + (y1 - y0) * (x - x0) / (x1 - x0) : y0;
}

/* The line through two points at @ptes; no cost is less than nothing. */
static struct cost_point between(const struct cost_point *a, const struct cost_point *b,
				 double ptes)
{
	struct cost_point p = { .ptes = ptes };

	p.ns = fmax(on_line(ptes, a->ptes, a->ns, b->ptes, b->ns), 0);
	p.low = fmin(fmax(on_line(ptes, a->ptes, a->low, b->ptes, b->low), 0), p.ns);
	p.high = fmax(on_line(ptes, a->ptes, a->high, b->ptes, b->high), p.ns);
	return p;
}

struct cost_point cost_at(const struct cost *cost, double ptes)
{
	size_t i = 1;

	if (cost->nr == 1)
		return cost->points[0];
	while (i + 1 < cost->nr && cost->points[i].ptes < ptes)
		i++;
	return between(&cost->points[i - 1], &cost->points[i], ptes);
}

static int by_ptes(const void *a, const void *b)
{
	double x = ((const struct cost_point *)a)->ptes, y = ((const struct cost_point *)b)->ptes;

	return (x > y) - (x < y);
}

/* --- as stated --- */

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
	c->reuse = (struct cost){ .nr = 2 };
	for (size_t i = 0; i < 2; i++) {
		double ns = base + i * per_pte;

		c->reuse.points[i] =
			(struct cost_point){ .ptes = 1 + i, .ns = ns, .low = ns, .high = ns };
	}
	c->copy = c->reuse;
	return NULL;
}

/* --- from bench lines --- */

/*
 * The helpers that a fault on many PTEs calls. What stands around the calls, some dozens to a few
 * hundred instructions, is in none.
 */
struct part {
	const char *helper;
	unsigned int calls;
	bool also_single; /* a fault on one page calls it, too, and has paid for one PTE */
	bool once;	  /* no fault calls it once a PTE */
};

/*
 * It looks at what the folio maps, marks the pages exclusive, and changes the protection; in the
 * end it sets the bits of its own PTE, as a fault on one page does, but now in a contpte block.
 */
static const struct part reuse_parts[] = {
	{ "folio_pte_batch_flags", 1, false, false },
	{ "SetPageAnonExclusive", 1, false, false },
	{ "modify_prot_ptes", 1, false, false },
	{ "ptep_set_access_flags", 1, true, true },
	{ NULL, 0, false, false },
};

/*
 * It looks at the PTEs before it copies and after, and puts a new folio in the old one's place: of
 * a new one folio_add_new_anon_rmap() sets in each page what folio_add_anon_rmap_ptes() does.
 */
static const struct part copy_parts[] = {
	{ "folio_pte_batch_flags", 2, false, false },
	{ "folio_alloc", 1, true, false },
	{ "folio_copy", 1, true, false },
	{ "clear_ptes", 1, true, false },
	{ "set_ptes", 1, true, false },
	{ "folio_add_anon_rmap_ptes", 1, true, false },
	{ "folio_remove_rmap_ptes", 1, true, false },
	{ NULL, 0, false, false },
};

/* What a helper takes for a number of PTEs: the mean of all lines, the least and the most. */
static void add_line(struct cost *curve, unsigned int *lines, const struct ktap_bench *b)
{
	struct cost_point *p = curve->points;
	size_t i = 0;

	while (i < curve->nr && p[i].ptes != b->nr_ptes)
		i++;
	if (i == COST_MAX_POINTS)
		return;
	if (i == curve->nr) {
		p[i] = (struct cost_point){ .ptes = b->nr_ptes, .low = INFINITY };
		lines[i] = 0;
		curve->nr++;
	}
	p[i].ns = (p[i].ns * lines[i] + b->batched_ns) / (lines[i] + 1);
	p[i].low = fmin(p[i].low, b->batched_ns);
	p[i].high = fmax(p[i].high, fmax(b->batched_ns, b->single_ns));
	lines[i]++;
}

static void read_curve(struct cost *curve, const struct ktap_result *ktaps, size_t nr,
		       const char *helper)
{
	unsigned int lines[COST_MAX_POINTS];

	curve->nr = 0;
	for (size_t k = 0; k < nr; k++) {
		for (size_t i = 0; i < ktaps[k].nr_benches; i++) {
			if (!strcmp(ktaps[k].benches[i].helper, helper))
				add_line(curve, lines, &ktaps[k].benches[i]);
		}
	}
	qsort(curve->points, curve->nr, sizeof(*curve->points), by_ptes);
}

/* Compiled into a fault, a helper takes less than called in a bench: by 5 % in the pairs of
 * traces/. */
#define INLINED 0.9

/* Add a helper's part to each point of @cost. */
static void add_part(struct cost *cost, const struct cost *curve, const struct part *part)
{
	const struct cost_point one = cost_at(curve, 1);

	for (size_t i = 0; i < cost->nr; i++) {
		struct cost_point *to = &cost->points[i];
		const struct cost_point from = cost_at(curve, to->ptes);
		double paid = part->also_single ? one.ns : 0;

		to->ns += part->calls * fmax(from.ns - paid, 0);
		to->low += part->calls * INLINED * fmax(from.low - one.ns, 0);
		to->high += part->calls * fmax((part->once ? from.ns : from.high) - paid, 0);
	}
}

/* The sum of all parts, at the sizes of the first. Returns the helper that is missing, or NULL. */
static const char *add_parts(struct cost *cost, const struct ktap_result *ktaps, size_t nr,
			     const struct part *parts)
{
	struct cost curve;

	for (const struct part *part = parts; part->helper; part++) {
		read_curve(&curve, ktaps, nr, part->helper);
		if (curve.nr < 2) {
			cost->nr = 0;
			return part->helper;
		}
		for (; part == parts && cost->nr < curve.nr; cost->nr++)
			cost->points[cost->nr] =
				(struct cost_point){ .ptes = curve.points[cost->nr].ptes };
		add_part(cost, &curve, part);
	}
	return NULL;
}

const char *costs_from_ktap(struct costs *c, const struct ktap_result *ktaps, size_t nr,
			    bool needs_reuse, bool needs_copy)
{
	const char *no_reuse, *no_copy;

	*c = (struct costs){ 0 };
	no_reuse = add_parts(&c->reuse, ktaps, nr, reuse_parts);
	no_copy = add_parts(&c->copy, ktaps, nr, copy_parts);
	return needs_reuse && no_reuse ? no_reuse : needs_copy ? no_copy : NULL;
}

/* --- from recordings --- */

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

/* One order's point: faults of @after resolve ptes / faults each, those of @before one. */
static void fit_order(struct cost *cost, const struct summary_row *before,
		      const struct summary_row *after)
{
	const struct hist *b = &before->latency, *a = &after->latency;
	struct cost_point p = { .ptes = (double)after->ptes / after->faults,
				.ns = fmax(hist_mean(a) - hist_mean(b), 0) };

	if (p.ptes < 1.5 || cost->nr == COST_MAX_POINTS)
		return;
	p.low = fmin(p.ns, (double)hist_quantile(a, 100) - hist_quantile(b, 900));
	p.high = fmax(p.ns, (double)hist_quantile(a, 900) - hist_quantile(b, 100));
	cost->points[cost->nr++] = p;
}

/* Points of the same size become one, the first of the two in the list. */
static void merge_points(struct cost *cost)
{
	size_t kept = 0;

	qsort(cost->points, cost->nr, sizeof(*cost->points), by_ptes);
	for (size_t i = 0, n = 0; i < cost->nr; i++) {
		struct cost_point *to = &cost->points[kept], *p = &cost->points[i];

		if (!i || p->ptes != to->ptes) {
			kept += i > 0;
			cost->points[kept] = *p;
			n = 1;
			continue;
		}
		n++;
		to->ns += (p->ns - to->ns) / n;
		to->low = fmin(to->low, p->low);
		to->high = fmax(to->high, p->high);
	}
	cost->nr = cost->nr ? kept + 1 : 0;
}

/*
 * One size tells base and slope not apart. For others the time is taken to be all slope; it may be
 * all base as well: more, then, for fewer PTEs, and less for more.
 */
static void spread_point(struct cost *cost)
{
	const struct cost_point p = cost->points[0];
	double more = p.ptes - 1;

	cost->nr = 3;
	cost->points[0] = (struct cost_point){ .ptes = 1, .high = p.high };
	cost->points[1] = p;
	cost->points[2] = (struct cost_point){
		.ptes = p.ptes + more, .ns = 2 * p.ns, .low = p.low, .high = 2 * p.high
	};
}

static void fit_class(struct cost *cost, unsigned int class, const struct summary *before,
		      const struct recording *after, size_t nr)
{
	*cost = (struct cost){ 0 };
	for (size_t i = 0; i < nr; i++) {
		for (unsigned int order = 1; order < ORDER_UNKNOWN; order++) {
			const struct summary_row *b = find_base(before, class, order);
			const struct summary_row *a = find_row(&after[i].summary, class, order);

			if (a && b)
				fit_order(cost, b, a);
		}
	}
	merge_points(cost);
	if (cost->nr == 1)
		spread_point(cost);
}

const char *costs_fit(struct costs *c, const struct summary *before, const struct recording *after,
		      size_t nr, bool needs_reuse, bool needs_copy)
{
	fit_class(&c->reuse, CLASS_REUSE, before, after, nr);
	fit_class(&c->copy, CLASS_COW, before, after, nr);
	if (needs_reuse && !c->reuse.nr)
		return "has no batched reuse faults of large folios, or BEFORE has none";
	if (needs_copy && !c->copy.nr)
		return "has no batched copies of large folios, or BEFORE has none";
	return NULL;
}
