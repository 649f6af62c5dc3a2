/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recordings of every kind that the writer can make, each holding every sort of record, and the
 * list of what is in them: for tests that compare what a reader finds, or cut and change files.
 */
#ifndef KINDS_H
#define KINDS_H

#include "trace_writer.h"

#define KIND_MAX_KINDS	 128
#define KIND_MAX_RECORDS 4096
#define KIND_MAX_VALUES	 8

struct kind {
	char name[64];
	struct tw_config config;
	bool two_buffers;
	unsigned int second_subbuf_size;
	unsigned int last_cpu;	     /* [5] the one with lost events */
	bool unknown_parts;	     /* options and sections that nobody knows */
	bool no_records;	     /* in the top buffer */
	bool unknown_to_libtracecmd; /* it cannot read such a file, not even uncompressed */
};

/* The events' ids; TEXT has strings and BLOB an array among their fields, the others numbers. */
enum {
	KIND_NUMBERS = 700,
	KIND_PACKED,
	KIND_TEXT,
	KIND_BLOB
};

/* A record as it was written; of each CPU of a buffer, in order. */
struct kind_record {
	unsigned int buffer, cpu;
	uint64_t ts;
	unsigned int id;
	int64_t missed; /* events lost before it: -1 some, 0 none */
	int pid;
	size_t nr_values;
	uint64_t values[KIND_MAX_VALUES]; /* of the fields after the common ones, as TW_VALUES() */
};

const struct kind *kinds(size_t *nr);

/*
 * Writes a recording of the kind. Returns 0 or -errno; the caller frees the list, also after an
 * error.
 */
int kind_write(const struct kind *kind, const char *path, struct kind_record **list, size_t *nr);

/* The same, and where the file's parts begin and end, in *bounds for the caller to free. */
int kind_write_parts(const struct kind *kind, const char *path, struct kind_record **list,
		     size_t *nr, size_t **bounds, size_t *nr_bounds);

#endif
