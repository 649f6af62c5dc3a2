/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What would another batching rule have done to a recording? Each policy has a model, which takes
 * the steps and what the model of the recording made of them; the rows say what was and what would
 * have been.
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
	uint64_t kept_time;	/* recorded latencies of faults that are predicted as they were */
	uint64_t recorded_untimed, predicted_untimed; /* faults without an exit */
	uint64_t changed; /* predicted faults that are not: of another class, or they batch */
	uint64_t recorded_ptes, predicted_ptes; /* of the folios, over episodes */
	uint64_t waste_ptes; /* resolved under the policy and not touched by the end */
	struct hist batches; /* of predicted faults that resolve more than they did: 1 + how many */
};

struct replay_rows {
	struct replay_row row[NR_CLASSES][NR_ORDERS][NR_LEVELS];
	struct replay_row filtered; /* what the filter does not count */
	/* reuse of small folios, also where the filter does not count it */
	uint64_t small_reuses, small_reuse_time;
	uint32_t block; /* PTEs that a batch takes along without taking them apart */
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
	struct prediction *predictions; /* owned */
	size_t nr;
	enum stale_tlb stale_tlb;
	const struct filter *filter; /* of classes and orders that are counted; NULL all */
	uint64_t last_vpn;	     /* of the write before, for STALE_ASCENDING */
	uint64_t last_mm;
	int32_t last_pid;
};

/*
 * Start with a model of @options (whose policy and callback are not used) for each of @nr policies.
 * 0 or -ENOMEM; replay_close() is due in either case.
 */
int replay_open(struct replay *r, const struct model_options *options,
		const struct policy *policies, size_t nr, enum stale_tlb stale_tlb,
		const struct filter *filter);

/*
 * Take in one step, and for a fault what it was. What is known of the events seen has to be told
 * to the models before. 0 or -ENOMEM.
 */
int replay_step(struct replay *r, const struct step *s, const struct outcome *recorded);

/* Take in an episode of the recording's model: every prediction is held against it. */
void replay_episode(struct replay *r, const struct episode *e);

/* The recording has ended. 0 or -ENOMEM. */
int replay_finish(struct replay *r);

/* The place of a row among struct replay_rows. */
struct replay_place {
	enum fault_class class;
	unsigned int order;
	enum fault_level level;
};

/* The place after @at others, in the order in which rows are shown; false behind the last. */
static inline bool replay_place_at(unsigned int at, struct replay_place *place)
{
	*place = (struct replay_place){ .class = at / (NR_ORDERS * NR_LEVELS),
					.order = at / NR_LEVELS % NR_ORDERS,
					.level = at % NR_LEVELS };
	return at < NR_CLASSES * NR_ORDERS * NR_LEVELS;
}

/* A time that is predicted, and its interval. */
struct predicted_time {
	bool known;
	double value, low, high;
};

/* Of all predicted faults of a row, given what more PTEs cost. Unknown, too, without memory. */
struct predicted_time replay_time(const struct replay_rows *rows, enum fault_class class,
				  unsigned int order, enum fault_level level,
				  const struct costs *costs);

void replay_close(struct replay *r);

#endif
