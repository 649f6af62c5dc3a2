// SPDX-License-Identifier: GPL-2.0-or-later
/* What is mapped where: pools and hashes of mms, mappings, shares and tallies. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "memory.h"

#define FIRST_ROOM 256
#define MAX_VMAS   65536 /* of one mm; vm.max_map_count is a little less */

#define NIBBLES_PER_WORD 16
#define INLINE_ORDER	 4 /* that many fit in the mapping itself */
#define EVERY_NIBBLE	 UINT64_C(0x1111111111111111)
#define NIBBLE_TOUCHED	 0x4u
#define NIBBLE_STATE	 0x3u
#define NIBBLE_OLD	 0x8u

/* Grow *pool to hold @need entries of @size bytes. 0 or -ENOMEM. */
static int grow_pool(void **pool, uint32_t *room, uint64_t need, size_t size)
{
	uint64_t new_room = *room ? *room : FIRST_ROOM;
	void *grown;

	if (need <= *room)
		return 0;
	while (new_room < need)
		new_room *= 2;
	if (new_room > UINT32_MAX)
		return -ENOMEM;
	grown = reallocarray(*pool, new_room, size);
	if (!grown)
		return -ENOMEM;
	*pool = grown;
	*room = new_room;
	return 0;
}

static uint64_t slot_hash(const struct memory *m, uint32_t mm, uint64_t vpn, unsigned int order)
{
	return hash_pair(vpn, (uint64_t)mm << 4 | order, m->key);
}

static bool is_at(const struct mapping *map, uint32_t mm, uint64_t vpn, unsigned int order)
{
	return map->vpn == vpn && map->mm == mm && map->order == order;
}

/* The slot that holds the mapping, or the empty one where it belongs. */
static uint32_t find_slot(const struct memory *m, uint32_t mm, uint64_t vpn, unsigned int order)
{
	uint32_t mask = m->index_room - 1;
	uint32_t i = slot_hash(m, mm, vpn, order) & mask;

	while (m->index[i] && !is_at(&m->mappings[m->index[i]], mm, vpn, order))
		i = (i + 1) & mask;
	return i;
}

static int grow_index(struct memory *m, uint64_t need)
{
	uint32_t *old = m->index;
	uint32_t old_room = m->index_room;
	uint64_t room = old_room ? old_room : FIRST_ROOM;

	/* at most two thirds full */
	while (2 * room < 3 * need)
		room *= 2;
	if (room == old_room)
		return 0;
	if (room > UINT32_MAX / 2)
		return -ENOMEM;
	m->index = calloc(room, sizeof(*m->index));
	if (!m->index) {
		m->index = old;
		return -ENOMEM;
	}
	m->index_room = room;
	for (uint32_t i = 0; i < old_room; i++) {
		const struct mapping *map = &m->mappings[old[i]];

		if (old[i])
			m->index[find_slot(m, map->mm, map->vpn, map->order)] = old[i];
	}
	free(old);
	return 0;
}

/* Close the gap that an entry leaves in a hash with linear probing. */
static void remove_slot(struct memory *m, uint32_t hole)
{
	uint32_t mask = m->index_room - 1;
	uint32_t i = hole;

	for (;;) {
		const struct mapping *map;
		uint32_t home;

		m->index[hole] = 0;
		do {
			i = (i + 1) & mask;
			if (!m->index[i])
				return;
			map = &m->mappings[m->index[i]];
			home = slot_hash(m, map->mm, map->vpn, map->order) & mask;
			/* it may move when its home is not between the hole and itself */
		} while (((i - home) & mask) < ((i - hole) & mask));
		m->index[hole] = m->index[i];
		hole = i;
	}
}

static uint32_t mm_slot(const struct memory *m, uint64_t id)
{
	uint32_t mask = m->mm_index_room - 1;
	uint32_t i = hash_u64(id, m->key) & mask;

	while (m->mm_index[i] && m->mms[m->mm_index[i]].id != id)
		i = (i + 1) & mask;
	return i;
}

static int grow_mm_index(struct memory *m)
{
	uint32_t room = m->mm_index_room ? m->mm_index_room : FIRST_ROOM;
	uint32_t *old = m->mm_index;

	while (room < 2 * (m->live_mms + 1))
		room *= 2;
	if (room == m->mm_index_room)
		return 0;
	m->mm_index = calloc(room, sizeof(*m->mm_index));
	if (!m->mm_index) {
		m->mm_index = old;
		return -ENOMEM;
	}
	m->mm_index_room = room;
	for (uint32_t i = 1; i < m->nr_mms; i++) {
		if (m->mms[i].id)
			m->mm_index[mm_slot(m, m->mms[i].id)] = i;
	}
	free(old);
	return 0;
}

int memory_grow(struct memory *m, uint32_t n)
{
	int err;

	err = grow_pool((void **)&m->mappings, &m->mapping_room, (uint64_t)m->nr_mappings + n + 1,
			sizeof(*m->mappings));
	if (!err)
		err = grow_pool((void **)&m->tallies, &m->tally_room,
				(uint64_t)m->nr_tallies + n + 1, sizeof(*m->tallies));
	if (!err)
		err = grow_pool((void **)&m->shares, &m->share_room, (uint64_t)m->nr_shares + n + 1,
				sizeof(*m->shares));
	if (!err)
		err = grow_pool((void **)&m->mms, &m->mm_room, (uint64_t)m->nr_mms + 2,
				sizeof(*m->mms));
	if (!err)
		err = grow_index(m, m->live + n);
	if (!err)
		err = grow_mm_index(m);
	return err;
}

int memory_open(struct memory *m)
{
	*m = (struct memory){
		.nr_mappings = 1, .nr_tallies = 1, .nr_shares = 1, .nr_mms = 1, .key = hash_key()
	};
	return memory_reserve(m, 1);
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
	free(m->mappings);
	free(m->tallies);
	free(m->shares);
	free(m->mms);
	free(m->index);
	free(m->mm_index);
	*m = (struct memory){ 0 };
}

uint32_t memory_find_mm(struct memory *m, uint64_t id)
{
	if (m->last_mm && m->mms[m->last_mm].id == id)
		return m->last_mm;
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

struct vma *memory_vma(struct memory *m, uint32_t index, uint64_t start, uint64_t end)
{
	struct mm *mm = &m->mms[index];
	enum vma_kind kind = VMA_UNKNOWN;
	uint32_t from, to;

	if (mm->last_vma < mm->nr_vmas && mm->vmas[mm->last_vma].start == start &&
	    mm->vmas[mm->last_vma].end == end)
		return &mm->vmas[mm->last_vma];
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

uint32_t memory_find_exact(const struct memory *m, uint32_t mm, uint64_t vpn, unsigned int order)
{
	return m->index[find_slot(m, mm, vpn, order)];
}

/* No page is in two mappings: where it is mapped, it is nowhere else. */
static bool maps_page(const struct mapping *map, uint64_t vpn)
{
	return vpn - map->vpn < mapping_nr_ptes(map) &&
	       mapping_state(map, vpn - map->vpn) != PTE_NONE;
}

uint32_t memory_find(struct memory *m, uint32_t mm, uint64_t vpn, uint32_t *pte)
{
	uint32_t hit = m->mms[mm].hit;

	if (hit && maps_page(&m->mappings[hit], vpn)) {
		*pte = vpn - m->mappings[hit].vpn;
		return hit;
	}
	for (uint32_t orders = m->mms[mm].orders; orders; orders &= orders - 1) {
		unsigned int order = __builtin_ctz(orders);
		uint32_t i = memory_find_exact(m, mm, vpn >> order << order, order);

		if (i && maps_page(&m->mappings[i], vpn)) {
			*pte = vpn - m->mappings[i].vpn;
			return m->mms[mm].hit = i;
		}
	}
	return 0;
}

static uint32_t nr_words(const struct mapping *map)
{
	return map->pmd || map->order <= INLINE_ORDER ? 1 : 1u << (map->order - INLINE_ORDER);
}

static uint64_t *words(struct mapping *map)
{
	return map->pmd || map->order <= INLINE_ORDER ? &map->nibbles : map->nibble_v;
}

static uint64_t mapping_size(const struct mapping *map)
{
	uint32_t nr = nr_words(map);

	return sizeof(*map) + (nr > 1 ? nr * sizeof(uint64_t) : 0);
}

uint32_t memory_map(struct memory *m, uint32_t mm, uint64_t vpn, unsigned int order, bool pmd,
		    enum pte_state state)
{
	uint32_t i = m->free_mapping ? m->free_mapping : m->nr_mappings;
	struct mapping *map = &m->mappings[i];
	uint32_t next_free = m->free_mapping ? map->next : 0;
	struct mm *owner = &m->mms[mm];

	*map = (struct mapping){ .vpn = vpn, .mm = mm, .order = order, .pmd = pmd };
	if (!pmd && order > INLINE_ORDER) {
		map->nibble_v = malloc(nr_words(map) * sizeof(uint64_t));
		if (!map->nibble_v) {
			map->next = next_free;
			return 0;
		}
	}
	if (i == m->nr_mappings)
		m->nr_mappings++;
	m->free_mapping = next_free;
	mapping_set_all(map, state);
	map->nr_start = map->nr_mapped;
	map->slot = true;
	map->prev = owner->last;
	if (owner->last)
		m->mappings[owner->last].next = i;
	else
		owner->first = i;
	owner->last = i;
	owner->nr_mappings++;
	add_size(m, owner, mapping_size(map));
	owner->orders |= 1u << order;
	m->index[find_slot(m, mm, vpn, order)] = i;
	m->live++;
	return i;
}

static void leave_share(struct memory *m, struct mapping *map)
{
	struct share *s = &m->shares[map->share];

	if (!map->share)
		return;
	s->nr_slots -= map->slot;
	if (!--s->nr_mappings) {
		s->next_free = m->free_share;
		m->free_share = map->share;
	}
	map->share = 0;
}

void memory_unmap(struct memory *m, uint32_t i)
{
	struct mapping *map = &m->mappings[i];
	struct mm *mm = &m->mms[map->mm];

	memory_free_tallies(m, map);
	leave_share(m, map);
	remove_slot(m, find_slot(m, map->mm, map->vpn, map->order));
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
	if (words(map) != &map->nibbles)
		free(map->nibble_v);
	map->next = m->free_mapping;
	m->free_mapping = i;
	m->live--;
}

static uint32_t add_share(struct memory *m)
{
	uint32_t i = m->free_share;

	if (i)
		m->free_share = m->shares[i].next_free;
	else
		i = m->nr_shares++;
	m->shares[i] = (struct share){ 0 };
	return i;
}

void memory_share(struct memory *m, uint32_t from, uint32_t to)
{
	struct mapping *old = &m->mappings[from], *new = &m->mappings[to];
	struct share *s;

	if (!old->share) {
		old->share = add_share(m);
		s = &m->shares[old->share];
		s->nr_mappings = 1;
		s->nr_slots = old->slot;
	}
	s = &m->shares[old->share];
	new->share = old->share;
	new->slot = s->nr_slots < 2;
	s->nr_slots += new->slot;
	s->nr_mappings++;
	new->source = old->source;
	new->order_known = old->order_known;
	new->zero = old->zero;
	memcpy(words(new), words(old), nr_words(old) * sizeof(uint64_t));
	new->nr_mapped = old->nr_mapped;
	mapping_write_protect(old);
	mapping_write_protect(new);
	for (uint32_t i = 0; i < nr_words(new); i++)
		words(new)[i] |= words(new)[i] * NIBBLE_OLD; /* of those that are mapped */
}

bool memory_is_sole(const struct memory *m, const struct mapping *map)
{
	return !map->share || m->shares[map->share].nr_mappings == 1;
}

int memory_split_pmd(struct memory *m, struct mapping *map)
{
	enum pte_state state = mapping_state(map, 0);
	uint64_t size = mapping_size(map);

	if (!map->pmd)
		return 0;
	if (map->order > INLINE_ORDER) {
		uint64_t *v = malloc(sizeof(uint64_t) << (map->order - INLINE_ORDER));

		if (!v)
			return -ENOMEM;
		map->nibble_v = v;
	}
	map->pmd = false;
	mapping_set_all(map, state);
	add_size(m, &m->mms[map->mm], mapping_size(map) - size);
	return 0;
}

uint32_t mapping_nr_ptes(const struct mapping *map)
{
	return 1u << map->order;
}

/* The word and shift of a PTE's nibble; a PMD has one for all. */
static uint64_t *nibble(const struct mapping *map, uint32_t pte, unsigned int *shift)
{
	uint64_t *w = words((struct mapping *)map);

	if (map->pmd)
		pte = 0;
	*shift = 4 * (pte % NIBBLES_PER_WORD);
	return w + pte / NIBBLES_PER_WORD;
}

enum pte_state mapping_state(const struct mapping *map, uint32_t pte)
{
	unsigned int shift;
	const uint64_t *w = nibble(map, pte, &shift);

	return *w >> shift & NIBBLE_STATE;
}

void mapping_set_state(struct mapping *map, uint32_t pte, enum pte_state state)
{
	unsigned int shift;
	uint64_t *w = nibble(map, pte, &shift);
	bool was = *w >> shift & NIBBLE_STATE;
	uint32_t nr = map->pmd ? mapping_nr_ptes(map) : 1;

	*w = (*w & ~((uint64_t)NIBBLE_STATE << shift)) | (uint64_t)state << shift;
	if (was != (state != PTE_NONE))
		map->nr_mapped += was ? -nr : nr;
}

void mapping_set_all(struct mapping *map, enum pte_state state)
{
	uint64_t *w = words(map);
	uint32_t nr = nr_words(map);

	for (uint32_t i = 0; i < nr; i++)
		w[i] = EVERY_NIBBLE * state;
	if (map->pmd)
		w[0] &= NIBBLE_STATE;
	else if (map->order < INLINE_ORDER)
		w[0] &= (UINT64_C(1) << (4u << map->order)) - 1;
	map->nr_mapped = state == PTE_NONE ? 0 : mapping_nr_ptes(map);
}

void mapping_write_protect(struct mapping *map)
{
	uint64_t *w = words(map);
	uint32_t nr = nr_words(map);

	for (uint32_t i = 0; i < nr; i++)
		w[i] = (w[i] | w[i] >> 1) & EVERY_NIBBLE; /* PTE_SHARED where not PTE_NONE */
	map->nr_start = map->nr_mapped;
}

bool mapping_touch(struct mapping *map, uint32_t pte)
{
	unsigned int shift;
	uint64_t *w = nibble(map, pte, &shift);
	bool was = *w >> shift & NIBBLE_TOUCHED;

	*w |= (uint64_t)NIBBLE_TOUCHED << shift;
	*w &= ~((uint64_t)NIBBLE_OLD << shift);
	return was;
}

void mapping_make_young(struct mapping *map, uint32_t pte)
{
	unsigned int shift;
	uint64_t *w = nibble(map, pte, &shift);

	*w &= ~((uint64_t)NIBBLE_OLD << shift);
}

bool mapping_is_old(const struct mapping *map, uint32_t pte)
{
	unsigned int shift;
	const uint64_t *w = nibble(map, pte, &shift);

	return *w >> shift & NIBBLE_OLD;
}

struct tally *memory_add_tally(struct memory *m, struct mapping *map)
{
	uint32_t i = m->free_tally;

	if (i)
		m->free_tally = m->tallies[i].next;
	else
		i = m->nr_tallies++;
	m->tallies[i] = (struct tally){ .next = map->tally };
	map->tally = i;
	return &m->tallies[i];
}

void memory_free_tallies(struct memory *m, struct mapping *map)
{
	while (map->tally) {
		uint32_t i = map->tally;

		map->tally = m->tallies[i].next;
		m->tallies[i].next = m->free_tally;
		m->free_tally = i;
	}
}
