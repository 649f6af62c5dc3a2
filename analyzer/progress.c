// SPDX-License-Identifier: GPL-2.0-or-later
/* A line on stderr that says what takes so long. */
#include <stdio.h>
#include <unistd.h>

#include "progress.h"
#include "table.h"

static double seconds_since(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec - start->tv_sec + (now.tv_nsec - start->tv_nsec) / 1e9;
}

void progress_begin(struct progress *p)
{
	*p = (struct progress){ .on_terminal = isatty(STDERR_FILENO) };
	if (p->on_terminal)
		clock_gettime(CLOCK_MONOTONIC, &p->start);
}

void progress_show(struct progress *p, const char *what, double part)
{
	if (!p->on_terminal || seconds_since(&p->start) < 1)
		return;
	p->shown = true;
	fputc('\r', stderr);
	text_write(stderr, what); /* it may name a file */
	if (part >= 0)
		fprintf(stderr, ": %3.0f %%", 100 * part);
	fputs("\033[K", stderr); /* what the last line had more */
}

void progress_end(struct progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->shown = false;
}
