/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lines of KTAP in what a kernel says: from its version line to where the kernel halts, without
 * what stands before its words in each line, as extract_tap_lines() of the kernel's
 * tools/testing/kunit/kunit_parser.py finds them.
 */
#ifndef KTAP_TEXT_H
#define KTAP_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "ktap.h"

/* All zero but @in is a text that was not begun. */
struct ktap_text {
	FILE *in;
	bool started; /* the version line was seen */
	size_t prefix_bytes;
	char arch[KTAP_MAX_ARCH + 1]; /* of a comment before; see struct ktap_result */
	uint64_t lines;		      /* begun so far; only \n counts */
	bool cr;		      /* the last byte was \r */
	unsigned int which;
	char buf[2][KTAP_MAX_LINE + 1];
};

/*
 * The next line, without its prefix and spaces at its end, in *@line, which stays as it is until
 * the line after the next one. Before the version line it may be what KUnit's executor says. 1; 0
 * at the end; -E2BIG of a line that is longer than KTAP_MAX_LINE; -errno of reading.
 */
int ktap_text_next(struct ktap_text *t, const char **line);

#endif
