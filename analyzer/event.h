/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The events that a fault analysis needs, decoded: what `probes` hands to `faults`. Plain data, so
 * that no stage behind it needs a trace file to be tested.
 */
#ifndef EVENT_H
#define EVENT_H

#include <stdbool.h>
#include <stdint.h>

enum event_role {
	EVENT_NONE,	   /* of no use here */
	EVENT_EXCEPTION,   /* exceptions:page_fault_user or _kernel */
	EVENT_ENTRY,	   /* handle_mm_fault() is entered */
	EVENT_EXIT,	   /* and returns */
	EVENT_ALLOC,	   /* kmem:mm_page_alloc of a movable user page */
	EVENT_RSS,	   /* kmem:rss_stat of the current task's own mm */
	EVENT_WORKER,	   /* a worker's return: the PTEs that it resolved */
	EVENT_FORK_COPY,   /* dup_mmap() is entered */
	EVENT_FORK_COPIED, /* and returns */
	EVENT_FORK,	   /* sched:sched_process_fork or task:task_newtask */
	EVENT_MM_EXIT,	   /* mmap:exit_mmap */
	EVENT_EXEC,	   /* sched:sched_process_exec */
	EVENT_TASK_EXIT,   /* sched:sched_process_exit */
	EVENT_COLLAPSE,	   /* huge_memory:mm_collapse_huge_page succeeded, somewhere in mm */
	NR_EVENT_ROLES
};

/* Of the members behind `cpu`, those are set that name the role. */
struct event {
	enum event_role role;
	int32_t pid; /* common_pid */
	uint64_t ts; /* time units of the recording */
	uint32_t cpu;
	bool has_address;   /* ENTRY */
	bool has_flags;	    /* ENTRY */
	bool has_ret;	    /* EXIT */
	uint64_t mm;	    /* ENTRY, MM_EXIT, FORK_COPY (the new one), COLLAPSE */
	uint64_t oldmm;	    /* FORK_COPY: the one copied */
	uint64_t start;	    /* ENTRY: of the VMA */
	uint64_t end;	    /* ENTRY: of the VMA, exclusive */
	uint64_t address;   /* ENTRY, EXCEPTION */
	uint32_t flags;	    /* ENTRY: FAULT_FLAG_*; EXCEPTION: error_code */
	uint32_t ret;	    /* EXIT: VM_FAULT_*; FORK_COPIED: 0 or -errno */
	int32_t number;	    /* ALLOC: order; RSS: RSS_* bit; WORKER: PTEs; FORK: the child's pid */
	bool shares_mm;	    /* FORK: CLONE_VM; only task_newtask says so */
	bool knows_sharing; /* FORK: from task_newtask */
};

/* include/linux/mm_types.h, enum fault_flag. */
#define FAULT_FLAG_WRITE   0x1u
#define FAULT_FLAG_TRIED   0x20u
#define FAULT_FLAG_USER	   0x40u
#define FAULT_FLAG_REMOTE  0x80u
#define FAULT_FLAG_UNSHARE 0x400u

/* include/linux/mm_types.h, enum vm_fault_reason. */
#define VM_FAULT_OOM		0x1u
#define VM_FAULT_SIGBUS		0x2u
#define VM_FAULT_MAJOR		0x4u
#define VM_FAULT_HWPOISON	0x10u
#define VM_FAULT_HWPOISON_LARGE 0x20u
#define VM_FAULT_SIGSEGV	0x40u
#define VM_FAULT_NOPAGE		0x100u
#define VM_FAULT_LOCKED		0x200u
#define VM_FAULT_RETRY		0x400u
#define VM_FAULT_ERROR                                                           \
	(VM_FAULT_OOM | VM_FAULT_SIGBUS | VM_FAULT_SIGSEGV | VM_FAULT_HWPOISON | \
	 VM_FAULT_HWPOISON_LARGE)

/* arch/x86/include/asm/trap_pf.h */
#define X86_PF_PROT  0x1u
#define X86_PF_WRITE 0x2u

#endif
