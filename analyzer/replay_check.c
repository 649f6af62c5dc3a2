// SPDX-License-Identifier: GPL-2.0-or-later
/* Holds a prediction against the recording of what then happened. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "replay_check.h"

#define COUNT_TOLERANCE 0.005
#define SAME_WORKLOAD	0.1 /* populating faults of two runs differ by less */
#define FEW_FAULTS	16  /* or by no more than that */

struct actual replay_actual(const struct recording *after, enum fault_class class,
			    unsigned int order, enum fault_level level)
{
	const struct summary *s = &after->summary;
	struct actual a = { .timed = true };

	for (size_t i = 0; i < s->nr_rows; i++) {
		const struct summary_row *row = s->rows[i];

		if (row->key.class != class || row->key.order != order || row->key.level != level)
			continue;
		a.faults += row->faults;
		a.time += row->latency.sum;
		a.timed = a.timed && row->latency.count == row->faults;
	}
	return a;
}

enum replay_miss replay_missed(enum fault_class class, const struct replay_row *row,
			       const struct predicted_time *time, const struct actual *actual)
{
	double off = fabs((double)row->predicted_faults - actual->faults);

	if (class == CLASS_UNKNOWN)
		return MISS_NONE;
	if (off > 1 && off > COUNT_TOLERANCE * actual->faults)
		return MISS_COUNT;
	if ((row->batches.count || row->changed) && time->known && actual->timed &&
	    (actual->time < time->low || actual->time > time->high))
		return MISS_TIME;
	return MISS_NONE;
}

static bool has_probe(const struct recording *rec, const char *name)
{
	for (size_t i = 0; i < rec->nr_probes; i++) {
		if (!strcmp(rec->probes[i], name))
			return true;
	}
	return false;
}

/* A probe on the worker fired, which costs time in each fault that batches. */
static bool saw_worker(const struct recording *rec)
{
	const struct summary *s = &rec->summary;

	for (size_t i = 0; i < s->nr_rows; i++) {
		if (s->rows[i]->key.class == CLASS_REUSE &&
		    s->rows[i]->key.evidence == EVIDENCE_SEEN)
			return true;
	}
	return false;
}

bool replay_same_probes(const struct recording *before, const struct recording *after)
{
	size_t i = 0;

	while (i < before->nr_probes && has_probe(after, before->probes[i]))
		i++;
	return i == before->nr_probes && before->nr_probes == after->nr_probes &&
	       saw_worker(before) == saw_worker(after);
}

static bool differ(const char *a, const char *b)
{
	return a && b && strcmp(a, b);
}

/* No rule for write faults changes how memory is populated. */
static bool populate_alike(const struct recording *before, const struct recording *after,
			   unsigned int order, uint64_t faults[2])
{
	double off;

	faults[0] = faults[1] = 0;
	for (int level = 0; level < NR_LEVELS; level++) {
		faults[0] += replay_actual(before, CLASS_MAP, order, level).faults;
		faults[1] += replay_actual(after, CLASS_MAP, order, level).faults;
	}
	off = fabs((double)faults[0] - faults[1]);
	return off <= FEW_FAULTS || off <= SAME_WORKLOAD * fmax(faults[0], faults[1]);
}

bool replay_unlike(const struct recording *before, const struct recording *after, char *why,
		   size_t size)
{
	uint64_t faults[2];
	unsigned int order = 0;

	while (order < NR_ORDERS && populate_alike(before, after, order, faults))
		order++;
	if (differ(before->arch, after->arch))
		snprintf(why, size, "was recorded on %s, the one before on %s", after->arch,
			 before->arch);
	else if (before->page_size != after->page_size)
		snprintf(why, size, "has pages of %u bytes, the one before of %u", after->page_size,
			 before->page_size);
	else if (before->time_is_ns != after->time_is_ns)
		snprintf(why, size, "has another clock than the one before");
	else if (differ(before->workload, after->workload))
		snprintf(why, size, "is of the workload '%s', the one before of '%s'",
			 after->workload, before->workload);
	else if (order < NR_ORDERS)
		snprintf(why, size,
			 "is of another workload: order %u was populated by %" PRIu64
			 " faults, in the one before by %" PRIu64,
			 order, faults[1], faults[0]);
	else
		return false;
	return true;
}
