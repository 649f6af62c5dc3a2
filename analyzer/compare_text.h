/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of a comparison for people and their mails. */
#ifndef COMPARE_TEXT_H
#define COMPARE_TEXT_H

#include "compare_out.h"

/* Write @c to @out, no line wider than COMPARE_COLUMNS. Returns 0 or -errno of memory or output. */
int compare_text(FILE *out, const struct comparison *c, const struct compare_output *options);

#endif
