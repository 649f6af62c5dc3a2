/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports as text, for output and html_report. Functions return 0 or -errno of memory or output. */
#ifndef OUTPUT_TEXT_H
#define OUTPUT_TEXT_H

#include "output.h"

/*
 * What stands above the rows: where @rec comes from, what of it was lost or damaged, whether its
 * figures are exact. @nr_total: 0, or of how many recordings it is the total.
 */
int output_head(FILE *out, const struct recording *rec, size_t nr_total,
		const struct output_options *opt);

/* Add all rows of @rec, the @number-th recording (0: the total), to a table of report columns. */
int output_rows(struct table *t, const struct recording *rec, size_t number);

/* The whole report, as output_report() takes it. */
int output_text(FILE *out, const struct recording *recs, size_t nr, const struct recording *total,
		const struct output_options *opt);

#endif
