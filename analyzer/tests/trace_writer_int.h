/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the rooms of the trace writer share: container, ring buffer, events. */
#ifndef TRACE_WRITER_INT_H
#define TRACE_WRITER_INT_H

#include <stdio.h>

#include "trace_writer.h"

#define TW_MAX_CPUS 4096

struct bytes {
	uint8_t *data;
	size_t len, cap;
};

struct tw_field {
	char *type; /* as in the format text: "unsigned long", "__data_loc char[]" */
	char *name;
	char array[16]; /* "[16]" behind the name, or "" */
	unsigned int offset, size;
	unsigned int element; /* bytes of one, in an array */
	bool is_signed;
	bool is_array;	 /* the value is a pointer to size bytes, to text if is_text */
	bool is_text;	 /* char array or dynamic string: the value is a pointer to text */
	bool is_dynamic; /* __data_loc or __rel_loc */
	bool is_relative;
};

struct tw_event {
	struct trace_writer *w;
	char *system, *name;
	unsigned int id;
	struct tw_field *fields;
	size_t nr_fields;
	unsigned int fixed_size; /* bytes before dynamic data */
	char *print_fmt;
	struct bytes format; /* set by tw_set_format() */
};

/* One CPU of one buffer: its full sub-buffers and the one that is being filled. */
struct tw_stream {
	struct bytes pages;
	uint8_t *page; /* subbuf_size bytes */
	bool open;
	size_t pos;	  /* bytes used behind the page's header */
	size_t capacity;  /* bytes that events may use there */
	uint64_t ts;	  /* of the last event, or the page's stamp */
	unsigned int how; /* tw_next() */
	unsigned int commit_flags;
	uint64_t lost;
	bool lost_pending;
	bool lost_stored;
	uint64_t nr_records;
};

struct tw_buffer {
	char *name, *clock;
	unsigned int subbuf_size;
	struct tw_stream *streams[TW_MAX_CPUS];
	unsigned int nr_streams; /* highest CPU plus one */
	int (*generate)(struct trace_writer *w, unsigned int cpu, void *ctx);
	void *generate_ctx;
	uint64_t v6_option_at; /* file offset of its BUFFER option's data */
};

struct tw_option {
	unsigned int id;
	struct bytes data;
};

struct tw_extra_section {
	unsigned int id;
	struct bytes data;
	bool listed;
};

#define TW_NR_KNOWN 16

struct trace_writer {
	struct tw_config config;
	int err;
	struct tw_event **events;
	size_t nr_events;
	struct tw_event *known[TW_NR_KNOWN]; /* trace_writer_faults.c */
	struct tw_buffer **buffers;
	size_t nr_buffers;
	unsigned int in_use;
	struct tw_option *options;
	size_t nr_options;
	struct tw_extra_section *sections;
	size_t nr_sections;
	struct bytes comms, kallsyms, printk, strings;
	struct tw_part *parts;
	size_t nr_parts;
	/* while the file is written */
	FILE *file;
	bool formats_written;
	struct tw_stream *sink; /* the stream whose sub-buffers go straight to the file */
	struct bytes chunk;
	uint32_t nr_chunks;
	void *zstd;
};

/* Records the first error; returns it. */
int tw_fail(struct trace_writer *w, int err);

/* Appends to a byte string; put() writes the low size bytes of value in the file's byte order. */
void tw_bytes(struct trace_writer *w, struct bytes *b, const void *data, size_t size);
void tw_put(struct trace_writer *w, struct bytes *b, uint64_t value, unsigned int size);
void tw_store(const struct trace_writer *w, void *to, uint64_t value, unsigned int size);

/* Grows an array of *nr elements of size bytes by one, zeroed; NULL after an error. */
void *tw_grow(struct trace_writer *w, void *array, size_t *nr, size_t size);

/* trace_writer_out.c: to the file; all of them do nothing after an error */
uint64_t tw_tell(struct trace_writer *w);
void tw_out(struct trace_writer *w, const void *data, size_t size);
void tw_out_bytes(struct trace_writer *w, const struct bytes *b);
void tw_out_word(struct trace_writer *w, uint64_t value, unsigned int size);
void tw_patch_word(struct trace_writer *w, uint64_t at, uint64_t value, unsigned int size);
void tw_align(struct trace_writer *w, unsigned int size);
void tw_part_begin(struct trace_writer *w, unsigned int id);
void tw_part_end(struct trace_writer *w);
void tw_out_compressed(struct trace_writer *w, const struct bytes *from);
uint64_t tw_section_begin(struct trace_writer *w, unsigned int id, const char *description,
			  bool compressed);
void tw_section_end(struct trace_writer *w, uint64_t size_at);
void tw_out_section(struct trace_writer *w, unsigned int id, const char *description,
		    const struct bytes *body, bool compressed);

/* trace_writer_metadata.c: the parts before the options; in v7 each is a section */
#define TW_NR_METADATA 6

struct tw_metadata {
	unsigned int id;
	const char *description;
	void (*body)(struct trace_writer *w, struct bytes *to);
};

extern const struct tw_metadata tw_metadata[TW_NR_METADATA];

/* trace_writer_ring.c: streams and their sub-buffers */
struct tw_stream *tw_stream(struct trace_writer *w, unsigned int cpu);
void tw_stream_free(struct tw_stream *s);
void tw_page_close(struct trace_writer *w, struct tw_stream *s, unsigned int subbuf_size);

/* trace_writer_file.c: takes a full sub-buffer of the stream that is being written */
void tw_sink_page(struct trace_writer *w, const uint8_t *page, unsigned int subbuf_size);

/* trace_writer_event.c */
void tw_event_free(struct tw_event *event);
void tw_event_format(struct tw_event *event, struct bytes *text);

#endif
