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
	/* of the event behind that, where it is short, and there is more than one stream */
	uint32_t header;
	struct ringbuf page;
	const struct page_layout *layout;
	uint64_t page_offset;
	const uint8_t *page_start;
	bool ended; /* has no record any more */
	struct pages pages;
} __attribute__((__aligned__(64)));

struct timeline {
	struct tracefile *tf;
	struct ahead ahead;
	struct page_layout *layouts; /* one a buffer; owned */
	struct stream *streams;	     /* owned */
	size_t nr_streams;
	/*
	 * A tree of losers: [n] is who lost the match at node n, whose players come up from nodes
	 * 2n and 2n + 1; the streams are the leaves, from nr_leaves on. [0] is the winner. A player
	 * is the time of a stream's next record, counted from `base`, above the stream's number.
	 */
	uint64_t *players;	  /* owned */
	size_t nr_leaves;	  /* 2^stream_bits */
	unsigned int stream_bits; /* of a player */
	uint64_t base;
	bool convert;		 /* time stamps change */
	struct record now;	 /* handed out last, where there is more than one stream */
	struct stream *current;	 /* whose record was handed out last; NULL at the end */
	struct stream *late;	 /* the same, where its next record was not read yet, else NULL */
	struct stream *only;	 /* where there is one, until it ends, and no time changes */
	uint64_t last;		 /* at the end, the time of the last record */
	uint64_t records;	 /* handed out */
	uint64_t lost;		 /* events, where pages count them */
	uint64_t lost_uncounted; /* pages that lost events and do not say how many */
};

/*
 * Start at the first record of @tf, whose header_page is @layout; NULL: it has none, and so nothing
 * can be read. 0 or -ENOMEM; timeline_close() is due in either case. Damage that is met is noted in
 * tf->damages.
 */
int timeline_open(struct timeline *t, struct tracefile *tf, const struct page_layout *layout);

/*
 * The next record, good until the next call; NULL at the end. Records of equal time come in the
 * order of the CPUs in the file.
 */
const struct record *timeline_next(struct timeline *t);

/*
 * What timeline_next() does while there is t->only one stream, and else: for who has so many
 * records to come that asking for each which of the two it is takes too long.
 */
const struct record *timeline_next_of_one(struct timeline *t);
const struct record *timeline_next_of_all(struct timeline *t);

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
