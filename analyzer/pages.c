// SPDX-License-Identifier: GPL-2.0-or-later
/* The sub-buffers of one CPU, one after the other, read in large pieces and unpacked. */
#include <errno.h>
#include <stdlib.h>

#include "endian_read.h"
#include "file_read.h"
#include "pages.h"

#define CHUNK_HEADER_SIZE 8

void pages_open(struct pages *p, struct tracefile *tf, const struct trace_buffer *b,
		const struct trace_cpu *cpu, uint32_t page_size, size_t nr_streams)
{
	size_t piece = PAGES_BUDGET / (nr_streams ? nr_streams : 1);
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
			     .compressed = b->compressed };
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

/* The chunk at the stream's position. Returns 1 unpacked, 0 damaged and passed over. */
static int unpack_chunk(struct pages *p, uint32_t packed, uint32_t plain)
{
	struct tracefile *tf = p->tf;
	uint64_t start = p->pos;
	uint8_t *from;
	int err;

	p->pos += CHUNK_HEADER_SIZE + packed;
	if (plain > PAGES_MAX_CHUNK || !unpack_plausible(&tf->unpacker, packed, plain)) {
		damage_add(&tf->damages, start, "a chunk of CPU %u lies about its size", p->cpu);
		return 0;
	}
	from = malloc(packed ? packed : 1);
	err = from ? make_room(p, plain) : -ENOMEM;
	if (!err && file_read(tf->fd, from, packed, start + CHUNK_HEADER_SIZE) != (ssize_t)packed)
		err = -EIO;
	if (!err)
		err = unpack(&tf->unpacker, from, packed, p->piece, plain);
	free(from);
	if (err) {
		damage_add(&tf->damages, start,
			   err == -E2BIG ? "a chunk of CPU %u is larger than the file can hold"
					 : "a chunk of CPU %u does not unpack",
			   p->cpu);
		return 0;
	}
	p->piece_offset = start;
	p->filled = plain;
	return 1;
}

static int next_chunk(struct pages *p)
{
	struct tracefile *tf = p->tf;
	uint64_t left = p->end - p->pos;

	for (; p->chunks_left; left = p->end - p->pos) {
		uint8_t header[CHUNK_HEADER_SIZE];
		uint32_t packed;

		p->chunks_left--;
		if (left < sizeof(header) ||
		    file_read(tf->fd, header, sizeof(header), p->pos) != sizeof(header)) {
			damage_add(&tf->damages, p->pos, "data of CPU %u ends %u chunks early",
				   p->cpu, p->chunks_left + 1);
			goto damaged;
		}
		packed = read_u32(header, tf->big_endian);
		if (packed > left - sizeof(header)) {
			damage_add(&tf->damages, p->pos, "a chunk of CPU %u lies about its size",
				   p->cpu);
			goto damaged;
		}
		if (unpack_chunk(p, packed, read_u32(header + 4, tf->big_endian)))
			return 1;
	}
	/* the size may count the word in front of the chunks, which pages_open() allows for */
	if (left && left != 4)
		damage_add(&tf->damages, p->pos, "data of CPU %u goes on behind its last chunk",
			   p->cpu);
damaged:
	p->chunks_left = 0;
	p->pos = p->end;
	return 0;
}

static void release_piece(struct pages *p)
{
	if (p->compressed)
		p->tf->chunks_size -= p->piece_room;
	free(p->piece);
	p->piece = NULL;
	p->piece_room = 0;
}

const uint8_t *pages_next(struct pages *p, uint64_t *offset)
{
	const uint8_t *page;

	while (p->filled - p->next < p->page_size) {
		if (p->filled > p->next)
			damage_add(&p->tf->damages, p->piece_offset + (p->compressed ? 0 : p->next),
				   "data of CPU %u ends within a sub-buffer", p->cpu);
		p->filled = p->next = 0;
		if (!(p->compressed ? next_chunk(p) : next_raw_piece(p))) {
			release_piece(p);
			return NULL;
		}
	}
	page = p->piece + p->next;
	*offset = p->piece_offset + (p->compressed ? 0 : p->next);
	p->next += p->page_size;
	return page;
}

void pages_close(struct pages *p)
{
	if (p->piece)
		release_piece(p);
	*p = (struct pages){ 0 };
}
