// SPDX-License-Identifier: GPL-2.0-or-later
/* The trace writer's way to the file: words, compressed blocks, sections and where they stand. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "trace_writer_int.h"

#define SECTION_COMPRESSED 1

uint64_t tw_tell(struct trace_writer *w)
{
	off_t at = ftello(w->file);

	if (at < 0)
		tw_fail(w, -errno);
	return at;
}

void tw_out(struct trace_writer *w, const void *data, size_t size)
{
	if (!w->err && fwrite(data, 1, size, w->file) != size)
		tw_fail(w, -errno);
}

void tw_out_bytes(struct trace_writer *w, const struct bytes *b)
{
	tw_out(w, b->data, b->len);
}

void tw_out_word(struct trace_writer *w, uint64_t value, unsigned int size)
{
	uint8_t word[8];

	tw_store(w, word, value, size);
	tw_out(w, word, size);
}

/* Writes a word over what stands at an earlier place of the file. */
void tw_patch_word(struct trace_writer *w, uint64_t at, uint64_t value, unsigned int size)
{
	uint64_t end = tw_tell(w);

	if (w->err)
		return;
	if (fseeko(w->file, at, SEEK_SET)) {
		tw_fail(w, -errno);
		return;
	}
	tw_out_word(w, value, size);
	if (fseeko(w->file, end, SEEK_SET))
		tw_fail(w, -errno);
}

void tw_align(struct trace_writer *w, unsigned int size)
{
	static const uint8_t zeros[4096];
	uint64_t left = -tw_tell(w) & (size - 1);

	while (left && !w->err) {
		size_t piece = left < sizeof(zeros) ? left : sizeof(zeros);

		tw_out(w, zeros, piece);
		left -= piece;
	}
}

void tw_part_begin(struct trace_writer *w, unsigned int id)
{
	struct tw_part *grown;

	if (w->err)
		return;
	grown = tw_grow(w, w->parts, &w->nr_parts, sizeof(*grown));
	if (!grown)
		return;
	w->parts = grown;
	grown[w->nr_parts - 1].id = id;
	grown[w->nr_parts - 1].offset = tw_tell(w);
}

void tw_part_end(struct trace_writer *w)
{
	if (!w->err)
		w->parts[w->nr_parts - 1].end = tw_tell(w);
}

/* Compresses into out, which has room for it; returns the size, 0 after an error. */
static size_t compress_to(struct trace_writer *w, void *to, size_t room, const struct bytes *from)
{
	uLongf zlib_size = room;
	size_t size;

	if (w->config.compression == TW_ZLIB) {
		if (compress2(to, &zlib_size, from->data, from->len, Z_BEST_COMPRESSION) == Z_OK)
			return zlib_size;
	} else {
		size = ZSTD_compress2(w->zstd, to, room, from->data, from->len);
		if (!ZSTD_isError(size))
			return size;
	}
	tw_fail(w, -EIO);
	return 0;
}

/* Writes a block as compressed sections and chunks have it: both sizes, then the data. */
void tw_out_compressed(struct trace_writer *w, const struct bytes *from)
{
	size_t room = w->config.compression == TW_ZLIB ? compressBound(from->len)
						       : ZSTD_compressBound(from->len);
	void *to;
	size_t size;

	if (w->err)
		return;
	to = malloc(room);
	if (!to) {
		tw_fail(w, -ENOMEM);
		return;
	}
	size = compress_to(w, to, room, from);
	tw_out_word(w, size, 4);
	tw_out_word(w, from->len, 4);
	tw_out(w, to, size);
	free(to);
}

/* Writes a section's header; returns where its size has to be filled in. */
uint64_t tw_section_begin(struct trace_writer *w, unsigned int id, const char *description,
			  bool compressed)
{
	uint64_t size_at;

	tw_part_begin(w, id);
	tw_out_word(w, id, 2);
	tw_out_word(w, compressed ? SECTION_COMPRESSED : 0, 2);
	tw_out_word(w, w->strings.len, 4);
	tw_bytes(w, &w->strings, description, strlen(description) + 1);
	size_at = tw_tell(w);
	tw_out_word(w, 0, 8);
	return size_at;
}

void tw_section_end(struct trace_writer *w, uint64_t size_at)
{
	tw_patch_word(w, size_at, tw_tell(w) - size_at - 8, 8);
	tw_part_end(w);
}

void tw_out_section(struct trace_writer *w, unsigned int id, const char *description,
		    const struct bytes *body, bool compressed)
{
	uint64_t size_at = tw_section_begin(w, id, description, compressed);

	if (compressed)
		tw_out_compressed(w, body);
	else
		tw_out_bytes(w, body);
	tw_section_end(w, size_at);
}
