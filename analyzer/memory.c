// SPDX-License-Identifier: GPL-2.0-or-later
/* What is mapped where: pools and hashes of mms, mappings, shares and tallies. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "memory.h"
#include "pool.h"

#define MIN_SPARE 64
#define AHEAD	  8	/* mappings: work on those hides the latency of memory */
#define MAX_VMAS  65536 /* of one mm; vm.max_map_count is a little less */

static uint32_t mm_slot(const struct memory *m, uint64_t id)
{
	uint32_t mask = m->mm_index_room - 1;
	uint32_t i = hash_u64(id, m->key) & mask;

	while (m->mm_index[i] && m->mms[m->mm_index[i]].id != id)
		i = (i + 1) & mask;
	return i;
}

/* Twice the room that the mms have. */
static int grow_mm_index(struct memory *m)
{
	uint32_t *old = m->mm_index;

	if (m->mm_index_room == 2 * m->mm_room)
		return 0;
	m->mm_index = calloc(2 * (size_t)m->mm_room, sizeof(*m->mm_index));
	if (!m->mm_index) {
		m->mm_index = old;
		return -ENOMEM;
	}
	m->mm_index_room = 2 * m->mm_room;
	for (uint32_t i = 1; i < m->nr_mms; i++) {
		if (m->mms[i].id)
			m->mm_index[mm_slot(m, m->mms[i].id)] = i;
	}
	free(old);
	return 0;
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

int memory_grow(struct memory *m, uint32_t n)
{
	/* entry 0 of each pool stands for none */
	uint64_t mappings = m->pages.nr + UINT64_C(1) + m->nr_borrowed + n, mms = m->live_mms + 2;
	uint64_t tallies = m->live_tallies + UINT64_C(1) + n;
	uint64_t shares = m->live_shares + UINT64_C(1) + m->nr_borrowed + n;
	int err;

	err = pool_grow((void **)&m->mappings, &m->mapping_room, mappings + MIN_SPARE,
			sizeof(*m->mappings));
	if (!err)
		err = pool_grow((void **)&m->tallies, &m->tally_room, tallies + MIN_SPARE,
				sizeof(*m->tallies));
	if (!err)
		err = pool_grow((void **)&m->wastes, &m->waste_room, tallies + MIN_SPARE,
				sizeof(*m->wastes)); /* to as many as the tallies */
	if (!err)
		err = pool_grow((void **)&m->shares, &m->share_room, shares + MIN_SPARE,
				sizeof(*m->shares));
	if (!err)
		err = pool_grow((void **)&m->mms, &m->mm_room, mms + MIN_SPARE, sizeof(*m->mms));
	if (!err)
		err = grow_mm_index(m);
	if (err)
		return err;
	m->spare = least(m->mapping_room - mappings, m->tally_room - tallies);
	m->spare = least(m->spare, m->share_room - shares);
	m->spare = least(m->spare, m->mm_room - mms);
	return 0;
}

int memory_open(struct memory *m)
{
	*m = (struct memory){ .nr_mappings = 1, .nr_tallies = 1, .nr_shares = 1, .nr_mms = 1 };
	m->key = hash_key();
	return page_index_open(&m->pages) < 0 ? -ENOMEM : memory_reserve(m, 1);
}

void memory_close(struct memory *m)
{
	for (uint32_t i = 1; i < m->nr_mms; i++) {
		if (!m->mms[i].id)
			continue;
		while (m->mms[i].first)
			memory_unmap(m, m->mms[i].first);
		free(m->mms[i].vmas);
	}
	pool_free(m->mappings, m->mapping_room * sizeof(*m->mappings));
	pool_free(m->tallies, m->tally_room * sizeof(*m->tallies));
	pool_free(m->wastes, m->waste_room * sizeof(*m->wastes));
	pool_free(m->shares, m->share_room * sizeof(*m->shares));
	pool_free(m->mms, m->mm_room * sizeof(*m->mms));
	page_index_release(&m->pages);
	free(m->mm_index);
	*m = (struct memory){ 0 };
}

uint32_t memory_search_mm(struct memory *m, uint64_t id)
{
	m->last_mm = m->mm_index[mm_slot(m, id)];
	return m->last_mm;
}

uint32_t memory_add_mm(struct memory *m, uint64_t id)
{
	uint32_t i = m->free_mm;

	if (i)
		m->free_mm = m->mms[i].next_free;
	else
		i = m->nr_mms++;
	m->mms[i] = (struct mm){ .id = id };
	m->mm_index[mm_slot(m, id)] = i;
	m->live_mms++;
	return i;
}

void memory_remove_mm(struct memory *m, uint32_t mm)
{
	uint32_t mask = m->mm_index_room - 1;
	uint32_t i = mm_slot(m, m->mms[mm].id);

	m->size -= m->mms[mm].size;
	free(m->mms[mm].vmas);
	m->mms[mm] = (struct mm){ .next_free = m->free_mm };
	m->free_mm = mm;
	m->live_mms--;
	m->last_mm = 0;
	/* few mms live at once: put those behind the hole in anew */
	m->mm_index[i] = 0;
	for (i = (i + 1) & mask; m->mm_index[i]; i = (i + 1) & mask) {
		uint32_t moved = m->mm_index[i];

		m->mm_index[i] = 0;
		m->mm_index[mm_slot(m, m->mms[moved].id)] = moved;
	}
}

/* The mm takes @more bytes. */
static void add_size(struct memory *m, struct mm *mm, uint64_t more)
{
	mm->size += more;
	m->size += more;
}

static int vma_room(struct memory *m, struct mm *mm)
{
	uint32_t room = mm->vma_room ? 2 * mm->vma_room : 8;
	struct vma *vmas;

	if (mm->nr_vmas < mm->vma_room)
		return 0;
	vmas = reallocarray(mm->vmas, room, sizeof(*vmas));
	if (!vmas)
		return -ENOMEM;
	add_size(m, mm, (room - mm->vma_room) * sizeof(*vmas));
	mm->vmas = vmas;
	mm->vma_room = room;
	return 0;
}

/* The first VMA that ends behind @start. */
static uint32_t first_vma(const struct mm *mm, uint64_t start)
{
	uint32_t lo = 0, hi = mm->nr_vmas;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (mm->vmas[mid].end > start)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

struct vma *memory_search_vma(struct memory *m, uint32_t index, uint64_t start, uint64_t end)
{
	struct mm *mm = &m->mms[index];
	enum vma_kind kind = VMA_UNKNOWN;
	uint32_t from, to;

	from = first_vma(mm, start);
	for (to = from; to < mm->nr_vmas && mm->vmas[to].start < end; to++) {
		if (mm->vmas[to].kind != VMA_UNKNOWN)
			kind = mm->vmas[to].kind;
	}
	if (from == to) {
		if (mm->nr_vmas == MAX_VMAS)
			mm->nr_vmas = from = 0;
		if (vma_room(m, mm) < 0)
			return NULL;
		memmove(&mm->vmas[from + 1], &mm->vmas[from],
			(mm->nr_vmas - from) * sizeof(*mm->vmas));
		mm->nr_vmas++;
	} else {
		memmove(&mm->vmas[from + 1], &mm->vmas[to], (mm->nr_vmas - to) * sizeof(*mm->vmas));
		mm->nr_vmas -= to - from - 1;
	}
	mm->vmas[from] = (struct vma){ .start = start, .end = end, .kind = kind };
	mm->last_vma = from;
	return &mm->vmas[from];
}

int memory_copy_vmas(struct memory *m, uint32_t to, uint32_t from)
{
	const struct mm *old = &m->mms[from];
	struct mm *new = &m->mms[to];

	if (!old->nr_vmas)
		return 0;
	new->vmas = malloc(old->nr_vmas * sizeof(*new->vmas));
	if (!new->vmas)
		return -ENOMEM;
	memcpy(new->vmas, old->vmas, old->nr_vmas * sizeof(*new->vmas));
	new->nr_vmas = new->vma_room = old->nr_vmas;
	add_size(m, new, new->vma_room * sizeof(*new->vmas));
	return 0;
}

static bool is_at(const struct mapping *map, uint32_t mm, uint64_t vpn, unsigned int order)
{
	return map->vpn == vpn && map->mm == mm && map->order == order;
}

void memory_prefetch_slot(const struct memory *m, uint32_t mm, uint64_t vpn)
{
	for (uint32_t orders = m->mms[mm].orders; orders; orders &= orders - 1) {
		unsigned int order = __builtin_ctz(orders);

		page_index_prefetch(&m->pages,
				    page_hash(&m->pages, mm, vpn >> order << order, order));
	}
}

void memory_prefetch(struct memory *m, uint32_t cpu, uint32_t mm, uint64_t vpn)
{
	uint32_t *expected = &m->expected[cpu % MEMORY_CPUS];

	*expected = 0;
	for (uint32_t orders = m->mms[mm].orders; orders; orders &= orders - 1) {
		unsigned int order = __builtin_ctz(orders);
		uint32_t hash = page_hash(&m->pages, mm, vpn >> order << order, order);
		uint32_t i = page_index_first(&m->pages, hash);

		__builtin_prefetch(&m->mappings[i]);
		if (i)
			*expected = i;
	}
}

void memory_look_ahead(const struct memory *m, const struct mapping *map, uint32_t mm)
{
	uint32_t i = map - m->mappings, step = map->next - i;
	uint32_t near = i + AHEAD * step, far = i + 2 * AHEAD * step;

	if (far < m->nr_mappings)
		__builtin_prefetch(&m->mappings[far]);
	if (near >= m->nr_mappings)
		return;
	map = &m->mappings[near];
	__builtin_prefetch(&m->tallies[map->tally]);
	if (mm) {
		__builtin_prefetch(&m->shares[map->share]);
		page_index_prefetch(&m->pages, page_hash(&m->pages, mm, map->vpn, map->order));
	}
}

uint32_t memory_map(struct memory *m, uint32_t mm, uint64_t vpn, unsigned int order, bool pmd,
		    enum pte_state state)
{
	uint32_t i = m->free_mapping ? m->free_mapping : m->nr_mappings;
	struct mapping *map = &m->mappings[i];
	uint32_t next_free = m->free_mapping ? map->next : 0;
	struct mm *owner = &m->mms[mm];

	*map = (struct mapping){ .vpn = vpn, .mm = mm, .order = order, .pmd = pmd, .slot = true };
	if (mapping_init(map, state) < 0)
		goto fail;
	if (page_index_add(&m->pages, page_hash(&m->pages, mm, vpn, order), i) < 0) {
		mapping_release(map);
		goto fail;
	}
	if (i == m->nr_mappings)
		m->nr_mappings++;
	m->free_mapping = next_free;
	map->prev = owner->last;
	if (owner->last)
		m->mappings[owner->last].next = i;
	else
		owner->first = i;
	owner->last = i;
	owner->nr_mappings++;
	add_size(m, owner, mapping_size(map));
	owner->orders |= 1u << order;
	return i;
fail:
	map->next = next_free;
	map->mm = 0;
	return 0;
}

static void leave_share(struct memory *m, struct mapping *map)
{
	struct share *s = &m->shares[map->share];

	if (!map->share)
		return;
	s->nr_mappings--;
	s->nr_slots -= map->slot;
	if (!s->nr_mappings) {
		s->next_free = m->free_share;
		m->free_share = map->share;
		m->live_shares--;
	}
	map->share = 0;
}

void memory_unmap(struct memory *m, uint32_t i)
{
	struct mapping *map = &m->mappings[i];
	struct mm *mm = &m->mms[map->mm];

	while (map->tally)
		memory_remove_tally(m, map, &m->tallies[map->tally]);
	leave_share(m, map);
	page_index_remove(&m->pages, page_hash(&m->pages, map->mm, map->vpn, map->order), i);
	if (map->prev)
		m->mappings[map->prev].next = map->next;
	else
		mm->first = map->next;
	if (map->next)
		m->mappings[map->next].prev = map->prev;
	else
		mm->last = map->prev;
	mm->nr_mappings--;
	add_size(m, mm, -mapping_size(map));
	if (mm->hit == i)
		mm->hit = 0;
	mapping_release(map);
	map->mm = 0;
	map->next = m->free_mapping;
	m->free_mapping = i;
}

static uint32_t add_share(struct memory *m)
{
	uint32_t i = m->free_share;

	if (i)
		m->free_share = m->shares[i].next_free;
	else
		i = m->nr_shares++;
	m->shares[i] = (struct share){ 0 };
	m->live_shares++;
	return i;
}

/* Make @new, all PTE_NONE, map the folio that @old maps: the same PTEs, which are old there. */
static void share_folio(struct memory *m, struct mapping *old, struct mapping *new)
{
	struct share *s;

	if (!old->share) {
		old->share = add_share(m);
		s = &m->shares[old->share];
		s->nr_mappings = 1;
		s->nr_slots = old->slot;
	}
	s = &m->shares[old->share];
	s->nr_mappings++;
	new->share = old->share;
	new->slot = s->nr_slots < 2;
	s->nr_slots += new->slot;
	new->source = old->source;
	new->order_known = old->order_known;
	new->zero = old->zero;
	mapping_copy(new, old);
}

/* The mm borrows @nr mappings more, which take @size bytes once they are copied. */
static void add_loans(struct memory *m, struct mm *borrower, int64_t nr, int64_t size)
{
	borrower->nr_borrowed += nr;
	m->nr_borrowed += nr;
	borrower->borrowed_size += size;
	add_size(m, borrower, size);
}

/* Copy what is lent to who borrows it. The copy; 0 when nobody does any more, or out of memory. */
static noinline uint32_t hand_over(struct memory *m, uint32_t i)
{
	struct mapping *map = &m->mappings[i];
	uint32_t borrower = m->mms[map->mm].borrower, copy;

	map->lent = false;
	if (!borrower)
		return 0;
	add_loans(m, &m->mms[borrower], -1, -mapping_size(map));
	copy = memory_map(m, borrower, map->vpn, map->order, map->pmd, PTE_NONE);
	if (copy)
		share_folio(m, map, &m->mappings[copy]);
	else
		m->failed = true;
	return copy;
}

void memory_borrow(struct memory *m, uint32_t child, uint32_t parent)
{
	m->mms[child].lender = parent;
	m->mms[parent].borrower = child;
	m->mms[parent].hit = 0; /* it is to be searched for, and copied */
	m->mms[child].orders |= m->mms[parent].orders;
}

void memory_lend(struct memory *m, struct mapping *map)
{
	struct mm *borrower = &m->mms[m->mms[map->mm].borrower];

	mapping_write_protect(map);
	map->lent = true;
	add_loans(m, borrower, 1, mapping_size(map));
	/* which mms a folio tracks depends on who else maps it by now */
	if (unlikely(!memory_is_sole(m, map)))
		hand_over(m, map - m->mappings);
}

/* Nothing is lent to @child any more. */
static void end_loans(struct memory *m, uint32_t child)
{
	struct mm *borrower = &m->mms[child];

	add_loans(m, borrower, -(int64_t)borrower->nr_borrowed, -borrower->borrowed_size);
	m->mms[borrower->lender].borrower = 0;
	borrower->lender = 0;
}

/* Copy all that @child borrows. */
static void copy_loans(struct memory *m, uint32_t child)
{
	uint32_t i = m->mms[m->mms[child].lender].first;

	for (; i; i = m->mappings[i].next) {
		memory_look_ahead(m, &m->mappings[i], child);
		if (m->mappings[i].lent)
			hand_over(m, i);
	}
	end_loans(m, child);
}

void memory_settle(struct memory *m, uint32_t mm)
{
	if (m->mms[mm].borrower)
		copy_loans(m, m->mms[mm].borrower);
	if (m->mms[mm].lender)
		copy_loans(m, mm);
}

void memory_leave(struct memory *m, uint32_t mm)
{
	if (m->mms[mm].borrower)
		copy_loans(m, m->mms[mm].borrower);
	if (m->mms[mm].lender)
		end_loans(m, mm);
}

/* The mapping of exactly this first page and order that is in @mm, whatever that borrows. */
static uint32_t find_own(const struct memory *m, uint32_t mm, uint64_t vpn, unsigned int order)
{
	uint32_t hash = page_hash(&m->pages, mm, vpn, order);
	const struct page_slot *s = page_index_find(&m->pages, hash);

	while (s->hash == hash && s->mapping && !is_at(&m->mappings[s->mapping], mm, vpn, order))
		s++;
	return s->hash == hash ? s->mapping : 0;
}

uint32_t memory_find_exact(struct memory *m, uint32_t mm, uint64_t vpn, unsigned int order)
{
	uint32_t i = find_own(m, mm, vpn, order);

	if (i) {
		if (unlikely(m->mappings[i].lent))
			hand_over(m, i);
		return i;
	}
	if (likely(!m->mms[mm].lender))
		return 0;
	i = find_own(m, m->mms[mm].lender, vpn, order);
	return i && m->mappings[i].lent ? hand_over(m, i) : 0;
}

uint32_t memory_search(struct memory *m, uint32_t mm, uint64_t vpn, uint32_t *pte)
{
	for (uint32_t orders = m->mms[mm].orders; orders; orders &= orders - 1) {
		unsigned int order = __builtin_ctz(orders);
		uint32_t i = memory_find_exact(m, mm, vpn >> order << order, order);

		if (i && mapping_has(&m->mappings[i], vpn)) {
			m->near_vpn = m->mappings[i].vpn;
			m->near_ptes = mapping_nr_ptes(&m->mappings[i]);
			*pte = vpn - m->near_vpn;
			return m->mms[mm].hit = i;
		}
	}
	return 0;
}

int memory_split_pmd(struct memory *m, struct mapping *map)
{
	uint64_t size = mapping_size(map);
	int err = mapping_split_pmd(map);

	add_size(m, &m->mms[map->mm], mapping_size(map) - size);
	return err;
}

struct tally *memory_add_tally(struct memory *m, struct mapping *map)
{
	uint32_t i = m->free_tally;

	if (i)
		m->free_tally = m->tallies[i].next;
	else
		i = m->nr_tallies++;
	m->tallies[i] = (struct tally){ .next = map->tally };
	m->live_tallies++;
	map->tally = i;
	return &m->tallies[i];
}

void memory_remove_tally(struct memory *m, struct mapping *map, struct tally *t)
{
	uint32_t i = t - m->tallies, *link = &map->tally;

	while (*link != i)
		link = &m->tallies[*link].next;
	*link = t->next;
	t->next = m->free_tally;
	m->free_tally = i;
	m->live_tallies--;
}
