/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A line on stderr that says what takes so long: on a terminal alone, from one second on. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <time.h>

struct progress {
	struct timespec start;
	bool on_terminal, shown;
};

void progress_begin(struct progress *p);

/* Say what is being done and, when @part is not negative, how much of it is, 0 to 1. */
void progress_show(struct progress *p, const char *what, double part);

/* Take the line away again. */
void progress_end(struct progress *p);

#endif
