// SPDX-License-Identifier: GPL-2.0-or-later
/* A hash with linear probing that tells which mapping has a page. */
#include <errno.h>

#include "compiler.h"
#include "page_index.h"
#include "pool.h"

#define FIRST_ROOM 256

static uint32_t first_empty(const struct page_index *x, uint32_t i)
{
	while (x->slots[i].mapping)
		i = page_index_next(x, i);
	return i;
}

int page_index_open(struct page_index *x)
{
	*x = (struct page_index){ .room = FIRST_ROOM, .key = hash_key() };
	x->slots = pool_resize(NULL, 0, x->room * sizeof(*x->slots));
	return x->slots ? 0 : -ENOMEM;
}

/* A quarter more room. 0 or -ENOMEM. */
static noinline int grow(struct page_index *x)
{
	struct page_index grown = { .room = x->room + x->room / 4, .nr = x->nr, .key = x->key };

	if (x->room > UINT32_MAX / 16)
		return -ENOMEM;
	grown.slots = pool_resize(NULL, 0, grown.room * sizeof(*grown.slots));
	if (!grown.slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < x->room; i++) {
		struct page_slot s = x->slots[i];

		if (s.mapping)
			grown.slots[first_empty(&grown, page_index_home(&grown, s.hash))] = s;
	}
	page_index_release(x);
	*x = grown;
	return 0;
}

int page_index_add(struct page_index *x, uint32_t hash, uint32_t mapping)
{
	uint32_t i;

	if (unlikely(5 * (uint64_t)x->nr >= 3 * (uint64_t)x->room) && grow(x) < 0)
		return -ENOMEM;
	i = first_empty(x, page_index_home(x, hash));
	x->slots[i] = (struct page_slot){ .hash = hash, .mapping = mapping };
	x->nr++;
	return 0;
}

/* How far @i lies behind @from, counted around the end. */
static uint32_t distance(const struct page_index *x, uint32_t from, uint32_t i)
{
	return i >= from ? i - from : i + (x->room - from);
}

void page_index_remove(struct page_index *x, uint32_t hash, uint32_t mapping)
{
	uint32_t hole = page_index_home(x, hash), i;

	while (x->slots[hole].mapping != mapping)
		hole = page_index_next(x, hole);
	/* those behind close the gap, but none moves in front of its home */
	for (i = page_index_next(x, hole); x->slots[i].mapping; i = page_index_next(x, i)) {
		uint32_t home = page_index_home(x, x->slots[i].hash);

		if (distance(x, home, i) < distance(x, hole, i))
			continue;
		x->slots[hole] = x->slots[i];
		hole = i;
	}
	x->slots[hole] = (struct page_slot){ 0 };
	x->nr--;
}

void page_index_release(struct page_index *x)
{
	pool_free(x->slots, x->room * sizeof(*x->slots));
	*x = (struct page_index){ 0 };
}
