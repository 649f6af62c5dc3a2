// SPDX-License-Identifier: GPL-2.0-or-later
/* What was found damaged in a recording: where and why. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "damage.h"

/* Names from a damaged file may hold anything; a reason is ASCII, whoever prints it. */
static void make_printable(char *text)
{
	for (; *text; text++) {
		if (*text < ' ' || *text > '~')
			*text = '?';
	}
}

void damage_add(struct damages *d, uint64_t offset, const char *fmt, ...)
{
	va_list ap;

	if (!d->list)
		d->list = calloc(DAMAGE_MAX_KEPT, sizeof(*d->list));
	if (d->list && d->nr < DAMAGE_MAX_KEPT) {
		struct damage *new = &d->list[d->nr];

		new->offset = offset;
		va_start(ap, fmt);
		vsnprintf(new->reason, sizeof(new->reason), fmt, ap);
		va_end(ap);
		make_printable(new->reason);
	}
	d->nr++;
}

size_t damages_kept(const struct damages *d)
{
	if (!d->list)
		return 0;
	return d->nr < DAMAGE_MAX_KEPT ? d->nr : DAMAGE_MAX_KEPT;
}

void damages_release(struct damages *d)
{
	free(d->list);
	*d = (struct damages){ 0 };
}
