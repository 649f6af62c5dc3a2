/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the rooms of fault-workload share: options, the region under test, phases, and the modes. */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#define PAGE_BYTES 4096u
#define PMD_BYTES  (2u << 20)
#define PMD_PAGES  (PMD_BYTES / PAGE_BYTES)

enum store_kind {
	STORE_BYTE,   /* one byte a page, each store timed by a clock read before and after */
	STORE_LOOP,   /* one byte a page, ascending, nothing between */
	STORE_FENCE,  /* as STORE_LOOP, a full memory fence after each store */
	STORE_MEMSET, /* every byte */
	STORE_READ,   /* read a byte of the page, then store to it */
	STORE_RANDOM, /* nr_threads threads, each a random share of the pages in random order */
	NR_STORE_KINDS
};

struct options {
	const char *mode;
	size_t size_bytes;
	size_t folio_bytes; /* of the anonymous folios; PAGE_BYTES: no THP */
	bool by_ptes;	    /* map a 2M folio by 512 PTEs */
	enum store_kind store;
	size_t every;		  /* store to one page in this many */
	unsigned int nr_threads;  /* STORE_RANDOM */
	unsigned int nr_children; /* usemem */
	unsigned int repeat;	  /* fork */
	bool khugepaged;	  /* collapse: by khugepaged, else MADV_COLLAPSE */
	bool read_only;		  /* collapse: a VMA without PROT_WRITE */
	const char *file;	  /* reclaim: a file to make, on a file system with large folios */
	const char *cgroup;	  /* reclaim: a memory cgroup to make and move to */
	size_t reclaim_bytes;	  /* reclaim: how much to ask for */
	const char *server;	  /* redis: the program */
};

/* Memory under test. Starts at a multiple of 2M, a VMA of its own. */
struct region {
	char *start;
	size_t size_bytes;
};

/* How a region is backed: pages of it by folio order, and what PMDs map. */
struct census {
	size_t nr_pages[10]; /* index: folio order, 0 to 9 */
	size_t nr_absent;
	size_t pmd_mapped_bytes;
};

#define MAX_VMSTAT 512

struct counters {
	uint64_t ns;
	long minflt;
	long majflt;
	size_t nr_vmstat;
	uint64_t vmstat[MAX_VMSTAT];
};

/* Times of single stores; in memory that fork shares, so that filling it takes no fault. */
struct store_times {
	size_t nr;
	uint32_t ns[];
};

/*
 * One line of the oracle. All of it lives in shared memory that was touched before the phase
 * begins. exact_faults: the phase takes no fault outside the region, so ru_minflt + ru_majflt is
 * what a recording must show there.
 */
struct phase {
	const struct options *opts;
	pid_t task;	      /* whose faults are counted: 0 is this process */
	struct region region; /* size 0: all of the task's memory */
	struct census census; /* as the phase begins */
	struct counters before;
	struct counters after;
	bool exact_faults;
	struct store_times *times; /* NULL: no store was timed */
	size_t max_times;
	char more[256]; /* further JSON members, ", \"key\": value" */
};

/* All of these end the program with one line on stderr where something fails, unless they say
 * otherwise. */

_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Writes text to a file of sysfs, procfs or cgroupfs; returns 0 or -errno. */
int write_file(const char *path, const char *text);
/* Reads at most size - 1 bytes and ends them with '\0'; returns the length. */
size_t read_file(const char *path, char *buf, size_t size);
/* Zeroed and touched memory that fork shares. */
void *shared_alloc(size_t size_bytes);

/* Waits for a child that must end well. */
void wait_for(pid_t pid);
/* The next number of xorshift64: the same on every machine. */
uint64_t random_next(uint64_t *state);
#define RANDOM_SEED 88172645463325252ull

/* Allows anonymous folios of this size alone, where ("madvise", "always") the kernel's setting
 * says; PAGE_BYTES: of no size. Undone at exit. */
void thp_allow_only(size_t folio_bytes, const char *where);
/* Lets khugepaged scan with short pauses, many pages at a time. Undone at exit. */
void thp_khugepaged_fast(void);

/* Reserves address space and makes the middle of it a VMA that ends at its own bounds. */
struct region region_map(const struct options *opts);
/* First store to every page: page number at the page's start. */
void region_populate(const struct region *r);
/* Maps 2M folios by PTEs: a change of protection of one page splits the PMD and leaves the folio.
 */
void region_split_pmds(const struct region *r);
void region_census(const struct region *r, struct census *c);
/* Dies unless all of the region is backed by folios of the wanted size, mapped the wanted way. */
void region_check(const struct options *opts, const struct region *r, const struct census *c);
/* Dies unless each page holds what populate and, where stored says so, the stores left in it. */
void region_check_content(const struct options *opts, const struct region *r, bool stored);

const char *store_name(enum store_kind kind);
/* Returns NR_STORE_KINDS for an unknown name. */
enum store_kind store_by_name(const char *name);
/* How many pages the stores of these options write. */
size_t store_nr_pages(const struct options *opts, size_t size_bytes);
/* Takes the phase's counters around the stores; threads exist and are warm before it begins. */
void store_run(struct phase *p);

/* The region's census is taken and, with check, judged; NULL: no region. */
struct phase *phase_new(const struct options *opts, const struct region *r, bool check);
/* Runs everything a phase touches once, so that the phase itself faults in the region alone. */
void phase_warm(struct phase *p);
void phase_begin(struct phase *p);
void phase_end(struct phase *p);
/* One JSON object on one line of stdout, flushed. */
void phase_print(const struct phase *p, const char *name);

void mode_populate(const struct options *opts);
void mode_reuse(const struct options *opts);
void mode_cow(const struct options *opts);
void mode_fork(const struct options *opts);
void mode_unmap(const struct options *opts);
void mode_dontneed(const struct options *opts);
void mode_usemem(const struct options *opts);
void mode_reclaim(const struct options *opts);
void mode_collapse(const struct options *opts);
void mode_redis(const struct options *opts);

#endif
