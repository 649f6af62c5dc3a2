// SPDX-License-Identifier: GPL-2.0-or-later
/* All CPUs of all buffers as one stream of records in time order: a tournament of their next ones.
 */
#include <errno.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "compiler.h"
#include "timeline.h"

/* Stands behind all records, of which those from LAST_TIME on are of one time. */
#define NO_RECORD (UINT64_MAX - 1)
#define LAST_TIME (UINT64_MAX - 2)

/*
 * The winner plays its matches again with the time @ts of its next record, from its leaf to the
 * root. Streams of a left child come before those of the right one when times are equal.
 */
static void play(struct timeline *t, uint64_t ts)
{
	uint64_t *const times = t->times, loser;
	uint32_t stream = t->losers[0], other;
	size_t child = stream + t->nr_leaves, node;

	for (; child > 1; child = node) {
		node = child / 2;
		loser = times[node];
		if (loser > ts || (loser == ts && !(child & 1)))
			continue;
		times[node] = ts;
		ts = loser;
		other = t->losers[node];
		t->losers[node] = stream;
		stream = other;
	}
	times[0] = ts;
	t->losers[0] = stream;
	/*
	 * Who lost the last match is likely to be the next: have its record in the cache. It is a
	 * stream: leaves beyond them lose all their matches.
	 */
	__builtin_prefetch(t->streams[t->losers[t->nr_leaves > 1]].next.data);
}

/* Begin the stream's next page that is whole. Returns 0 at the end of its data. */
static int next_page(struct timeline *t, struct stream *s)
{
	for (;;) {
		const char *reason;
		uint64_t lost;

		s->page_start = pages_next(&s->pages, &s->page_offset);
		if (!s->page_start)
			return 0;
		reason = ringbuf_load(&s->page, s->layout, s->page_start, t->tf->big_endian, &lost);
		if (reason) {
			damage_add(&t->tf->damages, s->page_offset, "a sub-buffer of CPU %u %s",
				   s->next.cpu, reason);
			s->next.after_loss = true;
			continue;
		}
		if (lost == RINGBUF_LOST_UNCOUNTED)
			t->lost_uncounted++;
		else
			t->lost += lost;
		if (lost)
			s->next.after_loss = true;
		return 1;
	}
}

/* What is left of the stream's page is no event. */
static void leave_page(struct timeline *t, struct stream *s)
{
	uint64_t at = s->pages.compressed ? 0 : s->page.pos - s->page_start;

	damage_add(&t->tf->damages, s->page_offset + at,
		   "a sub-buffer of CPU %u holds what is no event", s->next.cpu);
	s->next.after_loss = true;
}

/* The first record of the stream's next page that has one. Returns 0 at the end of its data. */
static noinline int turn_page(struct timeline *t, struct stream *s, int ret)
{
	s->next.begins_page = true;
	do {
		if (ret < 0)
			leave_page(t, s);
		if (!next_page(t, s))
			return 0;
	} while ((ret = ringbuf_next_any(&s->page, &s->next)) != 1);
	return 1;
}

/* Read the stream's next record, but for its time. Returns 0 at the end of its data. */
static inline int read_next(struct timeline *t, struct stream *s)
{
	int ret = ringbuf_next(&s->page, &s->next);

	return likely(ret == 1) || turn_page(t, s, ret);
}

static int advance(struct timeline *t, struct stream *s)
{
	int has_next = read_next(t, s);

	if (has_next && unlikely(t->convert))
		s->next.ts = trace_clock_convert(&t->tf->clock, s->next.cpu, s->next.ts);
	return has_next;
}

/* Where the stream's next record, if there is one, stands among the others'. */
static uint64_t place(const struct stream *s, int has_next)
{
	if (!has_next)
		return NO_RECORD;
	return s->next.ts < LAST_TIME ? s->next.ts : LAST_TIME;
}

/* Where header_page and the option disagree: it is about the top instance, the option about its
 * own. */
static struct page_layout buffer_layout(const struct page_layout *layout,
					const struct trace_buffer *b)
{
	struct page_layout own = *layout;

	if (*b->name && b->page_size > own.data_offset)
		own.page_size = b->page_size;
	return own;
}

/* The first matches: each node keeps its loser and passes its winner up, whose time is *ts. */
static uint32_t play_first(struct timeline *t, size_t node, uint64_t *ts)
{
	uint32_t left, right;
	uint64_t right_ts;

	if (node >= t->nr_leaves) {
		uint32_t stream = node - t->nr_leaves;
		struct stream *s = &t->streams[stream];

		*ts = stream < t->nr_streams ? place(s, advance(t, s)) : NO_RECORD;
		return stream;
	}
	left = play_first(t, 2 * node, ts);
	right = play_first(t, 2 * node + 1, &right_ts);
	t->times[node] = right_ts < *ts ? *ts : right_ts;
	t->losers[node] = right_ts < *ts ? left : right;
	if (right_ts >= *ts)
		return left;
	*ts = right_ts;
	return right;
}

static void open_streams(struct timeline *t)
{
	struct stream *s = t->streams;

	for (size_t i = 0; i < t->tf->nr_buffers; i++) {
		struct trace_buffer *b = &t->tf->buffers[i];

		for (size_t j = 0; j < b->nr_cpus; j++, s++) {
			pages_open(&s->pages, t->tf, b, &b->cpus[j], t->layouts[i].page_size,
				   t->nr_streams);
			if (t->ahead.started)
				s->pages.ahead = &t->ahead;
			s->layout = &t->layouts[i];
			s->next.cpu = b->cpus[j].cpu;
		}
	}
	t->losers[0] = play_first(t, 1, &t->times[0]);
}

/* Whether anything of it has to be unpacked. */
static bool has_chunks(const struct tracefile *tf)
{
	for (size_t i = 0; i < tf->nr_buffers; i++) {
		if (tf->buffers[i].compressed)
			return true;
	}
	return false;
}

int timeline_open(struct timeline *t, struct tracefile *tf, const struct page_layout *layout)
{
	*t = (struct timeline){ .tf = tf, .convert = !trace_clock_is_identity(&tf->clock) };
	for (size_t i = 0; i < tf->nr_buffers; i++)
		t->nr_streams += tf->buffers[i].nr_cpus;
	t->layouts = calloc(tf->nr_buffers + 1, sizeof(*t->layouts));
	t->streams =
		aligned_alloc(alignof(struct stream), (t->nr_streams + 1) * sizeof(*t->streams));
	if (t->streams)
		memset(t->streams, 0, (t->nr_streams + 1) * sizeof(*t->streams));
	for (t->nr_leaves = 1; t->nr_leaves < t->nr_streams;)
		t->nr_leaves *= 2;
	t->times = calloc(t->nr_leaves, sizeof(*t->times));
	t->losers = calloc(t->nr_leaves, sizeof(*t->losers));
	if (!t->layouts || !t->streams || !t->times || !t->losers)
		return -ENOMEM;
	for (size_t i = 0; i < tf->nr_buffers; i++)
		t->layouts[i] = buffer_layout(layout, &tf->buffers[i]);
	if (has_chunks(tf))
		ahead_open(&t->ahead, &tf->unpacker);
	open_streams(t);
	return 0;
}

/* Whether there is a record: then the winner's is the next. */
static bool take_winner(struct timeline *t)
{
	bool has_next = t->losers && t->times[0] != NO_RECORD;

	t->current = has_next ? &t->streams[t->losers[0]] : NULL;
	if (t->nr_leaves == 1 && !t->convert)
		t->only = t->current;
	return has_next;
}

/* Whether there is a record, of whatever stream. */
static bool next_of_all(struct timeline *t)
{
	struct stream *s = t->current;

	if (unlikely(!s))
		return !t->records && take_winner(t);
	s->next.begins_page = s->next.after_loss = false;
	play(t, place(s, advance(t, s)));
	if (likely(take_winner(t)))
		return true;
	t->last = s->next.ts;
	return false;
}

const struct record *timeline_next(struct timeline *t)
{
	struct stream *s = t->only;

	if (likely(s != NULL)) {
		s->next.begins_page = s->next.after_loss = false;
		if (unlikely(!read_next(t, s))) {
			t->last = s->next.ts;
			t->only = t->current = NULL;
			return NULL;
		}
	} else {
		if (!next_of_all(t))
			return NULL;
		s = t->current;
	}
	t->records++;
	return &s->next;
}

size_t timeline_stream(const struct timeline *t)
{
	return t->losers[0];
}

uint64_t timeline_offset(const struct timeline *t)
{
	const struct stream *s = t->current;

	if (!s)
		return 0;
	return s->page_offset + (s->pages.compressed ? 0 : s->next.data - s->page_start);
}

double timeline_done(const struct timeline *t)
{
	uint64_t left = 0;

	for (size_t i = 0; i < t->nr_streams; i++)
		left += t->streams[i].pages.end - t->streams[i].pages.pos;
	return t->tf->cpu_data_size ? 1 - (double)left / t->tf->cpu_data_size : 1;
}

void timeline_close(struct timeline *t)
{
	for (size_t i = 0; i < t->nr_streams && t->streams; i++)
		pages_close(&t->streams[i].pages);
	ahead_close(&t->ahead);
	free(t->streams);
	free(t->layouts);
	free(t->times);
	free(t->losers);
	*t = (struct timeline){ 0 };
}
