/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the JSON of `report -F json` back. Nothing in it is believed before it is checked: its
 * schema, every type, and that the counters add up.
 */
#ifndef JSON_IN_H
#define JSON_IN_H

#include <stdbool.h>
#include <stddef.h>

#include "json_get.h"
#include "recording.h"

/* A filter that was in force when the report was made. */
struct report_filter {
	char *name, *value; /* owned */
};

/* What a report file holds. All zero is empty; report_file_release() frees all. */
struct report_file {
	char *tool_version;	/* of the program that made it, NULL unknown; owned */
	struct recording *recs; /* owned */
	size_t nr_recs;
	struct report_filter *filters; /* owned; sorted by name */
	size_t nr_filters;
};

/*
 * Whether @path is a file whose first byte but spaces is '{', or "-" and standard input begins so:
 * it is read on from there. 1, 0, or -errno when it cannot be read. Of another pipe no byte is
 * taken: it is none.
 */
int report_json_probe(const char *path);

/*
 * Read @path, "-" for standard input, into @file, which was empty. Memory is some 250 bytes for
 * each distinct value of each distribution while it reads. Returns 0, or -errno with @file empty
 * and @error set: -EINVAL where the text is not JSON or is cut (with its offset), or where what it
 * says is not so (with its path).
 */
int report_json_read(const char *path, struct report_file *file, struct json_error *error);

/* Whether two files were made with the same filters. */
bool same_filters(const struct report_file *a, const struct report_file *b);

void report_file_release(struct report_file *file);

#endif
