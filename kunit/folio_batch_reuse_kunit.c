// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the candidate change wp_reuse_batch: what one write fault makes writable of a
 * large anonymous folio that is this mm's alone, and all that it must leave alone. A kernel that
 * lacks the parameter skips them.
 */
#include <linux/kallsyms.h>

#include "../internal.h"
#include "folio_batch_patches.h"

#ifdef PATCHES_FIT

struct window {
	unsigned int order;
	const char *batch;
	unsigned int page;	/* that the store is to */
	unsigned int first;	/* of those that become writable */
	unsigned int last;
	unsigned int moved;	/* by so many pages off its natural alignment */
};

static const struct window windows[] = {
	{ 2, "off", 1, 1, 1 }, { 4, "off", 15, 15, 15 }, { 8, "off", 100, 100, 100 },
	{ 2, "16", 0, 0, 3 }, { 4, "16", 15, 0, 15 }, { 8, "16", 0, 0, 15 },
	{ 8, "16", 100, 96, 111 }, { 8, "16", 255, 240, 255 },
	{ 2, "folio", 3, 0, 3 }, { 4, "folio", 0, 0, 15 }, { 8, "folio", 0, 0, 255 },
	{ 8, "folio", 100, 0, 255 }, { 8, "folio", 255, 0, 255 },
	{ 9, "off", 300, 300, 300 }, { 9, "16", 300, 288, 303 },
	{ 9, "folio", 0, 0, 511 }, { 9, "folio", 300, 0, 511 },
	{ 4, "16", 12, 0, 12, 3 }, { 4, "16", 13, 13, 15, 3 },
	{ 8, "16", 14, 13, 28, 3 }, { 8, "16", 255, 253, 255, 3 },
	{ 8, "folio", 14, 0, 255, 3 },
};

static void window_desc(const struct window *w, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s, order %u, page %u%s", w->batch, w->order,
		 w->page, w->moved ? ", moved" : "");
}

KUNIT_ARRAY_PARAM(window, windows, window_desc);

/* A store to a folio that only this mm maps makes just the window writable. */
static void test_reuse_window(struct kunit *test)
{
	const struct window *w = test->param_value;
	struct live *l;

	knob_set(test, "wp_reuse_batch", w->batch);
	l = live_create(test, w->order);
	if (w->moved)
		live_mremap(l, l->addr + 2 * PMD_SIZE + w->moved * PAGE_SIZE);
	live_exit(l, live_fork(l));
	expect_all(l, l->mm, 'r', "parent");
	store(l, w->page, 252);
	expect_range(l, l->mm, 'r', w->first, w->last, 'w', "parent");
	expect_content_of(l, l->mm, w->page, 252);
	if (w->last - w->first > 1 && !w->moved)
		KUNIT_EXPECT_EQ(test, count_unfolded(l, l->mm), 0);
	expect_mapcount(l, l->folio, l->nr);
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

static void test_reuse_fault(struct kunit *test)
{
	const struct write_fault_case *c = test->param_value;

	knob_set(test, "wp_reuse_batch", "folio");
	check_write_fault(test, c, c->reused);
}

/* A folio to be reused as a whole, of whose four pages the odd ones are soft-dirty. */
static struct live *live_tracked(struct kunit *test)
{
	struct live *l;

	knob_set(test, "wp_reuse_batch", "folio");
	if (!pgtable_supports_soft_dirty())
		kunit_skip(test, "CONFIG_MEM_SOFT_DIRTY is off");
	l = live_create(test, 2);
	live_exit(l, live_fork(l));
	track_soft_dirty(l, "0101");
	return l;
}

static void test_reuse_soft_dirty(struct kunit *test)
{
	struct live *l = live_tracked(test);

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

static void test_reuse_odd(struct kunit *test)
{
	struct live *l;

	knob_set(test, "wp_reuse_batch", "folio");
	l = live_create(test, 4);
	live_exit(l, live_fork(l));
	check_odd(l, "wwwwwwwwwwwwwwww");
}

static const unsigned int block_orders[] = { 4, 8 };

KUNIT_ARRAY_PARAM(block_order, block_orders, order_desc);

/* Blocks that faults on single pages have unfolded fold when the folio is reused. */
static void test_reuse_folds(struct kunit *test)
{
	struct live *l;
	unsigned int i;

	knob_set(test, "wp_reuse_batch", "off");
	if (!IS_ENABLED(CONFIG_ARM64_CONTPTE))
		kunit_skip(test, "no contpte blocks without CONFIG_ARM64_CONTPTE");
	l = live_create(test, *(const unsigned int *)test->param_value);
	live_exit(l, live_fork(l));
	for (i = 5; i < l->nr; i += 16)
		store(l, i, content(i));
	live_exit(l, live_fork(l));
	expect_all(l, l->mm, 'r', "parent");
	KUNIT_ASSERT_EQ(test, count_unfolded(l, l->mm), l->nr);
	knob_set(test, "wp_reuse_batch", "folio");
	store(l, 5, content(5));
	expect_all(l, l->mm, 'w', "parent");
	KUNIT_EXPECT_EQ(test, count_unfolded(l, l->mm), 0);
	expect_content_of(l, l->mm, l->nr, 0);
}

typedef int (*reuse_worker)(struct vm_fault *vmf, struct folio *folio, unsigned int max_ptes);

/* The worker as a fault on @page calls it. What it returns is for a probe: nothing else sees it. */
static int call_reuse_worker(struct live *l, unsigned int page)
{
	reuse_worker worker = (reuse_worker)kallsyms_lookup_name("wp_reuse_folio");
	struct vm_fault vmf = {
		.vma = l->vma,
		.address = page_addr(l, page),
		.real_address = page_addr(l, page),
		.flags = FAULT_FLAG_WRITE,
		.pmd = mm_find_pmd(l->mm, page_addr(l, page)),
	};
	int nr;

	if (!worker)
		kunit_skip(l->test, "kallsyms knows no wp_reuse_folio()");
	mmap_read_lock(l->mm);
	vmf.pte = pte_offset_map_lock(l->mm, vmf.pmd, vmf.address, &vmf.ptl);
	vmf.orig_pte = ptep_get(vmf.pte);
	vmf.page = pte_page(vmf.orig_pte);
	SetPageAnonExclusive(vmf.page);
	nr = worker(&vmf, l->folio, PTRS_PER_PTE);
	pte_unmap_unlock(vmf.pte, vmf.ptl);
	mmap_read_unlock(l->mm);
	return nr;
}

static const void *returns_gen_params(struct kunit *test, const void *prev, char *desc)
{
	const struct write_fault_case *c = prev;

	do
		c = write_fault_gen_params(test, c, desc);
	while (c && !strcmp(c->reused, c->single));
	return c;
}

/* It returns how many PTEs the fault makes writable, in each case in which it reuses the folio. */
static void test_reuse_returns(struct kunit *test)
{
	const struct write_fault_case *c = test->param_value;
	unsigned int i, want = 0;
	vm_flags_t uffd;
	struct live *l;

	knob_set(test, "wp_reuse_batch", "folio");
	uffd = uffd_flags_of(test, c);
	l = live_create(test, 2);
	set_states(l, c->before);
	for (i = 0; i < l->nr; i++)
		want += c->before[i] != 'w' && c->reused[i] == 'w';
	live_vm_flags(l, uffd, 0);
	KUNIT_EXPECT_EQ(test, call_reuse_worker(l, c->page), want);
	expect_ptes(l, l->mm, c->reused, "after the call");
	live_vm_flags(l, 0, uffd);
}

/* The faulting PTE counts, too, where soft-dirty tracking leaves it to the caller. */
static void test_reuse_returns_soft_dirty(struct kunit *test)
{
	struct live *l = live_tracked(test);

	KUNIT_EXPECT_EQ(test, call_reuse_worker(l, 2), 3);
	expect_ptes(l, l->mm, "xwxw", "after the call");
}

static struct kunit_case patches_cases[] = {
	KUNIT_CASE_PARAM(test_reuse_window, window_gen_params),
	KUNIT_CASE(test_reuse_in_child),
	KUNIT_CASE_PARAM(test_reuse_fault, write_fault_gen_params),
	KUNIT_CASE(test_reuse_soft_dirty),
	KUNIT_CASE(test_reuse_two_vmas),
	KUNIT_CASE(test_reuse_two_tables),
	KUNIT_CASE_PARAM(test_reuse_odd, odd_gen_params),
	KUNIT_CASE_PARAM(test_reuse_folds, block_order_gen_params),
	KUNIT_CASE_PARAM(test_reuse_returns, returns_gen_params),
	KUNIT_CASE(test_reuse_returns_soft_dirty),
	{}
};

#endif

static struct kunit_suite patches_suite = {
	.name = "folio_batch_patches_reuse",
	.test_cases = patches_cases,
};

kunit_test_suite(patches_suite);

MODULE_DESCRIPTION("KUnit tests of write faults that reuse a large folio");
MODULE_LICENSE("GPL");
