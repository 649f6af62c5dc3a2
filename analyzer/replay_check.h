/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Holds a prediction against the recording of what then happened. */
#ifndef REPLAY_CHECK_H
#define REPLAY_CHECK_H

#include "recording.h"
#include "replay.h"

/* What a recording has of one class, order and level. */
struct actual {
	uint64_t faults, time;
	bool timed; /* all faults have an exit */
};

struct actual replay_actual(const struct recording *after, enum fault_class class,
			    unsigned int order, enum fault_level level);

/* Where a row's prediction fails. */
enum replay_miss {
	MISS_NONE,
	MISS_COUNT, /* by more than 0.5 % and more than one fault */
	MISS_TIME,  /* outside of its interval */
};

/*
 * Whether a row misses what @actual says. A time is held against its interval where the policy
 * changes what a fault does; elsewhere it is that of the recording. What the recording cannot tell
 * is not predicted either: faults of class unknown miss nothing.
 */
enum replay_miss replay_missed(enum fault_class class, const struct replay_row *row,
			       const struct predicted_time *time, const struct actual *actual);

/* Whether the faults of both pay for the same probes. */
bool replay_same_probes(const struct recording *before, const struct recording *after);

/*
 * Whether @after cannot be what @before became: another architecture, page size, clock or workload,
 * the latter by the manifests or by the folios that were populated. *why says it.
 */
bool replay_unlike(const struct recording *before, const struct recording *after, char *why,
		   size_t size);

#endif
