// SPDX-License-Identifier: GPL-2.0-or-later
/* Page-fault events for the trace writer: their declarations and one function for each. */
#include <string.h>

#include "trace_writer_faults.h"
#include "trace_writer_int.h"

/* Addresses of the probed functions, as the lab's kernel had them. */
#define HANDLE_MM_FAULT	 0xffffffff8120d574ULL
#define HANDLE_MM_CALLER 0xffffffff8106073bULL
#define DUP_MMAP	 0xffffffff81213da4ULL
#define DUP_MMAP_CALLER	 0xffffffff8106de94ULL
#define MM_MT_OFFSET	 0x40

enum known {
	FAULT_ENTRY,
	FAULT_EXIT,
	DUP_MMAP_ENTRY,
	DUP_MMAP_EXIT,
	EXIT_MMAP,
	PAGE_FAULT_USER,
	PAGE_FAULT_KERNEL,
	MM_PAGE_ALLOC,
	RSS_STAT,
	PROCESS_FORK,
	PROCESS_EXEC,
	PROCESS_EXIT,
	SCHED_SWITCH,
	FUNCGRAPH_ENTRY,
	FUNCGRAPH_EXIT,
	NR_KNOWN,
};

_Static_assert(NR_KNOWN <= TW_NR_KNOWN, "struct trace_writer has room for all known events");

static const struct {
	const char *system, *name;
	unsigned int id;
	bool probe;
	const char *declaration;
} known_events[NR_KNOWN] = {
	[FAULT_ENTRY] = { "faults", "fault_entry", 1057, true,
			  "unsigned long __probe_ip; u64 start; u64 end; u64 mm; u64 address; "
			  "u32 flags" },
	[FAULT_EXIT] = { "faults", "fault_exit", 1058, true,
			 "unsigned long __probe_func; unsigned long __probe_ret_ip; u32 ret" },
	[DUP_MMAP_ENTRY] = { "faults", "dup_mmap_entry", 1059, true,
			     "unsigned long __probe_ip; u64 mm; u64 oldmm" },
	[DUP_MMAP_EXIT] = { "faults", "dup_mmap_exit", 1060, true,
			    "unsigned long __probe_func; unsigned long __probe_ret_ip; s32 ret" },
	[EXIT_MMAP] = { "mmap", "exit_mmap", 562, false,
			"struct mm_struct * mm; struct maple_tree * mt" },
	[PAGE_FAULT_USER] = { "exceptions", "page_fault_user", 79, false,
			      "unsigned long address; unsigned long ip; unsigned long error_code" },
	[PAGE_FAULT_KERNEL] = { "exceptions", "page_fault_kernel", 78, false,
				"unsigned long address; unsigned long ip; "
				"unsigned long error_code" },
	[MM_PAGE_ALLOC] = { "kmem", "mm_page_alloc", 519, false,
			    "unsigned long pfn; unsigned int order; unsigned long gfp_flags; "
			    "int migratetype" },
	[RSS_STAT] = { "kmem", "rss_stat", 512, false,
		       "unsigned int mm_id; unsigned int curr; int member; long size" },
	[PROCESS_FORK] = { "sched", "sched_process_fork", 251, false,
			   "__data_loc char[] parent_comm; pid_t parent_pid; "
			   "__data_loc char[] child_comm; pid_t child_pid" },
	[PROCESS_EXEC] = { "sched", "sched_process_exec", 250, false,
			   "__data_loc char[] filename; pid_t pid; pid_t old_pid" },
	[PROCESS_EXIT] = { "sched", "sched_process_exit", 254, false,
			   "char comm[16]; pid_t pid; int prio; bool group_dead" },
	[SCHED_SWITCH] = { "sched", "sched_switch", 257, false,
			   "char prev_comm[16]; pid_t prev_pid; int prev_prio; long prev_state; "
			   "char next_comm[16]; pid_t next_pid; int next_prio" },
	[FUNCGRAPH_ENTRY] = { "ftrace", "funcgraph_entry", 11, false,
			      "unsigned long func; unsigned long depth" },
	[FUNCGRAPH_EXIT] = { "ftrace", "funcgraph_exit", 10, false,
			     "unsigned long func; unsigned long retval; unsigned int depth; "
			     "unsigned int overrun; unsigned long long calltime; "
			     "unsigned long long rettime" },
};

static const struct tw_event *known(struct trace_writer *w, enum known nr)
{
	if (!w->known[nr]) {
		struct tw_event *(*add)(struct trace_writer *, const char *, const char *,
					unsigned int, const char *);

		add = known_events[nr].probe ? tw_add_probe : tw_add_event;
		w->known[nr] = add(w, known_events[nr].system, known_events[nr].name,
				   known_events[nr].id, known_events[nr].declaration);
	}
	return w->known[nr];
}

void tw_declare_faults(struct trace_writer *w)
{
	for (int i = 0; i < NR_KNOWN; i++)
		known(w, i);
}

void tw_fault_entry(struct trace_writer *w, struct tw_at at, const struct tw_vma *vma,
		    uint64_t address, uint32_t flags)
{
	tw_record(w, at, known(w, FAULT_ENTRY),
		  TW_VALUES(HANDLE_MM_FAULT, vma->start, vma->end, vma->mm, address, flags));
}

void tw_fault_exit(struct trace_writer *w, struct tw_at at, uint32_t ret)
{
	tw_record(w, at, known(w, FAULT_EXIT), TW_VALUES(HANDLE_MM_FAULT, HANDLE_MM_CALLER, ret));
}

void tw_fault(struct trace_writer *w, struct tw_at at, uint64_t lat, const struct tw_vma *vma,
	      uint64_t address, uint32_t flags, uint32_t ret)
{
	tw_fault_entry(w, at, vma, address, flags);
	at.ts += lat;
	tw_fault_exit(w, at, ret);
}

void tw_page_alloc(struct trace_writer *w, struct tw_at at, uint64_t pfn, unsigned int order,
		   uint64_t gfp)
{
	tw_record(w, at, known(w, MM_PAGE_ALLOC), TW_VALUES(pfn, order, gfp, 1));
}

void tw_rss_stat(struct trace_writer *w, struct tw_at at, bool curr, int member, int64_t size)
{
	tw_record(w, at, known(w, RSS_STAT), TW_VALUES(0, curr, member, size));
}

void tw_page_fault(struct trace_writer *w, struct tw_at at, bool user, uint64_t address,
		   uint64_t ip, uint64_t error_code)
{
	tw_record(w, at, known(w, user ? PAGE_FAULT_USER : PAGE_FAULT_KERNEL),
		  TW_VALUES(address, ip, error_code));
}

void tw_exit_mmap(struct trace_writer *w, struct tw_at at, uint64_t mm)
{
	tw_record(w, at, known(w, EXIT_MMAP), TW_VALUES(mm, mm + MM_MT_OFFSET));
}

void tw_dup_mmap_entry(struct trace_writer *w, struct tw_at at, uint64_t mm, uint64_t oldmm)
{
	tw_record(w, at, known(w, DUP_MMAP_ENTRY), TW_VALUES(DUP_MMAP, mm, oldmm));
}

void tw_dup_mmap_exit(struct trace_writer *w, struct tw_at at, int ret)
{
	tw_record(w, at, known(w, DUP_MMAP_EXIT), TW_VALUES(DUP_MMAP, DUP_MMAP_CALLER, ret));
}

void tw_process_fork(struct trace_writer *w, struct tw_at at, const char *comm, int child_pid)
{
	tw_record(w, at, known(w, PROCESS_FORK),
		  TW_VALUES(TW_STR(comm), at.pid, TW_STR(comm), child_pid));
}

void tw_process_exec(struct trace_writer *w, struct tw_at at, const char *filename, int old_pid)
{
	tw_record(w, at, known(w, PROCESS_EXEC), TW_VALUES(TW_STR(filename), at.pid, old_pid));
}

void tw_process_exit(struct trace_writer *w, struct tw_at at, const char *comm, bool group_dead)
{
	tw_record(w, at, known(w, PROCESS_EXIT), TW_VALUES(TW_STR(comm), at.pid, 120, group_dead));
}

void tw_sched_switch(struct trace_writer *w, struct tw_at at, const char *prev_comm,
		     const char *next_comm, int next_pid)
{
	tw_record(w, at, known(w, SCHED_SWITCH),
		  TW_VALUES(TW_STR(prev_comm), at.pid, 120, 0, TW_STR(next_comm), next_pid, 120));
}

void tw_funcgraph_entry(struct trace_writer *w, struct tw_at at, uint64_t func, unsigned int depth)
{
	tw_record(w, at, known(w, FUNCGRAPH_ENTRY), TW_VALUES(func, depth));
}

void tw_funcgraph_exit(struct trace_writer *w, struct tw_at at, uint64_t func, unsigned int depth,
		       uint64_t entry_ts, uint64_t retval)
{
	tw_record(w, at, known(w, FUNCGRAPH_EXIT),
		  TW_VALUES(func, retval, depth, 0, entry_ts, at.ts));
}
