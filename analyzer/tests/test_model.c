// SPDX-License-Identifier: GPL-2.0-or-later
/* The model's rules, each by itself: what is a fault, given what came before it? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "event.h"
#include "model.h"
#include "random.h"

#define PARENT	  0x1000
#define CHILD	  0x2000
#define GRANDSON  0x3000
#define BASE	  0x7f0000000000
#define VMA_BYTES (8 << 20)
#define PAGE	  4096

#define MAX_EPISODES 256 /* that a test ends before it looks at them */

/* A model, its clock, and what came out of it. */
struct lab {
	struct model model;
	struct model_options options;
	struct outcome outcome;
	uint64_t now;
	struct episode episodes[MAX_EPISODES];
	size_t nr_episodes;
};

static int keep_episode(void *ctx, const struct episode *e)
{
	struct lab *lab = ctx;

	assert_true(lab->nr_episodes < MAX_EPISODES);
	lab->episodes[lab->nr_episodes++] = *e;
	return 0;
}

static void lab_open(struct lab *lab, bool sees_alloc, bool sees_rss)
{
	*lab = (struct lab){ .now = 1000 };
	lab->options = (struct model_options){ .page_shift = 12,
					       .assumed_order = ORDER_UNKNOWN,
					       .sees_forks = true,
					       .reuses_large = true,
					       .episode = keep_episode,
					       .ctx = lab };
	assert_int_equal(model_open(&lab->model, &lab->options), 0);
	lab->model.sees_alloc = sees_alloc;
	lab->model.sees_rss = sees_rss;
}

static void lab_close(struct lab *lab)
{
	assert_int_equal(model_finish(&lab->model), 0);
	assert_int_equal(lab->model.memory.pages.nr, 0);
	model_close(&lab->model);
}

static void step(struct lab *lab, enum step_kind kind, uint64_t mm, uint64_t oldmm)
{
	struct step s = { .kind = kind, .mm = mm, .oldmm = oldmm };

	lab->now += 10;
	assert_int_equal(model_step(&lab->model, &s, &lab->outcome), 0);
}

/* A fault of 100 time units; @how changes what is usual. */
static enum fault_class run(struct lab *lab, struct fault f)
{
	struct step s = { .kind = STEP_FAULT };

	if (!f.entry)
		f.entry = lab->now;
	if (!f.exit)
		f.exit = f.entry + 100;
	f.latency = f.exit - f.entry;
	f.has_exit = f.has_address = f.has_flags = f.has_ret = true;
	if (!f.vma_end) {
		f.vma_start = BASE;
		f.vma_end = BASE + VMA_BYTES;
	}
	if (!f.worker_ptes)
		f.worker_ptes = -1;
	s.fault = &f;
	if (f.exit > lab->now)
		lab->now = f.exit + 10;
	assert_int_equal(model_step(&lab->model, &s, &lab->outcome), 0);
	if (lab->outcome.whole)
		keep_episode(lab, lab->outcome.whole);
	return lab->outcome.key.class;
}

#define NO_ALLOC -1

static struct fault write_fault(uint64_t mm, uint64_t page, int order)
{
	return (struct fault){ .mm = mm,
			       .address = BASE + page * PAGE,
			       .flags = FAULT_FLAG_WRITE,
			       .counted = true,
			       .allocated = order != NO_ALLOC,
			       .order = order == NO_ALLOC ? ORDER_UNKNOWN : order };
}

static enum fault_class write_to(struct lab *lab, uint64_t mm, uint64_t page, int order)
{
	return run(lab, write_fault(mm, page, order));
}

static enum fault_class read_from(struct lab *lab, uint64_t mm, uint64_t page)
{
	struct fault f = write_fault(mm, page, NO_ALLOC);

	f.flags = 0;
	return run(lab, f);
}

/* A parent that began in the recording maps a folio of @order at the start of its VMA. */
static void populate(struct lab *lab, unsigned int order)
{
	struct fault f = write_fault(PARENT, 0, order);

	f.rss = lab->model.sees_rss ? RSS_ANON : 0;
	step(lab, STEP_EXEC, PARENT, 0);
	assert_int_equal(run(lab, f), CLASS_MAP);
	assert_int_equal(lab->outcome.key.order, order);
}

static void assert_key(const struct lab *lab, enum fault_class class, unsigned int order,
		       enum evidence evidence)
{
	assert_int_equal(lab->outcome.key.class, class);
	assert_int_equal(lab->outcome.key.order, order);
	assert_int_equal(lab->outcome.key.evidence, evidence);
}

/* --- what the rules say where no allocation was recorded --- */

static void open_forked(struct lab *lab, unsigned int order)
{
	lab_open(lab, false, false);
	populate(lab, order);
	step(lab, STEP_FORK, CHILD, PARENT);
}

/* The same of a recording with allocations, where the child has exited. */
static void open_own_again(struct lab *lab, unsigned int order)
{
	lab_open(lab, true, false);
	populate(lab, order);
	step(lab, STEP_FORK, CHILD, PARENT);
	step(lab, STEP_MM_EXIT, CHILD, 0);
}

static void test_small_is_copied_while_shared(void **state)
{
	struct lab lab;

	open_forked(&lab, 0);
	write_to(&lab, PARENT, 0, NO_ALLOC);
	assert_key(&lab, CLASS_COW, 0, EVIDENCE_INFERRED);
	assert_int_equal(lab.outcome.key.from, FROM_ANON);
	/* the child has it alone now */
	assert_int_equal(write_to(&lab, CHILD, 0, NO_ALLOC), CLASS_REUSE);
	lab_close(&lab);
}

static void test_small_is_reused_after_exit(void **state)
{
	struct lab lab;

	open_forked(&lab, 0);
	step(&lab, STEP_MM_EXIT, CHILD, 0);
	assert_int_equal(write_to(&lab, PARENT, 0, NO_ALLOC), CLASS_REUSE);
	lab_close(&lab);
}

static void test_large_is_reused_page_by_page(void **state)
{
	struct lab lab;

	open_forked(&lab, 4);
	step(&lab, STEP_MM_EXIT, CHILD, 0);
	for (uint64_t page = 0; page < 16; page++) {
		assert_int_equal(write_to(&lab, PARENT, page, NO_ALLOC), CLASS_REUSE);
		assert_int_equal(lab.outcome.key.order, 4);
		assert_int_equal(lab.outcome.ptes, 0); /* no event says how many */
		assert_int_equal(lab.nr_episodes, page < 15 ? 1 : 2);
	}
	assert_int_equal(lab.model.memory.live_tallies, 0);
	lab_close(&lab);
	assert_int_equal(lab.nr_episodes, 2);
	assert_int_equal(lab.episodes[1].faults, 16);
	assert_int_equal(lab.episodes[1].ptes, 16);
	assert_int_equal(lab.episodes[1].ptes_touched, 16);
	assert_int_equal(lab.episodes[1].ptes_resolved, 16);
	assert_int_equal(lab.episodes[1].latency, 1600);
	assert_true(lab.episodes[1].completed);
}

/* What one class of faults cost is told once the folio is complete; of another at its end. */
static void test_episode_ends_when_complete(void **state)
{
	struct fault late = write_fault(PARENT, 0, NO_ALLOC);
	struct lab lab;

	open_forked(&lab, 4);
	step(&lab, STEP_MM_EXIT, CHILD, 0);
	late.entry = lab.now;
	for (uint64_t page = 0; page < 16; page++)
		assert_int_equal(write_to(&lab, PARENT, page, NO_ALLOC), CLASS_REUSE);
	assert_int_equal(lab.nr_episodes, 2);
	step(&lab, STEP_FORK, CHILD, PARENT);
	step(&lab, STEP_MM_EXIT, CHILD, 0);
	assert_int_equal(write_to(&lab, PARENT, 0, NO_ALLOC), CLASS_REUSE);
	late.exit = lab.now + 100;
	assert_int_equal(run(&lab, late), CLASS_RACED);
	for (uint64_t page = 1; page < 16; page++)
		assert_int_equal(write_to(&lab, PARENT, page, NO_ALLOC), CLASS_REUSE);
	assert_int_equal(lab.nr_episodes, 3);
	assert_int_equal(lab.episodes[2].key.class, CLASS_REUSE);
	assert_int_equal(lab.episodes[2].ptes_resolved, 16);
	step(&lab, STEP_FORK, CHILD, PARENT);
	assert_int_equal(lab.nr_episodes, 4);
	assert_int_equal(lab.episodes[3].key.class, CLASS_RACED);
	lab_close(&lab);
}

/* A folio that lies in two VMAs has one episode, and is complete when both parts are. */
static void test_folio_in_two_vmas(void **state)
{
	struct lab lab;
	uint64_t start;

	open_forked(&lab, 4);
	step(&lab, STEP_MM_EXIT, CHILD, 0);
	start = lab.now;
	for (uint64_t page = 0; page < 16; page++) {
		struct fault f = write_fault(PARENT, page, NO_ALLOC);

		f.pid = PID_LIMIT - 1 - page;
		f.vma_start = page < 12 ? BASE : BASE + 12 * PAGE;
		f.vma_end = page < 12 ? BASE + 12 * PAGE : BASE + VMA_BYTES;
		assert_int_equal(lab.nr_episodes, 1);
		assert_int_equal(run(&lab, f), CLASS_REUSE);
	}
	assert_int_equal(lab.nr_episodes, 2);
	assert_int_equal(lab.episodes[1].pid, PID_LIMIT - 1);
	assert_int_equal(lab.episodes[1].faults, 16);
	assert_int_equal(lab.episodes[1].ptes, 16);
	assert_int_equal(lab.episodes[1].ptes_resolved, 16);
	assert_true(lab.episodes[1].completed);
	assert_int_equal(lab.episodes[1].complete, lab.now - 10 - start);
	lab_close(&lab);
}

static void test_large_is_copied_while_shared_then_reused(void **state)
{
	struct lab lab;

	open_forked(&lab, 4);
	for (uint64_t page = 0; page < 3; page++)
		assert_int_equal(write_to(&lab, PARENT, page, NO_ALLOC), CLASS_COW);
	step(&lab, STEP_MM_EXIT, CHILD, 0);
	/* the question is asked anew at each fault */
	for (uint64_t page = 3; page < 15; page++)
		assert_int_equal(write_to(&lab, PARENT, page, NO_ALLOC), CLASS_REUSE);
	lab_close(&lab);
	assert_int_equal(lab.nr_episodes, 3); /* map, cow, reuse: the last two as they come */
	for (int i = 1; i < 3; i++) {
		const struct episode *e = &lab.episodes[i];

		assert_int_equal(e->ptes, 16);
		assert_int_equal(e->faults, e->key.class == CLASS_COW ? 3 : 12);
		assert_int_equal(e->ptes_touched, e->faults);
		assert_int_equal(e->ptes_resolved, e->faults);
		assert_false(e->completed);
	}
}

/* Its large mapcount has to exceed one: the last page that is left mapped is copied. */
static void test_last_page_of_large_is_copied(void **state)
{
	struct lab lab;

	open_forked(&lab, 4);
	for (uint64_t page = 0; page < 15; page++)
		assert_int_equal(write_to(&lab, PARENT, page, NO_ALLOC), CLASS_COW);
	step(&lab, STEP_MM_EXIT, CHILD, 0);
	write_to(&lab, PARENT, 15, NO_ALLOC);
	assert_key(&lab, CLASS_COW, 4, EVIDENCE_INFERRED);
	lab_close(&lab);
}

static void test_exclusive_once_the_other_copied_all(void **state)
{
	struct lab lab;

	open_forked(&lab, 4);
	for (uint64_t page = 0; page < 16; page++)
		assert_int_equal(write_to(&lab, CHILD, page, NO_ALLOC), CLASS_COW);
	assert_int_equal(write_to(&lab, PARENT, 0, NO_ALLOC), CLASS_REUSE);
	lab_close(&lab);
}

/* A folio tracks two mms: the third never reuses it, even alone. */
static void test_third_mm_never_reuses_large(void **state)
{
	struct lab lab;

	open_forked(&lab, 4);
	step(&lab, STEP_FORK, GRANDSON, CHILD);
	step(&lab, STEP_MM_EXIT, PARENT, 0);
	step(&lab, STEP_MM_EXIT, CHILD, 0);
	assert_int_equal(write_to(&lab, GRANDSON, 0, NO_ALLOC), CLASS_COW);
	lab_close(&lab);
}

static void test_third_mm_reuses_small(void **state)
{
	struct lab lab;

	open_forked(&lab, 0);
	step(&lab, STEP_FORK, GRANDSON, CHILD);
	step(&lab, STEP_MM_EXIT, PARENT, 0);
	assert_int_equal(write_to(&lab, GRANDSON, 0, NO_ALLOC), CLASS_COW);
	lab_close(&lab);
	open_forked(&lab, 0);
	step(&lab, STEP_FORK, GRANDSON, CHILD);
	step(&lab, STEP_MM_EXIT, PARENT, 0);
	step(&lab, STEP_MM_EXIT, CHILD, 0);
	assert_int_equal(write_to(&lab, GRANDSON, 0, NO_ALLOC), CLASS_REUSE);
	lab_close(&lab);
}

static void test_old_kernels_never_reuse_large(void **state)
{
	struct lab lab;

	open_forked(&lab, 4);
	lab.model.options.reuses_large = false;
	step(&lab, STEP_MM_EXIT, CHILD, 0);
	assert_int_equal(write_to(&lab, PARENT, 0, NO_ALLOC), CLASS_COW);
	lab_close(&lab);
}

/* GUP broke sharing for reading: the page is exclusive, and reused without a check. */
static void test_exclusive_page_is_reused(void **state)
{
	struct fault f = write_fault(PARENT, 3, 0);
	struct lab lab;

	open_forked(&lab, 4);
	f.flags = FAULT_FLAG_UNSHARE;
	assert_int_equal(run(&lab, f), CLASS_UNSHARE);
	assert_int_equal(write_to(&lab, PARENT, 3, NO_ALLOC), CLASS_REUSE);
	assert_int_equal(lab.outcome.key.order, 0);
	lab_close(&lab);
}

static void test_shared_pmd_becomes_ptes(void **state)
{
	struct lab lab;

	open_forked(&lab, 9);
	write_to(&lab, PARENT, 5, NO_ALLOC);
	assert_key(&lab, CLASS_COW, 9, EVIDENCE_INFERRED);
	assert_int_equal(lab.outcome.key.level, LEVEL_PTE);
	step(&lab, STEP_MM_EXIT, CHILD, 0);
	/* the other 511 pages obey the rules of PTEs */
	assert_int_equal(write_to(&lab, PARENT, 6, NO_ALLOC), CLASS_REUSE);
	assert_int_equal(lab.outcome.key.level, LEVEL_PTE);
	assert_int_equal(write_to(&lab, PARENT, 7, NO_ALLOC), CLASS_REUSE);
	lab_close(&lab);
}

static void test_exclusive_pmd_is_reused_at_once(void **state)
{
	struct lab lab;

	open_forked(&lab, 9);
	step(&lab, STEP_MM_EXIT, CHILD, 0);
	write_to(&lab, PARENT, 300, NO_ALLOC);
	assert_key(&lab, CLASS_REUSE, 9, EVIDENCE_INFERRED);
	assert_int_equal(lab.outcome.key.level, LEVEL_PMD);
	assert_int_equal(lab.outcome.ptes, 512);
	lab_close(&lab);
}

/* mprotect of a part has no event: a second write fault shows that the PMD is gone. */
static void test_split_that_nobody_saw(void **state)
{
	struct lab lab;

	open_forked(&lab, 9);
	step(&lab, STEP_MM_EXIT, CHILD, 0);
	assert_int_equal(write_to(&lab, PARENT, 5, NO_ALLOC), CLASS_REUSE);
	assert_int_equal(lab.outcome.key.level, LEVEL_PMD);
	for (uint64_t page = 6; page < 300; page++) {
		assert_int_equal(write_to(&lab, PARENT, page, NO_ALLOC), CLASS_REUSE);
		assert_int_equal(lab.outcome.key.level, LEVEL_PTE);
		assert_int_equal(lab.outcome.was_split, page == 6);
	}
	/* the first one resolved its own page, and no other */
	assert_int_equal(write_to(&lab, PARENT, 5, NO_ALLOC), CLASS_SPURIOUS);
	assert_int_equal(write_to(&lab, PARENT, 4, NO_ALLOC), CLASS_REUSE);
	lab_close(&lab);
}

/* --- what events say --- */

static void test_allocation_shows_a_copy(void **state)
{
	struct lab lab;

	lab_open(&lab, true, true);
	populate(&lab, 4);
	step(&lab, STEP_FORK, CHILD, PARENT);
	write_to(&lab, PARENT, 2, 0);
	assert_key(&lab, CLASS_COW, 4, EVIDENCE_SEEN);
	assert_int_equal(lab.outcome.ptes, 1);
	/* the kernel reused it although the child lives: the kernel is right */
	assert_int_equal(write_to(&lab, PARENT, 3, NO_ALLOC), CLASS_REUSE);
	lab_close(&lab);
}

static void test_copy_of_the_whole_folio(void **state)
{
	struct lab lab;

	lab_open(&lab, true, false);
	populate(&lab, 4);
	step(&lab, STEP_FORK, CHILD, PARENT);
	write_to(&lab, PARENT, 2, 4);
	assert_key(&lab, CLASS_COW, 4, EVIDENCE_SEEN);
	assert_int_equal(lab.outcome.ptes, 16);
	assert_int_equal(write_to(&lab, CHILD, 7, NO_ALLOC), CLASS_REUSE);
	lab_close(&lab);
	/* map, cow of the whole, reuse */
	assert_int_equal(lab.nr_episodes, 3);
	assert_int_equal(lab.episodes[1].key.class, CLASS_COW);
	assert_int_equal(lab.episodes[1].ptes_resolved, 16);
	assert_int_equal(lab.episodes[1].ptes_touched, 1);
}

/* What was copied of it before, page by page, is of the same episode. */
static void test_whole_copy_of_the_rest(void **state)
{
	struct lab lab;

	lab_open(&lab, true, false);
	populate(&lab, 4);
	step(&lab, STEP_FORK, CHILD, PARENT);
	assert_int_equal(write_to(&lab, PARENT, 0, 0), CLASS_COW);
	assert_int_equal(lab.nr_episodes, 1);
	assert_int_equal(write_to(&lab, PARENT, 2, 4), CLASS_COW);
	assert_int_equal(lab.outcome.ptes, 15);
	assert_int_equal(lab.nr_episodes, 2);
	assert_int_equal(lab.episodes[1].faults, 2);
	assert_int_equal(lab.episodes[1].ptes, 16);
	assert_int_equal(lab.episodes[1].ptes_resolved, 16);
	assert_int_equal(lab.episodes[1].key.source, SOURCE_ALLOC);
	assert_true(lab.episodes[1].completed);
	lab_close(&lab);
}

static void test_worker_says_how_many(void **state)
{
	struct fault f = write_fault(PARENT, 2, NO_ALLOC);
	struct lab lab;

	open_own_again(&lab, 4);
	f.worker_ptes = 16;
	run(&lab, f);
	assert_key(&lab, CLASS_REUSE, 4, EVIDENCE_SEEN);
	assert_int_equal(lab.outcome.ptes, 16);
	/* this CPU still had the old translation */
	assert_int_equal(write_to(&lab, PARENT, 3, NO_ALLOC), CLASS_SPURIOUS);
	lab_close(&lab);
}

/* A worker's return says what cannot be, of PTEs outside the VMA: it touched and resolved none. */
static void test_worker_resolved_none(void **state)
{
	struct fault f = write_fault(PARENT, 2, NO_ALLOC);
	struct lab lab;

	open_own_again(&lab, 4);
	f.worker_ptes = 4;
	f.vma_start = BASE + VMA_BYTES;
	f.vma_end = BASE + 2 * VMA_BYTES;
	for (int i = 0; i < 20000; i++)
		assert_int_equal(run(&lab, f), CLASS_REUSE);
	lab_close(&lab);
	assert_int_equal(lab.nr_episodes, 2);
	assert_int_equal(lab.episodes[1].faults, 20000);
	assert_int_equal(lab.episodes[1].ptes_touched, 0);
	assert_int_equal(lab.episodes[1].ptes_resolved, 0);
}

static void test_race_is_no_fault_of_its_own(void **state)
{
	struct fault f = write_fault(PARENT, 0, 0);
	struct lab lab;

	lab_open(&lab, true, false);
	populate(&lab, 0);
	f.entry = 1; /* before the one that mapped the page ended */
	f.exit = lab.now;
	assert_int_equal(run(&lab, f), CLASS_RACED);
	lab_close(&lab);
}

static void test_zero_page_is_copied(void **state)
{
	struct fault f = write_fault(PARENT, 9, 0);
	struct lab lab;

	lab_open(&lab, true, true);
	step(&lab, STEP_EXEC, PARENT, 0);
	assert_int_equal(read_from(&lab, PARENT, 9), CLASS_ZERO);
	f.rss = RSS_ANON;
	assert_int_equal(run(&lab, f), CLASS_COW);
	assert_int_equal(lab.outcome.key.from, FROM_ZERO);
	lab_close(&lab);
}

static void test_file_pages(void **state)
{
	struct fault f = write_fault(PARENT, 1, 0);
	struct lab lab;

	lab_open(&lab, true, true);
	step(&lab, STEP_EXEC, PARENT, 0);
	f.flags = 0;
	f.allocated = false;
	f.ret = VM_FAULT_NOPAGE;
	f.rss = RSS_FILE;
	run(&lab, f);
	assert_key(&lab, CLASS_FILE, ORDER_UNKNOWN, EVIDENCE_SEEN);
	/* a write to the private page that fault-around mapped */
	f = write_fault(PARENT, 2, 0);
	f.rss = RSS_FILE | RSS_ANON;
	assert_int_equal(run(&lab, f), CLASS_COW);
	assert_int_equal(lab.outcome.key.from, FROM_FILE);
	/* a write without an allocation, in a VMA of a file */
	assert_int_equal(write_to(&lab, PARENT, 3, NO_ALLOC), CLASS_SHARED);
	lab_close(&lab);
}

static void test_swap_error_and_access(void **state)
{
	struct fault f = write_fault(PARENT, 1, NO_ALLOC);
	struct lab lab;

	lab_open(&lab, true, true);
	populate(&lab, 4);
	f.rss = RSS_SWAP | RSS_ANON;
	assert_int_equal(run(&lab, f), CLASS_SWAP);
	f = write_fault(PARENT, 100, NO_ALLOC);
	f.ret = VM_FAULT_SIGBUS;
	run(&lab, f);
	assert_key(&lab, CLASS_ERROR, ORDER_UNKNOWN, EVIDENCE_SEEN);
	step(&lab, STEP_FORK, CHILD, PARENT);
	assert_int_equal(read_from(&lab, CHILD, 4), CLASS_UNKNOWN);
	lab.model.options.faults_on_old = true;
	assert_int_equal(read_from(&lab, CHILD, 5), CLASS_ACCESS);
	assert_int_equal(read_from(&lab, CHILD, 5), CLASS_UNKNOWN);
	assert_int_equal(read_from(&lab, PARENT, 5), CLASS_UNKNOWN);
	lab_close(&lab);
}

/* No PTE becomes old but by a fork: what it costs to make all young is known with the last. */
static void test_access_ends_when_all_are_young(void **state)
{
	struct lab lab;

	open_forked(&lab, 4);
	lab.model.options.faults_on_old = true;
	for (uint64_t page = 0; page < 16; page++) {
		assert_int_equal(lab.nr_episodes, 1); /* of the populating fault */
		assert_int_equal(read_from(&lab, CHILD, page), CLASS_ACCESS);
	}
	assert_int_equal(lab.nr_episodes, 2);
	assert_int_equal(lab.episodes[1].key.class, CLASS_ACCESS);
	assert_int_equal(lab.episodes[1].faults, 16);
	assert_int_equal(lab.episodes[1].ptes_touched, 16);
	assert_int_equal(lab.episodes[1].ptes_resolved, 0);
	assert_false(lab.episodes[1].completed);
	lab_close(&lab);
	assert_int_equal(lab.nr_episodes, 2);
}

/* Without forks in the recording, a write to what was writable may be the first after one. */
static void test_recording_without_forks(void **state)
{
	for (int sees_forks = 0; sees_forks < 2; sees_forks++) {
		struct lab lab;

		lab_open(&lab, false, false);
		lab.model.options.assumed_order = 4;
		lab.model.options.sees_forks = sees_forks;
		assert_int_equal(write_to(&lab, PARENT, 0, NO_ALLOC), CLASS_MAP);
		assert_int_equal(write_to(&lab, PARENT, 0, NO_ALLOC),
				 sees_forks ? CLASS_SPURIOUS : CLASS_UNKNOWN);
		lab_close(&lab);
	}
}

/* A page that was dropped without an event is mapped anew: the events are right, not the model. */
static void test_dropped_page_is_mapped_anew(void **state)
{
	struct fault f = write_fault(PARENT, 3, 0);
	struct lab lab;

	lab_open(&lab, true, true);
	populate(&lab, 4);
	f.rss = RSS_ANON;
	run(&lab, f);
	assert_key(&lab, CLASS_MAP, 0, EVIDENCE_SEEN);
	f = write_fault(PARENT, 4, 0);
	f.has_error_code = true;
	f.error_code = X86_PF_WRITE; /* not present */
	lab.model.sees_rss = false;
	assert_int_equal(run(&lab, f), CLASS_MAP);
	/* without either, nobody can tell a new page from a copy */
	assert_int_equal(write_to(&lab, PARENT, 5, 0), CLASS_UNKNOWN);
	lab_close(&lab);
}

/* --- address spaces --- */

static void test_unknown_before_the_recording(void **state)
{
	struct lab lab;

	lab_open(&lab, true, false);
	/* map or copy: this mm was there before the recording */
	assert_int_equal(write_to(&lab, PARENT, 0, 0), CLASS_UNKNOWN);
	assert_int_equal(read_from(&lab, PARENT, 1), CLASS_UNKNOWN);
	/* no kernel copies into a large folio by itself */
	assert_int_equal(write_to(&lab, PARENT, 16, 4), CLASS_MAP);
	lab_close(&lab);
}

static void test_reused_mm_pointer(void **state)
{
	struct lab lab;

	lab_open(&lab, true, false);
	populate(&lab, 4);
	step(&lab, STEP_MM_EXIT, PARENT, 0);
	assert_int_equal(lab.model.memory.pages.nr, 0);
	/* the same mm_struct, another address space: nothing of the old one is in it */
	step(&lab, STEP_EXEC, PARENT, 0);
	assert_int_equal(write_to(&lab, PARENT, 0, 0), CLASS_MAP);
	lab_close(&lab);
}

static void test_collapse_makes_unknown(void **state)
{
	struct lab lab;

	lab_open(&lab, true, false);
	populate(&lab, 4);
	step(&lab, STEP_FORK, CHILD, PARENT);
	step(&lab, STEP_UNCERTAIN, PARENT, 0);
	assert_int_equal(write_to(&lab, PARENT, 0, NO_ALLOC), CLASS_UNKNOWN);
	lab_close(&lab);
}

static void test_three_forks_three_episodes(void **state)
{
	struct lab lab;

	lab_open(&lab, true, false);
	populate(&lab, 4);
	for (int i = 0; i < 3; i++) {
		step(&lab, STEP_FORK, CHILD, PARENT);
		step(&lab, STEP_MM_EXIT, CHILD, 0);
		for (uint64_t page = 0; page < 16; page++)
			assert_int_equal(write_to(&lab, PARENT, page, NO_ALLOC), CLASS_REUSE);
	}
	lab_close(&lab);
	assert_int_equal(lab.nr_episodes, 4);
	for (int i = 1; i < 4; i++) {
		assert_int_equal(lab.episodes[i].key.class, CLASS_REUSE);
		assert_int_equal(lab.episodes[i].faults, 16);
		assert_int_equal(lab.episodes[i].first_of_folio, i == 1);
	}
}

static void test_assumed_folio_size(void **state)
{
	struct lab lab;

	lab_open(&lab, false, false);
	lab.model.options.assumed_order = 4;
	step(&lab, STEP_EXEC, PARENT, 0);
	assert_int_equal(write_to(&lab, PARENT, 5, NO_ALLOC), CLASS_MAP);
	assert_key(&lab, CLASS_MAP, 4, EVIDENCE_INFERRED);
	assert_int_equal(lab.outcome.key.source, SOURCE_ASSUMED);
	step(&lab, STEP_FORK, CHILD, PARENT);
	/* a copy is of one page all the same */
	assert_int_equal(write_to(&lab, PARENT, 0, NO_ALLOC), CLASS_COW);
	assert_int_equal(write_to(&lab, PARENT, 1, NO_ALLOC), CLASS_COW);
	lab_close(&lab);
}

/* A folio whose order nobody tells has faults, and no figure per PTE. */
static void test_unknown_order_has_no_episodes(void **state)
{
	struct lab lab;

	lab_open(&lab, false, false);
	step(&lab, STEP_EXEC, PARENT, 0);
	write_to(&lab, PARENT, 0, NO_ALLOC);
	assert_key(&lab, CLASS_MAP, ORDER_UNKNOWN, EVIDENCE_INFERRED);
	assert_int_equal(lab.outcome.ptes, 0);
	lab_close(&lab);
	assert_int_equal(lab.nr_episodes, 0);
}

#define NR_PAGES 32

/* The mm's first pages are of folios of @order, or nobody tells of which. */
static void populate_all(struct lab *lab, uint64_t mm, int order)
{
	step(lab, STEP_EXEC, mm, 0);
	for (uint64_t page = 0; page < NR_PAGES; page += order == NO_ALLOC ? 1 : 1u << order)
		run(lab, write_fault(mm, page, order));
}

/* Faults of every kind, most of them like the one before. */
static struct fault any_fault(struct lab *lab, uint64_t *seed, uint64_t mm, uint64_t page)
{
	struct fault f = write_fault(mm, page, NO_ALLOC);
	uint64_t how = random_u64(seed);

	if (how % 16 == 0) {
		f.error_code = how >> 8 & 3;
		f.has_error_code = true;
	}
	if (how % 16 == 1)
		f.rss = how >> 8 & 15;
	if (how % 16 == 2) {
		f.allocated = true;
		f.order = how >> 8 & 1 ? 4 : 0;
	}
	if (how % 16 == 3)
		f.worker_ptes = 1 + (how >> 8) % 4;
	if (how % 16 == 4)
		f.flags ^= how >> 8 & 1 ? FAULT_FLAG_WRITE : FAULT_FLAG_UNSHARE;
	if (how % 16 == 5)
		f.entry = lab->now - 200;
	if (how % 16 == 6)
		f.counted = false;
	return f;
}

static void assert_same_key(const struct fault_key *a, const struct fault_key *b)
{
	assert_memory_equal(a, b, sizeof(*a));
}

static void assert_same_outcome(const struct outcome *a, const struct outcome *b)
{
	assert_same_key(&a->key, &b->key);
	assert_int_equal(a->ptes, b->ptes);
	assert_int_equal(a->resolved, b->resolved);
	assert_int_equal(a->rule, b->rule);
	assert_int_equal(a->was_split, b->was_split);
}

static int compare_episodes(const void *a, const void *b)
{
	const struct episode *ea = a, *eb = b;

	if (ea->address != eb->address)
		return ea->address < eb->address ? -1 : 1;
	if (ea->first != eb->first)
		return ea->first < eb->first ? -1 : 1;
	return fault_key_compare(&ea->key, &eb->key);
}

/* Both have ended the same episodes since they were last compared, in whatever order. */
static void assert_same_episodes(struct lab *one, struct lab *other)
{
	assert_int_equal(one->nr_episodes, other->nr_episodes);
	qsort(one->episodes, one->nr_episodes, sizeof(*one->episodes), compare_episodes);
	qsort(other->episodes, other->nr_episodes, sizeof(*other->episodes), compare_episodes);
	for (size_t i = 0; i < one->nr_episodes; i++) {
		const struct episode *a = &one->episodes[i], *b = &other->episodes[i];

		assert_same_key(&a->key, &b->key);
		assert_int_equal(a->mm, b->mm);
		assert_int_equal(a->address, b->address);
		assert_int_equal(a->first, b->first);
		assert_int_equal(a->pid, b->pid);
		assert_int_equal(a->latency, b->latency);
		assert_int_equal(a->faults, b->faults);
		assert_int_equal(a->ptes, b->ptes);
		assert_int_equal(a->ptes_touched, b->ptes_touched);
		assert_int_equal(a->ptes_resolved, b->ptes_resolved);
		assert_int_equal(a->waste_known, b->waste_known);
		assert_int_equal(a->timed, b->timed);
		assert_int_equal(a->completed, b->completed);
		assert_int_equal(a->completed ? a->complete : 0, b->completed ? b->complete : 0);
		assert_int_equal(a->first_of_folio, b->first_of_folio);
	}
	one->nr_episodes = other->nr_episodes = 0;
}

/* Two models that are to say the same. */
static void open_pair(struct lab *one, struct lab *other, int round)
{
	lab_open(one, round & 1, round & 2);
	lab_open(other, round & 1, round & 2);
}

static void close_pair(struct lab *one, struct lab *other)
{
	lab_close(one);
	lab_close(other);
	assert_same_episodes(one, other);
}

static void run_both(struct lab *one, struct lab *other, struct fault f)
{
	run(one, f);
	run(other, f);
	assert_same_outcome(&one->outcome, &other->outcome);
	assert_same_episodes(one, other);
}

static void step_both(struct lab *one, struct lab *other, enum step_kind kind, uint64_t mm,
		      uint64_t oldmm)
{
	step(one, kind, mm, oldmm);
	step(other, kind, mm, oldmm);
	assert_same_episodes(one, other);
}

/*
 * A fault that goes on with a run of its like is what it is by itself: the model says the same as
 * one whose runs are ended after each fault, by a step of an mm that it does not know.
 */
static void test_runs_change_nothing(void **state)
{
	static const int orders[] = { 4, 5, 0, 0, NO_ALLOC };
	uint64_t seed = 1, of_ptes = 0, of_folios = 0;

	for (int round = 0; round < 5000; round++) {
		struct lab runs, alone;
		uint64_t page = 0;

		open_pair(&runs, &alone, round);
		populate_all(&runs, PARENT, orders[round % 5]);
		populate_all(&alone, PARENT, orders[round % 5]);
		for (int i = 0; i < 100; i++) {
			uint64_t how = random_u64(&seed);
			uint64_t mm = how >> 16 & 7 ? PARENT : CHILD;
			struct fault f;

			if (i == 0 || how % 50 == 0) {
				step_both(&runs, &alone, STEP_FORK, CHILD, PARENT);
				if (how % 100)
					step_both(&runs, &alone, STEP_MM_EXIT, CHILD, 0);
				continue;
			}
			page = how % 8 ? (page + 1) % NR_PAGES : how / 8 % NR_PAGES;
			f = any_fault(&runs, &seed, mm, page);
			/* it copies a page, or shares it on */
			if (mm == CHILD && how >> 20 & 1) {
				f.allocated = true;
				f.order = 0;
			} else if (mm == CHILD) {
				f.flags = 0;
			}
			f.pid = how >> 32 & 3;
			f.entry = f.entry ? f.entry : runs.now;
			f.exit = f.entry + 100 + (how >> 40 & 15);
			/* as model_expect() does for a large model */
			memory_prefetch(&runs.model.memory, f.cpu,
					memory_find_mm(&runs.model.memory, mm), BASE / PAGE + page);
			of_ptes += runs.model.run.kind == RUN_OF_PTES;
			of_folios += runs.model.run.kind == RUN_OF_FOLIOS;
			run_both(&runs, &alone, f);
			step(&alone, STEP_UNCERTAIN, GRANDSON, 0);
			runs.now = alone.now;
		}
		close_pair(&runs, &alone);
	}
	assert_true(of_ptes > 25000 && of_folios > 15000);
}

/*
 * A page that was copied as one of a whole folio, into a VMA that has room for it alone, goes on
 * with the folio's episode: the one that its next fault ends is not all its own, and others cannot
 * be like it.
 */
static void test_run_needs_an_episode(void **state)
{
	struct fault copy = write_fault(PARENT, 1, 4), unshare = write_fault(PARENT, 1, NO_ALLOC);
	struct lab lab;

	open_forked(&lab, 4);
	step(&lab, STEP_MM_EXIT, CHILD, 0);
	assert_int_equal(write_to(&lab, PARENT, 0, NO_ALLOC), CLASS_REUSE);
	copy.vma_start = BASE + PAGE;
	copy.vma_end = BASE + 2 * PAGE;
	assert_int_equal(run(&lab, copy), CLASS_COW);
	unshare.flags = FAULT_FLAG_UNSHARE;
	assert_int_equal(run(&lab, unshare), CLASS_UNSHARE);
	lab.nr_episodes = 0;
	assert_int_equal(write_to(&lab, PARENT, 1, NO_ALLOC), CLASS_REUSE);
	assert_int_equal(lab.nr_episodes, 1);
	assert_int_equal(lab.episodes[0].faults, 2);
	assert_null(lab.outcome.whole);
	assert_int_equal(lab.model.run.kind, RUN_NONE);
	lab_close(&lab);
}

static void settle_all(struct memory *m)
{
	for (uint32_t i = 1; i < m->nr_mms; i++) {
		if (m->mms[i].id)
			memory_settle(m, i);
	}
}

/*
 * What a child borrows is as good as copied: the model says the same as one where all that is lent
 * is copied after each step. Three mms fork, exit and fault at random, on small folios and large.
 */
static void test_loans_change_nothing(void **state)
{
	static const uint64_t mms[] = { PARENT, CHILD, GRANDSON };
	static const int orders[] = { 4, 5, 0, 9 };
	uint64_t seed = 1, lent = 0;

	for (int round = 0; round < 800; round++) {
		struct lab loans, copies;

		open_pair(&loans, &copies, round);
		populate_all(&loans, PARENT, orders[round / 4 % 4]);
		populate_all(&copies, PARENT, orders[round / 4 % 4]);
		for (int i = 0; i < 100; i++) {
			uint64_t how = random_u64(&seed),
				 mm = mms[how >> 8 & 3 ? how >> 16 & 1 : 2];
			uint64_t page = (how >> 32) % NR_PAGES;

			lent += loans.model.memory.nr_borrowed;
			if (i == 0 || how % 16 == 0)
				step_both(&loans, &copies, STEP_FORK, mms[(how >> 24) % 3], mm);
			else if (how % 32 == 1)
				step_both(&loans, &copies, STEP_MM_EXIT, mm, 0);
			else
				run_both(&loans, &copies, any_fault(&loans, &seed, mm, page));
			settle_all(&copies.model.memory);
			assert_int_equal(loans.model.memory.size, copies.model.memory.size);
			assert_int_equal(copies.model.memory.nr_borrowed, 0);
		}
		close_pair(&loans, &copies);
	}
	assert_true(lent > 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small_is_copied_while_shared),
		cmocka_unit_test(test_small_is_reused_after_exit),
		cmocka_unit_test(test_large_is_reused_page_by_page),
		cmocka_unit_test(test_episode_ends_when_complete),
		cmocka_unit_test(test_folio_in_two_vmas),
		cmocka_unit_test(test_large_is_copied_while_shared_then_reused),
		cmocka_unit_test(test_last_page_of_large_is_copied),
		cmocka_unit_test(test_exclusive_once_the_other_copied_all),
		cmocka_unit_test(test_third_mm_never_reuses_large),
		cmocka_unit_test(test_third_mm_reuses_small),
		cmocka_unit_test(test_old_kernels_never_reuse_large),
		cmocka_unit_test(test_exclusive_page_is_reused),
		cmocka_unit_test(test_shared_pmd_becomes_ptes),
		cmocka_unit_test(test_exclusive_pmd_is_reused_at_once),
		cmocka_unit_test(test_split_that_nobody_saw),
		cmocka_unit_test(test_allocation_shows_a_copy),
		cmocka_unit_test(test_copy_of_the_whole_folio),
		cmocka_unit_test(test_whole_copy_of_the_rest),
		cmocka_unit_test(test_worker_says_how_many),
		cmocka_unit_test(test_worker_resolved_none),
		cmocka_unit_test(test_race_is_no_fault_of_its_own),
		cmocka_unit_test(test_zero_page_is_copied),
		cmocka_unit_test(test_file_pages),
		cmocka_unit_test(test_swap_error_and_access),
		cmocka_unit_test(test_access_ends_when_all_are_young),
		cmocka_unit_test(test_recording_without_forks),
		cmocka_unit_test(test_dropped_page_is_mapped_anew),
		cmocka_unit_test(test_unknown_before_the_recording),
		cmocka_unit_test(test_reused_mm_pointer),
		cmocka_unit_test(test_collapse_makes_unknown),
		cmocka_unit_test(test_three_forks_three_episodes),
		cmocka_unit_test(test_assumed_folio_size),
		cmocka_unit_test(test_unknown_order_has_no_episodes),
		cmocka_unit_test(test_runs_change_nothing),
		cmocka_unit_test(test_run_needs_an_episode),
		cmocka_unit_test(test_loans_change_nothing),
	};

	return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
