/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables as text, TSV, CSV and HTML, from one array of columns. */
#ifndef TABLE_H
#define TABLE_H

#include "column.h"

/* The format called @name, or -EINVAL. */
int format_parse(const char *name);

/* Write @text for a terminal or a TSV field: control characters as \xNN. */
void text_write(FILE *out, const char *text);

struct table;

/*
 * Start a table in FORMAT_TEXT, _TSV, _CSV or _HTML on @out. @list: columns to show in its order,
 * NULL for all. @ns, @ticks: which time units the rows will have; keys follow. Returns NULL when
 * out of memory or when @list names no column.
 */
struct table *table_open(FILE *out, enum format format, const struct column *columns, size_t nr,
			 const char *list, bool ns, bool ticks);

/* Add @row, whose times are ns or ticks. Returns 0 or -errno of memory or output. */
int table_row(struct table *t, const void *row, bool ns);

/* Print what is left and free @t (NULL is fine). Returns 0 or -errno. */
int table_close(struct table *t);

#endif
