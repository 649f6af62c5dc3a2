// SPDX-License-Identifier: GPL-2.0-or-later
/* What each class of faults costs a folio between two write-protections. */
#include "model_int.h"

/* From the entry to the exit that completed it. */
static uint64_t time_to(const struct fault *f, uint64_t first)
{
	return f->exit > first ? f->exit - first : 0;
}

/* What @t counts is over: @last has completed the folio, or is NULL. */
static noinline void end_tally(struct model *m, struct mapping *map, struct tally *t,
			       const struct fault *last)
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
		.complete = last ? time_to(last, t->first) : 0,
		.faults = t->faults,
		.ptes = map->nr_start,
		.ptes_touched = t->touched,
		.ptes_resolved = t->resolved,
		.waste_ptes = t->wasted ? *memory_waste(&m->memory, t) : 0,
		.waste_known = t->resolved && !t->waste_unknown,
		.timed = t->timed,
		.completed = last && last->has_exit,
		.first_of_folio = !(map->classes & bit),
	};

	map->classes |= bit;
	memory_remove_tally(&m->memory, map, t);
	if (!m->err)
		m->err = m->options.episode(m->options.ctx, &m->ended);
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
	while (map->tally)
		end_tally(m, map, &m->memory.tallies[map->tally], NULL);
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
	if (!episode_used(m, t->class, a->vpn)) {
		t->waste_unknown = true;
	} else if (a->unused) {
		uint32_t *waste = memory_waste(&m->memory, t);

		*waste = (t->wasted ? *waste : 0) + a->unused;
		t->wasted = true;
	}
}

/* A tally of the fault's kind, of @map's episode. */
static noinline struct tally *start_tally(struct model *m, const struct access *a,
					  struct mapping *map)
{
	const struct fault_key *key = &a->outcome->key;
	struct tally *t = memory_add_tally(&m->memory, map);

	t->class = key->class;
	t->evidence = key->evidence;
	t->from = key->from;
	t->level = key->level;
	t->first = a->fault->entry;
	t->pid = a->fault->pid;
	t->timed = true;
	return t;
}

void episode_begin_run(struct model *m, const struct access *a)
{
	struct model_run *run = &m->run;

	if (!a->fault->counted || !a->map->order_known)
		return;
	run->tally = find_tally(m, a->map, &a->outcome->key);
	if (!run->tally)
		return;
	run->kind = RUN_OF_PTES;
	run->map = a->map;
	run->nr = 0;
	run->left = a->map->nr_start - run->tally->resolved;
	run->latency = 0;
}

void episode_end_run(struct model *m)
{
	struct model_run *run = &m->run;

	if (run->kind == RUN_OF_PTES) {
		struct tally *t = run->tally;

		t->faults += run->nr;
		t->touched += run->nr;
		t->resolved += run->nr;
		t->latency += run->latency;
	}
	run->kind = RUN_NONE;
}

void episode_go_on(struct model *m, const struct fault *f)
{
	struct model_run *run = &m->run;

	run->nr++;
	run->latency += f->latency;
	if (unlikely(run->nr == run->left)) {
		episode_end_run(m);
		end_tally(m, run->map, run->tally, f);
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
	struct tally *t;

	if (!f->counted || !map->order_known)
		return;
	t = find_tally(m, map, key);
	if (unlikely(!t))
		t = start_tally(m, a, map);
	t->faults++;
	t->touched += touched;
	t->resolved += resolved;
	charge_waste(m, a, t, resolved);
	t->latency += f->latency;
	t->timed = t->timed && f->has_exit;
	/* under a policy, what was resolved may still be touched */
	if (t->resolved >= map->nr_start && !m->options.policy)
		end_tally(m, map, t, f);
	else if (key->class == CLASS_ACCESS && t->touched >= map->nr_start)
		end_tally(m, map, t, NULL); /* no PTE is old any more */
}
