/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is mapped where, as far as a recording shows it: address spaces, their VMAs, the folios
 * mapped in them and the state of every PTE. Keeps books and decides nothing: that is the model's
 * job.
 *
 * Mappings and mms are known by index, 0 is none. A pointer to one is good until the next
 * memory_reserve(); nothing else moves them.
 */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fault.h"

/* Two bits a PTE. */
enum pte_state {
	PTE_NONE,      /* not mapped, or not this folio any more */
	PTE_SHARED,    /* read-only, may be shared */
	PTE_EXCLUSIVE, /* read-only, but known to be of this mm alone (AnonExclusive) */
	PTE_WRITABLE,
};

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
	uint64_t size; /* bytes that its mappings and VMAs take here */
	uint32_t next_free;
};

/* How often a folio that more than one mm maps is mapped. */
struct share {
	uint32_t nr_mappings;
	uint32_t nr_slots; /* mms that the folio tracks: two at most */
	uint32_t next_free;
};

/* What one class of faults has cost one mapping in its current episode. */
struct tally {
	uint64_t latency, first, complete;
	uint32_t faults;
	uint32_t next;
	uint16_t touched, resolved;
	uint16_t waste; /* of the resolved */
	uint8_t class, evidence, from, level;
	bool timed, completed, waste_unknown;
};

/* A folio in one mm. */
struct mapping {
	uint64_t vpn;  /* page number of its first PTE: naturally aligned */
	uint64_t last; /* exit of the last fault that resolved something */
	union {
		uint64_t nibbles;   /* order 0-4 and PMD: 4 bits a PTE, or one for the PMD */
		uint64_t *nibble_v; /* else; owned */
	};
	uint32_t mm;
	uint32_t next, prev; /* in the mm's list */
	uint32_t share;	     /* 0: no other mm maps the folio */
	uint32_t tally;	     /* list */
	uint16_t nr_mapped;  /* PTEs that are not PTE_NONE */
	uint16_t nr_start;   /* the same at the start of the episode */
	uint16_t classes;    /* bit per class of which an episode has ended */
	uint16_t pmd_pte;    /* while a PMD: the PTE that would have faulted last */
	uint8_t order;
	uint8_t source; /* enum folio_source */
	bool order_known;
	bool pmd;  /* mapped by a PMD */
	bool slot; /* the folio tracks this mm, see struct share */
	bool zero; /* the zero page */
};

struct memory {
	struct mapping *mappings; /* pool */
	uint32_t nr_mappings, mapping_room, free_mapping;
	struct tally *tallies; /* pool */
	uint32_t nr_tallies, tally_room, free_tally;
	struct share *shares; /* pool */
	uint32_t nr_shares, share_room, free_share;
	struct mm *mms; /* pool */
	uint32_t nr_mms, mm_room, free_mm;
	uint32_t *index; /* hash of mappings by (mm, vpn, order) */
	uint32_t index_room, index_used;
	uint32_t *mm_index; /* hash of mms by id */
	uint32_t mm_index_room, live_mms;
	uint32_t last_mm;
	uint64_t key;  /* of both hashes */
	uint64_t live; /* mappings */
	uint64_t size; /* of all mms: bytes */
};

int memory_open(struct memory *m);
void memory_close(struct memory *m);

/* What memory_reserve() does when there is not enough room. */
int memory_grow(struct memory *m, uint32_t n);

/* Make room for @n more mappings, tallies and shares, and one mm. 0 or -ENOMEM. May move all. */
static inline int memory_reserve(struct memory *m, uint32_t n)
{
	/* entry 0 of each pool stands for none; the hashes are at most two thirds and half full */
	if ((uint64_t)m->nr_mappings + n < m->mapping_room &&
	    (uint64_t)m->nr_tallies + n < m->tally_room &&
	    (uint64_t)m->nr_shares + n < m->share_room && m->nr_mms + 1 < m->mm_room &&
	    3 * (m->live + n) <= 2 * (uint64_t)m->index_room &&
	    2 * (m->live_mms + 1) <= m->mm_index_room)
		return 0;
	return memory_grow(m, n);
}

/* The mm of @id, 0 when it is not known. */
uint32_t memory_find_mm(struct memory *m, uint64_t id);

/* A new, empty mm; room was reserved. */
uint32_t memory_add_mm(struct memory *m, uint64_t id);

/* Forget the mm, whose mappings must be removed. */
void memory_remove_mm(struct memory *m, uint32_t mm);

/*
 * The VMA [start, end) of @mm, noted when it is new; others that it overlaps are forgotten, and it
 * takes over their kind. So are all when the mm has more than Linux allows by default: a new fault
 * shows its VMA anew. NULL when out of memory.
 */
struct vma *memory_vma(struct memory *m, uint32_t mm, uint64_t start, uint64_t end);

/* Copy the VMAs of one mm to another, empty one. 0 or -ENOMEM. */
int memory_copy_vmas(struct memory *m, uint32_t to, uint32_t from);

/* The mapping in @mm that has page @vpn, and the PTE's number in *pte; 0 when there is none. */
uint32_t memory_find(struct memory *m, uint32_t mm, uint64_t vpn, uint32_t *pte);

/* The mapping of exactly this first page and order, 0 when there is none. */
uint32_t memory_find_exact(const struct memory *m, uint32_t mm, uint64_t vpn, unsigned int order);

/*
 * A new mapping of 2^order PTEs from @vpn on, all in @state; room was reserved. 0 when out of
 * memory.
 */
uint32_t memory_map(struct memory *m, uint32_t mm, uint64_t vpn, unsigned int order, bool pmd,
		    enum pte_state state);

/* Forget the mapping; its tallies must be gone. */
void memory_unmap(struct memory *m, uint32_t mapping);

/*
 * Make @to, new and all PTE_NONE, map the folio that @from maps: the same PTEs, write-protected,
 * and old.
 */
void memory_share(struct memory *m, uint32_t from, uint32_t to);

/* Whether no other mm maps its folio. */
bool memory_is_sole(const struct memory *m, const struct mapping *map);

/* From one PMD to PTEs in the same state. 0 or -ENOMEM. */
int memory_split_pmd(struct memory *m, struct mapping *map);

uint32_t mapping_nr_ptes(const struct mapping *map);
enum pte_state mapping_state(const struct mapping *map, uint32_t pte);
void mapping_set_state(struct mapping *map, uint32_t pte, enum pte_state state);
void mapping_set_all(struct mapping *map, enum pte_state state);

/* All PTEs that are mapped become PTE_SHARED and untouched: a new episode. */
void mapping_write_protect(struct mapping *map);

/* Whether the PTE took a fault in this episode; then it has, and is young. */
bool mapping_touch(struct mapping *map, uint32_t pte);

/* The PTE is young. */
void mapping_make_young(struct mapping *map, uint32_t pte);

/* Whether it came old from fork, as the child's PTEs do, and has not been touched. */
bool mapping_is_old(const struct mapping *map, uint32_t pte);

/* A tally at the head of the mapping's list; room was reserved. */
struct tally *memory_add_tally(struct memory *m, struct mapping *map);
void memory_free_tallies(struct memory *m, struct mapping *map);

#endif
