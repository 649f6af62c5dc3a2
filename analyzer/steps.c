// SPDX-License-Identifier: GPL-2.0-or-later
/* From a recording's file to steps: the stages from `tracefile` to `faults`, opened together. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "manifest.h"
#include "compiler.h"
#include "steps.h"

#define MIN_PAGE_SIZE	  4096
#define MAX_PAGE_SIZE	  65536 /* struct tally can count the PTEs of a page table of these */
#define PROGRESS_INTERVAL 512	/* sub-buffers */

static int keep(char **to, const char *text, size_t len)
{
	*to = strndup(text, len);
	return *to ? 0 : -ENOMEM;
}

/* "Linux HOST RELEASE MACHINE" */
static int take_uname(struct recording *rec, const char *uname)
{
	const char *word = uname;
	size_t len;
	int err;

	for (int i = 0; word && i < 2; i++) {
		word = strchr(word, ' ');
		word = word ? word + 1 : NULL;
	}
	if (!word)
		return 0;
	len = strcspn(word, " ");
	err = keep(&rec->kernel, word, len);
	word += len;
	if (!err && *word == ' ' && word[1])
		err = keep(&rec->arch, word + 1, strcspn(word + 1, " "));
	return err;
}

/* Whether the kernel's release is at least @major.@minor; unknown is taken to be new. */
static bool kernel_since(const struct recording *rec, int major, int minor)
{
	int have_major, have_minor;

	if (!rec->kernel || sscanf(rec->kernel, "%d.%d", &have_major, &have_minor) != 2)
		return true;
	return have_major > major || (have_major == major && have_minor >= minor);
}

/* x86 sets the access flag in hardware, others may leave it to a fault. */
static bool is_x86(const struct recording *rec)
{
	return !rec->arch || !strcmp(rec->arch, "x86_64") ||
	       (strlen(rec->arch) == 4 && rec->arch[0] == 'i' && !strcmp(rec->arch + 2, "86"));
}

/*
 * The machine's page size. The header's word is the size of a sub-buffer where trace-cmd knows it
 * (3.2 on), which may be several pages; x86 has one size of them.
 */
static void take_page_size(struct steps *s)
{
	uint32_t size = s->tf.page_size;

	if (size < MIN_PAGE_SIZE || size & (size - 1)) {
		damage_add(&s->tf.damages, 0, "a page size of %u bytes is none", size);
		size = MIN_PAGE_SIZE;
	}
	if ((s->rec->arch && is_x86(s->rec)) || size > MAX_PAGE_SIZE)
		size = MIN_PAGE_SIZE;
	s->rec->page_size = size;
}

static int take_header(struct steps *s, const char *path)
{
	struct recording *rec = s->rec;
	struct tracefile *tf = &s->tf;
	struct manifest manifest;
	int err;

	rec->trace_id = tf->trace_id;
	rec->time_is_ns = trace_clock_is_ns(&tf->clock);
	rec->cpus = tf->nr_buffers ? tf->buffers[0].nr_cpus : 0;
	err = tf->uname ? take_uname(rec, tf->uname) : 0;
	take_page_size(s);
	if (s->options->filter)
		filter_set_page_size(s->options->filter, rec->page_size);
	if (!err && tf->clock.name)
		err = keep(&rec->clock, tf->clock.name, strlen(tf->clock.name));
	if (err)
		return err;
	err = manifest_read(&manifest, path, rec->page_size, &tf->damages);
	rec->exact = s->options->exact || manifest.exact;
	rec->boot = manifest.boot; /* handed over, as the others */
	rec->build = manifest.build;
	rec->workload = manifest.workload;
	s->used = manifest.used;
	s->rss_is_exact = kernel_since(rec, 6, 2);
	return err;
}

/* The order of --folio-size in pages of the recording. */
static int assumed_order(const struct steps *s, uint8_t *order)
{
	uint64_t pages = s->options->folio_size / s->rec->page_size;

	*order = ORDER_UNKNOWN;
	if (!s->options->folio_size)
		return 0;
	if (!pages || pages & (pages - 1) || pages > s->rec->page_size / 8 ||
	    s->options->folio_size % s->rec->page_size)
		return -EINVAL;
	*order = __builtin_ctzll(pages);
	return 0;
}

static int open_stages(struct steps *s, const char **reason)
{
	struct tracefile *tf = &s->tf;
	struct faults_options options;
	int err;

	err = formats_parse(&s->formats, tf->formats, tf->nr_formats, &tf->damages);
	if (!err)
		err = comms_parse(&s->comms, &tf->cmdlines);
	if (!err)
		err = probes_bind(&s->probes, &s->formats, &s->options->names, tf->big_endian, tf,
				  reason);
	if (err)
		return err;
	options = (struct faults_options){ .has_pair = s->probes.kind == PROBES_PAIR,
					   .has_copy = s->probes.has_role[EVENT_FORK_COPY],
					   .has_mm_exit = s->probes.has_role[EVENT_MM_EXIT] };
	err = faults_open(&s->faults, &options);
	if (err)
		return err;
	err = repeats_open(&s->repeats, tf);
	if (err)
		return err;
	s->probes.no_fast = s->repeats.cpus != NULL; /* all of an event is compared */
	err = assumed_order(s, &s->assumed_order);
	if (err)
		*reason = "--folio-size is no power of two of its pages that a PMD can map";
	return err;
}

/* Without the layout of its sub-buffers no event can be found: that is noted as damage. */
static int open_timeline(struct steps *s)
{
	int err = -EBADMSG;

	if (s->tf.header_page.text)
		err = page_layout_parse(&s->layout, &s->tf.header_page, &s->tf.damages);
	if (err && err != -EBADMSG)
		return err;
	return timeline_open(&s->timeline, &s->tf, err ? NULL : &s->layout);
}

int steps_open(struct steps *s, const char *path, const struct steps_options *options,
	       struct recording *rec, const char **reason)
{
	int err;

	*s = (struct steps){ .options = options, .rec = rec, .tf.fd = -1 };
	*reason = NULL;
	err = keep(&rec->file, path, strlen(path));
	if (!err)
		err = tracefile_open(&s->tf, path);
	/* damaged metadata: what was read of it is shown, with no event */
	if (!err || err == -EBADMSG)
		err = take_header(s, path);
	if (!err)
		err = open_stages(s, reason);
	if (!err)
		err = open_timeline(s);
	if (err && !*reason)
		*reason = strerror(-err);
	return err;
}

static noinline void note_short_event(struct steps *s, uint32_t cpu)
{
	s->short_noted = s->probes.short_events;
	damage_add(&s->tf.damages, timeline_offset(&s->timeline),
		   "an event of CPU %u is shorter than its format", cpu);
}

/* What comes with the first record of a sub-buffer. 0 or -ENOMEM. */
static noinline int begin_page(struct steps *s, const struct record *record)
{
	if (!s->pages++)
		s->first = record->ts;
	if (!(s->pages % PROGRESS_INTERVAL) && s->options->progress)
		s->options->progress(s->options->progress_ctx, timeline_done(&s->timeline));
	return record->after_loss ? faults_lost(&s->faults, record->cpu) : 0;
}

/* Tell the model of a fault that has come, and again once it is in handle_mm_fault(). */
static void announce(struct steps *s, const struct event *e)
{
	if (unlikely(model_is_large(s->model)))
		model_announce(s->model, faults_last_mm(&s->faults), e->address);
}

static void expect(struct steps *s, const struct event *e)
{
	if (unlikely(model_is_large(s->model)))
		model_expect(s->model, e->cpu, faults_last_mm(&s->faults), e->address);
}

static int take_exception(struct steps *s, const struct probe *pr, const struct record *record,
			  struct step *step)
{
	struct event e;
	int ret;

	probes_decode_exception(pr, record, &e);
	ret = faults_exception(&s->faults, &e, step);
	announce(s, &e);
	return ret;
}

static int take_entry(struct steps *s, const struct probe *pr, const struct record *record,
		      struct step *step)
{
	struct event e;
	int ret;

	probes_decode_entry(pr, record, &e);
	ret = faults_entry(&s->faults, &e, step);
	expect(s, &e);
	return ret;
}

static int take_exit(struct steps *s, const struct probe *pr, const struct record *record,
		     struct step *step)
{
	struct event e;

	probes_decode_exit(pr, record, &e);
	return faults_exit(&s->faults, &e, step);
}

/* A record of any role, of any recording. */
static noinline int take_any(struct steps *s, const struct probe *pr, const struct record *record,
			     struct step *step)
{
	struct event e;
	int ret;

	steps_tell_model(s, s->model);
	if (!probes_decode_any(&s->probes, pr, record, &e) ||
	    (e.role == EVENT_RSS && !s->rss_is_exact))
		return 0;
	if (s->repeats.cpus && repeats_event(&s->repeats, &e, timeline_stream(&s->timeline)))
		return 0;
	ret = faults_push(&s->faults, &e, step);
	if (e.role == EVENT_EXCEPTION)
		announce(s, &e);
	if (e.role == EVENT_ENTRY)
		expect(s, &e);
	return ret;
}

/* Feed @record to `faults`. Returns 1 when *step is complete, 0, -ENOMEM. */
static int take_record(struct steps *s, const struct record *record, struct step *step)
{
	const struct probe *pr;

	if (unlikely(record->begins_page) && begin_page(s, record) < 0)
		return -ENOMEM;
	pr = probes_find(&s->probes, record);
	switch (pr->fast) {
	case EVENT_EXCEPTION:
		return take_exception(s, pr, record, step);
	case EVENT_ENTRY:
		return take_entry(s, pr, record, step);
	case EVENT_EXIT:
		return take_exit(s, pr, record, step);
	default:
		if (unlikely(s->probes.short_events != s->short_noted))
			note_short_event(s, record->cpu);
		return pr->role ? take_any(s, pr, record, step) : 0;
	}
}

/* Take one record after the other, until @step is complete. Returns 1 when it is, 0 at the end. */
static inline int take_records(struct steps *s, const struct record *(*next)(struct timeline *),
			       struct step *step)
{
	const struct record *record;
	int ret = 0;

	while (!ret && (record = next(&s->timeline)))
		ret = take_record(s, record, step);
	return ret;
}

static int next_step(struct steps *s, struct step *step)
{
	int ret = s->timeline.only ? take_records(s, timeline_next_of_one, step)
				   : take_records(s, timeline_next_of_all, step);

	if (ret)
		return ret;
	s->last = s->timeline.last;
	return faults_finish(&s->faults, step);
}

/* The model keeps no more of a pid than Linux has. */
static noinline void note_pid(struct steps *s, const struct fault *f)
{
	damage_add(&s->tf.damages, timeline_offset(&s->timeline),
		   "an event of CPU %u has pid %d, which is none that Linux can have", f->cpu,
		   f->pid);
}

static void count_for_hint(struct steps *s, const struct fault *f)
{
	s->options->hint->faults++;
	if (s->options->filter->nr_comms)
		comms_count(&s->comms, f->pid);
}

int steps_next(struct steps *s, struct step *step)
{
	const struct filter *filter = s->options->filter;
	int ret = next_step(s, step);

	if (ret != 1 || step->kind != STEP_FAULT)
		return ret;
	if (unlikely((uint32_t)step->fault->pid >= PID_LIMIT))
		note_pid(s, step->fault);
	if (unlikely(filter != NULL)) {
		step->fault->counted =
			filter_fault(filter, step->fault, &s->comms, s->rec->time_is_ns);
		if (s->options->hint)
			count_for_hint(s, step->fault);
	}
	return ret;
}

struct model_options steps_model_options(const struct steps *s)
{
	return (struct model_options){ .page_shift = __builtin_ctz(s->rec->page_size),
				       .assumed_order = s->assumed_order,
				       .used = &s->used,
				       .faults_on_old = !is_x86(s->rec),
				       .sees_forks = s->probes.has_role[EVENT_FORK_COPY] ||
						     s->probes.has_role[EVENT_FORK],
				       .reuses_large = kernel_since(s->rec, 6, 15) };
}

void steps_tell_model(const struct steps *s, struct model *m)
{
	m->sees_alloc = s->probes.seen[EVENT_ALLOC];
	m->sees_rss = s->probes.seen[EVENT_RSS] && s->rss_is_exact;
}

/* Events of which a recording with faults may well have none. */
static bool may_be_silent(const struct probe *p)
{
	switch (p->role) {
	case EVENT_WORKER:
	case EVENT_FORK_COPY:
	case EVENT_FORK_COPIED:
	case EVENT_FORK:
	case EVENT_MM_EXIT:
	case EVENT_EXEC:
	case EVENT_TASK_EXIT:
	case EVENT_COLLAPSE:
		return true;
	default:
		return p->is_return; /* of whatever function */
	}
}

/*
 * The events that the report stands on, for those who compare. trace-cmd may store the formats of
 * events that it did not record: what comes with every fault counts when it came.
 */
static int list_probes(struct steps *s)
{
	struct recording *rec = s->rec;

	rec->probes = calloc(s->probes.nr + 1, sizeof(*rec->probes));
	if (!rec->probes)
		return -ENOMEM;
	for (size_t i = 0; i < s->probes.nr; i++) {
		const struct probe *p = &s->probes.list[i];

		if (!(p->role && p->records) && !may_be_silent(p))
			continue;
		if (asprintf(&rec->probes[rec->nr_probes], "%s:%s", p->format->system,
			     p->format->name) < 0)
			return -ENOMEM;
		rec->nr_probes++;
	}
	return 0;
}

static void take_counts(struct steps *s)
{
	struct fault_counts *counts = &s->rec->summary.counts;
	const struct fault_counts *paired = &s->faults.counts;
	uint64_t early = probes_early_exits(&s->probes);

	counts->entries = paired->entries;
	counts->exits = paired->exits + early;
	counts->unpaired_entries = paired->unpaired_entries;
	counts->unpaired_exits = paired->unpaired_exits + early;
	/* those that ended there too, of no fault; with filters only those merged into faults */
	if (!s->options->filter || !s->options->filter->nr_texts)
		counts->retries = paired->retries;
	s->rec->events = s->timeline.records;
	s->rec->lost_events = s->timeline.lost;
	s->rec->lost_uncounted = s->timeline.lost_uncounted;
	s->rec->repeated_events = s->repeats.nr;
	s->rec->unknown_events = s->probes.unknown_events;
	s->rec->unmatched_exceptions = s->faults.unmatched_exceptions;
	s->rec->duration = s->last > s->first ? s->last - s->first : 0;
}

int steps_close(struct steps *s)
{
	int err = 0;

	if (s->probes.list) {
		take_counts(s);
		err = list_probes(s);
	}
	if (!err && s->options->filter && s->options->hint)
		err = filter_hint_take(s->options->hint, s->options->filter, &s->comms);
	s->rec->damages = s->tf.damages;
	s->tf.damages = (struct damages){ 0 };
	faults_close(&s->faults);
	repeats_close(&s->repeats);
	timeline_close(&s->timeline);
	probes_release(&s->probes);
	comms_release(&s->comms);
	formats_release(&s->formats);
	used_release(&s->used);
	tracefile_close(&s->tf);
	return err;
}
