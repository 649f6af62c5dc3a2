// SPDX-License-Identifier: GPL-2.0-or-later
/* All CPUs of all buffers as one stream of records in time order: a tournament of their next ones.
 */
#include <errno.h>
#include <stdlib.h>

#include "timeline.h"

static bool earlier(const struct contender *a, const struct contender *b)
{
	return a->ts != b->ts ? a->ts < b->ts : a->stream < b->stream;
}

/* The stream of the winner plays its matches again, from its leaf to the root. */
static void play(struct timeline *t, struct contender winner, size_t leaf)
{
	for (size_t node = (leaf + t->nr_leaves) / 2; node; node /= 2) {
		if (earlier(&t->tree[node], &winner)) {
			struct contender loser = winner;

			winner = t->tree[node];
			t->tree[node] = loser;
		}
	}
	t->tree[0] = winner;
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

/* Read the stream's next record. Returns 0 at the end of its data. */
static int advance(struct timeline *t, struct stream *s)
{
	int ret;

	while ((ret = ringbuf_next(&s->page, &s->next)) != 1) {
		if (ret < 0) {
			uint64_t at = s->pages.compressed ? 0 : s->page.pos - s->page_start;

			damage_add(&t->tf->damages, s->page_offset + at,
				   "a sub-buffer of CPU %u holds what is no event", s->next.cpu);
			s->next.after_loss = true;
		}
		if (!next_page(t, s))
			return 0;
	}
	if (t->convert)
		s->next.ts = trace_clock_convert(&t->tf->clock, s->next.cpu, s->next.ts);
	return 1;
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

/* The stream's next record enters the tournament, or its end does. */
static struct contender contender_of(struct timeline *t, size_t stream)
{
	struct stream *s = &t->streams[stream];

	if (stream < t->nr_streams && advance(t, s))
		return (struct contender){ .ts = s->next.ts, .stream = stream };
	return (struct contender){ .ts = UINT64_MAX, .stream = stream + t->nr_streams };
}

/* The first matches: each node passes its winner up and keeps its loser. */
static struct contender play_first(struct timeline *t, size_t node)
{
	struct contender a, b;

	if (node >= t->nr_leaves)
		return contender_of(t, node - t->nr_leaves);
	a = play_first(t, 2 * node);
	b = play_first(t, 2 * node + 1);
	t->tree[node] = earlier(&a, &b) ? b : a;
	return earlier(&a, &b) ? a : b;
}

static void open_streams(struct timeline *t)
{
	struct stream *s = t->streams;

	for (size_t i = 0; i < t->tf->nr_buffers; i++) {
		struct trace_buffer *b = &t->tf->buffers[i];

		for (size_t j = 0; j < b->nr_cpus; j++, s++) {
			pages_open(&s->pages, t->tf, b, &b->cpus[j], t->layouts[i].page_size,
				   t->nr_streams);
			s->layout = &t->layouts[i];
			s->next.cpu = b->cpus[j].cpu;
		}
	}
	t->tree[0] = play_first(t, 1);
}

int timeline_open(struct timeline *t, struct tracefile *tf, const struct page_layout *layout)
{
	*t = (struct timeline){ .tf = tf, .convert = !trace_clock_is_identity(&tf->clock) };
	for (size_t i = 0; i < tf->nr_buffers; i++)
		t->nr_streams += tf->buffers[i].nr_cpus;
	t->layouts = calloc(tf->nr_buffers + 1, sizeof(*t->layouts));
	t->streams = calloc(t->nr_streams + 1, sizeof(*t->streams));
	for (t->nr_leaves = 1; t->nr_leaves < t->nr_streams;)
		t->nr_leaves *= 2;
	t->tree = calloc(t->nr_leaves, sizeof(*t->tree));
	if (!t->layouts || !t->streams || !t->tree)
		return -ENOMEM;
	for (size_t i = 0; i < tf->nr_buffers; i++)
		t->layouts[i] = buffer_layout(layout, &tf->buffers[i]);
	open_streams(t);
	return 0;
}

const struct record *timeline_next(struct timeline *t)
{
	uint32_t first = t->tree[0].stream;

	if (t->consumed) {
		t->streams[first].next.after_loss = false;
		play(t, contender_of(t, first), first);
		first = t->tree[0].stream;
	}
	t->consumed = first < t->nr_streams;
	if (!t->consumed)
		return NULL;
	t->records++;
	return &t->streams[first].next;
}

size_t timeline_stream(const struct timeline *t)
{
	return t->tree[0].stream;
}

uint64_t timeline_offset(const struct timeline *t)
{
	const struct stream *s;

	if (!t->consumed)
		return 0;
	s = &t->streams[t->tree[0].stream];
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
	free(t->streams);
	free(t->layouts);
	free(t->tree);
	*t = (struct timeline){ 0 };
}
