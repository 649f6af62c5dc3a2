/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the rooms of the model share: model.c says what a fault was for, model_access.c does to the
 * books what that means, model_episode.c keeps what it cost.
 */
#ifndef MODEL_INT_H
#define MODEL_INT_H

#include "event.h"
#include "model.h"

/* One fault on its way through the model. */
struct access {
	const struct fault *fault;
	struct outcome *outcome;
	uint32_t mm;
	struct vma *vma; /* NULL unknown */
	uint64_t vpn;
	struct mapping *map; /* NULL: the page is not known to be mapped */
	uint32_t pte;	     /* in the mapping */
	bool write;
	uint32_t unused; /* PTEs that it resolved and the workload does not list as used */
	const struct outcome *recorded; /* what it was without the policy; NULL: there is none */
};

static inline unsigned int pmd_order(const struct model *m)
{
	return m->options.page_shift - 3; /* a page table holds a page of 8-byte entries */
}

/* Page-fault error code, where an exception event gives it. */
static inline bool was_present(const struct fault *f)
{
	return f->has_error_code && f->error_code & X86_PF_PROT;
}

static inline bool was_absent(const struct fault *f)
{
	return f->has_error_code && !(f->error_code & X86_PF_PROT);
}

/* When what the fault resolved was there, as far as the recording shows it. */
static inline uint64_t resolved_at(const struct fault *f)
{
	return f->has_exit ? f->exit : f->entry;
}

/* --- model_episode.c --- */

/*
 * Charge the fault to the mapping's episode: @touched PTEs had their first fault, @resolved became
 * usable. A folio whose order is not known has no episodes: nothing can be said per PTE.
 */
void episode_charge(struct model *m, struct access *a, struct mapping *map, uint32_t touched,
		    uint32_t resolved);

/*
 * The fault, which made one PTE of its mapping writable, may be the first of many that do so: tell
 * the run what its episode has.
 */
void episode_begin_run(struct model *m, const struct access *a);

/* One more of them. */
void episode_go_on(struct model *m, const struct fault *f);

/* Charge the episode with the run's faults, if there is a run: the next one is none of it. */
void episode_end_run(struct model *m);

/* The fault is all of an episode of @map, of the same kind as the one that has ended last. */
void episode_again(struct model *m, const struct mapping *map, const struct fault *f);

/* Whether the workload lists the page as used, for what @class made usable. */
bool episode_used(const struct model *m, enum fault_class class, uint64_t vpn);

/* The mapping's episode ends: what its classes have cost is known. */
void episode_end(struct model *m, struct mapping *map);

/* The mapping is gone, or all of an mm are, and with them their episodes. */
void episode_forget_mapping(struct model *m, struct mapping *map);
void episode_forget_mm(struct model *m, uint32_t mm);

/* --- model_access.c: each sets m->err when memory runs out --- */

void access_set_key(struct access *a, enum fault_class class, enum evidence evidence);

/* The fault was about this mapping's folio. */
void access_set_folio(struct access *a, const struct mapping *map);

/*
 * Map a folio around the fault: of the order that was allocated, else of @assumed (ORDER_UNKNOWN:
 * each page is kept apart and none has a folio). NULL when out of memory.
 */
struct mapping *access_map_folio(struct model *m, struct access *a, enum pte_state state,
				 uint8_t assumed);

/* The model was wrong about this page: nothing is known of it but what the fault shows. */
void access_drop_page(struct model *m, struct access *a);

/*
 * Whether the rules let a write reuse a read-only page of the mapping that is in @state
 * (do_wp_page(), 6.12 and 7.3).
 */
bool access_may_reuse(const struct model *m, const struct mapping *map, enum pte_state state);

/*
 * The PMD had become PTEs before its last fault, unseen (a partial mprotect, …): that fault
 * resolved what a fault on a PTE does, and the others are still write-protected.
 */
void access_split_unseen(struct model *m, struct access *a);

/* What a fault was, done: its outcome, the books and its episode. */
void access_map(struct model *m, struct access *a, enum evidence evidence);
void access_zero(struct model *m, struct access *a);
void access_file(struct access *a);
void access_copy(struct model *m, struct access *a, enum evidence evidence);
void access_reuse(struct model *m, struct access *a);
void access_unshare(struct model *m, struct access *a);

/* A copy whose source is not in the model; what it made is. */
void access_copy_unmodelled(struct model *m, struct access *a, enum cow_from from,
			    enum evidence evidence);

/* The hardware needed the PTE to be young; what a write to it needs is still to come. */
void access_young(struct model *m, struct access *a);

/* A fault that changed nothing of the mapping it was on. */
void access_nothing(struct model *m, struct access *a, enum fault_class class);

#endif
