/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stands in FILE.json beside a recording FILE about how it was made. */
#ifndef MANIFEST_H
#define MANIFEST_H

#include <stdbool.h>

#define MANIFEST_SCHEMA "fault-analyze-manifest/1"

struct manifest {
	bool exact;  /* its clock counts instructions */
	char *boot;  /* "boot": recordings of one boot have the same; NULL unknown; the caller's */
	char *build; /* "build": likewise of one build of the kernel; NULL unknown; the caller's */
};

/*
 * The manifest of the recording at @path; all zero where none is beside it, an empty one, or
 * another kind of JSON. 0, -EBADMSG when it does not parse, -ENOMEM.
 */
int manifest_read(struct manifest *m, const char *path);

#endif
