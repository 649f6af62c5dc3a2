// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the candidate changes in kunit/patches/: what one write fault resolves of a large
 * anonymous folio when wp_reuse_batch or wp_copy_batch is on, and all that it must leave alone.
 * A kernel that lacks the parameter skips its cases.
 */
#include <kunit/resource.h>
#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/moduleparam.h>
#include <linux/pgtable.h>

#include "../internal.h"

#if defined(FPB_RESPECT_WRITE) && defined(CONFIG_TRANSPARENT_HUGEPAGE)

#include "folio_batch_live.h"

/* Knobs: boot parameters, set as a write to /sys/module/kernel/parameters would. */

struct knob {
	const struct kernel_param *param;
	char *before;		/* a page, as getters want it */
};

static void knob_write(const struct kernel_param *param, const char *value)
{
	kernel_param_lock(THIS_MODULE);
	WARN_ON(param->ops->set(value, param));
	kernel_param_unlock(THIS_MODULE);
}

static void knob_restore(void *data)
{
	struct knob *knob = data;

	knob_write(knob->param, knob->before);
	free_page((unsigned long)knob->before);
}

static const struct kernel_param *knob_find(const char *name)
{
	const struct kernel_param *param;

	for (param = __start___param; param < __stop___param; param++) {
		if (!strcmp(param->name, name))
			return param;
	}
	return NULL;
}

/* Sets @param until the test ends. */
static void knob_set_param(struct kunit *test, const struct kernel_param *param, const char *value)
{
	struct knob *knob = kunit_kzalloc(test, sizeof(*knob), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, knob);
	knob->param = param;
	knob->before = (char *)get_zeroed_page(GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, knob->before);
	KUNIT_ASSERT_GT(test, param->ops->get(knob->before, param), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, knob_restore, knob), 0);
	knob_write(param, value);
}

/* Sets the parameter @name, the first of a test turns the others off, until the test ends. */
static void knob_set(struct kunit *test, const char *name, const char *value)
{
	static const char *const names[] = { "wp_reuse_batch", "wp_copy_batch" };
	const struct kernel_param *param = knob_find(name), *other;
	unsigned int i;

	if (!param)
		kunit_skip(test, "this kernel has no parameter %s", name);
	for (i = 0; i < ARRAY_SIZE(names) && !test->priv; i++) {
		other = knob_find(names[i]);
		if (other && other != param)
			knob_set_param(test, other, "off");
	}
	test->priv = (void *)param;
	knob_set_param(test, param, value);
}

/* All contpte blocks that the folio fills are folded; other architectures have none. */
static void expect_folded(struct live *l, struct mm_struct *mm)
{
#ifdef CONFIG_ARM64_CONTPTE
	unsigned int i, unfolded = 0;
	pte_t *ptep;

	for (i = 0; i < l->nr && l->nr >= CONT_PTES; i++) {
		ptep = live_lock(l, mm, i);
		unfolded += !pte_valid_cont(__ptep_get(ptep));
		pte_unmap_unlock(ptep, l->ptl);
	}
	KUNIT_EXPECT_EQ(l->test, unfolded, 0);
#endif
}

/* Reuse: wp_reuse_batch */

struct window {
	unsigned int order;
	const char *batch;
	unsigned int page;	/* that the store is to */
	unsigned int first;	/* of those that become writable */
	unsigned int last;
};

static const struct window windows[] = {
	{ 2, "off", 1, 1, 1 }, { 4, "off", 15, 15, 15 }, { 8, "off", 100, 100, 100 },
	{ 2, "16", 0, 0, 3 }, { 4, "16", 15, 0, 15 }, { 8, "16", 0, 0, 15 },
	{ 8, "16", 100, 96, 111 }, { 8, "16", 255, 240, 255 },
	{ 2, "folio", 3, 0, 3 }, { 4, "folio", 0, 0, 15 }, { 8, "folio", 0, 0, 255 },
	{ 8, "folio", 100, 0, 255 }, { 8, "folio", 255, 0, 255 },
};

static void window_desc(const struct window *w, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s, order %u, page %u", w->batch, w->order, w->page);
}

KUNIT_ARRAY_PARAM(window, windows, window_desc);

/* A store to a folio that only this mm maps makes just the window writable. */
static void test_reuse_window(struct kunit *test)
{
	const struct window *w = test->param_value;
	struct live *l;

	knob_set(test, "wp_reuse_batch", w->batch);
	l = live_create(test, w->order);
	live_exit(l, live_fork(l));
	expect_all(l, l->mm, 'r', "parent");
	store(l, w->page, 252);
	expect_range(l, l->mm, 'r', w->first, w->last, 'w', "parent");
	expect_content_of(l, l->mm, w->page, 252);
	if (w->last - w->first > 1)
		expect_folded(l, l->mm);
	KUNIT_EXPECT_EQ(test, folio_mapcount(l->folio), l->nr);
	KUNIT_EXPECT_EQ(test, folio_ref_count(l->folio), l->nr);
	KUNIT_EXPECT_TRUE(test, pte_dirty(live_pte(l, l->mm, w->page)));
}

/* The child may be the one that is left. */
static void test_reuse_in_child(struct kunit *test)
{
	struct mm_struct *child;
	struct live *l;

	knob_set(test, "wp_reuse_batch", "folio");
	l = live_create(test, 4);
	child = live_fork(l);
	KUNIT_ASSERT_EQ(test, vm_munmap(l->addr, l->nr * PAGE_SIZE), 0);
	store_remote(l, child, 5, 252, 0);
	expect_all(l, child, 'w', "child");
	expect_content_of(l, child, 5, 252);
}

KUNIT_ARRAY_PARAM_DESC(write_fault, write_fault_cases, name);

static void test_reuse_fault(struct kunit *test)
{
	const struct write_fault_case *c = test->param_value;

	knob_set(test, "wp_reuse_batch", "folio");
	check_write_fault(test, c, c->reused);
}

/* Turns on soft-dirty tracking of the VMA, where only the pages with a '1' are soft-dirty. */
static void track_soft_dirty(struct live *l, const char *dirty)
{
	unsigned int i;

	for (i = 0; i < l->nr; i++) {
		pte_t *ptep = live_lock(l, l->mm, i);
		pte_t pte = ptep_clear_flush(l->vma, page_addr(l, i), ptep);

		pte = dirty[i] == '1' ? pte_mksoft_dirty(pte) : pte_clear_soft_dirty(pte);
		set_pte_at(l->mm, page_addr(l, i), ptep, pte);
		pte_unmap_unlock(ptep, l->ptl);
	}
	live_vm_flags(l, 0, VM_SOFTDIRTY);
}

static void expect_soft_dirty(struct live *l, const char *want)
{
	char is[LIVE_PAGES + 1];
	unsigned int i;

	for (i = 0; i < l->nr; i++)
		is[i] = pte_soft_dirty(live_pte(l, l->mm, i)) ? '1' : '0';
	is[i] = '\0';
	KUNIT_EXPECT_STREQ(l->test, is, want);
}

static void test_reuse_soft_dirty(struct kunit *test)
{
	struct live *l;

	knob_set(test, "wp_reuse_batch", "folio");
	if (!pgtable_supports_soft_dirty())
		kunit_skip(test, "CONFIG_MEM_SOFT_DIRTY is off");
	l = live_create(test, 2);
	live_exit(l, live_fork(l));
	track_soft_dirty(l, "0101");
	store(l, 2, 252);
	expect_soft_dirty(l, "0111");
	expect_ptes(l, l->mm, "xwww", "parent");
	store(l, 0, content(0));
	expect_soft_dirty(l, "1111");
	expect_content_of(l, l->mm, 2, 252);
}

/* Pages 0 to 4 and 5 to 15 are apart: a store to one part leaves the other alone. */
static void check_two_parts(struct live *l)
{
	live_exit(l, live_fork(l));
	store(l, 1, content(1));
	expect_range(l, l->mm, 'r', 0, 4, 'w', "parent");
	live_exit(l, live_fork(l));
	store(l, 14, content(14));
	expect_range(l, l->mm, 'r', 5, 15, 'w', "parent");
	store(l, 1, content(1));
	expect_all(l, l->mm, 'w', "parent");
	expect_content_of(l, l->mm, l->nr, 0);
}

/* Where the VMA ends inside of the folio, what the next VMA maps is left alone. */
static void test_reuse_two_vmas(struct kunit *test)
{
	struct live *l;

	knob_set(test, "wp_reuse_batch", "folio");
	l = live_create(test, 4);
	KUNIT_ASSERT_EQ(test, do_madvise(l->mm, page_addr(l, 5), LIVE_SIZE / 4, MADV_DONTDUMP), 0);
	check_two_parts(l);
}

/* Where the page table ends inside of the folio, what the next table maps is left alone. */
static void test_reuse_two_tables(struct kunit *test)
{
	struct live *l;

	knob_set(test, "wp_reuse_batch", "folio");
	l = live_create(test, 4);
	live_mremap(l, l->addr + 2 * PMD_SIZE - 5 * PAGE_SIZE);
	check_two_parts(l);
}

/* A page of another folio, an older copy, between those of this one. */
static void test_reuse_foreign_page(struct kunit *test)
{
	struct mm_struct *child;
	struct live *l;

	knob_set(test, "wp_reuse_batch", "folio");
	l = live_create(test, 4);
	child = live_fork(l);
	store(l, 6, 252);
	expect_range(l, l->mm, 'r', 6, 6, 'c', "parent");
	live_exit(l, child);
	live_exit(l, live_fork(l));
	store(l, 2, content(2));
	expect_range(l, l->mm, 'w', 6, 6, '?', "parent");
	KUNIT_EXPECT_FALSE(test, pte_write(live_pte(l, l->mm, 6)));
	KUNIT_EXPECT_FALSE(test, PageAnonExclusive(pte_page(live_pte(l, l->mm, 6))));
	expect_content_of(l, l->mm, 6, 252);
}

/* Copy: wp_copy_batch */

static const unsigned int copy_orders[] = { 2, 3, 4, 8 };

static void order_desc(const unsigned int *order, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "order %u", *order);
}

KUNIT_ARRAY_PARAM(copy_order, copy_orders, order_desc);

#ifdef CONFIG_MMU_NOTIFIER
/* What a listener hears: how often, of which range, and whether the page table was locked. */
struct listener {
	struct mmu_notifier notifier;
	struct live *l;
	unsigned long start;
	unsigned long end;
	unsigned int nr_calls;
	bool locked;
};

static int listener_start(struct mmu_notifier *notifier, const struct mmu_notifier_range *range)
{
	struct listener *listener = container_of(notifier, struct listener, notifier);
	struct live *l = listener->l;
	spinlock_t *ptl = pte_lockptr(l->mm, mm_find_pmd(l->mm, l->addr));

	listener->nr_calls++;
	listener->start = range->start;
	listener->end = range->end;
	if (spin_trylock(ptl))
		spin_unlock(ptl);
	else
		listener->locked = true;
	return 0;
}

static const struct mmu_notifier_ops listener_ops = {
	.invalidate_range_start = listener_start,
};

/* Stores to a page while listening: one range, the folio, before the lock. */
static void store_heard(struct live *l, unsigned int page, u8 value)
{
	struct listener listener = { .notifier.ops = &listener_ops, .l = l };

	KUNIT_ASSERT_EQ(l->test, mmu_notifier_register(&listener.notifier, l->mm), 0);
	store(l, page, value);
	mmu_notifier_unregister(&listener.notifier, l->mm);
	KUNIT_EXPECT_EQ(l->test, listener.nr_calls, 1);
	KUNIT_EXPECT_EQ(l->test, listener.start, l->addr);
	KUNIT_EXPECT_EQ(l->test, listener.end, page_addr(l, l->nr));
	KUNIT_EXPECT_FALSE(l->test, listener.locked);
}
#else
static void store_heard(struct live *l, unsigned int page, u8 value)
{
	store(l, page, value);
}
#endif

/* A store to what a child maps as well copies all of the folio; then the child is alone. */
static void test_copy(struct kunit *test)
{
	struct mm_struct *child;
	struct live *l;
	long anon;

	knob_set(test, "wp_copy_batch", "on");
	l = live_create(test, *(const unsigned int *)test->param_value);
	anon = percpu_counter_sum(&l->mm->rss_stat[MM_ANONPAGES]);
	child = live_fork(l);
	store_heard(l, l->nr - 1, 252);
	expect_all(l, l->mm, 'C', "parent");
	expect_all(l, child, 'r', "child");
	expect_folded(l, l->mm);
	expect_folded(l, child);
	expect_content_of(l, l->mm, l->nr - 1, 252);
	expect_content_of(l, child, l->nr, 0);
	KUNIT_EXPECT_EQ(test, percpu_counter_sum(&l->mm->rss_stat[MM_ANONPAGES]), anon);
	KUNIT_EXPECT_EQ(test, folio_mapcount(l->folio), l->nr);
	KUNIT_EXPECT_EQ(test, folio_ref_count(l->folio), l->nr);

	store_remote(l, child, 0, 253, 0);
	KUNIT_EXPECT_EQ(test, pte_state(l, child, 0), 'w');
	expect_content_of(l, child, 0, 253);
	expect_content_of(l, l->mm, l->nr - 1, 252);
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

/* Half of the folio is in another VMA. */
static void test_copy_two_vmas(struct kunit *test)
{
	struct live *l;

	knob_set(test, "wp_copy_batch", "on");
	l = live_create(test, 4);
	KUNIT_ASSERT_EQ(test, do_madvise(l->mm, page_addr(l, 8), LIVE_SIZE / 4, MADV_DONTDUMP), 0);
	expect_page_copied(l, 3);
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

/* Both: a folio that a PMD maps, and small folios, are handled as without the changes. */

static void both_on(struct kunit *test)
{
	knob_set(test, "wp_reuse_batch", "folio");
	knob_set(test, "wp_copy_batch", "on");
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
	/* Of PMD order, it is copied page by page also when PTEs map it. */
	store(l, 300, content(300));
	KUNIT_EXPECT_EQ(test, pte_state(l, l->mm, 300), 'c');
	KUNIT_EXPECT_EQ(test, pte_state(l, l->mm, 301), 'r');
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
	KUNIT_CASE_PARAM(test_reuse_window, window_gen_params),
	KUNIT_CASE(test_reuse_in_child),
	KUNIT_CASE_PARAM(test_reuse_fault, write_fault_gen_params),
	KUNIT_CASE(test_reuse_soft_dirty),
	KUNIT_CASE(test_reuse_two_vmas),
	KUNIT_CASE(test_reuse_two_tables),
	KUNIT_CASE(test_reuse_foreign_page),
	KUNIT_CASE_PARAM(test_copy, copy_order_gen_params),
	KUNIT_CASE(test_copy_in_child),
	KUNIT_CASE_PARAM(test_copy_fault, write_fault_gen_params),
	KUNIT_CASE(test_copy_uffd_armed),
	KUNIT_CASE_PARAM(test_copy_soft_dirty, tracked_gen_params),
	KUNIT_CASE(test_copy_two_vmas),
	KUNIT_CASE(test_copy_misaligned),
	KUNIT_CASE(test_copy_order_off),
	KUNIT_CASE(test_copy_poison),
	KUNIT_CASE(test_pmd_mapped),
	KUNIT_CASE(test_small),
	{}
};

#else

static void test_patches(struct kunit *test)
{
	kunit_skip(test, "the candidate changes are for 7.3 with CONFIG_TRANSPARENT_HUGEPAGE");
}

static struct kunit_case patches_cases[] = {
	KUNIT_CASE(test_patches),
	{}
};

#endif

static struct kunit_suite patches_suite = {
	.name = "folio_batch_patches",
	.test_cases = patches_cases,
};

kunit_test_suite(patches_suite);

MODULE_DESCRIPTION("KUnit tests of the candidate changes to write faults on large folios");
MODULE_LICENSE("GPL");
