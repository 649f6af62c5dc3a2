// SPDX-License-Identifier: GPL-2.0-or-later
/* What each class of faults costs a folio between two write-protections. */
#include "model_int.h"

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
		.waste_ptes = t->waste,
		.waste_known = t->resolved && !t->waste_unknown,
		.timed = t->timed,
		.completed = t->completed,
		.first_of_folio = !(map->classes & bit),
	};

	map->classes |= bit;
	if (!m->err)
		m->err = m->options.episode(m->options.ctx, &e);
}

/* The mapping's episode ends: what its classes have cost is known. */
void episode_end(struct model *m, struct mapping *map)
{
	for (uint32_t i = map->tally; i; i = m->memory.tallies[i].next)
		emit(m, map, &m->memory.tallies[i], map->nr_start);
	memory_free_tallies(&m->memory, map);
}

void episode_forget_mapping(struct model *m, uint32_t i)
{
	episode_end(m, &m->memory.mappings[i]);
	memory_unmap(&m->memory, i);
}

void episode_forget_mm(struct model *m, uint32_t mm)
{
	while (m->memory.mms[mm].first)
		episode_forget_mapping(m, m->memory.mms[mm].first);
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

/*
 * Charge the fault to the mapping's episode: @touched PTEs had their first fault, @resolved became
 * usable. A folio whose order is not known has no episodes: nothing can be said per PTE.
 */
void episode_charge(struct model *m, struct access *a, struct mapping *map, uint32_t touched,
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
	charge_waste(m, a, t, resolved);
	t->latency += f->latency;
	t->timed = t->timed && f->has_exit;
	if (t->resolved >= nr && !t->completed && f->has_exit) {
		t->completed = true;
		t->complete = f->exit > t->first ? f->exit - t->first : 0;
	}
	if (t == &one)
		emit(m, map, t, nr);
}
