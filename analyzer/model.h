/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What each fault was for: the transitions of folios and PTEs that a recording shows or implies.
 * Every class states its evidence; where events say nothing and the rules do not decide, it is
 * unknown.
 */
#ifndef MODEL_H
#define MODEL_H

#include "fault.h"
#include "faults.h"
#include "memory.h"
#include "policy.h"
#include "used.h"

struct model_options {
	unsigned int page_shift;
	/* the order that --folio-size states for populating faults without an allocation event */
	uint8_t assumed_order;	       /* or ORDER_UNKNOWN */
	bool faults_on_old;	       /* an old PTE faults: no hardware sets its access flag */
	bool sees_forks;	       /* a fork within the recording would be in it */
	bool reuses_large;	       /* the kernel reuses an exclusive large folio (since 6.15) */
	const struct used_pages *used; /* what the workload says it used; NULL: nothing */
	/*
	 * Another rule than the recorded kernel's. Each step is then given first to a model without
	 * one, and this one is told what that made of it: see model_predict().
	 */
	const struct policy *policy; /* NULL: as recorded */
	/*
	 * Called with each episode that has ended and had counted faults, but for those that come
	 * with an outcome. 0 or -errno.
	 */
	int (*episode)(void *ctx, const struct episode *e);
	void *ctx;
};

/* Reuse faults that are alike, one after the other: of PTEs of one folio, or of small folios. */
struct model_run {
	enum {
		RUN_NONE,
		RUN_OF_PTES,
		RUN_OF_FOLIOS
	} kind;
	struct fault fault; /* the first of them */
	struct outcome outcome;
	/* of PTES: */
	struct mapping *map;
	struct tally *tally;  /* of its episode, which they are charged to when the run ends */
	enum pte_state state; /* in which each finds its PTE */
	uint32_t nr, left;    /* faults that are to be charged; that would make it complete */
	uint64_t latency;     /* of those */
	/* OF_FOLIOS, of which each fault is a whole episode: */
	uint32_t mm;
	struct mapping before, after; /* the first of them */
};

struct model {
	struct model_options options;
	struct memory memory;
	struct model_run run;
	/* the one that has ended last; in a RUN_OF_FOLIOS an outcome has it */
	struct episode ended;
	bool sees_alloc; /* the recording has allocations: none inside a fault means none was made
			  */
	bool sees_rss;	 /* the same of counters */
	uint64_t steps;	 /* so far */
	uint64_t copied; /* bytes that forks would have copied so far, had nothing been borrowed */
	uint64_t untracked_forks;
	int err; /* of the episode callback */
};

int model_open(struct model *m, const struct model_options *options);

#define MODEL_CACHED_SIZE (128u << 10) /* bytes: a smaller model is in the cache anyway */

/* Whether what follows is worth to be called. */
static inline bool model_is_large(const struct model *m)
{
	return m->memory.size >= MODEL_CACHED_SIZE;
}

/*
 * A fault on the page at @address will soon be a step: have what the model knows of the page in the
 * cache by then. model_announce() is to be called when the exception comes, if it does, and
 * model_expect() once handle_mm_fault() is entered on @cpu.
 */
void model_announce(struct model *m, uint64_t mm, uint64_t address);
void model_expect(struct model *m, uint32_t cpu, uint64_t mm, uint64_t address);

/*
 * Apply @s; for a fault *o says what it was. Returns 0, -ENOMEM, or what the callback returned.
 *
 * Memory grows with the steps: a fork that would take far more, as copies of copies do, is not
 * followed. It counts as untracked, and both mms are as good as new: nothing is known of them.
 */
int model_step(struct model *m, const struct step *s, struct outcome *o);

/*
 * Apply @s to a model with a policy, given what the model without one made of it. For a fault *o
 * says what it would have been, or that it would have been avoided. The episodes' resolved PTEs
 * that were not touched are the policy's waste.
 *
 * Evidence is of what happened; here the rules decide, but only where they decide otherwise than
 * they do in the recorded state: so no policy predicts exactly what was recorded.
 */
int model_predict(struct model *m, const struct step *s, const struct outcome *recorded,
		  struct outcome *o);

/* The recording has ended, and with it every episode. */
int model_finish(struct model *m);

void model_close(struct model *m);

#endif
