// SPDX-License-Identifier: GPL-2.0-or-later
/* Which faults are counted: what the user asks for with --pid, --addr and the like. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"

#define NS_DIGITS 9

/* Grow *list by one entry of @size bytes. Returns it zeroed, NULL when out of memory. */
static void *append(void *list, size_t *nr, size_t size)
{
	char **grown = list;
	char *new = reallocarray(*grown, *nr + 1, size);

	if (!new)
		return NULL;
	*grown = new;
	memset(new + *nr *size, 0, size);
	return new + (*nr)++ *size;
}

static const char *add_number(int64_t **list, size_t *nr, const char *value)
{
	char *end;
	int64_t *slot;

	do {
		errno = 0;
		slot = append(list, nr, sizeof(**list));
		if (!slot)
			return "out of memory";
		*slot = strtoll(value, &end, 10);
		if (end == value || (*end && *end != ',') || errno)
			return "is no list of numbers";
		value = end + 1;
	} while (*end);
	return NULL;
}

static const char *add_mm(struct filter *f, const char *value)
{
	char *end;
	uint64_t *slot = append(&f->mms, &f->nr_mms, sizeof(*slot));

	if (!slot)
		return "out of memory";
	errno = 0;
	*slot = strtoull(value, &end, 16);
	return end == value || *end || errno ? "is no hexadecimal address" : NULL;
}

static const char *add_addr(struct filter *f, const char *value)
{
	struct filter_range *r = append(&f->addrs, &f->nr_addrs, sizeof(*r));
	const char *second = strchr(value, '-');
	char *end;

	if (!r)
		return "out of memory";
	if (!second)
		return "is not START-END";
	errno = 0;
	r->start = strtoull(value, &end, 16);
	if (end != second || end == value || errno)
		return "is not START-END in hexadecimal";
	r->end = strtoull(++second, &end, 16);
	if (end == second || *end || errno)
		return "is not START-END in hexadecimal";
	return r->start < r->end ? NULL : "ends before it starts";
}

static bool is_decimal(const char *s, size_t len)
{
	size_t dots = 0;

	for (size_t i = 0; i < len; i++) {
		if (s[i] == '.')
			dots++;
		else if (!isdigit((unsigned char)s[i]))
			return false;
	}
	return dots <= 1 && (!len || len > dots);
}

static const char *add_time(struct filter *f, const char *value)
{
	const char *dash = strchr(value, '-');

	if (!dash || !is_decimal(value, dash - value) || !is_decimal(dash + 1, strlen(dash + 1)))
		return "is not START-END in seconds";
	f->has_time = true;
	f->time_start = value;
	f->time_end = dash + 1;
	return NULL;
}

/* Find the word up to the next comma among @names. Returns its number or -1. */
static int find_word(const char *word, size_t len, const char *const *names, int nr)
{
	for (int i = 0; i < nr; i++) {
		if (strlen(names[i]) == len && !strncmp(names[i], word, len))
			return i;
	}
	return -1;
}

static const char *add_class(struct filter *f, const char *value)
{
	for (;;) {
		size_t len = strcspn(value, ",");
		int class = find_word(value, len, fault_class_names, NR_CLASSES);

		if (class < 0)
			return "is no list of classes";
		f->classes |= 1u << class;
		if (!value[len])
			return NULL;
		value += len + 1;
	}
}

static const char *add_order(struct filter *f, const char *value)
{
	char *end;

	do {
		long order = strtol(value, &end, 10);

		if (end == value || (*end && *end != ',') || order < 0 || order >= ORDER_UNKNOWN)
			return "is no list of folio orders";
		f->orders |= 1u << order;
		value = end + 1;
	} while (*end);
	return NULL;
}

static const char *add_comm(struct filter *f, const char *value)
{
	const char **slot = append(&f->comms, &f->nr_comms, sizeof(*slot));

	if (!slot)
		return "out of memory";
	*slot = value;
	return NULL;
}

const char *filter_add(struct filter *f, const char *name, const char *value)
{
	struct filter_text *t = append(&f->texts, &f->nr_texts, sizeof(*t));

	if (!t)
		return "out of memory";
	t->name = name;
	t->value = value;
	if (!strcmp(name, "pid"))
		return add_number(&f->pids, &f->nr_pids, value);
	if (!strcmp(name, "cpu"))
		return add_number(&f->cpus, &f->nr_cpus, value);
	if (!strcmp(name, "comm"))
		return add_comm(f, value);
	if (!strcmp(name, "mm"))
		return add_mm(f, value);
	if (!strcmp(name, "addr"))
		return add_addr(f, value);
	if (!strcmp(name, "time"))
		return add_time(f, value);
	if (!strcmp(name, "class"))
		return add_class(f, value);
	if (!strcmp(name, "order"))
		return add_order(f, value);
	return "is no filter";
}

static bool in_numbers(const int64_t *list, size_t nr, int64_t value)
{
	for (size_t i = 0; i < nr; i++) {
		if (list[i] == value)
			return true;
	}
	return !nr;
}

static bool in_comms(const struct filter *f, const char *name)
{
	for (size_t i = 0; i < f->nr_comms; i++) {
		if (!strcmp(f->comms[i], name))
			return true;
	}
	return false;
}

static bool in_addrs(const struct filter *f, const struct fault *fault)
{
	for (size_t i = 0; i < f->nr_addrs && fault->has_address; i++) {
		if (fault->address >= f->addrs[i].start && fault->address < f->addrs[i].end)
			return true;
	}
	return !f->nr_addrs;
}

static bool in_mms(const struct filter *f, uint64_t mm)
{
	for (size_t i = 0; i < f->nr_mms; i++) {
		if (f->mms[i] == mm)
			return true;
	}
	return !f->nr_mms;
}

/* "12.000345" in ns, or in ticks without its fraction; up to @end, exclusive of it. */
static uint64_t parse_time(const char *s, bool time_is_ns)
{
	uint64_t value = 0;
	int digits = 0;

	for (; isdigit((unsigned char)*s); s++)
		value = 10 * value + (*s - '0');
	if (!time_is_ns)
		return value;
	if (*s == '.')
		s++;
	for (; digits < NS_DIGITS; digits++) {
		value *= 10;
		if (isdigit((unsigned char)*s))
			value += *s++ - '0';
	}
	return value;
}

static bool in_time(const struct filter *f, uint64_t ts, bool time_is_ns)
{
	if (!f->has_time)
		return true;
	if (isdigit((unsigned char)*f->time_start) || *f->time_start == '.') {
		if (ts < parse_time(f->time_start, time_is_ns))
			return false;
	}
	return !*f->time_end || ts < parse_time(f->time_end, time_is_ns);
}

bool filter_fault(const struct filter *f, const struct fault *fault, const struct comms *comms,
		  bool time_is_ns)
{
	return in_numbers(f->pids, f->nr_pids, fault->pid) &&
	       in_numbers(f->cpus, f->nr_cpus, fault->cpu) && in_addrs(f, fault) &&
	       in_mms(f, fault->mm) && in_time(f, fault->entry, time_is_ns) &&
	       (!f->nr_comms || in_comms(f, comms_find(comms, fault->pid)));
}

bool filter_key(const struct filter *f, const struct fault_key *key)
{
	return (!f->classes || f->classes >> key->class & 1) &&
	       (!f->orders || f->orders >> key->order & 1);
}

void filter_release(struct filter *f)
{
	free(f->texts);
	free(f->pids);
	free(f->cpus);
	free(f->comms);
	free(f->mms);
	free(f->addrs);
	*f = (struct filter){ 0 };
}
