/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which faults are counted: what the user asks for with --pid, --addr and the like. */
#ifndef FILTER_H
#define FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "comms.h"
#include "fault.h"

struct filter_range {
	uint64_t start, end; /* end exclusive */
};

struct filter_time {
	const char *start, *end; /* decimal, end exclusive, "" open; point into argv */
};

struct filter_text {
	const char *name, *value; /* as the user gave them; point into argv */
};

/* All zero lets everything pass. */
struct filter {
	struct filter_text *texts; /* owned */
	size_t nr_texts;
	struct filter_range *pids, *cpus; /* owned */
	size_t nr_pids, nr_cpus;
	const char **comms; /* owned; names or lists of them, of argv */
	size_t nr_comms;
	uint64_t *mms; /* owned */
	size_t nr_mms;
	struct filter_range *addrs; /* owned */
	size_t nr_addrs;
	struct filter_time *times; /* owned */
	size_t nr_times;
	uint32_t classes;     /* bit per class, 0 all */
	uint64_t orders;      /* bit per order; without these and sizes all */
	uint64_t sizes;	      /* bit per log2 of bytes */
	uint64_t orders_here; /* both, of the recording's pages */
};

/*
 * Take in one option. NULL, or why @value is wrong. Several of one name add up: any may match; the
 * names are pid, comm, cpu, mm, addr, time, class, order.
 */
const char *filter_add(struct filter *f, const char *name, const char *value);

/* What --order means of the recording that is read next, whose pages have @page_size bytes. */
void filter_set_page_size(struct filter *f, uint32_t page_size);

/* Whether @fault passes all but class and order. Times are ns or, where they are not, ticks. */
bool filter_fault(const struct filter *f, const struct fault *fault, const struct comms *comms,
		  bool time_is_ns);

/* Whether a task called @name passes --comm, if that was given. */
bool filter_comm(const struct filter *f, const char *name);

/* Whether a row passes class and order. */
bool filter_key(const struct filter *f, const struct fault_key *key);

void filter_release(struct filter *f);

#endif
