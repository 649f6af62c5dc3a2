/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sub-buffers of one CPU, one after the other, read in large pieces and unpacked where the
 * recording is compressed. Memory is bounded by the piece, not by the file.
 */
#ifndef PAGES_H
#define PAGES_H

#include <stddef.h>
#include <stdint.h>

#include "ahead.h"
#include "tracefile.h"

#define PAGES_BUDGET	 (16u << 20) /* bytes for the pieces of all CPUs together */
#define PAGES_RAW_BUDGET (4u << 20)  /* where they are not compressed: more is no faster */
#define PAGES_MAX_PIECE	 (256u << 10)
#define PAGES_MAX_CHUNK	 (64u << 20) /* ten sub-buffers is trace-cmd's habit */
#define PAGES_AHEAD	 16	     /* chunks of a stream that are unpacked ahead */
#define PAGES_LEAN	 16	     /* sub-buffers of a chunk that may be unpacked anew for each */
/* bytes of unpacked chunks held at a time: this and 16 times the file's size */
#define PAGES_MAX_CHUNKS (64u << 20)

/* Owned by pages_close(). */
struct pages {
	struct tracefile *tf;
	uint32_t cpu;
	uint32_t page_size;
	size_t piece_size;
	uint64_t pos, end; /* of what was not read yet, in the file */
	bool compressed;
	uint32_t chunks_left;
	uint8_t *piece; /* unpacked sub-buffers */
	size_t piece_room, filled, next;
	bool lean; /* the piece is one sub-buffer of `block`, which is unpacked anew for each */
	struct packed_block block;
	size_t nr_streams;
	uint64_t piece_offset; /* of the piece in the file; of its chunk where that is compressed */
	struct ahead *ahead;   /* unpacks the chunks to come; NULL: nobody does */
	struct ahead_chunk coming[PAGES_AHEAD]; /* a ring */
	unsigned int first_coming, nr_coming;
};

/*
 * Read the data of @cpu, a CPU of @b, in sub-buffers of @page_size bytes, as one of @nr_streams
 * that share the budget. Allocates nothing before the first page. Who sets p->ahead then has chunks
 * unpacked by it, as far as the budget goes.
 */
void pages_open(struct pages *p, struct tracefile *tf, const struct trace_buffer *b,
		const struct trace_cpu *cpu, uint32_t page_size, size_t nr_streams);

/*
 * The next sub-buffer of page_size bytes, good until the next call; NULL at the end. *offset is its
 * place in the file, or that of its chunk. What cannot be read is noted as damage and passed over.
 */
const uint8_t *pages_next(struct pages *p, uint64_t *offset);

void pages_close(struct pages *p);

#endif
