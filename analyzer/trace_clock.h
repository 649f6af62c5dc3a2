/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the time stamp in the ring buffer to the time that trace-cmd shows: host synchronisation
 * (TIME_SHIFT), TSC to ns (TSC2NSEC), then the fixed offset (OFFSET, DATE), in this order.
 */
#ifndef TRACE_CLOCK_H
#define TRACE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct time_sample {
	uint64_t time;
	int64_t offset;
	uint64_t scaling;
	uint64_t fraction; /* bits to shift right after scaling, below 64 */
};

/* The samples of one CPU, ascending in time, no two at the same time. */
struct time_shift {
	struct time_sample *samples; /* owned */
	size_t nr;
};

#define TIME_SHIFT_INTERPOLATE 0x1

/* All zero changes no time stamp; trace_clock_release() returns it to that. */
struct trace_clock {
	char *name;		   /* "local", "x86-tsc", …; NULL unknown; owned */
	struct time_shift *shifts; /* by CPU number; owned */
	size_t nr_shifts;
	uint32_t shift_flags;
	bool tsc2nsec;
	uint32_t mult, shift; /* ns = ts * mult >> shift */
	int64_t offset_ns;
};

/* Whether converted times are ns. A clock that no option names is trace-cmd's default, local. */
bool trace_clock_is_ns(const struct trace_clock *c);

/* Whether trace_clock_convert() returns what it is given. */
bool trace_clock_is_identity(const struct trace_clock *c);

/* The time that the event at ring-buffer time @ts of @cpu is shown with. */
uint64_t trace_clock_convert(const struct trace_clock *c, uint32_t cpu, uint64_t ts);

/* Bring samples into the order that struct time_shift promises. */
void time_shift_sort(struct time_shift *s);

void trace_clock_release(struct trace_clock *c);

#endif
