/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The columns of reports and of folios: what a figure is called, and where it stands. */
#ifndef COLUMNS_H
#define COLUMNS_H

#include "recording.h"
#include "table.h"

/* A row of a report. */
struct report_row {
	const struct recording *rec;
	size_t number;		       /* from 1; 0 is the total */
	const struct summary_row *row; /* NULL: of a recording without faults */
};

/* What a column of a report is about. */
#define REPORT_RECORDING (1u << COLUMN_USER_BITS)
#define REPORT_FAULTS	 (2u << COLUMN_USER_BITS) /* "faults.total" and the like */
#define REPORT_CLASS	 (4u << COLUMN_USER_BITS)

/* The columns of struct report_row. */
const struct column *report_columns(size_t *nr);

/* A row of folios. */
struct folio_row {
	const struct recording *rec; /* for its page size and time unit */
	const struct episode *episode;
};

/* The columns of struct folio_row. */
const struct column *folio_columns(size_t *nr);

#endif
