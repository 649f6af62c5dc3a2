// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the helpers that work on a batch of PTEs: consecutive page table entries that map
 * consecutive pages of one folio. (Not about struct folio_batch, which is a small array of folios.)
 *
 * The synthetic cases fill a page table of an mm that never runs, call one helper on some of its
 * PTEs, and compare all PTEs of the table, and what the helper returned, with a model that is
 * worked out PTE by PTE. The other cases fork, write-protect, write and unmap in a live mm.
 */
#include <kunit/resource.h>
#include <kunit/test.h>
#include <kunit/test-bug.h>
#include <linux/delay.h>
#include <linux/file.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/mm_inline.h>
#include <linux/mmu_notifier.h>
#include <linux/moduleparam.h>
#include <linux/mount.h>
#include <linux/pgalloc.h>
#include <linux/pgtable.h>
#include <linux/prandom.h>
#include <linux/random.h>
#include <linux/rmap.h>
#include <linux/sched/mm.h>
#include <linux/shmem_fs.h>
#include <linux/sizes.h>
#include <linux/swapops.h>
#include <linux/timekeeping.h>
#include <linux/userfaultfd_k.h>

#include "../internal.h"

/*
 * What differs between kernels, checked on 6.12 and 7.3; the code below speaks 7.3. A helper that a
 * kernel does not have is a NULL pointer in its row and a skip that names it.
 */
#ifdef FPB_RESPECT_WRITE
#include "../page_alloc.h"
#define KERNEL_IS_7_3			1
#define NO_VMA_FLAGS			EMPTY_VMA_FLAGS
#define FPB_SUPPORTED			((__force fpb_t)~0)
#define dup_file_rmap			folio_dup_file_rmap_ptes
#define try_dup_anon_rmap		folio_try_dup_anon_rmap_ptes
#else
#define KERNEL_IS_7_3			0
#define NO_VMA_FLAGS			0
#define pte_uffd(pte)			pte_uffd_wp(pte)
#define pte_mkuffd(pte)			pte_mkuffd_wp(pte)
#define pte_swp_mkuffd(pte)		pte_swp_mkuffd_wp(pte)
#define pgtable_supports_uffd()		IS_ENABLED(CONFIG_HAVE_ARCH_USERFAULTFD_WP)
#define pgtable_supports_soft_dirty()	IS_ENABLED(CONFIG_MEM_SOFT_DIRTY)
#define FPB_RESPECT_DIRTY		((__force fpb_t)BIT(0))
#define FPB_RESPECT_SOFT_DIRTY		((__force fpb_t)BIT(1))
#define FPB_RESPECT_WRITE		((__force fpb_t)BIT(2))
#define FPB_MERGE_WRITE			((__force fpb_t)BIT(3))
#define FPB_MERGE_YOUNG_DIRTY		((__force fpb_t)BIT(4))
#define FPB_SUPPORTED			((__force fpb_t)~BIT(2))
#define clear_nonpresent_ptes(mm, addr, ptep, nr) clear_not_present_full_ptes(mm, addr, ptep, nr, 0)
#define VM_UFFD_RWP			0
#define mm_flags_set(flag, mm)		set_bit(flag, &(mm)->flags)

static void dup_file_rmap(struct folio *folio, struct page *page, int nr,
			  struct vm_area_struct *dst)
{
	folio_dup_file_rmap_ptes(folio, page, nr);
}

static int try_dup_anon_rmap(struct folio *folio, struct page *page, int nr,
			     struct vm_area_struct *dst, struct vm_area_struct *src)
{
	return folio_try_dup_anon_rmap_ptes(folio, page, nr, src);
}

/* In 6.12 dup_mmap() is private to fork: copy the VMAs as it does. */
static int dup_vma(struct mm_struct *child, struct vm_area_struct *vma)
{
	struct vm_area_struct *copy;
	int err;

	vma_start_write(vma);
	copy = vm_area_dup(vma);
	if (!copy)
		return -ENOMEM;
	copy->vm_mm = child;
	copy->anon_vma = NULL;
	vma_start_write(copy);
	err = insert_vm_struct(child, copy);
	copy->vm_pgoff = vma->vm_pgoff;		/* of a VMA that has been moved, too */
	if (err) {
		vm_area_free(copy);
		return err;
	}
	if (copy->vm_file)
		get_file(copy->vm_file);
	err = anon_vma_fork(copy, vma);
	return err ?: copy_page_range(copy, vma);
}

static int dup_mmap(struct mm_struct *child, struct mm_struct *parent)
{
	VMA_ITERATOR(vmi, parent, 0);
	struct vm_area_struct *vma;
	int err = 0;

	mmap_write_lock(parent);
	mmap_write_lock_nested(child, SINGLE_DEPTH_NESTING);
	for_each_vma(vmi, vma)
		err = err ?: dup_vma(child, vma);
	mmap_write_unlock(child);
	flush_tlb_mm(parent);
	mmap_write_unlock(parent);
	return err;
}

/* 6.12 named the bits to ignore, always ignored write, and left the merging to its callers. */
static unsigned int folio_pte_batch_flags(struct folio *folio, struct vm_area_struct *vma,
					  pte_t *ptep, pte_t *ptentp, unsigned int max_nr,
					  fpb_t flags)
{
	bool any_writable, any_young, any_dirty;
	fpb_t ignore = 0;
	unsigned int nr;

	if (!(flags & FPB_RESPECT_DIRTY))
		ignore |= FPB_IGNORE_DIRTY;
	if (!(flags & FPB_RESPECT_SOFT_DIRTY))
		ignore |= FPB_IGNORE_SOFT_DIRTY;
	nr = folio_pte_batch(folio, 0, ptep, *ptentp, max_nr, ignore,
			     &any_writable, &any_young, &any_dirty);
	if ((flags & FPB_MERGE_WRITE) && any_writable)
		*ptentp = pte_mkwrite(*ptentp, vma);
	if ((flags & FPB_MERGE_YOUNG_DIRTY) && any_young)
		*ptentp = pte_mkyoung(*ptentp);
	if ((flags & FPB_MERGE_YOUNG_DIRTY) && any_dirty)
		*ptentp = pte_mkdirty(*ptentp);
	return nr;
}
#endif

#include "folio_batch_live.h"

static unsigned long seed = 1;
module_param(seed, ulong, 0444);
MODULE_PARM_DESC(seed, "seed of the property tests; 0 draws one");

static bool batched_reuse;
module_param(batched_reuse, bool, 0444);
MODULE_PARM_DESC(batched_reuse, "a write fault that reuses a folio is to resolve all of its PTEs");

/* A table under test: one page of PTEs in an mm of its own. */

#define TABLE_START	SZ_1G	/* what its first PTE maps; any PMD-aligned address would do */
#define TABLE_FOLIOS	80

/* What the PTE of a mapped page looks like; all clear is read-only, old and clean. */
#define BIT_WRITE	BIT(0)
#define BIT_YOUNG	BIT(1)
#define BIT_DIRTY	BIT(2)
#define BIT_SOFT_DIRTY	BIT(3)
#define BIT_UFFD	BIT(4)
#define BIT_PROTNONE	BIT(5)

struct table {
	struct kunit *test;
	struct mm_struct *mm;
	struct vm_area_struct *vma;
	pmd_t *pmd;
	spinlock_t *ptl;	/* not NULL while the test holds it */
	struct folio *folios[TABLE_FOLIOS];
	unsigned int nr_folios;
	pte_t before[PTRS_PER_PTE];
	pte_t want[PTRS_PER_PTE];
	pte_t after[PTRS_PER_PTE];
};

static unsigned long slot_addr(unsigned int slot)
{
	return TABLE_START + slot * PAGE_SIZE;
}

/* Maps and locks the table, as the callers of the helpers do; returns the PTE of @slot. */
static pte_t *table_lock(struct table *t, unsigned int slot)
{
	return pte_offset_map_lock(t->mm, t->pmd, slot_addr(slot), &t->ptl);
}

static void table_unlock(struct table *t, pte_t *ptep)
{
	pte_unmap_unlock(ptep, t->ptl);
	t->ptl = NULL;
}

/* Whether arm64 has folded @ptep into a contpte block. */
static bool pte_is_folded(pte_t *ptep)
{
#ifdef CONFIG_ARM64_CONTPTE
	return pte_valid_cont(__ptep_get(ptep));
#else
	return false;
#endif
}

/* Without the bits in which an architecture keeps what is of no concern to the generic code. */
static pte_t plain_pte(pte_t pte)
{
#ifdef CONFIG_ARM64_CONTPTE
	if (pte_valid_cont(pte))
		pte = pte_mknoncont(pte);
#endif
#ifdef CONFIG_UML
	pte = pte_mkuptodate(pte);
#endif
	return pte;
}

static bool pte_alike(pte_t a, pte_t b)
{
	return pte_same(plain_pte(a), plain_pte(b));
}

static void table_read(struct table *t, pte_t ptes[PTRS_PER_PTE])
{
	pte_t *ptep = table_lock(t, 0);
	unsigned int i;

	for (i = 0; i < PTRS_PER_PTE; i++)
		ptes[i] = plain_pte(ptep_get(ptep + i));
	table_unlock(t, ptep);
}

/* Sets @nr PTEs one by one, none of them by a batched helper. */
static void table_set_all(struct table *t, unsigned int slot, const pte_t *ptes, unsigned int nr)
{
	pte_t *ptep = table_lock(t, slot);
	unsigned int i;

	for (i = 0; i < nr; i++)
		set_pte_at(t->mm, slot_addr(slot + i), ptep + i, ptes[i]);
	table_unlock(t, ptep);
}

/* Fills the empty table with t->want. */
static void table_set_filled(struct table *t)
{
	unsigned int i, nr;

	for (i = 0; i < PTRS_PER_PTE; i += nr) {
		nr = 0;
		while (i + nr < PTRS_PER_PTE && !pte_none(t->want[i + nr]))
			nr++;
		table_set_all(t, i, &t->want[i], nr);
		nr = nr ?: 1;
	}
}

static void table_set(struct table *t, unsigned int slot, pte_t pte)
{
	table_set_all(t, slot, &pte, 1);
}

static void table_clear(struct table *t)
{
	pte_t *ptep = table_lock(t, 0);
	unsigned int i;

	for (i = 0; i < PTRS_PER_PTE; i++) {
		pte_t pte = ptep_get(ptep + i);

		if (pte_present(pte))
			ptep_get_and_clear(t->mm, slot_addr(i), ptep + i);
		else if (!pte_none(pte))
			pte_clear(t->mm, slot_addr(i), ptep + i);
	}
	table_unlock(t, ptep);
}

static void table_free(void *data)
{
	struct table *t = data;

	/* A helper has crashed under the lock: better to leak the table than to wait for ever. */
	if (t->ptl)
		return;
	if (t->pmd)
		table_clear(t);
	while (t->nr_folios)
		folio_put(t->folios[--t->nr_folios]);
	mmput(t->mm);
}

static pmd_t *alloc_table(struct mm_struct *mm, unsigned long addr)
{
	p4d_t *p4d = p4d_alloc(mm, pgd_offset(mm, addr), addr);
	pud_t *pud = p4d ? pud_alloc(mm, p4d, addr) : NULL;
	pmd_t *pmd = pud ? pmd_alloc(mm, pud, addr) : NULL;

	return pmd && !pte_alloc(mm, pmd) ? pmd : NULL;
}

/* An empty table in a new mm, under one private writable VMA; freed when the test ends. */
static struct table *table_create(struct kunit *test)
{
	struct table *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	int err;

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->test = test;
	t->mm = mm_alloc();
	KUNIT_ASSERT_NOT_NULL(test, t->mm);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, table_free, t), 0);

	t->vma = vm_area_alloc(t->mm);
	KUNIT_ASSERT_NOT_NULL(test, t->vma);
	t->vma->vm_start = TABLE_START;
	t->vma->vm_end = TABLE_START + PMD_SIZE;
	vma_set_anonymous(t->vma);
	vm_flags_init(t->vma, VM_READ | VM_WRITE | VM_MAYREAD | VM_MAYWRITE | VM_MAYEXEC);
	t->vma->vm_page_prot = vm_get_page_prot(t->vma->vm_flags);
	mmap_write_lock(t->mm);
	err = insert_vm_struct(t->mm, t->vma);
	mmap_write_unlock(t->mm);
	if (err)
		vm_area_free(t->vma);
	KUNIT_ASSERT_EQ(test, err, 0);

	t->pmd = alloc_table(t->mm, TABLE_START);
	KUNIT_ASSERT_NOT_NULL(test, t->pmd);
	return t;
}

/* A folio that lives until the table is freed. */
static struct folio *table_folio(struct table *t, unsigned int order)
{
	struct folio *folio;

	KUNIT_ASSERT_LT(t->test, t->nr_folios, TABLE_FOLIOS);
	folio = folio_alloc(GFP_KERNEL, order);
	KUNIT_ASSERT_NOT_NULL(t->test, folio);
	t->folios[t->nr_folios++] = folio;
	return folio;
}

/* Two folios of @order that are the halves of one naturally aligned block of physical memory. */
static struct folio *table_adjacent_folios(struct table *t, unsigned int order,
					   struct folio **next)
{
	unsigned int first = t->nr_folios, i;
	unsigned long nr = 1UL << order;

	while (t->nr_folios < TABLE_FOLIOS) {
		unsigned long pfn = folio_pfn(table_folio(t, order));

		for (i = first; i < t->nr_folios; i++) {
			struct folio *other = t->folios[i];

			if (folio_pfn(other) != (pfn ^ nr))
				continue;
			*next = pfn_folio(pfn | nr);
			return pfn_folio(pfn & ~nr);
		}
	}
	KUNIT_FAIL_AND_ABORT(t->test, "no two folios of order %u follow each other", order);
	return NULL;
}

static pte_t make_pte(struct table *t, struct page *page, unsigned int bits)
{
	pte_t pte = mk_pte(page, vm_get_page_prot(bits & BIT_PROTNONE ? VM_NONE : VM_READ));

	pte = pte_mkold(pte_mkclean(pte));
	if (bits & BIT_WRITE)
		pte = pte_mkwrite(pte, t->vma);
	if (bits & BIT_YOUNG)
		pte = pte_mkyoung(pte);
	if (bits & BIT_DIRTY)
		pte = pte_mkdirty(pte);
	pte = bits & BIT_SOFT_DIRTY ? pte_mksoft_dirty(pte) : pte_clear_soft_dirty(pte);
	if (bits & BIT_UFFD)
		pte = pte_mkuffd(pte);
	return pte;
}

static bool slot_is_folded(struct table *t, unsigned int slot)
{
	return pte_is_folded(pte_offset_kernel(t->pmd, slot_addr(slot)));
}

static pte_t make_swap_pte(unsigned int type, unsigned long offset)
{
	return swp_entry_to_pte(swp_entry(type, offset));
}

/* The PTEs of a block that arm64 has folded share young and dirty. */
static void want_shared_young_dirty(struct table *t)
{
#ifdef CONFIG_ARM64_CONTPTE
	unsigned int block, i;

	for (block = 0; block < PTRS_PER_PTE; block += CONT_PTES) {
		pte_t *want = t->want + block;
		bool young = false, dirty = false;

		if (!slot_is_folded(t, block))
			continue;
		for (i = 0; i < CONT_PTES; i++) {
			young |= pte_present(want[i]) && pte_young(want[i]);
			dirty |= pte_present(want[i]) && pte_dirty(want[i]);
		}
		for (i = 0; i < CONT_PTES; i++) {
			want[i] = young ? pte_mkyoung(want[i]) : want[i];
			want[i] = dirty ? pte_mkdirty(want[i]) : want[i];
		}
	}
#endif
}

/* Compares the table with t->want; says how many PTEs differ and shows the first. */
static bool table_expect(struct table *t, const char *what)
{
	unsigned int i, first = 0, wrong = 0;

	table_read(t, t->after);
	want_shared_young_dirty(t);
	for (i = 0; i < PTRS_PER_PTE; i++) {
		if (pte_alike(t->after[i], t->want[i]))
			continue;
		if (!wrong++)
			first = i;
	}
	KUNIT_EXPECT_EQ_MSG(t->test, wrong, 0, "%s: PTE %u was %llx, is %llx, should be %llx",
			    what, first, (u64)pte_val(t->before[first]),
			    (u64)pte_val(t->after[first]), (u64)pte_val(t->want[first]));
	return !wrong;
}

/* Ranges: which pages of a folio of which order, mapped where, a helper is called on. */

#define ALL		0	/* to the end of the folio or of the table */
#define LAST		~0U	/* the last page of the folio that the table maps */
#define MISALIGN	3	/* slots that a folio is moved by to break the contpte alignment */

struct pte_range {
	unsigned int order;
	unsigned int first;	/* the first page */
	unsigned int nr;
	unsigned int shift;	/* 0: the folio is mapped at its natural alignment */
};

static const struct pte_range small_range = { 0, 0, 1 };

static const struct pte_range ranges[] = {
	{ 2, 0, 1 }, { 2, 0, 1, MISALIGN },
	{ 2, 0, 2 }, { 2, 0, 2, MISALIGN },
	{ 2, 0, ALL }, { 2, 0, ALL, MISALIGN },
	{ 2, 2, 1 }, { 2, 2, 1, MISALIGN },
	{ 2, 2, 2 }, { 2, 2, 2, MISALIGN },
	{ 2, LAST, 1 }, { 2, LAST, 1, MISALIGN },
	{ 4, 0, 1 }, { 4, 0, 1, MISALIGN },
	{ 4, 0, 2 }, { 4, 0, 2, MISALIGN },
	{ 4, 0, 15 }, { 4, 0, 15, MISALIGN },
	{ 4, 0, ALL }, { 4, 0, ALL, MISALIGN },
	{ 4, 8, 1 }, { 4, 8, 1, MISALIGN },
	{ 4, 8, 2 }, { 4, 8, 2, MISALIGN },
	{ 4, 8, ALL }, { 4, 8, ALL, MISALIGN },
	{ 4, 1, 15 }, { 4, 1, 15, MISALIGN },
	{ 4, LAST, 1 }, { 4, LAST, 1, MISALIGN },
	{ 9, 0, 1 }, { 9, 0, 1, MISALIGN },
	{ 9, 0, 2 }, { 9, 0, 2, MISALIGN },
	{ 9, 0, 15 }, { 9, 0, 15, MISALIGN },
	{ 9, 0, 16 }, { 9, 0, 16, MISALIGN },
	{ 9, 0, 17 }, { 9, 0, 17, MISALIGN },
	{ 9, 0, ALL }, { 9, 0, ALL, MISALIGN },
	{ 9, 250, 1 }, { 9, 250, 1, MISALIGN },
	{ 9, 250, 2 }, { 9, 250, 2, MISALIGN },
	{ 9, 250, 17 }, { 9, 250, 17, MISALIGN },
	{ 9, 250, 38 }, { 9, 250, 38, MISALIGN },
	{ 9, 256, 15 }, { 9, 256, 15, MISALIGN },
	{ 9, 256, 16 }, { 9, 256, 16, MISALIGN },
	{ 9, 256, ALL }, { 9, 256, ALL, MISALIGN },
	{ 9, LAST, 1 }, { 9, LAST, 1, MISALIGN },
};

/* The slot of the folio's page 0. */
static unsigned int range_base(const struct pte_range *r)
{
	return (r->order < 9 ? 32 : 0) + r->shift;
}

/* The number of the folio's pages that the table maps. */
static unsigned int range_mapped(const struct pte_range *r)
{
	return min_t(unsigned int, 1U << r->order, PTRS_PER_PTE - range_base(r));
}

static unsigned int range_first(const struct pte_range *r)
{
	return r->first == LAST ? range_mapped(r) - 1 : r->first;
}

static unsigned int range_nr(const struct pte_range *r)
{
	return r->nr == ALL ? range_mapped(r) - range_first(r) : r->nr;
}

static unsigned int range_slot(const struct pte_range *r)
{
	return range_base(r) + range_first(r);
}

static void range_desc(const struct pte_range *r, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "order %u, %u PTEs from page %u%s",
		 r->order, range_nr(r), range_first(r), r->shift ? ", misaligned" : "");
}

KUNIT_ARRAY_PARAM(range, ranges, range_desc);

/* The helpers that change PTEs, each with its reference. */

/* What a helper returned; the PTE is none and young is false where it returns no such thing. */
struct outcome {
	pte_t pte;
	bool young;
};

struct call {
	struct table *t;
	unsigned int slot;
	unsigned int nr;
	unsigned long addr;
	pte_t *ptep;
	pte_t pte;		/* what the setters set, for the first PTE */
	pte_t old;		/* what modify_prot_start_ptes() returned for it */
	unsigned int variant;
	bool any_young;		/* in the range, before the call */
	bool any_dirty;
	struct outcome is;
};

enum fill { FILL_MAPPED, FILL_UNIFORM, FILL_EMPTY, FILL_SWAP };

struct table_op {
	const char *name;
	void (*batched)(struct call *c);
	void (*single)(struct call *c);			/* on c->ptep alone */
	pte_t (*each)(const struct call *c, pte_t pte);	/* a PTE of the range after the call */
	enum fill fill;		/* what the range may hold before; UNIFORM: one writable state */
	unsigned int nr_variants;
	bool returns_pte;
	bool returns_young;
	bool widens;		/* on arm64 to whole contpte blocks */
};

#define DEFINE_OP_FN(fn, body) static void fn(struct call *c) { body; }

static pte_t each_none(const struct call *c, pte_t pte)
{
	return __pte(0);
}

static pte_t each_wrprotect(const struct call *c, pte_t pte)
{
	return pte_wrprotect(pte);
}

static pte_t each_old(const struct call *c, pte_t pte)
{
	return pte_mkold(pte);
}

DEFINE_OP_FN(batched_wrprotect, wrprotect_ptes(c->t->mm, c->addr, c->ptep, c->nr))
DEFINE_OP_FN(single_wrprotect, ptep_set_wrprotect(c->t->mm, c->addr, c->ptep))

static const struct table_op op_wrprotect_ptes = {
	.name = "wrprotect_ptes", .fill = FILL_MAPPED, .nr_variants = 1,
	.batched = batched_wrprotect, .single = single_wrprotect, .each = each_wrprotect,
};

/* The variant is the argument "full": the whole mm is going away. */
DEFINE_OP_FN(batched_get_and_clear_full,
	     c->is.pte = get_and_clear_full_ptes(c->t->mm, c->addr, c->ptep, c->nr, c->variant))
DEFINE_OP_FN(single_get_and_clear_full,
	     c->is.pte = ptep_get_and_clear_full(c->t->mm, c->addr, c->ptep, c->variant))

static const struct table_op op_get_and_clear_full_ptes = {
	.name = "get_and_clear_full_ptes", .fill = FILL_MAPPED, .nr_variants = 2,
	.batched = batched_get_and_clear_full, .single = single_get_and_clear_full,
	.each = each_none, .returns_pte = true,
};

#if KERNEL_IS_7_3
DEFINE_OP_FN(batched_get_and_clear,
	     c->is.pte = get_and_clear_ptes(c->t->mm, c->addr, c->ptep, c->nr))
DEFINE_OP_FN(batched_clear, clear_ptes(c->t->mm, c->addr, c->ptep, c->nr))
DEFINE_OP_FN(batched_test_and_clear_young,
	     c->is.young = test_and_clear_young_ptes(c->t->vma, c->addr, c->ptep, c->nr))
DEFINE_OP_FN(batched_clear_flush_young,
	     c->is.young = clear_flush_young_ptes(c->t->vma, c->addr, c->ptep, c->nr))
DEFINE_OP_FN(batched_modify_prot_start,
	     c->is.pte = modify_prot_start_ptes(c->t->vma, c->addr, c->ptep, c->nr))
DEFINE_OP_FN(batched_modify_prot_commit,
	     modify_prot_commit_ptes(c->t->vma, c->addr, c->ptep, c->old, c->pte, c->nr))

/* The whole transaction; the variant says whether it makes the PTEs writable or read-only. */
static void batched_modify_prot(struct call *c)
{
	pte_t old = modify_prot_start_ptes(c->t->vma, c->addr, c->ptep, c->nr);
	pte_t pte = c->variant ? pte_mkwrite(old, c->t->vma) : pte_wrprotect(old);

	modify_prot_commit_ptes(c->t->vma, c->addr, c->ptep, old, pte, c->nr);
	c->is.pte = old;
}
#else
#define batched_get_and_clear		NULL
#define batched_clear			NULL
#define batched_test_and_clear_young	NULL
#define batched_clear_flush_young	NULL
#define batched_modify_prot_start	NULL
#define batched_modify_prot_commit	NULL
#define batched_modify_prot		NULL
#endif

DEFINE_OP_FN(single_get_and_clear,
	     c->is.pte = ptep_get_and_clear(c->t->mm, c->addr, c->ptep))

static const struct table_op op_get_and_clear_ptes = {
	.name = "get_and_clear_ptes", .fill = FILL_MAPPED, .nr_variants = 1,
	.batched = batched_get_and_clear, .single = single_get_and_clear,
	.each = each_none, .returns_pte = true,
};

DEFINE_OP_FN(batched_clear_full,
	     clear_full_ptes(c->t->mm, c->addr, c->ptep, c->nr, c->variant))
DEFINE_OP_FN(single_clear_full,
	     ptep_get_and_clear_full(c->t->mm, c->addr, c->ptep, c->variant))

static const struct table_op op_clear_full_ptes = {
	.name = "clear_full_ptes", .fill = FILL_MAPPED, .nr_variants = 2,
	.batched = batched_clear_full, .single = single_clear_full, .each = each_none,
};

DEFINE_OP_FN(single_clear, ptep_get_and_clear(c->t->mm, c->addr, c->ptep))

static const struct table_op op_clear_ptes = {
	.name = "clear_ptes", .fill = FILL_MAPPED, .nr_variants = 1,
	.batched = batched_clear, .single = single_clear, .each = each_none,
};

DEFINE_OP_FN(batched_clear_nonpresent,
	     clear_nonpresent_ptes(c->t->mm, c->addr, c->ptep, c->nr))
DEFINE_OP_FN(single_clear_nonpresent, pte_clear(c->t->mm, c->addr, c->ptep))

static const struct table_op op_clear_nonpresent_ptes = {
	.name = "clear_nonpresent_ptes", .fill = FILL_SWAP, .nr_variants = 1,
	.batched = batched_clear_nonpresent, .single = single_clear_nonpresent,
	.each = each_none,
};

static const cydp_t young_dirty_flags[] = {
	CYDP_CLEAR_YOUNG, CYDP_CLEAR_DIRTY, CYDP_CLEAR_YOUNG | CYDP_CLEAR_DIRTY,
};

static pte_t each_young_dirty(const struct call *c, pte_t pte)
{
	if (young_dirty_flags[c->variant] & CYDP_CLEAR_YOUNG)
		pte = pte_mkold(pte);
	if (young_dirty_flags[c->variant] & CYDP_CLEAR_DIRTY)
		pte = pte_mkclean(pte);
	return pte;
}

DEFINE_OP_FN(batched_young_dirty,
	     clear_young_dirty_ptes(c->t->vma, c->addr, c->ptep, c->nr,
				    young_dirty_flags[c->variant]))

static const struct table_op op_clear_young_dirty_ptes = {
	.name = "clear_young_dirty_ptes", .fill = FILL_MAPPED,
	.nr_variants = ARRAY_SIZE(young_dirty_flags),
	.batched = batched_young_dirty, .each = each_young_dirty, .widens = true,
};

DEFINE_OP_FN(single_test_and_clear_young,
	     c->is.young = ptep_test_and_clear_young(c->t->vma, c->addr, c->ptep))
DEFINE_OP_FN(single_clear_flush_young,
	     c->is.young = ptep_clear_flush_young(c->t->vma, c->addr, c->ptep))

static const struct table_op op_test_and_clear_young_ptes = {
	.name = "test_and_clear_young_ptes", .fill = FILL_MAPPED, .nr_variants = 1,
	.batched = batched_test_and_clear_young,
	.single = single_test_and_clear_young,
	.each = each_old, .returns_young = true, .widens = true,
};

static const struct table_op op_clear_flush_young_ptes = {
	.name = "clear_flush_young_ptes", .fill = FILL_MAPPED, .nr_variants = 1,
	.batched = batched_clear_flush_young, .single = single_clear_flush_young,
	.each = each_old, .returns_young = true, .widens = true,
};

DEFINE_OP_FN(single_modify_prot_start,
	     c->is.pte = ptep_modify_prot_start(c->t->vma, c->addr, c->ptep))

/* While the transaction is open nothing may be left that hardware could set a bit in. */
static const struct table_op op_modify_prot_start_ptes = {
	.name = "modify_prot_start_ptes", .fill = FILL_UNIFORM, .nr_variants = 1,
	.batched = batched_modify_prot_start, .single = single_modify_prot_start,
	.each = each_none, .returns_pte = true,
};

static pte_t each_set(const struct call *c, pte_t pte)
{
	return pte;
}

DEFINE_OP_FN(single_modify_prot_commit,
	     ptep_modify_prot_commit(c->t->vma, c->addr, c->ptep, c->old, c->pte))

static const struct table_op op_modify_prot_commit_ptes = {
	.name = "modify_prot_commit_ptes", .fill = FILL_EMPTY, .nr_variants = 1,
	.batched = batched_modify_prot_commit, .single = single_modify_prot_commit,
	.each = each_set,
};

static pte_t each_modify_prot(const struct call *c, pte_t pte)
{
	if (c->any_young)
		pte = pte_mkyoung(pte);
	if (c->any_dirty)
		pte = pte_mkdirty(pte);
	return c->variant ? pte_mkwrite(pte, c->t->vma) : pte_wrprotect(pte);
}

/* No single: one PTE at a time, young and dirty would not spread to the others. */
static const struct table_op op_modify_prot_ptes = {
	.name = "modify_prot_start_ptes to modify_prot_commit_ptes", .fill = FILL_UNIFORM,
	.nr_variants = 2,
	.batched = batched_modify_prot, .each = each_modify_prot,
	.returns_pte = true,
};

DEFINE_OP_FN(batched_set, set_ptes(c->t->mm, c->addr, c->ptep, c->pte, c->nr))
DEFINE_OP_FN(single_set, set_pte_at(c->t->mm, c->addr, c->ptep, c->pte))

static const struct table_op op_set_ptes = {
	.name = "set_ptes", .fill = FILL_EMPTY, .nr_variants = 1,
	.batched = batched_set, .single = single_set, .each = each_set,
};

static const struct table_op *const table_ops[] = {
	&op_set_ptes, &op_wrprotect_ptes, &op_get_and_clear_full_ptes, &op_get_and_clear_ptes,
	&op_clear_full_ptes, &op_clear_ptes, &op_clear_nonpresent_ptes,
	&op_clear_young_dirty_ptes, &op_test_and_clear_young_ptes, &op_clear_flush_young_ptes,
	&op_modify_prot_start_ptes, &op_modify_prot_commit_ptes, &op_modify_prot_ptes,
};

/*
 * The PTEs that a call works on: its range or, for a helper that widens, the range and the rest of
 * the contpte blocks that its two ends lie in.
 */
static void call_span(const struct call *c, bool widens, unsigned int *first, unsigned int *end)
{
	*first = c->slot;
	*end = c->slot + c->nr;
#ifdef CONFIG_ARM64_CONTPTE
	if (widens && slot_is_folded(c->t, c->slot))
		*first = ALIGN_DOWN(*first, CONT_PTES);
	if (widens && slot_is_folded(c->t, c->slot + c->nr - 1))
		*end = ALIGN(*end, CONT_PTES);
#endif
}

/*
 * Works out t->want and the outcome from t->before; @ptes are the PTEs that a setter is to set,
 * from the first of its range on.
 */
static struct outcome model_call(struct call *c, const struct table_op *op, const pte_t *ptes)
{
	struct table *t = c->t;
	struct outcome want = { .pte = __pte(0) };
	unsigned int i, first, end;

	c->any_young = false;
	c->any_dirty = false;
	for (i = c->slot; i < c->slot + c->nr && pte_present(t->before[i]); i++) {
		c->any_young |= !!pte_young(t->before[i]);
		c->any_dirty |= !!pte_dirty(t->before[i]);
	}
	call_span(c, op->widens, &first, &end);
	memcpy(t->want, t->before, sizeof(t->want));
	for (i = first; i < end; i++)
		t->want[i] = op->each(c, op->fill == FILL_EMPTY ? ptes[i - first] : t->before[i]);

	if (op->returns_pte)
		want.pte = t->before[c->slot];
	if (op->returns_pte && c->any_young)
		want.pte = pte_mkyoung(want.pte);
	if (op->returns_pte && c->any_dirty)
		want.pte = pte_mkdirty(want.pte);
	want.young = op->returns_young && c->any_young;
	return want;
}

/* Two PTEs alike but for soft-dirty, which pte_mkdirty() sets as well. */
static bool pte_same_but_soft_dirty(pte_t a, pte_t b)
{
	if (!pte_present(a) || !pte_present(b))
		return pte_alike(a, b);
	return pte_alike(pte_clear_soft_dirty(a), pte_clear_soft_dirty(b));
}

static bool expect_outcome(struct kunit *test, struct outcome is, struct outcome want,
			   const char *what)
{
	KUNIT_EXPECT_TRUE_MSG(test, pte_same_but_soft_dirty(is.pte, want.pte),
			      "%s returned %llx, should return %llx", what,
			      (u64)pte_val(is.pte), (u64)pte_val(want.pte));
	KUNIT_EXPECT_EQ_MSG(test, is.young, want.young, "%s: young", what);
	return pte_same_but_soft_dirty(is.pte, want.pte) && is.young == want.young;
}

static void call_batched(struct call *c, const struct table_op *op)
{
	c->is = (struct outcome){ .pte = __pte(0) };
	c->ptep = table_lock(c->t, c->slot);
	op->batched(c);
	table_unlock(c->t, c->ptep);
}

/* Which PTEs of a range are young; which are dirty is moved by one row. */
enum pattern {
	PATTERN_NONE, PATTERN_ALL, PATTERN_FIRST, PATTERN_MIDDLE, PATTERN_LAST, NR_PATTERNS
};

static bool in_pattern(enum pattern pattern, unsigned int i, unsigned int nr)
{
	switch (pattern) {
	case PATTERN_ALL:
		return true;
	case PATTERN_FIRST:
		return i == 0;
	case PATTERN_MIDDLE:
		return i == nr / 2;
	case PATTERN_LAST:
		return i == nr - 1;
	default:
		return false;
	}
}

enum writable { WRITABLE_NONE, WRITABLE_ALL, WRITABLE_MIXED, NR_WRITABLE };

static bool is_writable(enum writable writable, unsigned int i)
{
	return writable == WRITABLE_ALL || (writable == WRITABLE_MIXED && i % 3 == 0);
}

/*
 * Fills the table for one call: all pages of the folio, and a page of a stranger on each side. What
 * lies outside of the range is young and dirty where the range is neither, so that both a bit that
 * leaks in and one that leaks out are seen. A setter finds its range empty and sets @ptes.
 */
static void fill_range(struct call *c, const struct table_op *op, const struct pte_range *r,
		       struct folio *folio, struct folio *stranger, enum writable writable,
		       enum pattern pattern, pte_t *ptes)
{
	unsigned int base = range_base(r), end = base + range_mapped(r), slot;
	unsigned int outside = pattern == PATTERN_NONE ? BIT_YOUNG | BIT_DIRTY : 0;
	unsigned int common = 0;
	struct table *t = c->t;

	/* Where dirty spreads, so does soft-dirty: let it be set already. */
	if (op->fill == FILL_UNIFORM && pgtable_supports_soft_dirty())
		common = BIT_SOFT_DIRTY;
	memset(t->want, 0, sizeof(t->want));
	if (base)
		t->want[base - 1] = make_pte(t, folio_page(stranger, 0), outside);
	if (end < PTRS_PER_PTE)
		t->want[end] = make_pte(t, folio_page(stranger, 0), outside);
	for (slot = base; slot < end; slot++) {
		bool in_range = slot >= c->slot && slot < c->slot + c->nr;
		/* What a setter sets is all alike. */
		unsigned int nth = op->fill == FILL_EMPTY ? 0 : slot - c->slot;
		unsigned int bits = common | (in_range ? 0 : outside);
		pte_t pte;

		if (in_range && in_pattern(pattern, nth, c->nr))
			bits |= BIT_YOUNG;
		if (in_range && in_pattern((pattern + 1) % NR_PATTERNS, nth, c->nr))
			bits |= BIT_DIRTY;
		if (is_writable(writable, op->fill == FILL_EMPTY ? 0 : slot))
			bits |= BIT_WRITE;
		pte = make_pte(t, folio_page(folio, slot - base), bits);
		if (in_range)
			ptes[slot - c->slot] = pte;
		if (op->fill == FILL_SWAP)
			pte = make_swap_pte(1, slot);
		t->want[slot] = in_range && op->fill == FILL_EMPTY ? __pte(0) : pte;
	}
	table_clear(t);
	table_set_filled(t);
}

/*
 * UML's set_ptes() in 6.12 and 7.3 advances the PFN by the number of PTEs still to be set instead
 * of by one: of three or more PTEs, all but the first are wrong.
 */
static bool set_ptes_is_broken(struct table *t, struct folio *folio)
{
	pte_t third;

	if (!IS_ENABLED(CONFIG_UML))
		return false;
	table_clear(t);
	set_ptes(t->mm, TABLE_START, pte_offset_kernel(t->pmd, TABLE_START),
		 make_pte(t, folio_page(folio, 0), 0), 3);
	third = ptep_get(pte_offset_kernel(t->pmd, slot_addr(2)));
	table_clear(t);
	return pte_pfn(third) == folio_pfn(folio) + 3;
}

static void check_op(struct kunit *test, const struct table_op *op, const struct pte_range *r)
{
	pte_t *ptes = kunit_kcalloc(test, PTRS_PER_PTE, sizeof(*ptes), GFP_KERNEL);
	struct folio *folio, *stranger;
	unsigned int writable, pattern;
	struct call c = { };
	struct outcome want;
	struct table *t;

	KUNIT_ASSERT_NOT_NULL(test, ptes);
	if (!op->batched)
		kunit_skip(test, "this kernel has no %s()", op->name);
	t = table_create(test);
	folio = table_folio(t, r->order);
	stranger = table_folio(t, 0);
	c.t = t;
	c.slot = range_slot(r);
	c.nr = range_nr(r);
	if (op == &op_set_ptes && c.nr > 2 && set_ptes_is_broken(t, folio))
		kunit_skip(test, "known bug: set_ptes() of UML maps the wrong pages");

	c.addr = slot_addr(c.slot);
	for (c.variant = 0; c.variant < op->nr_variants; c.variant++) {
		for (writable = 0; writable < NR_WRITABLE; writable++) {
			if (writable == WRITABLE_MIXED && op->fill == FILL_UNIFORM)
				continue;
			for (pattern = 0; pattern < NR_PATTERNS; pattern++) {
				fill_range(&c, op, r, folio, stranger, writable, pattern, ptes);
				table_read(t, t->before);
				c.pte = ptes[0];
				c.old = make_pte(t, pte_page(c.pte), BIT_WRITE);
				want = model_call(&c, op, ptes);
				call_batched(&c, op);
				if (!table_expect(t, op->name) ||
				    !expect_outcome(test, c.is, want, op->name))
					return;
			}
		}
	}
}

static void op_desc(const struct table_op *const *op, char *desc)
{
	strscpy(desc, (*op)->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(op, table_ops, op_desc);

/* Each helper on the one page of a small folio. */
static void test_small_folio(struct kunit *test)
{
	const struct table_op *const *op = test->param_value;

	check_op(test, *op, &small_range);
}

#define DEFINE_OP_CASE(helper) \
	static void test_##helper(struct kunit *test) \
	{ \
		check_op(test, &op_##helper, test->param_value); \
	}

DEFINE_OP_CASE(set_ptes)
DEFINE_OP_CASE(wrprotect_ptes)
DEFINE_OP_CASE(get_and_clear_full_ptes)
DEFINE_OP_CASE(get_and_clear_ptes)
DEFINE_OP_CASE(clear_full_ptes)
DEFINE_OP_CASE(clear_ptes)
DEFINE_OP_CASE(clear_nonpresent_ptes)
DEFINE_OP_CASE(clear_young_dirty_ptes)
DEFINE_OP_CASE(test_and_clear_young_ptes)
DEFINE_OP_CASE(clear_flush_young_ptes)
DEFINE_OP_CASE(modify_prot_start_ptes)
DEFINE_OP_CASE(modify_prot_commit_ptes)
DEFINE_OP_CASE(modify_prot_ptes)

/* Detection: how far does a batch reach? */

static const fpb_t respect_flags[] = {
	0, FPB_RESPECT_WRITE, FPB_RESPECT_DIRTY, FPB_RESPECT_SOFT_DIRTY,
	FPB_RESPECT_WRITE | FPB_RESPECT_DIRTY, FPB_RESPECT_WRITE | FPB_RESPECT_SOFT_DIRTY,
	FPB_RESPECT_DIRTY | FPB_RESPECT_SOFT_DIRTY,
	FPB_RESPECT_WRITE | FPB_RESPECT_DIRTY | FPB_RESPECT_SOFT_DIRTY,
};

/* Reads the PTE of @slot as callers do and asks how many PTEs its batch has; @copy may be NULL. */
static unsigned int batch_at(struct table *t, unsigned int slot, unsigned int max_nr, fpb_t flags,
			     pte_t *copy)
{
	pte_t *ptep = table_lock(t, slot);
	pte_t pte = ptep_get(ptep);
	struct folio *folio = page_folio(pte_page(pte));
	unsigned int nr = folio_pte_batch_flags(folio, t->vma, ptep, &pte, max_nr, flags);

	table_unlock(t, ptep);
	if (copy)
		*copy = pte;
	return nr;
}

/*
 * The reference, from t->before: does the PTE of @slot go on a batch that @first is in? The caller
 * knows whether the entry is one that ends a batch whatever the flags are.
 */
static bool model_goes_on(struct table *t, unsigned int first, unsigned int slot, fpb_t flags)
{
	pte_t a = t->before[first], b = t->before[slot];

	if ((flags & FPB_RESPECT_WRITE) && !pte_write(a) != !pte_write(b))
		return false;
	if ((flags & FPB_RESPECT_DIRTY) && !pte_dirty(a) != !pte_dirty(b))
		return false;
	if ((flags & FPB_RESPECT_SOFT_DIRTY) && !pte_soft_dirty(a) != !pte_soft_dirty(b))
		return false;
	/* On arm64 folding is one more bit in which PTEs differ. */
	return slot_is_folded(t, first) == slot_is_folded(t, slot);
}

static bool bits_supported(unsigned int bits)
{
	return !((bits & BIT_UFFD) && !pgtable_supports_uffd()) &&
	       !((bits & BIT_SOFT_DIRTY) && !pgtable_supports_soft_dirty());
}

static void map_folio(struct table *t, const struct pte_range *r, struct folio *folio,
		      unsigned int bits)
{
	unsigned int i, nr = range_mapped(r);

	for (i = 0; i < nr; i++)
		t->want[i] = make_pte(t, folio_page(folio, i), bits);
	table_set_all(t, range_base(r), t->want, nr);
}

/* Of PTEs that are all alike, nothing ends the batch but max_nr and the end of the folio. */
static void test_batch_limits(struct kunit *test)
{
	static const unsigned int all_bits[] = {
		0, BIT_WRITE, BIT_WRITE | BIT_YOUNG | BIT_DIRTY, BIT_PROTNONE, BIT_UFFD,
		BIT_SOFT_DIRTY | BIT_DIRTY,
	};
	const struct pte_range *r = test->param_value;
	struct table *t = table_create(test);
	struct folio *folio = table_folio(t, r->order);
	unsigned int slot = range_slot(r), nr = range_nr(r), b, f;
	unsigned int to_end = range_mapped(r) - range_first(r);

	for (b = 0; b < ARRAY_SIZE(all_bits); b++) {
		if (!bits_supported(all_bits[b]))
			continue;
		table_clear(t);
		map_folio(t, r, folio, all_bits[b]);
		for (f = 0; f < ARRAY_SIZE(respect_flags); f++) {
			fpb_t flags = respect_flags[f];

			KUNIT_EXPECT_EQ(test, batch_at(t, slot, nr, flags, NULL), nr);
			KUNIT_EXPECT_EQ(test, batch_at(t, slot, 1, flags, NULL), 1);
			KUNIT_EXPECT_EQ(test, batch_at(t, slot, to_end, flags, NULL), to_end);
			KUNIT_EXPECT_EQ(test, batch_at(t, slot, PTRS_PER_PTE - slot, flags, NULL),
					to_end);
		}
	}
}

enum odd_kind { ODD_BITS, ODD_HOLE, ODD_SWAP, ODD_MIGRATION, ODD_FOLIO, ODD_ORDER };

/* One PTE that differs from those around it. */
struct odd_pte {
	const char *name;
	enum odd_kind kind;
	unsigned int bit;	/* by which it differs, for ODD_BITS */
	bool ends;		/* the batch, whatever the flags are */
};

static const struct odd_pte odd_ptes[] = {
	{ "hole", ODD_HOLE, .ends = true },
	{ "swap entry", ODD_SWAP, .ends = true },
	{ "migration entry", ODD_MIGRATION, .ends = true },
	{ "page of another folio", ODD_FOLIO, .ends = true },
	{ "page out of order", ODD_ORDER, .ends = true },
	{ "protection", ODD_BITS, BIT_PROTNONE, .ends = true },
	{ "uffd", ODD_BITS, BIT_UFFD, .ends = true },
	{ "write", ODD_BITS, BIT_WRITE },
	{ "dirty", ODD_BITS, BIT_DIRTY },
	{ "soft-dirty", ODD_BITS, BIT_SOFT_DIRTY },
	{ "young", ODD_BITS, BIT_YOUNG },
};

KUNIT_ARRAY_PARAM_DESC(odd_pte, odd_ptes, name);

static pte_t make_odd_pte(struct table *t, const struct odd_pte *odd, struct folio *folio,
			  struct folio *stranger, unsigned int page, unsigned int bits)
{
	switch (odd->kind) {
	case ODD_HOLE:
		return __pte(0);
	case ODD_SWAP:
		return make_swap_pte(1, page + 1);
	case ODD_MIGRATION:
		return swp_entry_to_pte(make_readable_migration_entry(folio_pfn(folio) + page));
	case ODD_FOLIO:
		return make_pte(t, folio_page(stranger, 0), bits);
	case ODD_ORDER:
		return make_pte(t, folio_page(folio, page - 1), bits);
	default:
		return make_pte(t, folio_page(folio, page), bits ^ odd->bit);
	}
}

static void check_odd_pte(struct table *t, const struct odd_pte *odd, const struct pte_range *r,
			  unsigned int at)
{
	unsigned int slot = range_slot(r), nr = range_nr(r), f, want;

	table_read(t, t->before);
	for (f = 0; f < ARRAY_SIZE(respect_flags); f++) {
		fpb_t flags = respect_flags[f];

		if (flags & ~FPB_SUPPORTED)
			continue;
		for (want = 1; want < nr; want++) {
			if (odd->ends && want == at)
				break;
			if (!model_goes_on(t, slot, slot + want, flags))
				break;
		}
		KUNIT_EXPECT_EQ_MSG(t->test, batch_at(t, slot, nr, flags, NULL), want,
				    "%s at %u of %u PTEs from slot %u, order %u, flags %x",
				    odd->name, at, nr, slot, r->order, (__force int)flags);
	}
}

static void test_batch_odd_pte(struct kunit *test)
{
	const struct odd_pte *odd = test->param_value;
	unsigned int i, p, bits;

	if (!bits_supported(odd->bit))
		kunit_skip(test, "this architecture or configuration has no %s bit", odd->name);
	if (odd->kind == ODD_MIGRATION && !IS_ENABLED(CONFIG_MIGRATION))
		kunit_skip(test, "CONFIG_MIGRATION is off");

	for (i = 0; i < ARRAY_SIZE(ranges); i++) {
		const struct pte_range *r = &ranges[i];
		unsigned int nr = range_nr(r), places[] = { 1, nr / 2, nr - 1 };
		struct folio *folio, *stranger;
		struct table *t;

		if (nr < 2)
			continue;
		t = table_create(test);
		folio = table_folio(t, r->order);
		stranger = table_folio(t, 0);
		for (bits = 0; bits <= odd->bit; bits += odd->bit ?: 1) {
			map_folio(t, r, folio, bits);
			for (p = 0; p < ARRAY_SIZE(places); p++) {
				unsigned int at = places[p], slot = range_slot(r) + at;
				unsigned int page = range_first(r) + at;

				if (!at)
					continue;
				table_set(t, slot,
					  make_odd_pte(t, odd, folio, stranger, page, bits));
				check_odd_pte(t, odd, r, at);
				table_set(t, slot, make_pte(t, folio_page(folio, page), bits));
			}
		}
		kunit_release_action(test, table_free, t);
	}
}

static const unsigned int large_orders[] = { 2, 4, 9 };

static void order_desc(const unsigned int *order, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "order %u", *order);
}

KUNIT_ARRAY_PARAM(large_order, large_orders, order_desc);

/* Folios that follow each other in physical memory are still two folios. */
static void test_batch_adjacent_folios(struct kunit *test)
{
	unsigned int order = *(const unsigned int *)test->param_value;
	unsigned int nr = 1U << order, tail = min(nr, 16U), i;
	struct table *t = table_create(test);
	struct folio *next, *folio = table_adjacent_folios(t, order, &next);

	KUNIT_ASSERT_EQ(test, folio_pfn(next), folio_pfn(folio) + nr);
	for (i = 0; i < tail; i++) {
		table_set(t, 64 - tail + i, make_pte(t, folio_page(folio, nr - tail + i), 0));
		table_set(t, 64 + i, make_pte(t, folio_page(next, i), 0));
	}
	for (i = 0; i < tail; i++)
		KUNIT_EXPECT_EQ(test, batch_at(t, 64 - tail + i, 40, 0, NULL), tail - i);
	KUNIT_EXPECT_EQ(test, batch_at(t, 64, 40, 0, NULL), tail);
}

#if KERNEL_IS_7_3
/* The simple variant respects nothing and merges nothing. */
static void test_folio_pte_batch(struct kunit *test)
{
	const struct pte_range *r = test->param_value;
	struct table *t = table_create(test);
	struct folio *folio = table_folio(t, r->order);
	unsigned int slot = range_slot(r), nr = range_nr(r), i;
	pte_t *ptep;

	for (i = 0; i < range_mapped(r); i++) {
		unsigned int bits = i & (BIT_WRITE | BIT_YOUNG | BIT_DIRTY);

		table_set(t, range_base(r) + i, make_pte(t, folio_page(folio, i), bits));
	}
	ptep = table_lock(t, slot);
	i = folio_pte_batch(folio, ptep, ptep_get(ptep), nr);
	table_unlock(t, ptep);
	KUNIT_EXPECT_EQ(test, i, nr);
}
#else
static void test_folio_pte_batch(struct kunit *test)
{
	kunit_skip(test, "this kernel has no folio_pte_batch() without flags");
}
#endif

/* What the merge flags change in the copy, and that the table stays as it is. */
static void check_merge(struct table *t, const struct pte_range *r, fpb_t flags)
{
	unsigned int slot = range_slot(r), nr = 1, i;
	bool write, young, dirty;
	pte_t copy, first;

	table_read(t, t->before);
	memcpy(t->want, t->before, sizeof(t->want));
	first = t->before[slot];
	write = pte_write(first);
	young = pte_young(first);
	dirty = pte_dirty(first);
	while (nr < range_nr(r) && model_goes_on(t, slot, slot + nr, flags))
		nr++;
	for (i = slot; i < slot + nr; i++) {
		write |= (flags & FPB_MERGE_WRITE) && pte_write(t->before[i]);
		young |= (flags & FPB_MERGE_YOUNG_DIRTY) && pte_young(t->before[i]);
		dirty |= (flags & FPB_MERGE_YOUNG_DIRTY) && pte_dirty(t->before[i]);
	}

	KUNIT_EXPECT_EQ(t->test, batch_at(t, slot, range_nr(r), flags, &copy), nr);
	KUNIT_EXPECT_EQ_MSG(t->test, (bool)pte_write(copy), write, "flags %x", (__force int)flags);
	KUNIT_EXPECT_EQ_MSG(t->test, (bool)pte_young(copy), young, "flags %x", (__force int)flags);
	KUNIT_EXPECT_EQ_MSG(t->test, (bool)pte_dirty(copy), dirty, "flags %x", (__force int)flags);
	/* All else in the copy is as in the first PTE. */
	copy = pte_wrprotect(pte_mkold(pte_mkclean(copy)));
	first = pte_wrprotect(pte_mkold(pte_mkclean(first)));
	KUNIT_EXPECT_TRUE(t->test, pte_same_but_soft_dirty(copy, first));
	table_expect(t, "folio_pte_batch_flags");
}

static void test_batch_merge(struct kunit *test)
{
	static const fpb_t merge_flags[] = {
		0, FPB_MERGE_WRITE, FPB_MERGE_YOUNG_DIRTY, FPB_MERGE_WRITE | FPB_MERGE_YOUNG_DIRTY,
	};
	static const unsigned int odd_bits[] = {
		BIT_WRITE, BIT_YOUNG, BIT_DIRTY, BIT_WRITE | BIT_YOUNG | BIT_DIRTY,
	};
	const struct pte_range *r = test->param_value;
	struct table *t = table_create(test);
	struct folio *folio = table_folio(t, r->order);
	unsigned int first = range_first(r), nr = range_nr(r), p, b, f;
	/* The last place is the PTE behind the batch: it has no say. */
	unsigned int places[] = { 0, 1, nr / 2, nr - 1, nr };

	map_folio(t, r, folio, 0);
	for (p = 0; p < ARRAY_SIZE(places); p++) {
		unsigned int page = first + places[p], slot = range_base(r) + page;

		if (page >= range_mapped(r))
			continue;
		for (b = 0; b < ARRAY_SIZE(odd_bits); b++) {
			table_set(t, slot, make_pte(t, folio_page(folio, page), odd_bits[b]));
			for (f = 0; f < ARRAY_SIZE(merge_flags); f++)
				check_merge(t, r, merge_flags[f]);
			table_clear(t);
			map_folio(t, r, folio, 0);
		}
	}
}

struct odd_swap {
	const char *name;
	pte_t (*make)(struct table *t, unsigned int i);		/* the odd entry */
	pte_t (*common)(struct table *t, unsigned int i);	/* the others */
};

#define SWAP_TYPE	1
#define SWAP_OFFSET	1000

static pte_t odd_swap_none(struct table *t, unsigned int i)
{
	return make_swap_pte(SWAP_TYPE, SWAP_OFFSET + i);
}

static pte_t odd_swap_gap(struct table *t, unsigned int i)
{
	return make_swap_pte(SWAP_TYPE, SWAP_OFFSET + i + 1);
}

static pte_t odd_swap_back(struct table *t, unsigned int i)
{
	return make_swap_pte(SWAP_TYPE, SWAP_OFFSET + i - 1);
}

static pte_t odd_swap_type(struct table *t, unsigned int i)
{
	return make_swap_pte(SWAP_TYPE + 1, SWAP_OFFSET + i);
}

static pte_t odd_swap_exclusive(struct table *t, unsigned int i)
{
	return pte_swp_mkexclusive(odd_swap_none(t, i));
}

static pte_t odd_swap_soft_dirty(struct table *t, unsigned int i)
{
	return pte_swp_mksoft_dirty(odd_swap_none(t, i));
}

static pte_t odd_swap_uffd(struct table *t, unsigned int i)
{
	return pte_swp_mkuffd(odd_swap_none(t, i));
}

static pte_t odd_swap_hole(struct table *t, unsigned int i)
{
	return __pte(0);
}

static pte_t odd_swap_present(struct table *t, unsigned int i)
{
	return make_pte(t, folio_page(t->folios[0], 0), 0);
}

static const struct odd_swap odd_swaps[] = {
	{ "nothing odd", odd_swap_none, odd_swap_none },
	{ "all exclusive", odd_swap_exclusive, odd_swap_exclusive },
	{ "all soft-dirty", odd_swap_soft_dirty, odd_swap_soft_dirty },
	{ "all uffd", odd_swap_uffd, odd_swap_uffd },
	{ "gap in the offsets", odd_swap_gap, odd_swap_none },
	{ "offset again", odd_swap_back, odd_swap_none },
	{ "other swap device", odd_swap_type, odd_swap_none },
	{ "exclusive", odd_swap_exclusive, odd_swap_none },
	{ "not exclusive", odd_swap_none, odd_swap_exclusive },
	{ "soft-dirty", odd_swap_soft_dirty, odd_swap_none },
	{ "not soft-dirty", odd_swap_none, odd_swap_soft_dirty },
	{ "uffd", odd_swap_uffd, odd_swap_none },
	{ "not uffd", odd_swap_none, odd_swap_uffd },
	{ "hole", odd_swap_hole, odd_swap_none },
	{ "present PTE", odd_swap_present, odd_swap_none },
};

KUNIT_ARRAY_PARAM_DESC(odd_swap, odd_swaps, name);

static void skip_without_swap_batch(struct kunit *test)
{
	if (!KERNEL_IS_7_3 && IS_ENABLED(CONFIG_MEMCG))
		kunit_skip(test, "swap_pte_batch() of this kernel asks the memcg of a swap device");
}

static void test_swap_pte_batch(struct kunit *test)
{
	static const unsigned int nrs[] = { 1, 2, 15, 16, 17, PTRS_PER_PTE - MISALIGN };
	const struct odd_swap *odd = test->param_value;
	struct table *t = table_create(test);
	unsigned int n, p, i;

	table_folio(t, 0);
	if ((odd->make == odd_swap_soft_dirty || odd->common == odd_swap_soft_dirty) &&
	    !pgtable_supports_soft_dirty())
		kunit_skip(test, "CONFIG_MEM_SOFT_DIRTY is off");
	if ((odd->make == odd_swap_uffd || odd->common == odd_swap_uffd) &&
	    !pgtable_supports_uffd())
		kunit_skip(test, "CONFIG_HAVE_ARCH_USERFAULTFD_WP is off");
	skip_without_swap_batch(test);

	for (n = 0; n < ARRAY_SIZE(nrs); n++) {
		unsigned int nr = nrs[n], places[] = { 1, nr / 2, nr - 1 };

		for (i = 0; i < PTRS_PER_PTE - MISALIGN; i++)
			table_set(t, MISALIGN + i, odd->common(t, i));
		for (p = 0; p < ARRAY_SIZE(places); p++) {
			unsigned int at = places[p], want = nr, is;
			pte_t *ptep;

			if (!at)
				continue;
			if (odd->make != odd->common && at < nr)
				want = at;
			table_set(t, MISALIGN + at, odd->make(t, at));
			ptep = table_lock(t, MISALIGN);
			is = swap_pte_batch(ptep, nr, ptep_get(ptep));
			table_unlock(t, ptep);
			KUNIT_EXPECT_EQ_MSG(test, is, want, "%s at %u of %u", odd->name, at, nr);
			if (pte_present(odd->make(t, at)))
				table_clear(t);
			for (i = 0; i < PTRS_PER_PTE - MISALIGN; i++)
				table_set(t, MISALIGN + i, odd->common(t, i));
		}
	}
}

/* The reverse map: counters and flags of a folio of which a range is mapped or unmapped. */

static const struct pte_range rmap_ranges[] = {
	{ 0, 0, 1 },
	{ 2, 0, 1 }, { 2, 0, ALL }, { 2, 2, 1 }, { 2, LAST, 1 },
	{ 4, 0, 1 }, { 4, 0, 15 }, { 4, 0, ALL }, { 4, 8, 2 }, { 4, 1, 15 }, { 4, LAST, 1 },
	{ 9, 0, 17 }, { 9, 0, ALL }, { 9, 250, 17 }, { 9, 256, ALL }, { 9, LAST, 1 },
};

KUNIT_ARRAY_PARAM(rmap_range, rmap_ranges, range_desc);

/* Folios of order 0 and 1 have no place in the split queue. */
static const struct pte_range split_ranges[] = {
	{ 2, 0, 1 }, { 2, 0, ALL }, { 2, LAST, 1 },
	{ 4, 0, 15 }, { 4, 0, ALL }, { 4, 8, 2 }, { 4, 1, 15 }, { 4, LAST, 1 },
	{ 9, 0, 17 }, { 9, 0, ALL }, { 9, 250, 17 }, { 9, 256, ALL }, { 9, LAST, 1 },
};

KUNIT_ARRAY_PARAM(split_range, split_ranges, range_desc);

/* What is known of a folio and what has to hold for it. */
struct rmap_model {
	struct table *t;		/* that the folio belongs to */
	struct folio *folio;
	unsigned int nr_pages;
	int refs;
	long nr_anon_mapped;		/* of the node, without this folio */
	long nr_file_mapped;
	int mapcount[PTRS_PER_PTE];	/* of each page */
	bool exclusive[PTRS_PER_PTE];
	struct list_head allocated;	/* by a bench */
};

/* A node's counter with what its CPUs have not yet handed in. */
static long node_stat(struct pglist_data *node, enum node_stat_item item)
{
	long value = node_page_state(node, item);
#ifdef CONFIG_SMP
	struct per_cpu_nodestat __percpu *stats = node->per_cpu_nodestats;
	int cpu;

	for_each_online_cpu(cpu)
		value += per_cpu_ptr(stats, cpu)->vm_node_stat_diff[item];
#endif
	return value;
}

static void model_init(struct rmap_model *m, struct table *t, struct folio *folio)
{
	memset(m, 0, sizeof(*m));
	m->t = t;
	m->folio = folio;
	m->nr_pages = folio_nr_pages(folio);
	m->refs = folio_ref_count(folio);
	m->nr_anon_mapped = node_stat(folio_pgdat(folio), NR_ANON_MAPPED);
	m->nr_file_mapped = node_stat(folio_pgdat(folio), NR_FILE_MAPPED);
	INIT_LIST_HEAD(&m->allocated);
}

static void model_map(struct rmap_model *m, unsigned int first, unsigned int nr, int change)
{
	unsigned int i;

	for (i = first; i < first + nr; i++)
		m->mapcount[i] += change;
}

static void model_exclusive(struct rmap_model *m, unsigned int first, unsigned int nr, bool is)
{
	unsigned int i;

	for (i = first; i < first + nr; i++)
		m->exclusive[i] = is;
}

static void model_expect(struct rmap_model *m, const char *what)
{
	struct kunit *test = m->t->test;
	struct folio *folio = m->folio;
	int mapcount = 0, nr_mapped = 0, wrong_mapcount = -1, wrong_exclusive = -1;
	long anon = 0, file = 0;
	int i;

	for (i = 0; i < m->nr_pages; i++) {
		struct page *page = folio_page(folio, i);

		mapcount += m->mapcount[i];
		nr_mapped += m->mapcount[i] > 0;
		if (atomic_read(&page->_mapcount) + 1 != m->mapcount[i])
			wrong_mapcount = i;
		if (folio_test_anon(folio) && PageAnonExclusive(page) != m->exclusive[i])
			wrong_exclusive = i;
	}
	if (folio_test_anon(folio))
		anon = nr_mapped;
	else
		file = nr_mapped;

	KUNIT_EXPECT_EQ_MSG(test, wrong_mapcount, -1, "%s: mapcount of this page", what);
	KUNIT_EXPECT_EQ_MSG(test, wrong_exclusive, -1, "%s: PageAnonExclusive of this page", what);
	KUNIT_EXPECT_EQ_MSG(test, folio_mapcount(folio), mapcount, "%s", what);
	KUNIT_EXPECT_EQ_MSG(test, folio_ref_count(folio), m->refs, "%s", what);
	if (folio_test_large(folio)) {
		KUNIT_EXPECT_EQ_MSG(test, folio_entire_mapcount(folio), 0, "%s", what);
		KUNIT_EXPECT_EQ_MSG(test, folio_nr_pages_mapped(folio), nr_mapped, "%s", what);
	}
	anon -= node_stat(folio_pgdat(folio), NR_ANON_MAPPED) - m->nr_anon_mapped;
	file -= node_stat(folio_pgdat(folio), NR_FILE_MAPPED) - m->nr_file_mapped;
	KUNIT_EXPECT_EQ_MSG(test, anon, 0, "%s: missing in NR_ANON_MAPPED", what);
	KUNIT_EXPECT_EQ_MSG(test, file, 0, "%s: missing in NR_FILE_MAPPED", what);
}

/* A locked anonymous folio of @t that is at home at the table's start and not mapped yet. */
static struct folio *anon_folio(struct table *t, unsigned int order)
{
	struct folio *folio = table_folio(t, order);
	unsigned int i;
	int err = 0;

	mmap_write_lock(t->mm);
	if (!t->vma->anon_vma)
		err = anon_vma_prepare(t->vma);
	mmap_write_unlock(t->mm);
	KUNIT_ASSERT_EQ(t->test, err, 0);

	/* The only way to become anonymous leads through being mapped. */
	folio_lock(folio);
	folio_add_new_anon_rmap(folio, t->vma, TABLE_START, RMAP_EXCLUSIVE);
	if (folio_test_pmd_mappable(folio))
		folio_remove_rmap_pmd(folio, folio_page(folio, 0), t->vma);
	else
		folio_remove_rmap_ptes(folio, folio_page(folio, 0), 1 << order, t->vma);
	for (i = 0; i < 1 << order; i++)
		if (PageAnonExclusive(folio_page(folio, i)))
			ClearPageAnonExclusive(folio_page(folio, i));
	return folio;
}

static struct rmap_model *rmap_setup(struct kunit *test, unsigned int order, bool anon)
{
	struct rmap_model *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);
	struct table *t = table_create(test);

	KUNIT_ASSERT_NOT_NULL(test, m);
	if (IS_ENABLED(CONFIG_NO_PAGE_MAPCOUNT))
		kunit_skip(test, "CONFIG_NO_PAGE_MAPCOUNT: pages have no mapcount of their own");
	if (!KERNEL_IS_7_3 && !IS_ENABLED(CONFIG_TRANSPARENT_HUGEPAGE) && anon && order)
		kunit_skip(test, "this kernel has no large anonymous folios without THP");
	model_init(m, t, anon ? anon_folio(t, order) : table_folio(t, order));
	model_expect(m, "not mapped");
	return m;
}

static void add_anon(struct rmap_model *m, unsigned int first, unsigned int nr, rmap_t flags)
{
	folio_add_anon_rmap_ptes(m->folio, folio_page(m->folio, first), nr, m->t->vma,
				 slot_addr(first), flags);
	model_map(m, first, nr, 1);
	model_exclusive(m, first, nr, flags & RMAP_EXCLUSIVE);
}

/* Of @vma, which may be one of another mm. */
static void remove_rmap(struct rmap_model *m, unsigned int first, unsigned int nr,
			struct vm_area_struct *vma)
{
	folio_remove_rmap_ptes(m->folio, folio_page(m->folio, first), nr, vma);
	model_map(m, first, nr, -1);
}

static void check_add_anon_rmap(struct kunit *test, rmap_t flags)
{
	const struct pte_range *r = test->param_value;
	unsigned int first = range_first(r), nr = range_nr(r);
	struct rmap_model *m = rmap_setup(test, r->order, true);

	add_anon(m, first, nr, flags);
	model_expect(m, "range mapped");
	if (first)
		add_anon(m, 0, first, RMAP_NONE);
	model_expect(m, "pages before it mapped");
	remove_rmap(m, first, nr, m->t->vma);
	model_expect(m, "range unmapped");
	if (first)
		remove_rmap(m, 0, first, m->t->vma);
	model_expect(m, "all unmapped");
	folio_unlock(m->folio);
}

static void test_add_anon_rmap_ptes(struct kunit *test)
{
	check_add_anon_rmap(test, RMAP_NONE);
}

static void test_add_anon_rmap_ptes_exclusive(struct kunit *test)
{
	check_add_anon_rmap(test, RMAP_EXCLUSIVE);
}

static void add_file(struct rmap_model *m, unsigned int first, unsigned int nr)
{
	folio_add_file_rmap_ptes(m->folio, folio_page(m->folio, first), nr, m->t->vma);
	model_map(m, first, nr, 1);
}

static void test_add_file_rmap_ptes(struct kunit *test)
{
	const struct pte_range *r = test->param_value;
	unsigned int first = range_first(r), nr = range_nr(r);
	struct rmap_model *m = rmap_setup(test, r->order, false);

	add_file(m, first, nr);
	model_expect(m, "range mapped");
	add_file(m, 0, m->nr_pages);
	model_expect(m, "all mapped, the range twice");
	remove_rmap(m, first, nr, m->t->vma);
	model_expect(m, "all mapped once");
	remove_rmap(m, first, nr, m->t->vma);
	model_expect(m, "range unmapped");
	if (first)
		remove_rmap(m, 0, first, m->t->vma);
	if (first + nr < m->nr_pages)
		remove_rmap(m, first + nr, m->nr_pages - first - nr, m->t->vma);
	model_expect(m, "all unmapped");
}

static void test_dup_file_rmap_ptes(struct kunit *test)
{
	const struct pte_range *r = test->param_value;
	unsigned int first = range_first(r), nr = range_nr(r);
	struct rmap_model *m = rmap_setup(test, r->order, false);
	struct table *child = table_create(test);

	add_file(m, 0, m->nr_pages);
	dup_file_rmap(m->folio, folio_page(m->folio, first), nr, child->vma);
	model_map(m, first, nr, 1);
	model_expect(m, "range duplicated");
	remove_rmap(m, first, nr, child->vma);
	model_expect(m, "child unmapped");
	remove_rmap(m, 0, m->nr_pages, m->t->vma);
	model_expect(m, "all unmapped");
}

/* As fork has it: mm write-locked and its write_protect_seq odd. */
static int try_dup_anon(struct rmap_model *m, unsigned int first, unsigned int nr,
			struct table *child)
{
	struct mm_struct *mm = m->t->mm;
	int err;

	mmap_write_lock(mm);
	raw_write_seqcount_begin(&mm->write_protect_seq);
	err = try_dup_anon_rmap(m->folio, folio_page(m->folio, first), nr, child->vma, m->t->vma);
	raw_write_seqcount_end(&mm->write_protect_seq);
	mmap_write_unlock(mm);
	return err;
}

static void test_try_dup_anon_rmap_ptes(struct kunit *test)
{
	const struct pte_range *r = test->param_value;
	unsigned int first = range_first(r), nr = range_nr(r);
	struct rmap_model *m = rmap_setup(test, r->order, true);
	struct table *child = table_create(test);

	add_anon(m, 0, m->nr_pages, RMAP_EXCLUSIVE);
	KUNIT_EXPECT_EQ(test, try_dup_anon(m, first, nr, child), 0);
	model_map(m, first, nr, 1);
	model_exclusive(m, first, nr, false);
	model_expect(m, "range duplicated");
	remove_rmap(m, first, nr, child->vma);
	model_expect(m, "child unmapped");
	remove_rmap(m, 0, m->nr_pages, m->t->vma);
	model_expect(m, "all unmapped");
	folio_unlock(m->folio);
}

/* Which pages of the range are exclusive, and whether their folio's pin forbids to share them. */
static void check_try_dup_pinned(struct kunit *test, bool mm_has_pinned)
{
	static const enum pattern patterns[] = {
		PATTERN_ALL, PATTERN_FIRST, PATTERN_MIDDLE, PATTERN_LAST, PATTERN_NONE,
	};
	const struct pte_range *r = test->param_value;
	unsigned int first = range_first(r), nr = range_nr(r), p, i;
	struct rmap_model *m = rmap_setup(test, r->order, true);
	struct table *child = table_create(test);

	if (mm_has_pinned)
		mm_flags_set(MMF_HAS_PINNED, m->t->mm);
	/* What lies outside of the range is exclusive and has no say. */
	add_anon(m, 0, m->nr_pages, RMAP_EXCLUSIVE);
	KUNIT_ASSERT_EQ(test, try_grab_folio(m->folio, 1, FOLL_PIN), 0);
	m->refs = folio_ref_count(m->folio);

	for (p = 0; p < ARRAY_SIZE(patterns); p++) {
		bool refused = mm_has_pinned && patterns[p] != PATTERN_NONE;

		for (i = 0; i < nr; i++) {
			struct page *page = folio_page(m->folio, first + i);
			bool exclusive = in_pattern(patterns[p], i, nr);

			if (PageAnonExclusive(page))
				ClearPageAnonExclusive(page);
			if (exclusive)
				SetPageAnonExclusive(page);
			model_exclusive(m, first + i, 1, exclusive);
		}
		KUNIT_EXPECT_EQ(test, try_dup_anon(m, first, nr, child), refused ? -EBUSY : 0);
		if (!refused) {
			model_map(m, first, nr, 1);
			model_exclusive(m, first, nr, false);
		}
		model_expect(m, refused ? "refused" : "duplicated");
		if (!refused)
			remove_rmap(m, first, nr, child->vma);
	}
	unpin_folio(m->folio);
	m->refs = folio_ref_count(m->folio);
	remove_rmap(m, 0, m->nr_pages, m->t->vma);
	model_expect(m, "all unmapped");
	folio_unlock(m->folio);
}

static void test_try_dup_anon_rmap_ptes_pinned(struct kunit *test)
{
	check_try_dup_pinned(test, true);
}

/* Many references look like a pin of a small folio; only a mm that has ever pinned need care. */
static void test_try_dup_anon_rmap_ptes_never_pinned(struct kunit *test)
{
	check_try_dup_pinned(test, false);
}

/* A folio that is still mapped in part is queued for splitting, once; one that is not is not. */
static void test_remove_rmap_ptes_queues_split(struct kunit *test)
{
	const struct pte_range *r = test->param_value;
	unsigned int first, nr;
	struct rmap_model *m;

	if (!IS_ENABLED(CONFIG_TRANSPARENT_HUGEPAGE))
		kunit_skip(test, "CONFIG_TRANSPARENT_HUGEPAGE is off: there is no split queue");
	first = range_first(r);
	nr = range_nr(r);
	m = rmap_setup(test, r->order, true);
	add_anon(m, 0, m->nr_pages, RMAP_EXCLUSIVE);
	KUNIT_EXPECT_TRUE(test, list_empty(&m->folio->_deferred_list));

	remove_rmap(m, first, nr, m->t->vma);
	model_expect(m, "range unmapped");
	KUNIT_EXPECT_EQ(test, !list_empty(&m->folio->_deferred_list), nr < m->nr_pages);
	KUNIT_EXPECT_EQ(test, folio_test_partially_mapped(m->folio), nr < m->nr_pages);

	if (first)
		remove_rmap(m, 0, first, m->t->vma);
	if (first + nr < m->nr_pages)
		remove_rmap(m, first + nr, m->nr_pages - first - nr, m->t->vma);
	model_expect(m, "all unmapped");
	folio_unlock(m->folio);
}

/* Unmapping in one of two mms leaves no page unmapped, so there is nothing to split for. */
static void test_remove_rmap_ptes_still_mapped(struct kunit *test)
{
	const struct pte_range *r = test->param_value;
	unsigned int first = range_first(r), nr = range_nr(r);
	struct rmap_model *m = rmap_setup(test, r->order, true);
	struct table *child = table_create(test);

	add_anon(m, 0, m->nr_pages, RMAP_NONE);
	KUNIT_EXPECT_EQ(test, try_dup_anon(m, 0, m->nr_pages, child), 0);
	model_map(m, 0, m->nr_pages, 1);
	remove_rmap(m, first, nr, child->vma);
	model_expect(m, "range unmapped in the child");
	if (IS_ENABLED(CONFIG_TRANSPARENT_HUGEPAGE) && r->order > 1) {
		KUNIT_EXPECT_TRUE(test, list_empty(&m->folio->_deferred_list));
		KUNIT_EXPECT_FALSE(test, folio_test_partially_mapped(m->folio));
	}
	remove_rmap(m, 0, m->nr_pages, m->t->vma);
	if (first)
		remove_rmap(m, 0, first, child->vma);
	if (first + nr < m->nr_pages)
		remove_rmap(m, first + nr, m->nr_pages - first - nr, child->vma);
	model_expect(m, "all unmapped");
	folio_unlock(m->folio);
}

#ifdef CONFIG_MM_ID
static void expect_slots(struct rmap_model *m, bool shared, int count0, int count1,
			 const char *what)
{
	struct kunit *test = m->t->test;

	model_expect(m, what);
	KUNIT_EXPECT_EQ_MSG(test, folio_maybe_mapped_shared(m->folio), shared, "%s", what);
	KUNIT_EXPECT_EQ_MSG(test, m->folio->_mm_id_mapcount[0] + 1, count0, "%s", what);
	KUNIT_EXPECT_EQ_MSG(test, m->folio->_mm_id_mapcount[1] + 1, count1, "%s", what);
}

static void dup(struct rmap_model *m, unsigned int nr, struct table *child)
{
	KUNIT_EXPECT_EQ(m->t->test, try_dup_anon(m, 0, nr, child), 0);
	model_map(m, 0, nr, 1);
}

/* A folio has slots for two mms; the third is not counted, and "shared" errs on the safe side. */
static void test_third_mm(struct kunit *test)
{
	unsigned int order = *(const unsigned int *)test->param_value, nr = 1 << order;
	struct rmap_model *m = rmap_setup(test, order, true);
	struct table *second = table_create(test), *third = table_create(test);

	add_anon(m, 0, nr, RMAP_NONE);
	expect_slots(m, false, nr, 0, "one mm");
	dup(m, nr, second);
	expect_slots(m, true, nr, nr, "two mms");
	dup(m, nr, third);
	expect_slots(m, true, nr, nr, "the third finds no slot");

	remove_rmap(m, 0, nr - 1, second->vma);
	expect_slots(m, true, nr, 1, "the second has one page left");
	remove_rmap(m, nr - 1, 1, second->vma);
	expect_slots(m, true, nr, 0, "first and third");
	remove_rmap(m, 0, nr, third->vma);
	expect_slots(m, false, nr, 0, "the first alone again");

	dup(m, nr, second);
	dup(m, nr, third);
	remove_rmap(m, 0, nr, m->t->vma);
	expect_slots(m, true, 0, nr, "second and third");
	remove_rmap(m, 0, nr, second->vma);
	expect_slots(m, true, 0, 0, "the third alone, never counted: not known to be alone");
	remove_rmap(m, 0, nr, third->vma);
	expect_slots(m, false, 0, 0, "all unmapped");
	folio_unlock(m->folio);
}
#else
static void test_third_mm(struct kunit *test)
{
	kunit_skip(test, "CONFIG_MM_ID is off or this kernel has none: folios do not track mms");
}
#endif

/* MMU notifiers: a secondary MMU has to hear of the whole range, and its young counts as well. */

#define CAN_NOTIFY	(KERNEL_IS_7_3 && IS_ENABLED(CONFIG_MMU_NOTIFIER))

#if CAN_NOTIFY
struct young_listener {
	struct mmu_notifier mn;
	struct mm_struct *mm;
	bool young;		/* what it answers */
	unsigned int calls;
	unsigned int flushes;	/* of these, those that want the secondary TLB flushed */
	unsigned long start;
	unsigned long end;
};

static bool hear_young(struct young_listener *listener, unsigned long start, unsigned long end)
{
	listener->calls++;
	listener->start = start;
	listener->end = end;
	return listener->young;
}

static bool hear_clear_flush_young(struct mmu_notifier *mn, struct mm_struct *mm,
				   unsigned long start, unsigned long end)
{
	struct young_listener *listener = container_of(mn, struct young_listener, mn);

	listener->flushes++;
	return hear_young(listener, start, end);
}

static bool hear_clear_young(struct mmu_notifier *mn, struct mm_struct *mm,
			     unsigned long start, unsigned long end)
{
	return hear_young(container_of(mn, struct young_listener, mn), start, end);
}

static const struct mmu_notifier_ops young_listener_ops = {
	.clear_flush_young = hear_clear_flush_young,
	.clear_young = hear_clear_young,
};

static void young_listener_leave(void *data)
{
	struct young_listener *listener = data;

	mmu_notifier_unregister(&listener->mn, listener->mm);
}

static void check_notify(struct kunit *test, bool flush)
{
	const struct pte_range *r = test->param_value;
	struct table *t = table_create(test);
	struct young_listener *listener = kunit_kzalloc(test, sizeof(*listener), GFP_KERNEL);
	struct folio *folio = table_folio(t, r->order);
	unsigned int slot = range_slot(r), nr = range_nr(r), i;

	KUNIT_ASSERT_NOT_NULL(test, listener);
	listener->mn.ops = &young_listener_ops;
	listener->mm = t->mm;
	KUNIT_ASSERT_EQ(test, mmu_notifier_register(&listener->mn, t->mm), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, young_listener_leave, listener), 0);

	/* Young in the PTEs, in the secondary MMU, in both, in neither. */
	for (i = 0; i < 4; i++) {
		unsigned long addr = slot_addr(slot);
		bool pte_is_young = i & 1, young;
		pte_t *ptep;

		table_clear(t);
		map_folio(t, r, folio, pte_is_young ? BIT_YOUNG : 0);
		listener->young = i & 2;
		listener->calls = 0;
		listener->flushes = 0;
		ptep = table_lock(t, slot);
		young = flush ? clear_flush_young_ptes_notify(t->vma, addr, ptep, nr) :
				test_and_clear_young_ptes_notify(t->vma, addr, ptep, nr);
		table_unlock(t, ptep);

		KUNIT_EXPECT_EQ(test, young, pte_is_young || listener->young);
		KUNIT_EXPECT_EQ(test, listener->calls, 1);
		KUNIT_EXPECT_EQ(test, listener->flushes, flush);
		KUNIT_EXPECT_EQ(test, listener->start, addr);
		KUNIT_EXPECT_EQ(test, listener->end, addr + nr * PAGE_SIZE);
		table_read(t, t->after);
		KUNIT_EXPECT_FALSE(test, pte_young(t->after[slot]));
		KUNIT_EXPECT_FALSE(test, pte_young(t->after[slot + nr - 1]));
	}
}
#else
static void check_notify(struct kunit *test, bool flush)
{
	kunit_skip(test, KERNEL_IS_7_3 ? "CONFIG_MMU_NOTIFIER is off" :
		   "this kernel has no helper that ages a batch of PTEs");
}
#endif

static void test_clear_flush_young_ptes_notify(struct kunit *test)
{
	check_notify(test, true);
}

static void test_test_and_clear_young_ptes_notify(struct kunit *test)
{
	check_notify(test, false);
}

/* arm64's contpte blocks: which stay folded, which are unfolded, and that nothing is lost. */

#define CAN_FOLD	IS_ENABLED(CONFIG_ARM64_CONTPTE)
#define CONTPTE_ORDER	6	/* a folio of four blocks of 16 pages */
#define CONTPTE_SLOT	64	/* aligned */

struct contpte_case {
	const char *name;
	const struct table_op *op;
	unsigned int variant;
	unsigned int first;
	unsigned int nr;
	const char *folded;	/* the four blocks after the call */
	unsigned int bits;	/* of all PTEs before it */
};

static const struct contpte_case contpte_cases[] = {
	{ "wrprotect a block", &op_wrprotect_ptes, 0, 16, 16, "1111", BIT_WRITE },
	{ "wrprotect two blocks", &op_wrprotect_ptes, 0, 16, 32, "1111", BIT_WRITE },
	{ "wrprotect a block's first PTE", &op_wrprotect_ptes, 0, 16, 1, "1011", BIT_WRITE },
	{ "wrprotect a block's last PTE", &op_wrprotect_ptes, 0, 31, 1, "1011", BIT_WRITE },
	{ "wrprotect all but the last PTE", &op_wrprotect_ptes, 0, 16, 15, "1011", BIT_WRITE },
	{ "wrprotect all but the first PTE", &op_wrprotect_ptes, 0, 17, 15, "1011", BIT_WRITE },
	{ "wrprotect across a boundary", &op_wrprotect_ptes, 0, 15, 2, "0011", BIT_WRITE },
	{ "wrprotect half, whole, half", &op_wrprotect_ptes, 0, 8, 32, "0101", BIT_WRITE },
	{ "wrprotect whole and one PTE", &op_wrprotect_ptes, 0, 16, 17, "1101", BIT_WRITE },
	{ "clear a block", &op_clear_full_ptes, 0, 16, 16, "1011", BIT_WRITE },
	{ "clear a PTE", &op_clear_full_ptes, 0, 20, 1, "1011", BIT_WRITE },
	{ "clear two PTEs", &op_clear_full_ptes, 0, 20, 2, "1011", BIT_WRITE },
	{ "clear half, whole, half", &op_clear_full_ptes, 0, 8, 32, "0001", BIT_WRITE },
	{ "get and clear a block", &op_get_and_clear_full_ptes, 0, 16, 16, "1011", BIT_WRITE },
	{ "get and clear a PTE", &op_get_and_clear_full_ptes, 0, 20, 1, "1011", BIT_WRITE },
	{ "get and clear two PTEs", &op_get_and_clear_full_ptes, 0, 20, 2, "1011", BIT_WRITE },
	{ "get and clear half, whole, half", &op_get_and_clear_full_ptes, 0, 8, 32, "0001" },
	{ "age a block", &op_test_and_clear_young_ptes, 0, 16, 16, "1111" },
	{ "age a PTE", &op_test_and_clear_young_ptes, 0, 20, 1, "1111" },
	{ "age half, whole, half", &op_test_and_clear_young_ptes, 0, 8, 32, "1111" },
	{ "age and flush a block", &op_clear_flush_young_ptes, 0, 16, 16, "1111" },
	{ "age and flush a PTE", &op_clear_flush_young_ptes, 0, 20, 1, "1111" },
	{ "age and flush half, whole, half", &op_clear_flush_young_ptes, 0, 8, 32, "1111" },
	{ "make a block old", &op_clear_young_dirty_ptes, 0, 16, 16, "1111", BIT_WRITE },
	{ "make a PTE clean", &op_clear_young_dirty_ptes, 1, 20, 1, "1111", BIT_WRITE },
	{ "make half, whole, half old and clean", &op_clear_young_dirty_ptes, 2, 8, 32, "1111",
	  BIT_WRITE },
	{ "reprotect a block", &op_modify_prot_ptes, 0, 16, 16, "1111", BIT_WRITE },
	{ "reprotect a PTE", &op_modify_prot_ptes, 0, 20, 1, "1011", BIT_WRITE },
	{ "reprotect half, whole, half", &op_modify_prot_ptes, 0, 8, 32, "0101", BIT_WRITE },
	{ "reprotect a block's last PTE to what the others are", &op_modify_prot_ptes, 1, 31, 1,
	  "1111", BIT_WRITE },
	{ "set a block", &op_set_ptes, 0, 16, 16, "1111" },
	{ "set a block's last PTE", &op_set_ptes, 0, 31, 1, "1111" },
	{ "set a block's first PTE", &op_set_ptes, 0, 16, 1, "1011" },
	{ "set half, whole, half", &op_set_ptes, 0, 8, 32, "0101" },
};

KUNIT_ARRAY_PARAM_DESC(contpte, contpte_cases, name);

#ifdef CONFIG_ARM64_CONTPTE
/* As hardware does it: it sets the bits in one PTE of a folded block, whichever it likes. */
static void hardware_touches(struct table *t, unsigned int slot, bool dirties)
{
	pte_t *ptep = table_lock(t, slot);
	pteval_t val = pte_val(__ptep_get(ptep)) | PTE_AF;

	WRITE_ONCE(*ptep, __pte(dirties ? val & ~PTE_RDONLY : val));
	table_unlock(t, ptep);
}

static void test_contpte(struct kunit *test)
{
	const struct contpte_case *contpte = test->param_value;
	const struct table_op *op = contpte->op;
	unsigned int first = CONTPTE_SLOT + contpte->first, i;
	struct table *t = table_create(test);
	struct folio *folio = table_folio(t, CONTPTE_ORDER);
	struct call c = {
		.t = t, .slot = first, .nr = contpte->nr, .addr = slot_addr(first),
		.variant = contpte->variant,
	};
	struct outcome want;

	if (!op->batched)
		kunit_skip(test, "this kernel has no %s()", op->name);
	for (i = 0; i < 64; i++)
		t->want[i] = make_pte(t, folio_page(folio, i), contpte->bits);
	table_set_all(t, CONTPTE_SLOT, t->want, 64);
	for (i = 0; i < 64; i++)
		KUNIT_ASSERT_TRUE_MSG(test, slot_is_folded(t, CONTPTE_SLOT + i), "PTE %u", i);
	for (i = 0; i < 4; i++)
		hardware_touches(t, CONTPTE_SLOT + 16 * i + 5, contpte->bits & BIT_WRITE);
	for (i = 0; i < c.nr && op->fill == FILL_EMPTY; i++) {
		c.ptep = table_lock(t, first + i);
		ptep_get_and_clear(t->mm, slot_addr(first + i), c.ptep);
		table_unlock(t, c.ptep);
	}

	table_read(t, t->before);
	c.pte = make_pte(t, folio_page(folio, contpte->first), contpte->bits);
	for (i = 0; i < c.nr; i++)
		t->after[i] = make_pte(t, folio_page(folio, contpte->first + i), contpte->bits);
	want = model_call(&c, op, t->after);
	call_batched(&c, op);
	table_expect(t, op->name);
	expect_outcome(test, c.is, want, op->name);
	for (i = 0; i < 64; i++)
		KUNIT_EXPECT_EQ_MSG(test, slot_is_folded(t, CONTPTE_SLOT + i),
				    contpte->folded[i / 16] == '1', "PTE %u", i);
}
#else
static void test_contpte(struct kunit *test)
{
	kunit_skip(test, "there are no contpte blocks without CONFIG_ARM64_CONTPTE");
}
#endif

/* Only what is aligned in both address spaces, alike, and all of one folio may be folded. */
static void test_contpte_not_folded(struct kunit *test)
{
#ifdef CONFIG_ARM64_CONTPTE
	const struct pte_range *r = test->param_value;
	unsigned int base = range_base(r), mapped = range_mapped(r), i;
	struct table *t = table_create(test);
	struct folio *folio = table_folio(t, r->order);
	bool folded = r->order >= 4 && !r->shift;

	map_folio(t, r, folio, 0);
	for (i = 0; i < mapped; i++)
		KUNIT_EXPECT_EQ(test, slot_is_folded(t, base + i), folded);
	/* One writable PTE among read-only ones. */
	table_set(t, base, make_pte(t, folio_page(folio, 0), BIT_WRITE));
	table_set(t, base + mapped - 1, make_pte(t, folio_page(folio, mapped - 1), 0));
	for (i = 0; i < min(mapped, 16U); i++)
		KUNIT_EXPECT_FALSE(test, slot_is_folded(t, base + i));
#else
	kunit_skip(test, "there are no contpte blocks without CONFIG_ARM64_CONTPTE");
#endif
}

/* Pages that are not aligned in physical memory, set at addresses that are. */
static void test_contpte_unaligned_pages(struct kunit *test)
{
#ifdef CONFIG_ARM64_CONTPTE
	struct table *t = table_create(test);
	struct folio *folio = table_folio(t, CONTPTE_ORDER);
	unsigned int nr = 2 * CONT_PTES, i;
	pte_t *ptep;

	for (i = 0; i < nr; i++)
		t->want[CONTPTE_SLOT + i] = make_pte(t, folio_page(folio, 1 + i), 0);
	ptep = table_lock(t, CONTPTE_SLOT);
	set_ptes(t->mm, slot_addr(CONTPTE_SLOT), ptep, t->want[CONTPTE_SLOT], nr);
	table_unlock(t, ptep);
	table_expect(t, "set_ptes");
	for (i = 0; i < nr; i++)
		KUNIT_EXPECT_FALSE(test, slot_is_folded(t, CONTPTE_SLOT + i));
#else
	kunit_skip(test, "there are no contpte blocks without CONFIG_ARM64_CONTPTE");
#endif
}

/* Two folios that fill an aligned block together must not be folded: either may go alone. */
static void test_contpte_two_folios(struct kunit *test)
{
#ifdef CONFIG_ARM64_CONTPTE
	struct table *t = table_create(test);
	struct folio *next, *folio = table_adjacent_folios(t, 3, &next);
	unsigned int i;

	for (i = 0; i < 8; i++) {
		t->want[i] = make_pte(t, folio_page(folio, i), 0);
		t->want[8 + i] = make_pte(t, folio_page(next, i), 0);
	}
	table_set_all(t, CONTPTE_SLOT, t->want, CONT_PTES);
	for (i = 0; i < CONT_PTES; i++)
		KUNIT_EXPECT_FALSE(test, slot_is_folded(t, CONTPTE_SLOT + i));
#else
	kunit_skip(test, "there are no contpte blocks without CONFIG_ARM64_CONTPTE");
#endif
}

/* Property tests: random tables and calls. */

#define RANDOM_CALLS	4000
#define RANDOM_BATCHES	4000

static unsigned int draw(struct rnd_state *rnd, unsigned int below)
{
	return prandom_u32_state(rnd) % below;
}

static void draw_seed(struct kunit *test, struct rnd_state *rnd)
{
	unsigned long chosen = seed ?: get_random_u32();

	kunit_info(test, "folio_batch_kunit.seed=%lu", chosen);
	prandom_seed_state(rnd, chosen);
}

/* A folio, mapped from a random slot on. */
struct random_map {
	struct folio *folio;
	unsigned int base;
	unsigned int nr;
};

static struct random_map draw_map(struct rnd_state *rnd, struct folio *const folios[4])
{
	/* Small tables are quick and break more: the largest folio comes once in ten times. */
	static const u8 weights[10] = { 0, 1, 1, 1, 2, 2, 2, 2, 2, 3 };
	struct random_map map = { .folio = folios[weights[draw(rnd, 10)]] };
	unsigned int nr = folio_nr_pages(map.folio);

	map.base = draw(rnd, PTRS_PER_PTE - min_t(unsigned int, nr, PTRS_PER_PTE - 64));
	if (draw(rnd, 2))
		map.base = ALIGN_DOWN(map.base, 16);
	map.nr = min_t(unsigned int, nr, PTRS_PER_PTE - map.base);
	return map;
}

/* Random bits for a mapped folio's PTEs; half of the tables are writable all over or nowhere. */
static void draw_ptes(struct rnd_state *rnd, struct table *t, const struct random_map *map,
		      bool uniform)
{
	unsigned int common = draw(rnd, 2) ? BIT_WRITE : 0, i;
	unsigned int rarity = 1 + draw(rnd, 32);

	if (uniform && pgtable_supports_soft_dirty())
		common |= BIT_SOFT_DIRTY;
	uniform |= draw(rnd, 2);
	memset(t->want, 0, sizeof(t->want));
	for (i = 0; i < map->nr; i++) {
		unsigned int bits = uniform || draw(rnd, 2) ? common : common ^ BIT_WRITE;

		bits |= draw(rnd, rarity) ? 0 : BIT_YOUNG;
		bits |= draw(rnd, rarity) ? 0 : BIT_DIRTY;
		t->want[map->base + i] = make_pte(t, folio_page(map->folio, i), bits);
	}
}

/* The helper that works on one PTE, one PTE after the other: the reference for the batched one. */
static struct outcome call_singles(struct call *c, const struct table_op *op, const pte_t *ptes)
{
	struct call one = *c;
	struct outcome all = { .pte = __pte(0) };
	pte_t *ptep = table_lock(c->t, c->slot);
	unsigned int i;

	for (i = 0; i < c->nr; i++) {
		one.slot = c->slot + i;
		one.nr = 1;
		one.addr = slot_addr(one.slot);
		one.ptep = ptep + i;
		one.pte = ptes[i];
		one.old = ptes[i];
		one.is = (struct outcome){ .pte = __pte(0) };
		op->single(&one);
		all.young |= one.is.young;
		if (i == 0)
			all.pte = one.is.pte;
		else if (op->returns_pte && pte_young(one.is.pte))
			all.pte = pte_mkyoung(all.pte);
		if (i && op->returns_pte && pte_dirty(one.is.pte))
			all.pte = pte_mkdirty(all.pte);
	}
	table_unlock(c->t, ptep);
	return all;
}

/*
 * Compares the table with what the single helpers have left in @singles. A block that only one of
 * the two ways has folded may differ in young and dirty, which a folded block shares.
 */
static bool expect_as_singles(struct table *t, const pte_t *singles, const unsigned long *folded,
			      const char *what)
{
	unsigned int i, wrong = 0, first = 0;

	for (i = 0; i < PTRS_PER_PTE; i++) {
		pte_t a = singles[i], b = t->after[i];

		if (test_bit(i, folded) != slot_is_folded(t, i)) {
			a = pte_mkold(pte_mkclean(a));
			b = pte_mkold(pte_mkclean(b));
		}
		if (!pte_alike(a, b) && !wrong++)
			first = i;
	}
	KUNIT_EXPECT_EQ_MSG(t->test, wrong, 0,
			    "%s leaves PTE %u as %llx, its single helper leaves %llx", what, first,
			    (u64)pte_val(t->after[first]), (u64)pte_val(singles[first]));
	return !wrong;
}

static void test_random_calls(struct kunit *test)
{
	struct table *t = table_create(test);
	struct folio *const folios[] = {
		table_folio(t, 0), table_folio(t, 2), table_folio(t, 4), table_folio(t, 9),
	};
	pte_t *ptes = kunit_kcalloc(test, 2 * PTRS_PER_PTE, sizeof(*ptes), GFP_KERNEL);
	bool broken_set_ptes = set_ptes_is_broken(t, folios[3]);
	DECLARE_BITMAP(folded, PTRS_PER_PTE);
	unsigned int i, n;
	struct rnd_state rnd;

	KUNIT_ASSERT_NOT_NULL(test, ptes);
	draw_seed(test, &rnd);
	for (n = 0; n < RANDOM_CALLS; n++) {
		const struct table_op *op = table_ops[draw(&rnd, ARRAY_SIZE(table_ops))];
		struct random_map map = draw_map(&rnd, folios);
		unsigned int first = draw(&rnd, map.nr);
		struct call c = { .t = t, .slot = map.base + first };
		pte_t *singles = ptes + PTRS_PER_PTE;
		struct outcome want, by_singles;
		bool good;

		c.nr = 1 + draw(&rnd, map.nr - first);
		c.addr = slot_addr(c.slot);
		c.variant = draw(&rnd, op->nr_variants);
		if (!op->batched || (op == &op_set_ptes && c.nr > 2 && broken_set_ptes))
			continue;

		draw_ptes(&rnd, t, &map, op->fill == FILL_UNIFORM);
		for (i = 0; i < map.nr && op->fill == FILL_SWAP; i++)
			t->want[map.base + i] = make_swap_pte(1, i);
		c.pte = t->want[c.slot];
		c.old = c.pte;
		for (i = 0; i < c.nr && op->fill == FILL_EMPTY; i++)
			ptes[i] = pte_advance_pfn(c.pte, i);
		for (i = 0; i < c.nr && op->fill == FILL_EMPTY; i++)
			t->want[c.slot + i] = __pte(0);

		if (op->single) {
			table_clear(t);
			table_set_filled(t);
			by_singles = call_singles(&c, op, ptes);
			table_read(t, singles);
			for (i = 0; i < PTRS_PER_PTE; i++)
				__assign_bit(i, folded, slot_is_folded(t, i));
		}
		table_clear(t);
		table_set_filled(t);
		table_read(t, t->before);
		want = model_call(&c, op, ptes);
		call_batched(&c, op);
		good = table_expect(t, op->name) && expect_outcome(test, c.is, want, op->name);
		if (op->single && good)
			good = expect_as_singles(t, singles, folded, op->name) &&
			       expect_outcome(test, c.is, by_singles, op->name);
		if (!good) {
			kunit_err(test, "call %u: %s, order %u at slot %u, %u PTEs from slot %u\n",
				  n, op->name, folio_order(map.folio), map.base, c.nr, c.slot);
			return;
		}
	}
}

/* Random tables with now and then an odd entry; @odd remembers where something else is mapped. */
static void test_random_batches(struct kunit *test)
{
	static const unsigned int odd_bits[] = { BIT_UFFD, BIT_PROTNONE, BIT_SOFT_DIRTY };
	struct table *t = table_create(test);
	struct folio *const folios[] = {
		table_folio(t, 2), table_folio(t, 2), table_folio(t, 4), table_folio(t, 9),
	};
	struct folio *stranger = table_folio(t, 0);
	DECLARE_BITMAP(odd, PTRS_PER_PTE);
	struct rnd_state rnd;
	unsigned int n, i;

	draw_seed(test, &rnd);
	for (n = 0; n < RANDOM_BATCHES; n++) {
		struct random_map map = draw_map(&rnd, folios);
		unsigned int slot = map.base + draw(&rnd, map.nr), end = map.base + map.nr;
		unsigned int rarity = 4 << draw(&rnd, 8), max_nr, want, is;
		fpb_t flags = respect_flags[draw(&rnd, ARRAY_SIZE(respect_flags))] & FPB_SUPPORTED;

		draw_ptes(&rnd, t, &map, false);
		bitmap_zero(odd, PTRS_PER_PTE);
		for (i = map.base; i < end; i++) {
			unsigned int kind = ODD_HOLE + draw(&rnd, 7);
			struct odd_pte how = { .kind = kind, .ends = true };

			if (i == slot || i == map.base || draw(&rnd, rarity))
				continue;
			if (kind > ODD_ORDER)
				how = (struct odd_pte){ .bit = odd_bits[draw(&rnd, 3)] };
			if (!bits_supported(how.bit) ||
			    (kind == ODD_MIGRATION && !IS_ENABLED(CONFIG_MIGRATION)))
				continue;
			t->want[i] = make_odd_pte(t, &how, map.folio, stranger, i - map.base, 0);
			__assign_bit(i, odd, how.bit != BIT_SOFT_DIRTY);
		}
		table_clear(t);
		table_set_filled(t);
		table_read(t, t->before);

		max_nr = 1 + draw(&rnd, PTRS_PER_PTE - slot);
		for (want = 1; want < max_nr && slot + want < end; want++) {
			if (test_bit(slot + want, odd))
				break;
			if (!model_goes_on(t, slot, slot + want, flags))
				break;
		}
		is = batch_at(t, slot, max_nr, flags, NULL);
		KUNIT_EXPECT_EQ_MSG(test, is, want,
				    "table %u: order %u at slot %u, from slot %u, max %u, flags %x",
				    n, folio_order(map.folio), map.base, slot, max_nr,
				    (__force int)flags);
		if (is != want)
			return;
	}
}

/* A live mm: faults, fork, protection and unmapping as they happen. */

static const unsigned int live_orders[] = { 0, 2, 4, 8, 9 };
static const unsigned int live_large_orders[] = { 2, 4, 8, 9 };

KUNIT_ARRAY_PARAM(live_order, live_orders, order_desc);
KUNIT_ARRAY_PARAM(live_large_order, live_large_orders, order_desc);

static void expect_content(struct live *l, unsigned int first, unsigned int nr)
{
	unsigned int i, wrong = 0;

	for (i = first; i < first + nr; i++)
		wrong += load(l, i) != content(i);
	KUNIT_EXPECT_EQ_MSG(l->test, wrong, 0, "pages with the wrong content");
}

static void expect_anon_pages(struct live *l, struct mm_struct *mm, unsigned int nr)
{
	KUNIT_EXPECT_EQ(l->test, percpu_counter_sum(&mm->rss_stat[MM_ANONPAGES]), nr);
}

/* All references of the folio are from the mappings. */
static void expect_mappings(struct live *l, unsigned int nr)
{
	KUNIT_EXPECT_EQ(l->test, folio_mapcount(l->folio), nr);
	KUNIT_EXPECT_EQ(l->test, folio_ref_count(l->folio), nr);
}

/* What a store to a page that may be shared, but is not, leads to in the kernel under test. */
static char reused(struct live *l)
{
	return KERNEL_IS_7_3 || l->nr == 1 ? 'w' : 'c';
}

static void test_live_populate(struct kunit *test)
{
	struct live *l = live_create(test, *(const unsigned int *)test->param_value);

	expect_all(l, l->mm, 'w', "populated");
	expect_anon_pages(l, l->mm, l->nr);
	expect_mappings(l, l->nr);
	expect_content(l, 0, l->nr);
}

static void test_live_fork(struct kunit *test)
{
	struct live *l = live_create(test, *(const unsigned int *)test->param_value);
	struct mm_struct *child = live_fork(l);

	expect_all(l, l->mm, 'r', "parent after fork");
	expect_all(l, child, 'r', "child after fork");
	expect_anon_pages(l, l->mm, l->nr);
	expect_anon_pages(l, child, l->nr);
	expect_mappings(l, 2 * l->nr);
	expect_content(l, 0, l->nr);
	expect_content_of(l, child, l->nr, 0);

	live_exit(l, child);
	expect_all(l, l->mm, 'r', "parent after the child's exit");
	expect_mappings(l, l->nr);
}

/* A store to what the child maps as well copies one page, and the child does not see it. */
static void test_live_copy(struct kunit *test)
{
	struct live *l = live_create(test, *(const unsigned int *)test->param_value);
	struct mm_struct *child = live_fork(l);
	unsigned int page = l->nr - 1;

	store(l, page, 255);
	expect_all_but(l, l->mm, 'r', page, 'c', "parent after its store");
	expect_all(l, child, 'r', "child after the parent's store");
	expect_anon_pages(l, l->mm, l->nr);
	expect_mappings(l, 2 * l->nr - 1);
	KUNIT_EXPECT_EQ(test, load(l, page), 255);
	expect_content(l, 0, page);
	expect_content_of(l, child, l->nr, 0);
}

/* A store to what nobody else maps any more. */
static void test_live_reuse(struct kunit *test)
{
	struct live *l = live_create(test, *(const unsigned int *)test->param_value);
	unsigned int page = l->nr / 2;

	live_exit(l, live_fork(l));
	store(l, page, content(page));
	expect_all_but(l, l->mm, 'r', page, reused(l), "after the store");
	expect_anon_pages(l, l->mm, l->nr);
	expect_mappings(l, reused(l) == 'w' ? l->nr : l->nr - 1);
	expect_content(l, 0, l->nr);
}

/* The child that the parent has left alone reuses as well: no mm is privileged. */
static void test_live_reuse_in_child(struct kunit *test)
{
	struct live *l = live_create(test, *(const unsigned int *)test->param_value);
	struct mm_struct *child = live_fork(l);
	unsigned int i;
	u8 value = 200;

	for (i = 0; i < l->nr; i++)
		store(l, i, content(i));
	expect_all(l, l->mm, 'c', "parent has copied all of it");
	lru_add_drain();
	expect_mappings(l, l->nr);
	KUNIT_EXPECT_EQ(test, access_remote_vm(child, page_addr(l, 0), &value, 1, FOLL_WRITE), 1);
	expect_all_but(l, child, 'r', 0, reused(l), "child after its store");
	expect_content(l, 0, l->nr);
}

/* Two children: the folio has no slot for the third mm, so nobody may reuse it while it lives. */
static void test_live_two_children(struct kunit *test)
{
	struct live *l = live_create(test, *(const unsigned int *)test->param_value);
	struct mm_struct *second = live_fork(l), *third = live_fork(l);

	expect_mappings(l, 3 * l->nr);
	live_exit(l, second);
	store(l, 0, content(0));
	expect_all_but(l, l->mm, 'r', 0, 'c', "store while the third mm maps it");
	live_exit(l, third);
	expect_mappings(l, l->nr - 1);
	store(l, 1, content(1));
	KUNIT_EXPECT_EQ(test, pte_state(l, l->mm, 1), reused(l));
	expect_content(l, 0, l->nr);
}

/* Pinned pages are copied for the child at fork and stay the parent's own. */
static void test_live_fork_pinned(struct kunit *test)
{
	struct live *l = live_create(test, *(const unsigned int *)test->param_value);
	unsigned int page = l->nr / 2;
	struct mm_struct *child;
	struct page *pinned;

	KUNIT_ASSERT_EQ(test, pin_user_pages_fast(page_addr(l, page), 1, FOLL_WRITE, &pinned), 1);
	KUNIT_EXPECT_PTR_EQ(test, pinned, folio_page(l->folio, page));
	child = live_fork(l);
	/* The pin is the folio's: none of its pages is shared. */
	expect_all(l, l->mm, 'w', "parent after fork");
	expect_all(l, child, 'c', "child after fork");
	expect_content_of(l, child, l->nr, 0);
	unpin_user_page(pinned);
	expect_mappings(l, l->nr);
}

/* Of a mapped page, without a fault. */
static void set_dirty(struct live *l, unsigned int page, bool dirty)
{
	pte_t *ptep = live_lock(l, l->mm, page);
	pte_t pte = ptep_clear_flush(l->vma, page_addr(l, page), ptep);

	pte = pte_mkyoung(dirty ? pte_mkdirty(pte) : pte_mkclean(pte));
	set_pte_at(l->mm, page_addr(l, page), ptep, pte);
	live_unlock(l, ptep);
}

/* The child's PTEs are as dirty as the parent's, page by page, and old. */
static void test_live_fork_dirty(struct kunit *test)
{
	struct live *l = live_create(test, *(const unsigned int *)test->param_value);
	unsigned int dirty_half, i;

	for (dirty_half = 0; dirty_half < 2; dirty_half++) {
		unsigned int wrong = 0, young = 0;
		struct mm_struct *child;

		for (i = 0; i < l->nr; i++)
			set_dirty(l, i, 2 * i / l->nr == dirty_half);
		child = live_fork(l);
		for (i = 0; i < l->nr; i++) {
			pte_t of_parent = live_pte(l, l->mm, i), of_child = live_pte(l, child, i);

			wrong += !pte_dirty(of_child) != !pte_dirty(of_parent);
			young += !!pte_young(of_child);
		}
		KUNIT_EXPECT_EQ(test, wrong, 0);
		KUNIT_EXPECT_EQ(test, young, 0);
		live_exit(l, child);
	}
}

/* Where read-only and writable PTEs are mixed, none stays writable after fork. */
static void test_live_fork_mixed(struct kunit *test)
{
	struct live *l = live_create(test, *(const unsigned int *)test->param_value);
	char states[LIVE_PAGES + 1] = { };
	struct mm_struct *child;
	unsigned int i;

	for (i = 0; i < l->nr; i++)
		states[i] = i % 3 ? 'w' : 'x';
	set_states(l, states);
	child = live_fork(l);
	expect_all(l, l->mm, 'r', "parent after fork");
	expect_all(l, child, 'r', "child after fork");
	expect_content(l, 0, l->nr);
}

/* Holes, NUMA hints and userfaultfd's write protection among the others are as they were. */
static void test_live_fork_odd(struct kunit *test)
{
	struct live *l = live_create(test, *(const unsigned int *)test->param_value);
	vm_flags_t uffd = (pgtable_supports_uffd() ? VM_UFFD_WP : 0) | VM_UFFD_RWP;
	bool numa = IS_ENABLED(CONFIG_NUMA_BALANCING);
	char states[LIVE_PAGES + 1] = { };
	unsigned int i, mapped = 0;
	struct mm_struct *child;

	for (i = 0; i < l->nr; i++) {
		states[i] = "wnww.wuwwpww"[i % 12];
		if ((states[i] == 'n' && !numa) || (states[i] == 'u' && !(uffd & VM_UFFD_WP)) ||
		    (states[i] == 'p' && !VM_UFFD_RWP))
			states[i] = 'w';
		mapped += states[i] != '.';
	}
	set_states(l, states);
	live_vm_flags(l, uffd, 0);
	child = live_fork(l);
	strreplace(states, 'w', 'r');
	expect_ptes(l, l->mm, states, "parent after fork");
	expect_ptes(l, child, states, "child after fork");
	expect_mappings(l, 2 * mapped);
	expect_anon_pages(l, child, mapped);
	live_exit(l, child);
	expect_mappings(l, mapped);
	live_vm_flags(l, 0, uffd);
}

KUNIT_DEFINE_ACTION_WRAPPER(fput_action, fput, struct file *);

/* Unmapping hands the dirty bits of a file's PTEs to its folios, here small ones. */
static void test_live_file_dirty(struct kunit *test)
{
	struct live l = { .test = test, .nr = 4 };
	struct folio *folios[4];
	struct file *file;
	unsigned int i;

	file = shmem_file_setup("folio_batch", l.nr * PAGE_SIZE, NO_VMA_FLAGS);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, file);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, fput_action, file), 0);
	l.addr = kunit_vm_mmap(test, file, 0, l.nr * PAGE_SIZE, PROT_READ | PROT_WRITE,
			       MAP_SHARED, 0);
	KUNIT_ASSERT_NE_MSG(test, l.addr, 0, "no mm to map into");
	KUNIT_ASSERT_FALSE_MSG(test, IS_ERR_VALUE(l.addr), "mmap: %ld", (long)l.addr);
	l.mm = current->mm;
	for (i = 0; i < l.nr; i++) {
		store(&l, i, content(i));
		KUNIT_ASSERT_TRUE(test, pte_dirty(live_pte(&l, l.mm, i)));
		folios[i] = page_folio(pte_page(live_pte(&l, l.mm, i)));
		folio_get(folios[i]);
		folio_clear_dirty(folios[i]);
	}

	/* Two at once, and then one by one. */
	KUNIT_ASSERT_EQ(test, vm_munmap(l.addr, 2 * PAGE_SIZE), 0);
	for (i = 2; i < l.nr; i++)
		KUNIT_ASSERT_EQ(test, vm_munmap(page_addr(&l, i), PAGE_SIZE), 0);
	for (i = 0; i < l.nr; i++) {
		KUNIT_EXPECT_TRUE(test, folio_test_dirty(folios[i]));
		KUNIT_EXPECT_EQ(test, folio_mapcount(folios[i]), 0);
		folio_put(folios[i]);
	}
	KUNIT_EXPECT_EQ(test, percpu_counter_sum(&l.mm->rss_stat[MM_SHMEMPAGES]), 0);
}

/* A large folio of a file: tmpfs has one of the size of the file, where it is mounted so. */

#ifdef CONFIG_TRANSPARENT_HUGEPAGE
static void unmount(void *mnt)
{
	/* A kernel thread's last fput() of a file is put off. */
	flush_delayed_fput();
	kern_unmount(mnt);
}

static struct file *tmpfs_file(struct kunit *test, unsigned int order)
{
	char options[] = "huge=within_size";
	struct vfsmount *mnt;
	struct folio *folio;
	struct file *file;

	if (!has_transparent_hugepage())
		kunit_skip(test, "this machine has no huge pages");
	mnt = vfs_kern_mount(get_fs_type("tmpfs"), SB_KERNMOUNT, "tmpfs", options);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mnt);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, unmount, mnt), 0);
	file = shmem_file_setup_with_mnt(mnt, "folio_batch", PAGE_SIZE << order, NO_VMA_FLAGS);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, file);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, fput_action, file), 0);
	folio = shmem_read_folio(file->f_mapping, 0);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, folio);
	folio_put(folio);
	if (folio_order(folio) != order)
		kunit_skip(test, "this kernel gives tmpfs no folio of this size");
	return file;
}
#else
static struct file *tmpfs_file(struct kunit *test, unsigned int order)
{
	kunit_skip(test, "CONFIG_TRANSPARENT_HUGEPAGE is off: no large folios in tmpfs");
	return NULL;
}
#endif

/*
 * Maps a file that is one folio of @order, all of it by PTEs: the VMA is one page too small for a
 * PMD. Shared, its pages are written; private, they are only read.
 */
static struct live *live_create_file(struct kunit *test, unsigned int order, unsigned long share)
{
	struct file *file = tmpfs_file(test, order);
	struct live *l = kunit_kzalloc(test, sizeof(*l), GFP_KERNEL);
	unsigned long area, addr;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, l);
	allow_anon_order(test, 0);
	l->test = test;
	l->nr = min(1U << order, (unsigned int)PTRS_PER_PTE - 1);
	area = kunit_vm_mmap(test, NULL, 0, LIVE_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, 0);
	KUNIT_ASSERT_NE_MSG(test, area, 0, "no mm to map into");
	KUNIT_ASSERT_FALSE_MSG(test, IS_ERR_VALUE(area), "mmap: %ld", (long)area);
	l->mm = current->mm;
	l->addr = ALIGN(area, PMD_SIZE);
	addr = kunit_vm_mmap(test, file, l->addr, l->nr * PAGE_SIZE, PROT_READ | PROT_WRITE,
			     share | MAP_FIXED, 0);
	KUNIT_ASSERT_EQ(test, addr, l->addr);
	l->vma = vma_lookup(l->mm, l->addr);
	for (i = 0; i < l->nr; i++) {
		if (share == MAP_SHARED)
			store(l, i, content(i));
		else
			KUNIT_ASSERT_EQ(test, load(l, i), 0);
	}
	KUNIT_ASSERT_TRUE(test, pte_present(live_pte(l, l->mm, 0)));
	l->folio = page_folio(pte_page(live_pte(l, l->mm, 0)));
	KUNIT_ASSERT_EQ(test, folio_order(l->folio), order);
	lru_add_drain();
	return l;
}

/* All PTEs map the file's folio, page by page. */
static void expect_file_ptes(struct live *l, struct mm_struct *mm, unsigned int first,
			     unsigned int nr, const char *what)
{
	unsigned int i, wrong = 0;

	for (i = 0; i < l->nr; i++) {
		pte_t pte = live_pte(l, mm, i);

		if (i < first || i >= first + nr)
			wrong += !pte_none(pte);
		else
			wrong += !pte_present(pte) || pte_page(pte) != folio_page(l->folio, i);
	}
	KUNIT_EXPECT_EQ_MSG(l->test, wrong, 0, "wrong PTEs %s", what);
}

static void expect_shmem_pages(struct live *l, struct mm_struct *mm, unsigned int nr)
{
	KUNIT_EXPECT_EQ(l->test, percpu_counter_sum(&mm->rss_stat[MM_SHMEMPAGES]), nr);
}

static void age(struct live *l, unsigned int page)
{
	pte_t *ptep = live_lock(l, l->mm, page);

	ptep_test_and_clear_young(l->vma, page_addr(l, page), ptep);
	live_unlock(l, ptep);
}

/* Unmapping hands young and dirty of a batch to the folio; what it leaves mapped is not touched. */
static void test_live_file_zap(struct kunit *test)
{
	unsigned int order = *(const unsigned int *)test->param_value, half, refs, i;
	struct live *l = live_create_file(test, order, MAP_SHARED);

	half = l->nr / 2;
	refs = folio_ref_count(l->folio) - l->nr;
	expect_file_ptes(l, l->mm, 0, l->nr, "after the stores");
	expect_shmem_pages(l, l->mm, l->nr);
	KUNIT_EXPECT_EQ(test, folio_mapcount(l->folio), l->nr);

	/* The first half is dirty in its last PTE alone, and none of it is young. */
	for (i = 0; i < half; i++) {
		set_dirty(l, i, i == half - 1);
		age(l, i);
	}
	folio_clear_dirty(l->folio);
	folio_clear_referenced(l->folio);
	KUNIT_ASSERT_EQ(test, vm_munmap(l->addr, half * PAGE_SIZE), 0);
	KUNIT_EXPECT_TRUE(test, folio_test_dirty(l->folio));
	KUNIT_EXPECT_FALSE(test, folio_test_referenced(l->folio));
	expect_file_ptes(l, l->mm, half, l->nr - half, "half unmapped");
	expect_shmem_pages(l, l->mm, l->nr - half);
	KUNIT_EXPECT_EQ(test, folio_mapcount(l->folio), l->nr - half);
	KUNIT_EXPECT_EQ(test, folio_ref_count(l->folio), refs + l->nr - half);

	/* The second is clean, and young in its last PTE alone. */
	for (i = half; i < l->nr; i++) {
		set_dirty(l, i, false);
		if (i < l->nr - 1)
			age(l, i);
	}
	folio_clear_dirty(l->folio);
	KUNIT_ASSERT_EQ(test, vm_munmap(page_addr(l, half), (l->nr - half) * PAGE_SIZE), 0);
	KUNIT_EXPECT_FALSE(test, folio_test_dirty(l->folio));
	KUNIT_EXPECT_TRUE(test, folio_test_referenced(l->folio) || folio_test_active(l->folio));
	expect_shmem_pages(l, l->mm, 0);
	KUNIT_EXPECT_EQ(test, folio_mapcount(l->folio), 0);
	KUNIT_EXPECT_EQ(test, folio_ref_count(l->folio), refs);
}

/* Fork duplicates the mappings of a private file's pages, and shares the one that was written. */
static void test_live_file_fork(struct kunit *test)
{
	unsigned int order = *(const unsigned int *)test->param_value, refs;
	struct live *l = live_create_file(test, order, MAP_PRIVATE);
	struct mm_struct *child;

	refs = folio_ref_count(l->folio) - l->nr;
	expect_file_ptes(l, l->mm, 0, l->nr, "after the reads");
	store(l, l->nr - 1, 255);
	l->nr--;
	child = live_fork(l);
	expect_file_ptes(l, l->mm, 0, l->nr, "in the parent");
	expect_file_ptes(l, child, 0, l->nr, "in the child");
	expect_shmem_pages(l, child, l->nr);
	expect_anon_pages(l, child, 1);
	KUNIT_EXPECT_EQ(test, folio_mapcount(l->folio), 2 * l->nr);
	KUNIT_EXPECT_EQ(test, folio_ref_count(l->folio), refs + 2 * l->nr);
	live_exit(l, child);
	KUNIT_EXPECT_EQ(test, folio_mapcount(l->folio), l->nr);
	KUNIT_EXPECT_EQ(test, folio_ref_count(l->folio), refs + l->nr);
	KUNIT_EXPECT_EQ(test, load(l, l->nr), 255);
}

static void test_write_fault(struct kunit *test)
{
	const struct write_fault_case *c = test->param_value;
	char want[5] = { };

	strscpy(want, batched_reuse ? c->reused : c->single);
	/* 6.12 never reuses a large folio whose page is not known to be exclusive. */
	if (!KERNEL_IS_7_3 && c->before[c->page] == 'r')
		want[c->page] = c->kind == FAULT_STORE ? 'c' : 'e';
	check_write_fault(test, c, want);
}

static void live_mprotect(struct live *l, unsigned int first, unsigned int nr, unsigned long prot)
{
	KUNIT_ASSERT_EQ(l->test, live_syscall(__NR_mprotect, page_addr(l, first), nr * PAGE_SIZE,
					      prot, 0, 0), 0);
}

/* Protecting keeps the pages exclusive, and so may make them writable again without a fault. */
static void test_live_mprotect(struct kunit *test)
{
	struct live *l = live_create(test, *(const unsigned int *)test->param_value);
	char want[LIVE_PAGES + 1] = { };

	live_mprotect(l, 0, l->nr, PROT_READ);
	expect_all(l, l->mm, 'x', "all protected");
	live_mprotect(l, 0, l->nr, PROT_READ | PROT_WRITE);
	expect_all(l, l->mm, 'w', "all writable again");

	/* The VMA is split inside of the folio. */
	live_mprotect(l, 1, l->nr - 2, PROT_READ);
	memset(want, 'x', l->nr);
	want[0] = 'w';
	want[l->nr - 1] = 'w';
	expect_ptes(l, l->mm, want, "all but the first and the last protected");
	live_mprotect(l, 1, l->nr - 2, PROT_READ | PROT_WRITE);
	expect_all(l, l->mm, 'w', "writable again");
	expect_content(l, 0, l->nr);
	expect_mappings(l, l->nr);
}

/* What is not exclusive stays read-only whatever mprotect() allows. */
static void test_live_mprotect_shared(struct kunit *test)
{
	struct live *l = live_create(test, *(const unsigned int *)test->param_value);
	char want[LIVE_PAGES + 1] = { };
	unsigned int i;

	/* Runs of one and two pages that are exclusive. */
	for (i = 0; i < l->nr; i++)
		want[i] = i % 3 && i % 5 ? 'w' : 'r';
	set_states(l, want);
	live_mprotect(l, 0, l->nr, PROT_READ);
	live_mprotect(l, 0, l->nr, PROT_READ | PROT_WRITE);
	expect_ptes(l, l->mm, want, "protected and writable again");
	expect_content(l, 0, l->nr);
}

/* Moved by one page the folio is no longer aligned to itself; it is one folio all the same. */
static void test_live_mremap(struct kunit *test)
{
	struct live *l = live_create(test, *(const unsigned int *)test->param_value);
	char states[LIVE_PAGES + 1] = { };
	struct live was = *l;
	unsigned int i;

	/* A contpte block is all writable or all read-only: batches may reach across blocks. */
	for (i = 0; i < l->nr; i++)
		states[i] = i / 16 % 2 ? 'x' : 'w';
	set_states(l, states);
	live_mremap(l, l->addr + 2 * PMD_SIZE + PAGE_SIZE);
	expect_all(&was, l->mm, '.', "where it was");
	expect_ptes(l, l->mm, states, "where it is");
	expect_content(l, 0, l->nr);
	expect_mappings(l, l->nr);
	expect_anon_pages(l, l->mm, l->nr);

	live_exit(l, live_fork(l));
	expect_all(l, l->mm, 'r', "after fork and exit");
	store(l, 0, content(0));
	expect_all_but(l, l->mm, 'r', 0, reused(l), "after a store");
	expect_content(l, 0, l->nr);
}

/* Across the end of a page table: no batch may go on into the next one. */
static void test_live_mremap_two_tables(struct kunit *test)
{
	struct live *l = live_create(test, *(const unsigned int *)test->param_value);
	struct mm_struct *child;

	live_mremap(l, l->addr + 2 * PMD_SIZE - (l->nr / 2) * PAGE_SIZE);
	expect_all(l, l->mm, 'w', "where it is");
	child = live_fork(l);
	expect_all(l, child, 'r', "child after fork");
	expect_mappings(l, 2 * l->nr);
	live_exit(l, child);
	store(l, l->nr - 1, content(l->nr - 1));
	expect_all_but(l, l->mm, 'r', l->nr - 1, reused(l), "after a store");
	expect_content(l, 0, l->nr);
	KUNIT_ASSERT_EQ(test, vm_munmap(l->addr, l->nr * PAGE_SIZE), 0);
	expect_anon_pages(l, l->mm, 0);
}

/* NUMA hints: one fault restores all PTEs of the folio, but no PTE that hints at nothing. */
static void test_live_numa_hint(struct kunit *test)
{
	struct live *l = live_create(test, *(const unsigned int *)test->param_value);
	char states[LIVE_PAGES + 1] = { };
	unsigned int i;

	if (!IS_ENABLED(CONFIG_NUMA_BALANCING))
		kunit_skip(test, "CONFIG_NUMA_BALANCING is off");
	for (i = 0; i < l->nr; i++) {
		states[i] = "nnprnnnr"[i % 8];
		if (states[i] == 'p' && !VM_UFFD_RWP)
			states[i] = 'r';
	}
	set_states(l, states);
	live_vm_flags(l, VM_UFFD_RWP, 0);
	live_fault(l, 0, FAULT_FLAG_WRITE);
	strreplace(states, 'n', 'w');
	expect_ptes(l, l->mm, states, "after the fault");
	expect_mappings(l, l->nr);
	live_vm_flags(l, 0, VM_UFFD_RWP);
	expect_content_of(l, l->mm, l->nr, 0);
}

/* A VMA that ends inside of the folio, and the rest of the folio's life. */
static void test_live_unmap(struct kunit *test)
{
	struct live *l = live_create(test, *(const unsigned int *)test->param_value);
	unsigned int left = l->nr / 2 ?: 1, nr = l->nr;
	char want[LIVE_PAGES + 1] = { };

	if (nr > 1)
		KUNIT_ASSERT_EQ(test, vm_munmap(page_addr(l, left), LIVE_SIZE / 4), 0);
	memset(want, '.', nr);
	memset(want, 'w', left);
	expect_ptes(l, l->mm, want, "half unmapped");
	expect_anon_pages(l, l->mm, left);
	expect_mappings(l, left);
	if (nr > 2) {
		KUNIT_EXPECT_TRUE(test, folio_test_partially_mapped(l->folio));
		KUNIT_EXPECT_FALSE(test, list_empty(&l->folio->_deferred_list));
	}

	live_exit(l, live_fork(l));
	memset(want, 'r', left);
	expect_ptes(l, l->mm, want, "half of it, forked");
	store(l, left - 1, content(left - 1));
	want[left - 1] = left > 1 ? reused(l) : nr > 1 ? 'c' : 'w';
	expect_ptes(l, l->mm, want, "half of it, a store to its last page");
	expect_content(l, 0, left);

	folio_get(l->folio);
	KUNIT_ASSERT_EQ(test, vm_munmap(l->addr, left * PAGE_SIZE), 0);
	expect_anon_pages(l, l->mm, 0);
	KUNIT_EXPECT_EQ(test, folio_mapcount(l->folio), 0);
	KUNIT_EXPECT_EQ_MSG(test, folio_ref_count(l->folio), 1, "all references are given back");
	folio_put(l->folio);
}

/* Leaks: what is mapped is counted exactly after each case; what is not shows in free memory. */

struct mapped_pages {
	long anon;
	long file;
};

static struct mapped_pages count_mapped_pages(void)
{
	struct mapped_pages count = { };
	struct pglist_data *node;

	for_each_online_pgdat(node) {
		count.anon += node_stat(node, NR_ANON_MAPPED);
		count.file += node_stat(node, NR_FILE_MAPPED);
	}
	return count;
}

/*
 * The first action of a case to be added and so the last to run: all else has been cleaned up. But
 * a live mm dies with the kernel thread that ran the case, which may take a moment.
 */
static void expect_nothing_left(void *data)
{
	struct kunit *test = kunit_get_current_test();
	struct mapped_pages *before = data, after = count_mapped_pages();
	unsigned int ms;

	for (ms = 0; ms < 2000 && memcmp(before, &after, sizeof(after)); ms += 20) {
		msleep(20);
		after = count_mapped_pages();
	}
	KUNIT_EXPECT_EQ_MSG(test, after.anon, before->anon, "anonymous pages are left mapped");
	KUNIT_EXPECT_EQ_MSG(test, after.file, before->file, "pages of files are left mapped");
}

static int remember_mapped_pages(struct kunit *test)
{
	struct mapped_pages *before = kunit_kzalloc(test, sizeof(*before), GFP_KERNEL);

	if (!before)
		return -ENOMEM;
	*before = count_mapped_pages();
	return kunit_add_action(test, expect_nothing_left, before);
}

/* What can happen to a folio: faults, fork, copies in both mms, reuse, unmapping in two steps. */
static void live_whole_life(struct kunit *test)
{
	struct live *l = live_create(test, *(const unsigned int *)test->param_value);
	struct mm_struct *child = live_fork(l);

	store(l, 0, 1);
	store_remote(l, child, l->nr - 1, 1, 0);
	live_exit(l, child);
	store(l, l->nr - 1, 1);
	live_exit(l, live_fork(l));
	if (l->nr > 1)
		KUNIT_ASSERT_EQ(test, vm_munmap(l->addr, PAGE_SIZE), 0);
	KUNIT_ASSERT_EQ(test, vm_munmap(l->addr, LIVE_SIZE - PMD_SIZE), 0);
	kunit_kfree(test, l);
}

static const unsigned int leak_orders[] = { 0, 2, 4 };

KUNIT_ARRAY_PARAM(leak_order, leak_orders, order_desc);

static void test_live_leaks(struct kunit *test)
{
	expect_no_leak(test, live_whole_life);
}

/*
 * Measurements: one call on nr PTEs against nr calls on one PTE each, in ns for all of them. For a
 * kernel without checks and a clock that is quiet, as that of an instruction-counting emulator.
 */

#define BENCH_CHECKS	(IS_ENABLED(CONFIG_DEBUG_VM) || IS_ENABLED(CONFIG_PAGE_TABLE_CHECK))
#define BENCH_ORDER	9
#define BENCH_ROUNDS	3	/* the quickest of these counts */

static const unsigned int bench_nrs[] = { 1, 2, 4, 8, 16, 64, 256, 512 };

struct bench {
	const char *name;
	const struct table_op *op;	/* or NULL and the three functions */
	void (*prepare)(struct rmap_model *m, struct table *child, unsigned int nr);
	void (*run)(struct rmap_model *m, struct table *child, unsigned int first, unsigned int nr);
	void (*undo)(struct rmap_model *m, struct table *child, unsigned int nr);
	bool file;			/* they take a file's folio */
};

static struct page *bench_page(struct rmap_model *m, unsigned int first)
{
	return folio_page(m->folio, first);
}

static void bench_nothing(struct rmap_model *m, struct table *child, unsigned int nr)
{
}

static void bench_add_anon(struct rmap_model *m, struct table *child, unsigned int first,
			   unsigned int nr)
{
	folio_add_anon_rmap_ptes(m->folio, bench_page(m, first), nr, m->t->vma, slot_addr(first),
				 RMAP_EXCLUSIVE);
}

static void bench_remove(struct rmap_model *m, struct table *child, unsigned int first,
			 unsigned int nr)
{
	folio_remove_rmap_ptes(m->folio, bench_page(m, first), nr, m->t->vma);
}

static void bench_try_dup_anon(struct rmap_model *m, struct table *child, unsigned int first,
			       unsigned int nr)
{
	WARN_ON(try_dup_anon_rmap(m->folio, bench_page(m, first), nr, child->vma, m->t->vma));
}

static void bench_map_all(struct rmap_model *m, struct table *child, unsigned int nr)
{
	bench_add_anon(m, child, 0, nr);
}

/* As a reuse fault does that marks what it finds exclusive; there is no batched form. */
static void bench_set_exclusive(struct rmap_model *m, struct table *child, unsigned int first,
				unsigned int nr)
{
	unsigned int i;

	for (i = first; i < first + nr; i++) {
		if (!PageAnonExclusive(bench_page(m, i)))
			SetPageAnonExclusive(bench_page(m, i));
	}
}

static void bench_clear_exclusive(struct rmap_model *m, struct table *child, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		ClearPageAnonExclusive(bench_page(m, i));
}

/* One folio of nr pages, as for a fault that copies a whole folio, without stalling. */
static void bench_alloc(struct rmap_model *m, struct table *child, unsigned int first,
			unsigned int nr)
{
	struct folio *folio = folio_alloc(GFP_TRANSHUGE_LIGHT, ilog2(nr));

	if (!WARN_ON(!folio))
		list_add(&folio->lru, &m->allocated);
}

static void bench_free_all(struct rmap_model *m, struct table *child, unsigned int nr)
{
	struct folio *folio, *next;

	list_for_each_entry_safe(folio, next, &m->allocated, lru) {
		list_del(&folio->lru);
		folio_put(folio);
	}
}

static void bench_unmap_all(struct rmap_model *m, struct table *child, unsigned int nr)
{
	bench_remove(m, child, 0, nr);
}

static void bench_map_for_fork(struct rmap_model *m, struct table *child, unsigned int nr)
{
	bench_map_all(m, child, nr);
	mmap_write_lock(m->t->mm);
	raw_write_seqcount_begin(&m->t->mm->write_protect_seq);
}

static void bench_unmap_both(struct rmap_model *m, struct table *child, unsigned int nr)
{
	raw_write_seqcount_end(&m->t->mm->write_protect_seq);
	mmap_write_unlock(m->t->mm);
	folio_remove_rmap_ptes(m->folio, bench_page(m, 0), nr, child->vma);
	bench_unmap_all(m, child, nr);
}

static void bench_add_file(struct rmap_model *m, struct table *child, unsigned int first,
			   unsigned int nr)
{
	folio_add_file_rmap_ptes(m->folio, bench_page(m, first), nr, m->t->vma);
}

static void bench_dup_file(struct rmap_model *m, struct table *child, unsigned int first,
			   unsigned int nr)
{
	dup_file_rmap(m->folio, bench_page(m, first), nr, child->vma);
}

static void bench_map_file(struct rmap_model *m, struct table *child, unsigned int nr)
{
	bench_add_file(m, child, 0, nr);
}

static void bench_unmap_file(struct rmap_model *m, struct table *child, unsigned int nr)
{
	folio_remove_rmap_ptes(m->folio, bench_page(m, 0), nr, child->vma);
	bench_unmap_all(m, child, nr);
}

/* Into the child's folio, as a write fault copies: on x86 not with the instructions of fork(). */
static void bench_copy(struct rmap_model *m, struct table *child, unsigned int first,
		       unsigned int nr)
{
	unsigned int i;

	for (i = first; i < first + nr; i++)
		WARN_ON(copy_mc_user_highpage(folio_page(child->folios[0], i), bench_page(m, i),
					      slot_addr(i), m->t->vma));
}

/* With the flags of a write fault, which may not take in PTEs that differ in what it changes. */
static void batched_pte_batch_flags(struct call *c)
{
	pte_t pte = ptep_get(c->ptep);

	folio_pte_batch_flags(page_folio(pte_page(pte)), c->t->vma, c->ptep, &pte, c->nr,
			      FPB_RESPECT_WRITE | FPB_RESPECT_SOFT_DIRTY);
}

static const struct table_op op_folio_pte_batch_flags = {
	.fill = FILL_MAPPED, .batched = batched_pte_batch_flags,
};

#if KERNEL_IS_7_3
static void batched_pte_batch(struct call *c)
{
	pte_t pte = ptep_get(c->ptep);

	folio_pte_batch(page_folio(pte_page(pte)), c->ptep, pte, c->nr);
}
#else
#define batched_pte_batch	NULL
#endif

static const struct table_op op_folio_pte_batch = {
	.fill = FILL_MAPPED, .batched = batched_pte_batch,
};

DEFINE_OP_FN(batched_swap_batch, swap_pte_batch(c->ptep, c->nr, ptep_get(c->ptep)))

static const struct table_op op_swap_pte_batch = {
	.fill = FILL_SWAP, .batched = batched_swap_batch,
};

/* One call, as each write fault makes; on arm64 it looks at all of a contpte block. */
DEFINE_OP_FN(one_set_access_flags,
	     ptep_set_access_flags(c->t->vma, c->addr, c->ptep, c->pte, 1))

static const struct table_op op_ptep_set_access_flags = {
	.fill = FILL_MAPPED, .batched = one_set_access_flags,
};

static const struct bench benches[] = {
	{ "ptep_set_access_flags", &op_ptep_set_access_flags },
	{ "SetPageAnonExclusive", NULL, bench_nothing, bench_set_exclusive, bench_clear_exclusive },
	{ "folio_alloc", NULL, bench_nothing, bench_alloc, bench_free_all },
	{ "set_ptes", &op_set_ptes },
	{ "wrprotect_ptes", &op_wrprotect_ptes },
	{ "get_and_clear_full_ptes", &op_get_and_clear_full_ptes },
	{ "get_and_clear_ptes", &op_get_and_clear_ptes },
	{ "clear_full_ptes", &op_clear_full_ptes },
	{ "clear_ptes", &op_clear_ptes },
	{ "clear_nonpresent_ptes", &op_clear_nonpresent_ptes },
	{ "clear_young_dirty_ptes", &op_clear_young_dirty_ptes },
	{ "test_and_clear_young_ptes", &op_test_and_clear_young_ptes },
	{ "clear_flush_young_ptes", &op_clear_flush_young_ptes },
	{ "modify_prot_ptes", &op_modify_prot_ptes },
	{ "folio_pte_batch", &op_folio_pte_batch },
	{ "folio_pte_batch_flags", &op_folio_pte_batch_flags },
	{ "swap_pte_batch", &op_swap_pte_batch },
	{ "folio_add_anon_rmap_ptes", NULL, bench_nothing, bench_add_anon, bench_unmap_all },
	{ "folio_remove_rmap_ptes", NULL, bench_map_all, bench_remove, bench_nothing },
	{ "folio_try_dup_anon_rmap_ptes", NULL, bench_map_for_fork, bench_try_dup_anon,
	  bench_unmap_both },
	{ "folio_add_file_rmap_ptes", NULL, bench_nothing, bench_add_file, bench_unmap_all, true },
	{ "folio_dup_file_rmap_ptes", NULL, bench_map_file, bench_dup_file, bench_unmap_file,
	  true },
	{ "folio_copy", NULL, bench_nothing, bench_copy, bench_nothing },
};

KUNIT_ARRAY_PARAM_DESC(bench, benches, name);

struct bench_state {
	const struct bench *bench;
	struct rmap_model *m;
	struct table *child;
	pte_t *ptes;
};

/*
 * Executes @nth % 16 instructions: a clock that ticks once in 16 ns, as arm64's under QEMU does, is
 * then read at each place between two ticks as often, and the mean of all calls is as fine as 1 ns.
 */
static void bench_shift_phase(unsigned int nth)
{
	if (nth & 1)
		asm volatile("nop");
	if (nth & 2)
		asm volatile(".rept 2\n\tnop\n\t.endr");
	if (nth & 4)
		asm volatile(".rept 4\n\tnop\n\t.endr");
	if (nth & 8)
		asm volatile(".rept 8\n\tnop\n\t.endr");
}

static u64 bench_table_call(struct bench_state *b, unsigned int nr, bool batched, unsigned int nth)
{
	const struct table_op *op = b->bench->op;
	void (*single)(struct call *c) = op->single ?: op->batched;
	struct table *t = b->m->t;
	struct call c = { .t = t, .nr = nr, .addr = TABLE_START };
	unsigned long flags;
	unsigned int i;
	u64 start, end;
	pte_t *ptep;

	table_clear(t);
	for (i = 0; i < nr; i++) {
		b->ptes[i] = make_pte(t, folio_page(b->m->folio, i),
				      BIT_WRITE | BIT_YOUNG | BIT_DIRTY);
		if (op->fill == FILL_SWAP)
			b->ptes[i] = make_swap_pte(1, i);
	}
	if (op->fill != FILL_EMPTY)
		table_set_all(t, 0, b->ptes, nr);
	c.pte = b->ptes[0];
	c.old = c.pte;
	ptep = table_lock(t, 0);
	c.ptep = ptep;
	local_irq_save(flags);
	bench_shift_phase(nth);
	start = ktime_get_ns();
	if (batched) {
		op->batched(&c);
	} else {
		c.nr = 1;
		for (i = 0; i < nr; i++) {
			single(&c);
			c.ptep++;
			c.addr += PAGE_SIZE;
			c.pte = pte_advance_pfn(c.pte, 1);
			c.old = c.pte;
		}
	}
	end = ktime_get_ns();
	local_irq_restore(flags);
	table_unlock(t, ptep);
	return end - start;
}

static u64 bench_rmap_call(struct bench_state *b, unsigned int nr, bool batched, unsigned int nth)
{
	unsigned long flags;
	unsigned int i;
	u64 start, end;

	b->bench->prepare(b->m, b->child, nr);
	local_irq_save(flags);
	bench_shift_phase(nth);
	start = ktime_get_ns();
	if (batched)
		b->bench->run(b->m, b->child, 0, nr);
	for (i = 0; i < nr && !batched; i++)
		b->bench->run(b->m, b->child, i, 1);
	end = ktime_get_ns();
	local_irq_restore(flags);
	b->bench->undo(b->m, b->child, nr);
	return end - start;
}

/* In each round, against the coarseness of the clock; a multiple of the 16 phases. */
static unsigned int bench_calls(unsigned int nr)
{
	return IS_ENABLED(CONFIG_UML) ? 16 : clamp(4096 / nr, 16U, 256U);
}

/* What reading the clock adds to @calls measurements. */
static u64 bench_clock(unsigned int calls)
{
	unsigned long flags;
	unsigned int i;
	u64 start, sum = 0;

	local_irq_save(flags);
	for (i = 0; i < calls; i++) {
		bench_shift_phase(i);
		start = ktime_get_ns();
		sum += ktime_get_ns() - start;
	}
	local_irq_restore(flags);
	return sum;
}

/* In hundredths of a ns, for all @nr PTEs. */
static u64 bench_measure(struct bench_state *b, unsigned int nr, bool batched)
{
	unsigned int calls = bench_calls(nr), round, i;
	u64 best = U64_MAX;

	for (round = 0; round < BENCH_ROUNDS; round++) {
		u64 sum = 0;

		for (i = 0; i < calls; i++)
			sum += b->bench->op ? bench_table_call(b, nr, batched, i) :
			       bench_rmap_call(b, nr, batched, i);
		best = min(best, sum - min(sum, bench_clock(calls)));
	}
	return div_u64(best * 100, calls);
}

static void bench_helpers(struct kunit *test)
{
	struct bench_state b = { .bench = test->param_value };
	const struct table_op *op;
	unsigned int i;
	bool anon;

	if (BENCH_CHECKS)
		kunit_skip(test, "the checks of DEBUG_VM and PAGE_TABLE_CHECK would be measured");
	op = b.bench->op;
	if (ktime_get_resolution_ns() > 1000)
		kunit_skip(test, "the clock ticks once in %u ns: no figure worth printing",
			   ktime_get_resolution_ns());
	if (op && !op->batched)
		kunit_skip(test, "this kernel has no %s()", b.bench->name);
	if (op == &op_swap_pte_batch)
		skip_without_swap_batch(test);
	b.ptes = kunit_kcalloc(test, PTRS_PER_PTE, sizeof(*b.ptes), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, b.ptes);
	anon = !op && !b.bench->file;
	b.m = rmap_setup(test, BENCH_ORDER, anon);
	b.child = table_create(test);
	table_folio(b.child, BENCH_ORDER);
	if (op == &op_set_ptes && set_ptes_is_broken(b.m->t, b.m->folio))
		kunit_skip(test, "known bug: set_ptes() of UML maps the wrong pages");

	for (i = 0; i < ARRAY_SIZE(bench_nrs); i++) {
		unsigned int nr = bench_nrs[i];
		u64 batched = bench_measure(&b, nr, true);
		u64 single = bench_measure(&b, nr, false);

		kunit_log(KERN_INFO, test, KUNIT_SUBTEST_INDENT
			  "# bench: helper=%s nr=%u batched_ns=%llu.%02llu single_ns=%llu.%02llu",
			  b.bench->name, nr, batched / 100, batched % 100, single / 100,
			  single % 100);
	}
	if (anon)
		folio_unlock(b.m->folio);
}

/* A case that its kernel has no use for runs without parameters, once, to say why it is skipped. */
#define CASE_PARAM_IF(condition, test_name, gen_params) \
	KUNIT_CASE_PARAM(test_name, (condition) ? gen_params : NULL)

static struct kunit_case folio_batch_cases[] = {
	KUNIT_CASE_PARAM(test_batch_limits, range_gen_params),
	KUNIT_CASE_PARAM(test_batch_odd_pte, odd_pte_gen_params),
	KUNIT_CASE_PARAM(test_batch_adjacent_folios, large_order_gen_params),
	KUNIT_CASE_PARAM(test_batch_merge, range_gen_params),
	CASE_PARAM_IF(KERNEL_IS_7_3, test_folio_pte_batch, range_gen_params),
	KUNIT_CASE_PARAM(test_swap_pte_batch, odd_swap_gen_params),
	KUNIT_CASE_PARAM(test_small_folio, op_gen_params),
	KUNIT_CASE_PARAM(test_set_ptes, range_gen_params),
	KUNIT_CASE_PARAM(test_wrprotect_ptes, range_gen_params),
	KUNIT_CASE_PARAM(test_get_and_clear_full_ptes, range_gen_params),
	CASE_PARAM_IF(KERNEL_IS_7_3, test_get_and_clear_ptes, range_gen_params),
	KUNIT_CASE_PARAM(test_clear_full_ptes, range_gen_params),
	CASE_PARAM_IF(KERNEL_IS_7_3, test_clear_ptes, range_gen_params),
	KUNIT_CASE_PARAM(test_clear_nonpresent_ptes, range_gen_params),
	KUNIT_CASE_PARAM(test_clear_young_dirty_ptes, range_gen_params),
	CASE_PARAM_IF(KERNEL_IS_7_3, test_test_and_clear_young_ptes, range_gen_params),
	CASE_PARAM_IF(KERNEL_IS_7_3, test_clear_flush_young_ptes, range_gen_params),
	CASE_PARAM_IF(KERNEL_IS_7_3, test_modify_prot_start_ptes, range_gen_params),
	CASE_PARAM_IF(KERNEL_IS_7_3, test_modify_prot_commit_ptes, range_gen_params),
	CASE_PARAM_IF(KERNEL_IS_7_3, test_modify_prot_ptes, range_gen_params),
	CASE_PARAM_IF(CAN_NOTIFY, test_clear_flush_young_ptes_notify, range_gen_params),
	CASE_PARAM_IF(CAN_NOTIFY, test_test_and_clear_young_ptes_notify, range_gen_params),
	CASE_PARAM_IF(CAN_FOLD, test_contpte, contpte_gen_params),
	CASE_PARAM_IF(CAN_FOLD, test_contpte_not_folded, range_gen_params),
	KUNIT_CASE(test_contpte_unaligned_pages),
	KUNIT_CASE(test_contpte_two_folios),
	KUNIT_CASE(test_random_calls),
	KUNIT_CASE(test_random_batches),
	KUNIT_CASE_PARAM(test_add_anon_rmap_ptes, rmap_range_gen_params),
	KUNIT_CASE_PARAM(test_add_anon_rmap_ptes_exclusive, rmap_range_gen_params),
	KUNIT_CASE_PARAM(test_add_file_rmap_ptes, rmap_range_gen_params),
	KUNIT_CASE_PARAM(test_dup_file_rmap_ptes, rmap_range_gen_params),
	KUNIT_CASE_PARAM(test_try_dup_anon_rmap_ptes, rmap_range_gen_params),
	KUNIT_CASE_PARAM(test_try_dup_anon_rmap_ptes_pinned, rmap_range_gen_params),
	KUNIT_CASE_PARAM(test_try_dup_anon_rmap_ptes_never_pinned, rmap_range_gen_params),
	CASE_PARAM_IF(IS_ENABLED(CONFIG_TRANSPARENT_HUGEPAGE),
		      test_remove_rmap_ptes_queues_split, split_range_gen_params),
	KUNIT_CASE_PARAM(test_remove_rmap_ptes_still_mapped, rmap_range_gen_params),
	CASE_PARAM_IF(IS_ENABLED(CONFIG_MM_ID), test_third_mm, large_order_gen_params),
	KUNIT_CASE_PARAM(test_live_populate, live_order_gen_params),
	KUNIT_CASE_PARAM(test_live_fork, live_order_gen_params),
	KUNIT_CASE_PARAM(test_live_fork_dirty, live_order_gen_params),
	KUNIT_CASE_PARAM(test_live_fork_mixed, live_order_gen_params),
	KUNIT_CASE_PARAM(test_live_fork_odd, live_order_gen_params),
	KUNIT_CASE(test_live_file_dirty),
	KUNIT_CASE_PARAM(test_live_file_zap, large_order_gen_params),
	KUNIT_CASE_PARAM(test_live_file_fork, large_order_gen_params),
	KUNIT_CASE_PARAM(test_live_copy, live_order_gen_params),
	KUNIT_CASE_PARAM(test_live_reuse, live_order_gen_params),
	KUNIT_CASE_PARAM(test_live_reuse_in_child, live_order_gen_params),
	KUNIT_CASE_PARAM(test_live_two_children, live_large_order_gen_params),
	KUNIT_CASE_PARAM(test_live_fork_pinned, live_order_gen_params),
	KUNIT_CASE_PARAM(test_write_fault, write_fault_gen_params),
	KUNIT_CASE_PARAM(test_live_mprotect, live_large_order_gen_params),
	KUNIT_CASE_PARAM(test_live_mprotect_shared, live_large_order_gen_params),
	KUNIT_CASE_PARAM(test_live_mremap, live_large_order_gen_params),
	KUNIT_CASE_PARAM(test_live_mremap_two_tables, live_large_order_gen_params),
	KUNIT_CASE_PARAM(test_live_numa_hint, live_large_order_gen_params),
	KUNIT_CASE_PARAM(test_live_unmap, live_order_gen_params),
	KUNIT_CASE_PARAM(test_live_leaks, leak_order_gen_params),
	KUNIT_CASE_PARAM_ATTR(bench_helpers, BENCH_CHECKS ? NULL : bench_gen_params,
			      { .speed = KUNIT_SPEED_SLOW }),
	{}
};

static struct kunit_suite folio_batch_suite = {
	.name = "folio_batch",
	.init = remember_mapped_pages,
	.test_cases = folio_batch_cases,
};

kunit_test_suite(folio_batch_suite);

MODULE_DESCRIPTION("KUnit tests of the helpers for batches of PTEs");
MODULE_LICENSE("GPL");
