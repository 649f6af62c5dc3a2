/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pages that a workload says it used, by what their PTEs were resolved for: what a batch
 * resolved beside them is its waste.
 */
#ifndef USED_H
#define USED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fault.h"

/* Of the bytes [start, end) the page at start, and every step bytes from there on. */
struct used_range {
	uint64_t start, end, step;
};

/* All zero: nothing is known. */
struct used_pages {
	struct {
		struct used_range *list; /* ascending, not overlapping; owned */
		size_t nr;
	} of[NR_CLASSES];
};

/* Add a range of @class, in any order. Returns 0, -EINVAL where it is none, -ENOMEM. */
int used_add(struct used_pages *used, enum fault_class class, const struct used_range *range);

/* Sort what was added. Returns 0, -EINVAL when ranges of one class overlap. */
int used_finish(struct used_pages *used);

/* Whether the list has the page at @address, for what @class made usable. */
bool used_has(const struct used_pages *used, enum fault_class class, uint64_t address);

void used_release(struct used_pages *used);

#endif
