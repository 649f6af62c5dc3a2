/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Page-fault events for the trace writer, with the names, ids and layouts of the recordings in
 * traces/lab (Linux 7.3, x86-64). An event is declared when first recorded; tw_declare_faults()
 * declares all of them, as tw_generate() needs it, since formats precede the data.
 */
#ifndef TRACE_WRITER_FAULTS_H
#define TRACE_WRITER_FAULTS_H

#include "trace_writer.h"

/*
 * What Linux 7.3 asks for: GFP_HIGHUSER_MOVABLE | __GFP_ZERO | __GFP_COMP for an anonymous page,
 * the like without direct reclaim for an mTHP folio, GFP_KERNEL_ACCOUNT | … for a page table
 */
#define TW_GFP_FOLIO 0x140dcaULL
#define TW_GFP_MTHP  0x1c24caULL
#define TW_GFP_TABLE 0x440dc0ULL

/* The VMA and address space of a fault, as the probe reads them. */
struct tw_vma {
	uint64_t start, end, mm;
};

void tw_declare_faults(struct trace_writer *w);

/* faults:fault_entry and fault_exit, an fprobe pair on handle_mm_fault(); flags and ret as there */
void tw_fault_entry(struct trace_writer *w, struct tw_at at, const struct tw_vma *vma,
		    uint64_t address, uint32_t flags);
void tw_fault_exit(struct trace_writer *w, struct tw_at at, uint32_t ret);

/* An entry at at.ts and its exit lat later. */
void tw_fault(struct trace_writer *w, struct tw_at at, uint64_t lat, const struct tw_vma *vma,
	      uint64_t address, uint32_t flags, uint32_t ret);

void tw_page_alloc(struct trace_writer *w, struct tw_at at, uint64_t pfn, unsigned int order,
		   uint64_t gfp);
void tw_rss_stat(struct trace_writer *w, struct tw_at at, bool curr, int member, int64_t size);

/* exceptions:page_fault_user or _kernel; error_code as x86 has it */
void tw_page_fault(struct trace_writer *w, struct tw_at at, bool user, uint64_t address,
		   uint64_t ip, uint64_t error_code);

/* mmap:exit_mmap, with &mm->mm_mt at its offset of 0x40 */
void tw_exit_mmap(struct trace_writer *w, struct tw_at at, uint64_t mm);
void tw_dup_mmap_entry(struct trace_writer *w, struct tw_at at, uint64_t mm, uint64_t oldmm);
void tw_dup_mmap_exit(struct trace_writer *w, struct tw_at at, int ret);

void tw_process_fork(struct trace_writer *w, struct tw_at at, const char *comm, int child_pid);
void tw_process_exec(struct trace_writer *w, struct tw_at at, const char *filename, int old_pid);
void tw_process_exit(struct trace_writer *w, struct tw_at at, const char *comm, bool group_dead);
void tw_sched_switch(struct trace_writer *w, struct tw_at at, const char *prev_comm,
		     const char *next_comm, int next_pid);

/* ftrace:funcgraph_entry and funcgraph_exit of the function at address func; times as stamps */
void tw_funcgraph_entry(struct trace_writer *w, struct tw_at at, uint64_t func, unsigned int depth);
void tw_funcgraph_exit(struct trace_writer *w, struct tw_at at, uint64_t func, unsigned int depth,
		       uint64_t entry_ts, uint64_t retval);

#endif
