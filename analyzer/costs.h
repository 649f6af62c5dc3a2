/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a fault costs more that resolves more PTEs: measured by the KUnit suite, fitted from another
 * recording, or stated.
 */
#ifndef COSTS_H
#define COSTS_H

#include <stdbool.h>

#include "recording.h"

struct ktap_result;

/* extra time = base + PTEs beyond the first * per_pte; in ns. */
struct cost {
	bool known;
	double base;
	double per_pte, low, high; /* the interval is the spread of what was measured */
};

struct costs {
	struct cost reuse; /* of PTEs made writable */
	struct cost copy;  /* of pages copied */
};

/* "X" or "X,BASE" in ns, for reuse and copies alike. NULL, or why @text is wrong. */
const char *costs_parse(struct costs *c, const char *text);

/*
 * From the bench lines of @ktap. NULL, or what it lacks; what the policy does not need may stay
 * unknown.
 */
const char *costs_from_ktap(struct costs *c, const struct ktap_result *ktap, bool needs_reuse,
			    bool needs_copy);

/*
 * From two recordings: what a fault of @after, which resolves whole folios, costs more than one of
 * @before. NULL, or what they lack.
 */
const char *costs_fit(struct costs *c, const struct summary *before, const struct summary *after,
		      bool needs_reuse, bool needs_copy);

#endif
