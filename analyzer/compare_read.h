/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads one side of a comparison: recordings and report JSONs, mixed as they come. */
#ifndef COMPARE_READ_H
#define COMPARE_READ_H

#include "compare.h"
#include "input.h"
#include "plot_data.h"

/* How the faults of a recording are split into groups. */
enum compare_split {
	SPLIT_NONE,
	SPLIT_COMM, /* by the name of the task that took the fault */
	SPLIT_MM,   /* by address space, "mm 1" being the first that took a fault */
};

/*
 * Read @path and add its recording, or those of its report, to @side; its faults to @plot, too,
 * when that is not NULL. Returns an exit code after saying in one line what is wrong: EXIT_DAMAGED
 * too where a recording was read, but not all of it
 * (*readable is then true).
 */
int compare_read(struct input *in, const char *path, enum compare_split split,
		 struct compare_side *side, struct plot_side *plot, bool *readable);

#endif
