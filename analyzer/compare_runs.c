// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes runs of recordings, and takes the figures of their rows. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "compare_runs.h"

bool same_label(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static struct summary *run_group(struct run *run, const char *label)
{
	struct compare_group *groups;

	for (size_t i = 0; i < run->nr_groups; i++)
		if (same_label(run->groups[i].label, label))
			return &run->groups[i].summary;
	groups = reallocarray(run->groups, run->nr_groups + 1, sizeof(*groups));
	if (!groups)
		return NULL;
	run->groups = groups;
	groups[run->nr_groups] = (struct compare_group){ .label = (char *)label };
	return &groups[run->nr_groups++].summary;
}

/* The key of a row among those told apart by @by; evidence and source never tell them apart. */
static struct fault_key reduce_key(const struct fault_key *key, unsigned int by)
{
	struct fault_key reduced = { .class = CLASS_ANY,
				     .order = ORDER_UNKNOWN,
				     .evidence = EVIDENCE_INFERRED }; /* the weaker of both */

	if (by & BY_CLASS) {
		reduced.class = key->class;
		reduced.level = key->level;
		reduced.from = key->from;
	}
	if (by & BY_ORDER)
		reduced.order = key->order;
	return reduced;
}

static int add_summary(struct run *run, const char *label, const struct summary *from,
		       unsigned int by)
{
	struct summary *to = run_group(run, label);
	int err = to ? 0 : -ENOMEM;

	for (size_t i = 0; i < from->nr_rows && !err; i++) {
		struct fault_key key = reduce_key(&from->rows[i]->key, by);
		struct summary_row *row = summary_row(to, &key);

		err = row ? row_merge(row, from->rows[i]) : -ENOMEM;
		if (!err && !from->rows[i]->ptes)
			row->apart += from->rows[i]->faults;
	}
	return err;
}

static int add_input(struct run *run, const struct compare_input *input, unsigned int by)
{
	int err = 0;

	if (!input->nr_groups)
		return add_summary(run, NULL, &input->rec.summary, by);
	for (size_t i = 0; i < input->nr_groups && !err; i++)
		err = add_summary(run, input->groups[i].label, &input->groups[i].summary, by);
	return err;
}

/* The run that @rec belongs to, a new one unless it shares its boot; NULL when out of memory. */
static struct run *find_run(struct run_list *list, const struct recording *rec)
{
	struct run *runs;

	for (size_t i = 0; rec->boot && i < list->nr; i++)
		if (same_label(list->runs[i].rec->boot, rec->boot))
			return &list->runs[i];
	runs = reallocarray(list->runs, list->nr + 1, sizeof(*runs));
	if (!runs)
		return NULL;
	list->runs = runs;
	runs[list->nr] = (struct run){ .rec = rec };
	return &runs[list->nr++];
}

int run_list_collect(struct run_list *list, const struct compare_side *side, const char *arch,
		     unsigned int by)
{
	int err = 0;

	for (size_t i = 0; i < side->nr && !err; i++) {
		struct run *run;

		if (!same_label(side->inputs[i].rec.arch, arch))
			continue;
		run = find_run(list, &side->inputs[i].rec);
		err = run ? add_input(run, &side->inputs[i], by) : -ENOMEM;
	}
	return err;
}

void run_list_release(struct run_list *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		for (size_t g = 0; g < list->runs[i].nr_groups; g++)
			summary_release(&list->runs[i].groups[g].summary);
		free(list->runs[i].groups);
	}
	free(list->runs);
	*list = (struct run_list){ 0 };
}

/* Rows: all keys of all groups of both sides. */

int row_name_compare(const struct row_name *a, const struct row_name *b)
{
	int order = strverscmp(a->label ? a->label : "", b->label ? b->label : "");

	return order ? order : fault_key_compare(&a->key, &b->key);
}

static int compare_names(const void *a, const void *b)
{
	return row_name_compare(a, b);
}

static int add_names(struct row_names *names, const struct compare_group *group)
{
	size_t nr = names->nr + group->summary.nr_rows;
	struct row_name *list = reallocarray(names->list, nr + 1, sizeof(*list));

	if (!list)
		return -ENOMEM;
	names->list = list;
	for (size_t i = 0; i < group->summary.nr_rows; i++)
		list[names->nr++] = (struct row_name){ group->label, group->summary.rows[i]->key };
	return 0;
}

int row_names_collect(struct row_names *names, const struct run_list lists[NR_SIDES])
{
	size_t kept = 0;
	int err = 0;

	for (size_t s = 0; s < NR_SIDES; s++)
		for (size_t r = 0; r < lists[s].nr; r++)
			for (size_t g = 0; g < lists[s].runs[r].nr_groups && !err; g++)
				err = add_names(names, &lists[s].runs[r].groups[g]);
	if (err || !names->nr)
		return err;
	qsort(names->list, names->nr, sizeof(*names->list), compare_names);
	for (size_t i = 1; i < names->nr; i++)
		if (compare_names(&names->list[kept], &names->list[i]))
			names->list[++kept] = names->list[i];
	names->nr = kept + 1;
	return 0;
}

/* Figures. */

/* Where a run has no such row it had no such faults, and spent no time in them. */
static double absent_value(const struct run *run, const struct column *metric)
{
	if (!strcmp(metric->key, "faults"))
		return 0;
	return !strcmp(metric->key, "latency_ns.sum") && run->rec->summary.counts.exits ? 0 : NAN;
}

/* Whether the run has the group, which is then its hit. One row after the other asks for it. */
static bool find_group(struct run *run, const char *label)
{
	if (run->hit < run->nr_groups && same_label(run->groups[run->hit].label, label))
		return true;
	for (run->hit = 0; run->hit < run->nr_groups; run->hit++)
		if (same_label(run->groups[run->hit].label, label))
			return true;
	return false;
}

static double metric_value(struct run *run, const struct row_name *name,
			   const struct column *metric)
{
	struct report_row row = { .rec = run->rec };
	struct cell cell;

	if (find_group(run, name->label))
		row.row = summary_find(&run->groups[run->hit].summary, &name->key);
	if (!row.row)
		return absent_value(run, metric);
	cell = metric->get(&row, metric);
	if (cell.type == CELL_REAL)
		return cell.real;
	return cell.type == CELL_COUNT ? (double)cell.count : NAN;
}

size_t run_list_values(const struct run_list *list, const struct row_name *name,
		       const struct column *metric, double *values)
{
	size_t nr = 0;

	for (size_t i = 0; i < list->nr; i++) {
		double value = metric_value(&list->runs[i], name, metric);

		if (!isnan(value))
			values[nr++] = value;
	}
	return nr;
}
