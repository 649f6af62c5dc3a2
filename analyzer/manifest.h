/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stands in FILE.json beside a recording FILE about how it was made. */
#ifndef MANIFEST_H
#define MANIFEST_H

#include <stdbool.h>

#include "damage.h"
#include "used.h"

#define MANIFEST_SCHEMA "fault-analyze-manifest/1"

struct manifest {
	bool exact;  /* its clock counts instructions */
	char *boot;  /* "boot": recordings of one boot have the same; NULL unknown; the caller's */
	char *build; /* "build": likewise of one build of the kernel; NULL unknown; the caller's */
	char *workload;		/* "workload": the command that was recorded; likewise */
	struct used_pages used; /* "used": see traces/README.md; the caller's */
};

/*
 * The manifest of the recording at @path, whose pages have @page_size bytes; all zero where none is
 * beside it, an empty one, or another kind of JSON. What cannot be read of it is left out, and is
 * @damages of the recording. 0 or -ENOMEM.
 */
int manifest_read(struct manifest *m, const char *path, uint64_t page_size,
		  struct damages *damages);

#endif
