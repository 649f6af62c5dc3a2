// SPDX-License-Identifier: GPL-2.0-or-later
/* Which faults are counted: what the user asks for with --pid, --addr and the like. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"
#include "hist.h"
#include "size.h"

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

static bool parse_number(const char *value, char **end, uint64_t *number)
{
	errno = 0;
	*number = strtoll(value, end, 10);
	return isdigit((unsigned char)*value) && !errno;
}

/* "3" and "0-3", between commas. */
static const char *add_numbers(struct filter_range **list, size_t *nr, const char *value)
{
	char *end;

	do {
		struct filter_range *r = append(list, nr, sizeof(*r));
		uint64_t last;
		bool good;

		if (!r)
			return "out of memory";
		good = parse_number(value, &end, &r->start);
		last = r->start;
		if (good && *end == '-')
			good = parse_number(end + 1, &end, &last);
		if (!good || (*end && *end != ','))
			return "is no list of numbers";
		if (last < r->start)
			return "ends before it starts";
		r->end = last + 1;
		value = end + 1;
	} while (*end);
	return NULL;
}

/* A hexadecimal number up to @end, which follows it. */
static bool parse_hex(const char *value, const char *end, uint64_t *number)
{
	char *stop;

	errno = 0;
	*number = strtoull(value, &stop, 16);
	return isxdigit((unsigned char)*value) && stop == end && !errno;
}

static const char *add_mm(struct filter *f, const char *value)
{
	uint64_t *slot = append(&f->mms, &f->nr_mms, sizeof(*slot));

	if (!slot)
		return "out of memory";
	return parse_hex(value, value + strlen(value), slot) ? NULL : "is no hexadecimal address";
}

static const char *check_bounds(uint64_t start, uint64_t end)
{
	return start < end ? NULL : start == end ? "is empty" : "ends before it starts";
}

static const char *add_addr(struct filter *f, const char *value)
{
	struct filter_range *r = append(&f->addrs, &f->nr_addrs, sizeof(*r));
	const char *dash = strchr(value, '-');

	if (!r)
		return "out of memory";
	if (!dash || !parse_hex(value, dash, &r->start) ||
	    !parse_hex(dash + 1, value + strlen(value), &r->end))
		return "is not START-END in hexadecimal";
	return check_bounds(r->start, r->end);
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

/* "12.000345" in ns, or in ticks without its fraction; UINT64_MAX when it is more. */
static uint64_t parse_time(const char *s, bool time_is_ns)
{
	uint64_t value = 0;
	int digits = 0;

	for (; isdigit((unsigned char)*s); s++)
		value = counter_add(counter_mul(value, 10), *s - '0');
	if (!time_is_ns)
		return value;
	if (*s == '.')
		s++;
	for (; digits < NS_DIGITS; digits++) {
		value = counter_mul(value, 10);
		if (isdigit((unsigned char)*s))
			value = counter_add(value, *s++ - '0');
	}
	return value;
}

static const char *add_time(struct filter *f, const char *value)
{
	struct filter_time *t = append(&f->times, &f->nr_times, sizeof(*t));
	const char *dash = strchr(value, '-');

	if (!t)
		return "out of memory";
	if (!dash || !value[1] || !is_decimal(value, dash - value) ||
	    !is_decimal(dash + 1, strlen(dash + 1)))
		return "is not START-END in seconds";
	t->start = value;
	t->end = dash + 1;
	return *t->end ? check_bounds(parse_time(t->start, true), parse_time(t->end, true)) : NULL;
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

/* "4" or "64K": log2 of pages or, where *is_size, of bytes; negative when it is neither. */
static int parse_order(const char *value, char **end, bool *is_size)
{
	uint64_t n;

	if (!parse_number(value, end, &n))
		return -EINVAL;
	*is_size = **end && strchr("KkMmGg", **end);
	if (!*is_size)
		return n < ORDER_UNKNOWN ? (int)n : -EINVAL;
	n = size_parse(value, end);
	return n && !(n & (n - 1)) ? __builtin_ctzll(n) : -EINVAL;
}

static const char *add_orders(struct filter *f, const char *value)
{
	char *end;

	do {
		bool is_size, last_is_size;
		int first = parse_order(value, &end, &is_size), last = first;

		last_is_size = is_size;
		if (first >= 0 && *end == '-')
			last = parse_order(end + 1, &end, &last_is_size);
		if (first < 0 || last < 0 || is_size != last_is_size || (*end && *end != ','))
			return "is no list of folio orders or sizes";
		if (last < first)
			return "ends before it starts";
		for (; first <= last; first++)
			*(is_size ? &f->sizes : &f->orders) |= 1ull << first;
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
	return *value ? NULL : "is no name";
}

const char *filter_add(struct filter *f, const char *name, const char *value)
{
	struct filter_text *t = append(&f->texts, &f->nr_texts, sizeof(*t));

	if (!t)
		return "out of memory";
	t->name = name;
	t->value = value;
	if (!strcmp(name, "pid"))
		return add_numbers(&f->pids, &f->nr_pids, value);
	if (!strcmp(name, "cpu"))
		return add_numbers(&f->cpus, &f->nr_cpus, value);
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
		return add_orders(f, value);
	return "is no filter";
}

static bool in_ranges(const struct filter_range *list, size_t nr, uint64_t value)
{
	for (size_t i = 0; i < nr; i++) {
		if (value >= list[i].start && value < list[i].end)
			return true;
	}
	return !nr;
}

/* Whether @name is in the list, or all of it: a name may hold commas. */
static bool is_in_list(const char *list, const char *name)
{
	size_t len = strlen(name);

	if (!strcmp(list, name))
		return true;
	for (; len; list++) {
		size_t word = strcspn(list, ",");

		if (word == len && !strncmp(list, name, len))
			return true;
		list += word;
		if (!*list)
			break;
	}
	return false;
}

bool filter_comm(const struct filter *f, const char *name)
{
	for (size_t i = 0; i < f->nr_comms; i++) {
		if (is_in_list(f->comms[i], name))
			return true;
	}
	return !f->nr_comms;
}

static bool in_addrs(const struct filter *f, const struct fault *fault)
{
	return !f->nr_addrs ||
	       (fault->has_address && in_ranges(f->addrs, f->nr_addrs, fault->address));
}

static bool in_mms(const struct filter *f, uint64_t mm)
{
	for (size_t i = 0; i < f->nr_mms; i++) {
		if (f->mms[i] == mm)
			return true;
	}
	return !f->nr_mms;
}

static bool in_times(const struct filter *f, uint64_t ts, bool time_is_ns)
{
	for (size_t i = 0; i < f->nr_times; i++) {
		const struct filter_time *t = &f->times[i];

		if (ts >= parse_time(t->start, time_is_ns) &&
		    (!*t->end || ts < parse_time(t->end, time_is_ns)))
			return true;
	}
	return !f->nr_times;
}

bool filter_fault(const struct filter *f, const struct fault *fault, const struct comms *comms,
		  bool time_is_ns)
{
	return in_ranges(f->pids, f->nr_pids, fault->pid) &&
	       in_ranges(f->cpus, f->nr_cpus, fault->cpu) && in_addrs(f, fault) &&
	       in_mms(f, fault->mm) && in_times(f, fault->entry, time_is_ns) &&
	       (!f->nr_comms || filter_comm(f, comms_find(comms, fault->pid)));
}

void filter_set_page_size(struct filter *f, uint32_t page_size)
{
	const uint64_t known = (1u << ORDER_UNKNOWN) - 1;

	f->orders_here = f->orders | (f->sizes >> __builtin_ctz(page_size) & known);
}

bool filter_key(const struct filter *f, const struct fault_key *key)
{
	return (!f->classes || f->classes >> key->class & 1) &&
	       (!(f->orders | f->sizes) || f->orders_here >> key->order & 1);
}

void filter_release(struct filter *f)
{
	free(f->texts);
	free(f->pids);
	free(f->cpus);
	free(f->comms);
	free(f->mms);
	free(f->addrs);
	free(f->times);
	*f = (struct filter){ 0 };
}
