/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was found damaged in a recording: where and why. */
#ifndef DAMAGE_H
#define DAMAGE_H

#include <stddef.h>
#include <stdint.h>

#define DAMAGE_MAX_KEPT 64 /* further ones are counted, not kept */

struct damage {
	uint64_t offset; /* into the file, bytes */
	char reason[112];
};

/* All zero is empty; damages_release() returns it to that. */
struct damages {
	struct damage *list; /* owned; min(nr, DAMAGE_MAX_KEPT) entries */
	uint64_t nr;	     /* all that were found */
};

/* Note that the bytes at @offset are damaged; @fmt says why, without a newline. */
void damage_add(struct damages *d, uint64_t offset, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* How many are in the list. */
size_t damages_kept(const struct damages *d);

void damages_release(struct damages *d);

#endif
