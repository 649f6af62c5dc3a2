// SPDX-License-Identifier: GPL-2.0-or-later
/* A hash that tells which mapping has a page, kept as a list with gaps that descends by hash. */
#include <errno.h>
#include <string.h>

#include "compiler.h"
#include "page_index.h"
#include "pool.h"

#define FIRST_ROOM 256
#define BEHIND	   256 /* slots for those that the last homes have no room for: a few are common */

static struct page_slot *last_slot(const struct page_index *x)
{
	return &x->slots[x->room + BEHIND - 1];
}

static size_t size_of(uint32_t room)
{
	return (room + (size_t)BEHIND) * sizeof(struct page_slot);
}

int page_index_open(struct page_index *x)
{
	*x = (struct page_index){ .room = FIRST_ROOM, .key = hash_key() };
	x->slots = pool_resize(NULL, 0, size_of(x->room));
	return x->slots ? 0 : -ENOMEM;
}

/* Put each entry, which is where it belongs with @room, where it belongs now; in place. */
static void spread(struct page_index *x, uint32_t room)
{
	struct page_slot *end = last_slot(x) + 1, *from = end, *to = x->slots;

	/* first all go to the end, where none is in the way of another */
	for (size_t i = room + BEHIND; i--;) {
		if (x->slots[i].mapping)
			*--from = x->slots[i];
	}
	while (from < end) {
		struct page_slot s = *from, *home = &x->slots[page_index_home(x, s.hash)];

		for (; to < home; to++)
			*to = (struct page_slot){ 0 };
		*to++ = s;
		from++;
	}
	memset(to, 0, (end - to) * sizeof(*to));
}

/* A fifth more room. What lies behind the last home becomes no more by that. 0 or -ENOMEM. */
static noinline int grow(struct page_index *x)
{
	uint32_t old = x->room, room = old + old / 5;
	struct page_slot *slots;

	if (room > UINT32_MAX / 16)
		return -ENOMEM;
	slots = pool_resize(x->slots, size_of(old), size_of(room));
	if (!slots)
		return -ENOMEM;
	x->slots = slots;
	x->room = room;
	spread(x, old);
	return 0;
}

int page_index_add(struct page_index *x, uint32_t hash, uint32_t mapping)
{
	struct page_slot *s, *end;

	if (unlikely(6 * (uint64_t)x->nr >= 5 * (uint64_t)x->room) && grow(x) < 0)
		return -ENOMEM;
	s = page_index_find(x, hash);
	for (end = s; end->mapping; end++)
		;
	if (unlikely(end == last_slot(x)))
		return -ENOMEM; /* by chance, once in more tables than there will be */
	memmove(s + 1, s, (end - s) * sizeof(*s));
	*s = (struct page_slot){ .hash = hash, .mapping = mapping };
	x->nr++;
	return 0;
}

void page_index_remove(struct page_index *x, uint32_t hash, uint32_t mapping)
{
	struct page_slot *s = page_index_find(x, hash), *end;

	while (s->mapping != mapping)
		s++;
	/* those behind close the gap, up to one that is at home */
	for (end = s + 1; end->mapping && &x->slots[page_index_home(x, end->hash)] < end; end++)
		;
	memmove(s, s + 1, (end - s - 1) * sizeof(*s));
	end[-1] = (struct page_slot){ 0 };
	x->nr--;
}

void page_index_release(struct page_index *x)
{
	pool_free(x->slots, size_of(x->room));
	*x = (struct page_index){ 0 };
}
