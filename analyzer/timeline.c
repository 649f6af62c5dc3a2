// SPDX-License-Identifier: GPL-2.0-or-later
/* All CPUs of all buffers as one stream of records in time order: a tournament of their next ones.
 */
#include <errno.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "compiler.h"
#include "timeline.h"

/* Times of a player that are none: its stream has no record, or one too late for the tournament. */
#define TIME_NONE(t)  (UINT64_MAX >> (t)->stream_bits)
#define TIME_LATER(t) (TIME_NONE(t) - 1)

/*
 * Of more streams a player has too few bits left for time: if all records were far apart, each
 * would begin a tournament. There the players are numbers of streams, and their records are
 * compared.
 */
#define MAX_TIMED 2048

static bool is_timed(const struct timeline *t)
{
	return t->nr_leaves <= MAX_TIMED;
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

static noinline uint64_t converted(const struct timeline *t, const struct stream *s, uint64_t ts)
{
	return trace_clock_convert(&t->tf->clock, s->next.cpu, ts);
}

/* Read the stream's next record, and the header behind it. */
static void advance(struct timeline *t, struct stream *s)
{
	s->ended = !read_next(t, s);
	if (s->ended)
		return;
	if (t->convert)
		s->next.ts = converted(t, s, s->next.ts);
	s->header = is_timed(t) ? ringbuf_header(&s->page) : 0;
}

/*
 * The player of a stream whose next record is of time @ts. What is in front of the base is as early
 * as can be: only who has just won can have gone back to there, and wins again.
 */
static uint64_t player_of(const struct timeline *t, uint32_t stream, uint64_t ts)
{
	uint64_t time = ts - t->base;

	if (unlikely(time >= TIME_LATER(t)))
		time = ts < t->base ? 0 : TIME_LATER(t);
	return time << t->stream_bits | stream;
}

static bool has_next(const struct timeline *t, uint64_t stream)
{
	return stream < t->nr_streams && !t->streams[stream].ended;
}

/* The player of any stream, which may have no record any more, or not exist. */
static uint64_t any_player_of(const struct timeline *t, uint32_t stream)
{
	if (!is_timed(t))
		return stream;
	if (has_next(t, stream))
		return player_of(t, stream, t->streams[stream].next.ts);
	return TIME_NONE(t) << t->stream_bits | stream;
}

/*
 * The stream that won plays its matches again, as @player, from its leaf to the root. Nobody can
 * foresee who wins them, so none is a branch.
 */
static void play(struct timeline *t, uint32_t stream, uint64_t player)
{
	uint64_t *const players = t->players;

	for (size_t node = (stream + t->nr_leaves) / 2; node; node /= 2) {
		uint64_t other = players[node];

		players[node] = other > player ? other : player;
		player = other > player ? player : other;
	}
	players[0] = player;
	/* it is a stream: leaves beyond them win only against each other */
	__builtin_prefetch(t->streams[player & (t->nr_leaves - 1)].next.data);
}

/* Whether player @a beats @b. */
static bool beats(const struct timeline *t, uint64_t a, uint64_t b)
{
	const struct stream *s = t->streams;

	if (is_timed(t))
		return a < b;
	if (!has_next(t, a) || !has_next(t, b))
		return has_next(t, a);
	return s[a].next.ts < s[b].next.ts || (s[a].next.ts == s[b].next.ts && a < b);
}

/* Who has won of all is known by its time to have no record, if it has none. */
static void crown(struct timeline *t, uint64_t player)
{
	t->players[0] = is_timed(t) || has_next(t, player)
				? player
				: TIME_NONE(t) << t->stream_bits | player;
}

/* What play() does, of any players. */
static void play_any(struct timeline *t, uint32_t stream)
{
	uint64_t player = any_player_of(t, stream);

	for (size_t node = (stream + t->nr_leaves) / 2; node; node /= 2) {
		uint64_t other = t->players[node];

		if (!beats(t, other, player))
			continue;
		t->players[node] = player;
		player = other;
	}
	crown(t, player);
}

/* The first matches: each node keeps its loser and passes its winner up. */
static uint64_t play_first(struct timeline *t, size_t node)
{
	uint64_t left, right;

	if (node >= t->nr_leaves)
		return any_player_of(t, node - t->nr_leaves);
	left = play_first(t, 2 * node);
	right = play_first(t, 2 * node + 1);
	t->players[node] = beats(t, left, right) ? right : left;
	return beats(t, left, right) ? left : right;
}

/* Begin a tournament of times from the next record on. Returns false where there is none. */
static noinline bool begin_tournament(struct timeline *t)
{
	/* time in front of its base may not wrap around and seem to be behind it */
	uint64_t base = UINT64_MAX - TIME_LATER(t) + 1;
	bool found = false;

	for (size_t i = 0; i < t->nr_streams; i++) {
		if (!has_next(t, i))
			continue;
		found = true;
		if (t->streams[i].next.ts < base)
			base = t->streams[i].next.ts;
	}
	t->base = base;
	crown(t, play_first(t, 1));
	return found;
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
	if (t->nr_streams == 1 && !t->convert) {
		t->only = t->current = t->streams;
		return;
	}
	for (size_t i = 0; i < t->nr_streams; i++)
		advance(t, &t->streams[i]);
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
	for (size_t i = 0; i < tf->nr_buffers && layout; i++)
		t->nr_streams += tf->buffers[i].nr_cpus;
	t->layouts = calloc(tf->nr_buffers + 1, sizeof(*t->layouts));
	t->streams =
		aligned_alloc(alignof(struct stream), (t->nr_streams + 1) * sizeof(*t->streams));
	if (t->streams)
		memset(t->streams, 0, (t->nr_streams + 1) * sizeof(*t->streams));
	while (1u << t->stream_bits < t->nr_streams)
		t->stream_bits++;
	t->nr_leaves = 1u << t->stream_bits;
	t->players = malloc(t->nr_leaves * sizeof(*t->players));
	if (!t->layouts || !t->streams || !t->players)
		return -ENOMEM;
	t->players[0] = TIME_NONE(t) << t->stream_bits; /* no tournament has begun */
	if (!layout)
		return 0;
	for (size_t i = 0; i < tf->nr_buffers; i++)
		t->layouts[i] = buffer_layout(layout, &tf->buffers[i]);
	if (has_chunks(tf))
		ahead_open(&t->ahead, &tf->unpacker);
	open_streams(t);
	return 0;
}

/* Read the record that was left behind. */
static noinline void catch_up(struct timeline *t)
{
	uint32_t stream = t->late - t->streams;

	advance(t, t->late);
	t->late = NULL;
	play_any(t, stream);
}

/* There is no record behind the one of time @ts. */
static noinline void end_at(struct timeline *t, uint64_t ts)
{
	if (t->current)
		t->last = ts;
	t->only = t->current = NULL;
}

/*
 * The next record, of whatever stream. Whose comes then is found out at once: that takes a while,
 * but whoever asks need not wait for it.
 */
const struct record *timeline_next_of_all(struct timeline *t)
{
	struct stream *s;
	uint32_t stream;
	uint64_t ts;

	if (unlikely(t->late != NULL))
		catch_up(t);
	if (unlikely(t->players[0] >> t->stream_bits >= TIME_LATER(t)) && !begin_tournament(t)) {
		end_at(t, t->now.ts);
		return NULL;
	}
	stream = t->players[0] & (t->nr_leaves - 1);
	s = t->current = &t->streams[stream];
	t->now = s->next;
	t->records++;
	s->next.begins_page = s->next.after_loss = false;
	if (!ringbuf_is_short(s->header)) {
		/* this record may lie in memory that the next one is read into */
		t->late = s;
		return &t->now;
	}
	ts = s->page.ts + (s->header >> 5);
	if (unlikely(t->convert))
		ts = converted(t, s, ts);
	play(t, stream, player_of(t, stream, ts));
	ringbuf_take_short(&s->page, s->header, &s->next);
	s->next.ts = ts;
	s->header = ringbuf_header(&s->page);
	return &t->now;
}

/* The same where there is but one. */
const struct record *timeline_next_of_one(struct timeline *t)
{
	struct stream *s = t->only;

	s->next.begins_page = s->next.after_loss = false;
	if (unlikely(!read_next(t, s))) {
		s->ended = true;
		end_at(t, s->next.ts);
		return NULL;
	}
	t->records++;
	return &s->next;
}

const struct record *timeline_next(struct timeline *t)
{
	return likely(t->only != NULL) ? timeline_next_of_one(t) : timeline_next_of_all(t);
}

size_t timeline_stream(const struct timeline *t)
{
	return t->current - t->streams;
}

uint64_t timeline_offset(const struct timeline *t)
{
	const struct stream *s = t->current;
	const struct record *record = t->only ? &s->next : &t->now;

	if (!s)
		return 0;
	return s->page_offset + (s->pages.compressed ? 0 : record->data - s->page_start);
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
	free(t->players);
	*t = (struct timeline){ 0 };
}
