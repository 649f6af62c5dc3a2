// SPDX-License-Identifier: GPL-2.0-or-later
/* A phase: the kernel's counters around a piece of work, printed as the oracle for a recording of
 * it. */
#include "workload.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define VMSTAT_BYTES 16384

/* The text of /proc/vmstat, in shared memory: the kernel copies it there without a fault. */
static char *vmstat_text;

/* Fills the values in the order of the file. */
static void read_vmstat(struct counters *c)
{
	char *line;

	read_file("/proc/vmstat", vmstat_text, VMSTAT_BYTES);
	c->nr_vmstat = 0;
	for (line = vmstat_text; *line && c->nr_vmstat < MAX_VMSTAT; line = strchr(line, '\n') + 1)
		c->vmstat[c->nr_vmstat++] = strtoull(strchr(line, ' ') + 1, NULL, 10);
}

/* Of one thread of another process, proc_pid_stat(5); its name, in parentheses, may hold any. */
static void read_task_faults(pid_t task, struct counters *c)
{
	char path[64], text[512], *fields;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)task, (int)task);
	read_file(path, text, sizeof(text));
	fields = strrchr(text, ')');
	if (!fields || sscanf(fields, ") %*c %*d %*d %*d %*d %*d %*u %ld %*d %ld", &c->minflt,
			      &c->majflt) != 2)
		die("%s: no fault counts", path);
}

static void read_faults(pid_t task, struct counters *c)
{
	struct rusage usage;

	if (task) {
		read_task_faults(task, c);
		return;
	}
	if (getrusage(RUSAGE_SELF, &usage))
		die("getrusage: %s", strerror(errno));
	c->minflt = usage.ru_minflt;
	c->majflt = usage.ru_majflt;
}

static void read_clock(struct counters *c)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	c->ns = ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* The clock is read last and first, so that the time is the work's alone. */
void phase_begin(struct phase *p)
{
	read_vmstat(&p->before);
	read_faults(p->task, &p->before);
	read_clock(&p->before);
}

void phase_end(struct phase *p)
{
	read_clock(&p->after);
	read_faults(p->task, &p->after);
	read_vmstat(&p->after);
}

struct phase *phase_new(const struct options *opts, const struct region *r, bool check)
{
	struct phase *p = shared_alloc(sizeof(*p));

	if (!vmstat_text)
		vmstat_text = shared_alloc(VMSTAT_BYTES);
	p->opts = opts;
	if (!r)
		return p;
	p->region = *r;
	region_census(r, &p->census);
	if (check)
		region_check(opts, r, &p->census);
	return p;
}

/* Brings all of the program's text in: a fault on it, as after a fork, would count. Holes do not
 * matter. */
static void touch_text(void)
{
	extern char __executable_start[], etext[];
	uintptr_t at = (uintptr_t)__executable_start & ~(uintptr_t)(PAGE_BYTES - 1);

	for (; at < (uintptr_t)etext; at += PAGE_BYTES)
		madvise((void *)at, PAGE_BYTES, MADV_POPULATE_READ);
}

/* Twice: after a fork, what the first round writes to may be copied in its middle. */
void phase_warm(struct phase *p)
{
	touch_text();
	for (int round = 0; round < 2; round++) {
		phase_begin(p);
		phase_end(p);
	}
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Nearest rank. */
static uint32_t quantile(const struct store_times *t, unsigned int percent)
{
	return t->ns[(t->nr * percent + 99) / 100 - 1];
}

static void print_times(struct store_times *t)
{
	qsort(t->ns, t->nr, sizeof(t->ns[0]), by_value);
	printf(", \"store_ns\": {\"count\": %zu, \"p50\": %" PRIu32 ", \"p99\": %" PRIu32
	       ", \"max\": %" PRIu32 "}",
	       t->nr, quantile(t, 50), quantile(t, 99), t->ns[t->nr - 1]);
}

static void print_census(const struct census *c)
{
	const char *comma = "";

	printf(", \"folios\": [");
	for (unsigned int order = 0; order < 10; order++) {
		if (!c->nr_pages[order])
			continue;
		printf("%s{\"bytes\": %u, \"pages\": %zu}", comma, PAGE_BYTES << order,
		       c->nr_pages[order]);
		comma = ", ";
	}
	printf("], \"absent_pages\": %zu, \"pmd_mapped_bytes\": %zu", c->nr_absent,
	       c->pmd_mapped_bytes);
}

/* Counters of events that moved. Gauges (nr_...) tell of the moment, not of the phase. */
static void print_vmstat(const struct phase *p)
{
	const char *comma = "";
	char *line = vmstat_text, *space;
	int64_t delta;

	printf(", \"vmstat\": {");
	read_file("/proc/vmstat", vmstat_text, VMSTAT_BYTES);
	for (size_t i = 0; i < p->after.nr_vmstat; i++, line = strchr(line, '\n') + 1) {
		space = strchr(line, ' ');
		delta = p->after.vmstat[i] - p->before.vmstat[i];
		if (!delta || !strncmp(line, "nr_", 3))
			continue;
		printf("%s\"%.*s\": %" PRId64, comma, (int)(space - line), line, delta);
		comma = ", ";
	}
	printf("}");
}

void phase_print(const struct phase *p, const char *name)
{
	printf("{\"phase\": \"%s\", \"mode\": \"%s\", \"pid\": %d, \"start\": \"%" PRIxPTR
	       "\", \"end\": \"%" PRIxPTR
	       "\", \"bytes\": %zu, \"exact_faults\": %s, \"ru_minflt\": %ld, \"ru_majflt\": %ld, \"from_ns\": %" PRIu64
	       ", \"wall_ns\": %" PRIu64,
	       name, p->opts->mode, (int)(p->task ? p->task : getpid()), (uintptr_t)p->region.start,
	       (uintptr_t)p->region.start + p->region.size_bytes, p->region.size_bytes,
	       p->exact_faults ? "true" : "false", p->after.minflt - p->before.minflt,
	       p->after.majflt - p->before.majflt, p->before.ns, p->after.ns - p->before.ns);
	if (p->times && p->times->nr)
		print_times(p->times);
	if (p->region.size_bytes)
		print_census(&p->census);
	printf("%s", p->more);
	print_vmstat(p);
	printf("}\n");
	fflush(stdout);
}
