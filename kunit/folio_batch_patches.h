/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the KUnit suites of the candidate changes in kunit/patches/ share: their knobs, soft-dirty
 * tracking, and PTEs that must be left alone. For files that include "../internal.h".
 */
#ifndef FOLIO_BATCH_PATCHES_H
#define FOLIO_BATCH_PATCHES_H

#include <kunit/resource.h>
#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/pgtable.h>
#include <linux/swapops.h>

#if defined(FPB_RESPECT_WRITE) && defined(CONFIG_TRANSPARENT_HUGEPAGE)
#define PATCHES_FIT	1

#include "../page_alloc.h"
#include "folio_batch_live.h"

/* Knobs: boot parameters, set as a write to /sys/module/kernel/parameters would. */

struct knob {
	const struct kernel_param *param;
	char *before;		/* a page, as getters want it */
};

static inline void knob_write(const struct kernel_param *param, const char *value)
{
	kernel_param_lock(THIS_MODULE);
	WARN_ON(param->ops->set(value, param));
	kernel_param_unlock(THIS_MODULE);
}

static inline void knob_restore(void *data)
{
	struct knob *knob = data;

	knob_write(knob->param, knob->before);
	free_page((unsigned long)knob->before);
}

static inline const struct kernel_param *knob_find(const char *name)
{
	const struct kernel_param *param;

	for (param = __start___param; param < __stop___param; param++) {
		if (!strcmp(param->name, name))
			return param;
	}
	return NULL;
}

/* Sets @param until the test ends. */
static inline void knob_set_param(struct kunit *test, const struct kernel_param *param,
				  const char *value)
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
static inline void knob_set(struct kunit *test, const char *name, const char *value)
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

/* How many PTEs of the contpte blocks that the folio fills are not folded; 0 without contpte. */
static inline unsigned int count_unfolded(struct live *l, struct mm_struct *mm)
{
	unsigned int unfolded = 0;
#ifdef CONFIG_ARM64_CONTPTE
	unsigned int i;
	pte_t *ptep;

	for (i = 0; i < l->nr && l->nr >= CONT_PTES; i++) {
		ptep = live_lock(l, mm, i);
		unfolded += !pte_valid_cont(__ptep_get(ptep));
		live_unlock(l, ptep);
	}
#endif
	return unfolded;
}

/* All references are those of the mappings. */
static inline void expect_mapcount(struct live *l, struct folio *folio, unsigned int mapcount)
{
	lru_add_drain();
	KUNIT_EXPECT_EQ(l->test, folio_mapcount(folio), mapcount);
	KUNIT_EXPECT_EQ(l->test, folio_ref_count(folio), mapcount);
}

static inline struct folio *live_folio(struct live *l, struct mm_struct *mm)
{
	return page_folio(pte_page(live_pte(l, mm, 0)));
}

static inline void order_desc(const unsigned int *order, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "order %u", *order);
}

/* Turns on soft-dirty tracking of the VMA, where only the pages with a '1' are soft-dirty. */
static inline void track_soft_dirty(struct live *l, const char *dirty)
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

static inline void expect_soft_dirty(struct live *l, const char *want)
{
	char is[LIVE_PAGES + 1];
	unsigned int i;

	for (i = 0; i < l->nr; i++)
		is[i] = pte_soft_dirty(live_pte(l, l->mm, i)) ? '1' : '0';
	is[i] = '\0';
	KUNIT_EXPECT_STREQ(l->test, is, want);
}

/* What may stand in the place of one of the folio's PTEs. */

struct odd {
	const char *name;
	void (*put)(struct live *l, unsigned int page);
	unsigned int page;
	char state;
};

static void change_pte(struct live *l, unsigned int page, pte_t pte)
{
	pte_t *ptep = live_lock(l, l->mm, page);

	ptep_clear_flush(l->vma, page_addr(l, page), ptep);
	set_pte_at(l->mm, page_addr(l, page), ptep, pte);
	live_unlock(l, ptep);
}

static void put_guard(struct live *l, unsigned int page)
{
	KUNIT_ASSERT_EQ(l->test, do_madvise(l->mm, page_addr(l, page), PAGE_SIZE,
					    MADV_GUARD_INSTALL), 0);
}

/* A swap entry that pte_pfn(), which must not be asked, takes for this page of the folio. */
static void put_swap(struct live *l, unsigned int page)
{
	unsigned long pfn = page_to_pfn(folio_page(l->folio, page));
	unsigned int shift = 0;
	pte_t pte;

	do
		pte = swp_entry_to_pte(swp_entry(0, pfn << shift));
	while (pte_pfn(pte) != pfn && ++shift < PAGE_SHIFT);
	KUNIT_ASSERT_EQ(l->test, pte_pfn(pte), pfn);
	set_state(l, page, '.');
	change_pte(l, page, pte);
}

static void put_foreign(struct live *l, unsigned int page)
{
	pte_t pte;

	set_state(l, page, '.');
	store(l, page, content(page));
	pte = live_pte(l, l->mm, page);
	ClearPageAnonExclusive(pte_page(pte));
	change_pte(l, page, pte_wrprotect(pte));
}

/* Of a VMA that userfaultfd does not, or no longer, watch. */
static void put_uffd(struct live *l, unsigned int page)
{
	if (!pgtable_supports_uffd())
		kunit_skip(l->test, "this architecture or configuration has no uffd-wp");
	set_state(l, page, 'u');
}

static const struct odd odds[] = {
	{ "guard marker", put_guard, 9, '?' },
	{ "guard marker, first page", put_guard, 0, '?' },
	{ "swap entry", put_swap, 9, '?' },
	{ "swap entry, first page", put_swap, 0, '?' },
	{ "another folio's page", put_foreign, 9, '?' },
	{ "another folio's page, first page", put_foreign, 0, '?' },
	{ "uffd-wp bit", put_uffd, 9, 'u' },
	{ "uffd-wp bit, first page", put_uffd, 0, 'u' },
};

KUNIT_ARRAY_PARAM_DESC(odd, odds, name);

/* A store to page 5 of an order-4 folio with an odd PTE: @want, but the odd one is left alone. */
static inline void check_odd(struct live *l, const char *want)
{
	const struct odd *odd = l->test->param_value;
	char ptes[] = "0123456789abcdef";
	struct page *foreign = NULL;
	pte_t pte;

	odd->put(l, odd->page);
	pte = live_pte(l, l->mm, odd->page);
	if (pte_present(pte) && page_folio(pte_page(pte)) != l->folio)
		foreign = pte_page(pte);
	store(l, 5, 252);
	strscpy(ptes, want);
	ptes[odd->page] = odd->state;
	expect_ptes(l, l->mm, ptes, "parent");
	KUNIT_EXPECT_TRUE(l->test, pte_same(live_pte(l, l->mm, odd->page), pte));
	KUNIT_EXPECT_FALSE(l->test, foreign && PageAnonExclusive(foreign));
	KUNIT_EXPECT_EQ(l->test, load(l, 5), 252);
	if (!pte_present(pte))
		change_pte(l, odd->page, __pte(0));
}

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

#endif /* FOLIO_BATCH_PATCHES_H */
