// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the candidate change wp_copy_batch, alone and with wp_reuse_batch: when one write
 * fault copies all of a large anonymous folio that is shared, and when only a page of it. A kernel
 * that lacks the parameter skips them.
 */
#include <linux/kthread.h>
#include <linux/mmap_lock.h>
#include <linux/mmu_notifier.h>
#include <linux/set_memory.h>

#include "../internal.h"
#include "folio_batch_patches.h"

#ifdef PATCHES_FIT

static const unsigned int copy_orders[] = { 2, 3, 4, 8 };

KUNIT_ARRAY_PARAM(copy_order, copy_orders, order_desc);

/* What another thread does between the copy and the lock, and what the store makes of it. */
struct meddling {
	const char *name;
	unsigned int page;	/* whose PTE is to become ... */
	char state;		/* ... this; '\0': the page table is gone for a moment */
	const char *ptes;	/* after a store to page 1 of four */
};

#ifdef CONFIG_MMU_NOTIFIER
struct listener {
	struct mmu_notifier notifier;
	struct live *l;
	const struct meddling *meddling;	/* or NULL */
	unsigned int nr_starts;
	unsigned int nr_ends;	/* of the range that the last start was about */
	unsigned long start;
	unsigned long end;
	pmd_t pmd;		/* what is to be the page table again */
};

/* The first call is about all of the folio; none may come with the page table locked. */
static int listener_start(struct mmu_notifier *notifier, const struct mmu_notifier_range *range)
{
	struct listener *listener = container_of(notifier, struct listener, notifier);
	const struct meddling *meddling = listener->meddling;
	struct live *l = listener->l;
	pmd_t *pmd = pmd_off(l->mm, l->addr);
	spinlock_t *ptl = pte_lockptr(l->mm, pmd);
	bool unlocked = spin_trylock(ptl);

	if (unlocked)
		spin_unlock(ptl);
	KUNIT_EXPECT_TRUE(l->test, unlocked);
	listener->start = range->start;
	listener->end = range->end;
	if (listener->nr_starts++)
		return 0;
	KUNIT_EXPECT_EQ(l->test, range->start, l->addr);
	KUNIT_EXPECT_EQ(l->test, range->end, page_addr(l, l->nr));
	if (meddling && meddling->state) {
		set_state(l, meddling->page, meddling->state);
	} else if (meddling) {
		listener->pmd = pmdp_get(pmd);
		pmd_clear(pmd);
	}
	return 0;
}

static void listener_end(struct mmu_notifier *notifier, const struct mmu_notifier_range *range)
{
	struct listener *listener = container_of(notifier, struct listener, notifier);
	struct live *l = listener->l;

	if (!pmd_none(listener->pmd))
		set_pmd(pmd_off(l->mm, l->addr), listener->pmd);
	listener->pmd = __pmd(0);
	listener->nr_ends += range->start == listener->start && range->end == listener->end;
}

static const struct mmu_notifier_ops listener_ops = {
	.invalidate_range_start = listener_start,
	.invalidate_range_end = listener_end,
};

/* A store that a listener hears of @nr_calls times. */
static void store_heard(struct live *l, unsigned int page, u8 value, unsigned int nr_calls,
			const struct meddling *meddling)
{
	struct listener listener = {
		.notifier.ops = &listener_ops,
		.l = l,
		.meddling = meddling,
	};

	KUNIT_ASSERT_EQ(l->test, mmu_notifier_register(&listener.notifier, l->mm), 0);
	store(l, page, value);
	mmu_notifier_unregister(&listener.notifier, l->mm);
	KUNIT_EXPECT_EQ(l->test, listener.nr_starts, nr_calls);
	KUNIT_EXPECT_EQ(l->test, listener.nr_ends, nr_calls);
}
#else
static void store_heard(struct live *l, unsigned int page, u8 value, unsigned int nr_calls,
			const struct meddling *meddling)
{
	if (meddling)
		kunit_skip(l->test, "CONFIG_MMU_NOTIFIER is off");
	store(l, page, value);
}
#endif

/* What the test's own CPU reads, from its TLB where that holds the pages. */
static void expect_loads(struct live *l, unsigned int odd, u8 value)
{
	unsigned int i, wrong = 0;

	for (i = 0; i < l->nr; i++)
		wrong += load(l, i) != (i == odd ? value : content(i));
	KUNIT_EXPECT_EQ_MSG(l->test, wrong, 0, "pages read with the wrong content");
}

/* A store to what a child maps as well copies all of the folio; then the child is alone. */
static void test_copy(struct kunit *test)
{
	struct mm_struct *child;
	struct live *l;
	long anon;

	knob_set(test, "wp_copy_batch", "on");
	l = live_create(test, *(const unsigned int *)test->param_value);
	store(l, l->nr, 251);		/* to the folio behind it, not to be touched */
	anon = percpu_counter_sum(&l->mm->rss_stat[MM_ANONPAGES]);
	child = live_fork(l);
	store_heard(l, l->nr - 1, 252, 1, NULL);
	expect_all(l, l->mm, 'C', "parent");
	expect_all(l, child, 'r', "child");
	KUNIT_EXPECT_EQ(test, count_unfolded(l, l->mm) + count_unfolded(l, child), 0);
	expect_content_of(l, l->mm, l->nr - 1, 252);
	expect_content_of(l, child, l->nr, 0);
	KUNIT_EXPECT_EQ(test, percpu_counter_sum(&l->mm->rss_stat[MM_ANONPAGES]), anon);
	expect_mapcount(l, l->folio, l->nr);
	expect_mapcount(l, live_folio(l, l->mm), l->nr);
	KUNIT_EXPECT_EQ(test, load(l, l->nr), 251);

	store_remote(l, child, 0, 253, 0);
	KUNIT_EXPECT_EQ(test, pte_state(l, child, 0), 'w');
	expect_content_of(l, child, 0, 253);
	expect_loads(l, l->nr - 1, 252);
}

static const struct meddling meddlings[] = {
	{ "neighbour for NUMA hinting", 2, 'n', "rcnr" },
	{ "neighbour exclusive", 3, 'x', "rcrx" },
	{ "first page exclusive", 0, 'x', "xcrr" },
	{ "page for NUMA hinting", 1, 'n', "CCCC" },
	{ "no page table", 0, '\0', "CCCC" },
};

KUNIT_ARRAY_PARAM_DESC(meddling, meddlings, name);

/*
 * What changes while the folio is copied makes the fault copy its page alone, or be taken again,
 * and then it copies all.
 */
static void copy_meddled(struct kunit *test)
{
	const struct meddling *m = test->param_value;
	unsigned int left = 0, i;
	struct mm_struct *child;
	struct live *l;

	l = live_create(test, 2);
	child = live_fork(l);
	store_heard(l, 1, 252, 2, m);
	expect_ptes(l, l->mm, m->ptes, "parent");
	for (i = 0; i < l->nr; i++)
		left += !strchr("cC", m->ptes[i]);
	expect_mapcount(l, l->folio, l->nr + left);
	expect_content_of(l, child, l->nr, 0);
	expect_loads(l, 1, 252);
	live_exit(l, child);
	KUNIT_ASSERT_EQ(test, vm_munmap(l->addr, LIVE_SIZE - PMD_SIZE), 0);
	kunit_kfree(test, l);
}

static void test_copy_meddled(struct kunit *test)
{
	const struct meddling *m = test->param_value;

	knob_set(test, "wp_copy_batch", "on");
	if (m->state == 'n' && !IS_ENABLED(CONFIG_NUMA_BALANCING))
		kunit_skip(test, "CONFIG_NUMA_BALANCING is off");
	copy_meddled(test);
	expect_no_leak(test, copy_meddled);
}

static void test_copy_odd(struct kunit *test)
{
	struct live *l;

	knob_set(test, "wp_copy_batch", "on");
	l = live_create(test, 4);
	live_fork(l);
	check_odd(l, "rrrrrcrrrrrrrrrr");
}

#define BLOCK_ORDER	8

/* The first page of each block is listed; its private is the order that is to be freed. */
static void free_blocks(void *blocks)
{
	struct page *page, *next;

	list_for_each_entry_safe(page, next, (struct list_head *)blocks, lru)
		__free_pages(page, page_private(page));
}

static struct page *take_block(struct list_head *blocks)
{
	struct page *page = alloc_pages(GFP_TRANSHUGE_LIGHT & ~__GFP_COMP, BLOCK_ORDER);

	if (page) {
		set_page_private(page, BLOCK_ORDER);
		list_add(&page->lru, blocks);
	}
	return page;
}

/* Frees all of a block but its first page, so that the others never make a block again. */
static void break_block(struct page *page)
{
	unsigned int i;

	split_page(page, BLOCK_ORDER);
	set_page_private(page, 0);
	for (i = 1; i < 1 << BLOCK_ORDER; i++)
		__free_page(page + i);
}

static unsigned long count_fallbacks(unsigned int order)
{
	unsigned long nr = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		nr += per_cpu(mthp_stats, cpu).stats[order][MTHP_STAT_ANON_FAULT_FALLBACK];
	return nr;
}

/* No folio of that size is to be had, but smaller ones are. */
static void test_copy_no_memory(struct kunit *test)
{
	struct list_head *blocks = kunit_kzalloc(test, sizeof(*blocks), GFP_KERNEL);
	struct mm_struct *child;
	unsigned long fallbacks, i;
	struct page *page;
	struct live *l;

	KUNIT_ASSERT_NOT_NULL(test, blocks);
	INIT_LIST_HEAD(blocks);
	knob_set(test, "wp_copy_batch", "on");
	l = live_create(test, BLOCK_ORDER);
	child = live_fork(l);
	KUNIT_ASSERT_EQ(test, kunit_add_action(test, free_blocks, blocks), 0);
	/* Twice what the watermarks hold back, or there might be no page at all in the end. */
	for (i = 0; i <= 2 * totalreserve_pages >> BLOCK_ORDER; i++) {
		page = take_block(blocks);
		KUNIT_ASSERT_NOT_NULL(test, page);
		break_block(page);
	}
	/* What is on its way to be free may complete a block. */
	rcu_barrier();
	drain_all_pages(NULL);
	while (take_block(blocks))
		;
	fallbacks = count_fallbacks(BLOCK_ORDER);
	store(l, 100, 252);
	kunit_release_action(test, free_blocks, blocks);
	KUNIT_EXPECT_EQ(test, count_fallbacks(BLOCK_ORDER), fallbacks + 1);
	expect_all_but(l, l->mm, 'r', 100, 'c', "parent");
	expect_all(l, child, 'r', "child");
	expect_mapcount(l, l->folio, 2 * l->nr - 1);
	expect_content_of(l, l->mm, 100, 252);
	expect_content_of(l, child, l->nr, 0);
}

/* What can happen to a folio: fork, copies and reuse in both mms. */
static void copy_whole_life(struct kunit *test)
{
	struct live *l = live_create(test, 4);
	struct mm_struct *child = live_fork(l);

	store(l, 0, 1);
	store_remote(l, child, l->nr - 1, 1, 0);
	live_exit(l, child);
	child = live_fork(l);
	store_remote(l, child, 3, 1, 0);
	store(l, 2, 1);
	live_exit(l, child);
	KUNIT_ASSERT_EQ(test, vm_munmap(l->addr, LIVE_SIZE - PMD_SIZE), 0);
	kunit_kfree(test, l);
}

/* The child's store copies the whole folio as well. */
static void test_copy_in_child(struct kunit *test)
{
	struct mm_struct *child;
	struct live *l;

	knob_set(test, "wp_copy_batch", "on");
	l = live_create(test, 4);
	child = live_fork(l);
	store_remote(l, child, 3, 252, 0);
	expect_all(l, child, 'C', "child");
	expect_all(l, l->mm, 'r', "parent");
	expect_content_of(l, child, 3, 252);
	expect_content_of(l, l->mm, l->nr, 0);
}

static void test_copy_fault(struct kunit *test)
{
	const struct write_fault_case *c = test->param_value;

	knob_set(test, "wp_copy_batch", "on");
	check_write_fault(test, c, c->copied);
}

static void expect_page_copied(struct live *l, unsigned int page)
{
	struct mm_struct *child = live_fork(l);

	store(l, page, 252);
	expect_range(l, l->mm, 'r', page, page, 'c', "parent");
	expect_all(l, child, 'r', "child");
	expect_content_of(l, l->mm, page, 252);
	expect_content_of(l, child, l->nr, 0);
}

struct tracked {
	const char *before;	/* which pages are soft-dirty */
	unsigned int page;
	const char *after;
	const char *ptes;
};

static const struct tracked tracked[] = {
	{ "0000", 1, "0100", "rcrr" },
	{ "0110", 1, "0110", "rcrr" },
	{ "1011", 0, "1011", "crrr" },
	{ "1110", 3, "1111", "rrrc" },
	{ "1111", 1, "1111", "CCCC" },
};

KUNIT_ARRAY_PARAM_DESC(tracked, tracked, before);

/* While soft-dirty is tracked, nothing becomes soft-dirty but what is written. */
static void test_copy_soft_dirty(struct kunit *test)
{
	const struct tracked *c = test->param_value;
	struct mm_struct *child;
	struct live *l;

	knob_set(test, "wp_copy_batch", "on");
	if (!pgtable_supports_soft_dirty())
		kunit_skip(test, "CONFIG_MEM_SOFT_DIRTY is off");
	l = live_create(test, 2);
	child = live_fork(l);
	track_soft_dirty(l, c->before);
	store(l, c->page, 252);
	expect_ptes(l, l->mm, c->ptes, "parent");
	expect_soft_dirty(l, c->after);
	expect_content_of(l, l->mm, c->page, 252);
	expect_content_of(l, child, l->nr, 0);
}

/* Userfaultfd wants to know of each page that is missing. */
static void test_copy_uffd_armed(struct kunit *test)
{
	struct live *l;

	knob_set(test, "wp_copy_batch", "on");
	l = live_create(test, 4);
	live_fork(l);
	live_vm_flags(l, VM_UFFD_MISSING, 0);
	store(l, 3, 252);
	expect_all_but(l, l->mm, 'r', 3, 'c', "parent");
	live_vm_flags(l, 0, VM_UFFD_MISSING);
}

/* Folios of PMD order are copied page by page also where PTEs map them. */
static void test_copy_pmd_order(struct kunit *test)
{
	struct live *l;

	knob_set(test, "wp_copy_batch", "on");
	l = live_create(test, PMD_ORDER);
	expect_page_copied(l, 300);
}

static const unsigned int split_pages[] = { 3, 7, 8, 12 };

static void page_desc(const unsigned int *page, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "page %u", *page);
}

KUNIT_ARRAY_PARAM(split_page, split_pages, page_desc);

/* No VMA has such PTEs for long, but what they protect is not to be lost. */
static void test_copy_uffd_ptes(struct kunit *test)
{
	struct live *l;

	knob_set(test, "wp_copy_batch", "on");
	if (!pgtable_supports_uffd())
		kunit_skip(test, "this architecture or configuration has no uffd-wp");
	l = live_create(test, 2);
	live_fork(l);
	set_states(l, "uuuu");
	store(l, 1, 252);
	expect_ptes(l, l->mm, "ucuu", "parent");
}

/* Half of the folio is in another VMA. */
static void test_copy_two_vmas(struct kunit *test)
{
	struct live *l;

	knob_set(test, "wp_copy_batch", "on");
	l = live_create(test, 4);
	KUNIT_ASSERT_EQ(test, do_madvise(l->mm, page_addr(l, 8), LIVE_SIZE / 4, MADV_DONTDUMP), 0);
	expect_page_copied(l, *(const unsigned int *)test->param_value);
}

/* Moved off its natural alignment. */
static void test_copy_misaligned(struct kunit *test)
{
	struct live *l;

	knob_set(test, "wp_copy_batch", "on");
	l = live_create(test, 4);
	live_mremap(l, l->addr + 2 * PMD_SIZE + 3 * PAGE_SIZE);
	expect_page_copied(l, 9);
}

/* The VMA may no longer have folios of that size. */
static void test_copy_order_off(struct kunit *test)
{
	struct live *l;

	knob_set(test, "wp_copy_batch", "on");
	l = live_create(test, 4);
	WRITE_ONCE(huge_anon_orders_always, BIT(2) | BIT(3) | BIT(5));
	expect_page_copied(l, 3);
}

static void test_copy_poison(struct kunit *test)
{
	struct live *l;

	knob_set(test, "wp_copy_batch", "on");
	if (!IS_ENABLED(CONFIG_MEMORY_FAILURE))
		kunit_skip(test, "CONFIG_MEMORY_FAILURE is off");
	l = live_create(test, 4);
	folio_set_has_hwpoisoned(l->folio);
	expect_page_copied(l, 3);
	folio_clear_has_hwpoisoned(l->folio);
}

/* A page that cannot be read, here for want of a mapping, is found while the folio is copied. */
static void test_copy_poison_found(struct kunit *test)
{
#ifdef CONFIG_X86_64
	unsigned long unread;
	struct page *page;
	struct live *l;

	knob_set(test, "wp_copy_batch", "on");
	if (IS_ENABLED(CONFIG_MEMORY_FAILURE))
		kunit_skip(test, "CONFIG_MEMORY_FAILURE would take the page away");
	if (!cpu_feature_enabled(X86_FEATURE_ERMS))
		kunit_skip(test, "this CPU has no ERMS: it copies without a look at errors");
	l = live_create(test, 4);
	page = folio_page(l->folio, 9);
	unread = (unsigned long)page_address(page);
	live_fork(l);
	KUNIT_ASSERT_EQ(test, set_direct_map_invalid_noflush(page), 0);
	flush_tlb_kernel_range(unread, unread + PAGE_SIZE);
	store(l, 5, 252);
	KUNIT_ASSERT_EQ(test, set_direct_map_default_noflush(page), 0);
	expect_all_but(l, l->mm, 'r', 5, 'c', "parent");
	expect_mapcount(l, l->folio, 2 * l->nr - 1);
	expect_content_of(l, l->mm, 5, 252);
#else
	kunit_skip(test, "this architecture copies without a look at errors");
#endif
}

/* Both: a folio that a PMD maps, and small folios, are handled as without the changes. */

static void both_on(struct kunit *test)
{
	knob_set(test, "wp_reuse_batch", "folio");
	knob_set(test, "wp_copy_batch", "on");
}

/*
 * One copies all of the folio, the other, who is left, takes all of the old one and writes to it.
 * No TLB may show that to the first, which has read the old one.
 */
static void test_copy_then_reuse(struct kunit *test)
{
	struct mm_struct *child;
	struct live *l;

	both_on(test);
	l = live_create(test, 4);
	child = live_fork(l);
	expect_loads(l, l->nr, 0);
	store(l, 3, 252);
	store_remote(l, child, 7, 253, 0);
	expect_loads(l, 3, 252);
	expect_all(l, l->mm, 'C', "parent");
	expect_all(l, child, 'w', "child");
	expect_content_of(l, l->mm, 3, 252);
	expect_content_of(l, child, 7, 253);
}

/* A write fault as user space takes it, with only the VMA locked; -EAGAIN if that is not enough. */
static int fault_vma_locked(struct live *l, unsigned int page)
{
	const unsigned int flags = FAULT_FLAG_DEFAULT | FAULT_FLAG_WRITE | FAULT_FLAG_VMA_LOCK;
	struct vm_area_struct *vma = lock_vma_under_rcu(l->mm, page_addr(l, page));
	vm_fault_t ret;

	if (!vma)
		return -EAGAIN;
	ret = handle_mm_fault(vma, page_addr(l, page), flags, NULL);
	if (!(ret & (VM_FAULT_RETRY | VM_FAULT_COMPLETED)))
		vma_end_read(vma);
	if (ret & VM_FAULT_RETRY)
		return -EAGAIN;
	return ret & VM_FAULT_ERROR ? -EFAULT : 0;
}

static void test_vma_locked(struct kunit *test)
{
	struct mm_struct *child;
	struct live *l;

	both_on(test);
	l = live_create(test, 4);
	child = live_fork(l);
	KUNIT_EXPECT_EQ(test, fault_vma_locked(l, 3), 0);
	expect_all(l, l->mm, 'C', "parent");
	expect_content_of(l, child, l->nr, 0);
	live_exit(l, child);
	l->folio = live_folio(l, l->mm);
	lru_add_drain();
	live_exit(l, live_fork(l));
	expect_all(l, l->mm, 'r', "parent");
	KUNIT_EXPECT_EQ(test, fault_vma_locked(l, 5), 0);
	expect_all(l, l->mm, 'w', "parent");
	expect_content_of(l, l->mm, l->nr, 0);
	expect_mapcount(l, l->folio, l->nr);
}

struct racer {
	struct live *l;
	unsigned int nr_faults;
	unsigned int nr_errors;
	unsigned int nr_lost;
};

/* Faults on all pages, in another order than the test; stores what it expects to find again. */
static int race(void *data)
{
	struct racer *racer = data;
	struct live *l = racer->l;
	u32 stored[16] = { }, is;
	unsigned int i;

	kthread_use_mm(l->mm);
	for (i = 0; !kthread_should_stop(); i = (i + 5) % 16) {
		u32 __user *at = (void __user *)page_addr(l, i) + sizeof(is);
		int err = fault_vma_locked(l, i);

		racer->nr_errors += err == -EFAULT;
		if (copy_from_user(&is, at, sizeof(is)))
			racer->nr_errors++;
		racer->nr_lost += is != stored[i];
		stored[i]++;
		if (copy_to_user(at, &stored[i], sizeof(is)))
			racer->nr_errors++;
		WRITE_ONCE(racer->nr_faults, racer->nr_faults + !err);
		cond_resched();
	}
	kthread_unuse_mm(l->mm);
	return 0;
}

KUNIT_DEFINE_ACTION_WRAPPER(kthread_stop_action, kthread_stop, struct task_struct *);

/* Two threads write to a folio that is copied and reused: it stays whole and loses no store. */
static void test_race(struct kunit *test)
{
	struct racer *racer = kunit_kzalloc(test, sizeof(*racer), GFP_KERNEL);
	struct task_struct *task;
	struct mm_struct *child;
	unsigned int round;
	struct live *l;

	KUNIT_ASSERT_NOT_NULL(test, racer);
	both_on(test);
	if (num_online_cpus() < 2)
		kunit_skip(test, "this machine has one CPU");
	l = live_create(test, 4);
	racer->l = l;
	task = kthread_run(race, racer, "folio_batch_race");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, kthread_stop_action, task), 0);
	for (round = 0; round < 50 || READ_ONCE(racer->nr_faults) < 500; round++) {
		child = live_fork(l);
		store(l, round % l->nr, content(round % l->nr));
		l->folio = live_folio(l, l->mm);
		expect_all(l, l->mm, 'w', "parent, while the child lives");
		expect_content_of(l, child, l->nr, 0);
		live_exit(l, child);
		live_exit(l, live_fork(l));
		store(l, round % l->nr, content(round % l->nr));
		l->folio = live_folio(l, l->mm);
		expect_all(l, l->mm, 'w', "parent, when the child is gone");
		expect_content_of(l, l->mm, l->nr, 0);
	}
	kunit_release_action(test, kthread_stop_action, task);
	KUNIT_EXPECT_EQ(test, racer->nr_errors, 0);
	KUNIT_EXPECT_EQ(test, racer->nr_lost, 0);
	expect_mapcount(l, l->folio, l->nr);
	kunit_info(test, "%u rounds, %u faults of the other thread", round, racer->nr_faults);
}

static void test_leaks(struct kunit *test)
{
	both_on(test);
	expect_no_leak(test, copy_whole_life);
}

static void test_pmd_mapped(struct kunit *test)
{
	struct mm_struct *child;
	unsigned int i;
	struct live *l;
	pmd_t pmd;

	both_on(test);
	l = live_map(test, PMD_ORDER);
	for (i = 0; i < l->nr; i++)
		store(l, i, content(i));
	pmd = pmdp_get(mm_find_pmd(l->mm, l->addr));
	KUNIT_ASSERT_TRUE(test, pmd_trans_huge(pmd));
	l->folio = page_folio(pmd_page(pmd));
	live_exit(l, live_fork(l));
	store(l, 100, content(100));
	pmd = pmdp_get(mm_find_pmd(l->mm, l->addr));
	KUNIT_EXPECT_TRUE(test, pmd_trans_huge(pmd) && pmd_write(pmd));
	expect_content_of(l, l->mm, l->nr, 0);

	/* Shared: the PMD is split, and the page copied alone. */
	child = live_fork(l);
	store(l, 100, 252);
	KUNIT_EXPECT_EQ(test, pte_state(l, l->mm, 100), 'c');
	KUNIT_EXPECT_EQ(test, pte_state(l, l->mm, 99), 'r');
	KUNIT_EXPECT_EQ(test, pte_state(l, l->mm, 101), 'r');
	expect_content_of(l, l->mm, 100, 252);
	expect_content_of(l, child, l->nr, 0);
}

static void test_small(struct kunit *test)
{
	struct mm_struct *child;
	struct live *l;

	both_on(test);
	l = live_create(test, 0);
	child = live_fork(l);
	store(l, 0, 252);
	expect_all(l, l->mm, 'c', "parent");
	expect_content_of(l, child, l->nr, 0);
	l->folio = pfn_folio(pte_pfn(live_pte(l, l->mm, 0)));
	lru_add_drain();
	live_exit(l, live_fork(l));
	store(l, 0, 253);
	expect_all(l, l->mm, 'w', "parent");
}

static struct kunit_case patches_cases[] = {
	KUNIT_CASE_PARAM(test_copy, copy_order_gen_params),
	KUNIT_CASE(test_copy_in_child),
	KUNIT_CASE_PARAM(test_copy_fault, write_fault_gen_params),
	KUNIT_CASE(test_copy_uffd_armed),
	KUNIT_CASE(test_copy_uffd_ptes),
	KUNIT_CASE(test_copy_pmd_order),
	KUNIT_CASE_PARAM(test_copy_soft_dirty, tracked_gen_params),
	KUNIT_CASE_PARAM(test_copy_odd, odd_gen_params),
	KUNIT_CASE_PARAM(test_copy_meddled, meddling_gen_params),
	KUNIT_CASE(test_copy_no_memory),
	KUNIT_CASE_PARAM(test_copy_two_vmas, split_page_gen_params),
	KUNIT_CASE(test_copy_misaligned),
	KUNIT_CASE(test_copy_order_off),
	KUNIT_CASE(test_copy_poison),
	KUNIT_CASE(test_copy_poison_found),
	KUNIT_CASE(test_copy_then_reuse),
	KUNIT_CASE(test_vma_locked),
	KUNIT_CASE(test_race),
	KUNIT_CASE(test_leaks),
	KUNIT_CASE(test_pmd_mapped),
	KUNIT_CASE(test_small),
	{}
};

#endif

static struct kunit_suite patches_suite = {
	.name = "folio_batch_patches_copy",
	.test_cases = patches_cases,
};

kunit_test_suite(patches_suite);

MODULE_DESCRIPTION("KUnit tests of write faults that copy a large folio");
MODULE_LICENSE("GPL");
