// SPDX-License-Identifier: GPL-2.0-or-later
/* Tells events that several instances of one recording hold from events that happened again. */
#include <errno.h>
#include <stdlib.h>

#include "repeats.h"

int repeats_open(struct repeats *r, const struct tracefile *tf)
{
	size_t nr_cpus = 1;

	*r = (struct repeats){ 0 };
	if (tf->nr_buffers < 2)
		return 0;
	for (size_t i = 0; i < tf->nr_buffers; i++) {
		const struct trace_buffer *b = &tf->buffers[i];

		for (size_t j = 0; j < b->nr_cpus; j++)
			if (b->cpus[j].cpu >= nr_cpus)
				nr_cpus = b->cpus[j].cpu + 1;
	}
	r->cpus = calloc(nr_cpus, sizeof(*r->cpus));
	return r->cpus ? 0 : -ENOMEM;
}

/* All but the time: each instance takes its own. */
static bool same_event(const struct event *a, const struct event *b)
{
	return a->role == b->role && a->pid == b->pid && a->mm == b->mm && a->oldmm == b->oldmm &&
	       a->start == b->start && a->end == b->end && a->address == b->address &&
	       a->flags == b->flags && a->ret == b->ret && a->number == b->number;
}

bool repeats_event(struct repeats *r, const struct event *e, size_t stream)
{
	struct repeats_cpu *cpu = &r->cpus[e->cpu];

	/* where the last one came from, it is new: it happened again */
	if (stream == cpu->first || stream == cpu->repeat || !same_event(&cpu->last, e)) {
		*cpu = (struct repeats_cpu){ .last = *e, .first = stream, .repeat = stream };
		return false;
	}
	cpu->repeat = stream;
	r->nr++;
	return true;
}

void repeats_close(struct repeats *r)
{
	free(r->cpus);
	*r = (struct repeats){ 0 };
}
