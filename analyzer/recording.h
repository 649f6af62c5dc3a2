/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is said about one recording in a report, apart from its summary: where it comes from, what
 * it holds, and what of it was lost or damaged. Plain data, filled by the reader or by json_in.
 */
#ifndef RECORDING_H
#define RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "damage.h"
#include "summary.h"

/* All zero is empty; recording_release() frees what it owns: every pointer. */
struct recording {
	char *file;
	uint64_t trace_id;  /* 0: the recording has none */
	char *kernel;	    /* release, as uname -r; NULL unknown */
	char *arch;	    /* as uname -m; NULL unknown */
	uint32_t page_size; /* bytes, 0 unknown */
	char *clock;	    /* trace clock; NULL unknown */
	bool time_is_ns;    /* else ticks of that clock */
	bool exact;	    /* the clock counts instructions (manifest or --exact) */
	char *boot;	    /* what tells one boot from another (manifest); NULL unknown */
	char *build;	    /* likewise for builds of the kernel (manifest) */
	char *workload;	    /* the command that was recorded (manifest); NULL unknown */
	uint32_t cpus;
	char **probes; /* SYSTEM:NAME of the events that the report used */
	size_t nr_probes;
	uint64_t duration; /* last minus first time stamp, time units */
	uint64_t events;
	uint64_t lost_events;	       /* where the count is stored */
	uint64_t lost_uncounted;       /* places where events were lost and no count is stored */
	uint64_t unknown_events;       /* of an id that no format of the recording has */
	uint64_t repeated_events;      /* that more than one instance holds: counted once */
	uint64_t unmatched_exceptions; /* page faults that never entered handle_mm_fault() */
	uint64_t untracked_forks;      /* whose address spaces were too large to follow */
	struct damages damages;
	struct summary summary;
};

/* The word for the unit of its times: "ns", "cycles" of a raw TSC, else "ticks". */
const char *recording_time_unit(const struct recording *r);

/*
 * The sum of @nr recordings into @total, which was empty: summaries, events, lost events, duration.
 * What they do not have in common (kernel, clock, …) stays unknown, and the times in the summary
 * are dropped where units differ. Rows come out sorted. Returns 0 or -ENOMEM.
 */
int recordings_total(struct recording *total, const struct recording *recs, size_t nr);

/* Whether recordings of different time units are among them. */
bool recordings_mix_units(const struct recording *recs, size_t nr);

/*
 * Whether both are the same recording: by trace id where both have one, else by file name and what
 * was read from it.
 */
bool recording_same(const struct recording *a, const struct recording *b);

void recording_release(struct recording *r);

#endif
