// SPDX-License-Identifier: GPL-2.0-or-later
/* What to say of a recording of which no fault passed the filters. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter_hint.h"

#define MAX_NAMES 5

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct comm *)a)->name, ((const struct comm *)b)->name);
}

/* Most faults first. */
static int by_faults(const void *a, const void *b)
{
	const struct comm *x = a, *y = b;

	return x->faults == y->faults ? by_name(a, b) : x->faults < y->faults ? 1 : -1;
}

/* Names of tasks that had faults into @list, each once, most faults first. Returns how many. */
static size_t list_names(struct comm *list, const struct comms *comms)
{
	size_t nr = 0, nr_names = 0;

	for (size_t i = 0; i < comms->nr; i++)
		if (comms->list[i].faults)
			list[nr++] = comms->list[i];
	qsort(list, nr, sizeof(*list), by_name);
	for (size_t i = 0; i < nr; i++) {
		if (nr_names && !by_name(&list[nr_names - 1], &list[i]))
			list[nr_names - 1].faults += list[i].faults;
		else
			list[nr_names++] = list[i];
	}
	qsort(list, nr_names, sizeof(*list), by_faults);
	return nr_names;
}

/* "a, b and 3 more" in a string to free; NULL when out of memory. */
static char *join_names(const struct comm *list, size_t nr)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (size_t i = 0; i < nr && i < MAX_NAMES; i++)
		fprintf(out, "%s%s", i ? ", " : "", list[i].name);
	if (nr > MAX_NAMES)
		fprintf(out, " and %zu more", nr - MAX_NAMES);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

int filter_hint_take(struct filter_hint *hint, const struct filter *f, const struct comms *comms)
{
	struct comm *list;
	size_t nr;

	if (!f->nr_comms)
		return 0;
	list = calloc(comms->nr + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	nr = list_names(list, comms);
	for (size_t i = 0; i < nr; i++)
		if (filter_comm(f, list[i].name))
			nr = 0;
	if (nr)
		hint->comms = join_names(list, nr);
	free(list);
	return nr && !hint->comms ? -ENOMEM : 0;
}

void filter_hint_release(struct filter_hint *hint)
{
	free(hint->comms);
	*hint = (struct filter_hint){ 0 };
}
