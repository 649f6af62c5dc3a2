// SPDX-License-Identifier: GPL-2.0-or-later
/* One recording from its file to its summary: every stage of the flow, pulled through once. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comms.h"
#include "faults.h"
#include "formats.h"
#include "manifest.h"
#include "model.h"
#include "report.h"
#include "timeline.h"
#include "tracefile.h"

#define MIN_PAGE_SIZE	  4096
#define MAX_PAGE_SIZE	  65536
#define PROGRESS_INTERVAL 65536 /* records */

/* What is open while one recording is read. */
struct reader {
	const struct report_options *options;
	struct recording *rec;
	struct tracefile tf;
	struct formats formats;
	struct page_layout layout;
	struct comms comms;
	struct probes probes;
	struct timeline timeline;
	struct faults faults;
	struct model model;
	bool rss_is_exact;    /* the kernel shows a counter's every change, not one in 64 */
	uint64_t first, last; /* time stamps */
};

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
static void take_page_size(struct reader *r)
{
	uint32_t size = r->tf.page_size;

	if (size < MIN_PAGE_SIZE || size & (size - 1)) {
		damage_add(&r->tf.damages, 0, "a page size of %u bytes is none", size);
		size = MIN_PAGE_SIZE;
	}
	if ((r->rec->arch && is_x86(r->rec)) || size > MAX_PAGE_SIZE)
		size = MIN_PAGE_SIZE;
	r->rec->page_size = size;
}

static int take_header(struct reader *r, const char *path, const char **reason)
{
	struct recording *rec = r->rec;
	const struct tracefile *tf = &r->tf;
	struct manifest manifest;
	int err;

	rec->trace_id = tf->trace_id;
	rec->time_is_ns = trace_clock_is_ns(&tf->clock);
	rec->cpus = tf->nr_buffers ? tf->buffers[0].nr_cpus : 0;
	err = tf->uname ? take_uname(rec, tf->uname) : 0;
	take_page_size(r);
	if (!err && tf->clock.name)
		err = keep(&rec->clock, tf->clock.name, strlen(tf->clock.name));
	if (err)
		return err;
	err = manifest_read(&manifest, path);
	if (err == -EBADMSG)
		*reason = "the manifest beside it, FILE.json, does not parse";
	if (!err)
		rec->exact = r->options->exact || manifest.exact;
	r->rss_is_exact = kernel_since(rec, 6, 2);
	return err;
}

/* The order of --folio-size in pages of the recording. */
static int assumed_order(const struct reader *r, uint8_t *order)
{
	uint64_t pages = r->options->folio_size / r->rec->page_size;

	*order = ORDER_UNKNOWN;
	if (!r->options->folio_size)
		return 0;
	if (!pages || pages & (pages - 1) || pages > r->rec->page_size / 8 ||
	    r->options->folio_size % r->rec->page_size)
		return -EINVAL;
	*order = __builtin_ctzll(pages);
	return 0;
}

static int take_episode(void *ctx, const struct episode *e)
{
	struct reader *r = ctx;
	int err;

	if (r->options->filter && !filter_key(r->options->filter, &e->key))
		return 0;
	err = summary_add_episode(&r->rec->summary, e);
	if (!err && r->options->episode)
		err = r->options->episode(r->options->ctx, e);
	return err;
}

static int open_model(struct reader *r, const char **reason)
{
	struct model_options options = { .page_shift = __builtin_ctz(r->rec->page_size),
					 .faults_on_old = !is_x86(r->rec),
					 .reuses_large = kernel_since(r->rec, 6, 15),
					 .episode = take_episode,
					 .ctx = r };
	int err = assumed_order(r, &options.assumed_order);

	if (err)
		*reason = "--folio-size is no power of two of its pages that a PMD can map";
	return err ? err : model_open(&r->model, &options);
}

static int open_stages(struct reader *r, const char **reason)
{
	struct tracefile *tf = &r->tf;
	struct faults_options options;
	int err;

	err = formats_parse(&r->formats, tf->formats, tf->nr_formats, &tf->damages);
	if (!err)
		err = comms_parse(&r->comms, &tf->cmdlines);
	if (!err)
		err = probes_bind(&r->probes, &r->formats, &r->options->names, tf->big_endian, tf,
				  reason);
	if (err)
		return err;
	options = (struct faults_options){ .has_pair = r->probes.kind == PROBES_PAIR,
					   .has_copy = r->probes.has_role[EVENT_FORK_COPY],
					   .has_mm_exit = r->probes.has_role[EVENT_MM_EXIT] };
	err = faults_open(&r->faults, &options);
	if (!err)
		err = open_model(r, reason);
	return err;
}

static int take_step(struct reader *r, struct step *s)
{
	const struct filter *filter = r->options->filter;
	struct fault *f = &s->fault;
	struct outcome o;
	int err;

	if (s->kind == STEP_FAULT)
		f->counted = !filter || filter_fault(filter, f, &r->comms, r->rec->time_is_ns);
	r->model.sees_alloc = r->probes.seen[EVENT_ALLOC];
	r->model.sees_rss = r->probes.seen[EVENT_RSS] && r->rss_is_exact;
	err = model_step(&r->model, s, &o);
	if (err || s->kind != STEP_FAULT || !f->counted)
		return err;
	if (filter && !filter_key(filter, &o.key))
		return 0;
	return summary_add_fault(&r->rec->summary, f, &o);
}

static int take_record(struct reader *r, const struct record *record)
{
	uint64_t short_events = r->probes.short_events;
	struct event event;
	struct step step;
	int ret = 0;

	r->last = record->ts;
	if (record->after_loss)
		ret = faults_lost(&r->faults, record->cpu);
	if (ret < 0 || !probes_decode(&r->probes, record, &event)) {
		if (r->probes.short_events != short_events)
			damage_add(&r->tf.damages, timeline_offset(&r->timeline),
				   "an event of CPU %u is shorter than its format", record->cpu);
		return ret;
	}
	if (event.role == EVENT_RSS && !r->rss_is_exact)
		return 0;
	ret = faults_push(&r->faults, &event, &step);
	return ret > 0 ? take_step(r, &step) : ret;
}

static int read_records(struct reader *r)
{
	const struct record *record;
	struct step step;
	int err;

	err = timeline_open(&r->timeline, &r->tf, &r->layout);
	while (!err && (record = timeline_next(&r->timeline))) {
		if (r->timeline.records == 1)
			r->first = record->ts;
		err = take_record(r, record);
		if (r->options->progress && !(r->timeline.records % PROGRESS_INTERVAL))
			r->options->progress(r->options->progress_ctx, timeline_done(&r->timeline));
	}
	while (!err && faults_finish(&r->faults, &step))
		err = take_step(r, &step);
	return err ? err : model_finish(&r->model);
}

/* The events that the report stands on, for those who compare. */
static int list_probes(struct reader *r)
{
	struct recording *rec = r->rec;

	rec->probes = calloc(r->probes.nr + 1, sizeof(*rec->probes));
	if (!rec->probes)
		return -ENOMEM;
	for (size_t i = 0; i < r->probes.nr; i++) {
		const struct probe *p = &r->probes.list[i];

		if (!p->role || !p->records)
			continue;
		if (asprintf(&rec->probes[rec->nr_probes], "%s:%s", p->format->system,
			     p->format->name) < 0)
			return -ENOMEM;
		rec->nr_probes++;
	}
	return 0;
}

static void take_counts(struct reader *r)
{
	struct fault_counts *counts = &r->rec->summary.counts;
	const struct fault_counts *paired = &r->faults.counts;
	uint64_t early = probes_early_exits(&r->probes);

	counts->entries = paired->entries;
	counts->exits = paired->exits + early;
	counts->unpaired_entries = paired->unpaired_entries;
	counts->unpaired_exits = paired->unpaired_exits + early;
	/* those that ended there too, of no fault; with filters only those merged into faults */
	if (!r->options->filter || !r->options->filter->nr_texts)
		counts->retries = paired->retries;
	r->rec->events = r->timeline.records;
	r->rec->lost_events = r->timeline.lost;
	r->rec->lost_uncounted = r->timeline.lost_uncounted;
	r->rec->unknown_events = r->probes.unknown_events;
	r->rec->unmatched_exceptions = r->faults.unmatched_exceptions;
	r->rec->duration = r->last > r->first ? r->last - r->first : 0;
}

static int read_events(struct reader *r, const char **reason)
{
	int err = open_stages(r, reason);

	if (!err && r->options->begin)
		err = r->options->begin(r->options->ctx, r->rec);
	if (err)
		return err;
	/* without the layout of its pages no event can be found: that is noted as damage */
	if (r->tf.header_page.text)
		err = page_layout_parse(&r->layout, &r->tf.header_page, &r->tf.damages);
	else
		err = -EBADMSG;
	if (!err)
		err = read_records(r);
	else if (err == -EBADMSG)
		err = 0;
	take_counts(r);
	return err ? err : list_probes(r);
}

int report_read(const char *path, const struct report_options *options, struct recording *rec,
		const char **reason)
{
	struct reader r = { .options = options, .rec = rec };
	int err;

	*reason = NULL;
	err = keep(&rec->file, path, strlen(path));
	if (!err)
		err = tracefile_open(&r.tf, path);
	else
		r.tf.fd = -1;
	/* damaged metadata: what was read of it is shown, with no event */
	if (!err || err == -EBADMSG) {
		err = take_header(&r, path, reason);
		if (!err)
			err = read_events(&r, reason);
	}
	if (err && !*reason)
		*reason = strerror(-err);
	summary_sort(&rec->summary);
	rec->damages = r.tf.damages;
	r.tf.damages = (struct damages){ 0 };
	model_close(&r.model);
	faults_close(&r.faults);
	timeline_close(&r.timeline);
	probes_release(&r.probes);
	comms_release(&r.comms);
	formats_release(&r.formats);
	tracefile_close(&r.tf);
	return err;
}
