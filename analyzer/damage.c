// SPDX-License-Identifier: GPL-2.0-or-later
/* What was found damaged in a recording: where and why. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "damage.h"

/* Names from a damaged file may hold anything; a reason is ASCII, whoever prints it. */
static void make_printable(char *text)
{
	for (; *text; text++) {
		if (*text < ' ' || *text > '~')
			*text = '?';
	}
}

/* What stays of a reason when its count is put behind it. */
static size_t kept_length(const struct damage *d)
{
	const size_t room = sizeof(d->reason) - sizeof(" (18446744073709551615 times)");

	return d->length < room ? d->length : room;
}

static struct damage *find(const struct damages *d, const struct damage *like)
{
	for (size_t i = 0; i < d->nr_kept; i++) {
		struct damage *one = &d->list[i];

		if (one->offset == like->offset && one->length == like->length &&
		    !memcmp(one->reason, like->reason, kept_length(like)))
			return one;
	}
	return NULL;
}

static void count_again(struct damage *d)
{
	size_t at = kept_length(d);

	d->times++;
	snprintf(d->reason + at, sizeof(d->reason) - at, " (%" PRIu64 " times)", d->times);
}

void damage_add(struct damages *d, uint64_t offset, const char *fmt, ...)
{
	struct damage new = { .offset = offset, .times = 1 }, *old;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(new.reason, sizeof(new.reason), fmt, ap);
	va_end(ap);
	make_printable(new.reason);
	new.length = strlen(new.reason);
	old = find(d, &new);
	if (old) {
		count_again(old);
		return;
	}
	if (!d->list)
		d->list = calloc(DAMAGE_MAX_KEPT, sizeof(*d->list));
	if (d->list && d->nr_kept < DAMAGE_MAX_KEPT)
		d->list[d->nr_kept++] = new;
	d->nr++;
}

void damages_release(struct damages *d)
{
	free(d->list);
	*d = (struct damages){ 0 };
}
