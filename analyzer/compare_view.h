/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a table of a comparison shows: its rows by name, of all architectures that stand side by
 * side, and which of their figures.
 */
#ifndef COMPARE_VIEW_H
#define COMPARE_VIEW_H

#include "compare_out.h"

#define VIEW_COLUMNS 3 /* architectures side by side */

/* The rows of one name ("reuse, order 4"), one a metric. */
struct view_name {
	const struct compare_row *of[VIEW_COLUMNS]; /* the first of each architecture, or NULL */
	double weight; /* the time that went or came; else next to nothing for what there is */
	bool *shown;   /* of each metric */
};

/* All zero is empty. */
struct view {
	const struct comparison *c;
	const struct compare_output *options;
	size_t first, nr;	 /* blocks of it */
	struct view_name *names; /* in the order of rows; owned */
	size_t nr_names;
	bool *shown; /* of all names; owned */
};

/*
 * Choose what is shown of @nr blocks, at most VIEW_COLUMNS, from @first on. Returns 0 or -ENOMEM;
 * view_release() is due in every case.
 */
int view_open(struct view *view, const struct comparison *c, const struct compare_output *options,
	      size_t first, size_t nr);

/* The row of one @metric, of whatever architecture has it. */
const struct compare_row *view_row(const struct view_name *name, size_t metric);

void view_release(struct view *view);

#endif
