// SPDX-License-Identifier: GPL-2.0-or-later
/* What a fault did to the books: folios mapped, copied, made writable, dropped. */
#include <errno.h>

#include "model_int.h"

void access_set_key(struct access *a, enum fault_class class, enum evidence evidence)
{
	a->outcome->key.class = class;
	a->outcome->key.evidence = evidence;
}

/* The fault was about this mapping's folio. */
void access_set_folio(struct access *a, const struct mapping *map)
{
	struct fault_key *key = &a->outcome->key;

	key->order = map->order_known ? map->order : ORDER_UNKNOWN;
	key->source = map->order_known ? map->source : SOURCE_UNKNOWN;
	key->level = map->pmd ? LEVEL_PMD : LEVEL_PTE;
}

static bool fits_vma(const struct model *m, const struct access *a, uint64_t vpn,
		     unsigned int order)
{
	uint64_t start = vpn << m->options.page_shift;
	uint64_t size = UINT64_C(1) << (order + m->options.page_shift);

	return !a->vma || (start >= a->vma->start && a->vma->end - start >= size);
}

/* Take those of the @nr pages from @vpn on that the mapping has away from it. */
static void clear_mapping(struct model *m, struct mapping *map, uint64_t vpn, uint32_t nr)
{
	uint32_t nr_ptes = mapping_nr_ptes(map);
	uint32_t first = vpn > map->vpn ? vpn - map->vpn : 0;
	uint32_t end = vpn + nr - map->vpn < nr_ptes ? vpn + nr - map->vpn : nr_ptes;

	if (end - first < nr_ptes && memory_split_pmd(&m->memory, map) < 0) {
		m->err = -ENOMEM;
		return;
	}
	if (end - first == nr_ptes)
		mapping_set_all(map, PTE_NONE);
	else
		while (first < end)
			mapping_set_state(map, first++, PTE_NONE);
	if (!map->nr_mapped)
		episode_forget_mapping(m, map);
}

/* Take the pages from what was mapped there before. */
static void clear_range(struct model *m, uint32_t mm, uint64_t vpn, uint32_t nr)
{
	for (uint32_t orders = m->memory.mms[mm].orders; orders; orders &= orders - 1) {
		unsigned int order = __builtin_ctz(orders);
		uint64_t first = vpn >> order << order;

		for (; first < vpn + nr; first += UINT64_C(1) << order) {
			uint32_t old = memory_find_exact(&m->memory, mm, first, order);

			if (old)
				clear_mapping(m, &m->memory.mappings[old], vpn, nr);
		}
	}
}

/*
 * Map a folio of @order around the fault. Returns the mapping, NULL with m->err set. One that is
 * larger than the VMA has room for was allocated and not used.
 */
static struct mapping *map_order(struct model *m, struct access *a, enum pte_state state,
				 unsigned int order, enum folio_source source)
{
	struct mapping *map;
	uint64_t vpn;
	uint32_t i;

	if (!fits_vma(m, a, a->vpn >> order << order, order))
		order = 0;
	vpn = a->vpn >> order << order;
	clear_range(m, a->mm, vpn, 1u << order);
	i = memory_map(&m->memory, a->mm, vpn, order, order == pmd_order(m), state);
	if (!i) {
		m->err = -ENOMEM;
		return NULL;
	}
	map = &m->memory.mappings[i];
	map->order_known = source != SOURCE_UNKNOWN;
	map->source = source;
	map->last = resolved_at(a->fault);
	a->map = map;
	a->pte = a->vpn - vpn;
	return map;
}

/*
 * Map a folio around the fault: of the order that was allocated, else of @assumed (ORDER_UNKNOWN:
 * each page is kept apart and none has a folio).
 */
struct mapping *access_map_folio(struct model *m, struct access *a, enum pte_state state,
				 uint8_t assumed)
{
	const struct fault *f = a->fault;

	if (f->allocated && f->order <= pmd_order(m))
		return map_order(m, a, state, f->order, SOURCE_ALLOC);
	if (assumed != ORDER_UNKNOWN)
		return map_order(m, a, state, assumed, SOURCE_ASSUMED);
	return map_order(m, a, state, 0, SOURCE_UNKNOWN);
}

static void note_kind(struct access *a, enum vma_kind kind)
{
	if (a->vma)
		a->vma->kind = kind;
}

/* How many PTEs of the mapping the workload does not list as used for what @class resolves. */
static uint32_t count_unused(const struct model *m, const struct mapping *map,
			     enum fault_class class)
{
	uint32_t nr = 0;

	if (!m->options.used || !m->options.used->of[class].nr)
		return 0;
	for (uint32_t i = 0; i < mapping_nr_ptes(map); i++)
		nr += mapping_state(map, i) != PTE_NONE && !episode_used(m, class, map->vpn + i);
	return nr;
}

/* A populating fault: map. */
void access_map(struct model *m, struct access *a, enum evidence evidence)
{
	struct mapping *map = access_map_folio(m, a, PTE_WRITABLE, m->options.assumed_order);

	if (!map)
		return;
	note_kind(a, VMA_ANON);
	access_set_key(a, CLASS_MAP, evidence);
	access_set_folio(a, map);
	a->outcome->ptes = map->order_known ? mapping_nr_ptes(map) : 0;
	a->outcome->resolved = mapping_nr_ptes(map);
	a->unused = count_unused(m, map, CLASS_MAP);
	mapping_touch(map, a->pte);
	episode_charge(m, a, map, 1, mapping_nr_ptes(map));
}

/* A read of anonymous memory that no page was allocated for. */
void access_zero(struct model *m, struct access *a)
{
	uint32_t i = memory_map(&m->memory, a->mm, a->vpn, 0, false, PTE_SHARED);
	struct mapping *map = &m->memory.mappings[i];

	access_set_key(a, CLASS_ZERO, EVIDENCE_INFERRED);
	if (!i) {
		m->err = -ENOMEM;
		return;
	}
	note_kind(a, VMA_ANON);
	map->zero = true;
	map->last = resolved_at(a->fault);
}

/* A copy whose source is not in the model; what it made is. */
void access_copy_unmodelled(struct model *m, struct access *a, enum cow_from from,
			    enum evidence evidence)
{
	access_set_key(a, CLASS_COW, evidence);
	a->outcome->key.from = from;
	note_kind(a, from == FROM_FILE ? VMA_FILE : VMA_ANON);
	if (access_map_folio(m, a, PTE_WRITABLE, 0))
		a->outcome->ptes = a->fault->allocated ? mapping_nr_ptes(a->map) : 0;
}

/* A copy of all that the mapping has, into a folio of its order: its tallies go with it. */
static void do_copy_whole(struct model *m, struct access *a, struct mapping *map)
{
	enum folio_source source = a->fault->allocated ? SOURCE_ALLOC : SOURCE_ASSUMED;
	unsigned int order = map->order;
	uint32_t tallies = map->tally;
	struct mapping *copy;

	/* the copy takes the place that the mapping has in the books */
	map->tally = 0;
	episode_forget_mapping(m, map);
	copy = map_order(m, a, PTE_WRITABLE, order, source);
	if (!copy)
		return;
	copy->tally = tallies;
	mapping_touch(copy, a->pte);
}

/*
 * A fault of another process's (ptrace, /proc/PID/mem) may be made with FOLL_FORCE, without the
 * VMA's permission to write: no rule for batches acts on one. A recording does not tell them apart.
 */
static bool may_be_forced(const struct access *a)
{
	return a->fault->flags & FAULT_FLAG_REMOTE;
}

/*
 * The rules of a whole copy: a folio below PMD order, all of whose PTEs are here, read-only and not
 * exclusive (an exclusive page may be pinned), in one VMA.
 */
static bool may_copy_whole(const struct model *m, const struct access *a, const struct mapping *map)
{
	if (!map->order || !map->order_known || map->pmd || map->order >= pmd_order(m) ||
	    !fits_vma(m, a, map->vpn, map->order))
		return false;
	for (uint32_t i = 0; i < mapping_nr_ptes(map); i++) {
		if (mapping_state(map, i) != PTE_SHARED)
			return false;
	}
	return true;
}

static bool copies_whole(const struct model *m, const struct access *a, const struct mapping *map)
{
	if (a->recorded)
		return m->options.policy->copies_whole && !may_be_forced(a) &&
		       may_copy_whole(m, a, map);
	return a->fault->allocated && a->fault->order && a->fault->order == map->order;
}

/*
 * A copy of a page, or of the whole folio where one of its order was allocated for it or the policy
 * says so. The source loses what was copied, the copy is new memory of this mm.
 */
void access_copy(struct model *m, struct access *a, enum evidence evidence)
{
	struct mapping *map = a->map;
	bool whole = copies_whole(m, a, map);
	uint32_t nr = whole ? map->nr_mapped : 1;

	if (map->zero) {
		/* the zero page is no folio of anyone */
		mapping_set_state(map, a->pte, PTE_NONE);
		episode_forget_mapping(m, map);
		access_copy_unmodelled(m, a, FROM_ZERO, evidence);
		return;
	}
	if (!whole && memory_split_pmd(&m->memory, map) < 0) {
		m->err = -ENOMEM;
		return;
	}
	access_set_key(a, CLASS_COW, evidence);
	a->outcome->key.from = FROM_ANON;
	access_set_folio(a, map);
	a->outcome->ptes = a->fault->allocated || a->recorded ? nr : 0;
	a->outcome->resolved = nr;
	a->unused = whole ? count_unused(m, map, CLASS_COW) : 0;
	mapping_touch(map, a->pte);
	episode_charge(m, a, map, 1, nr);
	map->last = resolved_at(a->fault);
	if (whole) {
		do_copy_whole(m, a, map);
		return;
	}
	mapping_set_state(map, a->pte, PTE_NONE);
	if (!map->nr_mapped)
		episode_forget_mapping(m, map);
	/* without an allocation event the copy is of one page, as the kernel's are */
	access_map_folio(m, a, PTE_WRITABLE, 0);
}

/*
 * Whether the folio as a whole is this mm's alone (wp_can_reuse_anon_folio(), 6.12 and 7.3): a
 * small one when nobody else maps it; a large one only when the folio tracks this mm, no other maps
 * it, and more than one page of it is mapped.
 */
static bool is_exclusive(const struct model *m, const struct mapping *map)
{
	if (!memory_is_sole(&m->memory, map) || map->zero)
		return false;
	if (!map->order)
		return true;
	return m->options.reuses_large && map->slot && (map->pmd || map->nr_mapped > 1);
}

/* A write to a read-only anonymous page: what is AnonExclusive is reused without a check. */
bool access_may_reuse(const struct model *m, const struct mapping *map, enum pte_state state)
{
	return state == PTE_EXCLUSIVE || is_exclusive(m, map);
}

/* The read-only PTEs of the range that are the VMA's, counted and, with @apply, made writable. */
static uint32_t resolve_range(const struct model *m, struct access *a, struct mapping *map,
			      struct pte_range range, bool apply)
{
	uint32_t end = range.first + range.nr, found = 0;

	if (end > mapping_nr_ptes(map))
		end = mapping_nr_ptes(map);
	for (uint32_t i = range.first; i < end; i++) {
		enum pte_state state = mapping_state(map, i);

		if ((state != PTE_SHARED && state != PTE_EXCLUSIVE) ||
		    !fits_vma(m, a, map->vpn + i, 0))
			continue;
		found++;
		if (!apply)
			continue;
		mapping_set_state(map, i, PTE_WRITABLE);
		a->unused += !episode_used(m, CLASS_REUSE, map->vpn + i);
	}
	return found;
}

/*
 * What a reuse fault made writable: what the policy says; else one PTE, or as many as the worker's
 * return says, which are those of the smallest aligned window that has so many.
 */
static uint32_t resolve_reuse(const struct model *m, struct access *a, struct mapping *map)
{
	uint32_t want = a->fault->worker_ptes > 1 ? a->fault->worker_ptes : 1;
	struct pte_range range = { a->pte, 1 };

	if (map->pmd) {
		map->pmd_pte = a->pte;
		mapping_set_state(map, 0, PTE_WRITABLE);
		a->unused = count_unused(m, map, CLASS_REUSE);
		return mapping_nr_ptes(map);
	}
	/* a page that is marked exclusive is reused without a look at its folio */
	if (a->recorded && map->order_known && !may_be_forced(a) &&
	    mapping_state(map, a->pte) != PTE_EXCLUSIVE)
		range = m->options.policy->reuse(m->options.policy, map, a->pte);
	else if (!a->recorded && want > 1)
		while (range.nr < mapping_nr_ptes(map) &&
		       resolve_range(m, a, map, range, false) < want) {
			range.nr *= 2;
			range.first = a->pte - a->pte % range.nr;
		}
	if (range.nr == 1) {
		nibble_make_writable(mapping_nibble(map, a->pte));
		return 1;
	}
	return resolve_range(m, a, map, range, true);
}

void access_split_unseen(struct model *m, struct access *a)
{
	struct mapping *map = a->map;
	struct pte_range range = { map->pmd_pte, 1 };
	uint32_t resolved;

	if (memory_split_pmd(&m->memory, map) < 0) {
		m->err = -ENOMEM;
		return;
	}
	mapping_set_all(map, PTE_SHARED);
	if (a->recorded)
		range = m->options.policy->reuse(m->options.policy, map, map->pmd_pte);
	resolved = resolve_range(m, a, map, range, true);
	mapping_touch(map, map->pmd_pte);
	/* where a policy batches, its episode goes on, and has been charged for the whole PMD */
	for (uint32_t i = map->tally; i && range.nr > 1; i = m->memory.tallies[i].next) {
		struct tally *t = &m->memory.tallies[i];

		if (t->class == CLASS_REUSE && t->level == LEVEL_PMD) {
			t->level = LEVEL_PTE;
			t->resolved = resolved;
			a->outcome->split_ptes = resolved;
		}
	}
}

void access_reuse(struct model *m, struct access *a)
{
	struct mapping *map = a->map;
	uint32_t resolved = resolve_reuse(m, a, map);

	access_set_key(a, CLASS_REUSE,
		       a->fault->worker_ptes >= 0 ? EVIDENCE_SEEN : EVIDENCE_INFERRED);
	access_set_folio(a, map);
	if (map->pmd || a->fault->worker_ptes >= 0 || a->recorded)
		a->outcome->ptes = resolved;
	a->outcome->resolved = resolved;
	map->last = resolved_at(a->fault);
	mapping_touch(map, a->pte);
	episode_charge(m, a, map, resolved > 0, resolved);
}

void access_young(struct model *m, struct access *a)
{
	struct mapping *map = a->map;

	access_set_key(a, CLASS_ACCESS, EVIDENCE_INFERRED);
	access_set_folio(a, map);
	mapping_make_young(map, a->pte);
	episode_charge(m, a, map, 1, 0);
}

/* A fault that changed nothing of the mapping it was on. */
void access_nothing(struct model *m, struct access *a, enum fault_class class)
{
	struct mapping *map = a->map;

	access_set_key(a, class, EVIDENCE_INFERRED);
	access_set_folio(a, map);
	episode_charge(m, a, map, !mapping_touch(map, a->pte), 0);
}

/* The model was wrong about this page: nothing is known of it but what the fault shows. */
void access_drop_page(struct model *m, struct access *a)
{
	clear_range(m, a->mm, a->vpn, 1);
	a->map = NULL;
}

void access_file(struct access *a)
{
	const struct fault *f = a->fault;

	access_set_key(a, CLASS_FILE,
		       f->rss & (RSS_FILE | RSS_SHMEM) ? EVIDENCE_SEEN : EVIDENCE_INFERRED);
	note_kind(a, VMA_FILE);
}

void access_unshare(struct model *m, struct access *a)
{
	access_set_key(a, CLASS_UNSHARE, EVIDENCE_SEEN);
	if (a->map) {
		struct mapping *map = a->map;

		/* the PTE stays as it was: its first write is still to come */
		access_set_folio(a, map);
		episode_charge(m, a, map, 1, 1);
	}
	if (a->fault->allocated) {
		access_drop_page(m, a);
		access_map_folio(m, a, PTE_EXCLUSIVE, 0);
	} else if (a->map) {
		mapping_set_state(a->map, a->pte, PTE_EXCLUSIVE);
	}
}
