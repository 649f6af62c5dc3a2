/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An anonymous folio in a live mm: how the KUnit cases about batches of PTEs make it, fork and move
 * it, and read the state of its PTEs. For files that include "../internal.h", on 7.3
 * "../page_alloc.h", and kunit/test.h.
 */
#ifndef FOLIO_BATCH_LIVE_H
#define FOLIO_BATCH_LIVE_H

#include <kunit/resource.h>
#include <linux/highmem.h>
#include <linux/khugepaged.h>
#include <linux/mm.h>
#include <linux/mm_inline.h>
#include <linux/mman.h>
#include <linux/sched/mm.h>
#include <linux/uaccess.h>
#include <linux/userfaultfd_k.h>

#include <asm/syscall.h>
#include <asm/unistd.h>

#include "batch_cases.h"

#define LIVE_SIZE	(5 * PMD_SIZE)
#define LIVE_PAGES	PTRS_PER_PTE	/* of the largest folio */

struct live {
	struct kunit *test;
	struct mm_struct *mm;
	struct vm_area_struct *vma;
	unsigned long addr;	/* of the folio's page 0, at first the start of a page table */
	unsigned int nr;	/* of pages of the folio */
	struct folio *folio;
	spinlock_t *ptl;	/* of the PTE that live_lock() has returned */
	char ptes[LIVE_PAGES + 1];	/* as last read */
};

#ifdef CONFIG_TRANSPARENT_HUGEPAGE
struct thp_settings {
	unsigned long flags;
	unsigned long always;
	unsigned long madvise;
	unsigned long inherit;
};

static inline void thp_set(const struct thp_settings *to)
{
	WRITE_ONCE(transparent_hugepage_flags, to->flags);
	WRITE_ONCE(huge_anon_orders_always, to->always);
	WRITE_ONCE(huge_anon_orders_madvise, to->madvise);
	WRITE_ONCE(huge_anon_orders_inherit, to->inherit);
}

static inline void thp_restore(void *before)
{
	thp_set(before);
	start_stop_khugepaged();
}

/*
 * Lets anonymous faults allocate folios of @order and no others until the test ends; khugepaged,
 * which might collapse what PTEs map, does not run in the meantime.
 */
static inline void allow_anon_order(struct kunit *test, unsigned int order)
{
	struct thp_settings *before = kunit_kzalloc(test, sizeof(*before), GFP_KERNEL);
	struct thp_settings to = { };

	if (order == PMD_ORDER && !has_transparent_hugepage())
		kunit_skip(test, "this machine has no huge pages");
	KUNIT_ASSERT_NOT_NULL(test, before);
	before->flags = READ_ONCE(transparent_hugepage_flags);
	before->always = READ_ONCE(huge_anon_orders_always);
	before->madvise = READ_ONCE(huge_anon_orders_madvise);
	before->inherit = READ_ONCE(huge_anon_orders_inherit);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, thp_restore, before), 0);
	to.flags = before->flags & ~(BIT(TRANSPARENT_HUGEPAGE_FLAG) |
				     BIT(TRANSPARENT_HUGEPAGE_REQ_MADV_FLAG));
	thp_set(&to);
	start_stop_khugepaged();
	to.always = order ? BIT(order) : 0;
	thp_set(&to);
}
#else
static inline void allow_anon_order(struct kunit *test, unsigned int order)
{
	if (order)
		kunit_skip(test, "CONFIG_TRANSPARENT_HUGEPAGE is off: no large anonymous folios");
}
#endif

static inline unsigned long page_addr(struct live *l, unsigned int page)
{
	return l->addr + page * PAGE_SIZE;
}

static inline pte_t *live_lock(struct live *l, struct mm_struct *mm, unsigned int page)
{
	pmd_t *pmd = mm_find_pmd(mm, page_addr(l, page));

	if (!pmd)
		return NULL;
	return pte_offset_map_lock(mm, pmd, page_addr(l, page), &l->ptl);
}

static inline void live_unlock(struct live *l, pte_t *ptep)
{
	pte_unmap_unlock(ptep, l->ptl);
}

static inline pte_t live_pte(struct live *l, struct mm_struct *mm, unsigned int page)
{
	pte_t *ptep = live_lock(l, mm, page);
	pte_t pte = ptep ? ptep_get(ptep) : __pte(0);

	if (ptep)
		live_unlock(l, ptep);
	return pte;
}

static inline void store(struct live *l, unsigned int page, u8 value)
{
	KUNIT_ASSERT_EQ(l->test, copy_to_user((void __user *)page_addr(l, page), &value, 1), 0);
}

static inline u8 load(struct live *l, unsigned int page)
{
	u8 value = 0;

	KUNIT_ASSERT_EQ(l->test, copy_from_user(&value, (void __user *)page_addr(l, page), 1), 0);
	return value;
}

/* By an mm that is not the test's own, or with FOLL_FORCE. */
static inline void store_remote(struct live *l, struct mm_struct *mm, unsigned int page, u8 value,
				unsigned int gup_flags)
{
	KUNIT_ASSERT_EQ(l->test, access_remote_vm(mm, page_addr(l, page), &value, 1,
						  FOLL_WRITE | gup_flags), 1);
}

/* Each page holds a byte of its own. */
static inline u8 content(unsigned int page)
{
	return 1 + page % 251;
}

/* All pages of @mm but @odd hold their own byte; @odd, if it is one of them, holds @value. */
static inline void expect_content_of(struct live *l, struct mm_struct *mm, unsigned int odd,
				     u8 value)
{
	unsigned int i, wrong = 0;

	for (i = 0; i < l->nr; i++) {
		u8 is = 0;

		if (access_remote_vm(mm, page_addr(l, i), &is, 1, 0) != 1)
			wrong++;
		else
			wrong += is != (i == odd ? value : content(i));
	}
	KUNIT_EXPECT_EQ_MSG(l->test, wrong, 0, "pages with the wrong content in the %s",
			    mm == l->mm ? "parent" : "child");
}

/*
 * The state of a PTE as a character: one of batch_cases.h, or
 *
 *	?	anything else that is not of the folio
 *	!	what must never be: out of order, or writable where that is forbidden
 */
static inline char pte_state(struct live *l, struct mm_struct *mm, unsigned int page)
{
	pte_t pte = live_pte(l, mm, page);
	struct folio *folio;
	struct page *mapped;
	bool exclusive;

	if (pte_none(pte))
		return '.';
	if (!pte_present(pte))
		return '?';
	mapped = pte_page(pte);
	folio = page_folio(mapped);
	exclusive = PageAnon(mapped) && PageAnonExclusive(mapped);
	if (folio != l->folio) {
		if (!exclusive)
			return '?';
		if (!folio_test_large(folio))
			return pte_write(pte) ? 'c' : 'e';
		return folio_nr_pages(folio) == l->nr && mapped == folio_page(folio, page) &&
		       pte_write(pte) ? 'C' : '?';
	}
	if (mapped != folio_page(folio, page))
		return '!';
	if (pte_protnone(pte))
		return pte_write(pte) ? '!' : pte_uffd(pte) ? 'p' : 'n';
	if (pte_uffd(pte))
		return pte_write(pte) ? '!' : 'u';
	if (pte_write(pte))
		return exclusive ? 'w' : '!';
	return exclusive ? 'x' : 'r';
}

static inline void expect_ptes(struct live *l, struct mm_struct *mm, const char *want,
			       const char *what)
{
	unsigned int i;

	for (i = 0; want[i]; i++)
		l->ptes[i] = pte_state(l, mm, i);
	l->ptes[i] = '\0';
	KUNIT_EXPECT_STREQ_MSG(l->test, l->ptes, want, "%s", what);
}

/* Pages @first to @last are @some, all others are @common. */
static inline void expect_range(struct live *l, struct mm_struct *mm, char common,
				unsigned int first, unsigned int last, char some, const char *what)
{
	char want[LIVE_PAGES + 1] = { };

	memset(want, common, l->nr);
	memset(want + first, some, last - first + 1);
	expect_ptes(l, mm, want, what);
}

static inline void expect_all_but(struct live *l, struct mm_struct *mm, char common,
				  unsigned int odd_page, char odd, const char *what)
{
	expect_range(l, mm, common, odd_page, odd_page, odd, what);
}

static inline void expect_all(struct live *l, struct mm_struct *mm, char common, const char *what)
{
	expect_range(l, mm, common, 0, 0, common, what);
}

/* Sets the PTE of a page of the folio, and the page, to what batch_cases.h calls @state. */
static inline void set_state(struct live *l, unsigned int page, char state)
{
	struct page *mapped = folio_page(l->folio, page);
	unsigned long addr = page_addr(l, page);
	pte_t pte, *ptep;

	if (state == '.') {
		KUNIT_ASSERT_EQ(l->test, do_madvise(l->mm, addr, PAGE_SIZE, MADV_DONTNEED), 0);
		return;
	}
	ptep = live_lock(l, l->mm, page);
	KUNIT_ASSERT_NOT_NULL(l->test, ptep);
	pte = ptep_clear_flush(l->vma, addr, ptep);
	switch (state) {
	case 'x':
		SetPageAnonExclusive(mapped);
		pte = pte_wrprotect(pte);
		break;
	case 'r':
		ClearPageAnonExclusive(mapped);
		pte = pte_wrprotect(pte);
		break;
	case 'n':
		pte = pte_modify(pte, vm_get_page_prot(VM_NONE));
		break;
	case 'u':
		pte = pte_mkuffd(pte_wrprotect(pte));
		break;
	case 'p':
		pte = pte_mkuffd(pte_modify(pte, vm_get_page_prot(VM_NONE)));
		break;
	}
	set_pte_at(l->mm, addr, ptep, pte);
	live_unlock(l, ptep);
}

/* Sets those PTEs that are in another state. */
static inline void set_states(struct live *l, const char *states)
{
	unsigned int i;

	for (i = 0; i < l->nr; i++) {
		if (states[i] != pte_state(l, l->mm, i))
			set_state(l, i, states[i]);
	}
	expect_ptes(l, l->mm, states, "as set");
}

/* Maps an area for a folio of @order and stores to its middle page, which brings all of it in. */
static inline struct live *live_map(struct kunit *test, unsigned int order)
{
	struct live *l = kunit_kzalloc(test, sizeof(*l), GFP_KERNEL);
	unsigned long addr;

	KUNIT_ASSERT_NOT_NULL(test, l);
	allow_anon_order(test, order);
	addr = kunit_vm_mmap(test, NULL, 0, LIVE_SIZE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, 0);
	KUNIT_ASSERT_NE_MSG(test, addr, 0, "no mm to map into");
	KUNIT_ASSERT_FALSE_MSG(test, IS_ERR_VALUE(addr), "mmap: %ld", (long)addr);
	l->test = test;
	l->mm = current->mm;
	l->addr = ALIGN(addr, PMD_SIZE);
	l->vma = vma_lookup(l->mm, l->addr);
	l->nr = 1 << order;
	store(l, l->nr / 2, content(l->nr / 2));
	return l;
}

/* A folio of @order that PTEs map, writable and exclusive, and whose pages hold their content. */
static inline struct live *live_create(struct kunit *test, unsigned int order)
{
	struct live *l = live_map(test, order);
	unsigned int i;
	pte_t pte;

	if (order == PMD_ORDER) {
		mmap_read_lock(l->mm);
		split_huge_pmd(l->vma, pmd_off(l->mm, l->addr), l->addr);
		mmap_read_unlock(l->mm);
	}
	pte = live_pte(l, l->mm, 0);
	KUNIT_ASSERT_TRUE(test, pte_present(pte));
	l->folio = page_folio(pte_page(pte));
	KUNIT_ASSERT_EQ(test, folio_order(l->folio), order);
	expect_all(l, l->mm, 'w', "populated");
	for (i = 0; i < l->nr; i++) {
		KUNIT_ASSERT_EQ(test, load(l, i), i == l->nr / 2 ? content(i) : 0);
		store(l, i, content(i));
	}
	lru_add_drain();
	return l;
}

KUNIT_DEFINE_ACTION_WRAPPER(mmput_action, mmput, struct mm_struct *);

/* What fork does with the address space. */
static inline struct mm_struct *live_fork(struct live *l)
{
	struct mm_struct *child = mm_alloc();

	KUNIT_ASSERT_NOT_NULL(l->test, child);
	KUNIT_ASSERT_EQ(l->test, kunit_add_action_or_reset(l->test, mmput_action, child), 0);
	KUNIT_ASSERT_EQ(l->test, dup_mmap(child, l->mm), 0);
	return child;
}

static inline void live_exit(struct live *l, struct mm_struct *child)
{
	kunit_release_action(l->test, mmput_action, child);
}

static inline void live_vm_flags(struct live *l, vm_flags_t set, vm_flags_t clear)
{
	mmap_write_lock(l->mm);
	vm_flags_mod(l->vma, set, clear);
	mmap_write_unlock(l->mm);
}

/* A fault with FAULT_FLAG_* @flags on a page. */
static inline void live_fault(struct live *l, unsigned int page, unsigned int flags)
{
	struct vm_area_struct *vma;
	vm_fault_t ret;

	mmap_read_lock(l->mm);
	vma = vma_lookup(l->mm, page_addr(l, page));
	ret = handle_mm_fault(vma, page_addr(l, page), flags, NULL);
	mmap_read_unlock(l->mm);
	KUNIT_ASSERT_FALSE(l->test, ret & (VM_FAULT_ERROR | VM_FAULT_RETRY));
}

/* System calls that have no other entry; UML, which has no large folios, does not need them. */
static inline long live_syscall(unsigned int nr, unsigned long a, unsigned long b, unsigned long c,
				unsigned long d, unsigned long e)
{
#if defined(CONFIG_ARM64)
	struct pt_regs regs = { .regs = { a, b, c, d, e }, .orig_x0 = a };

	return sys_call_table[nr](&regs);
#elif defined(CONFIG_X86_64) && !defined(CONFIG_UML)
	struct pt_regs regs = { .di = a, .si = b, .dx = c, .r10 = d, .r8 = e };

	return sys_call_table[nr](&regs);
#else
	return -EOPNOTSUPP;
#endif
}

/* Moves the folio's PTEs, and l->addr with them. */
static inline void live_mremap(struct live *l, unsigned long to)
{
	unsigned long size = l->nr * PAGE_SIZE;

	KUNIT_ASSERT_EQ(l->test, live_syscall(__NR_mremap, l->addr, size, size,
					      MREMAP_MAYMOVE | MREMAP_FIXED, to), to);
	l->addr = to;
	l->vma = vma_lookup(l->mm, to);
}

static inline unsigned long count_free_pages(void)
{
	unsigned long free = 0;
	struct zone *zone;

	lru_add_drain_all();
	rcu_barrier();
	drain_all_pages(NULL);
	for_each_populated_zone(zone)
		free += zone_page_state_snapshot(zone, NR_FREE_PAGES);
	return free;
}

/* Lives that leak one page each cost more than a page each; the noise of allocators does not. */
static inline void expect_no_leak(struct kunit *test, void (*life)(struct kunit *test))
{
	unsigned int nr_lives = 256, i;
	long lost;

	if (IS_ENABLED(CONFIG_KASAN_GENERIC))
		kunit_skip(test, "CONFIG_KASAN_GENERIC: freed memory stays in quarantine");
	for (i = 0; i < nr_lives / 4; i++)
		life(test);
	lost = count_free_pages();
	for (i = 0; i < nr_lives; i++)
		life(test);
	lost -= count_free_pages();
	kunit_info(test, "%u lives, %ld pages less are free", nr_lives, lost);
	KUNIT_EXPECT_LT(test, lost, nr_lives);
}

/* The VMA's flags that the states of @c need; skips where this kernel has no such states. */
static inline vm_flags_t uffd_flags_of(struct kunit *test, const struct write_fault_case *c)
{
	if (strchr(c->before, 'n') && !IS_ENABLED(CONFIG_NUMA_BALANCING))
		kunit_skip(test, "CONFIG_NUMA_BALANCING is off");
	if (strchr(c->before, 'u') && !pgtable_supports_uffd())
		kunit_skip(test, "this architecture or configuration has no uffd-wp");
	if (strchr(c->before, 'p') && !VM_UFFD_RWP)
		kunit_skip(test, "this kernel or configuration has no UFFD_RWP");
	return strchr(c->before, 'u') ? VM_UFFD_WP : strchr(c->before, 'p') ? VM_UFFD_RWP : 0;
}

KUNIT_ARRAY_PARAM_DESC(write_fault, write_fault_cases, name);

/* One case of batch_cases.h: its states, its fault, and the states that it must leave, @want. */
static inline void check_write_fault(struct kunit *test, const struct write_fault_case *c,
				     const char *want)
{
	const vm_flags_t set = uffd_flags_of(test, c);
	const vm_flags_t clear = c->kind == FAULT_FORCE ? VM_WRITE : 0;
	struct live *l = live_create(test, 2);
	struct mm_struct *child = NULL;

	if (c->users == USED_BY_CHILD)
		child = live_fork(l);
	set_states(l, c->before);
	if (c->users == USED_BY_KERNEL)
		folio_get(l->folio);
	live_vm_flags(l, set, clear);

	switch (c->kind) {
	case FAULT_STORE:
		store(l, c->page, 252);
		break;
	case FAULT_FORCE:
		store_remote(l, l->mm, c->page, 252, FOLL_FORCE);
		break;
	case FAULT_UNSHARE:
		live_fault(l, c->page, FAULT_FLAG_UNSHARE);
		break;
	}
	expect_ptes(l, l->mm, want, "after the fault");
	if (!strpbrk(c->before, ".np"))
		expect_content_of(l, l->mm, c->kind == FAULT_UNSHARE ? l->nr : c->page, 252);
	if (child) {
		const char *x = strchr(c->before, 'x');
		unsigned int odd = x ? x - c->before : 0;

		expect_all_but(l, child, 'r', odd, x ? 'x' : 'r', "child after the fault");
		expect_content_of(l, child, l->nr, 0);
	}
	live_vm_flags(l, clear, set);
	if (c->users == USED_BY_KERNEL)
		folio_put(l->folio);
}

#endif /* FOLIO_BATCH_LIVE_H */
