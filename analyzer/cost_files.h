/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Costs from the files that --costs names: KTAP of the suite's bench, or recordings. */
#ifndef COST_FILES_H
#define COST_FILES_H

#include "costs.h"
#include "input.h"

#define COST_MAX_FILES 16

/* What the policies at hand do, and so which costs are asked for. */
struct cost_needs {
	bool reuse, copy;
};

/*
 * Read the @nr files at @paths, all KTAP or all recordings of kernels that batch, which @in reads
 * as it read @before. Returns EXIT_GOOD; else EXIT_DAMAGED after one line that says what is wrong
 * or missing. *costs holds what could be learned in either case.
 */
int cost_files_read(struct costs *costs, struct input *in, const char *const *paths, size_t nr,
		    const struct recording *before, struct cost_needs needs);

#endif
