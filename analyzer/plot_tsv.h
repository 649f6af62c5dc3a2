/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The data of the plots as TSV files for gnuplot: series of lines apart by two empty ones, each
 * with a heading of its own. A file without data says why in a comment.
 */
#ifndef PLOT_TSV_H
#define PLOT_TSV_H

#include "plot_data.h"

#define NR_PLOTS 8

/* The names of all plots: NAME.tsv is drawn by plots/NAME.gp. NULL past the last. */
const char *plot_name(size_t i);

/*
 * Write the TSV of each plot into the folder @dir, for one side or, before and after, two. Returns
 * 0, or -errno with *name the file that failed, of which nothing is left.
 */
int plot_write_all(const char *dir, const struct plot_side *sides, size_t nr_sides,
		   const char **name);

#endif
