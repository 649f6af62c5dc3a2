/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All CPUs of all buffers as one stream of records in time order, pulled one at a time. */
#ifndef TIMELINE_H
#define TIMELINE_H

#include "formats.h"
#include "pages.h"
#include "ringbuf.h"
#include "tracefile.h"

/* One CPU of one buffer. What each record needs stands in front, in one cache line. */
struct stream {
	struct record next; /* its next record, time converted */
	struct ringbuf page;
	const struct page_layout *layout;
	uint64_t page_offset;
	const uint8_t *page_start;
	struct pages pages;
} __attribute__((__aligned__(64)));

struct timeline {
	struct tracefile *tf;
	struct ahead ahead;
	struct page_layout *layouts; /* one a buffer; owned */
	struct stream *streams;	     /* owned */
	size_t nr_streams;
	/*
	 * A tree of losers: [n] is which stream lost the match at node n, whose players come up
	 * from nodes 2n and 2n + 1, and the time of its next record; the streams are the leaves,
	 * from nr_leaves on. [0] is the winner.
	 */
	uint32_t *losers;	 /* owned */
	uint64_t *times;	 /* owned */
	size_t nr_leaves;	 /* a power of two */
	bool convert;		 /* time stamps change */
	struct stream *current;	 /* whose record was handed out last; NULL: none, or the end */
	struct stream *only;	 /* the same where there is no other, and no time changes */
	uint64_t last;		 /* at the end, the time of the last record */
	uint64_t records;	 /* handed out */
	uint64_t lost;		 /* events, where pages count them */
	uint64_t lost_uncounted; /* pages that lost events and do not say how many */
};

/*
 * Start at the first record of @tf, whose header_page is @layout. 0 or -ENOMEM; timeline_close() is
 * due in either case. Damage that is met is noted in tf->damages.
 */
int timeline_open(struct timeline *t, struct tracefile *tf, const struct page_layout *layout);

/*
 * The next record, good until the next call; NULL at the end. Records of equal time come in the
 * order of the CPUs in the file.
 */
const struct record *timeline_next(struct timeline *t);

/* Which CPU of which buffer holds the current record: below nr_streams, in the order of the file.
 */
size_t timeline_stream(const struct timeline *t);

/* Where in the file the current record stands, or its chunk where that is compressed; for damage.
 */
uint64_t timeline_offset(const struct timeline *t);

/* The part of the CPU data that was read, 0 to 1. */
double timeline_done(const struct timeline *t);

void timeline_close(struct timeline *t);

#endif
