// SPDX-License-Identifier: GPL-2.0-or-later
/* Sub-buffers byte by byte: every kind of entry, both byte orders, and everything that can lie. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ringbuf.h"

#define PAGE_SIZE 256
#define PADDING	  29
#define EXTEND	  30
#define STAMP	  31

/* A sub-buffer that is being put together; `big` sets its byte order. */
struct page {
	uint8_t bytes[PAGE_SIZE];
	struct page_layout layout;
	size_t used; /* of its data */
	bool big;
};

static void put(struct page *p, size_t at, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		p->bytes[at + (p->big ? size - 1 - i : i)] = value >> (8 * i);
}

static void page_init(struct page *p, bool big, unsigned int commit_size, uint64_t ts)
{
	*p = (struct page){ .big = big };
	p->layout = (struct page_layout){ .commit_offset = 8,
					  .commit_size = commit_size,
					  .data_offset = 8 + commit_size,
					  .page_size = PAGE_SIZE };
	put(p, 0, ts, 8);
}

static void add_word(struct page *p, uint32_t word)
{
	put(p, p->layout.data_offset + p->used, word, 4);
	p->used += 4;
}

static void add_header(struct page *p, uint32_t type, uint32_t delta)
{
	add_word(p, p->big ? type << 27 | delta : delta << 5 | type);
}

static void add_event(struct page *p, uint32_t delta, uint32_t words)
{
	add_header(p, words, delta);
	for (uint32_t i = 0; i < words; i++)
		add_word(p, 0x100 + i);
}

static const char *load(struct page *p, struct ringbuf *rb, uint32_t flags, uint64_t *lost)
{
	put(p, 8, p->used | flags, p->layout.commit_size);
	return ringbuf_load(rb, &p->layout, p->bytes, p->big, lost);
}

static struct ringbuf good_load(struct page *p)
{
	struct ringbuf rb;
	uint64_t lost;

	assert_null(load(p, &rb, 0, &lost));
	assert_int_equal(lost, 0);
	return rb;
}

static void assert_record(struct ringbuf *rb, uint64_t ts, uint32_t size)
{
	struct record r;

	assert_int_equal(ringbuf_next(rb, &r), 1);
	assert_int_equal(r.ts, ts);
	assert_int_equal(r.size, size);
}

static void assert_ends(struct ringbuf *rb, int how)
{
	struct record r;

	assert_int_equal(ringbuf_next(rb, &r), how);
}

static void test_kinds(void **state)
{
	for (int big = 0; big < 2; big++) {
		for (unsigned int commit = 4; commit <= 8; commit += 4) {
			struct ringbuf rb;
			struct page p;

			page_init(&p, big, commit, 1000);
			add_event(&p, 5, 2);
			add_header(&p, EXTEND, 7); /* (1 << 27) + 7 later */
			add_word(&p, 1);
			add_event(&p, 3, 1);
			add_header(&p, 0, 4); /* 20 bytes, behind a length that counts itself */
			add_word(&p, 24);
			for (int i = 0; i < 5; i++)
				add_word(&p, i);
			add_header(&p, PADDING, 2); /* a discarded event of 8 bytes */
			add_word(&p, 8);
			add_word(&p, 0xffffffff);
			add_header(&p, STAMP, 9);
			add_word(&p, 2);
			add_event(&p, 1, 3);
			rb = good_load(&p);
			assert_record(&rb, 1005, 8);
			assert_record(&rb, 1005 + (1 << 27) + 7 + 3, 4);
			assert_record(&rb, 1005 + (1 << 27) + 10 + 4, 20);
			assert_record(&rb, (UINT64_C(2) << 27) + 9 + 1, 12);
			assert_ends(&rb, 0);
		}
	}
}

/* An absolute stamp has 59 bits; the five above them are the page's. */
static void test_stamp_takes_high_bits_of_the_page(void **state)
{
	uint64_t high = UINT64_C(0x15) << 59;
	struct ringbuf rb;
	struct page p;

	page_init(&p, false, 8, high | 77);
	add_header(&p, STAMP, 1);
	add_word(&p, 1);
	add_event(&p, 0, 1);
	rb = good_load(&p);
	assert_record(&rb, high | ((1 << 27) + 1), 4);
}

/* The length of a long event is rounded up to words. */
static void test_odd_length(void **state)
{
	struct ringbuf rb;
	struct page p;

	page_init(&p, false, 8, 0);
	add_header(&p, 0, 0);
	add_word(&p, 9);
	add_word(&p, 0);
	add_word(&p, 0);
	add_event(&p, 1, 1);
	rb = good_load(&p);
	assert_record(&rb, 0, 8);
	assert_record(&rb, 1, 4);
	assert_ends(&rb, 0);
}

static void test_lost_events(void **state)
{
	struct ringbuf rb;
	struct page p;
	uint64_t lost;

	for (int big = 0; big < 2; big++) {
		page_init(&p, big, 8, 0);
		add_event(&p, 0, 1);
		assert_null(load(&p, &rb, 1u << 31, &lost));
		assert_true(lost == RINGBUF_LOST_UNCOUNTED);
		put(&p, p.layout.data_offset + p.used, 42, 8);
		assert_null(load(&p, &rb, 3u << 30, &lost));
		assert_int_equal(lost, 42);
		assert_record(&rb, 0, 4);
		assert_ends(&rb, 0);
	}
}

static void test_empty_and_half_full(void **state)
{
	struct ringbuf rb;
	struct page p;

	page_init(&p, false, 8, 0);
	rb = good_load(&p);
	assert_ends(&rb, 0);
	/* padding without a delta ends the page, whatever stands behind it */
	page_init(&p, false, 8, 0);
	add_event(&p, 0, 1);
	add_header(&p, PADDING, 0);
	add_word(&p, 0xffffffff);
	rb = good_load(&p);
	assert_record(&rb, 0, 4);
	assert_ends(&rb, 0);
	/* the last word may be such a padding's header alone */
	page_init(&p, false, 8, 0);
	add_header(&p, PADDING, 0);
	rb = good_load(&p);
	assert_ends(&rb, 0);
}

static void test_lies(void **state)
{
	struct ringbuf rb;
	struct page p;
	uint64_t lost;

	page_init(&p, false, 8, 0);
	p.used = PAGE_SIZE - 16 + 1;
	assert_non_null(load(&p, &rb, 0, &lost));
	assert_ends(&rb, 0); /* and it holds nothing */
	/* no room for the count that it says to have */
	p.used = PAGE_SIZE - 16 - 4;
	assert_non_null(load(&p, &rb, 3u << 30, &lost));
	/* bits above the first word */
	page_init(&p, false, 8, 0);
	put(&p, 12, 1, 4);
	assert_non_null(ringbuf_load(&rb, &p.layout, p.bytes, false, &lost));
	/* an event that is longer than what is left */
	page_init(&p, false, 8, 0);
	add_header(&p, 28, 0);
	add_word(&p, 0);
	rb = good_load(&p);
	assert_ends(&rb, -1);
	/* the same of a long one, of one shorter than its length word, and of padding */
	for (uint32_t type = 0; type <= PADDING; type += PADDING) {
		static const uint32_t lengths[] = { 1000, 0xffffffff, 3, 0 };

		for (size_t i = 0; i < (type ? 2 : 4); i++) {
			page_init(&p, false, 8, 0);
			add_header(&p, type, 1);
			add_word(&p, lengths[i]);
			add_word(&p, 0);
			rb = good_load(&p);
			assert_ends(&rb, -1);
		}
	}
	/* a time extend that is cut, and bytes that are no word */
	page_init(&p, false, 8, 0);
	add_header(&p, EXTEND, 1);
	rb = good_load(&p);
	assert_ends(&rb, -1);
	page_init(&p, false, 8, 0);
	add_event(&p, 0, 1);
	p.used += 2;
	rb = good_load(&p);
	assert_record(&rb, 0, 4);
	assert_ends(&rb, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_stamp_takes_high_bits_of_the_page),
		cmocka_unit_test(test_odd_length),
		cmocka_unit_test(test_lost_events),
		cmocka_unit_test(test_empty_and_half_full),
		cmocka_unit_test(test_lies),
	};

	return cmocka_run_group_tests_name("ringbuf", tests, NULL, NULL);
}
