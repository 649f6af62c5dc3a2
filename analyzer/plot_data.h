/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the plots are drawn from: a side's summary, and its faults in time and address, bounded. */
#ifndef PLOT_DATA_H
#define PLOT_DATA_H

#include "input.h"
#include "recording.h"

#define PLOT_BINS   256	  /* of the time; a bin grows when faults come later */
#define PLOT_POINTS 16384 /* kept of all faults: every n-th, n a power of two */

struct plot_point {
	uint64_t time; /* since the first fault of its recording */
	uint64_t address;
	uint8_t class;
};

/* One side. All zero is empty. */
struct plot_side {
	struct recording *recs;
	size_t nr_recs;
	struct recording total; /* after plot_side_finish() */
	uint64_t bin_width;	/* time units */
	uint64_t bins[PLOT_BINS][NR_CLASSES];
	struct plot_point *points;
	size_t nr_points;
	uint64_t every; /* a point stands for so many faults */
	uint64_t nr_faults;
	uint64_t first; /* time of the recording's first fault */
	bool has_first;
};

/*
 * Read @path, a recording or a report, into @side. A report knows no single fault. Returns an exit
 * code after saying what is wrong; *readable says whether there is something to draw.
 */
int plot_read(struct input *in, const char *path, struct plot_side *side, bool *readable);

/* Take in one fault of the recording that is being read. Returns 0 or -ENOMEM. */
int plot_side_add(struct plot_side *side, const struct fault *f, const struct outcome *o);

/* Have report_read() with @options tell @side of the faults of one more recording. */
void plot_side_watch(struct plot_side *side, struct report_options *options);

/* Add up what was read. Returns 0 or -ENOMEM. */
int plot_side_finish(struct plot_side *side);

void plot_side_release(struct plot_side *side);

#endif
