// SPDX-License-Identifier: GPL-2.0-or-later
/* What each fault was for. */
#include <errno.h>
#include <stdlib.h>

#include "model.h"

/* What forks may make of the model: bytes at a time and in all, at first and for each step. */
#define LIVE_SIZE	(32u << 20)
#define LIVE_PER_STEP	256
#define COPIED_SIZE	(256u << 20)
#define COPIED_PER_STEP (64u << 10)

/* One fault on its way through the model. */
struct access {
	const struct fault *fault;
	struct outcome *outcome;
	uint32_t mm;
	struct vma *vma; /* NULL unknown */
	uint64_t vpn;
	uint32_t mapping; /* 0: the page is not known to be mapped */
	uint32_t pte;	  /* in the mapping */
	bool write;
	const struct outcome *recorded; /* what it was without the policy; NULL: there is none */
};

static unsigned int pmd_order(const struct model *m)
{
	return m->options.page_shift - 3; /* a page table holds a page of 8-byte entries */
}

int model_open(struct model *m, const struct model_options *options)
{
	*m = (struct model){ .options = *options };
	return memory_open(&m->memory);
}

void model_close(struct model *m)
{
	memory_close(&m->memory);
}

/* PTEs that the folio has in the VMA of the fault, at the start of the episode. */
static uint32_t ptes_here(const struct model *m, const struct mapping *map, const struct vma *vma)
{
	uint64_t first = map->vpn, end = map->vpn + mapping_nr_ptes(map);

	if (vma) {
		uint64_t vma_first = vma->start >> m->options.page_shift;
		uint64_t vma_end = vma->end >> m->options.page_shift;

		first = first > vma_first ? first : vma_first;
		end = end < vma_end ? end : vma_end;
	}
	if (end <= first)
		return 1;
	return end - first < map->nr_start ? end - first : map->nr_start;
}

static void emit(struct model *m, struct mapping *map, const struct tally *t, uint32_t nr_ptes)
{
	uint16_t bit = 1u << t->class;
	struct episode e = {
		.key = { .class = t->class,
			 .order = map->order_known ? map->order : ORDER_UNKNOWN,
			 .level = t->level,
			 .evidence = t->evidence,
			 .from = t->from,
			 .source = map->source },
		.mm = m->memory.mms[map->mm].id,
		.address = map->vpn << m->options.page_shift,
		.first = t->first,
		.latency = t->latency,
		.complete = t->complete,
		.faults = t->faults,
		.ptes = nr_ptes,
		.ptes_touched = t->touched,
		.ptes_resolved = t->resolved,
		.timed = t->timed,
		.completed = t->completed,
		.first_of_folio = !(map->classes & bit),
	};

	map->classes |= bit;
	if (!m->err)
		m->err = m->options.episode(m->options.ctx, &e);
}

/* The mapping's episode ends: what its classes have cost is known. */
static void end_episode(struct model *m, struct mapping *map)
{
	for (uint32_t i = map->tally; i; i = m->memory.tallies[i].next)
		emit(m, map, &m->memory.tallies[i], map->nr_start);
	memory_free_tallies(&m->memory, map);
}

static void forget_mapping(struct model *m, uint32_t i)
{
	end_episode(m, &m->memory.mappings[i]);
	memory_unmap(&m->memory, i);
}

static void forget_mappings(struct model *m, uint32_t mm)
{
	while (m->memory.mms[mm].first)
		forget_mapping(m, m->memory.mms[mm].first);
}

static struct tally *find_tally(struct model *m, const struct mapping *map,
				const struct tally *like)
{
	for (uint32_t i = map->tally; i; i = m->memory.tallies[i].next) {
		struct tally *t = &m->memory.tallies[i];

		if (t->class == like->class && t->evidence == like->evidence &&
		    t->from == like->from && t->level == like->level)
			return t;
	}
	return NULL;
}

/*
 * Charge the fault to the mapping's episode: @touched PTEs had their first fault, @resolved became
 * usable. A folio whose order is not known has no episodes: nothing can be said per PTE.
 */
static void charge(struct model *m, struct access *a, struct mapping *map, uint32_t touched,
		   uint32_t resolved)
{
	const struct fault *f = a->fault;
	const struct fault_key *key = &a->outcome->key;
	uint32_t nr = ptes_here(m, map, a->vma);
	struct tally one = { .class = key->class,
			     .evidence = key->evidence,
			     .from = key->from,
			     .level = key->level,
			     .first = f->entry,
			     .timed = true };
	struct tally *t;

	if (!f->counted || !map->order_known)
		return;
	t = find_tally(m, map, &one);
	/* under a policy, what is resolved may still be touched: its episode goes on */
	if (!t && (resolved < nr || a->recorded)) {
		t = memory_add_tally(&m->memory, map);
		one.next = t->next;
		*t = one;
	} else if (!t) {
		t = &one;
	}
	t->faults++;
	t->touched += touched;
	t->resolved += resolved;
	t->latency += f->latency;
	t->timed = t->timed && f->has_exit;
	if (t->resolved >= nr && !t->completed && f->has_exit) {
		t->completed = true;
		t->complete = f->exit > t->first ? f->exit - t->first : 0;
	}
	if (t == &one)
		emit(m, map, t, nr);
}

static void set_key(struct access *a, enum fault_class class, enum evidence evidence)
{
	a->outcome->key.class = class;
	a->outcome->key.evidence = evidence;
}

/* The fault was about this mapping's folio. */
static void set_folio(struct access *a, const struct mapping *map)
{
	struct fault_key *key = &a->outcome->key;

	key->order = map->order_known ? map->order : ORDER_UNKNOWN;
	key->source = map->order_known ? map->source : SOURCE_UNKNOWN;
	key->level = map->pmd ? LEVEL_PMD : LEVEL_PTE;
}

static uint64_t resolved_at(const struct fault *f)
{
	return f->has_exit ? f->exit : f->entry;
}

static bool fits_vma(const struct model *m, const struct access *a, uint64_t vpn,
		     unsigned int order)
{
	uint64_t start = vpn << m->options.page_shift;
	uint64_t size = UINT64_C(1) << (order + m->options.page_shift);

	return !a->vma || (start >= a->vma->start && a->vma->end - start >= size);
}

/* Take those of the @nr pages from @vpn on that the mapping has away from it. */
static void clear_mapping(struct model *m, uint32_t i, uint64_t vpn, uint32_t nr)
{
	struct mapping *map = &m->memory.mappings[i];
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
		forget_mapping(m, i);
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
				clear_mapping(m, old, vpn, nr);
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
	a->mapping = i;
	a->pte = a->vpn - vpn;
	return map;
}

/*
 * Map a folio around the fault: of the order that was allocated, else of @assumed (ORDER_UNKNOWN:
 * each page is kept apart and none has a folio).
 */
static struct mapping *map_folio(struct model *m, struct access *a, enum pte_state state,
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

/* A populating fault: map. */
static void do_map(struct model *m, struct access *a, enum evidence evidence)
{
	struct mapping *map = map_folio(m, a, PTE_WRITABLE, m->options.assumed_order);

	if (!map)
		return;
	note_kind(a, VMA_ANON);
	set_key(a, CLASS_MAP, evidence);
	set_folio(a, map);
	a->outcome->ptes = map->order_known ? mapping_nr_ptes(map) : 0;
	a->outcome->resolved = mapping_nr_ptes(map);
	mapping_touch(map, a->pte);
	charge(m, a, map, 1, mapping_nr_ptes(map));
}

/* A read of anonymous memory that no page was allocated for. */
static void do_zero(struct model *m, struct access *a)
{
	uint32_t i = memory_map(&m->memory, a->mm, a->vpn, 0, false, PTE_SHARED);
	struct mapping *map = &m->memory.mappings[i];

	set_key(a, CLASS_ZERO, EVIDENCE_INFERRED);
	if (!i) {
		m->err = -ENOMEM;
		return;
	}
	note_kind(a, VMA_ANON);
	map->zero = true;
	map->last = resolved_at(a->fault);
}

/* A copy whose source is not in the model; what it made is. */
static void do_copy_unmodelled(struct model *m, struct access *a, enum cow_from from,
			       enum evidence evidence)
{
	set_key(a, CLASS_COW, evidence);
	a->outcome->key.from = from;
	note_kind(a, from == FROM_FILE ? VMA_FILE : VMA_ANON);
	if (map_folio(m, a, PTE_WRITABLE, 0))
		a->outcome->ptes =
			a->fault->allocated ? mapping_nr_ptes(&m->memory.mappings[a->mapping]) : 0;
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
	forget_mapping(m, a->mapping);
	copy = map_order(m, a, PTE_WRITABLE, order, source);
	if (!copy)
		return;
	copy->tally = tallies;
	mapping_touch(copy, a->pte);
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
		return m->options.policy->copies_whole && may_copy_whole(m, a, map);
	return a->fault->allocated && a->fault->order && a->fault->order == map->order;
}

/*
 * A copy of a page, or of the whole folio where one of its order was allocated for it or the policy
 * says so. The source loses what was copied, the copy is new memory of this mm.
 */
static void do_copy(struct model *m, struct access *a, enum evidence evidence)
{
	struct mapping *map = &m->memory.mappings[a->mapping];
	bool whole = copies_whole(m, a, map);
	uint32_t nr = whole ? map->nr_mapped : 1;
	uint32_t source = a->mapping;

	if (map->zero) {
		/* the zero page is no folio of anyone */
		mapping_set_state(map, a->pte, PTE_NONE);
		forget_mapping(m, source);
		do_copy_unmodelled(m, a, FROM_ZERO, evidence);
		return;
	}
	if (!whole && memory_split_pmd(&m->memory, map) < 0) {
		m->err = -ENOMEM;
		return;
	}
	set_key(a, CLASS_COW, evidence);
	a->outcome->key.from = FROM_ANON;
	set_folio(a, map);
	a->outcome->ptes = a->fault->allocated || a->recorded ? nr : 0;
	a->outcome->resolved = nr;
	charge(m, a, map, !mapping_touch(map, a->pte), nr);
	map->last = resolved_at(a->fault);
	if (whole) {
		do_copy_whole(m, a, map);
		return;
	}
	mapping_set_state(map, a->pte, PTE_NONE);
	if (!map->nr_mapped)
		forget_mapping(m, source);
	/* without an allocation event the copy is of one page, as the kernel's are */
	map_folio(m, a, PTE_WRITABLE, 0);
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
static bool may_reuse(const struct model *m, const struct mapping *map, uint32_t pte)
{
	return mapping_state(map, pte) == PTE_EXCLUSIVE || is_exclusive(m, map);
}

/* The read-only PTEs of the range that are the VMA's, counted and, with @apply, made writable. */
static uint32_t resolve_range(const struct model *m, const struct access *a, struct mapping *map,
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
		if (apply)
			mapping_set_state(map, i, PTE_WRITABLE);
	}
	return found;
}

/*
 * What a reuse fault made writable: what the policy says; else one PTE, or as many as the worker's
 * return says, which are those of the smallest aligned window that has so many.
 */
static uint32_t resolve_reuse(const struct model *m, const struct access *a, struct mapping *map)
{
	uint32_t want = a->fault->worker_ptes > 1 ? a->fault->worker_ptes : 1;
	struct pte_range range = { a->pte, 1 };

	if (map->pmd) {
		mapping_set_state(map, 0, PTE_WRITABLE);
		return mapping_nr_ptes(map);
	}
	/* a page that alone is exclusive says nothing of its folio */
	if (a->recorded && map->order_known &&
	    (mapping_state(map, a->pte) != PTE_EXCLUSIVE || is_exclusive(m, map)))
		range = m->options.policy->reuse(m->options.policy, map, a->pte);
	else if (!a->recorded)
		while (range.nr < mapping_nr_ptes(map) &&
		       resolve_range(m, a, map, range, false) < want) {
			range.nr *= 2;
			range.first = a->pte - a->pte % range.nr;
		}
	if (range.nr == 1) {
		mapping_set_state(map, a->pte, PTE_WRITABLE);
		return 1;
	}
	return resolve_range(m, a, map, range, true);
}

static void do_reuse(struct model *m, struct access *a)
{
	struct mapping *map = &m->memory.mappings[a->mapping];
	uint32_t touched = !mapping_touch(map, a->pte);
	uint32_t resolved = resolve_reuse(m, a, map);

	set_key(a, CLASS_REUSE, a->fault->worker_ptes >= 0 ? EVIDENCE_SEEN : EVIDENCE_INFERRED);
	set_folio(a, map);
	if (map->pmd || a->fault->worker_ptes >= 0 || a->recorded)
		a->outcome->ptes = resolved;
	a->outcome->resolved = resolved;
	map->last = resolved_at(a->fault);
	charge(m, a, map, touched, resolved);
}

/* A fault that changed nothing of the mapping it was on. */
static void do_nothing(struct model *m, struct access *a, enum fault_class class)
{
	struct mapping *map = &m->memory.mappings[a->mapping];

	set_key(a, class, EVIDENCE_INFERRED);
	set_folio(a, map);
	charge(m, a, map, !mapping_touch(map, a->pte), 0);
}

/* The model was wrong about this page: nothing is known of it but what the fault shows. */
static void drop_page(struct model *m, struct access *a)
{
	clear_range(m, a->mm, a->vpn, 1);
	a->mapping = 0;
}

/* Page-fault error code, where an exception event gives it. */
static bool was_present(const struct fault *f)
{
	return f->has_error_code && f->error_code & X86_PF_PROT;
}

static bool was_absent(const struct fault *f)
{
	return f->has_error_code && !(f->error_code & X86_PF_PROT);
}

/* The fault went through the page cache: do_fault() and friends return so, anonymous faults do not.
 */
static bool is_file_fault(const struct fault *f)
{
	return f->rss & (RSS_FILE | RSS_SHMEM) ||
	       (f->has_ret && f->ret & (VM_FAULT_LOCKED | VM_FAULT_NOPAGE));
}

static void do_file(struct access *a)
{
	const struct fault *f = a->fault;

	set_key(a, CLASS_FILE, f->rss & (RSS_FILE | RSS_SHMEM) ? EVIDENCE_SEEN : EVIDENCE_INFERRED);
	note_kind(a, VMA_FILE);
}

static void unmapped_page(struct model *m, struct access *a);

/* A write to a page that the model has as writable. */
static void write_to_writable(struct model *m, struct access *a)
{
	const struct fault *f = a->fault;

	if (f->entry < m->memory.mappings[a->mapping].last) {
		do_nothing(m, a, CLASS_RACED);
	} else if (was_absent(f) || is_file_fault(f) || f->rss & (RSS_ANON | RSS_SWAP)) {
		drop_page(m, a);
		unmapped_page(m, a);
	} else if (f->allocated && (m->sees_rss || was_present(f))) {
		do_copy(m, a, EVIDENCE_SEEN);
	} else if (f->allocated) {
		/* dropped and mapped anew, or write-protected and copied: no event says which */
		do_nothing(m, a, CLASS_UNKNOWN);
		drop_page(m, a);
		map_folio(m, a, PTE_WRITABLE, ORDER_UNKNOWN);
	} else {
		do_nothing(m, a, CLASS_SPURIOUS);
	}
}

/* What the rules say where the page is read-only and anonymous, else nothing. */
static enum wp_rule rule_of(const struct model *m, const struct access *a)
{
	const struct mapping *map = &m->memory.mappings[a->mapping];

	if (!a->write || !a->mapping || map->zero || mapping_state(map, a->pte) == PTE_WRITABLE)
		return WP_NONE;
	return may_reuse(m, map, a->pte) ? WP_REUSE : WP_COPY;
}

/* The episode in which the page was resolved for it: it has been touched after all. */
static void do_avoided(struct model *m, struct access *a)
{
	struct mapping *map = &m->memory.mappings[a->mapping];

	a->outcome->avoided = true;
	set_folio(a, map);
	if (mapping_touch(map, a->pte) || !a->fault->counted)
		return;
	for (uint32_t i = map->tally; i; i = m->memory.tallies[i].next) {
		struct tally *t = &m->memory.tallies[i];

		if (t->resolved > t->touched) {
			t->touched++;
			return;
		}
	}
}

/*
 * What the policy makes of a fault that was recorded as reuse or as a copy of an anonymous page.
 * Returns false when it was another: that goes the recorded way.
 */
static bool predict(struct model *m, struct access *a)
{
	const struct outcome *recorded = a->recorded;
	const struct mapping *map = &m->memory.mappings[a->mapping];
	bool raced = recorded->key.class == CLASS_RACED && a->fault->entry >= map->last;
	bool reuse = recorded->key.class == CLASS_REUSE;

	if (recorded->rule == WP_NONE && !raced)
		return false;
	if (!raced && !reuse && recorded->key.class != CLASS_COW)
		return false;
	if (mapping_state(map, a->pte) == PTE_WRITABLE) {
		do_avoided(m, a);
		return true;
	}
	if (raced)
		return false;
	/* the rules overrule what happened only where they say another thing than they did then */
	if (a->outcome->rule != recorded->rule)
		reuse = a->outcome->rule == WP_REUSE;
	if (reuse)
		do_reuse(m, a);
	else
		do_copy(m, a, recorded->key.evidence);
	return true;
}

/* A write to a page that the model has as write-protected. */
static void write_to_protected(struct model *m, struct access *a)
{
	const struct fault *f = a->fault;
	struct mapping *map = &m->memory.mappings[a->mapping];

	if (was_absent(f) || is_file_fault(f) || f->rss & RSS_SWAP ||
	    (f->rss & RSS_ANON && !map->zero)) {
		drop_page(m, a);
		unmapped_page(m, a);
	} else if (f->allocated) {
		do_copy(m, a, EVIDENCE_SEEN);
	} else if (map->zero) {
		do_copy(m, a, EVIDENCE_INFERRED);
	} else if (m->sees_alloc || f->worker_ptes >= 0 || may_reuse(m, map, a->pte)) {
		do_reuse(m, a);
	} else {
		do_copy(m, a, EVIDENCE_INFERRED);
	}
}

static void mapped_page(struct model *m, struct access *a)
{
	const struct fault *f = a->fault;
	const struct mapping *map = &m->memory.mappings[a->mapping];
	bool writable = mapping_state(map, a->pte) == PTE_WRITABLE;

	a->outcome->rule = rule_of(m, a);
	if (a->recorded && a->write && predict(m, a))
		return;
	if (a->write && writable) {
		write_to_writable(m, a);
	} else if (a->write) {
		write_to_protected(m, a);
	} else if (f->entry < map->last) {
		do_nothing(m, a, CLASS_RACED);
	} else if (was_absent(f) || is_file_fault(f) || f->allocated || f->rss) {
		drop_page(m, a);
		unmapped_page(m, a);
	} else if (m->options.faults_on_old && mapping_is_old(map, a->pte)) {
		do_nothing(m, a, CLASS_ACCESS);
	} else {
		/* a NUMA hint, or dropped and read again */
		do_nothing(m, a, CLASS_UNKNOWN);
	}
}

/* A write that allocated, to a page that the model does not have and that is not of a file. */
static void write_allocated(struct model *m, struct access *a)
{
	const struct fault *f = a->fault;
	bool born = m->memory.mms[a->mm].born;

	if (was_present(f))
		do_copy_unmodelled(m, a,
				   !m->sees_rss	       ? FROM_NONE
				   : f->rss & RSS_ANON ? FROM_ZERO
						       : FROM_ANON,
				   EVIDENCE_SEEN);
	else if (m->sees_rss && !(f->rss & RSS_ANON))
		do_copy_unmodelled(m, a, FROM_ANON, EVIDENCE_SEEN);
	else if (was_absent(f) || born || f->order)
		do_map(m, a, EVIDENCE_SEEN);
	else if (m->sees_rss)
		do_map(m, a, EVIDENCE_INFERRED); /* or a copy of a zero page from before */
	else
		map_folio(m, a, PTE_WRITABLE, ORDER_UNKNOWN); /* map or copy: unknown */
}

/* A write without an allocation. */
static void write_unallocated(struct model *m, struct access *a)
{
	const struct fault *f = a->fault;
	enum vma_kind kind = a->vma ? a->vma->kind : VMA_UNKNOWN;

	if (kind == VMA_FILE && !was_absent(f)) {
		set_key(a, CLASS_SHARED, EVIDENCE_INFERRED);
	} else if (kind == VMA_ANON && was_present(f) && m->sees_alloc) {
		/* mapped before the recording began */
		if (map_folio(m, a, PTE_SHARED, m->options.assumed_order))
			do_reuse(m, a);
	} else if (!m->sees_alloc && !was_present(f) &&
		   (m->memory.mms[a->mm].born || m->options.assumed_order != ORDER_UNKNOWN)) {
		do_map(m, a, EVIDENCE_INFERRED);
	}
}

/* A fault on a page that the model does not have. */
static void unmapped_page(struct model *m, struct access *a)
{
	const struct fault *f = a->fault;

	if (f->rss & RSS_SWAP) {
		set_key(a, CLASS_SWAP, EVIDENCE_SEEN);
	} else if (is_file_fault(f)) {
		/* a write to a private file page copies it */
		if (a->write && f->rss & RSS_ANON)
			do_copy_unmodelled(m, a, FROM_FILE, EVIDENCE_SEEN);
		else if (a->write && f->allocated && !m->sees_rss && f->ret & VM_FAULT_LOCKED)
			do_copy_unmodelled(m, a, FROM_FILE, EVIDENCE_INFERRED);
		else
			do_file(a);
	} else if (a->write && f->allocated) {
		write_allocated(m, a);
	} else if (a->write) {
		write_unallocated(m, a);
	} else if (f->allocated && f->rss & RSS_ANON) {
		do_map(m, a, EVIDENCE_SEEN);
	} else if (!f->allocated && !was_present(f) &&
		   (was_absent(f) || m->memory.mms[a->mm].born) &&
		   (!a->vma || a->vma->kind != VMA_FILE)) {
		do_zero(m, a);
	}
}

static void do_unshare(struct model *m, struct access *a)
{
	set_key(a, CLASS_UNSHARE, EVIDENCE_SEEN);
	if (a->mapping) {
		struct mapping *map = &m->memory.mappings[a->mapping];

		set_folio(a, map);
		charge(m, a, map, !mapping_touch(map, a->pte), 1);
	}
	if (a->fault->allocated) {
		drop_page(m, a);
		map_folio(m, a, PTE_EXCLUSIVE, 0);
	} else if (a->mapping) {
		mapping_set_state(&m->memory.mappings[a->mapping], a->pte, PTE_EXCLUSIVE);
	}
}

static int find_mm(struct model *m, uint64_t id, uint32_t *mm)
{
	*mm = memory_find_mm(&m->memory, id);
	if (!*mm)
		*mm = memory_add_mm(&m->memory, id);
	return 0;
}

static int do_fault(struct model *m, const struct fault *f, const struct outcome *recorded,
		    struct outcome *o)
{
	struct access a = { .fault = f, .outcome = o, .recorded = recorded };
	int err;

	*o = (struct outcome){ .key = { .class = CLASS_UNKNOWN,
					.order = ORDER_UNKNOWN,
					.evidence = EVIDENCE_INFERRED } };
	if (f->has_ret && f->ret & VM_FAULT_ERROR) {
		set_key(&a, CLASS_ERROR, EVIDENCE_SEEN);
		return 0;
	}
	if (!f->mm || !f->has_address || !f->has_flags)
		return 0;
	/* the fault's own page, and one for each PTE of a PMD that is split */
	err = memory_reserve(&m->memory, 2);
	if (!err)
		err = find_mm(m, f->mm, &a.mm);
	if (err)
		return err;
	if (f->vma_end > f->vma_start) {
		a.vma = memory_vma(&m->memory, a.mm, f->vma_start, f->vma_end);
		if (!a.vma)
			return -ENOMEM;
	}
	a.vpn = f->address >> m->options.page_shift;
	a.mapping = memory_find(&m->memory, a.mm, a.vpn, &a.pte);
	a.write = f->flags & FAULT_FLAG_WRITE;
	if (f->flags & FAULT_FLAG_UNSHARE)
		do_unshare(m, &a);
	else if (a.mapping)
		mapped_page(m, &a);
	else
		unmapped_page(m, &a);
	return m->err;
}

/* Whether copying an mm of @size bytes leaves the model in proportion to the steps. */
static bool may_copy(struct model *m, uint64_t size)
{
	if (m->memory.size + size > LIVE_SIZE + LIVE_PER_STEP * m->steps ||
	    m->copied + size > COPIED_SIZE + COPIED_PER_STEP * m->steps)
		return false;
	m->copied += size;
	return true;
}

static int forget_mm(struct model *m, uint64_t id)
{
	uint32_t mm = memory_find_mm(&m->memory, id);

	if (mm) {
		forget_mappings(m, mm);
		memory_remove_mm(&m->memory, mm);
	}
	return m->err;
}

static int skip_fork(struct model *m, uint64_t new_id, uint64_t old_id)
{
	int err = forget_mm(m, old_id);

	m->untracked_forks++;
	return err ? err : forget_mm(m, new_id);
}

/* The child maps what the parent maps, and neither may write. */
static int do_fork(struct model *m, uint64_t new_id, uint64_t old_id)
{
	struct memory *memory = &m->memory;
	uint32_t old = memory_find_mm(memory, old_id);
	uint32_t new = memory_find_mm(memory, new_id);
	int err;

	if (old && !may_copy(m, memory->mms[old].size))
		return skip_fork(m, new_id, old_id);
	err = memory_reserve(memory, (old ? memory->mms[old].nr_mappings : 0) + 1);
	if (err)
		return err;
	if (new)
		forget_mappings(m, new);
	else
		new = memory_add_mm(memory, new_id);
	if (!old) {
		/* nothing is known of the parent, and so of the child */
		memory->mms[new].born = false;
		return 0;
	}
	memory->mms[new].born = memory->mms[old].born;
	for (uint32_t i = memory->mms[old].first; i; i = memory->mappings[i].next) {
		struct mapping *map = &memory->mappings[i];
		uint32_t copy;

		end_episode(m, map);
		copy = memory_map(memory, new, map->vpn, map->order, map->pmd, PTE_NONE);
		if (!copy)
			return -ENOMEM;
		memory_share(memory, i, copy);
	}
	if (m->err)
		return m->err;
	return memory->mms[new].nr_vmas ? 0 : memory_copy_vmas(memory, new, old);
}

static int do_exec(struct model *m, const struct step *s)
{
	uint32_t mm;
	int err = s->oldmm ? forget_mm(m, s->oldmm) : 0;

	if (!err && s->mm)
		err = memory_reserve(&m->memory, 1);
	if (err || !s->mm)
		return err;
	err = find_mm(m, s->mm, &mm);
	if (!err)
		m->memory.mms[mm].born = true;
	return err;
}

int model_predict(struct model *m, const struct step *s, const struct outcome *recorded,
		  struct outcome *o)
{
	m->steps++;
	switch (s->kind) {
	case STEP_FAULT:
		return do_fault(m, &s->fault, recorded, o);
	case STEP_FORK:
		return do_fork(m, s->mm, s->oldmm);
	case STEP_MM_EXIT:
	case STEP_UNCERTAIN:
		return forget_mm(m, s->mm);
	case STEP_EXEC:
		return do_exec(m, s);
	}
	return 0;
}

int model_step(struct model *m, const struct step *s, struct outcome *o)
{
	return model_predict(m, s, NULL, o);
}

int model_finish(struct model *m)
{
	for (uint32_t i = 1; i < m->memory.nr_mms; i++) {
		if (m->memory.mms[i].id)
			forget_mappings(m, i);
	}
	return m->err;
}
