// SPDX-License-Identifier: GPL-2.0-or-later
/* What each fault was for. */
#include <errno.h>
#include <stdlib.h>

#include "model_int.h"

/* What forks may make of the model: bytes at a time and in all, at first and for each step. */
#define LIVE_SIZE	(32u << 20)
#define LIVE_PER_STEP	256
#define COPIED_SIZE	(256u << 20)
#define COPIED_PER_STEP (64u << 10)

noinline int model_open(struct model *m, const struct model_options *options)
{
	*m = (struct model){ .options = *options };
	return memory_open(&m->memory);
}

noinline void model_close(struct model *m)
{
	memory_close(&m->memory);
}

/* The fault went through the page cache: do_fault() and friends return so, anonymous faults do not.
 */
static bool is_file_fault(const struct fault *f)
{
	return f->rss & (RSS_FILE | RSS_SHMEM) ||
	       (f->has_ret && f->ret & (VM_FAULT_LOCKED | VM_FAULT_NOPAGE));
}

static void unmapped_page(struct model *m, struct access *a);

/* A write to a page that the model has as writable. */
static void write_to_writable(struct model *m, struct access *a)
{
	const struct fault *f = a->fault;

	if (f->entry < a->map->last) {
		access_nothing(m, a, CLASS_RACED);
	} else if (was_absent(f) || is_file_fault(f) || f->rss & (RSS_ANON | RSS_SWAP)) {
		access_drop_page(m, a);
		unmapped_page(m, a);
	} else if (f->allocated && (m->sees_rss || was_present(f))) {
		access_copy(m, a, EVIDENCE_SEEN);
	} else if (f->allocated) {
		/* dropped and mapped anew, or write-protected and copied: no event says which */
		access_nothing(m, a, CLASS_UNKNOWN);
		access_drop_page(m, a);
		access_map_folio(m, a, PTE_WRITABLE, ORDER_UNKNOWN);
	} else {
		/* without forks nobody can tell one of these from the first after a fork */
		access_nothing(m, a, m->options.sees_forks ? CLASS_SPURIOUS : CLASS_UNKNOWN);
	}
}

/* What the rules say where the page is read-only and anonymous, else nothing. */
static enum wp_rule rule_of(const struct model *m, const struct access *a, enum pte_state state)
{
	const struct mapping *map = a->map;

	if (!a->write || map->zero || state == PTE_WRITABLE)
		return WP_NONE;
	return access_may_reuse(m, map, state) ? WP_REUSE : WP_COPY;
}

/* The episode in which the page was resolved for it: it has been touched after all. */
static void do_avoided(struct model *m, struct access *a)
{
	struct mapping *map = a->map;

	a->outcome->avoided = true;
	access_set_folio(a, map);
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
	const struct mapping *map = a->map;
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
		access_reuse(m, a);
	else
		access_copy(m, a, recorded->key.evidence);
	return true;
}

/*
 * Reuse faults come in runs: one for each PTE of a folio that is written again, or for each small
 * folio. This one, which found its PTE in @state and its mapping as it was @before, may be the
 * first.
 */
static void begin_run(struct model *m, const struct access *a, enum pte_state state,
		      const struct mapping *before)
{
	const struct outcome *o = a->outcome;

	if (o->resolved != 1 || o->was_split || a->recorded)
		return;
	m->run.fault = *a->fault;
	m->run.outcome = *o;
	if (before->order) {
		m->run.state = state;
		episode_begin_run(m, a);
	} else if (o->rule == WP_REUSE && a->fault->counted && before->order_known &&
		   !before->tally) {
		m->run.kind = RUN_OF_FOLIOS;
		m->run.mm = a->mm;
		m->run.outcome.whole = &m->ended;
		m->run.before = *before;
		m->run.after = *a->map;
	}
}

/* A write to a page that the model has as write-protected. */
static void write_to_protected(struct model *m, struct access *a, enum pte_state state)
{
	const struct fault *f = a->fault;
	const struct mapping before = *a->map, *map = &before;

	if (was_absent(f) || is_file_fault(f) || f->rss & RSS_SWAP ||
	    (f->rss & RSS_ANON && !map->zero)) {
		access_drop_page(m, a);
		unmapped_page(m, a);
	} else if (f->allocated) {
		access_copy(m, a, EVIDENCE_SEEN);
	} else if (map->zero) {
		access_copy(m, a, EVIDENCE_INFERRED);
	} else if (m->sees_alloc || f->worker_ptes >= 0 || a->outcome->rule == WP_REUSE) {
		access_reuse(m, a);
		begin_run(m, a, state, &before);
	} else {
		access_copy(m, a, EVIDENCE_INFERRED);
	}
}

/*
 * A PMD that is writable takes no second write fault. Where one comes all the same, and no other
 * task was in the middle of it, the folio had been mapped by PTEs when the last one came.
 */
static bool was_split_unseen(const struct model *m, const struct access *a)
{
	const struct fault *f = a->fault;
	const struct mapping *map = a->map;

	if (!a->write || !map->pmd || mapping_state(map, 0) != PTE_WRITABLE)
		return false;
	if (a->recorded)
		return a->recorded->was_split;
	return map->classes & (1u << CLASS_REUSE) && f->entry >= map->last && !was_absent(f) &&
	       !is_file_fault(f) && !f->allocated && !f->rss && a->pte != map->pmd_pte;
}

static void mapped_page(struct model *m, struct access *a)
{
	const struct fault *f = a->fault;
	const struct mapping *map = a->map;
	enum pte_state state;

	if (was_split_unseen(m, a)) {
		a->outcome->was_split = true;
		access_split_unseen(m, a);
	}
	state = mapping_state(map, a->pte);
	a->outcome->rule = rule_of(m, a, state);
	if (a->recorded && a->write && predict(m, a))
		return;
	if (a->write && state == PTE_WRITABLE) {
		write_to_writable(m, a);
	} else if (a->write) {
		write_to_protected(m, a, state);
	} else if (f->entry < map->last) {
		access_nothing(m, a, CLASS_RACED);
	} else if (was_absent(f) || is_file_fault(f) || f->allocated || f->rss) {
		access_drop_page(m, a);
		unmapped_page(m, a);
	} else if (m->options.faults_on_old && mapping_is_old(map, a->pte)) {
		access_young(m, a);
	} else {
		/* a NUMA hint, or dropped and read again */
		access_nothing(m, a, CLASS_UNKNOWN);
	}
}

/* A write that allocated, to a page that the model does not have and that is not of a file. */
static void write_allocated(struct model *m, struct access *a)
{
	const struct fault *f = a->fault;
	bool born = m->memory.mms[a->mm].born;

	if (was_present(f))
		access_copy_unmodelled(m, a,
				       !m->sees_rss	   ? FROM_NONE
				       : f->rss & RSS_ANON ? FROM_ZERO
							   : FROM_ANON,
				       EVIDENCE_SEEN);
	else if (m->sees_rss && !(f->rss & RSS_ANON))
		access_copy_unmodelled(m, a, FROM_ANON, EVIDENCE_SEEN);
	else if (was_absent(f) || born || f->order)
		access_map(m, a, EVIDENCE_SEEN);
	else if (m->sees_rss)
		access_map(m, a, EVIDENCE_INFERRED); /* or a copy of a zero page from before */
	else
		access_map_folio(m, a, PTE_WRITABLE, ORDER_UNKNOWN); /* map or copy: unknown */
}

/* A write without an allocation. */
static void write_unallocated(struct model *m, struct access *a)
{
	const struct fault *f = a->fault;
	enum vma_kind kind = a->vma ? a->vma->kind : VMA_UNKNOWN;

	if (kind == VMA_FILE && !was_absent(f)) {
		access_set_key(a, CLASS_SHARED, EVIDENCE_INFERRED);
	} else if (kind == VMA_ANON && was_present(f) && m->sees_alloc) {
		/* mapped before the recording began */
		if (access_map_folio(m, a, PTE_SHARED, m->options.assumed_order))
			access_reuse(m, a);
	} else if (!m->sees_alloc && !was_present(f) &&
		   (m->memory.mms[a->mm].born || m->options.assumed_order != ORDER_UNKNOWN)) {
		access_map(m, a, EVIDENCE_INFERRED);
	}
}

/* A fault on a page that the model does not have. */
static noinline void unmapped_page(struct model *m, struct access *a)
{
	const struct fault *f = a->fault;

	if (f->rss & RSS_SWAP) {
		access_set_key(a, CLASS_SWAP, EVIDENCE_SEEN);
	} else if (is_file_fault(f)) {
		/* a write to a private file page copies it */
		if (a->write && f->rss & RSS_ANON)
			access_copy_unmodelled(m, a, FROM_FILE, EVIDENCE_SEEN);
		else if (a->write && f->allocated && !m->sees_rss && f->ret & VM_FAULT_LOCKED)
			access_copy_unmodelled(m, a, FROM_FILE, EVIDENCE_INFERRED);
		else
			access_file(a);
	} else if (a->write && f->allocated) {
		write_allocated(m, a);
	} else if (a->write) {
		write_unallocated(m, a);
	} else if (f->allocated && f->rss & RSS_ANON) {
		access_map(m, a, EVIDENCE_SEEN);
	} else if (!f->allocated && !was_present(f) &&
		   (was_absent(f) || m->memory.mms[a->mm].born) &&
		   (!a->vma || a->vma->kind != VMA_FILE)) {
		access_zero(m, a);
	}
}

/* The mm of @id, added when it is new; room was reserved. */
static uint32_t find_mm(struct model *m, uint64_t id)
{
	uint32_t mm = memory_find_mm(&m->memory, id);

	return likely(mm) ? mm : memory_add_mm(&m->memory, id);
}

noinline flatten void model_announce(struct model *m, uint64_t mm_id, uint64_t address)
{
	struct memory *memory = &m->memory;
	uint64_t vpn = address >> m->options.page_shift;

	if (!memory_is_near(memory, vpn))
		memory_prefetch_slot(memory, memory_find_mm(memory, mm_id), vpn);
}

noinline flatten void model_expect(struct model *m, uint32_t cpu, uint64_t mm_id, uint64_t address)
{
	struct memory *memory = &m->memory;
	uint64_t vpn = address >> m->options.page_shift;

	if (!memory_is_near(memory, vpn))
		memory_prefetch(memory, cpu, memory_find_mm(memory, mm_id), vpn);
}

/* Whether two faults differ in nothing that the model decides by but their addresses and times. */
static inline bool are_alike(const struct fault *a, const struct fault *b)
{
	/* what the exit wrote is read apart: in one piece with neighbours it takes 15 cycles */
	if (a->has_exit != b->has_exit || a->has_address != b->has_address ||
	    a->has_flags != b->has_flags || a->has_ret != b->has_ret ||
	    a->has_error_code != b->has_error_code || a->allocated != b->allocated ||
	    a->counted != b->counted)
		return false;
	if (a->ret != b->ret)
		return false;
	return a->mm == b->mm && a->vma_start == b->vma_start && a->vma_end == b->vma_end &&
	       a->flags == b->flags && a->error_code == b->error_code &&
	       a->worker_ptes == b->worker_ptes && a->order == b->order && a->rss == b->rss;
}

/* The fault is the next of the run's folio, if its PTE is as those before it were. */
static inline bool next_pte(struct model *m, const struct fault *f)
{
	struct model_run *run = &m->run;
	struct mapping *map = run->map;
	struct nibble nibble;
	uint64_t pte;

	pte = (f->address >> m->options.page_shift) - map->vpn;
	if (pte >= mapping_nr_ptes(map))
		return false;
	nibble = mapping_nibble(map, pte);
	if (nibble_state(nibble) != run->state)
		return false;
	nibble_make_writable(nibble);
	nibble_touch(nibble);
	map->last = resolved_at(f);
	episode_go_on(m, f);
	return true;
}

/* The fault is on the next of the run's folios, if that is as those before it were. */
static inline bool next_folio(struct model *m, const struct fault *f)
{
	struct model_run *run = &m->run;
	struct mapping *map =
		memory_expected(&m->memory, f->cpu, run->mm, f->address >> m->options.page_shift);

	if (!map || !mapping_is_like(map, &run->before) || map->tally ||
	    !memory_is_sole(&m->memory, map))
		return false;
	map->nibbles = run->after.nibbles;
	map->classes = run->after.classes;
	map->last = resolved_at(f);
	episode_again(m, map, f);
	return true;
}

/*
 * Whether the fault goes on with the run: what the model decides by is as it was, and so is what it
 * decides.
 */
static inline bool goes_on(struct model *m, const struct fault *f, struct outcome *o)
{
	const struct model_run *run = &m->run;

	if (run->kind == RUN_NONE || !are_alike(f, &run->fault))
		return false;
	if (run->kind == RUN_OF_PTES ? !next_pte(m, f) : !next_folio(m, f))
		return false;
	*o = run->outcome;
	return true;
}

static noinline flatten int do_fault(struct model *m, const struct fault *f,
				     const struct outcome *recorded, struct outcome *o)
{
	struct access a = { .fault = f, .outcome = o, .recorded = recorded };
	uint32_t mapping;
	int err;

	episode_end_run(m);
	*o = (struct outcome){ .key = { .class = CLASS_UNKNOWN,
					.order = ORDER_UNKNOWN,
					.evidence = EVIDENCE_INFERRED } };
	if (f->has_ret && f->ret & VM_FAULT_ERROR) {
		access_set_key(&a, CLASS_ERROR, EVIDENCE_SEEN);
		return 0;
	}
	if (!f->mm || !f->has_address || !f->has_flags)
		return 0;
	/* the fault's own page, and one for each PTE of a PMD that is split */
	err = memory_reserve(&m->memory, 2);
	if (err)
		return err;
	a.mm = find_mm(m, f->mm);
	if (f->vma_end > f->vma_start) {
		a.vma = memory_vma(&m->memory, a.mm, f->vma_start, f->vma_end);
		if (!a.vma)
			return -ENOMEM;
	}
	a.vpn = f->address >> m->options.page_shift;
	mapping = memory_find(&m->memory, a.mm, a.vpn, &a.pte);
	a.map = mapping ? &m->memory.mappings[mapping] : NULL;
	a.write = f->flags & FAULT_FLAG_WRITE;
	if (f->flags & FAULT_FLAG_UNSHARE)
		access_unshare(m, &a);
	else if (a.map)
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
		episode_forget_mm(m, mm);
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

/* The child maps what the parent maps, and neither may write: see memory_borrow(). */
static int do_fork(struct model *m, uint64_t new_id, uint64_t old_id)
{
	struct memory *memory = &m->memory;
	uint32_t old = memory_find_mm(memory, old_id);
	uint32_t new = memory_find_mm(memory, new_id);
	int err;

	if (old && !may_copy(m, memory->mms[old].size))
		return skip_fork(m, new_id, old_id);
	if (old)
		memory_settle(memory, old);
	err = memory_reserve(memory, (old ? memory->mms[old].nr_mappings : 0) + 1);
	if (err)
		return err;
	if (new)
		episode_forget_mm(m, new);
	else
		new = memory_add_mm(memory, new_id);
	if (!old) {
		/* nothing is known of the parent, and so of the child */
		memory->mms[new].born = false;
		return 0;
	}
	memory->mms[new].born = memory->mms[old].born;
	if (memory->mms[old].first)
		memory_borrow(memory, new, old);
	for (uint32_t i = memory->mms[old].first; i; i = memory->mappings[i].next) {
		struct mapping *map = &memory->mappings[i];

		memory_look_ahead(memory, map, 0);
		episode_end(m, map);
		memory_lend(memory, map);
	}
	if (m->err)
		return m->err;
	return memory->mms[new].nr_vmas ? 0 : memory_copy_vmas(memory, new, old);
}

static int do_exec(struct model *m, const struct step *s)
{
	int err = s->oldmm ? forget_mm(m, s->oldmm) : 0;

	if (!err && s->mm)
		err = memory_reserve(&m->memory, 1);
	if (!err && s->mm)
		m->memory.mms[find_mm(m, s->mm)].born = true;
	return err;
}

/* What happens to an address space as a whole. */
static noinline int do_mm_step(struct model *m, const struct step *s)
{
	episode_end_run(m);
	switch (s->kind) {
	case STEP_FAULT:
		break;
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

int model_predict(struct model *m, const struct step *s, const struct outcome *recorded,
		  struct outcome *o)
{
	int err;

	m->steps++;
	err = likely(s->kind == STEP_FAULT) ? do_fault(m, s->fault, recorded, o) : do_mm_step(m, s);
	return unlikely(m->memory.failed) ? -ENOMEM : err;
}

int model_step(struct model *m, const struct step *s, struct outcome *o)
{
	if (s->kind == STEP_FAULT && goes_on(m, s->fault, o)) {
		m->steps++;
		return m->err;
	}
	return model_predict(m, s, NULL, o);
}

noinline int model_finish(struct model *m)
{
	episode_end_run(m);
	for (uint32_t i = 1; i < m->memory.nr_mms; i++) {
		if (m->memory.mms[i].id)
			episode_forget_mm(m, i);
	}
	return m->memory.failed ? -ENOMEM : m->err;
}
