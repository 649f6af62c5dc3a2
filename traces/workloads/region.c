// SPDX-License-Identifier: GPL-2.0-or-later
/* The memory under test: mapped, filled, checked; what backs it is read from the kernel, never
 * assumed. */
#include "workload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Bits of /proc/PID/pagemap and /proc/kpageflags, Documentation/admin-guide/mm/pagemap.rst. */
#define PM_PRESENT    (1ull << 63)
#define PM_PFN(entry) ((entry) & ((1ull << 55) - 1))
#define KPF_TAIL      (1ull << 16)
#define KPF_HEAD      (1ull << 15)

struct region region_map(const struct options *opts)
{
	struct region r = { .size_bytes = opts->size_bytes };
	char *space = mmap(NULL, r.size_bytes + 2 * PMD_BYTES, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int advice = opts->folio_bytes == PAGE_BYTES ? MADV_NOHUGEPAGE : MADV_HUGEPAGE;

	if (space == MAP_FAILED)
		die("no address space for %zu bytes: %s", r.size_bytes, strerror(errno));
	/* At least one inaccessible page stays on both sides: no neighbour merges with the VMA. */
	r.start = (char *)(((uintptr_t)space + PMD_BYTES) & ~(uintptr_t)(PMD_BYTES - 1));
	if (mprotect(r.start, r.size_bytes, PROT_READ | PROT_WRITE) ||
	    madvise(r.start, r.size_bytes, advice))
		die("cannot map the region: %s", strerror(errno));
	return r;
}

static uint64_t page_mark(size_t page)
{
	return 0x5041474500000000ull | page; /* "PAGE" */
}

void region_populate(const struct region *r)
{
	for (size_t page = 0; page < r->size_bytes / PAGE_BYTES; page++)
		*(volatile uint64_t *)(r->start + page * PAGE_BYTES) = page_mark(page);
}

void region_split_pmds(const struct region *r)
{
	for (size_t offset = 0; offset < r->size_bytes; offset += PMD_BYTES) {
		if (mprotect(r->start + offset, PAGE_BYTES, PROT_READ) ||
		    mprotect(r->start + offset, PAGE_BYTES, PROT_READ | PROT_WRITE))
			die("mprotect: %s", strerror(errno));
	}
}

static int open_ro(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		die("%s: %s", path, strerror(errno));
	return fd;
}

/* Flags of the 2M-aligned block of page frames around pfn. No folio here is larger or crosses one.
 */
static const uint64_t *block_flags(int fd, uint64_t pfn)
{
	static uint64_t flags[PMD_PAGES];
	uint64_t first = pfn & ~(uint64_t)(PMD_PAGES - 1);
	ssize_t n;

	memset(flags, 0, sizeof(flags));
	n = pread(fd, flags, sizeof(flags), first * sizeof(flags[0]));
	if (n < 0 || (size_t)n <= (pfn - first) * sizeof(flags[0]))
		die("/proc/kpageflags: no flags for page frame %llu", (unsigned long long)pfn);
	return flags;
}

static unsigned int folio_order(const uint64_t *flags, unsigned int at)
{
	unsigned int first = at, end, order = 0;

	while (flags[first] & KPF_TAIL && first > 0)
		first--;
	if (!(flags[first] & KPF_HEAD))
		return 0;
	for (end = first + 1; end < PMD_PAGES && flags[end] & KPF_TAIL;)
		end++;
	while (1u << order < end - first)
		order++;
	return order;
}

static size_t pmd_mapped_bytes(const struct region *r)
{
	unsigned long start, end;
	size_t kb, sum_kb = 0;
	bool inside = false;
	char line[512];
	FILE *f = fopen("/proc/self/smaps", "r");

	if (!f)
		die("/proc/self/smaps: %s", strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			inside = start < (uintptr_t)r->start + r->size_bytes &&
				 end > (uintptr_t)r->start;
		else if (inside && (sscanf(line, "AnonHugePages: %zu kB", &kb) == 1 ||
				    sscanf(line, "FilePmdMapped: %zu kB", &kb) == 1))
			sum_kb += kb;
	}
	fclose(f);
	return sum_kb << 10;
}

void region_census(const struct region *r, struct census *c)
{
	static uint64_t entries[PMD_PAGES];
	const uint64_t *flags = NULL;
	uint64_t pfn, block = 0;
	int pagemap = open_ro("/proc/self/pagemap");
	int kpageflags = open_ro("/proc/kpageflags");

	memset(c, 0, sizeof(*c));
	for (size_t page = 0; page < r->size_bytes / PAGE_BYTES; page++) {
		if (page % PMD_PAGES == 0 && pread(pagemap, entries, sizeof(entries),
						   ((uintptr_t)r->start / PAGE_BYTES + page) *
							   sizeof(entries[0])) != sizeof(entries))
			die("/proc/self/pagemap: %s", strerror(errno));
		if (!(entries[page % PMD_PAGES] & PM_PRESENT)) {
			c->nr_absent++;
			continue;
		}
		pfn = PM_PFN(entries[page % PMD_PAGES]);
		if (!pfn)
			die("/proc/self/pagemap hides page frames: run as root");
		if (!flags || block != pfn / PMD_PAGES) {
			block = pfn / PMD_PAGES;
			flags = block_flags(kpageflags, pfn);
		}
		c->nr_pages[folio_order(flags, pfn % PMD_PAGES)]++;
	}
	close(pagemap);
	close(kpageflags);
	c->pmd_mapped_bytes = pmd_mapped_bytes(r);
}

void region_check(const struct options *opts, const struct region *r, const struct census *c)
{
	size_t nr_pages = r->size_bytes / PAGE_BYTES;
	size_t pmd_bytes = opts->folio_bytes == PMD_BYTES && !opts->by_ptes ? r->size_bytes : 0;
	unsigned int order = 0;

	while (PAGE_BYTES << order < opts->folio_bytes)
		order++;
	if (c->nr_pages[order] != nr_pages)
		die("only %zu of %zu pages lie in folios of %zu KiB", c->nr_pages[order], nr_pages,
		    opts->folio_bytes >> 10);
	if (c->pmd_mapped_bytes != pmd_bytes)
		die("%zu bytes are mapped by PMDs, not %zu", c->pmd_mapped_bytes, pmd_bytes);
}

void region_check_content(const struct options *opts, const struct region *r, bool stored)
{
	for (size_t page = 0; page < r->size_bytes / PAGE_BYTES; page++) {
		const char *at = r->start + page * PAGE_BYTES;
		bool here = stored && page % opts->every == 0;
		bool filled = here && opts->store == STORE_MEMSET;
		uint64_t mark = filled ? 0x0101010101010101ull : page_mark(page);
		unsigned char byte = here ? 1 : 0;

		if (*(const uint64_t *)at != mark || at[PAGE_BYTES / 2] != byte ||
		    at[PAGE_BYTES - 1] != (filled ? 1 : 0))
			die("page %zu of the region does not hold what was written to it", page);
	}
}
