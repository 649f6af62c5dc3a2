/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names of tasks, from the saved command lines of a recording. */
#ifndef COMMS_H
#define COMMS_H

#include <stddef.h>
#include <stdint.h>

#include "tracefile.h"

#define COMM_UNKNOWN "<...>" /* what trace-cmd prints for a task without a name */

struct comm {
	int32_t pid;
	const char *name; /* points into struct comms.text */
	uint64_t faults;  /* as comms_count() was told */
};

struct comms {
	char *text;	   /* owned */
	struct comm *list; /* by pid; owned */
	size_t nr;
};

/* Take in lines of "PID NAME". 0 or -ENOMEM. */
int comms_parse(struct comms *c, const struct trace_text *cmdlines);

/* The name of @pid, COMM_UNKNOWN when it has none. */
const char *comms_find(const struct comms *c, int32_t pid);

/* Count a fault of @pid, if it has a name. */
void comms_count(struct comms *c, int32_t pid);

void comms_release(struct comms *c);

#endif
