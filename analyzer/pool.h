/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory for tables that grow large and are hit at random: on page boundaries, so that no entry of
 * a cache line straddles two; of huge pages where it is large; grown without a copy.
 */
#ifndef POOL_H
#define POOL_H

#include <stddef.h>
#include <stdint.h>

/*
 * Memory of @old_size bytes (0: none yet, @old is NULL) grown to @size, zero behind what it held.
 * NULL when out of memory: then @old is as it was. pool_free() is due.
 */
void *pool_resize(void *old, size_t old_size, size_t size);

void pool_free(void *memory, size_t size);

/*
 * Grow *pool of *room entries of @entry_size bytes to hold @need or more. 0 or -ENOMEM, then all is
 * as it was.
 */
int pool_grow(void **pool, uint32_t *room, uint64_t need, size_t entry_size);

#endif
