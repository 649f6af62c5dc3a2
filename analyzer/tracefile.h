/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The container: a trace.dat of version 6 or 7 opened, its metadata unpacked, its CPU data located.
 * Only this room and its two helpers (tracefile_v6.c, tracefile_v7.c) know the file's layout, which
 * is that of trace-cmd.dat.v6(5) and trace-cmd.dat.v7(5), corrected by what trace-cmd writes.
 */
#ifndef TRACEFILE_H
#define TRACEFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cursor.h"
#include "damage.h"
#include "trace_clock.h"
#include "unpack.h"

#define TRACEFILE_MAGIC "\x17\x08\x44tracing" /* what a file begins with */

/* A text copied from the traced machine: a format file, header_page, the saved command lines. */
struct trace_text {
	const char *system; /* event system, NULL for the others */
	const char *text;
	size_t size;
	uint64_t offset; /* in the file; of its section where that is compressed */
};

struct trace_cpu {
	uint32_t cpu;
	uint64_t offset, size; /* in the file, within it */
};

/* Of the sections of v7, and of the options that tell their places. */
#define TRACE_SECTION_IDS 32

/* One trace instance. */
struct trace_buffer {
	char *name;	    /* "" for the top instance; owned */
	char *clock;	    /* NULL: the file's; owned */
	uint32_t page_size; /* of a sub-buffer as the option says, 0 unknown */
	bool compressed;
	struct trace_cpu *cpus; /* owned */
	size_t nr_cpus;
	uint64_t data_end; /* of the CPU that was added last; of v7, at first the data's start */
};

/* A section of v7 that is read when it is needed, or the same piece of v6. */
struct trace_section {
	uint64_t offset, size; /* of the section's header (v7) or of the text (v6); size 0: none */
};

/* A chunk that streams share which have no room for their own. */
struct shared_chunk {
	uint8_t *bytes;
	size_t room;
	uint64_t offset; /* of its block in the file; 0: of none */
};

/* All zero is closed. Everything it points to is owned. */
struct tracefile {
	char *path;
	int fd;
	uint64_t size;
	int version; /* 6 or 7; a missing one is read as 6 */
	bool big_endian;
	uint8_t user_long_size; /* as the header says: of user space */
	uint32_t page_size;	/* as the header says */
	struct unpacker unpacker;
	uint64_t trace_id; /* 0 none */
	char *uname;	   /* "Linux HOST RELEASE MACHINE" or NULL */
	struct trace_clock clock;
	struct trace_text header_page;
	struct trace_text cmdlines; /* with a NUL behind it */
	struct trace_text *formats; /* ftrace's own first, then by system */
	size_t nr_formats;
	char **kept; /* memory that holds texts, and names of systems */
	size_t nr_kept;
	struct trace_section kallsyms;
	struct trace_buffer *buffers;
	size_t nr_buffers;
	size_t nr_cpus;		/* of all buffers */
	uint64_t cpu_data_size; /* likewise */
	uint64_t metadata_size; /* bytes of sections and options that were read, unpacked */
	uint64_t chunks_size;	/* bytes of unpacked chunks that `pages` holds */
	uint64_t coming_size;	/* and of those that are unpacked ahead */
	struct shared_chunk shared;
	uint32_t sections_read[TRACE_SECTION_IDS]; /* v7: how many of each id */
	struct damages damages;
};

/*
 * Open @path and read its metadata, but no event. 0: readable, though `damages` may hold what could
 * not be read. -EBADMSG: its metadata is damaged, no event can be read. -ENOTSUP: a kind of file
 * that holds no events or is not known. The reason of both is in `damages`. Another -errno: the
 * file cannot be opened or read. tracefile_close() is due in every case.
 */
int tracefile_open(struct tracefile *tf, const char *path);

/*
 * The text of /proc/kallsyms at the time of recording, for the caller to free(); NULL: none, or
 * damaged, which is then noted.
 */
char *tracefile_kallsyms(struct tracefile *tf, size_t *size);

void tracefile_close(struct tracefile *tf);

/* Below: shared by tracefile.c, tracefile_v6.c and tracefile_v7.c alone. */

/* Linux has at most 8192 CPUs: this is one more than the highest number, and all of eight buffers
 */
#define TRACE_MAX_CPUS	  65536
#define TRACE_MAX_BUFFERS 1024

enum trace_option {
	OPTION_DONE,
	OPTION_DATE,
	OPTION_CPUSTAT,
	OPTION_BUFFER,
	OPTION_TRACECLOCK,
	OPTION_UNAME,
	OPTION_HOOK,
	OPTION_OFFSET,
	OPTION_CPUCOUNT,
	OPTION_VERSION,
	OPTION_PROCMAPS,
	OPTION_TRACEID,
	OPTION_TIME_SHIFT,
	OPTION_GUEST,
	OPTION_TSC2NSEC,
	OPTION_STRINGS,
	OPTION_HEADER_INFO,
	OPTION_FTRACE_EVENTS,
	OPTION_EVENT_FORMATS,
	OPTION_KALLSYMS,
	OPTION_PRINTK,
	OPTION_CMDLINES,
	OPTION_BUFFER_TEXT,
	OPTION_BTF,
	OPTION_LAST_BOOT,
	OPTION_MODULES,
};

/* Read all metadata from @c, which stands behind the common header. 0, -EBADMSG or -ENOMEM. */
int tracefile_read_v6(struct tracefile *tf, struct cursor *c);
int tracefile_read_v7(struct tracefile *tf, struct cursor *c);

/* Take in an option that both versions share; others are ignored. @offset is for damage. */
int tracefile_option(struct tracefile *tf, unsigned int id, const void *data, size_t size,
		     uint64_t offset);

/*
 * Parsers of pieces that both versions share; @base is the offset of the cursor's origin. Where
 * that is memory, texts stay in it: it is to be kept.
 */
int tracefile_read_header_info(struct tracefile *tf, struct cursor *c, uint64_t base);
int tracefile_read_ftrace_formats(struct tracefile *tf, struct cursor *c, uint64_t base);
int tracefile_read_event_formats(struct tracefile *tf, struct cursor *c, uint64_t base);
int tracefile_read_cmdlines(struct tracefile *tf, struct cursor *c, uint64_t base);

/*
 * Count @size bytes of metadata at @offset that are about to be read. -EBADMSG and damage when they
 * are more than a file of this size may hold: one piece named again and again, or packed too well.
 */
int tracefile_count_metadata(struct tracefile *tf, uint64_t size, uint64_t offset);

/* Keep @memory until tracefile_close(). 0, or -ENOMEM: then it is freed. */
int tracefile_keep(struct tracefile *tf, char *memory);

/* Append a buffer that is all zero; NULL when out of memory. */
struct trace_buffer *tracefile_add_buffer(struct tracefile *tf);

/*
 * Append a CPU's piece to @b, cut to the file's size with damage noted. Of how many there are, the
 * caller has checked that they are no more than TRACE_MAX_CPUS. 0 or -ENOMEM.
 */
int tracefile_add_cpu(struct tracefile *tf, struct trace_buffer *b, uint32_t cpu, uint64_t offset,
		      uint64_t size);

/* All CPUs of @b were added; their data reach up to @end. Data that belong to none are damage. */
void tracefile_end_cpus(struct tracefile *tf, const struct trace_buffer *b, uint64_t end);

/* The current clock from "local [global] …"; NULL when none is marked or out of memory. */
char *tracefile_parse_clock(const char *text);

/* Unpack or read the v7 section at @offset, which must have @id; *size bytes, free()d by caller. */
char *tracefile_section(struct tracefile *tf, uint64_t offset, unsigned int id, size_t *size);

#endif
