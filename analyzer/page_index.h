/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which mapping has a page: a hash over (mm, first page, order), kept as one list with gaps that
 * descends by hash, so that a hash tells about where its entry is. An entry is 8 bytes, and seven
 * tenths to five sixths of the room are used. It holds its hash, so that other mappings need not be
 * looked at, which would be a cache miss each.
 */
#ifndef PAGE_INDEX_H
#define PAGE_INDEX_H

#include <stdint.h>

#include "hash.h"

#define PAGE_INDEX_NEAR 4 /* slots that four in five entries are not further from home */

struct page_slot {
	uint32_t hash;
	uint32_t mapping; /* 0: empty, and so is the hash */
};

struct page_index {
	struct page_slot *slots; /* owned; a few more than there is room, the last of them empty */
	uint32_t room, nr;
	uint64_t key;
};

/* Begin empty. 0, then page_index_release() is due, or -ENOMEM. */
int page_index_open(struct page_index *x);

static inline uint32_t page_hash(const struct page_index *x, uint32_t mm, uint64_t vpn,
				 unsigned int order)
{
	return hash_pair(vpn, (uint64_t)mm << 4 | order, x->key);
}

/* The first slot that an entry of this hash can be in: what is between them is not empty. */
static inline uint32_t page_index_home(const struct page_index *x, uint32_t hash)
{
	return (uint64_t)~hash * x->room >> 32;
}

/*
 * The slot of the first entry of this hash, or that it would have. How far from home that is, no
 * branch predictor can tell: so the first few steps are counted without branches.
 */
static inline struct page_slot *page_index_find(const struct page_index *x, uint32_t hash)
{
	struct page_slot *home = &x->slots[page_index_home(x, hash)], *s = home;

#pragma GCC unroll 4 /* PAGE_INDEX_NEAR */
	for (int i = 0; i < PAGE_INDEX_NEAR; i++)
		s += home[i].hash > hash;
	while (s->hash > hash)
		s++;
	return s;
}

/* Have the memory where the hash is looked for in the cache by the time that it is. */
static inline void page_index_prefetch(const struct page_index *x, uint32_t hash)
{
	const struct page_slot *home = &x->slots[page_index_home(x, hash)];

	__builtin_prefetch(home);
	__builtin_prefetch(&home[PAGE_INDEX_NEAR]);
}

/* The first mapping of this hash, which may be another's; 0 none. */
static inline uint32_t page_index_first(const struct page_index *x, uint32_t hash)
{
	const struct page_slot *s = page_index_find(x, hash);

	return s->hash == hash ? s->mapping : 0;
}

/* Add @mapping, which is not in it. 0 or -ENOMEM. */
int page_index_add(struct page_index *x, uint32_t hash, uint32_t mapping);

/* Remove @mapping, which is in it. */
void page_index_remove(struct page_index *x, uint32_t hash, uint32_t mapping);

void page_index_release(struct page_index *x);

#endif
