// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pairing alone, from typed events: which entries and exits become which faults, what becomes of
 * the others, and what fork, exec and exit say about address spaces. After every test with a probe
 * pair the counters have to add up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "faults.h"

#define MAX_STEPS 32

/* Two pages, two address spaces, a VMA. */
#define PAGE   0x7f0000001000ULL
#define OTHER  0x7f0000009000ULL
#define MM     0xffff888000001000ULL
#define CHILD  0xffff888000002000ULL
#define NEW_MM 0xffff888000003000ULL
#define VMA    .start = 0x7f0000000000ULL, .end = 0x7f0000010000ULL
#define RETRY  VM_FAULT_RETRY
#define WRITE  FAULT_FLAG_WRITE
#define USER   (FAULT_FLAG_USER | WRITE)
#define LOCKED 0x1000u /* FAULT_FLAG_VMA_LOCK */

struct run {
	struct faults faults;
	struct step steps[MAX_STEPS];
	struct fault kept[MAX_STEPS]; /* the steps' faults */
	int nr;			      /* steps */
	int nr_faults;
};

static void open_run(struct run *r, struct faults_options options)
{
	memset(r, 0, sizeof(*r));
	assert_int_equal(faults_open(&r->faults, &options), 0);
}

static void take(struct run *r, int ret)
{
	struct step *s = &r->steps[r->nr];

	assert_in_range(ret, 0, 1);
	if (!ret)
		return;
	if (s->kind == STEP_FAULT) {
		r->kept[r->nr] = *s->fault;
		s->fault = &r->kept[r->nr];
		r->nr_faults++;
	}
	r->nr++;
	assert_true(r->nr < MAX_STEPS);
}

static void push(struct run *r, struct event e)
{
	take(r, faults_push(&r->faults, &e, &r->steps[r->nr]));
}

static void entry_of(struct run *r, uint64_t ts, int pid, uint64_t mm, uint64_t address,
		     uint32_t flags)
{
	push(r, (struct event){ .role = EVENT_ENTRY,
				.ts = ts,
				.pid = pid,
				.mm = mm,
				VMA,
				.has_address = true,
				.address = address,
				.has_flags = true,
				.flags = flags });
}

static void exit_of(struct run *r, uint64_t ts, int pid, uint32_t ret)
{
	push(r, (struct event){
			.role = EVENT_EXIT, .ts = ts, .pid = pid, .has_ret = true, .ret = ret });
}

static void entry(struct run *r, uint64_t ts, uint64_t address, uint32_t flags)
{
	entry_of(r, ts, 1, MM, address, flags);
}

static void leave(struct run *r, uint64_t ts, uint32_t ret)
{
	exit_of(r, ts, 1, ret);
}

static void exception(struct run *r, uint64_t ts, uint32_t cpu, uint64_t address, uint32_t code)
{
	push(r, (struct event){ .role = EVENT_EXCEPTION,
				.ts = ts,
				.pid = 1,
				.cpu = cpu,
				.has_address = true,
				.address = address,
				.flags = code });
}

static void task_event(struct run *r, enum event_role role, uint64_t ts, int pid)
{
	push(r, (struct event){ .role = role, .ts = ts, .pid = pid });
}

/* End the recording and check the counters: unpaired ones, and that they add up. */
static void close_run(struct run *r, uint64_t unpaired_entries, uint64_t unpaired_exits)
{
	const struct fault_counts *c = &r->faults.counts;
	int ret;

	while ((ret = faults_finish(&r->faults, &r->steps[r->nr])))
		take(r, ret);
	assert_int_equal(c->unpaired_entries, unpaired_entries);
	assert_int_equal(c->unpaired_exits, unpaired_exits);
	if (c->exits) {
		assert_int_equal(c->entries, r->nr_faults + c->retries + c->unpaired_entries);
		assert_int_equal(c->exits, r->nr_faults + c->retries + c->unpaired_exits);
	}
	faults_close(&r->faults);
}

#define PAIR ((struct faults_options){ .has_pair = true })

static void expect_fault(const struct step *s, uint64_t address, uint64_t from, uint64_t to,
			 uint32_t retries)
{
	const struct fault *f = s->fault;

	assert_int_equal(s->kind, STEP_FAULT);
	assert_int_equal(f->address, address);
	assert_int_equal(f->entry, from);
	assert_true(f->has_exit);
	assert_int_equal(f->exit, to);
	assert_int_equal(f->latency, to - from);
	assert_int_equal(f->retries, retries);
}

static void expect_step(const struct step *s, enum step_kind kind, uint64_t mm, uint64_t oldmm)
{
	assert_int_equal(s->kind, kind);
	assert_int_equal(s->mm, mm);
	assert_int_equal(s->oldmm, oldmm);
}

static void one_fault(void **state)
{
	struct run r;

	open_run(&r, PAIR);
	entry(&r, 100, PAGE, USER);
	leave(&r, 350, VM_FAULT_NOPAGE);
	assert_int_equal(r.nr, 1);
	expect_fault(&r.steps[0], PAGE, 100, 350, 0);
	assert_int_equal(r.steps[0].fault->mm, MM);
	assert_int_equal(r.steps[0].fault->vma_start, 0x7f0000000000ULL);
	assert_int_equal(r.steps[0].fault->vma_end, 0x7f0000010000ULL);
	assert_int_equal(r.steps[0].fault->flags, USER);
	assert_int_equal(r.steps[0].fault->ret, VM_FAULT_NOPAGE);
	assert_false(r.steps[0].fault->major);
	close_run(&r, 0, 0);
}

/* What happens inside goes to the innermost fault. */
static void nested_faults_are_a_stack(void **state)
{
	struct run r;

	open_run(&r, PAIR);
	entry(&r, 100, PAGE, USER);
	push(&r, (struct event){ .role = EVENT_ALLOC, .pid = 1, .number = 4 });
	entry(&r, 200, OTHER, WRITE);
	push(&r, (struct event){ .role = EVENT_ALLOC, .pid = 1, .number = 0 });
	push(&r, (struct event){ .role = EVENT_RSS, .pid = 1, .number = RSS_ANON });
	leave(&r, 300, 0);
	push(&r, (struct event){ .role = EVENT_WORKER, .pid = 1, .number = 16 });
	leave(&r, 600, VM_FAULT_MAJOR);
	assert_int_equal(r.nr, 2);
	expect_fault(&r.steps[0], OTHER, 200, 300, 0);
	assert_int_equal(r.steps[0].fault->order, 0);
	assert_int_equal(r.steps[0].fault->rss, RSS_ANON);
	assert_int_equal(r.steps[0].fault->worker_ptes, -1);
	assert_false(r.steps[0].fault->major);
	expect_fault(&r.steps[1], PAGE, 100, 600, 0);
	assert_int_equal(r.steps[1].fault->order, 4);
	assert_int_equal(r.steps[1].fault->rss, 0);
	assert_int_equal(r.steps[1].fault->worker_ptes, 16);
	assert_true(r.steps[1].fault->major);
	close_run(&r, 0, 0);
}

static void tasks_do_not_mix(void **state)
{
	struct run r;

	open_run(&r, PAIR);
	/* more tasks than the table has room for at first */
	for (int pid = 1; pid <= 200; pid++)
		entry_of(&r, pid, pid, MM, PAGE + 0x1000 * pid, USER);
	for (int pid = 200; pid >= 1; pid--) {
		r.nr = 0;
		exit_of(&r, 1000 + pid, pid, 0);
		assert_int_equal(r.nr, 1);
		assert_int_equal(r.steps[0].fault->pid, pid);
		expect_fault(&r.steps[0], PAGE + 0x1000 * pid, pid, 1000 + pid, 0);
	}
	close_run(&r, 0, 0);
}

/* After a retry under the VMA lock the flags differ in that lock alone: a minor fault. */
static void retry_after_vma_lock(void **state)
{
	struct run r;

	open_run(&r, PAIR);
	entry(&r, 100, PAGE + 8, USER | LOCKED);
	leave(&r, 150, RETRY);
	assert_int_equal(r.nr, 0);
	entry(&r, 170, PAGE, USER); /* the kernel masks the address or does not */
	leave(&r, 300, 0);
	assert_int_equal(r.nr, 1);
	expect_fault(&r.steps[0], PAGE, 100, 300, 1);
	assert_int_equal(r.steps[0].fault->flags, USER);
	assert_int_equal(r.steps[0].fault->ret, 0);
	assert_false(r.steps[0].fault->major);
	assert_int_equal(r.faults.counts.retries, 1);
	close_run(&r, 0, 0);
}

static void retry_with_tried_is_major(void **state)
{
	struct run r;

	open_run(&r, PAIR);
	entry(&r, 100, PAGE, USER | LOCKED);
	leave(&r, 150, RETRY);
	entry(&r, 170, PAGE, USER);
	leave(&r, 300, RETRY);
	entry(&r, 400, PAGE, USER | FAULT_FLAG_TRIED);
	leave(&r, 500, 0);
	assert_int_equal(r.nr, 1);
	expect_fault(&r.steps[0], PAGE, 100, 500, 2);
	assert_true(r.steps[0].fault->major);
	close_run(&r, 0, 0);
}

/* A signal ends it: the next fault is elsewhere, and the first is none. */
static void abandoned_retry(void **state)
{
	struct run r;

	open_run(&r, PAIR);
	entry(&r, 100, PAGE, USER);
	leave(&r, 150, RETRY | VM_FAULT_MAJOR);
	entry(&r, 170, OTHER, USER);
	leave(&r, 300, 0);
	/* and one that comes back later begins anew */
	entry(&r, 400, PAGE, USER);
	leave(&r, 450, 0);
	assert_int_equal(r.nr, 2);
	expect_fault(&r.steps[0], OTHER, 170, 300, 0);
	assert_false(r.steps[0].fault->major);
	expect_fault(&r.steps[1], PAGE, 400, 450, 0);
	assert_int_equal(r.faults.counts.retries, 1);
	close_run(&r, 0, 0);
}

static void retry_at_the_end(void **state)
{
	struct run r;

	open_run(&r, PAIR);
	entry(&r, 100, PAGE, USER);
	leave(&r, 150, RETRY);
	close_run(&r, 0, 0);
	assert_int_equal(r.nr, 0);
}

/* A retry inside another fault leaves that one alone. */
static void nested_retry(void **state)
{
	struct run r;

	open_run(&r, PAIR);
	entry(&r, 100, PAGE, USER);
	entry(&r, 110, OTHER, 0);
	leave(&r, 120, RETRY);
	entry(&r, 130, OTHER, 0);
	leave(&r, 140, 0);
	leave(&r, 200, 0);
	assert_int_equal(r.nr, 2);
	expect_fault(&r.steps[0], OTHER, 110, 140, 1);
	expect_fault(&r.steps[1], PAGE, 100, 200, 0);
	close_run(&r, 0, 0);
}

/* GUP on another task's memory: of the mm that it names; the task's own mm stays what it was. */
static void remote_belongs_to_the_mm_it_names(void **state)
{
	struct run r;

	open_run(&r, PAIR);
	entry(&r, 100, PAGE, USER);
	leave(&r, 150, 0);
	entry_of(&r, 200, 1, NEW_MM, OTHER, WRITE | FAULT_FLAG_REMOTE);
	leave(&r, 250, 0);
	push(&r, (struct event){ .role = EVENT_FORK, .ts = 300, .pid = 1, .number = 2 });
	entry_of(&r, 400, 2, CHILD, PAGE, USER);
	assert_int_equal(r.nr, 3);
	assert_false(r.steps[0].fault->remote);
	assert_true(r.steps[1].fault->remote);
	assert_int_equal(r.steps[1].fault->mm, NEW_MM);
	expect_step(&r.steps[2], STEP_FORK, CHILD, MM);
	exit_of(&r, 500, 2, 0);
	close_run(&r, 0, 0);
}

static void unpaired(void **state)
{
	struct run r;

	open_run(&r, PAIR);
	leave(&r, 50, 0); /* of a fault from before the recording */
	entry(&r, 100, PAGE, USER);
	leave(&r, 150, 0);
	leave(&r, 160, 0);
	entry(&r, 200, OTHER, USER); /* does not end within it */
	close_run(&r, 1, 2);
	assert_int_equal(r.nr_faults, 1);
}

/* User mode is not inside a fault, so that the open ones have lost their exits. */
static void user_entry_drops_what_is_open(void **state)
{
	struct run r;

	open_run(&r, PAIR);
	entry(&r, 100, PAGE, USER);
	entry(&r, 110, OTHER, WRITE);
	entry(&r, 200, OTHER, USER);
	leave(&r, 300, 0);
	assert_int_equal(r.nr, 1);
	expect_fault(&r.steps[0], OTHER, 200, 300, 0);
	leave(&r, 400, 0);
	close_run(&r, 2, 1);
}

static void loss_drops_what_is_open(void **state)
{
	struct run r;

	open_run(&r, PAIR);
	entry(&r, 100, PAGE, USER);
	assert_int_equal(faults_lost(&r.faults, 0), 0);
	leave(&r, 150, 0); /* of another fault, whose entry was lost */
	assert_int_equal(r.nr, 0);
	entry(&r, 200, OTHER, USER);
	leave(&r, 250, 0);
	assert_int_equal(r.nr, 1);
	close_run(&r, 1, 1);
}

static void loss_elsewhere_drops_nothing(void **state)
{
	struct run r;

	open_run(&r, PAIR);
	entry(&r, 100, PAGE, USER);
	assert_int_equal(faults_lost(&r.faults, 7), 0);
	leave(&r, 150, 0);
	assert_int_equal(r.nr, 1);
	close_run(&r, 0, 0);
}

/* The task goes to a CPU that lost events meanwhile: its exit may be among them. */
static void loss_where_the_task_has_come_to(void **state)
{
	struct run r;

	open_run(&r, PAIR);
	entry(&r, 100, PAGE, 0);
	assert_int_equal(faults_lost(&r.faults, 3), 0);
	push(&r, (struct event){ .role = EVENT_EXIT, .ts = 150, .pid = 1, .cpu = 3 });
	assert_int_equal(r.nr, 0);
	close_run(&r, 1, 1);
}

static void loss_before_the_fault_is_past(void **state)
{
	struct run r;

	open_run(&r, PAIR);
	assert_int_equal(faults_lost(&r.faults, 0), 0);
	assert_int_equal(faults_lost(&r.faults, 3), 0);
	entry(&r, 100, PAGE, USER);
	push(&r, (struct event){ .role = EVENT_EXIT, .ts = 150, .pid = 1, .cpu = 3 });
	push(&r, (struct event){ .role = EVENT_ENTRY, .ts = 160, .pid = 1, .cpu = 3 });
	push(&r, (struct event){ .role = EVENT_EXIT, .ts = 170, .pid = 1, .cpu = 0 });
	assert_int_equal(r.nr, 2);
	close_run(&r, 0, 0);
}

/* It comes from a CPU that nothing else is known of. */
static void loss_behind_an_unknown_cpu(void **state)
{
	struct run r;

	open_run(&r, PAIR);
	entry(&r, 100, PAGE, USER);
	push(&r, (struct event){ .role = EVENT_EXIT, .ts = 150, .pid = 1, .cpu = 2000 });
	assert_int_equal(faults_lost(&r.faults, 0), 0);
	entry(&r, 200, OTHER, USER);
	leave(&r, 250, 0);
	assert_int_equal(r.nr, 2);
	close_run(&r, 0, 0);
}

static void loss_drops_a_retry(void **state)
{
	struct run r;

	open_run(&r, PAIR);
	entry(&r, 100, PAGE, USER);
	leave(&r, 150, RETRY);
	assert_int_equal(faults_lost(&r.faults, 0), 0);
	entry(&r, 500, PAGE, USER);
	leave(&r, 550, 0);
	assert_int_equal(r.nr, 1);
	expect_fault(&r.steps[0], PAGE, 500, 550, 0);
	close_run(&r, 0, 0);
}

static void migration_in_mid_fault(void **state)
{
	struct run r;

	open_run(&r, PAIR);
	entry(&r, 100, PAGE, USER);
	push(&r, (struct event){ .role = EVENT_ENTRY,
				 .ts = 120,
				 .pid = 2,
				 .cpu = 1,
				 .mm = CHILD,
				 .has_address = true,
				 .address = OTHER });
	push(&r, (struct event){ .role = EVENT_EXIT, .ts = 150, .pid = 1, .cpu = 1 });
	push(&r, (struct event){ .role = EVENT_EXIT, .ts = 160, .pid = 2, .cpu = 0 });
	assert_int_equal(r.nr, 2);
	expect_fault(&r.steps[0], PAGE, 100, 150, 0);
	assert_int_equal(r.steps[0].fault->cpu, 0); /* of the entry */
	expect_fault(&r.steps[1], OTHER, 120, 160, 0);
	assert_int_equal(r.steps[1].fault->cpu, 1);
	close_run(&r, 0, 0);
}

/* Without a pair each exception is a fault, of its own CPU and without latency. */
static void exceptions_alone(void **state)
{
	struct run r;

	open_run(&r, (struct faults_options){ 0 });
	exception(&r, 100, 0, PAGE, X86_PF_WRITE);
	exception(&r, 200, 3, OTHER, X86_PF_WRITE | X86_PF_PROT);
	close_run(&r, 0, 0);
	assert_int_equal(r.nr, 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(r.steps[i].kind, STEP_FAULT);
		assert_false(r.steps[i].fault->has_exit);
		assert_true(r.steps[i].fault->has_error_code);
	}
	assert_int_equal(r.steps[0].fault->entry, 100);
	assert_int_equal(r.steps[0].fault->address, PAGE);
	assert_int_equal(r.steps[0].fault->cpu, 0);
	assert_int_equal(r.steps[0].fault->error_code, X86_PF_WRITE);
	assert_int_equal(r.steps[1].fault->entry, 200);
	assert_int_equal(r.steps[1].fault->cpu, 3);
	assert_int_equal(r.steps[1].fault->error_code, X86_PF_WRITE | X86_PF_PROT);
}

/* The last one before the task's exit, which nothing follows. */
static void exceptions_alone_then_task_exit(void **state)
{
	struct run r;

	open_run(&r, (struct faults_options){ 0 });
	exception(&r, 100, 0, PAGE, X86_PF_WRITE);
	task_event(&r, EVENT_TASK_EXIT, 200, 1);
	assert_int_equal(r.nr, 1);
	assert_int_equal(r.steps[0].fault->entry, 100);
	exception(&r, 300, 0, PAGE, X86_PF_WRITE);
	close_run(&r, 0, 0);
	assert_int_equal(r.nr, 2);
}

static void exception_and_pair_are_one_fault(void **state)
{
	struct run r;

	open_run(&r, PAIR);
	exception(&r, 90, 0, PAGE + 8, X86_PF_WRITE);
	entry(&r, 100, PAGE, USER);
	leave(&r, 200, RETRY);
	entry(&r, 210, PAGE, USER);
	leave(&r, 300, 0);
	assert_int_equal(r.nr, 1);
	expect_fault(&r.steps[0], PAGE, 100, 300, 1);
	assert_true(r.steps[0].fault->has_error_code);
	assert_int_equal(r.steps[0].fault->error_code, X86_PF_WRITE);
	assert_int_equal(r.faults.unmatched_exceptions, 0);
	close_run(&r, 0, 0);
}

/* function_graph without arguments: the exception knows the address. */
static void exception_gives_the_address(void **state)
{
	struct run r;

	open_run(&r, (struct faults_options){ 0 });
	exception(&r, 90, 0, PAGE + 8, X86_PF_WRITE);
	push(&r, (struct event){ .role = EVENT_ENTRY, .ts = 100, .pid = 1 });
	leave(&r, 200, 0);
	assert_int_equal(r.nr, 1);
	expect_fault(&r.steps[0], PAGE + 8, 100, 200, 0);
	assert_true(r.steps[0].fault->has_address);
	close_run(&r, 0, 0);
}

/* With a pair, an exception that leads nowhere is no fault, and is counted as such. */
static void unmatched_exceptions(void **state)
{
	struct run r;

	open_run(&r, PAIR);
	exception(&r, 80, 0, OTHER, X86_PF_WRITE); /* of another page than the entry */
	entry(&r, 100, PAGE, USER);
	leave(&r, 200, 0);
	exception(&r, 300, 0, PAGE, 0); /* followed by another */
	exception(&r, 310, 0, OTHER, 0);
	entry(&r, 320, OTHER, USER);
	leave(&r, 400, 0);
	exception(&r, 500, 0, PAGE, 0); /* the last */
	assert_int_equal(r.nr, 2);
	assert_false(r.steps[0].fault->has_error_code);
	assert_true(r.steps[1].fault->has_error_code);
	assert_int_equal(r.faults.unmatched_exceptions, 2);
	assert_int_equal(faults_finish(&r.faults, &r.steps[2]), 0);
	assert_int_equal(r.faults.unmatched_exceptions, 3);
	close_run(&r, 0, 0);
}

static void fork_by_pair_of_dup_mmap(void **state)
{
	struct run r;

	open_run(&r, (struct faults_options){ .has_pair = true, .has_copy = true });
	push(&r, (struct event){
			 .role = EVENT_FORK_COPY, .ts = 100, .pid = 1, .mm = CHILD, .oldmm = MM });
	assert_int_equal(r.nr, 0);
	push(&r, (struct event){ .role = EVENT_FORK_COPIED, .ts = 200, .pid = 1 });
	assert_int_equal(r.nr, 1);
	expect_step(&r.steps[0], STEP_FORK, CHILD, MM);
	/* it was said: nothing more of it */
	push(&r, (struct event){ .role = EVENT_FORK, .ts = 300, .pid = 1, .number = 2 });
	entry_of(&r, 400, 2, CHILD, PAGE, USER);
	assert_int_equal(r.nr, 1);
	exit_of(&r, 450, 2, 0);
	close_run(&r, 0, 0);
}

static void fork_by_entry_of_dup_mmap(void **state)
{
	struct run r;

	open_run(&r, (struct faults_options){ .has_pair = true, .has_copy = true });
	push(&r, (struct event){
			 .role = EVENT_FORK_COPY, .ts = 100, .pid = 1, .mm = CHILD, .oldmm = MM });
	push(&r, (struct event){ .role = EVENT_FORK, .ts = 300, .pid = 1, .number = 2 });
	assert_int_equal(r.nr, 1);
	expect_step(&r.steps[0], STEP_FORK, CHILD, MM);
	/* a thread: no copy before it */
	push(&r, (struct event){ .role = EVENT_FORK, .ts = 400, .pid = 1, .number = 3 });
	assert_int_equal(r.nr, 1);
	close_run(&r, 0, 0);
}

static void new_task(struct run *r, uint64_t ts, int child, bool shares_mm)
{
	push(r, (struct event){ .role = EVENT_FORK,
				.ts = ts,
				.pid = 1,
				.number = child,
				.knows_sharing = true,
				.shares_mm = shares_mm });
}

static void fork_event(struct run *r, uint64_t ts, int child)
{
	push(r, (struct event){ .role = EVENT_FORK, .ts = ts, .pid = 1, .number = child });
}

/* task_newtask comes first, sched_process_fork right after it; the mm shows with a fault. */
static void fork_by_task_newtask(void **state)
{
	struct run r;

	open_run(&r, PAIR);
	entry(&r, 100, PAGE, USER);
	leave(&r, 150, 0);
	new_task(&r, 200, 2, false);
	fork_event(&r, 210, 2);
	assert_int_equal(r.nr, 1);
	entry_of(&r, 300, 2, CHILD, PAGE, USER);
	assert_int_equal(r.nr, 2);
	expect_step(&r.steps[1], STEP_FORK, CHILD, MM);
	exit_of(&r, 350, 2, 0);
	entry_of(&r, 400, 2, CHILD, OTHER, USER); /* once */
	exit_of(&r, 450, 2, 0);
	assert_int_equal(r.nr, 4);
	close_run(&r, 0, 0);
}

static void clone_vm_is_no_fork(void **state)
{
	struct run r;

	open_run(&r, PAIR);
	entry(&r, 100, PAGE, USER);
	leave(&r, 150, 0);
	new_task(&r, 200, 2, true);
	fork_event(&r, 210, 2);
	/* vfork: it executes another program, with a new mm */
	entry_of(&r, 300, 2, NEW_MM, PAGE, USER);
	exit_of(&r, 350, 2, 0);
	assert_int_equal(r.nr, 2);
	assert_int_equal(r.steps[1].kind, STEP_FAULT);
	close_run(&r, 0, 0);
}

/* sched_process_fork alone cannot tell a thread from a process: its first fault can. */
static void late_fork(void **state)
{
	struct run r;

	open_run(&r, PAIR);
	entry(&r, 100, PAGE, USER);
	leave(&r, 150, 0);
	fork_event(&r, 200, 2);
	fork_event(&r, 210, 3);
	fork_event(&r, 220, 4);
	entry_of(&r, 300, 2, MM, PAGE, USER); /* a thread */
	exit_of(&r, 310, 2, 0);
	assert_int_equal(r.nr, 2);
	entry_of(&r, 320, 3, CHILD, PAGE, USER);
	assert_int_equal(r.nr, 3);
	expect_step(&r.steps[2], STEP_FORK, CHILD, MM);
	exit_of(&r, 330, 3, 0);
	task_event(&r, EVENT_EXEC, 400, 4); /* nothing of the parent is left by its first fault */
	entry_of(&r, 410, 4, NEW_MM, PAGE, USER);
	exit_of(&r, 420, 4, 0);
	assert_int_equal(r.nr, 5);
	assert_int_equal(r.steps[4].kind, STEP_FAULT);
	close_run(&r, 0, 0);
}

/* Exec fills the new stack by remote faults, and the mm is the task's from then on. */
static void exec_ends_the_old_mm(void **state)
{
	struct run r;

	open_run(&r, PAIR);
	entry(&r, 100, PAGE, USER);
	leave(&r, 150, 0);
	entry_of(&r, 200, 1, NEW_MM, OTHER, WRITE | FAULT_FLAG_REMOTE);
	leave(&r, 250, 0);
	task_event(&r, EVENT_EXEC, 300, 1);
	assert_int_equal(r.nr, 3);
	expect_step(&r.steps[2], STEP_EXEC, NEW_MM, MM);
	/* again, with nothing known of the new one */
	task_event(&r, EVENT_EXEC, 400, 1);
	assert_int_equal(r.nr, 4);
	expect_step(&r.steps[3], STEP_EXEC, 0, NEW_MM);
	close_run(&r, 0, 0);
}

/* Where exit_mmap is traced it ends the old mm, which others may share (vfork). */
static void exec_with_exit_mmap(void **state)
{
	struct run r;

	open_run(&r, (struct faults_options){ .has_pair = true, .has_mm_exit = true });
	entry(&r, 100, PAGE, USER);
	leave(&r, 150, 0);
	push(&r, (struct event){ .role = EVENT_MM_EXIT, .ts = 200, .pid = 9, .mm = MM });
	assert_int_equal(r.nr, 2);
	expect_step(&r.steps[1], STEP_MM_EXIT, MM, 0);
	entry_of(&r, 210, 1, NEW_MM, OTHER, WRITE | FAULT_FLAG_REMOTE);
	leave(&r, 250, 0);
	task_event(&r, EVENT_EXEC, 300, 1);
	expect_step(&r.steps[3], STEP_EXEC, NEW_MM, 0);
	task_event(&r, EVENT_TASK_EXIT, 400, 1);
	assert_int_equal(r.nr, 4);
	close_run(&r, 0, 0);
}

/* Without exit_mmap an mm may be gone with the last task that is known to have used it. */
static void last_task_of_an_mm(void **state)
{
	struct run r;

	open_run(&r, PAIR);
	entry_of(&r, 100, 1, MM, PAGE, USER);
	exit_of(&r, 110, 1, 0);
	entry_of(&r, 120, 2, MM, OTHER, USER);
	exit_of(&r, 130, 2, 0);
	task_event(&r, EVENT_TASK_EXIT, 200, 1);
	assert_int_equal(r.nr, 2);
	task_event(&r, EVENT_TASK_EXIT, 210, 2);
	assert_int_equal(r.nr, 3);
	expect_step(&r.steps[2], STEP_UNCERTAIN, MM, 0);
	close_run(&r, 0, 0);
}

/* A new task with an old number inherits nothing: neither open faults nor retries. */
static void pid_reused(void **state)
{
	struct run r;

	open_run(&r, (struct faults_options){ .has_pair = true, .has_mm_exit = true });
	entry(&r, 100, OTHER, 0);
	entry(&r, 110, PAGE, 0);
	leave(&r, 120, RETRY);
	task_event(&r, EVENT_TASK_EXIT, 200, 1);
	entry_of(&r, 300, 1, NEW_MM, PAGE, 0);
	leave(&r, 350, 0);
	leave(&r, 360, 0);
	assert_int_equal(r.nr, 1);
	expect_fault(&r.steps[0], PAGE, 300, 350, 0);
	assert_int_equal(r.steps[0].fault->mm, NEW_MM);
	close_run(&r, 1, 1);
}

static void collapse_makes_an_mm_uncertain(void **state)
{
	struct run r;

	open_run(&r, PAIR);
	push(&r, (struct event){ .role = EVENT_COLLAPSE, .ts = 100, .pid = 9, .mm = MM });
	assert_int_equal(r.nr, 1);
	expect_step(&r.steps[0], STEP_UNCERTAIN, MM, 0);
	close_run(&r, 0, 0);
}

/* Allocations and the like outside of any fault are nobody's. */
static void events_outside_of_faults(void **state)
{
	struct run r;

	open_run(&r, PAIR);
	push(&r, (struct event){ .role = EVENT_ALLOC, .pid = 1, .number = 9 });
	push(&r, (struct event){ .role = EVENT_RSS, .pid = 1, .number = RSS_ANON });
	push(&r, (struct event){ .role = EVENT_WORKER, .pid = 1, .number = 16 });
	entry(&r, 100, PAGE, USER);
	leave(&r, 150, 0);
	assert_int_equal(r.nr, 1);
	assert_false(r.steps[0].fault->allocated);
	assert_int_equal(r.steps[0].fault->order, ORDER_UNKNOWN);
	assert_int_equal(r.steps[0].fault->rss, 0);
	assert_int_equal(r.steps[0].fault->worker_ptes, -1);
	close_run(&r, 0, 0);
}

/* An order that no folio has is not believed. */
static void absurd_order(void **state)
{
	struct run r;

	open_run(&r, PAIR);
	for (int i = 0; i < 2; i++) {
		entry(&r, 100 + i, PAGE, USER);
		push(&r, (struct event){ .role = EVENT_ALLOC, .pid = 1, .number = i ? 1000 : -1 });
		leave(&r, 150 + i, 0);
		assert_int_equal(r.steps[i].fault->order, ORDER_UNKNOWN);
	}
	close_run(&r, 0, 0);
}

/* Clocks of two CPUs may disagree: no latency below zero. */
static void exit_before_entry(void **state)
{
	struct run r;

	open_run(&r, PAIR);
	entry(&r, 100, PAGE, USER);
	leave(&r, 90, 0);
	assert_int_equal(r.nr, 1);
	assert_int_equal(r.steps[0].fault->latency, 0);
	close_run(&r, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_fault),
		cmocka_unit_test(nested_faults_are_a_stack),
		cmocka_unit_test(tasks_do_not_mix),
		cmocka_unit_test(retry_after_vma_lock),
		cmocka_unit_test(retry_with_tried_is_major),
		cmocka_unit_test(abandoned_retry),
		cmocka_unit_test(retry_at_the_end),
		cmocka_unit_test(nested_retry),
		cmocka_unit_test(remote_belongs_to_the_mm_it_names),
		cmocka_unit_test(unpaired),
		cmocka_unit_test(user_entry_drops_what_is_open),
		cmocka_unit_test(loss_drops_what_is_open),
		cmocka_unit_test(loss_elsewhere_drops_nothing),
		cmocka_unit_test(loss_where_the_task_has_come_to),
		cmocka_unit_test(loss_before_the_fault_is_past),
		cmocka_unit_test(loss_behind_an_unknown_cpu),
		cmocka_unit_test(loss_drops_a_retry),
		cmocka_unit_test(migration_in_mid_fault),
		cmocka_unit_test(exceptions_alone),
		cmocka_unit_test(exceptions_alone_then_task_exit),
		cmocka_unit_test(exception_and_pair_are_one_fault),
		cmocka_unit_test(exception_gives_the_address),
		cmocka_unit_test(unmatched_exceptions),
		cmocka_unit_test(fork_by_pair_of_dup_mmap),
		cmocka_unit_test(fork_by_entry_of_dup_mmap),
		cmocka_unit_test(fork_by_task_newtask),
		cmocka_unit_test(clone_vm_is_no_fork),
		cmocka_unit_test(late_fork),
		cmocka_unit_test(exec_ends_the_old_mm),
		cmocka_unit_test(exec_with_exit_mmap),
		cmocka_unit_test(last_task_of_an_mm),
		cmocka_unit_test(pid_reused),
		cmocka_unit_test(collapse_makes_an_mm_uncertain),
		cmocka_unit_test(events_outside_of_faults),
		cmocka_unit_test(absurd_order),
		cmocka_unit_test(exit_before_entry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
