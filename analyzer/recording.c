// SPDX-License-Identifier: GPL-2.0-or-later
/* What belongs to a recording: its words, its release, and the sum of several. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "recording.h"

const char *recording_time_unit(const struct recording *r)
{
	if (r->time_is_ns)
		return "ns";
	return r->clock && !strcmp(r->clock, "x86-tsc") ? "cycles" : "ticks";
}

static bool same_text(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

bool recordings_mix_units(const struct recording *recs, size_t nr)
{
	for (size_t i = 1; i < nr; i++) {
		if (recs[i].time_is_ns != recs[0].time_is_ns)
			return true;
		if (!recs[i].time_is_ns && !same_text(recs[i].clock, recs[0].clock))
			return true;
	}
	return false;
}

/* Keep in *@common what is the same text in @text; NULL when it is not. */
static void keep_common(const char **common, const char *text)
{
	if (!same_text(*common, text))
		*common = NULL;
}

static int copy_text(char **to, const char *from)
{
	if (!from)
		return 0;
	*to = strdup(from);
	return *to ? 0 : -ENOMEM;
}

static int common_words(struct recording *total, const struct recording *recs, size_t nr)
{
	const char *kernel = recs[0].kernel, *arch = recs[0].arch, *clock = recs[0].clock;
	int err;

	total->page_size = recs[0].page_size;
	total->time_is_ns = recs[0].time_is_ns;
	total->exact = recs[0].exact;
	for (size_t i = 1; i < nr; i++) {
		keep_common(&kernel, recs[i].kernel);
		keep_common(&arch, recs[i].arch);
		keep_common(&clock, recs[i].clock);
		if (recs[i].page_size != total->page_size)
			total->page_size = 0;
		total->time_is_ns &= recs[i].time_is_ns;
		total->exact &= recs[i].exact;
	}
	err = copy_text(&total->kernel, kernel);
	if (!err)
		err = copy_text(&total->arch, arch);
	if (!err)
		err = copy_text(&total->clock, clock);
	return err;
}

int recordings_total(struct recording *total, const struct recording *recs, size_t nr)
{
	int err = nr ? common_words(total, recs, nr) : 0;

	for (size_t i = 0; i < nr && !err; i++) {
		err = summary_merge(&total->summary, &recs[i].summary);
		total->duration = counter_add(total->duration, recs[i].duration);
		total->events = counter_add(total->events, recs[i].events);
		total->lost_events = counter_add(total->lost_events, recs[i].lost_events);
		total->lost_uncounted = counter_add(total->lost_uncounted, recs[i].lost_uncounted);
		total->unknown_events = counter_add(total->unknown_events, recs[i].unknown_events);
		total->repeated_events =
			counter_add(total->repeated_events, recs[i].repeated_events);
		total->unmatched_exceptions =
			counter_add(total->unmatched_exceptions, recs[i].unmatched_exceptions);
		total->untracked_forks =
			counter_add(total->untracked_forks, recs[i].untracked_forks);
		total->damages.nr = counter_add(total->damages.nr, recs[i].damages.nr);
	}
	if (recordings_mix_units(recs, nr)) {
		total->duration = 0;
		for (size_t i = 0; i < total->summary.nr_rows; i++)
			row_drop_times(total->summary.rows[i]);
	}
	summary_sort(&total->summary);
	return err;
}

bool recording_same(const struct recording *a, const struct recording *b)
{
	if (a->trace_id && b->trace_id)
		return a->trace_id == b->trace_id;
	return same_text(a->file, b->file) && a->trace_id == b->trace_id &&
	       a->events == b->events && a->duration == b->duration &&
	       !memcmp(&a->summary.counts, &b->summary.counts, sizeof(a->summary.counts));
}

void recording_release(struct recording *r)
{
	free(r->file);
	free(r->kernel);
	free(r->arch);
	free(r->clock);
	free(r->boot);
	free(r->build);
	free(r->workload);
	for (size_t i = 0; i < r->nr_probes; i++)
		free(r->probes[i]);
	free(r->probes);
	damages_release(&r->damages);
	summary_release(&r->summary);
	*r = (struct recording){ 0 };
}
