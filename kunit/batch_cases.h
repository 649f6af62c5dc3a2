/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which PTEs does one write fault resolve? A table in plain C, so that the KUnit suite can ask a
 * kernel and the analyzer's model can be asked in user space.
 *
 * Each case is about one anonymous folio of four pages in a private, writable VMA. Its PTEs are
 * written as four characters:
 *
 *	w	writable, the page is exclusive
 *	x	read-only, the page is exclusive
 *	r	read-only, the page may be shared
 *	n	NUMA-hinting
 *	u	userfaultfd write-protected
 *	p	userfaultfd read-write-protected
 *	.	none
 *	c	a copy of the page, writable and exclusive
 *	e	a copy of the page, read-only and exclusive
 *	C	the page of a copy of the whole folio, writable and exclusive
 */
#ifndef BATCH_CASES_H
#define BATCH_CASES_H

enum fault_kind {
	FAULT_STORE,
	FAULT_FORCE,		/* a store with FOLL_FORCE to a VMA without VM_WRITE */
	FAULT_UNSHARE,		/* a read-only pin wants the page for itself: FAULT_FLAG_UNSHARE */
};

enum folio_users {
	USED_ALONE,		/* by this mm, after the other mm of a fork is gone */
	USED_BY_CHILD,		/* the other mm of a fork still maps all of it */
	USED_BY_KERNEL,		/* one reference more than there are mappings, such as a pin */
};

struct write_fault_case {
	const char *name;
	const char *before;
	unsigned int page;	/* that the fault is on */
	enum fault_kind kind;
	enum folio_users users;
	const char *single;	/* after it, where a fault resolves its own PTE alone */
	const char *reused;	/* after it, where a reuse fault resolves the folio */
	const char *copied;	/* after it, where a copy takes the folio, and reuse one PTE */
};

static const struct write_fault_case write_fault_cases[] = {
	{ "alone, first page", "rrrr", 0, FAULT_STORE, USED_ALONE, "wrrr", "wwww", "wrrr" },
	{ "alone, middle page", "rrrr", 2, FAULT_STORE, USED_ALONE, "rrwr", "wwww", "rrwr" },
	{ "alone, last page", "rrrr", 3, FAULT_STORE, USED_ALONE, "rrrw", "wwww", "rrrw" },
	{ "writable neighbours", "wrrw", 1, FAULT_STORE, USED_ALONE, "wwrw", "wwww", "wwrw" },
	{ "exclusive neighbours", "xrxr", 1, FAULT_STORE, USED_ALONE, "xwxr", "wwww", "xwxr" },
	{ "page known to be exclusive", "rxrr", 1, FAULT_STORE, USED_ALONE,
	  "rwrr", "rwrr", "rwrr" },
	{ "only one left", "wwrw", 2, FAULT_STORE, USED_ALONE, "wwww", "wwww", "wwww" },
	{ "NUMA-hinting neighbour", "rnrr", 0, FAULT_STORE, USED_ALONE, "wnrr", "wnww", "wnrr" },
	{ "uffd-wp neighbour", "rurr", 2, FAULT_STORE, USED_ALONE, "ruwr", "wuww", "ruwr" },
	{ "uffd-rwp neighbour", "rrpr", 0, FAULT_STORE, USED_ALONE, "wrpr", "wwpw", "wrpr" },
	{ "hole", "r.rr", 0, FAULT_STORE, USED_ALONE, "w.rr", "w.ww", "w.rr" },
	{ "one page mapped", "r...", 0, FAULT_STORE, USED_ALONE, "c...", "c...", "c..." },
	{ "shared", "rrrr", 1, FAULT_STORE, USED_BY_CHILD, "rcrr", "rcrr", "CCCC" },
	{ "shared, exclusive neighbour", "rrxr", 1, FAULT_STORE, USED_BY_CHILD,
	  "rcxr", "rcxr", "rcxr" },
	{ "shared, NUMA-hinting neighbour", "rrnr", 0, FAULT_STORE, USED_BY_CHILD,
	  "crnr", "crnr", "crnr" },
	{ "shared, uffd-wp neighbour", "urrr", 1, FAULT_STORE, USED_BY_CHILD,
	  "ucrr", "ucrr", "ucrr" },
	{ "shared, hole", "r.rr", 2, FAULT_STORE, USED_BY_CHILD, "r.cr", "r.cr", "r.cr" },
	{ "extra reference", "rrrr", 1, FAULT_STORE, USED_BY_KERNEL, "rcrr", "rcrr", "CCCC" },
	{ "extra reference, exclusive", "rxrr", 1, FAULT_STORE, USED_BY_KERNEL,
	  "rwrr", "rwrr", "rwrr" },
	{ "without VM_WRITE", "rrrr", 1, FAULT_FORCE, USED_ALONE, "rxrr", "rxrr", "rxrr" },
	{ "without VM_WRITE, shared", "rrrr", 1, FAULT_FORCE, USED_BY_CHILD,
	  "rerr", "rerr", "rerr" },
	{ "unshare, alone", "rrrr", 1, FAULT_UNSHARE, USED_ALONE, "rxrr", "rxrr", "rxrr" },
	{ "unshare, shared", "rrrr", 1, FAULT_UNSHARE, USED_BY_CHILD, "rerr", "rerr", "rerr" },
};

#endif /* BATCH_CASES_H */
