// SPDX-License-Identifier: GPL-2.0-or-later
/* What would another batching rule have done to a recording? */
#include <errno.h>
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

/* An episode of the recorded model: every prediction is held against it. */
static int recorded_episode(void *ctx, const struct episode *e)
{
	struct replay *r = ctx;

	for (size_t i = 0; i < r->nr; i++)
		row_of(r, r->predictions[i].rows, &e->key)->recorded_ptes += e->ptes;
	return 0;
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
	options.policy = &p->policy;
	options.episode = predicted_episode;
	options.ctx = p;
	return model_open(&p->model, &options);
}

int replay_open(struct replay *r, const struct model_options *options,
		const struct policy *policies, size_t nr, enum stale_tlb stale_tlb,
		const struct filter *filter)
{
	struct model_options recorded = *options;
	int err;

	*r = (struct replay){ .stale_tlb = stale_tlb, .filter = filter };
	r->predictions = calloc(nr, sizeof(*r->predictions));
	if (!r->predictions)
		return -ENOMEM;
	recorded.policy = NULL;
	recorded.episode = recorded_episode;
	recorded.ctx = r;
	err = model_open(&r->recorded, &recorded);
	while (!err && r->nr < nr) {
		err = open_prediction(r, &r->predictions[r->nr], recorded, &policies[r->nr]);
		r->nr++;
	}
	return err;
}

static void add_recorded(struct replay_row *row, const struct fault *f)
{
	row->recorded_faults++;
	if (f->has_exit)
		row->recorded_time += f->latency;
	else
		row->recorded_untimed++;
}

/* A fault as the recording has it, but for what it resolves more. */
static void add_kept(struct replay_row *row, const struct fault *f, uint32_t extra)
{
	row->predicted_faults++;
	if (f->has_exit)
		row->kept_time += f->latency;
	else
		row->predicted_untimed++;
	if (extra) {
		row->batches++;
		row->extra_ptes += extra;
	}
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

static void add_predicted(const struct replay *r, struct prediction *p, const struct fault *f,
			  const struct outcome *recorded, const struct outcome *o, uint64_t vpn)
{
	struct fault_key key = o->key;

	if (o->avoided) {
		key.class = CLASS_SPURIOUS;
		if (is_stale(r, f, vpn))
			add_kept(row_of(r, p->rows, &key), f, 0);
		return;
	}
	if (key.class != recorded->key.class) {
		struct replay_row *row = row_of(r, p->rows, &key);

		row->predicted_faults++;
		row->switched++;
		if (o->resolved > 1 && key.level == LEVEL_PTE) {
			row->batches++;
			row->extra_ptes += o->resolved - 1;
		}
		return;
	}
	add_kept(row_of(r, p->rows, &key), f,
		 o->resolved > recorded->resolved ? o->resolved - recorded->resolved : 0);
}

int replay_step(struct replay *r, const struct step *s)
{
	const struct fault *f = &s->fault;
	uint64_t vpn = f->address >> r->recorded.options.page_shift;
	struct outcome recorded, predicted;
	bool counts = s->kind == STEP_FAULT && f->counted;
	int err;

	err = model_step(&r->recorded, s, &recorded);
	for (size_t i = 0; i < r->nr && !err; i++) {
		struct prediction *p = &r->predictions[i];

		p->model.sees_alloc = r->recorded.sees_alloc;
		p->model.sees_rss = r->recorded.sees_rss;
		err = model_predict(&p->model, s, &recorded, &predicted);
		if (err || !counts)
			continue;
		add_recorded(row_of(r, p->rows, &recorded.key), f);
		add_predicted(r, p, f, &recorded, &predicted, vpn);
	}
	if (s->kind == STEP_FAULT && f->flags & FAULT_FLAG_WRITE) {
		r->last_vpn = vpn;
		r->last_mm = f->mm;
		r->last_pid = f->pid;
	}
	return err;
}

int replay_finish(struct replay *r)
{
	int err = model_finish(&r->recorded);

	for (size_t i = 0; i < r->nr && !err; i++)
		err = model_finish(&r->predictions[i].model);
	return err;
}

/* What a recorded fault of the class took on average: of this order, else of any. */
static bool mean_time(const struct replay_rows *rows, enum fault_class class, unsigned int order,
		      double *mean)
{
	uint64_t faults = 0, time = 0;

	for (unsigned int o = 0; o < NR_ORDERS; o++) {
		const struct replay_row *row = &rows->row[class][o][LEVEL_PTE];
		uint64_t timed = row->recorded_faults - row->recorded_untimed;

		if (o == order && timed) {
			*mean = (double)row->recorded_time / timed;
			return true;
		}
		faults += timed;
		time += row->recorded_time;
	}
	if (faults)
		*mean = (double)time / faults;
	return faults;
}

struct predicted_time replay_time(const struct replay_rows *rows, enum fault_class class,
				  unsigned int order, enum fault_level level,
				  const struct costs *costs)
{
	const struct replay_row *row = &rows->row[class][order][level];
	const struct cost *cost = class == CLASS_COW ? &costs->copy : &costs->reuse;
	struct predicted_time t = { .known = true };
	double mean = 0, fixed;

	if (row->predicted_untimed || (row->batches && !cost->known) ||
	    (row->switched && !mean_time(rows, class, order, &mean)))
		return (struct predicted_time){ 0 };
	fixed = row->kept_time + row->switched * mean + row->batches * cost->base;
	t.value = fixed + row->extra_ptes * cost->per_pte;
	t.low = fixed + row->extra_ptes * cost->low;
	t.high = fixed + row->extra_ptes * cost->high;
	return t;
}

void replay_close(struct replay *r)
{
	model_close(&r->recorded);
	for (size_t i = 0; i < r->nr; i++) {
		model_close(&r->predictions[i].model);
		free(r->predictions[i].rows);
	}
	free(r->predictions);
	*r = (struct replay){ 0 };
}
