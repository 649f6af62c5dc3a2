/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The words of the field as plain data: what a fault was, what the model made of it, and what an
 * episode of a folio cost. No code lives here; every stage from `faults` on speaks these types.
 *
 * Times are in the recording's own unit: ns, or ticks where the clock counts something else.
 */
#ifndef FAULT_H
#define FAULT_H

#include <stdbool.h>
#include <stdint.h>

/* What a fault was for. The names that users see are in fault_class_names[]. */
enum fault_class {
	CLASS_MAP,	/* populated an anonymous page or folio */
	CLASS_REUSE,	/* made an exclusive anonymous page writable again */
	CLASS_COW,	/* copied; see enum cow_from */
	CLASS_SPURIOUS, /* the PTE already allowed the access */
	CLASS_ACCESS,	/* fixed young or dirty */
	CLASS_FILE,	/* mapped page cache */
	CLASS_SHARED,	/* page_mkwrite of a shared mapping */
	CLASS_UNSHARE,	/* GUP broke sharing for reading */
	CLASS_SWAP,	/* brought a page back from swap */
	CLASS_NUMA,	/* NUMA hinting */
	CLASS_UFFD,	/* handed to userfaultfd */
	CLASS_ZERO,	/* mapped the zero page */
	CLASS_RACED,	/* another task had resolved it before this fault ended */
	CLASS_ERROR,	/* ended in a signal or OOM */
	CLASS_UNKNOWN,	/* the recording cannot tell */
	NR_CLASSES
};

enum fault_level {
	LEVEL_PTE,
	LEVEL_PMD,
	NR_LEVELS
};

/* seen: an event of the recording says so. inferred: the model says so. */
enum evidence {
	EVIDENCE_SEEN,
	EVIDENCE_INFERRED,
	NR_EVIDENCE
};

/* What a copy was made from; only anon is a candidate for batching. */
enum cow_from {
	FROM_NONE,
	FROM_ANON,
	FROM_ZERO,
	FROM_FILE,
	NR_FROM
};

/* Where the order of a folio is known from. */
enum folio_source {
	SOURCE_UNKNOWN, /* it is not */
	SOURCE_ALLOC,	/* mm_page_alloc inside the fault */
	SOURCE_PROBE,	/* a probe on the worker that handled the folio */
	SOURCE_ASSUMED, /* --folio-size */
	NR_SOURCES
};

#define ORDER_UNKNOWN 15 /* no folio of this order exists: MAX_PAGE_ORDER is at most 13 */
#define NR_ORDERS     16

#define PID_LIMIT (1 << 22) /* PID_MAX_LIMIT (include/linux/threads.h): no pid is larger */

extern const char *const fault_class_names[NR_CLASSES];
extern const char *const fault_level_names[NR_LEVELS];
extern const char *const evidence_names[NR_EVIDENCE];
extern const char *const cow_from_names[NR_FROM];
extern const char *const folio_source_names[NR_SOURCES];

/* Which row of a report a fault or an episode belongs to. */
struct fault_key {
	uint8_t class;	  /* enum fault_class */
	uint8_t order;	  /* of the folio that the fault was about, or ORDER_UNKNOWN */
	uint8_t level;	  /* enum fault_level */
	uint8_t evidence; /* enum evidence */
	uint8_t from;	  /* enum cow_from, FROM_NONE but for cow */
	uint8_t source;	  /* enum folio_source */
	uint16_t zero;	  /* which makes it a word: keys are compared for every fault */
};

/* One logical fault: what `faults` hands to `model`. Retries are merged into it. */
struct fault {
	uint64_t entry;	     /* time of the first entry */
	uint64_t exit;	     /* time of the last exit; only when has_exit */
	uint64_t latency;    /* exit - entry, retries included; only when has_exit */
	uint64_t address;    /* of the access; only when has_address */
	uint64_t mm;	     /* the mm_struct's address, 0 unknown */
	uint64_t vma_start;  /* 0 when vma_end is 0: unknown */
	uint64_t vma_end;    /* exclusive */
	uint32_t flags;	     /* FAULT_FLAG_*; only when has_flags */
	uint32_t error_code; /* x86 page-fault error code; only when has_error_code */
	int32_t worker_ptes; /* PTEs that a worker's return says it resolved, -1 unknown */
	uint8_t order;	     /* of the last movable user allocation inside, or ORDER_UNKNOWN */
	uint8_t rss;	     /* RSS_* bits: counters that changed inside */
	bool major, remote;
	uint32_t ret; /* VM_FAULT_*; only when has_ret */
	bool has_exit : 1, has_address : 1, has_flags : 1, has_ret : 1, has_error_code : 1;
	bool allocated : 1; /* a movable user page was allocated inside */
	bool counted : 1;   /* passes the filters; the model sees it either way */
	uint32_t retries;
	int32_t pid;  /* common_pid: a thread; see PID_LIMIT */
	uint32_t cpu; /* of the first entry */
};

/* Counters that kmem:rss_stat showed inside the fault, by enum of mm counters. */
#define RSS_FILE  (1u << 0)
#define RSS_ANON  (1u << 1)
#define RSS_SWAP  (1u << 2)
#define RSS_SHMEM (1u << 3)

/* What the kernel's rules say to a write to a read-only anonymous page, in the model's state. */
enum wp_rule {
	WP_NONE,
	WP_REUSE,
	WP_COPY
};

/* What the model made of one fault. */
struct outcome {
	struct fault_key key;
	uint32_t ptes;	     /* PTEs that it made usable, 0 unknown: a batch size */
	uint32_t resolved;   /* the same as the model has it, whatever its evidence */
	uint8_t rule;	     /* enum wp_rule */
	bool avoided;	     /* under a policy: it would not have happened */
	bool was_split;	     /* it shows that the folio's PMD had become PTEs unseen */
	uint32_t split_ptes; /* and under a policy what the fault before had resolved, if counted */
	/* an episode of its key that it was all of, good until the next step; no callback has told
	 * of it */
	const struct episode *whole;
};

/*
 * What one class of faults cost in one episode: one (mm, page table, folio) between two
 * write-protections. Only counted faults are in it.
 */
struct episode {
	struct fault_key key;
	uint64_t mm;
	uint64_t address;  /* of the folio's first PTE here */
	uint64_t first;	   /* time of the first entry */
	int32_t pid;	   /* of the task that took the first fault */
	uint64_t latency;  /* sum; only when timed */
	uint64_t complete; /* first entry to the exit that completed the folio; only when completed
			    */
	uint32_t faults;
	uint32_t ptes; /* that the folio has here */
	uint32_t ptes_touched;
	uint32_t ptes_resolved;
	uint32_t waste_ptes; /* resolved and never used; only when waste_known */
	bool waste_known;
	bool timed;	     /* every fault in it has an exit */
	bool completed;	     /* all PTEs were resolved */
	bool first_of_folio; /* no earlier episode of this class and folio */
};

#endif
