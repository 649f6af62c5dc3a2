// SPDX-License-Identifier: GPL-2.0-or-later
/* What each class of faults costs a folio between two write-protections. */
#include "model_int.h"

/* PTEs that the folio has in the VMA of the fault, at the start of the episode. */
static uint32_t ptes_here(const struct model *m, const struct mapping *map, const struct vma *vma)
{
	uint64_t first = map->vpn, end = map->vpn + mapping_nr_ptes(map);
	uint64_t vma_first, vma_end;

	if (!vma)
		return map->nr_start;
	vma_first = vma->start >> m->options.page_shift;
	vma_end = vma->end >> m->options.page_shift;
	if (likely(first >= vma_first && end <= vma_end))
		return map->nr_start;
	first = first > vma_first ? first : vma_first;
	end = end < vma_end ? end : vma_end;
	if (end <= first)
		return 1;
	return end - first < map->nr_start ? end - first : map->nr_start;
}

static noinline void emit(struct model *m, struct mapping *map, const struct tally *t,
			  uint32_t nr_ptes)
{
	uint16_t bit = 1u << t->class;

	m->ended = (struct episode){
		.key = { .class = t->class,
			 .order = map->order_known ? map->order : ORDER_UNKNOWN,
			 .level = t->level,
			 .evidence = t->evidence,
			 .from = t->from,
			 .source = map->source },
		.mm = m->memory.mms[map->mm].id,
		.address = map->vpn << m->options.page_shift,
		.first = t->first,
		.pid = t->pid,
		.latency = t->latency,
		.complete = t->complete,
		.faults = t->faults,
		.ptes = nr_ptes,
		.ptes_touched = t->touched,
		.ptes_resolved = t->resolved,
		.waste_ptes = t->waste,
		.waste_known = t->resolved && !t->waste_unknown,
		.timed = t->timed,
		.completed = t->completed,
		.first_of_folio = !(map->classes & bit),
	};

	map->classes |= bit;
	if (!m->err)
		m->err = m->options.episode(m->options.ctx, &m->ended);
}

/* From the entry to the exit that completed it. */
static uint64_t time_to(const struct fault *f, uint64_t first)
{
	return f->exit > first ? f->exit - first : 0;
}

void episode_again(struct model *m, const struct mapping *map, const struct fault *f)
{
	struct episode *e = &m->ended; /* which the outcome has */

	e->address = map->vpn << m->options.page_shift;
	e->first = f->entry;
	e->pid = f->pid;
	e->latency = f->latency;
	if (e->completed)
		e->complete = time_to(f, f->entry);
}

/* The mapping's episode ends: what its classes have cost is known. */
void episode_end(struct model *m, struct mapping *map)
{
	for (uint32_t i = map->tally; i; i = m->memory.tallies[i].next)
		emit(m, map, &m->memory.tallies[i], map->nr_start);
	memory_free_tallies(&m->memory, map);
}

void episode_forget_mapping(struct model *m, struct mapping *map)
{
	episode_end(m, map);
	memory_unmap(&m->memory, map - m->memory.mappings);
}

void episode_forget_mm(struct model *m, uint32_t mm)
{
	memory_leave(&m->memory, mm);
	while (m->memory.mms[mm].first) {
		struct mapping *map = &m->memory.mappings[m->memory.mms[mm].first];

		memory_look_ahead(&m->memory, map, mm);
		episode_forget_mapping(m, map);
	}
}

static struct tally *find_tally(struct model *m, const struct mapping *map,
				const struct fault_key *key)
{
	for (uint32_t i = map->tally; i; i = m->memory.tallies[i].next) {
		struct tally *t = &m->memory.tallies[i];

		if (t->class == key->class && t->evidence == key->evidence &&
		    t->from == key->from && t->level == key->level)
			return t;
	}
	return NULL;
}

bool episode_used(const struct model *m, enum fault_class class, uint64_t vpn)
{
	return m->options.used && used_has(m->options.used, class, vpn << m->options.page_shift);
}

/*
 * A fault that resolves its own PTE alone wastes none. Of more the workload's list has to say so,
 * and is believed where it has the page of the fault itself.
 */
static void charge_waste(const struct model *m, const struct access *a, struct tally *t,
			 uint32_t resolved)
{
	if (resolved <= 1)
		return;
	if (episode_used(m, t->class, a->vpn))
		t->waste += a->unused;
	else
		t->waste_unknown = true;
}

/* A tally of the fault's kind, of @map's episode; without, in @one: the fault is all of it. */
static noinline struct tally *start_tally(struct model *m, const struct access *a,
					  struct mapping *map, struct tally *one)
{
	const struct fault_key *key = &a->outcome->key;
	struct tally *t = map ? memory_add_tally(&m->memory, map) : one;

	*t = (struct tally){ .next = map ? t->next : 0,
			     .class = key->class,
			     .evidence = key->evidence,
			     .from = key->from,
			     .level = key->level,
			     .first = a->fault->entry,
			     .pid = a->fault->pid,
			     .timed = true };
	return t;
}

void episode_begin_run(struct model *m, const struct access *a)
{
	if (!a->fault->counted || !a->map->order_known)
		return;
	m->run.tally = find_tally(m, a->map, &a->outcome->key);
	m->run.nr_ptes = ptes_here(m, a->map, a->vma);
	m->run.map = a->map;
	m->run.kind = m->run.tally ? RUN_OF_PTES : RUN_NONE;
}

/*
 * All that the folio has here was resolved, at last by @f. Where nothing else is known of the
 * mapping's episode, it ends.
 */
static noinline void complete(struct model *m, struct mapping *map, struct tally *t,
			      const struct fault *f, uint32_t nr)
{
	if (!t->completed && f->has_exit) {
		t->completed = true;
		t->complete = time_to(f, t->first);
	}
	if (&m->memory.tallies[map->tally] == t && !t->next && nr == map->nr_start &&
	    !m->options.policy)
		episode_end(m, map);
}

void episode_go_on(struct model *m, const struct fault *f)
{
	struct model_run *run = &m->run;
	struct tally *t = run->tally;

	t->faults++;
	t->touched++;
	t->resolved++;
	t->latency += f->latency;
	if (unlikely(t->resolved >= run->nr_ptes)) {
		run->kind = RUN_NONE;
		complete(m, run->map, t, f, run->nr_ptes);
	}
}

/*
 * Charge the fault to the mapping's episode: @touched PTEs had their first fault, @resolved became
 * usable. A folio whose order is not known has no episodes: nothing can be said per PTE.
 */
void episode_charge(struct model *m, struct access *a, struct mapping *map, uint32_t touched,
		    uint32_t resolved)
{
	const struct fault *f = a->fault;
	const struct fault_key *key = &a->outcome->key;
	struct tally one, *t;
	uint32_t nr;

	if (!f->counted || !map->order_known)
		return;
	nr = ptes_here(m, map, a->vma);
	t = find_tally(m, map, key);
	if (unlikely(!t))
		/* under a policy, what is resolved may still be touched: its episode goes on */
		t = start_tally(m, a, resolved < nr || a->recorded ? map : NULL, &one);
	t->faults++;
	t->touched += touched;
	t->resolved += resolved;
	charge_waste(m, a, t, resolved);
	t->latency += f->latency;
	t->timed = t->timed && f->has_exit;
	if (t->resolved >= nr)
		complete(m, map, t, f, nr);
	if (unlikely(t == &one))
		emit(m, map, t, nr);
}
