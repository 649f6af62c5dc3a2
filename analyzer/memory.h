/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is mapped where, as far as a recording shows it: address spaces, their VMAs, the folios
 * mapped in them and the state of every PTE. Keeps books and decides nothing: that is the model's
 * job.
 *
 * Mappings and mms are known by index, 0 is none. A pointer to one is good until the next
 * memory_reserve(); nothing else moves them.
 *
 * Most children of fork() are soon gone again. So nothing is copied for one at first: it borrows
 * its parent's mappings, and a mapping is copied when either of the two is asked for it. Who asks
 * finds all as if it had been copied; a child's mappings come in the order in which they were.
 */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler.h"
#include "fault.h"
#include "mapping.h"
#include "page_index.h"

enum vma_kind {
	VMA_UNKNOWN,
	VMA_ANON,
	VMA_FILE
};

struct vma {
	uint64_t start, end; /* bytes, end exclusive */
	enum vma_kind kind;
};

/* An address space. */
struct mm {
	uint64_t id;	      /* the mm_struct's address; 0: this entry is free */
	bool born;	      /* it began within the recording: what is not in here is not mapped */
	uint16_t orders;      /* bit n: has had a mapping of order n */
	uint32_t first, last; /* of its mappings, in the order in which they came */
	uint32_t nr_mappings;
	uint32_t hit;	  /* the mapping that was found last: the next page is often in it, too */
	struct vma *vmas; /* ascending, not overlapping; owned */
	uint32_t nr_vmas, vma_room, last_vma;
	uint64_t
		size; /* bytes that its mappings and VMAs take here, or will once they are copied */
	uint64_t borrowed_size; /* of that */
	uint32_t nr_borrowed;
	uint32_t lender, borrower; /* mms; 0: none */
	uint32_t next_free;
};

/* How often a folio that more than one mm maps is mapped. */
struct share {
	union {
		struct {
			uint32_t nr_mappings : 30; /* of 64 bytes each */
			uint32_t nr_slots : 2;	   /* mms that the folio tracks */
		};
		uint32_t next_free;
	};
};

/*
 * What one class of faults has cost one mapping in its current episode. Where every folio has one,
 * as one that is resolved in part does, they are a third of all memory: half a cache line each.
 */
struct tally {
	uint64_t latency, first;
	uint32_t faults;
	uint32_t next;
	uint32_t pid : 22; /* of the first fault: below PID_LIMIT */
	uint32_t class : 4, from : 2, evidence : 1, level : 1;
	uint32_t touched : 14, resolved : 14; /* a page table of 64K pages has 2^13 PTEs */
	bool timed : 1, waste_unknown : 1;
	bool wasted : 1; /* see memory_waste() */
};

_Static_assert(sizeof(struct tally) == 32 && PID_LIMIT == 1 << 22, "a tally has room for more");

#define MEMORY_CPUS 256 /* those that are expected on apart; a power of two */

struct memory {
	struct mapping *mappings; /* pool */
	uint32_t nr_mappings, mapping_room, free_mapping;
	struct tally *tallies; /* pool */
	uint32_t nr_tallies, tally_room, free_tally, live_tallies;
	uint32_t *wastes; /* pool: of the tally of the same index */
	uint32_t waste_room;
	struct share *shares; /* pool */
	uint32_t nr_shares, share_room, free_share, live_shares;
	struct mm *mms; /* pool */
	uint32_t nr_mms, mm_room, free_mm;
	struct page_index pages; /* the mappings, by what they map */
	uint32_t *mm_index;	 /* hash of mms by id */
	uint32_t mm_index_room, live_mms;
	uint32_t last_mm;
	uint64_t key;	   /* of the hash of mms */
	uint64_t near_vpn; /* of the mapping that was searched for and found last */
	uint32_t near_ptes;
	uint32_t expected[MEMORY_CPUS]; /* the mapping that a CPU's fault is expected on; 0: none */
	uint64_t size;			/* of all mms: bytes */
	uint32_t nr_borrowed;		/* in all mms: for their copies there is room, too */
	uint32_t spare;			/* each pool has room for so many more than were reserved */
	bool failed; /* out of memory, where something borrowed was to be copied */
};

int memory_open(struct memory *m);
void memory_close(struct memory *m);

/* What memory_reserve() does when there may not be enough room. */
int memory_grow(struct memory *m, uint32_t n);

/* Make room for @n (1 or more) more mappings, tallies and shares, and one mm. 0 or -ENOMEM. May
 * move all. */
static inline int memory_reserve(struct memory *m, uint32_t n)
{
	if (unlikely(m->spare < n))
		return memory_grow(m, n);
	m->spare -= n;
	return 0;
}

/* What memory_find_mm() does when it is not the mm that was found last. */
uint32_t memory_search_mm(struct memory *m, uint64_t id);

/* The mm of @id, 0 when it is not known. */
static inline uint32_t memory_find_mm(struct memory *m, uint64_t id)
{
	return likely(m->mms[m->last_mm].id == id) ? m->last_mm : memory_search_mm(m, id);
}

/* A new, empty mm; room was reserved. */
uint32_t memory_add_mm(struct memory *m, uint64_t id);

/* Forget the mm, whose mappings must be removed, and which lends and borrows nothing. */
void memory_remove_mm(struct memory *m, uint32_t mm);

/* What memory_vma() does when it is not the VMA that was asked for last. */
struct vma *memory_search_vma(struct memory *m, uint32_t mm, uint64_t start, uint64_t end);

/*
 * The VMA [start, end) of @mm, noted when it is new; others that it overlaps are forgotten, and it
 * takes over their kind. So are all when the mm has more than Linux allows by default: a new fault
 * shows its VMA anew. NULL when out of memory.
 */
static inline struct vma *memory_vma(struct memory *m, uint32_t mm, uint64_t start, uint64_t end)
{
	struct mm *owner = &m->mms[mm];

	if (likely(owner->last_vma < owner->nr_vmas)) {
		struct vma *last = &owner->vmas[owner->last_vma];

		if (likely(last->start == start && last->end == end))
			return last;
	}
	return memory_search_vma(m, mm, start, end);
}

/* Copy the VMAs of one mm to another, empty one. 0 or -ENOMEM. */
int memory_copy_vmas(struct memory *m, uint32_t to, uint32_t from);

/* What memory_find() does when the page is not in the mapping that was found last. */
uint32_t memory_search(struct memory *m, uint32_t mm, uint64_t vpn, uint32_t *pte);

/* The mapping in @mm that has page @vpn, and the PTE's number in *pte; 0 when there is none. */
static inline uint32_t memory_find(struct memory *m, uint32_t mm, uint64_t vpn, uint32_t *pte)
{
	uint32_t hit = m->mms[mm].hit;
	const struct mapping *map = &m->mappings[hit];

	*pte = vpn - map->vpn;
	return likely(hit && mapping_has(map, vpn)) ? hit : memory_search(m, mm, vpn, pte);
}

/*
 * The mapping in @mm that has page @vpn, if memory_prefetch() has been told of it for @cpu, else
 * NULL.
 */
static inline struct mapping *memory_expected(struct memory *m, uint32_t cpu, uint32_t mm,
					      uint64_t vpn)
{
	struct mapping *map = &m->mappings[m->expected[cpu % MEMORY_CPUS]];

	if (map->mm != mm || !mapping_has(map, vpn))
		return NULL;
	if (unlikely(map->lent) && m->mms[mm].borrower)
		return NULL;
	return map;
}

/* Whether the mapping that was searched for and found last is where this page is. */
static inline bool memory_is_near(const struct memory *m, uint64_t vpn)
{
	return vpn - m->near_vpn < m->near_ptes;
}

/*
 * A fault on the page is about to come, on @cpu: have its place in the index in the cache by then;
 * and, with that in the cache, the mapping itself.
 */
void memory_prefetch_slot(const struct memory *m, uint32_t mm, uint64_t vpn);
void memory_prefetch(struct memory *m, uint32_t cpu, uint32_t mm, uint64_t vpn);

/*
 * For who goes through all mappings of an mm, in their order, and is at @map: mappings that came
 * one after the other mostly lie so, and what is needed of those to come gets into the cache; where
 * @mm is not 0, the places in the index that the same pages have in it, too.
 */
void memory_look_ahead(const struct memory *m, const struct mapping *map, uint32_t mm);

/* The mapping of exactly this first page and order, 0 when there is none. */
uint32_t memory_find_exact(struct memory *m, uint32_t mm, uint64_t vpn, unsigned int order);

/*
 * A new mapping of 2^order PTEs from @vpn on, all in @state; room was reserved. 0 when out of
 * memory.
 */
uint32_t memory_map(struct memory *m, uint32_t mm, uint64_t vpn, unsigned int order, bool pmd,
		    enum pte_state state);

/* Forget the mapping, and its tallies. */
void memory_unmap(struct memory *m, uint32_t mapping);

/*
 * After a fork: @child, which has no mapping, borrows from @parent each mapping that is then lent
 * to it. Neither may lend or borrow already (memory_settle()), and room for all was reserved.
 */
void memory_borrow(struct memory *m, uint32_t child, uint32_t parent);

/* Lend it to the mm's borrower: both map the folio, write-protected; the child's PTEs are old. */
void memory_lend(struct memory *m, struct mapping *map);

/* Copy all that @mm still lends and borrows. */
void memory_settle(struct memory *m, uint32_t mm);

/* Copy all that @mm still lends, and forget what it borrows: it is about to end. */
void memory_leave(struct memory *m, uint32_t mm);

/* Whether no other mm maps its folio. */
static inline bool memory_is_sole(const struct memory *m, const struct mapping *map)
{
	return !map->share || m->shares[map->share].nr_mappings == 1;
}

/* From one PMD to PTEs in the same state. 0 or -ENOMEM. */
int memory_split_pmd(struct memory *m, struct mapping *map);

/* PTEs that the tally resolved and nobody used, only where it says so: else it takes no memory. */
static inline uint32_t *memory_waste(const struct memory *m, const struct tally *t)
{
	return &m->wastes[t - m->tallies];
}

/* A tally at the head of the mapping's list; room was reserved. */
struct tally *memory_add_tally(struct memory *m, struct mapping *map);

/* Forget @t, which is in the mapping's list. */
void memory_remove_tally(struct memory *m, struct mapping *map, struct tally *t);

#endif
