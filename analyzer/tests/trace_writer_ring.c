// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The trace writer's ring buffer: records, time stamps, padding and lost events in sub-buffers.
 * Layouts: header_event, header_page and the kernel's include/linux/ring_buffer.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace_writer_int.h"

#define TYPE_PADDING	 29
#define TYPE_TIME_EXTEND 30
#define TYPE_TIME_STAMP	 31
#define MAX_SMALL_DATA	 (28 * 4) /* the most that type_len can say */
#define DELTA_BITS	 27
#define DELTA_MAX	 ((1u << DELTA_BITS) - 1)

#define COMMIT_LOST	   (1u << 31)
#define COMMIT_LOST_STORED (1u << 30)

static size_t page_header_size(const struct trace_writer *w)
{
	return 8 + w->config.long_size;
}

static struct tw_buffer *buffer_in_use(struct trace_writer *w)
{
	return w->buffers[w->in_use];
}

/* The stream of a CPU in the buffer in use, made when first asked for; NULL after an error. */
struct tw_stream *tw_stream(struct trace_writer *w, unsigned int cpu)
{
	struct tw_buffer *b = buffer_in_use(w);
	struct tw_stream *s;

	if (w->err)
		return NULL;
	if (cpu >= TW_MAX_CPUS) {
		tw_fail(w, -EINVAL);
		return NULL;
	}
	if (b->streams[cpu])
		return b->streams[cpu];

	s = calloc(1, sizeof(*s));
	if (s)
		s->page = malloc(b->subbuf_size);
	if (!s || !s->page) {
		free(s);
		tw_fail(w, -ENOMEM);
		return NULL;
	}
	b->streams[cpu] = s;
	if (cpu >= b->nr_streams)
		b->nr_streams = cpu + 1;
	return s;
}

void tw_stream_free(struct tw_stream *s)
{
	if (!s)
		return;
	free(s->pages.data);
	free(s->page);
	free(s);
}

static void page_open(struct trace_writer *w, struct tw_stream *s, uint64_t ts)
{
	unsigned int subbuf_size = buffer_in_use(w)->subbuf_size;

	memset(s->page, 0, subbuf_size);
	tw_store(w, s->page, ts, 8);
	s->open = true;
	s->pos = 0;
	s->capacity = subbuf_size - page_header_size(w);
	s->ts = ts;
	s->commit_flags = 0;
	if (s->lost_pending) {
		s->commit_flags = COMMIT_LOST;
		if (s->lost_stored) {
			s->commit_flags |= COMMIT_LOST_STORED;
			s->capacity -= w->config.long_size;
		}
		s->lost_pending = false;
	}
}

static void store_header(struct trace_writer *w, struct tw_stream *s, unsigned int type_len,
			 uint32_t delta)
{
	uint32_t word;

	/* The order of bit fields is the byte order: type_len stands in a big-endian's top bits. */
	if (w->config.big_endian)
		word = type_len << DELTA_BITS | delta;
	else
		word = delta << 5 | type_len;
	tw_store(w, s->page + page_header_size(w) + s->pos, word, 4);
	s->pos += 4;
}

static void store_word(struct trace_writer *w, struct tw_stream *s, uint32_t word)
{
	tw_store(w, s->page + page_header_size(w) + s->pos, word, 4);
	s->pos += 4;
}

/* Fills the rest of a sub-buffer as the kernel's rb_reset_tail() does. */
static void tail_padding(struct trace_writer *w, struct tw_stream *s)
{
	size_t left = s->capacity - s->pos;

	if (left >= 8) {
		store_header(w, s, TYPE_PADDING, 1);
		store_word(w, s, left - 4);
	} else if (left == 4) {
		store_header(w, s, TYPE_PADDING, 0);
	}
	s->pos = s->capacity;
}

/* Ends the open sub-buffer, if any, and passes it on to memory or to the file. */
void tw_page_close(struct trace_writer *w, struct tw_stream *s, unsigned int subbuf_size)
{
	if (!s->open)
		return;
	if (w->config.flags & TW_TAIL_PADDING)
		tail_padding(w, s);
	tw_store(w, s->page + 8, s->pos | s->commit_flags, w->config.long_size);
	if (s->commit_flags & COMMIT_LOST_STORED)
		tw_store(w, s->page + page_header_size(w) + s->pos, s->lost, w->config.long_size);
	s->open = false;
	if (w->sink == s)
		tw_sink_page(w, s->page, subbuf_size);
	else
		tw_bytes(w, &s->pages, s->page, subbuf_size);
}

static void store_time(struct trace_writer *w, struct tw_stream *s, unsigned int type,
		       uint64_t time)
{
	store_header(w, s, type, time & DELTA_MAX);
	store_word(w, s, time >> DELTA_BITS);
}

void tw_raw(struct trace_writer *w, unsigned int cpu, uint64_t ts, const void *data, size_t size)
{
	struct tw_stream *s = tw_stream(w, cpu);
	size_t room, body, need;
	unsigned int how;
	uint64_t delta;
	bool big;

	if (!s)
		return;
	how = s->how;
	s->how = 0;
	if (ts < s->ts && !(how & TW_ABSOLUTE)) {
		tw_fail(w, -ERANGE);
		return;
	}

	big = size > MAX_SMALL_DATA || how & TW_BIG;
	body = size ? (size + 3) & ~(size_t)3 : 4;
	need = 4 + (big ? 4 : 0) + body;
	if (need == 12) {
		/* rb_calculate_event_length(): a discarded time extend has to fit in its place */
		body += 4;
		need += 4;
	}
	room = need + (how & (TW_EXTEND | TW_ABSOLUTE) || ts - s->ts > DELTA_MAX ? 8 : 0);

	if (s->open && s->pos + room > s->capacity)
		tw_page_close(w, s, buffer_in_use(w)->subbuf_size);
	if (!s->open)
		page_open(w, s, ts);
	if (s->pos + room > s->capacity) {
		tw_fail(w, -EMSGSIZE);
		return;
	}

	delta = ts - s->ts;
	if (how & TW_ABSOLUTE) {
		store_time(w, s, TYPE_TIME_STAMP, ts & ((1ULL << 59) - 1));
		delta = 0;
	} else if (delta > DELTA_MAX || how & TW_EXTEND) {
		store_time(w, s, TYPE_TIME_EXTEND, delta);
		delta = 0;
	}
	store_header(w, s, big ? 0 : body / 4, delta);
	if (big)
		store_word(w, s, body + 4);
	memcpy(s->page + page_header_size(w) + s->pos, data, size);
	s->pos += body;
	s->ts = ts;
	s->nr_records++;
}

void tw_next(struct trace_writer *w, unsigned int cpu, unsigned int how)
{
	struct tw_stream *s = tw_stream(w, cpu);

	if (s)
		s->how = how;
}

void tw_padding(struct trace_writer *w, unsigned int cpu, size_t size_bytes, uint32_t delta)
{
	struct tw_stream *s = tw_stream(w, cpu);

	if (!s)
		return;
	if (!s->open || size_bytes < 8 || size_bytes % 4 || !delta || delta > DELTA_MAX ||
	    s->pos + size_bytes > s->capacity) {
		tw_fail(w, -EINVAL);
		return;
	}
	store_header(w, s, TYPE_PADDING, delta);
	store_word(w, s, size_bytes - 4);
	s->pos += size_bytes - 8;
	s->ts += delta;
}

void tw_end_page(struct trace_writer *w, unsigned int cpu)
{
	struct tw_stream *s = tw_stream(w, cpu);

	if (s)
		tw_page_close(w, s, buffer_in_use(w)->subbuf_size);
}

void tw_begin_page(struct trace_writer *w, unsigned int cpu, uint64_t ts)
{
	struct tw_stream *s = tw_stream(w, cpu);

	if (!s)
		return;
	tw_page_close(w, s, buffer_in_use(w)->subbuf_size);
	page_open(w, s, ts);
}

void tw_lost(struct trace_writer *w, unsigned int cpu, uint64_t nr, bool stored)
{
	struct tw_stream *s = tw_stream(w, cpu);

	if (!s)
		return;
	tw_page_close(w, s, buffer_in_use(w)->subbuf_size);
	s->lost_pending = true;
	s->lost_stored = stored;
	s->lost = nr;
}
