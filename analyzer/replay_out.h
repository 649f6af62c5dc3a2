/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes what a replay predicts: rows of one policy, or one row for each policy of a sweep. */
#ifndef REPLAY_OUT_H
#define REPLAY_OUT_H

#include <stdio.h>

#include "replay.h"
#include "table.h"

/* What was predicted, and what stands beside it. */
struct replay_report {
	const struct recording *before;
	const struct recording *after; /* --validate; NULL: none */
	const char *policy;	       /* as the user gave it */
	const char *stale_tlb;
	const char *costs; /* where they come from, NULL: there are none */
	const struct replay_rows *rows;
	const struct costs *cost;
};

/* One prediction against the recording of what happened. */
struct replay_miss {
	uint64_t counts; /* rows whose counts differ by more than 0.5 % and more than one fault */
	uint64_t times;	 /* rows whose time lies outside its interval */
};

const struct column *replay_columns(size_t *nr);

/* Write the rows as text, TSV, CSV or JSON. 0 or -errno of memory or output. */
int replay_write(FILE *out, enum format format, const struct replay_report *report,
		 const char *columns);

/* How far the predictions are from @report->after. */
struct replay_miss replay_compare(const struct replay_report *report);

/* One policy of a sweep: the whole of its rows, added up. */
struct sweep_row {
	const char *policy;
	const struct replay_rows *rows;
	const struct costs *cost;
	bool ns;
};

const struct column *sweep_columns(size_t *nr);

/* Write a row for each of @nr policies. 0 or -errno. */
int sweep_write(FILE *out, enum format format, const struct sweep_row *rows, size_t nr,
		const struct recording *before, const char *columns);

#endif
