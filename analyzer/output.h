/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reports and episodes as text, TSV, CSV and JSON. Every function that writes returns 0, or -errno
 * when memory ran out or the output could not be written (closed pipe, full disk); JSON that was
 * cut so has no end and does not parse.
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include "recording.h"
#include "table.h"

/* One filter as the user gave it: { "addr", "7fc78c200000-7fc78ca00000" }. */
struct output_filter {
	const char *name, *value;
};

/* All zero: the usual columns, no filters. */
struct output_options {
	const char *columns; /* see table_open(); JSON has its own, by its contract */
	const struct output_filter *filters; /* that were in force, for JSON */
	size_t nr_filters;
};

/*
 * Print @recs one by one, and @total (recordings_total() of them) when there are several. Rows are
 * shown in the order in which they stand: summary_sort() first.
 */
int output_report(FILE *out, enum format format, const struct recording *recs, size_t nr,
		  const struct recording *total, const struct output_options *opt);

/* Episodes, one row each, as they end; nothing is kept but a screenful of text. */
struct folio_writer;

/*
 * Start; of @rec only page_size, clock and time_is_ns are read, and it must outlive the writer.
 * Returns NULL when out of memory.
 */
struct folio_writer *folio_writer_open(FILE *out, enum format format, const struct recording *rec,
				       const struct output_options *opt);

int folio_writer_row(struct folio_writer *w, const struct episode *e);

/* Finish, saying what of the now complete @rec was lost or damaged (text, JSON); free @w. */
int folio_writer_close(struct folio_writer *w);

#endif
