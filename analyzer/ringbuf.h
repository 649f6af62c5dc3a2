/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One sub-buffer of the kernel's ring buffer to its records: the format of
 * include/linux/ring_buffer.h and kernel/trace/ring_buffer.c, as events/header_page and
 * events/header_event describe it.
 */
#ifndef RINGBUF_H
#define RINGBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler.h"
#include "endian_read.h"
#include "formats.h"

/* An event as it stands in the sub-buffer, whose memory `data` points into; 4 bytes at least. */
struct record {
	uint64_t ts; /* of the ring buffer until timeline converts it */
	const uint8_t *data;
	uint32_t size;
	uint32_t cpu;
	bool begins_page; /* the first of its sub-buffer */
	bool after_loss;  /* which events of this CPU were lost in front of, then */
};

struct ringbuf {
	const uint8_t *pos;	 /* of the events in the page */
	const uint8_t *fast_end; /* in front of it most events fit; NULL: to be read slowly */
	uint64_t ts;
	const uint8_t *end;
	uint64_t ts_high; /* the bits that an absolute stamp lacks */
	bool big_endian;
};

#define RINGBUF_LOST_UNCOUNTED UINT64_MAX

/*
 * Begin @page of l->page_size bytes. *lost becomes the number of events lost in front of it,
 * RINGBUF_LOST_UNCOUNTED when the page does not say how many. NULL, or why the page is damaged.
 */
const char *ringbuf_load(struct ringbuf *rb, const struct page_layout *l, const uint8_t *page,
			 bool big_endian, uint64_t *lost);

/* enum ring_buffer_type: 1-28 is an event of that many words. */
#define RINGBUF_MAX_WORDS  28
#define RINGBUF_FAST_WORDS 16 /* nearly all have no more */

/* Bytes: what lies that far behind will be in the cache once it is reached. */
#define RINGBUF_AHEAD 128

/* What ringbuf_next() does, of any type and byte order. */
int ringbuf_next_any(struct ringbuf *rb, struct record *r);

/*
 * Whether this is the header of a short event, as nearly all are: the few steps that those take are
 * worth to be inlined.
 */
static inline bool ringbuf_is_short(uint32_t header)
{
	return likely((header & 31) - 1 < RINGBUF_FAST_WORDS);
}

/* Take in the short event that has this header and lies in front of fast_end. */
static inline void ringbuf_take_short(struct ringbuf *rb, uint32_t header, struct record *r)
{
	uint32_t size = 4 * (header & 31);

	r->ts = rb->ts += header >> 5;
	r->data = rb->pos + 4;
	r->size = size;
	rb->pos += 4 + size;
}

/*
 * The header of the next event, where that is little-endian and there is room for a short one; else
 * 0, which is none of a short event.
 */
static inline uint32_t ringbuf_header(const struct ringbuf *rb)
{
	if (unlikely(rb->pos >= rb->fast_end))
		return 0;
	__builtin_prefetch(rb->pos + RINGBUF_AHEAD);
	return read_u32(rb->pos, false);
}

/* The next record: 1, 0 at the end of the page, -1 when what follows cannot be an event. */
static inline int ringbuf_next(struct ringbuf *rb, struct record *r)
{
	uint32_t header = ringbuf_header(rb);

	if (!ringbuf_is_short(header))
		return ringbuf_next_any(rb, r);
	ringbuf_take_short(rb, header, r);
	return 1;
}

#endif
