// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Replay: no policy is the identity, more batching never predicts more faults, and the model agrees
 * with the table of cases that the KUnit suite asks a kernel.
 */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../kunit/batch_cases.h"
#include "event.h"
#include "ktap.h"
#include "random.h"
#include "replay_check.h"
#include "report.h"

#define PARENT 0x1000
#define CHILD  0x2000
#define THIRD  0x3000
#define BASE   0x7f0000000000
#define PAGE   4096

static const struct policy_machine machine = { .page_size = PAGE };

static int ignore_episode(void *ctx, const struct episode *e)
{
	return 0;
}

static const struct model_options model_options = { .page_shift = 12,
						    .assumed_order = ORDER_UNKNOWN,
						    .sees_forks = true,
						    .reuses_large = true,
						    .faults_on_old = true,
						    .episode = ignore_episode };

static struct policy parse(const char *text)
{
	struct policy p;

	assert_null(policy_parse(&p, text, &machine));
	return p;
}

/* --- the shared table: which PTEs does one write fault resolve? --- */

/* The model knows no hinting and no userfaultfd: a recording does not show them. */
static bool is_modelled(const struct write_fault_case *c)
{
	return !strpbrk(c->before, "nup");
}

static enum pte_state state_of(char c)
{
	switch (c) {
	case 'w':
		return PTE_WRITABLE;
	case 'x':
		return PTE_EXCLUSIVE;
	case 'r':
		return PTE_SHARED;
	default:
		return PTE_NONE;
	}
}

/* A folio of four pages in the states of the case, in a model of its own. */
static void set_up(struct model *m, const struct write_fault_case *c)
{
	struct memory *memory = &m->memory;
	uint32_t parent, map;

	assert_int_equal(memory_reserve(memory, 4), 0);
	parent = memory_add_mm(memory, PARENT);
	map = memory_map(memory, parent, BASE / PAGE, 2, false, PTE_WRITABLE);
	memory->mappings[map].order_known = true;
	memory->mms[parent].born = true;
	/* an extra reference is not seen: that the fault copied all the same is */
	if (c->users == USED_BY_CHILD) {
		assert_int_equal(memory_reserve(memory, 4), 0);
		memory_borrow(memory, memory_add_mm(memory, CHILD), parent);
		memory_lend(memory, &memory->mappings[map]);
		memory_settle(memory, parent);
	}
	for (uint32_t i = 0; i < 4; i++)
		mapping_set_state(&memory->mappings[map], i, state_of(c->before[i]));
}

/* What the PTE is after the fault, in the table's letters. */
static char letter(struct model *m, uint32_t page)
{
	struct memory *memory = &m->memory;
	uint32_t pte, map;
	enum pte_state state;

	map = memory_find(memory, memory_find_mm(memory, PARENT), BASE / PAGE + page, &pte);
	if (!map)
		return '.';
	state = mapping_state(&memory->mappings[map], pte);
	if (memory->mappings[map].order != 2)
		return state == PTE_WRITABLE ? 'c' : 'e';
	if (memory->mappings[map].source != SOURCE_UNKNOWN) /* not the one that set_up() made */
		return state == PTE_WRITABLE ? 'C' : '?';
	return state == PTE_WRITABLE ? 'w' : state == PTE_EXCLUSIVE ? 'x' : 'r';
}

static void assert_states(struct model *m, const struct write_fault_case *c, const char *expected)
{
	char after[5] = "", want[5] = "";

	strcpy(want, expected);
	/* a recording does not show the permission that the page itself does not get */
	if (c->kind == FAULT_FORCE)
		want[c->page] = want[c->page] == 'x' ? 'w' : 'c';
	for (uint32_t i = 0; i < 4; i++)
		after[i] = letter(m, i);
	if (strcmp(after, want))
		fail_msg("%s: %s became %s, not %s", c->name, c->before, after, want);
}

static void run_case(const struct write_fault_case *c, const char *policy_name,
		     const char *expected)
{
	static const uint32_t flags[] = { [FAULT_STORE] = FAULT_FLAG_WRITE,
					  [FAULT_FORCE] = FAULT_FLAG_WRITE | FAULT_FLAG_REMOTE,
					  [FAULT_UNSHARE] = FAULT_FLAG_UNSHARE };
	const struct policy policy = parse(policy_name);
	struct model_options options = model_options;
	struct model recorded, predicted;
	struct outcome r, p;
	bool copies = strpbrk(c->single, "ce");
	struct step s = { .kind = STEP_FAULT,
			  .fault = &(struct fault){ .mm = PARENT,
						    .vma_start = BASE,
						    .vma_end = BASE + 4 * PAGE,
						    .address = BASE + c->page * PAGE,
						    .flags = flags[c->kind],
						    .has_flags = true,
						    .has_address = true,
						    .has_ret = true,
						    .has_exit = true,
						    .entry = 100,
						    .exit = 200,
						    .allocated = copies,
						    .order = copies ? 0 : ORDER_UNKNOWN,
						    .worker_ptes = -1 } };

	assert_int_equal(model_open(&recorded, &options), 0);
	set_up(&recorded, c);
	recorded.sees_alloc = true;
	assert_int_equal(model_step(&recorded, &s, &r), 0);
	assert_states(&recorded, c, c->single);
	options.policy = &policy;
	assert_int_equal(model_open(&predicted, &options), 0);
	set_up(&predicted, c);
	predicted.sees_alloc = true;
	assert_int_equal(model_predict(&predicted, &s, &r, &p), 0);
	assert_states(&predicted, c, expected);
	model_close(&recorded);
	model_close(&predicted);
}

static void test_cases_of_the_suite(void **state)
{
	size_t nr = sizeof(write_fault_cases) / sizeof(*write_fault_cases), asked = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct write_fault_case *c = &write_fault_cases[i];

		if (!is_modelled(c)) {
			printf("not in a recording: %s\n", c->name);
			continue;
		}
		run_case(c, "none", c->single);
		run_case(c, "whole-folio", c->reused);
		run_case(c, "cow-whole-folio", c->copied);
		asked++;
	}
	assert_int_equal(asked, nr - 5);
}

/* --- properties over random steps --- */

#define NR_PAGES 64

/* A recording as a report reads it: its model, and the predictions beside it. */
struct recorder {
	struct model model;
	struct replay replay;
	bool extra_reference; /* a page that is stored to has one, such as a pin */
	bool was_split;	      /* its PMD has become PTEs, of which no event tells */
	uint64_t more[16]; /* for each policy: PTEs writable at the end of an episode, and not under
			      the first */
};

static int take_episode(void *ctx, const struct episode *e)
{
	replay_episode(ctx, e);
	return 0;
}

static void recorder_open(struct recorder *rec, const struct policy *policies, size_t nr,
			  enum stale_tlb stale_tlb)
{
	struct model_options options = model_options;

	*rec = (struct recorder){ 0 };

	assert_int_equal(replay_open(&rec->replay, &options, policies, nr, stale_tlb, NULL), 0);
	options.episode = take_episode;
	options.ctx = &rec->replay;
	assert_int_equal(model_open(&rec->model, &options), 0);
	rec->model.sees_alloc = true;
	for (size_t i = 0; i < nr; i++)
		rec->replay.predictions[i].model.sees_alloc = true;
}

static enum pte_state state_in(struct memory *memory, uint64_t mm, uint64_t page);

/* An episode of all that @mm maps ends. */
static void count_more(struct recorder *rec, uint64_t mm)
{
	for (size_t i = 1; i < rec->replay.nr; i++) {
		for (uint64_t page = 0; page < NR_PAGES; page++)
			rec->more[i] +=
				state_in(&rec->replay.predictions[i].model.memory, mm, page) !=
				state_in(&rec->replay.predictions[0].model.memory, mm, page);
	}
}

static void recorder_step(struct recorder *rec, const struct step *s)
{
	struct outcome o = { 0 };

	if (s->kind == STEP_FORK)
		count_more(rec, s->oldmm);
	if (s->kind == STEP_MM_EXIT)
		count_more(rec, s->mm);
	assert_int_equal(model_step(&rec->model, s, &o), 0);
	if (o.whole)
		replay_episode(&rec->replay, o.whole);
	assert_int_equal(replay_step(&rec->replay, s, &o), 0);
}

static void recorder_finish(struct recorder *rec)
{
	count_more(rec, PARENT);
	count_more(rec, CHILD);
	count_more(rec, THIRD);
	assert_int_equal(model_finish(&rec->model), 0);
	assert_int_equal(replay_finish(&rec->replay), 0);
}

static void recorder_close(struct recorder *rec)
{
	model_close(&rec->model);
	replay_close(&rec->replay);
}

#define NR_POLICIES 7
#define NR_REUSE    5 /* the first ones: rules for reuse, each wider than the one before */

static const char *const names[NR_POLICIES] = { "none",
						"window=2",
						"window=4",
						"window=8",
						"whole-folio",
						"cow-whole-folio",
						"whole-folio+cow-whole-folio" };

/* Whether the rules of the kernel let a write to a page of @map reuse it. */
static bool kernel_reuses(const struct memory *memory, const struct mapping *map, uint32_t pte)
{
	if (mapping_state(map, pte) == PTE_EXCLUSIVE)
		return true;
	return memory_is_sole(memory, map) &&
	       (!map->order || (map->slot && (map->pmd || map->nr_mapped > 1)));
}

static enum pte_state state_in(struct memory *memory, uint64_t mm, uint64_t page)
{
	uint32_t index = memory_find_mm(memory, mm), pte;
	uint32_t map = index ? memory_find(memory, index, BASE / PAGE + page, &pte) : 0;

	return map ? mapping_state(&memory->mappings[map], pte) : PTE_NONE;
}

/*
 * A store, and the fault that a kernel which follows the rules would make of it: the recorded model
 * is asked. @flags beside FAULT_FLAG_WRITE, 0 of a load; @vma is the pages of the VMA.
 */
static void store(struct recorder *rec, uint64_t mm, uint64_t page, unsigned int order,
		  uint32_t flags, struct pte_range vma, uint64_t now)
{
	struct memory *memory = &rec->model.memory;
	uint32_t index = memory_find_mm(memory, mm), pte = 0;
	uint32_t map = index ? memory_find(memory, index, BASE / PAGE + page, &pte) : 0;
	struct step s = { .kind = STEP_FAULT };

	if (state_in(memory, mm, page) == PTE_WRITABLE && !rec->was_split)
		return;
	s.fault = &(struct fault){ .mm = mm,
				   .vma_start = BASE + vma.first * PAGE,
				   .vma_end = BASE + (uint64_t)(vma.first + vma.nr) * PAGE,
				   .address = BASE + page * PAGE,
				   .flags = !flags || flags & FAULT_FLAG_UNSHARE
						    ? flags
						    : flags | FAULT_FLAG_WRITE,
				   .has_flags = true,
				   .has_address = true,
				   .has_ret = true,
				   .has_exit = true,
				   .counted = true,
				   .entry = now,
				   .exit = now + 100,
				   .latency = 100,
				   .order = ORDER_UNKNOWN,
				   .worker_ptes = -1 };
	if (!map || (flags && (rec->extra_reference ||
			       !kernel_reuses(memory, &memory->mappings[map], pte)))) {
		s.fault->allocated = true;
		s.fault->order = map ? 0 : order;
	}
	recorder_step(rec, &s);
}

/* A PTE that is writable under a rule is so under each wider one; of what is mapped none differs.
 */
static void assert_subsets(struct recorder *rec)
{
	static const uint64_t mms[] = { PARENT, CHILD };

	for (size_t i = 1; i < NR_REUSE; i++) {
		struct memory *narrow = &rec->replay.predictions[i - 1].model.memory;
		struct memory *wide = &rec->replay.predictions[i].model.memory;

		for (size_t m = 0; m < 2 * NR_PAGES; m++) {
			enum pte_state a = state_in(narrow, mms[m / NR_PAGES], m % NR_PAGES);
			enum pte_state b = state_in(wide, mms[m / NR_PAGES], m % NR_PAGES);

			assert_true(a == b || (a != PTE_NONE && b == PTE_WRITABLE));
		}
	}
}

static void random_steps(struct recorder *rec, uint64_t *random)
{
	struct step s = { .kind = STEP_EXEC, .mm = PARENT };
	bool child = false;
	unsigned int order = random_u64(random) % 2 ? 4 : 2;

	recorder_step(rec, &s);
	for (uint64_t now = 1000; now < 1000 + 300 * 400; now += 400) {
		if (rec->replay.nr >= NR_REUSE)
			assert_subsets(rec);
		unsigned int dice = random_u64(random) % 40;

		if (!dice && !child) {
			s = (struct step){ .kind = STEP_FORK, .mm = CHILD, .oldmm = PARENT };
			recorder_step(rec, &s);
			child = true;
		} else if (dice == 1 && child) {
			s = (struct step){ .kind = STEP_MM_EXIT, .mm = CHILD };
			recorder_step(rec, &s);
			child = false;
		} else {
			store(rec, child && dice % 3 == 0 ? CHILD : PARENT,
			      random_u64(random) % NR_PAGES, order, FAULT_FLAG_USER,
			      (struct pte_range){ 0, NR_PAGES }, now);
		}
	}
	recorder_finish(rec);
}

struct sums {
	uint64_t recorded, predicted, waste;
};

static struct sums sum(const struct prediction *p)
{
	const struct replay_row *rows = &p->rows->row[0][0][0];
	struct sums s = { 0 };

	for (size_t i = 0; i < NR_CLASSES * NR_ORDERS * NR_LEVELS; i++) {
		s.recorded += rows[i].recorded_faults;
		s.predicted += rows[i].predicted_faults;
		s.waste += rows[i].waste_ptes;
	}
	return s;
}

/* Every fault under "none" is the recorded one, row by row and with its time. */
static void assert_identity(const struct prediction *p)
{
	const struct replay_row *rows = &p->rows->row[0][0][0];

	for (size_t i = 0; i < NR_CLASSES * NR_ORDERS * NR_LEVELS; i++) {
		assert_int_equal(rows[i].recorded_faults, rows[i].predicted_faults);
		assert_int_equal(rows[i].recorded_time, rows[i].kept_time);
		assert_int_equal(rows[i].recorded_ptes, rows[i].predicted_ptes);
		assert_int_equal(rows[i].waste_ptes + rows[i].batches.count + rows[i].changed, 0);
	}
}

static void test_properties(void **state)
{
	uint64_t random = 0x5eed;
	uint64_t saved = 0, wasted = 0;

	for (int run = 0; run < 500; run++) {
		struct policy policies[NR_POLICIES];
		struct sums s[NR_POLICIES];
		struct recorder r;

		for (int i = 0; i < NR_POLICIES; i++)
			policies[i] = parse(names[i]);
		recorder_open(&r, policies, NR_POLICIES, STALE_NONE);
		random_steps(&r, &random);
		assert_identity(&r.replay.predictions[0]);
		for (int i = 0; i < NR_POLICIES; i++)
			s[i] = sum(&r.replay.predictions[i]);
		/* a wider window never predicts more faults, nor less waste, than a narrower one */
		for (int i = 1; i < NR_REUSE; i++) {
			assert_true(s[i].predicted <= s[i - 1].predicted);
			assert_true(s[i].waste >= s[i - 1].waste);
			/* and what it makes writable beside what none does is its waste */
			assert_int_equal(s[i].waste, r.more[i]);
			wasted += s[i].waste;
		}
		assert_true(s[5].predicted <= s[0].predicted);
		assert_true(s[6].predicted <= s[4].predicted);
		saved += s[0].predicted - s[6].predicted;
		recorder_close(&r);
	}
	assert_true(saved > 1000 && wasted > 1000);
}

static struct sums stale_sums(const struct policy *policy, enum stale_tlb stale_tlb,
			      uint64_t *random)
{
	struct recorder r;
	struct sums s;

	recorder_open(&r, policy, 1, stale_tlb);
	random_steps(&r, random);
	s = sum(&r.replay.predictions[0]);
	recorder_close(&r);
	return s;
}

/* Every avoided fault comes back where every translation is stale: no fewer faults than recorded.
 */
static void test_stale_tlb(void **state)
{
	uint64_t random = 7;
	const struct policy policy = parse("whole-folio");

	for (int run = 0; run < 50; run++) {
		const uint64_t seed = random;
		struct sums none, ascending, all;

		none = stale_sums(&policy, STALE_NONE, &random);
		random = seed;
		ascending = stale_sums(&policy, STALE_ASCENDING, &random);
		random = seed;
		all = stale_sums(&policy, STALE_ALL, &random);
		assert_true(none.predicted <= ascending.predicted);
		assert_true(ascending.predicted <= all.predicted);
		assert_int_equal(all.predicted, all.recorded);
	}
}

/*
 * A PMD that was split unseen: recorded as one reuse of a PMD and 511 of PTEs; all but the first
 * are avoided where the folio is resolved at once, and one in 16 is left of a window of 16.
 */
static void test_unseen_split(void **state)
{
	const struct policy policies[] = { parse("none"), parse("whole-folio"),
					   parse("window=16") };
	const uint64_t left[] = { 511, 0, 31 }, batch[] = { 0, 512, 16 };
	struct step s = { .kind = STEP_EXEC, .mm = PARENT };
	struct recorder r;

	recorder_open(&r, policies, 3, STALE_NONE);
	recorder_step(&r, &s);
	for (uint64_t i = 0; i <= 512; i++) {
		if (i == 1) {
			s = (struct step){ .kind = STEP_FORK, .mm = CHILD, .oldmm = PARENT };
			recorder_step(&r, &s);
			s = (struct step){ .kind = STEP_MM_EXIT, .mm = CHILD };
			recorder_step(&r, &s);
		}
		s = (struct step){ .kind = STEP_FAULT,
				   .fault = &(struct fault){ .mm = PARENT,
							     .vma_start = BASE,
							     .vma_end = BASE + 512 * PAGE,
							     .address =
								     BASE + (i ? i - 1 : 0) * PAGE,
							     .flags = FAULT_FLAG_WRITE,
							     .has_flags = true,
							     .has_address = true,
							     .has_ret = true,
							     .has_exit = true,
							     .counted = true,
							     .entry = 1000 * (i + 1),
							     .exit = 1000 * (i + 1) + 100,
							     .latency = 100,
							     .allocated = !i,
							     .order = i ? ORDER_UNKNOWN : 9,
							     .worker_ptes = -1 } };
		recorder_step(&r, &s);
	}
	recorder_finish(&r);
	assert_identity(&r.replay.predictions[0]);
	for (int i = 0; i < 3; i++) {
		const struct replay_rows *rows = r.replay.predictions[i].rows;

		assert_int_equal(rows->row[CLASS_REUSE][9][LEVEL_PMD].predicted_faults, 1);
		/* and the first, taken for one on a PMD, was one on PTEs, too */
		assert_int_equal(rows->row[CLASS_REUSE][9][LEVEL_PMD].batches.max, batch[i]);
		assert_int_equal(rows->row[CLASS_REUSE][9][LEVEL_PTE].recorded_faults, 511);
		assert_int_equal(rows->row[CLASS_REUSE][9][LEVEL_PTE].predicted_faults, left[i]);
		assert_int_equal(rows->row[CLASS_REUSE][9][LEVEL_PTE].waste_ptes, 0);
	}
	recorder_close(&r);
}

/* --- the rules that the model and each policy obey --- */

/*
 * What happened to one folio of four pages, that PARENT has populated and forked, in words:
 *
 *	0..3	PARENT stores to this page; c0, t0: CHILD, THIRD does
 *	y0	CHILD loads from it, and faults where the PTE is old
 *	r0	another process does, by ptrace, perhaps without permission of the VMA
 *	p0	PARENT does, and a reference from elsewhere, such as a pin, is in the way
 *	u0	a read-only pin unshares the page in PARENT
 *	s0	PARENT does, and faults: a PMD had become PTEs unseen
 *	f	PARENT forks THIRD, too; x, X, P: CHILD, THIRD, PARENT exits
 *	|	from here on a VMA of PARENT ends behind page 1
 */
static const struct rule_case {
	const char *name, *happened, *policy;
	unsigned int order; /* of the folio */
	uint64_t recorded_reuse, recorded_cow, reuse, cow, waste;
} rule_cases[] = {
	{ "exclusive as a whole", "x 0 1 2 3", "whole-folio", 2, 4, 0, 1, 0, 0 },
	{ "not all is written", "x 2", "whole-folio", 2, 1, 0, 1, 0, 3 },
	{ "a window", "x 0 1 2 3", "window=2", 2, 4, 0, 2, 0, 0 },
	{ "the child exits in the middle", "0 1 x 2 3", "whole-folio", 2, 2, 2, 1, 2, 0 },
	{ "the child exits in the middle, copied whole", "0 1 x 2 3", "cow-whole-folio", 2, 2, 2, 0,
	  1, 0 },
	{ "copied in part, then reused", "3 x 0 1", "whole-folio", 2, 2, 1, 1, 1, 1 },
	{ "one page is left: it is copied", "0 1 2 x 3", "whole-folio", 2, 0, 4, 0, 4, 0 },
	{ "the child has copied all", "c0 c1 c2 c3 0 1 2 3", "whole-folio", 2, 4, 4, 1, 4, 0 },
	{ "the child has copied all at once", "c0 c1 c2 c3 0 1 2 3", "whole-folio+cow-whole-folio",
	  2, 4, 4, 1, 1, 0 },
	{ "a whole copy leaves the folio to the other", "c1 c2 0 1 2 3", "cow-whole-folio", 2, 0, 6,
	  4, 1, 2 },
	{ "copied in part, no longer as a whole", "r1 0 2 3", "cow-whole-folio", 2, 0, 4, 0, 4, 0 },
	{ "a third mm never reuses", "f x P t0 t1 t2 t3", "whole-folio", 2, 0, 4, 0, 4, 0 },
	{ "a third mm may copy", "f x P t0 t1 t2 t3", "cow-whole-folio", 2, 0, 4, 0, 1, 0 },
	{ "two are left of three", "f X 0 x 1 2", "whole-folio", 2, 2, 1, 1, 1, 1 },
	{ "an extra reference comes and goes", "x p0 p1 2 3", "whole-folio", 2, 2, 2, 1, 2, 0 },
	{ "a page is pinned for reading", "x u1 0 1 2 3", "whole-folio", 2, 4, 0, 1, 0, 0 },
	{ "a pinned page's own fault", "x u0 0 1 2 3", "whole-folio", 2, 4, 0, 2, 0, 0 },
	{ "a pinned page in the way of a copy", "u1 0 2 3", "cow-whole-folio", 2, 0, 3, 0, 3, 0 },
	{ "without permission, reuse", "x r0 1 2 3", "whole-folio", 2, 4, 0, 2, 0, 0 },
	{ "without permission, copy", "r0 1 2 3", "cow-whole-folio", 2, 0, 4, 0, 4, 0 },
	{ "the VMA ends inside", "x | 0 1 2 3", "whole-folio", 2, 4, 0, 2, 0, 0 },
	{ "the VMA ends inside, copy", "| 0 1", "cow-whole-folio", 2, 0, 2, 0, 2, 0 },
	{ "a shared PMD is PTEs from its first copy on", "0 1 x 2 3", "whole-folio", 9, 2, 2, 1, 2,
	  508 },
	{ "a folio of a PMD is not copied whole", "0 1 2 3", "cow-whole-folio", 9, 0, 4, 0, 4, 0 },
	{ "nor is one that PTEs map", "x 0 s1 f 2 3", "cow-whole-folio", 9, 2, 2, 2, 2, 0 },
	{ "a PMD is one entry", "x 0", "whole-folio", 9, 1, 0, 1, 0, 0 },
	{ "a page that was read before", "y1 P c0 c1", "whole-folio", 2, 2, 0, 1, 0, 2 },
	{ "small pages", "x 0 1 2 3", "whole-folio", 0, 4, 0, 4, 0, 0 },
};

static void fork_or_exit(struct recorder *rec, enum step_kind kind, uint64_t mm, uint64_t oldmm)
{
	const struct step s = { .kind = kind, .mm = mm, .oldmm = oldmm };

	recorder_step(rec, &s);
}

static void do_word(struct recorder *rec, const char *word, struct pte_range *vma,
		    unsigned int order, uint64_t now)
{
	const uint64_t mm = strchr("cy", *word) ? CHILD : *word == 't' ? THIRD : PARENT;
	const uint32_t flags = *word == 'y'   ? 0
			       : *word == 'r' ? FAULT_FLAG_REMOTE
			       : *word == 'u' ? FAULT_FLAG_UNSHARE
					      : FAULT_FLAG_USER;
	unsigned int page = strtoul(word + !isdigit(*word), NULL, 10);
	struct pte_range here = *vma;

	switch (*word) {
	case 'f':
		fork_or_exit(rec, STEP_FORK, THIRD, PARENT);
		break;
	case 'x':
		fork_or_exit(rec, STEP_MM_EXIT, CHILD, 0);
		break;
	case 'X':
		fork_or_exit(rec, STEP_MM_EXIT, THIRD, 0);
		break;
	case 'P':
		fork_or_exit(rec, STEP_MM_EXIT, PARENT, 0);
		break;
	case '|':
		vma->nr = 2;
		break;
	default:
		if (page >= vma->nr)
			here = (struct pte_range){ vma->nr, 512 - vma->nr };
		rec->extra_reference = *word == 'p';
		rec->was_split = *word == 's';
		store(rec, mm, page, order, flags, here, now);
	}
}

static uint64_t faults_of(const struct prediction *p, enum fault_class class, bool recorded)
{
	uint64_t faults = 0;

	for (unsigned int i = 0; i < NR_ORDERS * NR_LEVELS; i++) {
		const struct replay_row *row = &p->rows->row[class][i / NR_LEVELS][i % NR_LEVELS];

		faults += recorded ? row->recorded_faults : row->predicted_faults;
	}
	return faults;
}

static void run_rule(const struct rule_case *c)
{
	const struct policy policies[] = { parse("none"), parse(c->policy) };
	struct pte_range vma = { 0, 512 };
	char *words = strdup(c->happened), *save = NULL;
	const struct prediction *p;
	struct recorder rec;
	uint64_t is[5];

	assert_non_null(words);
	recorder_open(&rec, policies, 2, STALE_NONE);
	p = &rec.replay.predictions[1];
	fork_or_exit(&rec, STEP_EXEC, PARENT, 0);
	for (unsigned int page = 0; page < 4; page++)
		store(&rec, PARENT, page, c->order, FAULT_FLAG_USER, vma, 1000 + 200 * page);
	fork_or_exit(&rec, STEP_FORK, CHILD, PARENT);
	for (char *word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save))
		do_word(&rec, word, &vma, c->order, 2000 + 200 * (word - words));
	recorder_finish(&rec);
	assert_identity(&rec.replay.predictions[0]);
	is[0] = faults_of(p, CLASS_REUSE, true);
	is[1] = faults_of(p, CLASS_COW, true);
	is[2] = faults_of(p, CLASS_REUSE, false);
	is[3] = faults_of(p, CLASS_COW, false);
	is[4] = sum(p).waste;
	if (is[0] != c->recorded_reuse || is[1] != c->recorded_cow || is[2] != c->reuse ||
	    is[3] != c->cow || is[4] != c->waste)
		fail_msg("%s: %" PRIu64 " and %" PRIu64 " recorded, %" PRIu64 " and %" PRIu64
			 " predicted, %" PRIu64 " wasted",
			 c->name, is[0], is[1], is[2], is[3], is[4]);
	recorder_close(&rec);
	free(words);
}

static void test_rules(void **state)
{
	for (size_t i = 0; i < sizeof(rule_cases) / sizeof(*rule_cases); i++)
		run_rule(&rule_cases[i]);
}

/* --- recordings --- */

static int begin_replay(void *ctx, const struct steps *steps)
{
	const struct model_options options = steps_model_options(steps);
	const struct policy policies[2] = { parse("none"), parse("whole-folio+cow-whole-folio") };

	return replay_open(ctx, &options, policies, 2, STALE_NONE, steps->options->filter);
}

static int replay_one(void *ctx, const struct steps *steps, const struct step *s,
		      const struct outcome *o)
{
	struct replay *r = ctx;

	for (size_t i = 0; i < r->nr; i++)
		steps_tell_model(steps, &r->predictions[i].model);
	return replay_step(r, s, o);
}

/* The figures of traces/README.md: one fault a folio where the folio is reused, or copied, at once.
 */
static const struct recording_case {
	const char *path, *addr;
	unsigned int class, order, level;
	uint64_t recorded, predicted, waste;
} recordings[] = {
	{ "x86_64-reuse-64k", "7fc78c200000-7fc78ca00000", CLASS_REUSE, 4, 0, 2048, 128, 0 },
	{ "x86_64-reuse-4k", "7f7783c00000-7f7783e00000", CLASS_REUSE, 0, 0, 512, 512, 0 },
	{ "x86_64-reuse-2m-pmd", "7fc3a1e00000-7fc3a2600000", CLASS_REUSE, 9, 1, 4, 4, 0 },
	{ "x86_64-cow-64k", "7f4f57800000-7f4f57c00000", CLASS_COW, 4, 0, 1024, 64, 0 },
	{ "aarch64-reuse-64k", "ffff96000000-ffff96800000", CLASS_REUSE, 4, 0, 2048, 128, 0 },
	{ "aarch64-reuse-4k", "ffffb7800000-ffffb7a00000", CLASS_REUSE, 0, 0, 512, 512, 0 },
	{ "aarch64-reuse-2m-pmd", "ffff86400000-ffff86c00000", CLASS_REUSE, 9, 1, 4, 4, 0 },
	{ "aarch64-cow-64k", "ffffb6800000-ffffb6c00000", CLASS_COW, 4, 0, 1024, 64, 0 },
};

static int take_named(void *ctx, const struct episode *e, const char *comm)
{
	return take_episode(ctx, e);
}

static void test_recordings(void **state)
{
	for (size_t i = 0; i < sizeof(recordings) / sizeof(*recordings); i++) {
		const struct recording_case *c = &recordings[i];
		struct filter filter = { 0 };
		struct replay r = { 0 };
		struct report_options options = { .steps.filter = &filter,
						  .begin = begin_replay,
						  .step = replay_one,
						  .episode = take_named,
						  .ctx = &r };
		struct recording rec = { 0 };
		const struct replay_row *row;
		const char *reason;
		char path[128];

		snprintf(path, sizeof(path), "traces/lab/%s.dat", c->path);
		assert_null(filter_add(&filter, "addr", c->addr));
		assert_int_equal(report_read(path, &options, &rec, &reason), 0);
		assert_int_equal(replay_finish(&r), 0);
		assert_identity(&r.predictions[0]);
		row = &r.predictions[1].rows->row[c->class][c->order][c->level];
		assert_int_equal(row->recorded_faults, c->recorded);
		assert_int_equal(row->predicted_faults, c->predicted);
		assert_int_equal(row->waste_ptes, c->waste);
		replay_close(&r);
		recording_release(&rec);
		filter_release(&filter);
	}
}

/* --- policies and costs --- */

static void test_bad_policies(void **state)
{
	static const char *const bad[] = { "",
					   "whole",
					   "window",
					   "window=",
					   "window=3",
					   "window=0",
					   "window=1024",
					   "window=4x",
					   "none+none",
					   "cow-whole-folio+cow-whole-folio",
					   "whole-folio+" };
	struct policy p;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_non_null(policy_parse(&p, bad[i], &machine));
	assert_null(policy_parse(&p, "contpte", &machine));
	assert_int_equal(p.window, 16);
	assert_null(policy_parse(&p, "contpte", &(struct policy_machine){ .page_size = 65536 }));
	assert_int_equal(p.window, 32);
}

static void assert_near(double is, double expected)
{
	if (fabs(is - expected) > 1e-6 * fabs(expected))
		fail_msg("%f is not %f", is, expected);
}

/* Two faults of 16 and 8 PTEs on a curve that is measured at 8 and 32. */
static void test_time_of_batches(void **state)
{
	struct replay_rows rows = { 0 };
	struct replay_row *row = &rows.row[CLASS_REUSE][4][LEVEL_PTE];
	struct costs costs = {
		.reuse = { .nr = 2, .points = { { 8, 200, 100, 300 }, { 32, 800, 340, 900 } } }
	};
	struct predicted_time t;

	*row = (struct replay_row){ .recorded_faults = 24,
				    .predicted_faults = 2,
				    .kept_time = 2 * 400 };
	assert_int_equal(hist_add(&row->batches, 16, 1), 0);
	assert_int_equal(hist_add(&row->batches, 8, 1), 0);
	t = replay_time(&rows, CLASS_REUSE, 4, LEVEL_PTE, &costs);
	assert_true(t.known);
	assert_near(t.value, 2 * 400 + 200 + (200 + 600 / 3));
	assert_near(t.low, 2 * 400 + 100 + (100 + 240 / 3));
	assert_near(t.high, 2 * 400 + 300 + (300 + 600 / 3));
	/* exact costs: within 2 % */
	costs.reuse.points[0] = (struct cost_point){ 8, 200, 200, 200 };
	costs.reuse.points[1] = (struct cost_point){ 32, 800, 800, 800 };
	t = replay_time(&rows, CLASS_REUSE, 4, LEVEL_PTE, &costs);
	assert_near(t.low, 0.98 * t.value);
	assert_near(t.high, 1.02 * t.value);
	/* without costs there are no times */
	costs.reuse.nr = 0;
	assert_false(replay_time(&rows, CLASS_REUSE, 4, LEVEL_PTE, &costs).known);
	hist_release(&row->batches);
}

static void test_cost_curve(void **state)
{
	const struct cost cost = {
		.nr = 3, .points = { { 2, 10, 5, 20 }, { 4, 30, 10, 40 }, { 8, 40, 20, 80 } }
	};

	assert_near(cost_at(&cost, 2).ns, 10);
	assert_near(cost_at(&cost, 3).ns, 20);
	assert_near(cost_at(&cost, 4).high, 40);
	assert_near(cost_at(&cost, 6).low, 15);
	assert_near(cost_at(&cost, 16).ns, 60); /* prolonged */
	assert_near(cost_at(&cost, 1).ns, 0);	/* and never less than nothing */
}

#define ROW(name, a, b)                                                        \
	"    # bench: helper=" name " nr=1 batched_ns=" a " single_ns=" a "\n" \
	"    # bench: helper=" name " nr=16 batched_ns=" b " single_ns=640\n"

static const char reuse_ktap[] =
	"KTAP version 1\n1..1\n    KTAP version 1\n    # Subtest: s\n    1..1\n" ROW(
		"folio_pte_batch_flags", "10", "40") ROW("SetPageAnonExclusive", "5", "80")
		ROW("modify_prot_ptes", "20", "320")
			ROW("ptep_set_access_flags", "30", "50") "    ok 1 case\nok 1 s\n";

static void read_text(struct ktap_result *ktap, const char *text)
{
	FILE *f = fmemopen((void *)text, strlen(text), "r");

	assert_non_null(f);
	assert_int_equal(ktap_read(f, ktap), 0);
	assert_int_equal(ktap_errors(ktap), 0);
	fclose(f);
}

/* The sum of the helpers; from the PTEs alone to all helpers called once a PTE. */
static void test_costs_of_bench_lines(void **state)
{
	struct ktap_result ktap[2] = { 0 };
	struct costs c;
	struct cost_point p;

	read_text(&ktap[0], reuse_ktap);
	assert_null(costs_from_ktap(&c, ktap, 1, true, false));
	p = cost_at(&c.reuse, 16);
	assert_near(p.ns, 40 + 80 + 320 + 20);
	assert_near(p.low, 0.9 * (30 + 75 + 300 + 20));
	assert_near(p.high, 3 * 640 + 20);
	assert_near(cost_at(&c.reuse, 8).ns, 35 + (460 - 35) * 7.0 / 15);
	assert_int_equal(c.copy.nr, 0);
	assert_string_equal(costs_from_ktap(&c, ktap, 1, true, true), "folio_alloc");
	/* a second run that says otherwise: the mean, and the interval widens */
	read_text(&ktap[1], reuse_ktap);
	ktap[1].benches[1].batched_ns = 60;
	assert_null(costs_from_ktap(&c, ktap, 2, true, false));
	p = cost_at(&c.reuse, 16);
	assert_near(p.ns, 50 + 80 + 320 + 20);
	assert_near(p.low, 0.9 * (30 + 75 + 300 + 20));
	ktap_release(&ktap[0]);
	ktap_release(&ktap[1]);
}

static const char copy_ktap[] =
	"KTAP version 1\n1..1\n    KTAP version 1\n    # Subtest: s\n    1..1\n" ROW(
		"folio_pte_batch_flags", "1", "20") ROW("folio_alloc", "100", "300")
		ROW("folio_copy", "1000", "16000") ROW("clear_ptes", "2", "32")
			ROW("set_ptes", "3", "48") ROW("folio_add_anon_rmap_ptes", "4", "64")
				ROW("folio_remove_rmap_ptes", "5", "80") "    ok 1 case\nok 1 s\n";

/* A fault on one page has copied one; only the PTEs are looked at, and twice. */
static void test_costs_of_copies(void **state)
{
	struct ktap_result ktap = { 0 };
	struct costs c;

	read_text(&ktap, copy_ktap);
	assert_null(costs_from_ktap(&c, &ktap, 1, false, true));
	assert_near(cost_at(&c.copy, 16).ns, 2 * 20 + 200 + 15000 + 30 + 45 + 60 + 75);
	assert_string_equal(costs_from_ktap(&c, &ktap, 1, true, true), "SetPageAnonExclusive");
	ktap_release(&ktap);
}

/* 0.5 % or one fault, whichever is more; times where something changed. */
static void test_what_misses(void **state)
{
	static const struct {
		uint64_t predicted, actual;
		enum replay_miss miss;
	} counts[] = {
		{ 0, 1, MISS_NONE },	    { 0, 2, MISS_COUNT },      { 101, 100, MISS_NONE },
		{ 102, 100, MISS_COUNT },   { 995, 1000, MISS_NONE },  { 1005, 1000, MISS_NONE },
		{ 1006, 1000, MISS_COUNT }, { 994, 1000, MISS_COUNT },
	};
	struct predicted_time time = { .known = true, .value = 100, .low = 90, .high = 120 };
	struct actual actual = { .timed = true };
	struct replay_row row = { 0 };

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		row.predicted_faults = counts[i].predicted;
		actual = (struct actual){ .faults = counts[i].actual };
		assert_int_equal(replay_missed(CLASS_REUSE, &row, &time, &actual), counts[i].miss);
		assert_int_equal(replay_missed(CLASS_UNKNOWN, &row, &time, &actual), MISS_NONE);
	}
	row = (struct replay_row){ .predicted_faults = 1, .changed = 1 };
	for (uint64_t t = 80; t <= 130; t += 10) {
		actual = (struct actual){ .faults = 1, .time = t, .timed = true };
		assert_int_equal(replay_missed(CLASS_REUSE, &row, &time, &actual),
				 t < 90 || t > 120 ? MISS_TIME : MISS_NONE);
		actual.timed = false;
		assert_int_equal(replay_missed(CLASS_REUSE, &row, &time, &actual), MISS_NONE);
	}
	row.changed = 0;
	actual = (struct actual){ .faults = 1, .time = 1000, .timed = true };
	assert_int_equal(replay_missed(CLASS_REUSE, &row, &time, &actual), MISS_NONE);
}

/* A recording with faults of one class and order, all of one latency. */
static void add_row(struct recording *rec, unsigned int order, uint64_t faults, uint64_t ptes,
		    uint64_t latency)
{
	const struct fault_key key = { .class = CLASS_REUSE, .order = order };
	struct summary_row *row = summary_row(&rec->summary, &key);

	assert_non_null(row);
	row->faults = faults;
	row->episodes = faults;
	row->ptes = ptes;
	assert_int_equal(hist_add(&row->latency, latency, faults), 0);
}

static void test_costs_of_recordings(void **state)
{
	struct recording before = { 0 }, after[2] = { 0 };
	struct costs c;

	add_row(&before, 4, 64, 64, 400);
	add_row(&after[0], 4, 4, 64, 400 + 100 + 16 * 10);
	add_row(&after[1], 6, 2, 128, 400 + 100 + 64 * 10);
	/* two sizes give base and slope, also for sizes that neither has */
	assert_null(costs_fit(&c, &before.summary, after, 2, true, false));
	assert_near(cost_at(&c.reuse, 2).ns, 100 + 2 * 10);
	assert_near(cost_at(&c.reuse, 256).ns, 100 + 256 * 10);
	assert_near(cost_at(&c.reuse, 256).high, 100 + 256 * 10);
	/* one size does not: all base, or all slope */
	assert_null(costs_fit(&c, &before.summary, after, 1, true, false));
	assert_near(cost_at(&c.reuse, 16).ns, 260);
	assert_near(cost_at(&c.reuse, 16).low, 260);
	assert_near(cost_at(&c.reuse, 31).ns, 520);
	assert_near(cost_at(&c.reuse, 31).low, 260);
	assert_near(cost_at(&c.reuse, 8.5).low, 130);
	assert_near(cost_at(&c.reuse, 8.5).high, 260);
	assert_non_null(costs_fit(&c, &before.summary, after, 1, true, true));
	/* a kernel that does not batch says nothing */
	assert_non_null(costs_fit(&c, &before.summary, &before, 1, true, false));
	summary_release(&before.summary);
	summary_release(&after[0].summary);
	summary_release(&after[1].summary);
}

static void test_costs_text(void **state)
{
	struct costs c = { 0 };

	assert_null(costs_parse(&c, "17.5,300"));
	assert_near(cost_at(&c.reuse, 3).ns, 300 + 2 * 17.5);
	assert_near(cost_at(&c.copy, 2).high, 300 + 17.5);
	assert_non_null(costs_parse(&c, "x"));
	assert_non_null(costs_parse(&c, "1,"));
	assert_non_null(costs_parse(&c, "1,2,3"));
	assert_non_null(costs_parse(&c, "-1"));
	assert_non_null(costs_parse(&c, "nan"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases_of_the_suite),
		cmocka_unit_test(test_properties),
		cmocka_unit_test(test_stale_tlb),
		cmocka_unit_test(test_unseen_split),
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_recordings),
		cmocka_unit_test(test_bad_policies),
		cmocka_unit_test(test_time_of_batches),
		cmocka_unit_test(test_cost_curve),
		cmocka_unit_test(test_costs_of_bench_lines),
		cmocka_unit_test(test_costs_of_copies),
		cmocka_unit_test(test_what_misses),
		cmocka_unit_test(test_costs_of_recordings),
		cmocka_unit_test(test_costs_text),
	};

	return cmocka_run_group_tests_name("replay", tests, NULL, NULL);
}
