/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One recording from its file to its summary: every stage of the flow, pulled through once. */
#ifndef REPORT_H
#define REPORT_H

#include "filter.h"
#include "probes.h"
#include "recording.h"

/* All zero: everything is counted, nothing is assumed. */
struct report_options {
	const struct filter *filter; /* NULL: none */
	struct probe_names names;    /* --entry, --exit */
	uint64_t folio_size;	     /* --folio-size in bytes, 0 none */
	bool exact;		     /* --exact: the clock counts instructions */
	/* Called once what is known of the recording is known, before the first event; or NULL. */
	int (*begin)(void *ctx, const struct recording *rec);
	/* Called with each episode that passes the filters; or NULL. */
	int (*episode)(void *ctx, const struct episode *e);
	void *ctx;
	/* Called now and then with the part that is done, 0 to 1; or NULL. */
	void (*progress)(void *progress_ctx, double done);
	void *progress_ctx;
};

/*
 * Read the recording at @path into @rec, which was empty and is to be released in every case. 0: it
 * was read; where rec->damages holds something, not all of it. Else -errno, and *reason says in
 * words why nothing was read: -EINVAL of @options; -ENOTSUP, -EBADMSG of the file, whose damages
 * say where; any other when it could not be opened or read, or from a callback.
 */
int report_read(const char *path, const struct report_options *options, struct recording *rec,
		const char **reason);

#endif
