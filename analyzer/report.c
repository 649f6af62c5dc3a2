// SPDX-License-Identifier: GPL-2.0-or-later
/* One recording to its summary: every step of it through the model. */
#include <string.h>

#include "compiler.h"
#include "model.h"
#include "report.h"

/* What is at work while one recording is read. */
struct reader {
	const struct report_options *options;
	struct steps steps;
	struct model model;
	struct recording *rec;
	bool told; /* there is a filter, or who is to be called */
};

static int take_episode(void *ctx, const struct episode *e)
{
	struct reader *r = ctx;
	const struct filter *filter = r->options->steps.filter;
	int err;

	if (filter && !filter_key(filter, &e->key))
		return 0;
	err = summary_add_episode(&r->rec->summary, e);
	if (!err && r->options->episode)
		err = r->options->episode(r->options->ctx, e, comms_find(&r->steps.comms, e->pid));
	return err;
}

/* Tell of the step, and count its fault, where the user asks for more than all faults. */
static noinline int tell_step(struct reader *r, const struct step *step, struct outcome *o)
{
	const struct filter *filter = r->options->steps.filter;
	const struct fault *f = step->fault;
	int err = 0;

	/* an episode that came with it is told as any other, and the fault without it */
	if (step->kind == STEP_FAULT && o->whole) {
		err = take_episode(r, o->whole);
		o->whole = NULL;
	}
	if (!err && r->options->step)
		err = r->options->step(r->options->ctx, &r->steps, step, o);
	if (err || step->kind != STEP_FAULT || !f->counted)
		return err;
	if (filter && !filter_key(filter, &o->key))
		return 0;
	err = summary_add_fault(&r->rec->summary, f, o);
	if (!err && r->options->fault)
		err = r->options->fault(r->options->ctx, f, o, comms_find(&r->steps.comms, f->pid));
	return err;
}

static int take_step(struct reader *r, const struct step *step)
{
	struct outcome o;
	int err = model_step(&r->model, step, &o);

	if (unlikely(err))
		return err;
	if (unlikely(r->told))
		return tell_step(r, step, &o);
	return step->kind == STEP_FAULT ? summary_add_fault(&r->rec->summary, step->fault, &o) : 0;
}

static flatten int read_steps(struct reader *r)
{
	struct model_options options = steps_model_options(&r->steps);
	struct step step;
	int err, ret = 1;

	options.episode = take_episode;
	options.ctx = r;
	err = model_open(&r->model, &options);
	r->steps.model = &r->model;
	while (!err && (ret = steps_next(&r->steps, &step)) == 1)
		err = take_step(r, &step);
	if (!err)
		err = ret;
	if (!err)
		err = model_finish(&r->model);
	r->rec->untracked_forks = r->model.untracked_forks;
	model_close(&r->model);
	return err;
}

int report_read(const char *path, const struct report_options *options, struct recording *rec,
		const char **reason)
{
	struct reader r = { .options = options,
			    .rec = rec,
			    .told = options->steps.filter || options->step || options->fault ||
				    options->episode };
	int err, close_err;

	err = steps_open(&r.steps, path, &options->steps, rec, reason);
	if (!err && options->begin)
		err = options->begin(options->ctx, &r.steps);
	if (!err)
		err = read_steps(&r);
	close_err = steps_close(&r.steps);
	if (!err)
		err = close_err;
	if (!err)
		err = summary_settle(&rec->summary);
	if (err && !*reason)
		*reason = strerror(-err);
	summary_sort(&rec->summary);
	return err;
}
