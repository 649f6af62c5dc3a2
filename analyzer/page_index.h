/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which mapping has a page: a hash with linear probing over (mm, first page, order), of 8 bytes an
 * entry and half to three fifths full. Each entry holds its hash, so that other mappings need not
 * be looked at, which would be a cache miss each.
 */
#ifndef PAGE_INDEX_H
#define PAGE_INDEX_H

#include <stdint.h>

#include "hash.h"

struct page_slot {
	uint32_t hash;
	uint32_t mapping; /* 0: empty */
};

struct page_index {
	struct page_slot *slots; /* owned */
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

/* Where an entry of this hash is looked for first. Growing keeps their order. */
static inline uint32_t page_index_home(const struct page_index *x, uint32_t hash)
{
	return (uint64_t)hash * x->room >> 32;
}

static inline uint32_t page_index_next(const struct page_index *x, uint32_t i)
{
	return i + 1 == x->room ? 0 : i + 1;
}

/* Have the memory where the hash is looked for in the cache by the time that it is. */
static inline void page_index_prefetch(const struct page_index *x, uint32_t hash)
{
	__builtin_prefetch(&x->slots[page_index_home(x, hash)]);
}

/* The first mapping of this hash, which may be another's; 0 none. */
static inline uint32_t page_index_first(const struct page_index *x, uint32_t hash)
{
	uint32_t i = page_index_home(x, hash);

	while (x->slots[i].mapping && x->slots[i].hash != hash)
		i = page_index_next(x, i);
	return x->slots[i].mapping;
}

/* Add @mapping, which is not in it. 0 or -ENOMEM. */
int page_index_add(struct page_index *x, uint32_t hash, uint32_t mapping);

/* Remove @mapping, which is in it. */
void page_index_remove(struct page_index *x, uint32_t hash, uint32_t mapping);

void page_index_release(struct page_index *x);

#endif
