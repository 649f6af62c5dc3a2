// SPDX-License-Identifier: GPL-2.0-or-later
/* Chooses what a table of a comparison shows. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare_runs.h"
#include "compare_view.h"

const struct compare_row *view_row(const struct view_name *name, size_t metric)
{
	size_t i = 0;

	while (!name->of[i])
		i++;
	return name->of[i] + metric;
}

static int compare_names(const void *a, const void *b)
{
	const struct compare_row *ra = view_row(a, 0), *rb = view_row(b, 0);
	const struct row_name na = { ra->label, ra->key }, nb = { rb->label, rb->key };

	return row_name_compare(&na, &nb);
}

/* By weight, the heaviest first. */
static int compare_weights(const void *a, const void *b)
{
	const struct view_name *na = *(struct view_name *const *)a,
			       *nb = *(struct view_name *const *)b;

	if (na->weight != nb->weight)
		return (na->weight < nb->weight) - (na->weight > nb->weight);
	return compare_names(na, nb);
}

/* Rows come sorted by block and name, with as many metrics each. */
static int collect_names(struct view *v)
{
	const struct comparison *c = v->c;
	size_t room = c->nr_metrics ? c->nr_rows / c->nr_metrics : 0, nr = 0, kept = 0;

	v->names = calloc(room + 1, sizeof(*v->names));
	v->shown = calloc(c->nr_rows + 1, sizeof(*v->shown));
	if (!v->names || !v->shown)
		return -ENOMEM;
	for (size_t i = 0; i < room; i++) {
		const struct compare_row *row = &c->rows[i * c->nr_metrics];

		if (row->block >= v->first && row->block < v->first + v->nr)
			v->names[nr++].of[row->block - v->first] = row;
	}
	if (!nr)
		return 0;
	qsort(v->names, nr, sizeof(*v->names), compare_names);
	for (size_t i = 1; i < nr; i++) {
		if (compare_names(&v->names[kept], &v->names[i]))
			v->names[++kept] = v->names[i];
		for (size_t k = 0; k < v->nr; k++)
			if (v->names[i].of[k])
				v->names[kept].of[k] = v->names[i].of[k];
	}
	v->nr_names = kept + 1;
	for (size_t i = 0; i < v->nr_names; i++)
		v->names[i].shown = &v->shown[i * c->nr_metrics];
	return 0;
}

/* Which rows are shown. */

static bool is_metric(const struct compare_row *row, const char *key)
{
	return !strcmp(row->metric->key, key);
}

/* How much a name matters: the time that went or came; else the time that there is. */
static double weigh(const struct view *v, const struct view_name *name)
{
	double sum = 0;

	for (size_t k = 0; k < v->nr; k++) {
		for (size_t m = 0; name->of[k] && m < v->c->nr_metrics; m++) {
			const double *value = name->of[k][m].value;

			if (name->of[k][m].verdict != VERDICT_NONE && !isnan(value[BEFORE]) &&
			    !isnan(value[AFTER]))
				sum += fabs(value[AFTER] - value[BEFORE]) +
				       1e-9 * (value[AFTER] + value[BEFORE]);
		}
	}
	return sum;
}

/* On how many sides the figure is known, of the architecture that knows it best. */
static unsigned int sides_known(const struct view *v, const struct view_name *name, size_t metric)
{
	unsigned int most = 0;

	for (size_t k = 0; k < v->nr; k++) {
		const struct compare_row *row = name->of[k] ? name->of[k] + metric : NULL;
		unsigned int nr = row ? !isnan(row->value[BEFORE]) + !isnan(row->value[AFTER]) : 0;

		most = nr > most ? nr : most;
	}
	return most;
}

/*
 * What is worth a line: a figure that a side knows, and of large folios also what none does. How
 * many PTEs a fault resolved and wasted is no question of the smallest.
 */
static bool is_worth(const struct view *v, const struct view_name *name, size_t metric)
{
	const struct compare_row *row = view_row(name, metric);
	bool large = row->key.order && row->key.order != ORDER_UNKNOWN;
	bool of_batches =
		!strncmp(row->metric->key, "ptes_per_fault", 14) || is_metric(row, "waste_ptes");

	if (v->options->own_metrics)
		return true;
	if (of_batches && !large)
		return false;
	return sides_known(v, name, metric) || (large && row->key.class <= CLASS_COW);
}

/* Show @metric of @name, when both sides know it; waste where there is some. */
static bool show(const struct view *v, struct view_name *name, const char *metric)
{
	for (size_t m = 0; m < v->c->nr_metrics; m++) {
		const struct compare_row *row = view_row(name, m);
		bool wasted = is_metric(row, "waste_ptes") && row->value[AFTER] > 0;

		if (!is_metric(row, metric) || (!wasted && sides_known(v, name, m) < NR_SIDES))
			continue;
		if (is_metric(row, "waste_ptes") && !wasted)
			continue;
		if (!strncmp(metric, "ptes_per_fault", 14) && !is_worth(v, name, m))
			continue;
		name->shown[m] = true;
		return true;
	}
	return false;
}

/* The first rows in the order of importance: all that reviewers ask of the heaviest name. */
static void choose_brief(struct view *v, struct view_name **by_weight)
{
	static const char *const first[] = {
		"faults",	  "faults_per_pte",	      "latency_ns.p50",
		"latency_ns.p99", "per_folio_latency_ns.p50", "per_folio_latency_ns.p99",
		"ns_per_pte",	  "latency_ns.sum",	      "ptes_per_fault.p50",
		"waste_ptes",
	};
	size_t nr = 0;

	for (size_t i = 0; i < v->nr_names; i++) {
		struct view_name *name = by_weight[i];

		for (size_t m = 0; !i && m < sizeof(first) / sizeof(*first); m++)
			nr += show(v, name, first[m]);
		if (!i)
			continue;
		if (nr + 2 > COMPARE_BRIEF_ROWS)
			break;
		nr += show(v, name, "faults");
		nr += show(v, name, "latency_ns.sum");
		if (nr < COMPARE_BRIEF_ROWS)
			nr += show(v, name, "latency_ns.p50");
	}
}

/* Of metrics that the user chose, the first in the order of the table. */
static void choose_first(struct view *v)
{
	size_t nr = 0;

	for (size_t i = 0; i < v->nr_names; i++)
		for (size_t m = 0; m < v->c->nr_metrics && nr < COMPARE_BRIEF_ROWS; m++)
			nr += v->names[i].shown[m] = is_worth(v, &v->names[i], m);
}

static int choose_rows(struct view *v)
{
	struct view_name **by_weight = calloc(v->nr_names + 1, sizeof(struct view_name *));

	if (!by_weight)
		return -ENOMEM;
	for (size_t i = 0; i < v->nr_names; i++) {
		v->names[i].weight = weigh(v, &v->names[i]);
		by_weight[i] = &v->names[i];
	}
	if (v->nr_names)
		qsort(by_weight, v->nr_names, sizeof(*by_weight), compare_weights);
	if (v->options->view != VIEW_ALL && v->options->own_metrics)
		choose_first(v);
	else if (v->options->view != VIEW_ALL)
		choose_brief(v, by_weight);
	free(by_weight);
	for (size_t i = 0; i < v->nr_names && v->options->view != VIEW_BRIEF; i++)
		for (size_t m = 0; m < v->c->nr_metrics; m++)
			v->names[i].shown[m] =
				!v->names[i].shown[m] && is_worth(v, &v->names[i], m);
	return 0;
}

int view_open(struct view *view, const struct comparison *c, const struct compare_output *options,
	      size_t first, size_t nr)
{
	int err;

	*view = (struct view){ .c = c, .options = options, .first = first, .nr = nr };
	err = collect_names(view);
	return err ? err : choose_rows(view);
}

void view_release(struct view *view)
{
	free(view->names);
	free(view->shown);
	*view = (struct view){ 0 };
}
