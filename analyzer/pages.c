// SPDX-License-Identifier: GPL-2.0-or-later
/* The sub-buffers of one CPU, one after the other, read in large pieces and unpacked. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "endian_read.h"
#include "file_read.h"
#include "pages.h"

#define CHUNK_HEADER_SIZE 8

void pages_open(struct pages *p, struct tracefile *tf, const struct trace_buffer *b,
		const struct trace_cpu *cpu, uint32_t page_size, size_t nr_streams)
{
	size_t piece = PAGES_RAW_BUDGET / (nr_streams ? nr_streams : 1);
	uint8_t word[4];

	if (piece > PAGES_MAX_PIECE)
		piece = PAGES_MAX_PIECE;
	piece -= piece % page_size;
	*p = (struct pages){ .tf = tf,
			     .cpu = cpu->cpu,
			     .page_size = page_size,
			     .piece_size = piece ? piece : page_size,
			     .pos = cpu->offset,
			     .end = cpu->offset + cpu->size,
			     .compressed = b->compressed,
			     .nr_streams = nr_streams };
	if (!p->compressed || !cpu->size)
		return;
	if (cpu->size < sizeof(word) || file_read(tf->fd, word, sizeof(word), p->pos) != 4) {
		damage_add(&tf->damages, p->pos, "data of CPU %u is cut", p->cpu);
		p->pos = p->end;
		return;
	}
	p->chunks_left = read_u32(word, tf->big_endian);
	p->pos += sizeof(word);
	/* trace-cmd's size leaves this word out */
	if (p->end <= tf->size - sizeof(word))
		p->end += sizeof(word);
}

static int make_room(struct pages *p, size_t size)
{
	uint8_t *room;

	if (size <= p->piece_room)
		return 0;
	if (p->compressed &&
	    p->tf->chunks_size + size > PAGES_MAX_CHUNKS + 16 * p->tf->size + p->piece_room)
		return -E2BIG;
	room = realloc(p->piece, size);
	if (!room)
		return -ENOMEM;
	if (p->compressed)
		p->tf->chunks_size += size - p->piece_room;
	p->piece = room;
	p->piece_room = size;
	return 0;
}

/* Read the next piece. Returns 1, 0 at the end. */
static int next_raw_piece(struct pages *p)
{
	uint64_t left = p->end - p->pos;
	size_t want = left < p->piece_size ? left : p->piece_size;
	ssize_t got;

	if (!want)
		return 0;
	if (make_room(p, want) < 0) {
		damage_add(&p->tf->damages, p->pos, "no memory for data of CPU %u", p->cpu);
		return 0;
	}
	got = file_read(p->tf->fd, p->piece, want, p->pos);
	if (got < (ssize_t)want) {
		damage_add(&p->tf->damages, p->pos, "data of CPU %u cannot be read to its end",
			   p->cpu);
		p->end = p->pos + (got > 0 ? got : 0);
	}
	if (got <= 0)
		return 0;
	p->piece_offset = p->pos;
	p->pos += got;
	p->filled = got;
	return 1;
}

/* The header of the chunk at @pos becomes *b. Returns 0 where there is none. */
static int read_header(const struct pages *p, uint64_t pos, struct packed_block *b)
{
	uint8_t header[CHUNK_HEADER_SIZE];

	if (p->end - pos < sizeof(header) ||
	    file_read(p->tf->fd, header, sizeof(header), pos) != sizeof(header))
		return 0;
	*b = (struct packed_block){ .fd = p->tf->fd,
				    .offset = pos + sizeof(header),
				    .packed = read_u32(header, p->tf->big_endian),
				    .size = read_u32(header + 4, p->tf->big_endian) };
	return 1;
}

/* Whether the chunk ends where the stream's data do, at the latest. */
static bool has_room(const struct pages *p, const struct packed_block *b)
{
	return b->packed <= p->end - b->offset;
}

static bool is_plausible(const struct pages *p, const struct packed_block *b)
{
	return b->size <= PAGES_MAX_CHUNK && unpack_plausible(&p->tf->unpacker, b->packed, b->size);
}

/* Make room for a chunk to come, if the budget allows it. */
static bool make_room_ahead(struct pages *p, struct ahead_chunk *c, size_t size)
{
	struct tracefile *tf = p->tf;
	uint8_t *room;

	if (size <= c->room)
		return true;
	/* each stream will hold a chunk, too */
	if (p->nr_streams * size + tf->coming_size + size - c->room > PAGES_BUDGET)
		return false;
	room = realloc(c->to, size);
	if (!room)
		return false;
	tf->coming_size += size - c->room;
	c->to = room;
	c->room = size;
	return true;
}

/* Have the chunks from the stream's position on unpacked until they are needed. */
static void look_ahead(struct pages *p)
{
	uint64_t pos = p->pos;

	if (!p->ahead || p->nr_coming > PAGES_AHEAD / 2)
		return;
	if (p->nr_coming) {
		struct ahead_chunk *last =
			&p->coming[(p->first_coming + p->nr_coming - 1) % PAGES_AHEAD];

		pos = last->block.offset + last->block.packed;
	}
	while (p->nr_coming < PAGES_AHEAD && p->nr_coming < p->chunks_left) {
		struct ahead_chunk *c = &p->coming[(p->first_coming + p->nr_coming) % PAGES_AHEAD];
		struct packed_block b;

		/* what is wrong here will be told when it is needed */
		if (!read_header(p, pos, &b) || !has_room(p, &b) || !is_plausible(p, &b) ||
		    !make_room_ahead(p, c, b.size))
			return;
		c->block = b;
		ahead_push(p->ahead, c);
		p->nr_coming++;
		pos = b.offset + b.packed;
	}
}

static void cancel_coming(struct pages *p)
{
	for (; p->nr_coming; p->nr_coming--)
		ahead_cancel(p->ahead, &p->coming[p->first_coming++ % PAGES_AHEAD]);
}

/* Exchange the piece, which was used up, for the chunk that came. */
static void take_chunk(struct pages *p, struct ahead_chunk *c)
{
	uint8_t *piece = p->piece;
	size_t room = p->piece_room;

	p->piece = c->to;
	p->piece_room = c->room;
	c->to = piece;
	c->room = room;
	p->tf->chunks_size = p->tf->chunks_size + p->piece_room - room;
	p->tf->coming_size = p->tf->coming_size + room - p->piece_room;
}

/*
 * Whether there is no budget for the chunk, beside a sub-buffer for each stream, and it is small
 * enough to be unpacked again and again.
 */
static bool is_lean(const struct pages *p, const struct packed_block *b)
{
	const struct tracefile *tf = p->tf;
	uint64_t held = tf->chunks_size + tf->coming_size - p->piece_room;

	return b->size > p->piece_room && b->size <= PAGES_LEAN * p->page_size &&
	       held + b->size + p->nr_streams * p->page_size > PAGES_BUDGET;
}

/* The lean stream's chunk into memory that all of them share. 0 or -errno. */
static int unpack_shared(struct pages *p)
{
	struct shared_chunk *shared = &p->tf->shared;
	int err;

	if (shared->offset == p->block.offset)
		return 0;
	if (p->block.size > shared->room) {
		uint8_t *bytes = realloc(shared->bytes, p->block.size);

		if (!bytes)
			return -ENOMEM;
		shared->bytes = bytes;
		shared->room = p->block.size;
	}
	err = unpack_block(&p->tf->unpacker, &p->block, shared->bytes);
	shared->offset = err ? 0 : p->block.offset;
	return err;
}

/* The chunk into the piece, by whoever is at it. 0 or -errno. */
static int unpack_piece(struct pages *p, const struct packed_block *b)
{
	struct ahead_chunk *c = &p->coming[p->first_coming % PAGES_AHEAD];
	int err;

	p->lean = !p->nr_coming && is_lean(p, b);
	p->block = *b;
	err = make_room(p, p->lean ? p->page_size : b->size);
	if (p->lean)
		return err ? err : unpack_shared(p);
	if (p->nr_coming && (err || b->offset != c->block.offset || b->packed != c->block.packed ||
			     b->size != c->block.size))
		cancel_coming(p); /* the file has changed since */
	if (err)
		return err;
	if (!p->nr_coming)
		return unpack_block(&p->tf->unpacker, b, p->piece);
	err = ahead_wait(p->ahead, c, &p->tf->unpacker);
	p->first_coming++;
	p->nr_coming--;
	take_chunk(p, c);
	return err;
}

/* The chunk at the stream's position. Returns 1 unpacked, 0 damaged and passed over. */
static int unpack_chunk(struct pages *p, const struct packed_block *b)
{
	struct tracefile *tf = p->tf;
	uint64_t start = p->pos;
	int err;

	p->pos = b->offset + b->packed;
	if (!is_plausible(p, b)) {
		damage_add(&tf->damages, start, "a chunk of CPU %u lies about its size", p->cpu);
		return 0;
	}
	err = unpack_piece(p, b);
	if (err) {
		damage_add(&tf->damages, start,
			   err == -E2BIG ? "a chunk of CPU %u is larger than the file can hold"
					 : "a chunk of CPU %u does not unpack",
			   p->cpu);
		return 0;
	}
	p->piece_offset = start;
	p->filled = b->size;
	look_ahead(p);
	return 1;
}

static int next_chunk(struct pages *p)
{
	struct tracefile *tf = p->tf;
	uint64_t left;

	while (p->chunks_left) {
		struct packed_block b;

		p->chunks_left--;
		if (!read_header(p, p->pos, &b)) {
			damage_add(&tf->damages, p->pos, "data of CPU %u ends %u chunks early",
				   p->cpu, p->chunks_left + 1);
			goto damaged;
		}
		if (!has_room(p, &b)) {
			damage_add(&tf->damages, p->pos, "a chunk of CPU %u lies about its size",
				   p->cpu);
			goto damaged;
		}
		if (unpack_chunk(p, &b))
			return 1;
	}
	left = p->end - p->pos;
	/* the size may count the word in front of the chunks, which pages_open() allows for */
	if (left && left != 4)
		damage_add(&tf->damages, p->pos, "data of CPU %u goes on behind its last chunk",
			   p->cpu);
damaged:
	p->chunks_left = 0;
	p->pos = p->end;
	return 0;
}

static void release_pieces(struct pages *p)
{
	cancel_coming(p);
	for (int i = 0; i < PAGES_AHEAD; i++) {
		p->tf->coming_size -= p->coming[i].room;
		free(p->coming[i].to);
		p->coming[i].to = NULL;
		p->coming[i].room = 0;
	}
	if (p->compressed)
		p->tf->chunks_size -= p->piece_room;
	free(p->piece);
	p->piece = NULL;
	p->piece_room = 0;
}

/* The next sub-buffer of a lean stream. NULL: its chunk has changed, and is passed over. */
static const uint8_t *lean_page(struct pages *p)
{
	if (unpack_shared(p)) {
		damage_add(&p->tf->damages, p->piece_offset, "a chunk of CPU %u does not unpack",
			   p->cpu);
		p->filled = p->next = 0;
		return NULL;
	}
	return memcpy(p->piece, p->tf->shared.bytes + p->next, p->page_size);
}

const uint8_t *pages_next(struct pages *p, uint64_t *offset)
{
	const uint8_t *page = NULL;

	while (!page) {
		while (p->filled - p->next < p->page_size) {
			if (p->filled > p->next)
				damage_add(&p->tf->damages,
					   p->piece_offset + (p->compressed ? 0 : p->next),
					   "data of CPU %u ends within a sub-buffer", p->cpu);
			p->filled = p->next = 0;
			if (!(p->compressed ? next_chunk(p) : next_raw_piece(p))) {
				release_pieces(p);
				return NULL;
			}
		}
		page = p->lean ? lean_page(p) : p->piece + p->next;
	}
	*offset = p->piece_offset + (p->compressed ? 0 : p->next);
	p->next += p->page_size;
	return page;
}

void pages_close(struct pages *p)
{
	if (p->tf)
		release_pieces(p);
	*p = (struct pages){ 0 };
}
