/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All that our reader makes of a recording, good or damaged, kept to be compared. */
#ifndef READING_H
#define READING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct oracle;

struct read_record {
	uint64_t ts;
	uint64_t hash; /* of its bytes */
	uint32_t size;
	bool after_loss;
};

/* The records of one CPU of one buffer, in file order. */
struct read_stream {
	char *buffer; /* name; owned */
	uint32_t cpu;
	struct read_record *list; /* owned */
	size_t nr;
};

struct reading {
	struct read_stream *streams; /* owned */
	size_t nr_streams, nr_records;
	uint64_t nr_damages;
	char reason[128]; /* of the first */
};

/* Read @path as far as it can be read. Aborts when out of memory. */
void reading_open(struct reading *r, const char *path);
void reading_close(struct reading *r);

/* What libtracecmd makes of it, in the same shape. */
void reading_of_oracle(struct reading *r, const struct oracle *o);

/* The first stream of @r that holds what the same CPU of @whole does not begin with; or NULL. */
const struct read_stream *reading_beyond(const struct reading *r, const struct reading *whole);

/* Whether both hold the same records of the same buffers and CPUs. */
bool reading_same(const struct reading *a, const struct reading *b);

/* Whether both hold the same records, whatever buffers and CPUs are called. */
bool reading_same_records(const struct reading *a, const struct reading *b);

/* A file in memory with @size bytes of @data, for its /proc path; close() it. Aborts on errors. */
int memory_file(const void *data, size_t size, char path[32]);

/* The bytes of a file, to free(). Aborts on errors. */
uint8_t *file_bytes(const char *path, size_t *size);

#endif
