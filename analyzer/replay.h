/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What would another batching rule have done to a recording? The steps go through a model as they
 * happened and through one with the policy; the rows say what was and what would have been.
 */
#ifndef REPLAY_H
#define REPLAY_H

#include "costs.h"
#include "fault.h"
#include "filter.h"
#include "model.h"
#include "policy.h"

enum stale_tlb {
	STALE_NONE,	 /* no CPU holds an old translation */
	STALE_ASCENDING, /* it was speculated where a task stores to the next page */
	STALE_ALL,	 /* every page that a fault is avoided for: an upper bound */
};

/* Of one class, order and level, under one policy. Times are in the recording's unit. */
struct replay_row {
	uint64_t recorded_faults, predicted_faults;
	uint64_t recorded_time; /* latencies; of faults with an exit */
	uint64_t kept_time;	/* recorded latencies of the faults that are predicted */
	uint64_t recorded_untimed, predicted_untimed; /* faults without an exit */
	uint64_t batches;    /* predicted faults that resolve more than they did */
	uint64_t extra_ptes; /* and how many more */
	uint64_t switched;   /* predicted faults of another class than recorded: not in kept_time */
	uint64_t recorded_ptes, predicted_ptes; /* of the folios, over episodes */
	uint64_t waste_ptes; /* resolved under the policy and not touched by the end */
};

struct replay_rows {
	struct replay_row row[NR_CLASSES][NR_ORDERS][NR_LEVELS];
	struct replay_row filtered; /* what the filter does not count */
};

struct replay;

/* One policy at work. */
struct prediction {
	const struct replay *replay;
	struct policy policy;
	struct model model;
	struct replay_rows *rows; /* owned */
};

struct replay {
	struct model recorded;
	struct prediction *predictions; /* owned */
	size_t nr;
	enum stale_tlb stale_tlb;
	const struct filter *filter; /* of classes and orders that are counted; NULL all */
	uint64_t last_vpn;	     /* of the write before, for STALE_ASCENDING */
	uint64_t last_mm;
	int32_t last_pid;
};

/*
 * Start with a model of @options (whose callback is not used) for each of @nr policies. 0 or
 * -ENOMEM; replay_close() is due in either case.
 */
int replay_open(struct replay *r, const struct model_options *options,
		const struct policy *policies, size_t nr, enum stale_tlb stale_tlb,
		const struct filter *filter);

/* Take in one step; what r->recorded was told of the events seen holds for all. 0 or -ENOMEM. */
int replay_step(struct replay *r, const struct step *s);

/* The recording has ended. 0 or -ENOMEM. */
int replay_finish(struct replay *r);

/* A time that is predicted, and its interval. */
struct predicted_time {
	bool known;
	double value, low, high;
};

/* Of all predicted faults of a row, given what more PTEs cost. */
struct predicted_time replay_time(const struct replay_rows *rows, enum fault_class class,
				  unsigned int order, enum fault_level level,
				  const struct costs *costs);

void replay_close(struct replay *r);

#endif
