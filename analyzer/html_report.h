/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports and comparisons as pages with their tables and pictures. */
#ifndef HTML_REPORT_H
#define HTML_REPORT_H

#include "compare_out.h"
#include "output.h"
#include "plot_data.h"

/*
 * Both write a page to @path, with the pictures of @plots, one side or two. Return 0, or -errno
 * with
 * @reason in one line and no page; pictures that could not be drawn are -ECANCELED: the page is
 * there without them.
 */
int html_report(const char *path, const struct recording *recs, size_t nr,
		const struct recording *total, const struct output_options *opt,
		const struct plot_side *plot, char *reason, size_t size);

int html_compare(const char *path, const struct comparison *c, const struct compare_output *options,
		 const struct plot_side plots[NR_SIDES], char *reason, size_t size);

#endif
