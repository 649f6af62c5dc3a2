/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a recording's file to steps: the stages from `tracefile` to `faults`, opened together and
 * pulled one step at a time. What models the steps stands behind it: `report` and `replay`.
 */
#ifndef STEPS_H
#define STEPS_H

#include "comms.h"
#include "faults.h"
#include "filter_hint.h"
#include "formats.h"
#include "model.h"
#include "probes.h"
#include "recording.h"
#include "repeats.h"
#include "timeline.h"
#include "tracefile.h"

/* What the user says of a recording. All zero: everything is counted, nothing is assumed. */
struct steps_options {
	struct filter *filter;	  /* NULL: none */
	struct filter_hint *hint; /* filled in when the recording has been read; or NULL */
	struct probe_names names; /* --entry, --exit */
	uint64_t folio_size;	  /* --folio-size in bytes, 0 none */
	bool exact;		  /* --exact: the clock counts instructions */
	/* Called now and then with the part that is done, 0 to 1; or NULL. */
	void (*progress)(void *progress_ctx, double done);
	void *progress_ctx;
};

struct steps {
	const struct steps_options *options;
	struct recording *rec;
	struct tracefile tf;
	struct formats formats;
	struct page_layout layout;
	struct comms comms;
	struct probes probes;
	struct timeline timeline;
	struct repeats repeats;
	struct faults faults;
	struct model *model; /* told of what is seen and under way; whose steps they are sets it */
	struct used_pages used; /* as the manifest lists them */
	uint8_t assumed_order;	/* --folio-size in pages, or ORDER_UNKNOWN */
	bool rss_is_exact;	/* the kernel shows a counter's every change, not one in 64 */
	uint64_t first, last;	/* time stamps */
	uint64_t pages;		/* sub-buffers that have begun */
	uint64_t short_noted;	/* of probes.short_events, those whose damage is noted */
};

/*
 * Open the recording at @path and fill in what @rec, which was empty, says of its origin. 0; else
 * -errno, and *reason says in words why nothing can be read: -EINVAL of @options; -ENOTSUP of the
 * file, whose damages say where; any other when it could not be opened or read. steps_close() is
 * due in every case, and fills in the rest of @rec.
 */
int steps_open(struct steps *s, const char *path, const struct steps_options *options,
	       struct recording *rec, const char **reason);

/* The next step: 1, 0 at the end, -ENOMEM. A fault's `counted` says whether it passes the filter.
 */
int steps_next(struct steps *s, struct step *step);

/* What a model has to know of this recording and its kernel, but for where its episodes go. */
struct model_options steps_model_options(const struct steps *s);

/* Tell the model which kinds of events have been seen so far. */
void steps_tell_model(const struct steps *s, struct model *m);

/* Counters, probes and damages go to the recording; all else is freed. 0 or -ENOMEM. */
int steps_close(struct steps *s);

#endif
