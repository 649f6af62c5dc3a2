// SPDX-License-Identifier: GPL-2.0-or-later
/* The books of what is mapped where, against a plain array that is kept beside them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "memory.h"
#include "random.h"

#define NR_MMS	 3
#define NR_PAGES 2048

static void open_with_mms(struct memory *m, uint32_t *mms)
{
	assert_int_equal(memory_open(m), 0);
	for (uint64_t i = 0; i < NR_MMS; i++) {
		assert_int_equal(memory_reserve(m, 1), 0);
		mms[i] = memory_add_mm(m, 0xff00 + i);
	}
}

static void test_states_of_every_order(void **state)
{
	struct memory m;
	uint32_t mms[NR_MMS];

	open_with_mms(&m, mms);
	for (unsigned int order = 0; order <= 13; order++) {
		uint32_t nr = 1u << order, i;
		struct mapping *map;

		assert_int_equal(memory_reserve(&m, 1), 0);
		i = memory_map(&m, mms[0], 0, order, false, PTE_WRITABLE);
		map = &m.mappings[i];
		assert_int_equal(map->nr_mapped, nr);
		for (uint32_t pte = 0; pte < nr; pte++)
			assert_int_equal(mapping_state(map, pte), PTE_WRITABLE);
		mapping_set_state(map, nr - 1, PTE_NONE);
		assert_int_equal(map->nr_mapped, nr - 1);
		mapping_set_state(map, 0, PTE_EXCLUSIVE);
		assert_false(mapping_touch(map, 0));
		assert_true(mapping_touch(map, 0));
		mapping_write_protect(map);
		/* a new episode: what is mapped is shared, and untouched */
		assert_int_equal(map->nr_start, map->nr_mapped);
		assert_int_equal(mapping_state(map, nr - 1), nr > 1 ? PTE_NONE : PTE_SHARED);
		if (nr > 1) {
			assert_int_equal(mapping_state(map, 0), PTE_SHARED);
			assert_false(mapping_touch(map, 0));
			assert_false(mapping_is_old(map, 1));
		}
		memory_unmap(&m, i);
		assert_int_equal(m.pages.nr, 0);
	}
	memory_close(&m);
}

/* @child, which has nothing, borrows from @parent its only mapping. */
static void lend(struct memory *m, uint32_t child, uint32_t parent)
{
	assert_int_equal(memory_reserve(m, 1), 0);
	memory_borrow(m, child, parent);
	memory_lend(m, &m->mappings[m->mms[parent].first]);
}

static void test_share(void **state)
{
	struct memory m;
	uint32_t mms[NR_MMS], a, b, c;

	open_with_mms(&m, mms);
	assert_int_equal(memory_reserve(&m, 1), 0);
	a = memory_map(&m, mms[0], 512, 9, false, PTE_WRITABLE);
	mapping_set_state(&m.mappings[a], 7, PTE_NONE);
	assert_true(memory_is_sole(&m, &m.mappings[a]));
	lend(&m, mms[1], mms[0]);
	assert_int_equal(m.pages.nr, 1);
	b = memory_find_exact(&m, mms[1], 512, 9);
	assert_int_equal(m.pages.nr, 2);
	lend(&m, mms[2], mms[1]);
	memory_settle(&m, mms[1]);
	c = memory_find_exact(&m, mms[2], 512, 9);
	assert_int_equal(m.pages.nr, 3);
	/* two mms are tracked, the third is not */
	assert_true(m.mappings[a].slot);
	assert_true(m.mappings[b].slot);
	assert_false(m.mappings[c].slot);
	assert_int_equal(m.mappings[c].nr_mapped, 511);
	assert_int_equal(mapping_state(&m.mappings[c], 7), PTE_NONE);
	assert_int_equal(mapping_state(&m.mappings[c], 8), PTE_SHARED);
	assert_true(mapping_is_old(&m.mappings[c], 8));
	assert_false(mapping_is_old(&m.mappings[c], 7));
	assert_false(mapping_is_old(&m.mappings[a], 8));
	memory_unmap(&m, a);
	assert_false(memory_is_sole(&m, &m.mappings[c]));
	memory_unmap(&m, b);
	assert_true(memory_is_sole(&m, &m.mappings[c]));
	memory_close(&m);
}

/* What a fault was expected on is what a search finds, or nothing. */
static void test_expected(void **state)
{
	struct memory m;
	uint32_t mms[NR_MMS], i;

	open_with_mms(&m, mms);
	assert_int_equal(memory_reserve(&m, 1), 0);
	i = memory_map(&m, mms[0], 512, 4, false, PTE_SHARED);
	assert_null(memory_expected(&m, 3, mms[0], 515));
	memory_prefetch(&m, 3, mms[0], 515);
	assert_ptr_equal(memory_expected(&m, 3, mms[0], 515), &m.mappings[i]);
	assert_null(memory_expected(&m, 2, mms[0], 515));
	assert_null(memory_expected(&m, 3, mms[1], 515));
	assert_null(memory_expected(&m, 3, mms[0], 528));
	mapping_set_state(&m.mappings[i], 7, PTE_NONE);
	assert_null(memory_expected(&m, 3, mms[0], 519));
	/* what is lent has to be searched for, and is copied then */
	lend(&m, mms[1], mms[0]);
	assert_null(memory_expected(&m, 3, mms[0], 515));
	assert_int_equal(memory_find_exact(&m, mms[0], 512, 4), i);
	assert_ptr_equal(memory_expected(&m, 3, mms[0], 515), &m.mappings[i]);
	memory_unmap(&m, i);
	assert_null(memory_expected(&m, 3, mms[0], 515));
	memory_close(&m);
}

/* A folio of which its first page alone is left is no small folio. */
static void test_like(void **state)
{
	struct memory m;
	uint32_t mms[NR_MMS], small, other, large;

	open_with_mms(&m, mms);
	assert_int_equal(memory_reserve(&m, 3), 0);
	small = memory_map(&m, mms[0], 512, 0, false, PTE_SHARED);
	other = memory_map(&m, mms[0], 513, 0, false, PTE_SHARED);
	large = memory_map(&m, mms[0], 528, 4, false, PTE_SHARED);
	for (uint32_t pte = 1; pte < 16; pte++)
		mapping_set_state(&m.mappings[large], pte, PTE_NONE);
	assert_true(mapping_is_like(&m.mappings[other], &m.mappings[small]));
	assert_false(mapping_is_like(&m.mappings[large], &m.mappings[small]));
	mapping_touch(&m.mappings[other], 0);
	assert_false(mapping_is_like(&m.mappings[other], &m.mappings[small]));
	memory_close(&m);
}

static void test_split_pmd(void **state)
{
	struct memory m;
	uint32_t mms[NR_MMS], pte, i;

	open_with_mms(&m, mms);
	assert_int_equal(memory_reserve(&m, 1), 0);
	i = memory_map(&m, mms[0], 1024, 9, true, PTE_SHARED);
	assert_int_equal(memory_find(&m, mms[0], 1024 + 300, &pte), i);
	assert_int_equal(pte, 300);
	assert_int_equal(memory_split_pmd(&m, &m.mappings[i]), 0);
	mapping_set_state(&m.mappings[i], 300, PTE_NONE);
	assert_int_equal(m.mappings[i].nr_mapped, 511);
	assert_int_equal(memory_find(&m, mms[0], 1024 + 300, &pte), 0);
	assert_int_equal(memory_find(&m, mms[0], 1024 + 301, &pte), i);
	memory_close(&m);
}

static void test_vmas(void **state)
{
	struct memory m;
	uint32_t mms[NR_MMS];
	struct vma *vma;

	open_with_mms(&m, mms);
	vma = memory_vma(&m, mms[0], 0x1000, 0x5000);
	vma->kind = VMA_ANON;
	assert_int_equal(memory_vma(&m, mms[0], 0x8000, 0x9000)->kind, VMA_UNKNOWN);
	/* the first one has grown, and is still what it was */
	assert_int_equal(memory_vma(&m, mms[0], 0x1000, 0x6000)->kind, VMA_ANON);
	assert_int_equal(m.mms[mms[0]].nr_vmas, 2);
	/* one over all of them */
	assert_int_equal(memory_vma(&m, mms[0], 0, 0x10000)->kind, VMA_ANON);
	assert_int_equal(m.mms[mms[0]].nr_vmas, 1);
	assert_int_equal(memory_copy_vmas(&m, mms[1], mms[0]), 0);
	assert_int_equal(m.mms[mms[1]].nr_vmas, 1);
	for (uint64_t i = 100; i-- > 0;)
		assert_non_null(memory_vma(&m, mms[2], i * 0x1000, (i + 1) * 0x1000));
	assert_int_equal(m.mms[mms[2]].nr_vmas, 100);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(m.mms[mms[2]].vmas[i].start, i * 0x1000);
	memory_close(&m);
}

/* What each page of each mm is mapped by. */
struct shadow {
	uint32_t mapping[NR_MMS][NR_PAGES];
};

static bool is_free(const struct shadow *s, unsigned int mm, uint64_t first, uint64_t nr)
{
	for (uint64_t i = first; i < first + nr; i++) {
		if (s->mapping[mm][i])
			return false;
	}
	return true;
}

static void fill(struct shadow *s, unsigned int mm, uint64_t first, uint64_t nr, uint32_t with)
{
	for (uint64_t i = first; i < first + nr; i++)
		s->mapping[mm][i] = with;
}

static void assert_same(struct memory *m, const uint32_t *mms, const struct shadow *s)
{
	for (unsigned int mm = 0; mm < NR_MMS; mm++) {
		for (uint64_t page = 0; page < NR_PAGES; page++) {
			uint32_t pte = 0, i = memory_find(m, mms[mm], page, &pte);

			assert_int_equal(i, s->mapping[mm][page]);
			if (i)
				assert_int_equal(m->mappings[i].vpn + pte, page);
		}
	}
}

/* Thousands of maps and unmaps, through growth of pools and hash: the books agree with the shadow.
 */
static void test_against_shadow(void **state)
{
	static struct shadow shadow;
	uint64_t random = 1;
	uint32_t mms[NR_MMS];
	struct memory m;

	memset(&shadow, 0, sizeof(shadow));
	open_with_mms(&m, mms);
	for (int step = 0; step < 20000; step++) {
		unsigned int mm = random_u64(&random) % NR_MMS;
		unsigned int order = (unsigned int[]){ 0, 0, 0, 2, 4, 9 }[random_u64(&random) % 6];
		uint64_t page = random_u64(&random) % NR_PAGES >> order << order;
		uint32_t i = shadow.mapping[mm][page];

		if (i) {
			fill(&shadow, mm, m.mappings[i].vpn, mapping_nr_ptes(&m.mappings[i]), 0);
			memory_unmap(&m, i);
		} else if (is_free(&shadow, mm, page, 1u << order)) {
			assert_int_equal(memory_reserve(&m, 1), 0);
			i = memory_map(&m, mms[mm], page, order, order == 9, PTE_SHARED);
			assert_int_not_equal(i, 0);
			fill(&shadow, mm, page, 1u << order, i);
		}
		if (step % 2000 == 0)
			assert_same(&m, mms, &shadow);
	}
	assert_same(&m, mms, &shadow);
	memory_close(&m);
}

/* Whether the index has @mapping under @hash, looked for as memory.c does. */
static bool index_has(const struct page_index *x, uint32_t hash, uint32_t mapping)
{
	const struct page_slot *s = page_index_find(x, hash);

	while (s->hash == hash && s->mapping && s->mapping != mapping)
		s++;
	return s->hash == hash && s->mapping == mapping;
}

/* All entries descend by hash, none stands in front of its home, and no gap is between the two. */
static void assert_in_order(const struct page_index *x)
{
	uint32_t nr = 0, gap = 0; /* the slot behind the last gap */
	const struct page_slot *last = NULL;

	for (uint32_t i = 0; nr < x->nr; i++) {
		const struct page_slot *s = &x->slots[i];

		if (!s->mapping) {
			assert_int_equal(s->hash, 0);
			gap = i + 1;
			continue;
		}
		assert_in_range(page_index_home(x, s->hash), gap, i);
		assert_true(!last || last->hash >= s->hash);
		last = s;
		nr++;
	}
}

/* Entries of random hashes, of few, and of the largest and smallest come and go. */
static void test_page_index(void **state)
{
	static uint32_t hashes[30000]; /* of each mapping */
	static bool has[30000];
	uint32_t nr = sizeof(has) / sizeof(has[0]);
	struct page_index x;
	uint64_t random = 3;

	assert_int_equal(page_index_open(&x), 0);
	for (uint32_t i = 1; i < nr; i++) {
		uint64_t r = random_u64(&random);

		hashes[i] = i % 100 ? r >> 32 : i % 500 ? (r >> 32) % 32 << 27 : r % 3 - 1;
	}
	for (uint32_t step = 0; step < 20 * nr; step++) {
		uint32_t i = 1 + random_u64(&random) % (nr - 1);

		/* most are there in odd rounds, few in even ones */
		if (has[i] && (step / nr % 2 == 0 || step % 8 == 0))
			page_index_remove(&x, hashes[i], i);
		else if (!has[i] && (step / nr % 2 == 1 || step % 8 == 0))
			assert_int_equal(page_index_add(&x, hashes[i], i), 0);
		else
			continue;
		has[i] = !has[i];
		if (step % 1000)
			continue;
		assert_in_order(&x);
		for (i = 1; i < nr; i++)
			assert_int_equal(index_has(&x, hashes[i], i), has[i]);
	}
	assert_true(x.nr > nr / 2);
	page_index_release(&x);
}

/* More of one hash than there is memory for: what was added before is still there. */
static void test_page_index_is_full(void **state)
{
	struct page_index x;
	uint32_t nr = 0;

	assert_int_equal(page_index_open(&x), 0);
	while (!page_index_add(&x, 0, nr + 1))
		nr++;
	assert_in_range(nr, 200, 300);
	assert_int_equal(x.nr, nr);
	assert_in_order(&x);
	for (uint32_t i = 1; i <= nr; i++)
		assert_true(index_has(&x, 0, i));
	assert_false(index_has(&x, 0, nr + 1));
	assert_int_equal(page_index_add(&x, UINT32_MAX, nr + 1), 0);
	page_index_release(&x);
}

/* mms come and go: the ones that stay are found. */
static void test_mms(void **state)
{
	struct memory m;
	uint64_t random = 2;
	uint32_t live[1000] = { 0 };

	assert_int_equal(memory_open(&m), 0);
	for (int step = 0; step < 20000; step++) {
		uint64_t id = 1 + random_u64(&random) % 1000;

		if (live[id - 1]) {
			memory_remove_mm(&m, live[id - 1]);
			live[id - 1] = 0;
		} else {
			assert_int_equal(memory_reserve(&m, 1), 0);
			live[id - 1] = memory_add_mm(&m, id * 0x940);
		}
	}
	for (uint64_t id = 1; id <= 1000; id++)
		assert_int_equal(memory_find_mm(&m, id * 0x940), live[id - 1]);
	memory_close(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states_of_every_order),
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_expected),
		cmocka_unit_test(test_like),
		cmocka_unit_test(test_split_pmd),
		cmocka_unit_test(test_vmas),
		cmocka_unit_test(test_against_shadow),
		cmocka_unit_test(test_page_index),
		cmocka_unit_test(test_page_index_is_full),
		cmocka_unit_test(test_mms),
	};

	return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
