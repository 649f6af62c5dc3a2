// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * trace.dat version 7: sections with a header each, found through a chain of option sections.
 * trace-cmd.dat.v7(5); what differs from that page is as trace-cmd writes and reads it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "endian_read.h"
#include "file_read.h"
#include "tracefile.h"

#define SECTION_HEADER_SIZE 16
#define SECTION_COMPRESSED  0x1
#define MAX_SECTIONS	    4096 /* trace-cmd writes a dozen */

struct section_header {
	unsigned int id, flags;
	uint64_t size; /* of what follows the header */
};

/* The header at @offset, whatever it says. 0, or -EBADMSG where the file ends before. */
static int parse_section_header(struct tracefile *tf, uint64_t offset, struct section_header *h)
{
	uint8_t bytes[SECTION_HEADER_SIZE];

	if (offset > tf->size || tf->size - offset < sizeof(bytes) ||
	    file_read(tf->fd, bytes, sizeof(bytes), offset) != sizeof(bytes))
		return -EBADMSG;
	h->id = read_u16(bytes, tf->big_endian);
	h->flags = read_u16(bytes + 2, tf->big_endian);
	/* then 4 bytes of where its description is, in STRINGS */
	h->size = read_u64(bytes + 8, tf->big_endian);
	return 0;
}

static int read_section_header(struct tracefile *tf, uint64_t offset, struct section_header *h)
{
	int err = parse_section_header(tf, offset, h);

	if (!err && h->size <= tf->size - offset - SECTION_HEADER_SIZE)
		return 0;
	damage_add(&tf->damages, offset, "a section is cut or lies about its size");
	return -EBADMSG;
}

/* The section's packed bytes, at @c, become *size plain ones. */
static char *unpack_section(struct tracefile *tf, uint64_t offset, struct cursor *c, size_t *size)
{
	struct packed_block b = { .fd = tf->fd };
	char *to;

	b.packed = cursor_u32(c);
	b.size = cursor_u32(c);
	b.offset = c->pos;
	if (c->failed || b.packed > cursor_left(c) ||
	    !unpack_plausible(&tf->unpacker, b.packed, b.size)) {
		damage_add(&tf->damages, offset, "a compressed section lies about its size");
		return NULL;
	}
	if (tracefile_count_metadata(tf, b.size, offset) < 0)
		return NULL;
	to = malloc((size_t)b.size + 1);
	if (!to)
		return NULL;
	if (unpack_block(&tf->unpacker, &b, to)) {
		damage_add(&tf->damages, offset, "a compressed section does not unpack");
		free(to);
		return NULL;
	}
	to[b.size] = '\0';
	*size = b.size;
	return to;
}

char *tracefile_section(struct tracefile *tf, uint64_t offset, unsigned int id, size_t *size)
{
	struct section_header h;
	struct cursor c;
	char *data = NULL;

	if (read_section_header(tf, offset, &h) < 0)
		return NULL;
	if (h.id != id) {
		damage_add(&tf->damages, offset, "section %u where section %u should be", h.id, id);
		return NULL;
	}
	tf->sections_read[id]++;
	offset += SECTION_HEADER_SIZE;
	if (cursor_open_file(&c, tf->fd, offset, offset + h.size, tf->big_endian) < 0)
		return NULL;
	if (h.flags & SECTION_COMPRESSED) {
		data = unpack_section(tf, offset, &c, size);
	} else if (!tracefile_count_metadata(tf, h.size, offset)) {
		data = cursor_text(&c, h.size);
		*size = h.size;
		if (!data && c.failed)
			damage_add(&tf->damages, offset, "a section cannot be read");
	}
	cursor_release(&c);
	return data;
}

/* BUFFER: where the pages of one instance stand. */
static int option_buffer(struct tracefile *tf, const void *data, size_t size, uint64_t offset)
{
	struct section_header h = { 0 };
	struct trace_buffer own = { 0 }, *b;
	struct cursor c;
	uint64_t section;
	uint32_t nr_cpus;
	int err = 0;

	if (tf->nr_buffers == TRACE_MAX_BUFFERS) {
		damage_add(&tf->damages, offset, "too many buffers");
		return 0;
	}
	cursor_open_memory(&c, data, size, tf->big_endian);
	section = cursor_u64(&c);
	own.name = cursor_string(&c, size);
	own.clock = cursor_string(&c, size);
	own.page_size = cursor_u32(&c);
	nr_cpus = cursor_u32(&c);
	if (cursor_left(&c) != UINT64_C(20) * nr_cpus || nr_cpus > TRACE_MAX_CPUS - tf->nr_cpus)
		c.failed = true;
	if (c.failed) {
		damage_add(&tf->damages, offset, "a BUFFER option lies about its size");
		free(own.name);
		free(own.clock);
		return 0;
	}
	b = tracefile_add_buffer(tf);
	if (!b) {
		free(own.name);
		free(own.clock);
		return -ENOMEM;
	}
	*b = own;
	if (read_section_header(tf, section, &h) < 0 || h.id != OPTION_BUFFER) {
		damage_add(&tf->damages, section, "no section of a buffer where it should be");
		h.flags = tf->unpacker.method == COMPRESSION_NONE ? 0 : SECTION_COMPRESSED;
	} else {
		tf->sections_read[OPTION_BUFFER]++;
		b->data_end = section + SECTION_HEADER_SIZE;
	}
	b->compressed = h.flags & SECTION_COMPRESSED;
	for (uint32_t i = 0; i < nr_cpus && !err; i++) {
		uint32_t cpu = cursor_u32(&c);
		uint64_t start = cursor_u64(&c);
		uint64_t length = cursor_u64(&c);

		err = tracefile_add_cpu(tf, b, cpu, start, length);
	}
	if (!err && h.id == OPTION_BUFFER)
		tracefile_end_cpus(tf, b, section + SECTION_HEADER_SIZE + h.size);
	return err;
}

/* An option whose data is the offset of a section. */
static int option_section(struct tracefile *tf, unsigned int id, uint64_t offset)
{
	struct cursor c;
	size_t size;
	char *section;
	int err = 0;

	if (tf->sections_read[id])
		return 0;
	if (id == OPTION_KALLSYMS) {
		/* read when a recording needs it: it is large */
		tf->kallsyms = (struct trace_section){ .offset = offset, .size = 1 };
		return 0;
	}
	section = tracefile_section(tf, offset, id, &size);
	if (!section)
		return 0; /* noted: the other sections can be read */
	cursor_open_memory(&c, section, size, tf->big_endian);
	if (id == OPTION_HEADER_INFO)
		err = tracefile_read_header_info(tf, &c, offset);
	else if (id == OPTION_FTRACE_EVENTS)
		err = tracefile_read_ftrace_formats(tf, &c, offset);
	else if (id == OPTION_EVENT_FORMATS)
		err = tracefile_read_event_formats(tf, &c, offset);
	else if (id == OPTION_CMDLINES)
		err = tracefile_read_cmdlines(tf, &c, offset);
	if (tracefile_keep(tf, section) < 0)
		return -ENOMEM;
	return err == -EBADMSG ? 0 : err;
}

static int take_option(struct tracefile *tf, unsigned int id, const void *data, size_t size,
		       uint64_t offset, uint64_t *next)
{
	struct cursor c;

	cursor_open_memory(&c, data, size, tf->big_endian);
	switch (id) {
	case OPTION_DONE:
		*next = cursor_u64(&c);
		return 0;
	case OPTION_BUFFER:
		return option_buffer(tf, data, size, offset);
	case OPTION_BUFFER_TEXT:
		damage_add(&tf->damages, offset, "a text recording holds no events to analyze");
		return -ENOTSUP;
	case OPTION_HEADER_INFO:
	case OPTION_FTRACE_EVENTS:
	case OPTION_EVENT_FORMATS:
	case OPTION_KALLSYMS:
	case OPTION_CMDLINES:
		if (size < 8) {
			damage_add(&tf->damages, offset, "option %u is shorter than it says", id);
			return 0;
		}
		return option_section(tf, id, cursor_u64(&c));
	default:
		return tracefile_option(tf, id, data, size, offset);
	}
}

/* One section of options; *next becomes the offset of the following one, 0 at the end. */
static int read_options(struct tracefile *tf, uint64_t offset, uint64_t *next)
{
	struct cursor c;
	size_t size;
	char *section;
	int err = 0;

	*next = 0;
	section = tracefile_section(tf, offset, OPTION_DONE, &size);
	if (!section)
		return 0;
	cursor_open_memory(&c, section, size, tf->big_endian);
	for (;;) {
		unsigned int id = cursor_u16(&c);
		uint32_t length = cursor_u32(&c);
		const char *data = section + c.pos;

		cursor_skip(&c, length);
		if (c.failed) {
			damage_add(&tf->damages, offset,
				   "the list of options has no end or lies about a size");
			break;
		}
		err = take_option(tf, id, data, length, offset, next);
		if (err || id == OPTION_DONE)
			break;
	}
	free(section);
	return err;
}

/* Whether a section that is not read, or not always, is whole. */
static bool unread_section_is_whole(struct tracefile *tf, uint64_t offset,
				    const struct section_header *h)
{
	char *section;
	size_t size;

	if (!(h->flags & SECTION_COMPRESSED))
		return true;
	switch (h->id) {
	case OPTION_STRINGS:
	case OPTION_KALLSYMS:
	case OPTION_PRINTK:
	case OPTION_BTF:
	case OPTION_MODULES:
		section = tracefile_section(tf, offset, h->id, &size);
		free(section);
		return section;
	default:
		return true;
	}
}

/* Data of CPUs without the table that stands behind them: of whom they are is not known. */
static void note_untold_data(struct tracefile *tf, uint64_t offset, uint64_t size)
{
	uint64_t start = offset + SECTION_HEADER_SIZE;

	if (size > tf->size - start)
		size = tf->size - start;
	damage_add(
		&tf->damages, start,
		"%llu bytes of CPU data cannot be read: the table of CPUs, behind them, is missing",
		(unsigned long long)size);
}

/*
 * Sections fill the file from its header on, each behind the other: see that none is cut, and that
 * those of a kind that is read were all read, which a damaged option prevents.
 */
static void walk_sections(struct tracefile *tf, uint64_t offset)
{
	static const unsigned int ids[] = { OPTION_DONE,	  OPTION_BUFFER,
					    OPTION_HEADER_INFO,	  OPTION_FTRACE_EVENTS,
					    OPTION_EVENT_FORMATS, OPTION_CMDLINES };
	uint32_t found[TRACE_SECTION_IDS] = { 0 };
	struct section_header h = { 0 };

	for (int i = 0; offset < tf->size; i++) {
		int err;

		if (i == MAX_SECTIONS) {
			damage_add(&tf->damages, offset, "more sections than any file has");
			return;
		}
		err = parse_section_header(tf, offset, &h);
		if (!err && h.id < TRACE_SECTION_IDS)
			found[h.id]++;
		if (!err && h.id == OPTION_BUFFER &&
		    found[OPTION_BUFFER] > tf->sections_read[OPTION_BUFFER])
			note_untold_data(tf, offset, h.size);
		if (read_section_header(tf, offset, &h) < 0 ||
		    !unread_section_is_whole(tf, offset, &h))
			return;
		offset += SECTION_HEADER_SIZE + h.size;
	}
	if (h.id != OPTION_STRINGS)
		damage_add(&tf->damages, offset, "the section that is written last is not there");
	for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++) {
		if (found[ids[i]] != tf->sections_read[ids[i]])
			damage_add(&tf->damages, 0, "%u sections of kind %u, of which %u are told",
				   found[ids[i]], ids[i], tf->sections_read[ids[i]]);
	}
}

int tracefile_read_v7(struct tracefile *tf, struct cursor *c)
{
	char *method = cursor_string(c, 64);
	char *version = cursor_string(c, 64);
	uint64_t offset = cursor_u64(c);
	int err = 0;

	if (c->failed || !method || !version) {
		damage_add(&tf->damages, c->pos, "the header is cut");
		err = -EBADMSG;
	} else if (unpacker_open(&tf->unpacker, method) == -ENOTSUP) {
		damage_add(&tf->damages, 0, "compressed with '%s', only zstd and zlib are known",
			   method);
		err = -ENOTSUP;
	} else if (!offset) {
		damage_add(&tf->damages, c->pos - 8,
			   "no options: the recording was never finished");
	}
	for (int i = 0; !err && offset; i++) {
		uint64_t next;

		if (offset >= tf->size) /* what that means for the data is told first */
			break;
		err = read_options(tf, offset, &next);
		/* each was appended to a file that had those before it */
		if (next && (next <= offset || i == MAX_SECTIONS)) {
			damage_add(&tf->damages, offset, "the sections of options form a cycle");
			break;
		}
		offset = next;
	}
	if (!err)
		walk_sections(tf, c->pos);
	if (!err && offset >= tf->size)
		damage_add(&tf->damages, tf->size, "the file ends before options at %llu",
			   (unsigned long long)offset);
	free(method);
	free(version);
	return err;
}
