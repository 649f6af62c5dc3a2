// SPDX-License-Identifier: GPL-2.0-or-later
/* From the time stamp in the ring buffer to the time that trace-cmd shows. */
#include <stdlib.h>
#include <string.h>

#include "trace_clock.h"

bool trace_clock_is_ns(const struct trace_clock *c)
{
	/* The kernel's trace_clocks[] that count ns (kernel/trace/trace.c, in_ns). */
	static const char *const ns_clocks[] = { "local", "global", "uptime",	"perf",	   "boot",
						 "tai",	  "mono",   "mono_raw", "tsc2nsec" };

	if (c->tsc2nsec || !c->name)
		return true;
	for (size_t i = 0; i < sizeof(ns_clocks) / sizeof(*ns_clocks); i++) {
		if (!strcmp(c->name, ns_clocks[i]))
			return true;
	}
	return false;
}

bool trace_clock_is_identity(const struct trace_clock *c)
{
	return !c->nr_shifts && !c->tsc2nsec && !c->offset_ns;
}

static uint64_t shift_between(uint64_t ts, uint32_t flags, const struct time_sample *lo,
			      const struct time_sample *hi)
{
	uint64_t correction = lo->offset; /* wraps: hostile samples may overflow, not trap */

	if (flags & TIME_SHIFT_INTERPOLATE) {
		int64_t span = hi->time - lo->time;
		uint64_t part = (ts - lo->time) * ((uint64_t)hi->offset - (uint64_t)lo->offset);

		if (span > 0)
			correction += (int64_t)(part + span / 2) / span;
	}
	return ((ts * lo->scaling) >> lo->fraction) + correction;
}

static uint64_t host_time(const struct trace_clock *c, uint32_t cpu, uint64_t ts)
{
	const struct time_shift *s;
	size_t lo = 0, hi;

	if (cpu >= c->nr_shifts || !c->shifts[cpu].nr)
		return ts;
	s = &c->shifts[cpu];
	if (s->nr == 1)
		return ts + s->samples[0].offset;
	/* the last interval that begins at or before ts; the outer ones reach to infinity */
	hi = s->nr - 1;
	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->samples[mid].time <= ts)
			lo = mid;
		else
			hi = mid;
	}
	return shift_between(ts, c->shift_flags, &s->samples[lo], &s->samples[lo + 1]);
}

/* The low 64 bits of ts * mult >> shift, shift below 64, of a product of 96 bits. */
static uint64_t multiply_shift(uint64_t ts, uint32_t mult, uint32_t shift)
{
	uint64_t low = (ts & UINT32_MAX) * mult;
	uint64_t high = (ts >> 32) * mult;

	if (shift <= 32)
		return (low >> shift) + (high << (32 - shift));
	return (high + (low >> 32)) >> (shift - 32);
}

uint64_t trace_clock_convert(const struct trace_clock *c, uint32_t cpu, uint64_t ts)
{
	ts = host_time(c, cpu, ts);
	if (c->tsc2nsec)
		ts = multiply_shift(ts, c->mult, c->shift);
	return ts + c->offset_ns;
}

static int by_time(const void *a, const void *b)
{
	const struct time_sample *x = a, *y = b;

	return (x->time > y->time) - (x->time < y->time);
}

void time_shift_sort(struct time_shift *s)
{
	size_t out = 0;

	if (!s->nr)
		return;
	qsort(s->samples, s->nr, sizeof(*s->samples), by_time);
	for (size_t i = 0; i < s->nr; i++) {
		if (!i || s->samples[i].time != s->samples[i - 1].time)
			s->samples[out++] = s->samples[i];
	}
	s->nr = out;
}

void trace_clock_release(struct trace_clock *c)
{
	for (size_t i = 0; i < c->nr_shifts; i++)
		free(c->shifts[i].samples);
	free(c->shifts);
	free(c->name);
	*c = (struct trace_clock){ 0 };
}
