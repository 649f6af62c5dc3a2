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

#include "formats.h"

/* An event as it stands in the sub-buffer, whose memory `data` points into; 4 bytes at least. */
struct record {
	uint64_t ts; /* of the ring buffer until timeline converts it */
	const uint8_t *data;
	uint32_t size;
	uint32_t cpu;
	bool after_loss; /* events of this CPU were lost in front of this one */
};

struct ringbuf {
	const uint8_t *pos, *end; /* of the events in the page */
	uint64_t ts;
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

/* The next record: 1, 0 at the end of the page, -1 when what follows cannot be an event. */
int ringbuf_next(struct ringbuf *rb, struct record *r);

#endif
