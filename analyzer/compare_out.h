/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comparisons as a table that fits a mail, as TSV and CSV, and as JSON by the contract. */
#ifndef COMPARE_OUT_H
#define COMPARE_OUT_H

#include "compare.h"
#include "table.h"

#define COMPARE_COLUMNS 72 /* no line of text is wider */

/* Which rows the text shows. */
enum compare_view {
	VIEW_ALL,
	VIEW_BRIEF, /* at most COMPARE_BRIEF_ROWS, for a commit message */
	VIEW_RAW,   /* the others, for under the --- */
};

#define COMPARE_BRIEF_ROWS 12

struct compare_output {
	enum format format;
	enum compare_view view;
	bool own_metrics;    /* the user chose them: the brief view shows the first ones */
	const char *columns; /* for TSV and CSV, see table_open() */
	bool forced;	     /* unlike things are compared all the same */
};

/* Write @c, made of @sides, to @out. Returns 0 or -errno of memory or output. */
int output_compare(FILE *out, const struct comparison *c, const struct compare_side sides[NR_SIDES],
		   const struct compare_output *options);

/* Write the rows of @c as a table of any format; @list: see table_open(). 0 or -errno. */
int compare_table(FILE *out, enum format format, const struct comparison *c, const char *list);

/* The columns of struct compare_cell_row for TSV, CSV and JSON. */
struct compare_cell_row {
	const struct comparison *c;
	const struct compare_row *row;
};

const struct column *compare_columns(size_t *nr);

#endif
