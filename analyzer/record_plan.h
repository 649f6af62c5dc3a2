/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What record sets in a kernel: the probes and events of a preset that this kernel offers. No I/O
 * here. */
#ifndef RECORD_PLAN_H
#define RECORD_PLAN_H

#include <stdbool.h>
#include <stddef.h>

/* What a kernel can do, asked by name. */
struct record_offer {
	bool fprobes; /* dynamic_events takes f: lines */
	bool kprobes; /* and p: and r: lines */
	bool (*has_function)(void *ctx, const char *name);
	bool (*has_event)(void *ctx, const char *system, const char *name);
	void *ctx;
};

/* All zero is empty; record_plan_release() returns it to that. Owns its strings. */
struct record_plan {
	char **probes; /* lines of dynamic_events, in the order to set them */
	size_t nr_probes;
	char **events; /* "SYSTEM:NAME" */
	size_t nr_events;
	bool whole_system; /* kernel threads do part of the work: no filter on the command */
};

bool record_plan_has(const char *preset);

/*
 * Plan @preset, with the probes in the group @group. Returns 0, -EINVAL for an unknown preset,
 * -EOPNOTSUPP when the kernel cannot show the entry and exit of a fault (*reason says what it
 * lacks), -ENOMEM.
 */
int record_plan_make(struct record_plan *plan, const char *preset, const char *group,
		     const struct record_offer *offer, const char **reason);

void record_plan_release(struct record_plan *plan);

#endif
