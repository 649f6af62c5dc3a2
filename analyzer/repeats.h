/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events that several instances of one recording hold, each told to be the same as the one before
 * it: the kernel writes an event to all instances that want it in one go, so that on its CPU
 * nothing stands between.
 */
#ifndef REPEATS_H
#define REPEATS_H

#include <stddef.h>

#include "event.h"
#include "tracefile.h"

struct repeats_cpu {
	struct event last;
	size_t first, repeat; /* streams: that it came from, and that repeated it last */
};

/* All zero: one instance, nothing repeats. */
struct repeats {
	struct repeats_cpu *cpus; /* by number; owned */
	uint64_t nr;		  /* events that were in another instance, too */
};

/* For the buffers of @tf, of which there may be one. 0 or -ENOMEM; repeats_close() is due. */
int repeats_open(struct repeats *r, const struct tracefile *tf);

/* Whether @e, the next in time, of @stream (a CPU of one buffer), was just seen in another one. */
bool repeats_event(struct repeats *r, const struct event *e, size_t stream);

void repeats_close(struct repeats *r);

#endif
