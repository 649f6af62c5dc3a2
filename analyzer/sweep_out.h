/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes what each policy of a sweep is predicted to do, a row a policy, and its plot's data. */
#ifndef SWEEP_OUT_H
#define SWEEP_OUT_H

#include <stdio.h>

#include "replay_out.h"
#include "table.h"

/* One policy of a sweep: its rows, added up. */
struct sweep_row {
	const char *policy;
	uint64_t recorded, predicted, waste;
	double time;	   /* of all faults; NAN unknown */
	double one_fault;  /* see sweep_sum(); NAN unknown */
	const char *doubt; /* events that the model needs and the recording lacks; or NULL */
};

struct sweep {
	struct replay_basis basis;
	const struct sweep_row *rows;
	size_t nr;
};

/*
 * Add up what @policy is predicted to do. The time of one fault is the mean of those of the
 * costliest order among reuse faults of large folios: what a policy for them lengthens.
 */
struct sweep_row sweep_sum(const char *policy, const struct replay_rows *rows,
			   const struct costs *costs);

const struct column *sweep_columns(size_t *nr);

/* Write a row for each policy. 0 or -errno. */
int sweep_write(FILE *out, enum format format, const struct sweep *sweep, const char *columns);

/* The name of the plot: DIR/NAME.tsv is drawn by plots/NAME.gp. */
#define SWEEP_PLOT "sweep"

/* Write the data of the plot into the folder @dir. 0 or -errno. */
int sweep_write_plot(const char *dir, const struct sweep *sweep);

#endif
