// SPDX-License-Identifier: GPL-2.0-or-later
/* The pages that a workload says it used. */
#include <errno.h>
#include <stdlib.h>

#include "grow.h"
#include "used.h"

int used_add(struct used_pages *used, enum fault_class class, const struct used_range *range)
{
	size_t nr = used->of[class].nr;
	struct used_range *list;

	if (range->start >= range->end || !range->step)
		return -EINVAL;
	list = grow_by_one(used->of[class].list, nr, sizeof(*list));
	if (!list)
		return -ENOMEM;
	list[nr] = *range;
	used->of[class].list = list;
	used->of[class].nr++;
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct used_range *ra = a, *rb = b;

	return (ra->start > rb->start) - (ra->start < rb->start);
}

int used_finish(struct used_pages *used)
{
	for (unsigned int c = 0; c < NR_CLASSES; c++) {
		struct used_range *list = used->of[c].list;
		size_t nr = used->of[c].nr;

		if (nr)
			qsort(list, nr, sizeof(*list), by_start);
		for (size_t i = 1; i < nr; i++)
			if (list[i].start < list[i - 1].end)
				return -EINVAL;
	}
	return 0;
}

bool used_has(const struct used_pages *used, enum fault_class class, uint64_t address)
{
	const struct used_range *list = used->of[class].list;
	size_t low = 0, high = used->of[class].nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (address < list[middle].start)
			high = middle;
		else if (address >= list[middle].end)
			low = middle + 1;
		else
			return (address - list[middle].start) % list[middle].step == 0;
	}
	return false;
}

void used_release(struct used_pages *used)
{
	for (unsigned int c = 0; c < NR_CLASSES; c++)
		free(used->of[c].list);
	*used = (struct used_pages){ 0 };
}
