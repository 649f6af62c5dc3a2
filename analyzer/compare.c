// SPDX-License-Identifier: GPL-2.0-or-later
/* Takes the figures of two sides run by run, and says how they changed and how sure that is. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "compare_runs.h"
#include "stats.h"

#define ALPHA	   0.05
#define CONFIDENCE 0.95

const char *const verdict_names[NR_VERDICTS] = {
	[VERDICT_IMPROVEMENT] = "improvement",
	[VERDICT_REGRESSION] = "regression",
	[VERDICT_SAME] = "same",
	[VERDICT_INCONCLUSIVE] = "inconclusive",
	[VERDICT_INSUFFICIENT] = "insufficient",
};

/* The family that is marked: these figures of each row, whatever metrics are shown. */
static const char *const family_keys[] = { "faults", "latency_ns.sum" };

#define NR_FAMILY (sizeof(family_keys) / sizeof(*family_keys))

static bool take_logs(double *values, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (values[i] <= 0)
			return false;
		values[i] = log(values[i]);
	}
	return true;
}

/* The change and its interval from the logs of both sides; exact figures only have a range. */
static void find_change(struct compare_row *row, double *values[NR_SIDES], bool exact)
{
	struct stats_shift shift;
	size_t n = row->runs[BEFORE], m = row->runs[AFTER];

	row->change = row->low = row->high = NAN;
	if (!take_logs(values[BEFORE], n) || !take_logs(values[AFTER], m))
		return;
	shift = stats_hodges_lehmann(values[BEFORE], n, values[AFTER], m, CONFIDENCE);
	if (exact && n && m) { /* sorted by now */
		shift.low = values[AFTER][0] - values[BEFORE][n - 1];
		shift.high = values[AFTER][m - 1] - values[BEFORE][0];
	}
	row->change = expm1(shift.median);
	row->low = expm1(shift.low);
	row->high = expm1(shift.high);
}

static double difference(const struct compare_row *row)
{
	return isnan(row->change) ? row->value[AFTER] - row->value[BEFORE] : row->change;
}

/* Better or worse when the change reaches the threshold; of something that came or went, always. */
static enum verdict direction(const struct compare_row *row, double threshold)
{
	if (!isnan(row->change) && fabs(row->change) < threshold)
		return VERDICT_INCONCLUSIVE;
	return difference(row) < 0 ? VERDICT_IMPROVEMENT : VERDICT_REGRESSION;
}

static bool within(const struct compare_row *row, double threshold)
{
	if (isnan(row->low))
		return false;
	return row->low >= -threshold && row->high <= threshold;
}

static enum verdict judge(const struct compare_row *row, const struct compare_block *block,
			  double threshold)
{
	bool differs;

	if (!row->runs[BEFORE] || !row->runs[AFTER])
		return VERDICT_INSUFFICIENT;
	if (!block->exact &&
	    (row->runs[BEFORE] < block->runs_needed || row->runs[AFTER] < block->runs_needed))
		return VERDICT_INSUFFICIENT;
	if (within(row, threshold))
		return VERDICT_SAME;
	if (!block->exact)
		differs = row->p <= ALPHA;
	else if (isnan(row->change))
		differs = row->value[BEFORE] != row->value[AFTER];
	else
		differs = row->low > 0 || row->high < 0;
	return differs ? direction(row, threshold) : VERDICT_INCONCLUSIVE;
}

/* Blocks. */

/* What is at work while one block is compared. */
struct work {
	struct comparison *c;
	const struct compare_options *options;
	struct run_list lists[NR_SIDES];
	struct row_names names;
	const struct column *family[NR_FAMILY];
	double *values[NR_SIDES]; /* room for one figure of each run */
	double *p;		  /* of the family: name by name */
};

static void find_family(struct work *w)
{
	const struct column *columns;
	size_t nr;

	columns = report_columns(&nr);
	for (size_t i = 0; i < NR_FAMILY; i++)
		columns_listed(columns, nr, family_keys[i], &w->family[i], 1);
}

static int open_work(struct work *w, const struct compare_side sides[NR_SIDES],
		     struct compare_block *block)
{
	int err = 0;

	for (size_t s = 0; s < NR_SIDES && !err; s++)
		err = run_list_collect(&w->lists[s], &sides[s], block->arch, w->options->by);
	if (!err)
		err = row_names_collect(&w->names, w->lists);
	for (size_t s = 0; s < NR_SIDES && !err; s++) {
		w->values[s] = calloc(w->lists[s].nr + 1, sizeof(*w->values[s]));
		if (!w->values[s])
			err = -ENOMEM;
	}
	w->p = calloc(w->names.nr * NR_FAMILY + 1, sizeof(*w->p));
	return w->p ? err : -ENOMEM;
}

static void close_work(struct work *w)
{
	for (size_t s = 0; s < NR_SIDES; s++) {
		run_list_release(&w->lists[s]);
		free(w->values[s]);
		w->values[s] = NULL;
	}
	free(w->names.list);
	w->names = (struct row_names){ 0 };
	free(w->p);
	w->p = NULL;
}

static void take_values(struct work *w, const struct row_name *name, const struct column *metric,
			bool no_time, size_t nr[NR_SIDES])
{
	for (size_t s = 0; s < NR_SIDES; s++) {
		nr[s] = 0;
		if (!(no_time && metric->flags & COLUMN_TIME))
			nr[s] = run_list_values(&w->lists[s], name, metric, w->values[s]);
	}
}

/* Test every member of the family that both sides know. */
static void test_family(struct work *w, struct compare_block *block)
{
	for (size_t i = 0; i < w->names.nr; i++) {
		for (size_t f = 0; f < NR_FAMILY; f++) {
			double *p = &w->p[i * NR_FAMILY + f];
			size_t nr[NR_SIDES];

			take_values(w, &w->names.list[i], w->family[f], block->mixed_time, nr);
			*p = NAN;
			if (!block->exact)
				*p = stats_mann_whitney(w->values[BEFORE], nr[BEFORE],
							w->values[AFTER], nr[AFTER]);
			block->nr_tests += nr[BEFORE] && nr[AFTER];
		}
	}
	stats_holm(w->p, w->names.nr * NR_FAMILY);
	block->runs_needed = block->exact ? 1 : stats_runs_needed(block->nr_tests, ALPHA);
}

/* The place of @metric in the family, NR_FAMILY when it is none. */
static size_t family_place(const struct work *w, const struct column *metric)
{
	size_t f = 0;

	while (f < NR_FAMILY && w->family[f] != metric)
		f++;
	return f;
}

static void fill_row(struct work *w, size_t block, size_t name, const struct column *metric)
{
	struct compare_block *b = &w->c->blocks[block];
	struct compare_row *row = &w->c->rows[w->c->nr_rows++];
	size_t f = family_place(w, metric);

	*row = (struct compare_row){ .block = block,
				     .label = w->names.list[name].label,
				     .key = w->names.list[name].key,
				     .metric = metric,
				     .p = NAN };
	take_values(w, &w->names.list[name], metric, b->mixed_time, row->runs);
	for (size_t s = 0; s < NR_SIDES; s++)
		row->value[s] = stats_median(w->values[s], row->runs[s]);
	find_change(row, w->values, b->exact);
	if (f == NR_FAMILY)
		return;
	row->p = w->p[name * NR_FAMILY + f];
	row->verdict = judge(row, b, w->options->threshold);
}

static int compare_block(struct work *w, const struct compare_side sides[NR_SIDES], size_t block)
{
	struct compare_block *b = &w->c->blocks[block];
	struct compare_row *rows;
	int err = open_work(w, sides, b);

	if (err)
		return err;
	for (size_t s = 0; s < NR_SIDES; s++)
		b->runs[s] = w->lists[s].nr;
	test_family(w, b);
	rows = reallocarray(w->c->rows, w->c->nr_rows + w->names.nr * w->options->nr_metrics + 1,
			    sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	w->c->rows = rows;
	for (size_t i = 0; i < w->names.nr; i++)
		for (size_t m = 0; m < w->options->nr_metrics; m++)
			fill_row(w, block, i, w->options->metrics[m]);
	return 0;
}

static struct compare_block *find_block(struct comparison *c, const char *arch)
{
	for (size_t i = 0; i < c->nr_blocks; i++)
		if (same_label(c->blocks[i].arch, arch))
			return &c->blocks[i];
	c->blocks[c->nr_blocks] = (struct compare_block){ .arch = arch, .exact = true };
	return &c->blocks[c->nr_blocks++];
}

static const char *boot_of(const struct recording *rec)
{
	return rec->boot;
}

static const char *build_of(const struct recording *rec)
{
	return rec->build;
}

/* How many different words the recordings of @arch have; 0 when one has none. */
static size_t count_words(const struct compare_side *side, const char *arch,
			  const char *(*word)(const struct recording *))
{
	size_t nr = 0;

	for (size_t i = 0; i < side->nr; i++) {
		const struct recording *rec = &side->inputs[i].rec;
		size_t j = 0;

		if (!same_label(rec->arch, arch))
			continue;
		if (!word(rec))
			return 0;
		while (j < i && !(same_label(side->inputs[j].rec.arch, arch) &&
				  same_label(word(&side->inputs[j].rec), word(rec))))
			j++;
		nr += j == i;
	}
	return nr;
}

static int find_blocks(struct comparison *c, const struct compare_side sides[NR_SIDES])
{
	c->blocks = calloc(sides[BEFORE].nr + sides[AFTER].nr + 1, sizeof(*c->blocks));
	if (!c->blocks)
		return -ENOMEM;
	for (size_t s = 0; s < NR_SIDES; s++) {
		for (size_t i = 0; i < sides[s].nr; i++) {
			const struct recording *rec = &sides[s].inputs[i].rec;
			struct compare_block *b = find_block(c, rec->arch);
			const struct recording *first =
				b->example[BEFORE] ? b->example[BEFORE] : b->example[AFTER];

			if (!first)
				b->ns = rec->time_is_ns;
			else if (strcmp(recording_time_unit(first), recording_time_unit(rec)))
				b->mixed_time = true;
			if (!b->example[s])
				b->example[s] = rec;
			b->exact &= rec->exact;
		}
	}
	for (size_t i = 0; i < c->nr_blocks; i++) {
		for (size_t s = 0; s < NR_SIDES; s++) {
			struct compare_block *b = &c->blocks[i];

			b->boots[s] = count_words(&sides[s], b->arch, boot_of);
			b->builds[s] = count_words(&sides[s], b->arch, build_of);
		}
	}
	return 0;
}

int compare_sides(struct comparison *c, const struct compare_side sides[NR_SIDES],
		  const struct compare_options *options)
{
	struct work w = { .c = c, .options = options };
	int err = find_blocks(c, sides);

	c->threshold = options->threshold;
	c->nr_metrics = options->nr_metrics;
	find_family(&w);
	for (size_t i = 0; i < c->nr_blocks && !err; i++) {
		err = compare_block(&w, sides, i);
		close_work(&w);
	}
	return err;
}

void comparison_release(struct comparison *c)
{
	free(c->blocks);
	free(c->rows);
	*c = (struct comparison){ 0 };
}

void compare_side_release(struct compare_side *side)
{
	for (size_t i = 0; i < side->nr; i++) {
		struct compare_input *input = &side->inputs[i];

		for (size_t g = 0; g < input->nr_groups; g++) {
			free(input->groups[g].label);
			summary_release(&input->groups[g].summary);
		}
		free(input->groups);
		recording_release(&input->rec);
	}
	free(side->inputs);
	*side = (struct compare_side){ 0 };
}
