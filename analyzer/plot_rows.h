/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of the plots: the figures of a class, order and level, of both sides. */
#ifndef PLOT_ROWS_H
#define PLOT_ROWS_H

#include "plot_data.h"

#define PLOT_SIDES 2

/* A row of both sides, evidence and source left aside. */
struct plot_row {
	char label[48];
	struct fault_key key;
	struct summary_row sum[PLOT_SIDES];
};

struct plot_rows {
	struct plot_row *list; /* owned, with what is in it */
	size_t nr;
};

/* Collect the rows of @sides into @rows, which is empty; most faults first. Returns 0 or -errno. */
int plot_rows_collect(struct plot_rows *rows, const struct plot_side *sides, size_t nr_sides);

/* Also after an error. */
void plot_rows_release(struct plot_rows *rows);

#endif
