// SPDX-License-Identifier: GPL-2.0-or-later
/* What would another batching rule have done to a recording? */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "event.h"
#include "replay.h"

/* The row of @key; one that nobody sees where the filter has no use for it. */
static struct replay_row *row_of(const struct replay *r, struct replay_rows *rows,
				 const struct fault_key *key)
{
	if (r->filter && !filter_key(r->filter, key))
		return &rows->filtered;
	return &rows->row[key->class][key->order][key->level];
}

void replay_episode(struct replay *r, const struct episode *e)
{
	for (size_t i = 0; i < r->nr; i++)
		row_of(r, r->predictions[i].rows, &e->key)->recorded_ptes += e->ptes;
}

static int predicted_episode(void *ctx, const struct episode *e)
{
	struct prediction *p = ctx;
	struct replay_row *row = row_of(p->replay, p->rows, &e->key);
	bool batched = e->key.class == CLASS_REUSE || e->key.class == CLASS_COW;

	row->predicted_ptes += e->ptes;
	/* a PMD is one entry: nothing of it is resolved that was not asked for */
	if (batched && e->key.level == LEVEL_PTE && e->ptes_resolved > e->ptes_touched)
		row->waste_ptes += e->ptes_resolved - e->ptes_touched;
	return 0;
}

static int open_prediction(const struct replay *r, struct prediction *p,
			   struct model_options options, const struct policy *policy)
{
	p->replay = r;
	p->policy = *policy;
	p->rows = calloc(1, sizeof(*p->rows));
	if (!p->rows)
		return -ENOMEM;
	p->rows->block = policy_contpte(1u << options.page_shift);
	options.policy = &p->policy;
	options.episode = predicted_episode;
	options.ctx = p;
	return model_open(&p->model, &options);
}

int replay_open(struct replay *r, const struct model_options *options,
		const struct policy *policies, size_t nr, enum stale_tlb stale_tlb,
		const struct filter *filter)
{
	int err = 0;

	*r = (struct replay){ .stale_tlb = stale_tlb, .filter = filter };
	r->predictions = calloc(nr, sizeof(*r->predictions));
	if (!r->predictions)
		return -ENOMEM;
	while (!err && r->nr < nr) {
		err = open_prediction(r, &r->predictions[r->nr], *options, &policies[r->nr]);
		r->nr++;
	}
	return err;
}

static void add_recorded(const struct replay *r, struct replay_rows *rows, const struct fault *f,
			 const struct fault_key *key)
{
	struct replay_row *row = row_of(r, rows, key);

	if (key->class == CLASS_REUSE && !key->order && f->has_exit) {
		rows->small_reuses++;
		rows->small_reuse_time += f->latency;
	}
	row->recorded_faults++;
	if (f->has_exit)
		row->recorded_time += f->latency;
	else
		row->recorded_untimed++;
}

/* A fault as the recording has it. */
static void add_kept(struct replay_row *row, const struct fault *f)
{
	row->predicted_faults++;
	if (f->has_exit)
		row->kept_time += f->latency;
	else
		row->predicted_untimed++;
}

/* A fault that resolves @ptes where the recorded one resolved @recorded. */
static int add_batch(struct replay_row *row, uint32_t ptes, uint32_t recorded)
{
	return ptes > recorded ? hist_add(&row->batches, 1 + ptes - recorded, 1) : 0;
}

/* Whether this CPU may still hold the translation that was read-only when the fault happened. */
static bool is_stale(const struct replay *r, const struct fault *f, uint64_t vpn)
{
	switch (r->stale_tlb) {
	case STALE_ASCENDING:
		return r->last_pid == f->pid && r->last_mm == f->mm && r->last_vpn + 1 == vpn;
	case STALE_ALL:
		return true;
	case STALE_NONE:
		break;
	}
	return false;
}

static int add_predicted(const struct replay *r, struct prediction *p, const struct fault *f,
			 const struct outcome *recorded, const struct outcome *o, uint64_t vpn)
{
	struct fault_key key = o->key;
	struct replay_row *row;

	if (o->avoided) {
		key.class = CLASS_SPURIOUS;
		if (is_stale(r, f, vpn))
			add_kept(row_of(r, p->rows, &key), f);
		return 0;
	}
	row = row_of(r, p->rows, &key);
	if (key.class != recorded->key.class) {
		row->predicted_faults++;
		row->changed++;
		return key.level == LEVEL_PTE ? add_batch(row, o->resolved, 1) : 0;
	}
	/* one that batched already has paid for more than one page */
	if (recorded->resolved > 1 || o->resolved <= recorded->resolved) {
		add_kept(row, f);
	} else {
		row->predicted_faults++;
		row->changed++;
	}
	return add_batch(row, o->resolved, recorded->resolved);
}

/* The fault before, on what was taken for a PMD, had been on PTEs, too. */
static int add_split(const struct replay *r, struct prediction *p, const struct outcome *o)
{
	struct fault_key key = o->key;

	key.class = CLASS_REUSE;
	key.level = LEVEL_PMD;
	return add_batch(row_of(r, p->rows, &key), o->split_ptes, 1);
}

int replay_step(struct replay *r, const struct step *s, const struct outcome *recorded)
{
	const struct fault *f = s->kind == STEP_FAULT ? s->fault : NULL;
	struct outcome predicted;
	uint64_t vpn = 0;
	int err = 0;

	for (size_t i = 0; i < r->nr && !err; i++) {
		struct prediction *p = &r->predictions[i];

		err = model_predict(&p->model, s, recorded, &predicted);
		if (err || !f)
			continue;
		vpn = f->address >> p->model.options.page_shift;
		err = add_split(r, p, &predicted);
		if (err || !f->counted)
			continue;
		add_recorded(r, p->rows, f, &recorded->key);
		err = add_predicted(r, p, f, recorded, &predicted, vpn);
	}
	if (f && f->flags & FAULT_FLAG_WRITE) {
		r->last_vpn = vpn;
		r->last_mm = f->mm;
		r->last_pid = f->pid;
	}
	return err;
}

int replay_finish(struct replay *r)
{
	int err = 0;

	for (size_t i = 0; i < r->nr && !err; i++)
		err = model_finish(&r->predictions[i].model);
	return err;
}

static bool mean_of(const struct replay_row *row, double *mean)
{
	uint64_t timed = row->recorded_faults - row->recorded_untimed;

	if (timed)
		*mean = (double)row->recorded_time / timed;
	return timed;
}

#define ENOUGH 8 /* faults for a mean */

/*
 * What a fault on one page of such a folio takes, by the mean of those recorded; of another order
 * where there is none.
 */
static bool single_time(const struct replay_rows *rows, enum fault_class class, unsigned int order,
			enum fault_level level, double *mean)
{
	bool known = mean_of(&rows->row[class][order][level], mean);

	for (unsigned int o = 0; o < NR_ORDERS && !known; o++)
		known = mean_of(&rows->row[class][o][LEVEL_PTE], mean);
	return known;
}

/*
 * The same of a batch that takes whole blocks. Where reuse of a small folio takes less, it is that:
 * what a single page of a large folio costs more, as taking a contpte block of arm64 apart, such a
 * batch does not do.
 */
static double block_time(const struct replay_rows *rows, enum fault_class class, double mean)
{
	if (class != CLASS_REUSE || rows->small_reuses < ENOUGH)
		return mean;
	return fmin(mean, (double)rows->small_reuse_time / rows->small_reuses);
}

/*
 * No prediction is closer than that: what the batching kernel's code costs around the helpers, and
 * faults that do not batch, is in no cost. A reuse fault of a small folio takes 0.4 to 0.8 % more
 * with our change for large ones, by the pairs in traces/.
 */
#define PRECISION 0.02

struct predicted_time replay_time(const struct replay_rows *rows, enum fault_class class,
				  unsigned int order, enum fault_level level,
				  const struct costs *costs)
{
	const struct replay_row *row = &rows->row[class][order][level];
	const struct cost *cost = class == CLASS_COW ? &costs->copy : &costs->reuse;
	struct predicted_time t = { .known = true };
	struct hist_slot *batches;
	uint64_t blocks = 0;
	double mean = 0;
	size_t nr;

	if (row->predicted_untimed || (row->batches.count && !cost->nr) ||
	    (row->changed && !single_time(rows, class, order, level, &mean)))
		return (struct predicted_time){ 0 };
	batches = hist_sorted(&row->batches, &nr);
	if (!batches && nr)
		return (struct predicted_time){ 0 };
	for (size_t i = 0; i < nr; i++)
		blocks += batches[i].value >= rows->block ? batches[i].count : 0;
	/* those on what was taken for a PMD have kept their times */
	blocks = blocks < row->changed ? blocks : row->changed;
	t.value = row->kept_time + (row->changed - blocks) * mean +
		  blocks * block_time(rows, class, mean);
	t.low = t.high = t.value;
	for (size_t i = 0; i < nr; i++) {
		const struct cost_point extra = cost_at(cost, batches[i].value);

		t.value += batches[i].count * extra.ns;
		t.low += batches[i].count * extra.low;
		t.high += batches[i].count * extra.high;
	}
	free(batches);
	if (row->batches.count || row->changed) {
		t.low = fmin(t.low, t.value * (1 - PRECISION));
		t.high = fmax(t.high, t.value * (1 + PRECISION));
	}
	return t;
}

static void release_rows(struct replay_rows *rows)
{
	struct replay_row *row = &rows->row[0][0][0];

	for (size_t i = 0; i < NR_CLASSES * NR_ORDERS * NR_LEVELS; i++)
		hist_release(&row[i].batches);
	hist_release(&rows->filtered.batches);
	free(rows);
}

void replay_close(struct replay *r)
{
	for (size_t i = 0; i < r->nr; i++) {
		model_close(&r->predictions[i].model);
		if (r->predictions[i].rows)
			release_rows(r->predictions[i].rows);
	}
	free(r->predictions);
	*r = (struct replay){ 0 };
}
