// SPDX-License-Identifier: GPL-2.0-or-later
/* One sub-buffer of the kernel's ring buffer to its records. */
#include "endian_read.h"
#include "ringbuf.h"

/* Top bits of the commit word: RB_MISSED_EVENTS and RB_MISSED_STORED. */
#define MISSED_EVENTS (1u << 31)
#define MISSED_STORED (1u << 30)

/* enum ring_buffer_type, but for RINGBUF_MAX_WORDS. */
#define TYPE_LONG_EVENT	 0
#define TYPE_PADDING	 29
#define TYPE_TIME_EXTEND 30
#define TYPE_TIME_STAMP	 31

#define DELTA_BITS 27
#define STAMP_BITS 59

const char *ringbuf_load(struct ringbuf *rb, const struct page_layout *l, const uint8_t *page,
			 bool big_endian, uint64_t *lost)
{
	const uint8_t *data = page + l->data_offset;
	uint32_t room = l->page_size - l->data_offset;
	uint64_t commit;
	uint32_t size;

	commit = l->commit_size == 8 ? read_u64(page + l->commit_offset, big_endian)
				     : read_u32(page + l->commit_offset, big_endian);
	size = commit & ~(MISSED_EVENTS | MISSED_STORED);
	rb->ts = read_u64(page, big_endian);
	rb->ts_high = rb->ts >> STAMP_BITS << STAMP_BITS;
	rb->big_endian = big_endian;
	rb->pos = rb->end = data;
	rb->fast_end = NULL;
	*lost = 0;
	if (commit >> 32 || size > room)
		return "says that it holds more than fits";
	if (commit & MISSED_EVENTS)
		*lost = RINGBUF_LOST_UNCOUNTED;
	if (commit & MISSED_EVENTS && commit & MISSED_STORED) {
		if (room - size < l->commit_size)
			return "has no room for its count of lost events";
		*lost = l->commit_size == 8 ? read_u64(data + size, big_endian)
					    : read_u32(data + size, big_endian);
	}
	rb->end = data + size;
	if (!big_endian && size >= 4 + 4 * RINGBUF_FAST_WORDS)
		rb->fast_end = rb->end - 4 * RINGBUF_FAST_WORDS - 3;
	return NULL;
}

int ringbuf_next_any(struct ringbuf *rb, struct record *r)
{
	const bool be = rb->big_endian;

	for (;;) {
		size_t left = rb->end - rb->pos;
		uint32_t header, type, delta, length;

		if (left < 4)
			return left ? -1 : 0;
		header = read_u32(rb->pos, be);
		/* two bit fields, which each byte order lays out from its own end */
		type = be ? header >> DELTA_BITS : header & 31;
		delta = be ? header & ((1u << DELTA_BITS) - 1) : header >> 5;

		if (type && type <= RINGBUF_MAX_WORDS) {
			length = type * 4;
			if (length > left - 4)
				return -1;
			rb->ts += delta;
			r->ts = rb->ts;
			r->data = rb->pos + 4;
			r->size = length;
			rb->pos += 4 + length;
			return 1;
		}
		/* a discarded event; with no delta, the rest of the page */
		if (type == TYPE_PADDING && !delta) {
			rb->pos = rb->end;
			return 0;
		}
		if (left < 8)
			return -1;
		length = read_u32(rb->pos + 4, be);
		switch (type) {
		case TYPE_LONG_EVENT:
			/* the length counts its own word, and is rounded up to words */
			if (length <= 4 || length > left - 4)
				return -1;
			length = (length + 3) & ~3u;
			if (length > left - 4)
				return -1;
			rb->ts += delta;
			r->ts = rb->ts;
			r->data = rb->pos + 8;
			r->size = length - 4;
			rb->pos += 4 + length;
			return 1;
		case TYPE_PADDING:
			if (length > left - 4)
				return -1;
			rb->ts += delta;
			rb->pos += 4 + length;
			break;
		case TYPE_TIME_EXTEND:
			rb->ts += ((uint64_t)length << DELTA_BITS) + delta;
			rb->pos += 8;
			break;
		case TYPE_TIME_STAMP:
			rb->ts = (((uint64_t)length << DELTA_BITS) + delta) | rb->ts_high;
			rb->pos += 8;
			break;
		}
	}
}
