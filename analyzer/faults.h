/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Entries and exits become logical faults; forks, exec and exits become what happens to address
 * spaces. Knows tasks, and no page.
 */
#ifndef FAULTS_H
#define FAULTS_H

#include "event.h"
#include "fault.h"
#include "summary.h"

enum step_kind {
	STEP_FAULT,
	STEP_FORK,	/* mm is now a copy of oldmm, both write-protected */
	STEP_MM_EXIT,	/* mm is gone */
	STEP_EXEC,	/* mm is new and empty (0: not known which); oldmm may be gone (0: no) */
	STEP_UNCERTAIN, /* mm changed in a way that the recording does not show */
};

/* What `faults` hands to `model`. */
struct step {
	enum step_kind kind;
	uint64_t mm, oldmm;  /* of the other kinds */
	struct fault *fault; /* STEP_FAULT: of `faults`, until it is called again */
};

/* A fault that was entered and has not ended; they nest. */
struct frame {
	struct fault fault;
	struct frame *outer;
};

struct task {
	int32_t pid;
	bool sharing_known; /* task_newtask said whether it shares its parent's mm */
	bool has_exception;
	uint32_t cpu;		      /* of its last event */
	uint64_t losses_seen;	      /* of all CPUs, by then */
	struct frame *top;	      /* innermost fault; owned */
	struct frame *retry;	      /* ended in RETRY, comes back; owned */
	uint64_t mm;		      /* of its last fault that was not remote */
	uint64_t remote_mm;	      /* of its last fault that was: exec fills the new stack so */
	uint64_t copy_mm, copy_oldmm; /* inside dup_mmap() */
	uint64_t parent_mm;	      /* forked, and no copy was seen */
	uint64_t exception_address;
	uint64_t exception_ts;
	uint32_t exception_cpu;
	uint32_t error_code;
};

struct task_slot {
	int32_t pid;
	uint32_t task; /* its place plus 1, 0: an empty slot */
};

/* How many tasks had their last fault in an mm. */
struct mm_users {
	uint64_t mm; /* 0: an empty slot */
	uint32_t nr;
};

struct on_cpu {
	struct task *task; /* that had its last event; NULL: none, or it moved */
	uint64_t loss;	   /* number of the last place where its events were lost, 0 none */
};

/* What the recording offers; faults_open() copies it. */
struct faults_options {
	bool has_pair;	  /* a probe pair: an exception alone is no fault */
	bool has_copy;	  /* dup_mmap() is probed */
	bool has_mm_exit; /* exit_mmap is traced */
};

struct faults {
	struct faults_options options;
	struct fault_counts counts;    /* entries, exits, unpaired, retries */
	uint64_t unmatched_exceptions; /* of a recording with a pair: no handle_mm_fault followed */
	struct task *tasks;	       /* owned */
	size_t nr_tasks, room;
	struct task_slot *slots; /* hash by pid, of a power of two, mostly empty; owned */
	struct task *last;	 /* that had an event, and no loss since; NULL: none, or it moved */
	struct frame *free_frames; /* owned */
	struct fault alone;	   /* the last that an exception alone has shown */
	uint64_t losses_total;	   /* places where events were lost, so far */
	struct on_cpu *cpus;	   /* owned */
	size_t nr_cpus;
	struct mm_users *users; /* hash by mm, kept where tasks show when one ends; owned */
	size_t nr_users, users_room;
	uint64_t key;	 /* of both hashes */
	size_t finished; /* tasks that faults_finish() is done with */
};

int faults_open(struct faults *f, const struct faults_options *options);

/*
 * Take in @e. Returns 1 when *s holds a step that it completed, 0 when not, -ENOMEM.
 */
int faults_push(struct faults *f, const struct event *e, struct step *s);

/* The same of events of one role: what faults are made of. */
int faults_exception(struct faults *f, const struct event *e, struct step *s);
int faults_entry(struct faults *f, const struct event *e, struct step *s);
int faults_exit(struct faults *f, const struct event *e, struct step *s);

/* The mm of the task whose event was pushed last, where its last fault shows it; else 0. */
static inline uint64_t faults_last_mm(const struct faults *f)
{
	return f->last ? f->last->mm : 0;
}

/*
 * Events of @cpu, below TRACE_MAX_CPUS, were lost: what its tasks had not ended is unpaired. 0 or
 * -ENOMEM.
 */
int faults_lost(struct faults *f, uint32_t cpu);

/*
 * The recording ends: what has not ended is unpaired. To be called until it returns 0: 1 says that
 * *s holds one more step.
 */
int faults_finish(struct faults *f, struct step *s);

void faults_close(struct faults *f);

#endif
