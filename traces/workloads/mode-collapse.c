// SPDX-License-Identifier: GPL-2.0-or-later
/* Mode collapse: small folios become 2M ones, by MADV_COLLAPSE or khugepaged, in a writable VMA or
 * not. */
#include "workload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

#define FULL_SCANS	   "/sys/kernel/mm/transparent_hugepage/khugepaged/full_scans"
#define NR_FULL_SCANS	   3
#define KHUGEPAGED_SECONDS 20

/* Returns how many 2M blocks were refused, and the last reason in *err. */
static size_t collapse_by_madvise(const struct region *r, int *err)
{
	size_t nr_refused = 0;

	for (size_t offset = 0; offset < r->size_bytes; offset += PMD_BYTES) {
		if (!madvise(r->start + offset, PMD_BYTES, MADV_COLLAPSE))
			continue;
		*err = errno;
		nr_refused++;
	}
	return nr_refused;
}

static unsigned long full_scans(void)
{
	char text[32];

	read_file(FULL_SCANS, text, sizeof(text));
	return strtoul(text, NULL, 10);
}

/* Until all of the region is collapsed, or khugepaged has scanned all there is some times over. */
static size_t wait_for_khugepaged(const struct region *r)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	unsigned long end = full_scans() + NR_FULL_SCANS;
	struct census c;

	for (unsigned int i = 0;; i++) {
		region_census(r, &c);
		if (c.pmd_mapped_bytes == r->size_bytes || full_scans() >= end)
			break;
		if (i == KHUGEPAGED_SECONDS * 100)
			die("khugepaged does not scan");
		nanosleep(&pause, NULL);
	}
	return (r->size_bytes - c.pmd_mapped_bytes) / PMD_BYTES;
}

void mode_collapse(const struct options *opts)
{
	struct region r;
	struct phase *p;
	struct census after;
	size_t nr_refused;
	int err = 0;

	thp_allow_only(PAGE_BYTES, "madvise");
	r = region_map(opts);
	p = phase_new(opts, &r, false);
	p->exact_faults = true;
	phase_warm(p);
	phase_begin(p);
	region_populate(&r);
	phase_end(p);
	phase_print(p, "populate");
	if (opts->read_only && mprotect(r.start, r.size_bytes, PROT_READ))
		die("mprotect: %s", strerror(errno));
	if (opts->khugepaged)
		thp_khugepaged_fast();
	thp_allow_only(PMD_BYTES, "madvise");

	p = phase_new(opts, &r, true);
	phase_warm(p);
	phase_begin(p);
	if (madvise(r.start, r.size_bytes, MADV_HUGEPAGE))
		die("MADV_HUGEPAGE: %s", strerror(errno));
	nr_refused = opts->khugepaged ? wait_for_khugepaged(&r) : collapse_by_madvise(&r, &err);
	phase_end(p);
	region_census(&r, &after);
	snprintf(
		p->more, sizeof(p->more),
		", \"by\": \"%s\", \"read_only\": %s, \"collapsed_bytes\": %zu, \"refused\": %zu, \"error\": \"%s\"",
		opts->khugepaged ? "khugepaged" : "madvise", opts->read_only ? "true" : "false",
		after.pmd_mapped_bytes, nr_refused, err ? strerror(err) : "");
	phase_print(p, "collapse");
	region_check_content(opts, &r, false);
}
