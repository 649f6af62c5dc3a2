/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes what one policy is predicted to do: a row a class, order and level. */
#ifndef REPLAY_OUT_H
#define REPLAY_OUT_H

#include <stdio.h>

#include "replay_check.h"
#include "table.h"

/* What all predictions of a run go by. */
struct replay_basis {
	const struct recording *before;
	const char *stale_tlb; /* what was assumed */
	const char *costs;     /* where they come from, all of them; NULL: there are none */
	const char *missing;   /* events that the model needs and BEFORE lacks; NULL: none */
};

/* What was predicted, and what stands beside it. */
struct replay_report {
	struct replay_basis basis;
	const struct recording *after; /* --validate; NULL: none */
	bool after_is_timed;	       /* its times can be compared with those before */
	const char *unvalidated; /* an AFTER that was refused or could not be read; NULL: none */
	const char *policy;	 /* as the user gave it */
	const struct replay_rows *rows;
	const struct costs *cost;
};

/* Rows that miss what the other recording says, see replay_missed(). */
struct replay_misses {
	uint64_t counts, times;
};

const struct column *replay_columns(size_t *nr);

/* The line of text above the rows: @what was replayed on which recording, and what was assumed. */
void replay_write_head(FILE *out, const char *what, const struct replay_basis *basis);

struct json_object;

/* The same as members of @root. */
void replay_basis_json(struct json_object *root, const struct replay_basis *basis);

/* Write the rows as text, TSV, CSV or JSON. 0 or -errno of memory or output. */
int replay_write(FILE *out, enum format format, const struct replay_report *report,
		 const char *columns);

/* How far the predictions are from @report->after. */
struct replay_misses replay_count_misses(const struct replay_report *report);

#endif
