// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory for tables that grow large and are hit at random. */
#include <errno.h>
#include <sys/mman.h>

#include "pool.h"

#define FIRST_ROOM 256
#define HUGE_SIZE  (2u << 20) /* from here on a huge page more or less does not matter */

/* What is mapped for so many bytes: whole huge pages, which the kernel then aligns. */
static size_t mapped_size(size_t size)
{
	return size < HUGE_SIZE ? size : (size + HUGE_SIZE - 1) & ~(size_t)(HUGE_SIZE - 1);
}

void *pool_resize(void *old, size_t old_size, size_t size)
{
	void *memory;

	size = mapped_size(size);
	if (old)
		memory = mremap(old, mapped_size(old_size), size, MREMAP_MAYMOVE);
	else
		memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			      0);
	if (memory == MAP_FAILED)
		return NULL;
	if (size >= HUGE_SIZE)
		madvise(memory, size, MADV_HUGEPAGE); /* may be refused: no matter */
	return memory;
}

void pool_free(void *memory, size_t size)
{
	if (memory)
		munmap(memory, mapped_size(size));
}

int pool_grow(void **pool, uint32_t *room, uint64_t need, size_t entry_size)
{
	uint64_t new_room = *room ? *room : FIRST_ROOM;
	void *grown;

	if (need <= *room)
		return 0;
	while (new_room < need)
		new_room *= 2;
	if (new_room > UINT32_MAX || new_room > SIZE_MAX / entry_size)
		return -ENOMEM;
	grown = pool_resize(*pool, *room * entry_size, new_room * entry_size);
	if (!grown)
		return -ENOMEM;
	*pool = grown;
	*room = new_room;
	return 0;
}
