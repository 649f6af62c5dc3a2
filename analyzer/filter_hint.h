/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What to say of a recording of which no fault passed the filters. */
#ifndef FILTER_HINT_H
#define FILTER_HINT_H

#include "filter.h"

/* All zero is empty; filter_hint_release() returns it to that. */
struct filter_hint {
	uint64_t faults; /* that the filters were asked about */
	char *comms; /* tasks that had some, where --comm names none of them; else NULL; owned */
};

/* Take from @comms, which counted the faults of each task, what the hint says. 0 or -ENOMEM. */
int filter_hint_take(struct filter_hint *hint, const struct filter *f, const struct comms *comms);

void filter_hint_release(struct filter_hint *hint);

#endif
