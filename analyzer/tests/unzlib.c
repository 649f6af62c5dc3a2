// SPDX-License-Identifier: GPL-2.0-or-later
/* Rewrites a v7 recording that zlib compressed without compression. Format: trace-cmd.dat.v7(5). */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "unzlib.h"

#define SECTION_OPTIONS	   0
#define SECTION_BUFFER	   3
#define SECTION_HEADER	   16 /* bytes */
#define SECTION_COMPRESSED 1
#define MAX_SECTIONS	   256
#define MAX_SIZE	   (1u << 31) /* bytes of a file, packed or not */

struct piece {
	uint8_t *data;
	size_t size;
};

struct section {
	unsigned int id;
	size_t from, to; /* places of its header in both files */
	size_t size;	 /* in the old file, without the header */
	bool compressed;
};

struct rewrite {
	struct piece in, out;
	bool big_endian;
	int err;
	struct section sections[MAX_SECTIONS];
	size_t nr_sections;
};

static int fail(struct rewrite *r, int err)
{
	if (!r->err)
		r->err = err;
	return r->err;
}

/* Reads a number of a piece; 0 and an error beyond its end. */
static uint64_t get(struct rewrite *r, const struct piece *p, size_t at, unsigned int size)
{
	uint64_t value = 0;

	if (at > p->size || size > p->size - at) {
		fail(r, -EINVAL);
		return 0;
	}
	for (unsigned int i = 0; i < size; i++)
		value = value << 8 | p->data[r->big_endian ? at + i : at + size - 1 - i];
	return value;
}

/* Makes room at the end of the new file and returns it, zeroed; NULL after an error. */
static uint8_t *extend(struct rewrite *r, size_t size)
{
	uint8_t *grown;

	if (r->err)
		return NULL;
	if (size > MAX_SIZE - r->out.size) {
		fail(r, -EINVAL);
		return NULL;
	}
	grown = realloc(r->out.data, r->out.size + size + 1);
	if (!grown) {
		fail(r, -ENOMEM);
		return NULL;
	}
	r->out.data = grown;
	memset(grown + r->out.size, 0, size);
	r->out.size += size;
	return grown + r->out.size - size;
}

static void append(struct rewrite *r, const void *data, size_t size)
{
	uint8_t *to = extend(r, size);

	if (to)
		memcpy(to, data, size);
}

static void patch(struct rewrite *r, size_t at, uint64_t value, unsigned int size)
{
	if (r->err || at > r->out.size || size > r->out.size - at) {
		fail(r, -EINVAL);
		return;
	}
	for (unsigned int i = 0; i < size; i++)
		r->out.data[r->big_endian ? at + size - 1 - i : at + i] = value >> (8 * i);
}

/*
 * Unpacks a block (packed size, unpacked size, data) to the end of the new file; returns the
 * block's size in the old one.
 */
static size_t unpack(struct rewrite *r, size_t at)
{
	size_t packed = get(r, &r->in, at, 4), unpacked = get(r, &r->in, at + 4, 4);
	uLongf got = unpacked;
	uint8_t *to;

	if (r->err || packed > r->in.size - at - 8) {
		fail(r, -EINVAL);
		return 0;
	}
	to = extend(r, unpacked);
	if (to && (uncompress(to, &got, r->in.data + at + 8, packed) != Z_OK || got != unpacked))
		fail(r, -EINVAL);
	return 8 + packed;
}

static const struct section *section_at(const struct rewrite *r, unsigned int id, uint64_t from)
{
	for (size_t i = 0; i < r->nr_sections; i++) {
		if (r->sections[i].id == id && r->sections[i].from == from)
			return &r->sections[i];
	}
	return NULL;
}

/* Lists the sections, which follow each other to the end of the file. */
static void find_sections(struct rewrite *r, size_t at)
{
	while (!r->err && at < r->in.size) {
		struct section *s = &r->sections[r->nr_sections];

		if (r->nr_sections == MAX_SECTIONS) {
			fail(r, -EINVAL);
			return;
		}
		s->id = get(r, &r->in, at, 2);
		s->compressed = get(r, &r->in, at + 2, 2) & SECTION_COMPRESSED;
		s->size = get(r, &r->in, at + 8, 8);
		s->from = at;
		if (r->err || s->size > r->in.size - at - SECTION_HEADER) {
			fail(r, -EINVAL);
			return;
		}
		r->nr_sections++;
		at += SECTION_HEADER + s->size;
	}
}

static void begin_section(struct rewrite *r, struct section *s)
{
	s->to = r->out.size;
	append(r, r->in.data + s->from, SECTION_HEADER);
	patch(r, s->to + 2, 0, 2);
}

static void end_section(struct rewrite *r, const struct section *s)
{
	patch(r, s->to + 8, r->out.size - s->to - SECTION_HEADER, 8);
}

static void copy_section(struct rewrite *r, struct section *s)
{
	begin_section(r, s);
	if (s->compressed)
		unpack(r, s->from + SECTION_HEADER);
	else
		append(r, r->in.data + s->from + SECTION_HEADER, s->size);
	end_section(r, s);
}

/* Unpacks one CPU's chunks; its BUFFER entry, in the new file, learns where they are now. */
static void copy_cpu(struct rewrite *r, size_t entry, size_t page_size)
{
	size_t at = get(r, &r->out, entry + 4, 8), end, start;
	uint32_t nr_chunks = get(r, &r->in, at, 4);

	end = at + get(r, &r->out, entry + 12, 8);
	extend(r, -r->out.size & (page_size - 1));
	start = r->out.size;
	at += 4;
	for (uint32_t i = 0; i < nr_chunks && !r->err; i++)
		at += unpack(r, at);
	if (at != end && at != end + 4) /* trace-cmd 3.1.6 does not count nr_chunks' own word */
		fail(r, -EINVAL);
	patch(r, entry + 4, start, 8);
	patch(r, entry + 12, r->out.size - start, 8);
}

/* Copies the section that a BUFFER option, at its place in the new file, describes. */
static void copy_buffer(struct rewrite *r, size_t option, size_t size)
{
	struct section *s =
		(struct section *)section_at(r, SECTION_BUFFER, get(r, &r->out, option, 8));
	size_t at = option + 8, page_size, nr_cpus;

	/* Behind the offset come the names of buffer and clock. */
	for (int strings = 2; strings && at < option + size; at++)
		strings -= !r->out.data[at];
	page_size = get(r, &r->out, at, 4);
	nr_cpus = get(r, &r->out, at + 4, 4);
	at += 8;
	if (r->err || !s || s->to || !page_size || page_size & (page_size - 1) ||
	    at + 20 * nr_cpus != option + size) {
		fail(r, -EINVAL);
		return;
	}
	begin_section(r, s);
	for (size_t i = 0; i < nr_cpus && !r->err; i++)
		copy_cpu(r, at + 20 * i, page_size);
	end_section(r, s);
}

/* Walks the options of every options section of the new file. */
static void each_option(struct rewrite *r,
			void (*fn)(struct rewrite *r, unsigned int id, size_t at, size_t size))
{
	for (size_t i = 0; i < r->nr_sections && !r->err; i++) {
		size_t at = r->sections[i].to + SECTION_HEADER, end;

		if (r->sections[i].id != SECTION_OPTIONS)
			continue;
		end = at + get(r, &r->out, r->sections[i].to + 8, 8);
		while (at < end && !r->err) {
			unsigned int id = get(r, &r->out, at, 2);
			size_t size = get(r, &r->out, at + 2, 4);

			if (at + 6 + size > end) {
				fail(r, -EINVAL);
				return;
			}
			fn(r, id, at + 6, size);
			at += 6 + size;
		}
	}
}

static void copy_option_buffer(struct rewrite *r, unsigned int id, size_t at, size_t size)
{
	if (id == SECTION_BUFFER)
		copy_buffer(r, at, size);
}

/* An option that begins with the old place of a section of its id gets the new one. */
static void move_option(struct rewrite *r, unsigned int id, size_t at, size_t size)
{
	const struct section *s = size >= 8 ? section_at(r, id, get(r, &r->out, at, 8)) : NULL;

	if (s)
		patch(r, at, s->to, 8);
}

/* Returns the place behind the file's header, having copied it as one without compression. */
static size_t copy_header(struct rewrite *r, size_t *options_at)
{
	static const char magic[] = "\x17\x08\x44tracing7"; /* with its NUL */
	size_t at = sizeof(magic) + 6;
	const struct section *options;

	if (r->in.size < at + 16 || memcmp(r->in.data, magic, sizeof(magic)) ||
	    memcmp(r->in.data + at, "zlib", 5)) {
		fail(r, -EINVAL);
		return 0;
	}
	r->big_endian = r->in.data[sizeof(magic)];
	append(r, r->in.data, at);
	append(r, "none\0", 6);
	*options_at = r->out.size;
	extend(r, 8);
	at += 5;
	at += strnlen((char *)r->in.data + at, r->in.size - at) + 1;
	find_sections(r, at + 8);
	options = section_at(r, SECTION_OPTIONS, get(r, &r->in, at, 8));
	if (!options) {
		fail(r, -EINVAL);
		return 0;
	}
	return options - r->sections;
}

static void rewrite(struct rewrite *r)
{
	size_t options_at = 0, first = copy_header(r, &options_at);

	for (size_t i = 0; i < r->nr_sections && !r->err; i++) {
		if (r->sections[i].id != SECTION_BUFFER)
			copy_section(r, &r->sections[i]);
	}
	each_option(r, copy_option_buffer);
	each_option(r, move_option);
	if (!r->err)
		patch(r, options_at, r->sections[first].to, 8);
}

static int load(struct piece *p, const char *path)
{
	FILE *f = fopen(path, "r");
	long size;
	int err = 0;

	if (!f)
		return -errno;
	if (fseek(f, 0, SEEK_END) || (size = ftell(f)) < 0 || fseek(f, 0, SEEK_SET))
		err = -errno;
	else if ((unsigned long)size > MAX_SIZE)
		err = -EINVAL;
	else if (!(p->data = malloc(size + 1)))
		err = -ENOMEM;
	else if (fread(p->data, 1, size, f) != (size_t)size)
		err = -EIO;
	else
		p->size = size;
	fclose(f);
	return err;
}

static int save(const struct piece *p, const char *path)
{
	FILE *f = fopen(path, "w");
	int err = 0;

	if (!f)
		return -errno;
	if (fwrite(p->data, 1, p->size, f) != p->size)
		err = -EIO;
	if (fclose(f))
		err = -errno;
	return err;
}

int unzlib(const char *from, const char *to)
{
	struct rewrite *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	err = load(&r->in, from);
	if (!err) {
		rewrite(r);
		err = r->err;
	}
	if (!err)
		err = save(&r->out, to);
	free(r->in.data);
	free(r->out.data);
	free(r);
	return err;
}
