// SPDX-License-Identifier: GPL-2.0-or-later
/* Entries and exits become logical faults: a stack of them for each task. */
#include <errno.h>
#include <stdlib.h>

#include "compiler.h"
#include "faults.h"
#include "hash.h"

#define FIRST_ROOM   64
#define SLOTS_A_TASK 8 /* a search that goes on is worse than a cache miss: nobody foresees it */
#define PAGE_MASK_4K (~UINT64_C(0xfff)) /* the smallest page of any architecture */

int faults_open(struct faults *f, const struct faults_options *options)
{
	*f = (struct faults){
		.options = *options, .room = FIRST_ROOM, .users_room = FIRST_ROOM, .key = hash_key()
	};
	f->tasks = calloc(f->room, sizeof(*f->tasks));
	f->slots = calloc(SLOTS_A_TASK * f->room, sizeof(*f->slots));
	f->users = calloc(f->users_room, sizeof(*f->users));
	return f->tasks && f->slots && f->users ? 0 : -ENOMEM;
}

/* Where the task of @pid stands in the hash, or belongs. */
static struct task_slot *slot_of(const struct faults *f, int32_t pid)
{
	size_t mask = SLOTS_A_TASK * f->room - 1, i = hash_u64((uint32_t)pid, f->key) & mask;

	while (f->slots[i].task && f->slots[i].pid != pid)
		i = (i + 1) & mask;
	return &f->slots[i];
}

static noinline int grow_cpus(struct faults *f, uint32_t cpu)
{
	size_t nr = f->nr_cpus ? f->nr_cpus : 1;
	struct on_cpu *cpus;

	while (nr <= cpu)
		nr *= 2;
	cpus = reallocarray(f->cpus, nr, sizeof(*cpus));
	if (!cpus)
		return -ENOMEM;
	for (size_t i = f->nr_cpus; i < nr; i++)
		cpus[i] = (struct on_cpu){ 0 };
	f->cpus = cpus;
	f->nr_cpus = nr;
	return 0;
}

/* Make room for what is known of @cpu. 0 or -ENOMEM. */
static inline int know_cpu(struct faults *f, uint32_t cpu)
{
	return likely(cpu < f->nr_cpus) ? 0 : grow_cpus(f, cpu);
}

/* Twice the room for tasks, which moves them. 0 or -ENOMEM. */
static int grow(struct faults *f)
{
	struct task_slot *slots = calloc(2 * SLOTS_A_TASK * f->room, sizeof(*slots));
	struct task *tasks = reallocarray(f->tasks, 2 * f->room, sizeof(*tasks));

	if (tasks)
		f->tasks = tasks;
	if (!tasks || !slots) {
		free(slots);
		return -ENOMEM;
	}
	free(f->slots);
	f->slots = slots;
	f->room *= 2;
	for (size_t i = 0; i < f->nr_tasks; i++)
		*slot_of(f, tasks[i].pid) = (struct task_slot){ tasks[i].pid, i + 1 };
	f->last = NULL;
	for (size_t i = 0; i < f->nr_cpus; i++)
		f->cpus[i].task = NULL;
	return 0;
}

/* A new task; NULL when out of memory. Moves the others. */
static noinline struct task *add_task(struct faults *f, int32_t pid)
{
	if (f->nr_tasks == f->room && grow(f) < 0)
		return NULL;
	f->tasks[f->nr_tasks++] = (struct task){ .pid = pid };
	*slot_of(f, pid) = (struct task_slot){ pid, f->nr_tasks };
	return &f->tasks[f->nr_tasks - 1];
}

/* The task of @pid, added when it is new; NULL when out of memory. Moves the others. */
static inline struct task *find_task(struct faults *f, int32_t pid)
{
	uint32_t task = slot_of(f, pid)->task;

	return likely(task) ? &f->tasks[task - 1] : add_task(f, pid);
}

static struct mm_users *users_of(struct faults *f, uint64_t mm)
{
	size_t i = hash_u64(mm, f->key) & (f->users_room - 1);

	while (f->users[i].mm && f->users[i].mm != mm)
		i = (i + 1) & (f->users_room - 1);
	return &f->users[i];
}

/* Make room for one more mm, without those that have no users any more. 0 or -ENOMEM. */
static int grow_users(struct faults *f)
{
	struct mm_users *old = f->users;
	size_t old_room = f->users_room, live = 1;

	if (2 * f->nr_users < f->users_room)
		return 0;
	for (size_t i = 0; i < old_room; i++)
		live += old[i].nr > 0;
	f->users_room = FIRST_ROOM;
	while (f->users_room < 4 * live)
		f->users_room *= 2;
	f->users = calloc(f->users_room, sizeof(*f->users));
	if (!f->users) {
		f->users = old;
		f->users_room = old_room;
		return -ENOMEM;
	}
	f->nr_users = live - 1;
	for (size_t i = 0; i < old_room; i++) {
		if (old[i].nr)
			*users_of(f, old[i].mm) = old[i];
	}
	free(old);
	return 0;
}

static noinline int change_mm(struct faults *f, struct task *t, uint64_t mm)
{
	struct mm_users *u;

	if (!f->options.has_mm_exit) {
		if (grow_users(f) < 0)
			return -ENOMEM;
		if (t->mm)
			users_of(f, t->mm)->nr--;
		if (mm) {
			u = users_of(f, mm);
			f->nr_users += !u->mm;
			u->mm = mm;
			u->nr++;
		}
	}
	t->mm = mm;
	return 0;
}

/* The task's own mm is @mm from now on, 0 none. 0 or -ENOMEM. */
static int set_mm(struct faults *f, struct task *t, uint64_t mm)
{
	return likely(t->mm == mm) ? 0 : change_mm(f, t, mm);
}

static struct frame *take_frame(struct faults *f)
{
	struct frame *frame = f->free_frames;

	if (unlikely(!frame))
		return malloc(sizeof(*frame));
	f->free_frames = frame->outer;
	return frame;
}

static void give_frame(struct faults *f, struct frame *frame)
{
	frame->outer = f->free_frames;
	f->free_frames = frame;
}

/* Whatever the task had entered will not be seen to end. */
static noinline void drop_frames(struct faults *f, struct task *t)
{
	while (t->top) {
		struct frame *frame = t->top;

		t->top = frame->outer;
		give_frame(f, frame);
		f->counts.unpaired_entries++;
	}
	if (t->retry)
		give_frame(f, t->retry);
	t->retry = NULL;
}

/* Whether events of @cpu were lost after the task's last event. */
static bool has_lost(const struct faults *f, const struct task *t, uint32_t cpu)
{
	return cpu < f->nr_cpus && f->cpus[cpu].loss > t->losses_seen;
}

/* The task of @pid, which has come to @cpu, or has events behind a loss. */
static noinline struct task *arrive(struct faults *f, int32_t pid, uint32_t cpu)
{
	struct task *t = know_cpu(f, cpu) < 0 ? NULL : find_task(f, pid);

	if (!t)
		return NULL;
	f->cpus[cpu].task = t;
	if (t->losses_seen == f->losses_total)
		return t;
	/* what was lost may be the exit, where the task was and where it has come to */
	if (has_lost(f, t, t->cpu) || has_lost(f, t, cpu))
		drop_frames(f, t);
	t->losses_seen = f->losses_total;
	return t;
}

/* What current_task() does when it is not the task that had the event before. */
static noinline struct task *switch_task(struct faults *f, int32_t pid, uint32_t cpu)
{
	struct task *t = likely(cpu < f->nr_cpus) ? f->cpus[cpu].task : NULL;

	if (!t || t->pid != pid || t->losses_seen != f->losses_total)
		t = arrive(f, pid, cpu);
	f->last = t;
	return t;
}

/* The task of @pid, which has an event on @cpu; NULL when out of memory. */
static struct task *current_task(struct faults *f, int32_t pid, uint32_t cpu)
{
	struct task *t = f->last;

	if (unlikely(!t || t->pid != pid))
		t = switch_task(f, pid, cpu);
	if (likely(t != NULL))
		t->cpu = cpu;
	return t;
}

int faults_lost(struct faults *f, uint32_t cpu)
{
	if (know_cpu(f, cpu) < 0)
		return -ENOMEM;
	f->cpus[cpu].loss = ++f->losses_total;
	f->last = NULL;
	return 0;
}

/* Field by field: that is faster than to clear all, and leaves what is only there when has_… */
static void start_fault(struct fault *fault, const struct event *e)
{
	fault->entry = e->ts;
	fault->pid = e->pid;
	fault->cpu = e->cpu;
	fault->retries = 0;
	fault->worker_ptes = -1;
	fault->order = ORDER_UNKNOWN;
	fault->rss = 0;
	fault->ret = 0;
	fault->error_code = 0;
	fault->has_exit = fault->has_address = fault->has_flags = false;
	fault->has_ret = fault->has_error_code = false;
	fault->allocated = fault->major = fault->remote = false;
	fault->counted = true;
}

static noinline int take_exception(struct faults *f, struct task *t, struct step *s)
{
	struct event e = { .ts = t->exception_ts, .pid = t->pid, .cpu = t->exception_cpu };
	struct fault *fault = &f->alone;

	t->has_exception = false;
	if (f->options.has_pair || f->counts.exits) {
		f->unmatched_exceptions++;
		return 0;
	}
	f->counts.entries++;
	*fault = (struct fault){ 0 };
	start_fault(fault, &e);
	fault->address = t->exception_address;
	fault->error_code = t->error_code;
	fault->has_address = fault->has_error_code = true;
	*s = (struct step){ .kind = STEP_FAULT, .fault = fault };
	return 1;
}

int faults_exception(struct faults *f, const struct event *e, struct step *s)
{
	struct task *t = current_task(f, e->pid, e->cpu);
	int ret = 0;

	if (unlikely(!t))
		return -ENOMEM;
	if (unlikely(t->has_exception))
		ret = take_exception(f, t, s);
	t->has_exception = true;
	t->exception_ts = e->ts;
	t->exception_cpu = e->cpu;
	t->exception_address = e->address;
	t->error_code = e->flags;
	return ret;
}

/* The exception that led here, if there was one. */
static void match_exception(struct faults *f, struct task *t, struct fault *fault)
{
	if (!t->has_exception)
		return;
	t->has_exception = false;
	if (fault->has_address && ((fault->address ^ t->exception_address) & PAGE_MASK_4K)) {
		f->unmatched_exceptions++;
		return;
	}
	fault->has_error_code = true;
	fault->error_code = t->error_code;
	if (!fault->has_address) {
		fault->has_address = true;
		fault->address = t->exception_address;
	}
}

/*
 * A task whose parent was seen to fork, but not to copy its mm, shows the copy with its first
 * fault.
 */
static noinline int late_fork(struct task *t, uint64_t mm, struct step *s)
{
	uint64_t oldmm = t->parent_mm;

	t->parent_mm = 0;
	if (!mm || mm == oldmm)
		return 0;
	*s = (struct step){ .kind = STEP_FORK, .mm = mm, .oldmm = oldmm };
	return 1;
}

/* The frame to go on with when this is the return after RETRY, else NULL. */
static noinline struct frame *take_retry(struct faults *f, struct task *t, uint64_t address)
{
	struct frame *frame = t->retry;

	t->retry = NULL;
	if (!((frame->fault.address ^ address) & PAGE_MASK_4K))
		return frame;
	/* a signal ended it: the kernel does not count it as a fault either */
	give_frame(f, frame);
	return NULL;
}

int faults_entry(struct faults *f, const struct event *e, struct step *s)
{
	struct task *t = current_task(f, e->pid, e->cpu);
	struct frame *frame = NULL;
	struct fault *fault;

	if (unlikely(!t))
		return -ENOMEM;
	f->counts.entries++;
	/* user mode is not inside a fault: what is open has lost its exit */
	if (unlikely(t->top != NULL) && e->has_flags && e->flags & FAULT_FLAG_USER)
		drop_frames(f, t);
	if (unlikely(t->retry != NULL))
		frame = take_retry(f, t, e->address);
	if (likely(!frame)) {
		frame = take_frame(f);
		if (unlikely(!frame))
			return -ENOMEM;
		start_fault(&frame->fault, e);
	}
	fault = &frame->fault;
	fault->mm = e->mm;
	fault->vma_start = e->start;
	fault->vma_end = e->end;
	fault->address = e->address;
	fault->flags = e->flags;
	fault->has_address = e->has_address;
	fault->has_flags = e->has_flags;
	fault->remote = e->flags & FAULT_FLAG_REMOTE;
	if (e->flags & FAULT_FLAG_TRIED)
		fault->major = true;
	match_exception(f, t, fault);
	frame->outer = t->top;
	t->top = frame;
	if (fault->remote)
		t->remote_mm = e->mm;
	else if (set_mm(f, t, e->mm) < 0)
		return -ENOMEM;
	return unlikely(t->parent_mm) && !fault->remote ? late_fork(t, e->mm, s) : 0;
}

/* The task's innermost fault ended in RETRY, and will come back. */
static noinline void keep_for_retry(struct faults *f, struct task *t, struct frame *frame)
{
	f->counts.retries++;
	frame->fault.retries++;
	if (t->retry)
		give_frame(f, t->retry);
	t->retry = frame;
}

int faults_exit(struct faults *f, const struct event *e, struct step *s)
{
	struct task *t = current_task(f, e->pid, e->cpu);
	struct frame *frame;
	struct fault *fault;

	if (unlikely(!t))
		return -ENOMEM;
	frame = t->top;
	f->counts.exits++;
	if (unlikely(!frame)) {
		f->counts.unpaired_exits++;
		return 0;
	}
	t->top = frame->outer;
	fault = &frame->fault;
	if (e->ret & VM_FAULT_MAJOR)
		fault->major = true;
	if (unlikely(e->ret & VM_FAULT_RETRY)) {
		keep_for_retry(f, t, frame);
		return 0;
	}
	fault->exit = e->ts;
	fault->latency = e->ts > fault->entry ? e->ts - fault->entry : 0;
	fault->ret = e->ret;
	fault->has_exit = true;
	fault->has_ret = e->has_ret;
	s->kind = STEP_FAULT;
	s->fault = fault;
	give_frame(f, frame); /* which stays as it is until another is taken */
	return 1;
}

static int push_copied(struct task *t, const struct event *e, struct step *s)
{
	if (!t->copy_mm)
		return 0;
	*s = (struct step){ .kind = STEP_FORK, .mm = t->copy_mm, .oldmm = t->copy_oldmm };
	t->copy_mm = 0;
	return 1;
}

/* sched_process_fork and task_newtask follow the copy, and name the child. */
static int push_fork(struct faults *f, struct task *t, const struct event *e, struct step *s)
{
	uint64_t parent_mm = t->mm;
	struct task *child;

	if (t->copy_mm) /* the return of dup_mmap() is not probed */
		return push_copied(t, e, s);
	if (f->options.has_copy)
		return 0;
	child = find_task(f, e->number);
	if (!child)
		return -ENOMEM;
	if (e->knows_sharing || !child->sharing_known)
		child->parent_mm = e->knows_sharing && e->shares_mm ? 0 : parent_mm;
	child->sharing_known = e->knows_sharing;
	return 0;
}

static int push_exec(struct faults *f, struct task *t, const struct event *e, struct step *s)
{
	*s = (struct step){ .kind = STEP_EXEC, .mm = t->remote_mm };
	if (!f->options.has_mm_exit && t->mm != t->remote_mm)
		s->oldmm = t->mm;
	t->parent_mm = 0;
	if (set_mm(f, t, t->remote_mm) < 0)
		return -ENOMEM;
	t->remote_mm = 0;
	return s->mm || s->oldmm;
}

/* The pid may be used again by another task: nothing of this one may be left. */
static int push_task_exit(struct faults *f, struct task *t, const struct event *e, struct step *s)
{
	uint64_t mm = t->mm;
	int ret = t->has_exception ? take_exception(f, t, s) : 0;

	drop_frames(f, t);
	if (set_mm(f, t, 0) < 0)
		return -ENOMEM;
	*t = (struct task){ .pid = t->pid, .losses_seen = f->losses_total };
	if (ret) /* exceptions alone name no mm */
		return ret;
	if (f->options.has_mm_exit || !mm || users_of(f, mm)->nr)
		return 0;
	*s = (struct step){ .kind = STEP_UNCERTAIN, .mm = mm };
	return 1;
}

/* What happens to a task and its address space. */
static int push_other(struct faults *f, const struct event *e, struct step *s)
{
	struct task *t = current_task(f, e->pid, e->cpu);

	if (!t)
		return -ENOMEM;
	switch (e->role) {
	case EVENT_ALLOC:
		if (t->top) {
			t->top->fault.allocated = true;
			t->top->fault.order = e->number >= 0 && e->number < ORDER_UNKNOWN
						      ? e->number
						      : ORDER_UNKNOWN;
		}
		return 0;
	case EVENT_RSS:
		if (t->top)
			t->top->fault.rss |= e->number;
		return 0;
	case EVENT_WORKER:
		if (t->top)
			t->top->fault.worker_ptes = e->number;
		return 0;
	case EVENT_FORK_COPY:
		t->copy_mm = e->mm;
		t->copy_oldmm = e->oldmm;
		return 0;
	case EVENT_FORK_COPIED:
		return push_copied(t, e, s);
	case EVENT_FORK:
		return push_fork(f, t, e, s);
	case EVENT_EXEC:
		return push_exec(f, t, e, s);
	case EVENT_TASK_EXIT:
		return push_task_exit(f, t, e, s);
	default:
		return 0;
	}
}

/* What happens to an address space, whoever's. */
static int push_mm_event(const struct event *e, struct step *s)
{
	*s = (struct step){ .kind = e->role == EVENT_MM_EXIT ? STEP_MM_EXIT : STEP_UNCERTAIN,
			    .mm = e->mm };
	return 1;
}

int faults_push(struct faults *f, const struct event *e, struct step *s)
{
	switch (e->role) {
	case EVENT_ENTRY:
		return faults_entry(f, e, s);
	case EVENT_EXIT:
		return faults_exit(f, e, s);
	case EVENT_EXCEPTION:
		return faults_exception(f, e, s);
	case EVENT_MM_EXIT:
	case EVENT_COLLAPSE:
		return push_mm_event(e, s);
	default:
		return push_other(f, e, s);
	}
}

noinline int faults_finish(struct faults *f, struct step *s)
{
	while (f->finished < f->nr_tasks) {
		struct task *t = &f->tasks[f->finished++];

		drop_frames(f, t);
		if (t->has_exception && take_exception(f, t, s))
			return 1;
	}
	return 0;
}

void faults_close(struct faults *f)
{
	for (size_t i = 0; i < f->nr_tasks; i++)
		drop_frames(f, &f->tasks[i]);
	while (f->free_frames) {
		struct frame *frame = f->free_frames;

		f->free_frames = frame->outer;
		free(frame);
	}
	free(f->tasks);
	free(f->slots);
	free(f->users);
	free(f->cpus);
	*f = (struct faults){ 0 };
}
