/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a report adds up: counters and distributions per row, all of which can be merged.
 * Computes and prints nothing.
 */
#ifndef SUMMARY_H
#define SUMMARY_H

#include "fault.h"
#include "hist.h"

/* One row: all faults of one struct fault_key. */
struct summary_row {
	struct fault_key key;
	uint64_t faults;
	uint64_t apart; /* of them, where rows of several keys are added up: of no folio */
	uint64_t folios, episodes;
	uint64_t ptes, ptes_touched;
	uint64_t ptes_resolved;		      /* unless unknown, as timed_ptes */
	uint64_t timed_ptes;		      /* resolved in episodes that were timed */
	uint64_t waste_ptes;		      /* resolved and never used, unless unknown */
	bool resolved_unknown, waste_unknown; /* of an episode */
	struct hist latency;		      /* of each fault that has an exit */
	struct hist per_folio_latency;	      /* sum of each timed episode */
	struct hist time_to_complete;	      /* of each completed episode */
	struct hist ptes_per_fault;	      /* batch sizes where known */
	struct hist whole;		      /* see summary_settle() */
};

struct fault_counts {
	/* As counted in the rows: only what passes the filters. */
	uint64_t total;	  /* logical faults */
	uint64_t retries; /* merged into them; without filters abandoned ones too */
	uint64_t major, remote;
	/* As recorded, whatever the filters say; the pairing stage counts them. */
	uint64_t entries, exits;
	uint64_t unpaired_entries, unpaired_exits;
};

/* All zero is an empty summary; summary_release() returns it to that. */
struct summary {
	struct fault_counts counts;
	struct summary_row **rows; /* owned; in order of first use until summary_sort() */
	size_t nr_rows;
	uint16_t *index;	  /* by key: place in rows plus 1, 0 none; owned */
	struct summary_row *last; /* that was asked for; NULL: none */
};

/*
 * Count one fault with its outcome; one that is not counted (filters) adds nothing. Leaves entries,
 * exits and unpaired_* alone. Counts the episode, too, where it was a whole one. Returns 0 or
 * -ENOMEM.
 */
int summary_add_fault(struct summary *s, const struct fault *f, const struct outcome *o);

/* Count one ended episode. Returns 0 or -ENOMEM. */
int summary_add_episode(struct summary *s, const struct episode *e);

/*
 * Due once all are counted, before a row is looked at. A fault that was a whole episode has one
 * latency for three distributions, which have it from then on. Returns 0 or -ENOMEM.
 */
int summary_settle(struct summary *s);

/* Add all of @from to @to. Returns 0 or -ENOMEM. */
int summary_merge(struct summary *to, const struct summary *from);

/* The row of @key, made when it is new; NULL when out of memory. */
struct summary_row *summary_row(struct summary *s, const struct fault_key *key);

/* The row of @key, NULL when there is none. */
const struct summary_row *summary_find(const struct summary *s, const struct fault_key *key);

/* Sort rows by class, level, order, evidence, from, source: the order in which they are shown. */
void summary_sort(struct summary *s);

/* The order of summary_sort(), as strcmp() answers. */
int fault_key_compare(const struct fault_key *a, const struct fault_key *b);

/* Add the counters and distributions of @from to @to, whose key stays. Returns 0 or -ENOMEM. */
int row_merge(struct summary_row *to, const struct summary_row *from);

/* Whether both say the same. */
bool row_equal(const struct summary_row *a, const struct summary_row *b);

/* faults of folios / their PTEs: the faults that each PTE cost; NAN when there are no PTEs. */
double row_faults_per_pte(const struct summary_row *r);

/*
 * Whether the PTEs that were resolved are all that were. Of a reuse fault no event says how many it
 * resolved: one that took the others along leaves them without a fault, as do pages that nobody
 * wrote.
 */
bool resolved_is_all(const struct fault_key *key, uint64_t ptes_resolved, uint64_t ptes);

/*
 * per-folio latency / PTEs resolved in timed episodes, time units; NAN when there are none, when it
 * is not known how many were resolved, or when the sum is unknown.
 */
double row_time_per_pte(const struct summary_row *r);

/* Whether waste_ptes is known: something was resolved, and of each episode it is known. */
bool row_waste_known(const struct summary_row *r);

/* Forget every time of @r; counters and batch sizes stay. */
void row_drop_times(struct summary_row *r);

void row_release(struct summary_row *r);

void summary_release(struct summary *s);

#endif
