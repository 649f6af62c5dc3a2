/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs gnuplot over the scripts of plots/. */
#ifndef GNUPLOT_H
#define GNUPLOT_H

#include <stddef.h>

#include "progress.h"

/*
 * Draw @dir/@name.png and .svg from @dir/@name.tsv by plots/@name.gp, which is looked for in
 * $FAULT_ANALYZE_PLOTS, beside the program, and where it was installed. Returns 0, or -errno with
 * @reason in one line and nothing left of the pictures: -EINTR where a signal came that the caller
 * holds back (see signals.h), which otherwise ends the program here, when all is tidy.
 */
int gnuplot_draw(const char *name, const char *dir, struct progress *progress, char *reason,
		 size_t size);

#endif
