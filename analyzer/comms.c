// SPDX-License-Identifier: GPL-2.0-or-later
/* The names of tasks, from the saved command lines of a recording. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "comms.h"

static int by_pid(const void *a, const void *b)
{
	const struct comm *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static size_t count_lines(const char *text)
{
	size_t n = 1;

	while ((text = strchr(text, '\n'))) {
		text++;
		n++;
	}
	return n;
}

int comms_parse(struct comms *c, const struct trace_text *cmdlines)
{
	char *line, *save = NULL;

	*c = (struct comms){ 0 };
	if (!cmdlines->text)
		return 0;
	c->text = strdup(cmdlines->text);
	if (c->text)
		c->list = calloc(count_lines(c->text), sizeof(*c->list));
	if (!c->list)
		return -ENOMEM;
	for (line = strtok_r(c->text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *name;
		long pid = strtol(line, &name, 10);

		if (name == line || *name != ' ')
			continue;
		c->list[c->nr++] = (struct comm){ .pid = pid, .name = name + 1 };
	}
	qsort(c->list, c->nr, sizeof(*c->list), by_pid);
	return 0;
}

static struct comm *find(const struct comms *c, int32_t pid)
{
	const struct comm key = { .pid = pid };

	return c->nr ? bsearch(&key, c->list, c->nr, sizeof(key), by_pid) : NULL;
}

const char *comms_find(const struct comms *c, int32_t pid)
{
	const struct comm *hit = find(c, pid);

	return hit ? hit->name : COMM_UNKNOWN;
}

void comms_count(struct comms *c, int32_t pid)
{
	struct comm *hit = find(c, pid);

	if (hit)
		hit->faults++;
}

void comms_release(struct comms *c)
{
	free(c->list);
	free(c->text);
	*c = (struct comms){ 0 };
}
