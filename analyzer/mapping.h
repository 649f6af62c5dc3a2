/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A folio in one address space: where it is mapped, and the state of each of its PTEs, half a byte
 * a PTE. Keeps books and decides nothing.
 */
#ifndef MAPPING_H
#define MAPPING_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"

/* Two bits a PTE. */
enum pte_state {
	PTE_NONE,      /* not mapped, or not this folio any more */
	PTE_SHARED,    /* read-only, may be shared */
	PTE_EXCLUSIVE, /* read-only, but known to be of this mm alone (AnonExclusive) */
	PTE_WRITABLE,
};

/* The other two: the PTE took a fault in this episode; it came old from fork. */
#define NIBBLE_STATE	 0x3u
#define NIBBLE_TOUCHED	 0x4u
#define NIBBLE_OLD	 0x8u
#define NIBBLES_PER_WORD 16

struct mapping {
	uint64_t vpn;  /* page number of its first PTE: naturally aligned */
	uint64_t last; /* exit of the last fault that resolved something */
	union {
		uint64_t nibbles;   /* of one word: order 0-4, and a PMD, which has one for all */
		uint64_t *nibble_v; /* of more; owned */
	};
	uint32_t mm;
	uint32_t next, prev; /* in the mm's list */
	uint32_t share;	     /* 0: no other mm maps the folio */
	uint32_t tally;	     /* list */
	uint16_t nr_mapped;  /* PTEs that are not PTE_NONE */
	uint16_t nr_start;   /* the same at the start of the episode */
	uint16_t classes;    /* bit per class of which an episode has ended */
	uint16_t pmd_pte;    /* while a PMD: the PTE that would have faulted last */
	uint16_t pte_mask;   /* of a PTE's number, what tells its nibble: of a PMD nothing */
	uint8_t order;
	uint8_t source; /* enum folio_source */
	bool order_known;
	bool pmd;  /* mapped by a PMD */
	bool wide; /* nibble_v, not nibbles */
	bool slot; /* the folio tracks this mm, see struct share */
	bool zero; /* the zero page */
	bool lent; /* to its mm's borrower, if there is one: see memory.h */
};

static inline uint32_t mapping_nr_ptes(const struct mapping *map)
{
	return 1u << map->order;
}

/* Where a PTE's nibble is: good as long as the mapping's PMD is not split. */
struct nibble {
	uint64_t *word;
	unsigned int shift;
};

static inline struct nibble mapping_nibble(const struct mapping *map, uint32_t pte)
{
	pte &= map->pte_mask;
	return (struct nibble){ .word = unlikely(map->wide) ? &map->nibble_v[pte / NIBBLES_PER_WORD]
							    : (uint64_t *)&map->nibbles,
				.shift = 4 * (pte % NIBBLES_PER_WORD) };
}

static inline enum pte_state nibble_state(struct nibble n)
{
	return *n.word >> n.shift & NIBBLE_STATE;
}

static inline enum pte_state mapping_state(const struct mapping *map, uint32_t pte)
{
	return nibble_state(mapping_nibble(map, pte));
}

/* Whether page @vpn is mapped in it: then it is in no other. */
static inline bool mapping_has(const struct mapping *map, uint64_t vpn)
{
	return vpn - map->vpn < mapping_nr_ptes(map) &&
	       mapping_state(map, vpn - map->vpn) != PTE_NONE;
}

/*
 * Whether @a is as @b is, a folio of one page whose order is known, but for where it is, who maps
 * it besides, and when what happened.
 */
static inline bool mapping_is_like(const struct mapping *a, const struct mapping *b)
{
	return a->order == b->order && a->nibbles == b->nibbles && a->source == b->source &&
	       a->classes == b->classes;
}

/* Of a PMD, the state of all. */
static inline void mapping_set_state(struct mapping *map, uint32_t pte, enum pte_state state)
{
	struct nibble n = mapping_nibble(map, pte);
	bool was = nibble_state(n), is = state != PTE_NONE;

	*n.word = (*n.word & ~((uint64_t)NIBBLE_STATE << n.shift)) | (uint64_t)state << n.shift;
	map->nr_mapped += (is - was) * (map->pmd ? mapping_nr_ptes(map) : 1);
}

/* Whether the PTE took a fault in this episode; then it has, and is young. */
static inline bool nibble_touch(struct nibble n)
{
	bool was = *n.word >> n.shift & NIBBLE_TOUCHED;

	*n.word = (*n.word | (uint64_t)NIBBLE_TOUCHED << n.shift) &
		  ~((uint64_t)NIBBLE_OLD << n.shift);
	return was;
}

static inline bool mapping_touch(struct mapping *map, uint32_t pte)
{
	return nibble_touch(mapping_nibble(map, pte));
}

/* The PTE, or the PMD, is mapped: it becomes writable. */
static inline void nibble_make_writable(struct nibble n)
{
	*n.word |= (uint64_t)PTE_WRITABLE << n.shift;
}

/* The PTE is young. */
static inline void mapping_make_young(struct mapping *map, uint32_t pte)
{
	struct nibble n = mapping_nibble(map, pte);

	*n.word &= ~((uint64_t)NIBBLE_OLD << n.shift);
}

/* Whether it came old from fork, as the child's PTEs do, and has not been touched. */
static inline bool mapping_is_old(const struct mapping *map, uint32_t pte)
{
	struct nibble n = mapping_nibble(map, pte);

	return *n.word >> n.shift & NIBBLE_OLD;
}

/*
 * Make @map, which says where it is, hold the states of its PTEs: all in @state. 0 or -ENOMEM;
 * mapping_release() is due after success.
 */
int mapping_init(struct mapping *map, enum pte_state state);
void mapping_release(struct mapping *map);

void mapping_set_all(struct mapping *map, enum pte_state state);

/* All PTEs that are mapped become PTE_SHARED and untouched: a new episode. */
void mapping_write_protect(struct mapping *map);

/* Make @to, of the same order, map what @from maps, after a fork: both write-protected, @to old. */
void mapping_copy(struct mapping *to, struct mapping *from);

/* From one PMD to PTEs in the same state. 0 or -ENOMEM. */
int mapping_split_pmd(struct mapping *map);

/* Bytes that it takes. */
uint64_t mapping_size(const struct mapping *map);

#endif
