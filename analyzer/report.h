/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One recording to its summary: every step of it through the model. */
#ifndef REPORT_H
#define REPORT_H

#include "recording.h"
#include "steps.h"

struct report_options {
	struct steps_options steps;
	/* Called once what is known of the recording is known, before the first event; or NULL. */
	int (*begin)(void *ctx, const struct steps *steps);
	/* Called with each fault that passes the filters, and its task's name; or NULL. */
	int (*fault)(void *ctx, const struct fault *f, const struct outcome *o, const char *comm);
	/* Called with each step and, for a fault, what the model made of it; or NULL. */
	int (*step)(void *ctx, const struct steps *steps, const struct step *step,
		    const struct outcome *o);
	/* Called with each episode that passes the filters, and who took its first fault; or NULL.
	 */
	int (*episode)(void *ctx, const struct episode *e, const char *comm);
	void *ctx;
};

/*
 * Read the recording at @path into @rec, which was empty and is to be released in every case. 0: it
 * was read; where rec->damages holds something, not all of it. Else -errno as steps_open(), or what
 * a callback returned, and *reason says it in words.
 */
int report_read(const char *path, const struct report_options *options, struct recording *rec,
		const char **reason);

#endif
