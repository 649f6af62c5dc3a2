/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arrays that grow one entry at a time, in steps that double. */
#ifndef GROW_H
#define GROW_H

#include <stdlib.h>

/*
 * Room for one more entry of @size bytes in @list, which holds @nr and has grown by no other
 * means. Returns the list, perhaps moved; NULL when out of memory, then @list is as it was.
 */
static inline void *grow_by_one(void *list, size_t nr, size_t size)
{
	if (nr & (nr - 1))
		return list;
	return reallocarray(list, nr ? 2 * nr : 1, size);
}

#endif
