/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was found damaged in a recording: where and why. */
#ifndef DAMAGE_H
#define DAMAGE_H

#include <stddef.h>
#include <stdint.h>

#define DAMAGE_MAX_KEPT 64 /* further ones are counted, not kept */

struct damage {
	uint64_t offset; /* into the file, bytes */
	uint64_t times;	 /* that it was noted; above 1 the reason says so at its end */
	size_t length;	 /* of the reason without that */
	char reason[128];
};

/* All zero is empty; damages_release() returns it to that. */
struct damages {
	struct damage *list; /* owned; the first DAMAGE_MAX_KEPT at most */
	size_t nr_kept;	     /* in the list */
	uint64_t nr;	     /* all that were found; as far as they are in the list, each once */
};

/*
 * Note that the bytes at @offset are damaged; @fmt says why, without a newline. What the list has
 * already is counted there: many sub-buffers have the offset of one compressed chunk.
 */
void damage_add(struct damages *d, uint64_t offset, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

void damages_release(struct damages *d);

#endif
