// SPDX-License-Identifier: GPL-2.0-or-later
/* What makes two sides unlike, so that comparing them would say nothing about the change. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

#define MAX_LOSS 0.001 /* of all events */

static int add_reason(struct compare_reasons *reasons, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static int add_reason(struct compare_reasons *reasons, const char *fmt, ...)
{
	char **list = reallocarray(reasons->list, reasons->nr + 1, sizeof(*list));
	va_list ap;
	int n;

	if (!list)
		return -ENOMEM;
	reasons->list = list;
	va_start(ap, fmt);
	n = vasprintf(&list[reasons->nr], fmt, ap);
	va_end(ap);
	if (n < 0)
		return -ENOMEM;
	reasons->nr++;
	return 0;
}

static const char *known(const char *word)
{
	return word ? word : "unknown";
}

static bool same_word(const char *a, const char *b)
{
	return !strcmp(known(a), known(b));
}

static bool has_probe(const struct recording *r, const char *probe)
{
	for (size_t i = 0; i < r->nr_probes; i++)
		if (!strcmp(r->probes[i], probe))
			return true;
	return false;
}

/* A probe of @a that @b lacks, NULL when there is none. */
static const char *missing_probe(const struct recording *a, const struct recording *b)
{
	for (size_t i = 0; i < a->nr_probes; i++)
		if (!has_probe(b, a->probes[i]))
			return a->probes[i];
	return NULL;
}

static int check_probes(struct compare_reasons *reasons, const struct recording *a,
			const struct recording *b)
{
	const char *probe = missing_probe(a, b);

	if (probe)
		return add_reason(reasons, "probe sets differ: %s has %s, %s has not", a->file,
				  probe, b->file);
	probe = missing_probe(b, a);
	if (probe)
		return add_reason(reasons, "probe sets differ: %s has %s, %s has not", b->file,
				  probe, a->file);
	return 0;
}

static int check_clocks(struct compare_reasons *reasons, const struct recording *a,
			const struct recording *b)
{
	if (!same_word(a->clock, b->clock) || a->time_is_ns != b->time_is_ns)
		return add_reason(reasons, "clocks differ: %s (%s) of %s, %s (%s) of %s",
				  known(a->clock), recording_time_unit(a), a->file, known(b->clock),
				  recording_time_unit(b), b->file);
	if (a->exact != b->exact)
		return add_reason(reasons,
				  "clocks differ: that of %s counts instructions, that of %s "
				  "does not",
				  a->exact ? a->file : b->file, a->exact ? b->file : a->file);
	return 0;
}

/* What manifests call the workload is the command: where either does not, nothing can be said. */
static int check_workloads(struct compare_reasons *reasons, const struct recording *a,
			   const struct recording *b)
{
	if (!a->workload || !b->workload || !strcmp(a->workload, b->workload))
		return 0;
	return add_reason(reasons, "workloads differ: '%s' in %s, '%s' in %s", a->workload, a->file,
			  b->workload, b->file);
}

/* @a is the first recording of its architecture. */
static int check_pair(struct compare_reasons *reasons, const struct recording *a,
		      const struct recording *b)
{
	int err = check_probes(reasons, a, b);

	if (!err)
		err = check_clocks(reasons, a, b);
	if (!err)
		err = check_workloads(reasons, a, b);
	if (!err && a->page_size != b->page_size)
		err = add_reason(reasons, "page sizes differ: %u bytes in %s, %u in %s",
				 a->page_size, a->file, b->page_size, b->file);
	return err;
}

static int check_whole(struct compare_reasons *reasons, const struct recording *r)
{
	double lost = r->lost_events;
	int err = 0;

	if (lost > MAX_LOSS * (lost + r->events))
		err = add_reason(reasons, "%s lost %.2g %% of its events, more than 0.1 %%",
				 r->file, 100 * lost / (lost + r->events));
	else if (r->lost_uncounted)
		err = add_reason(reasons, "%s lost events without a count", r->file);
	if (!err && r->damages.nr)
		err = add_reason(reasons, "%s is damaged", r->file);
	return err;
}

static const struct recording *first_of_arch(const struct compare_side *side, const char *arch)
{
	for (size_t i = 0; i < side->nr; i++)
		if (same_word(side->inputs[i].rec.arch, arch))
			return &side->inputs[i].rec;
	return NULL;
}

/* Every recording of a side, against the first of its architecture on the side before. */
static int check_side(struct compare_reasons *reasons, const struct compare_side sides[NR_SIDES],
		      enum side s)
{
	static const char *const names[NR_SIDES] = { "before", "after" };
	int err = 0;

	for (size_t i = 0; i < sides[s].nr && !err; i++) {
		const struct recording *r = &sides[s].inputs[i].rec;
		const struct recording *first = first_of_arch(&sides[BEFORE], r->arch);
		const struct recording *other = first_of_arch(&sides[!s], r->arch);

		err = check_whole(reasons, r);
		if (!err && !other && r == first_of_arch(&sides[s], r->arch))
			err = add_reason(reasons, "architectures differ: %s is of %s, none %s is",
					 r->file, known(r->arch), names[!s]);
		if (!err && first && first != r)
			err = check_pair(reasons, first, r);
	}
	return err;
}

int compare_unlike(struct compare_reasons *reasons, const struct compare_side sides[NR_SIDES])
{
	int err = check_side(reasons, sides, BEFORE);

	return err ? err : check_side(reasons, sides, AFTER);
}

void compare_reasons_release(struct compare_reasons *reasons)
{
	for (size_t i = 0; i < reasons->nr; i++)
		free(reasons->list[i]);
	free(reasons->list);
	*reasons = (struct compare_reasons){ 0 };
}

static const struct recording *nth(const struct compare_side sides[NR_SIDES], size_t i)
{
	return i < sides[BEFORE].nr ? &sides[BEFORE].inputs[i].rec
				    : &sides[AFTER].inputs[i - sides[BEFORE].nr].rec;
}

bool compare_same_recording(const struct compare_side sides[NR_SIDES], const struct recording **a,
			    const struct recording **b)
{
	size_t nr = sides[BEFORE].nr + sides[AFTER].nr;

	for (size_t i = 0; i < nr; i++) {
		for (size_t j = i + 1; j < nr; j++) {
			*a = nth(sides, i);
			*b = nth(sides, j);
			if (recording_same(*a, *b))
				return true;
		}
	}
	return false;
}
