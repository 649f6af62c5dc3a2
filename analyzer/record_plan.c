// SPDX-License-Identifier: GPL-2.0-or-later
/* What record sets in a kernel: two tables, and what of them the kernel offers. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record_plan.h"

enum preset {
	PRESET_FAULT = 0x1,
	PRESET_FORK = 0x2,
	PRESET_RECLAIM = 0x4,
	PRESET_COLLAPSE = 0x8
};

#define PRESETS_MM  (PRESET_FAULT | PRESET_FORK | PRESET_COLLAPSE)
#define PRESETS_ALL (PRESETS_MM | PRESET_RECLAIM)

static const struct {
	const char *name;
	enum preset preset;
	bool whole_system;
} presets[] = {
	{ "fault", PRESET_FAULT, false },
	{ "fork", PRESET_FORK, false },
	{ "reclaim", PRESET_RECLAIM, true },
	{ "collapse", PRESET_COLLAPSE, true },
};

/*
 * Functions worth a probe. vm_area_struct begins with vm_start, vm_end and vm_mm on 64-bit kernels
 * since 6.1. NULL arguments: no probe on that side.
 */
static const struct {
	const char *function;
	unsigned int presets;
	const char *entry, *entry_args;
	const char *exit, *exit_args;
} probes[] = {
	{ "handle_mm_fault", PRESETS_ALL, "fault_entry",
	  "start=+0($arg1):x64 end=+8($arg1):x64 mm=+16($arg1):x64 address=$arg2:x64 flags=$arg3:x32",
	  "fault_exit", "ret=$retval:x32" },
	{ "dup_mmap", PRESETS_MM, "dup_mmap_entry", "mm=$arg1:x64 oldmm=$arg2:x64", "dup_mmap_exit",
	  "ret=$retval:s32" },
	/* kunit/patches: how many PTEs the fault resolved */
	{ "wp_reuse_folio", PRESET_FAULT, NULL, NULL, "reuse_worker", "ptes=$retval:s32" },
	{ "wp_copy_folio", PRESET_FAULT, NULL, NULL, "copy_worker", "ptes=$retval:s32" },
	/* arm64: a block of PTEs is put together (PTE_CONT, bit 52, in the new PTE) or taken apart
	 */
	{ "contpte_convert", PRESET_FAULT, "contpte_convert",
	  "address=$arg2:x64 cont=$arg4:b1@52/64", NULL, NULL },
	{ "copy_page_range", PRESET_FORK, "copy_page_range_entry",
	  "start=+0($arg2):x64 end=+8($arg2):x64", "copy_page_range_exit", "ret=$retval:s32" },
	{ "folio_referenced", PRESET_RECLAIM, "folio_referenced_entry", "folio=$arg1:x64",
	  "folio_referenced_exit", "young=$retval:s32" },
};

static const struct {
	const char *system, *name;
	unsigned int presets;
} events[] = {
	{ "mmap", "exit_mmap", PRESETS_MM },
	{ "sched", "sched_process_fork", PRESETS_MM },
	{ "sched", "sched_process_exec", PRESETS_MM },
	{ "sched", "sched_process_exit", PRESETS_MM },
	{ "kmem", "mm_page_alloc", PRESETS_MM },
	{ "huge_memory", "mm_collapse_huge_page", PRESET_COLLAPSE },
	{ "huge_memory", "mm_collapse_huge_page_isolate", PRESET_COLLAPSE },
	{ "huge_memory", "mm_khugepaged_scan_pmd", PRESET_COLLAPSE },
	{ "vmscan", "mm_vmscan_lru_shrink_inactive", PRESET_RECLAIM },
	{ "vmscan", "mm_vmscan_memcg_reclaim_begin", PRESET_RECLAIM },
	{ "vmscan", "mm_vmscan_memcg_reclaim_end", PRESET_RECLAIM },
};

#define NR(array) (sizeof(array) / sizeof(*(array)))

static int add(char ***list, size_t *nr, const char *format, const char *a, const char *b,
	       const char *c, const char *d)
{
	char **grown = reallocarray(*list, *nr + 1, sizeof(**list));

	if (!grown)
		return -ENOMEM;
	*list = grown;
	if (asprintf(&grown[*nr], format, a, b, c, d) < 0)
		return -ENOMEM;
	(*nr)++;
	return 0;
}

/* The entry and the exit of probes[i], by fprobe where the kernel has it. */
static int add_pair(struct record_plan *plan, size_t i, const char *group, bool fprobes)
{
	/* A return of a kretprobe is lost when its instances run out: ask for many. */
	static const char *const forms[2][2] = { { "p:%s/%s %s %s", "r1024:%s/%s %s %s" },
						 { "f:%s/%s %s %s", "f:%s/%s %s%%return %s" } };
	const char *sides[2][2] = { { probes[i].entry, probes[i].entry_args },
				    { probes[i].exit, probes[i].exit_args } };
	int err = 0;

	for (int side = 0; side < 2 && !err; side++) {
		if (!sides[side][0])
			continue;
		err = add(&plan->probes, &plan->nr_probes, forms[fprobes][side], group,
			  sides[side][0], probes[i].function, sides[side][1]);
		if (!err)
			err = add(&plan->events, &plan->nr_events, "%s:%s", group, sides[side][0],
				  NULL, NULL);
	}
	return err;
}

static int find_preset(const char *name)
{
	for (size_t i = 0; i < NR(presets); i++)
		if (!strcmp(presets[i].name, name))
			return i;
	return -EINVAL;
}

bool record_plan_has(const char *preset)
{
	return find_preset(preset) >= 0;
}

int record_plan_make(struct record_plan *plan, const char *preset, const char *group,
		     const struct record_offer *offer, const char **reason)
{
	int at = find_preset(preset), err = 0;

	if (at < 0)
		return at;
	*reason = NULL;
	if (!offer->fprobes && !offer->kprobes)
		*reason = "this kernel has neither fprobe nor kprobe events";
	else if (!offer->has_function(offer->ctx, "handle_mm_fault"))
		*reason = "this kernel lets nobody probe handle_mm_fault";
	if (*reason)
		return -EOPNOTSUPP;

	plan->whole_system = presets[at].whole_system;
	for (size_t i = 0; i < NR(probes) && !err; i++) {
		if (probes[i].presets & presets[at].preset &&
		    offer->has_function(offer->ctx, probes[i].function))
			err = add_pair(plan, i, group, offer->fprobes);
	}
	for (size_t i = 0; i < NR(events) && !err; i++) {
		if (events[i].presets & presets[at].preset &&
		    offer->has_event(offer->ctx, events[i].system, events[i].name))
			err = add(&plan->events, &plan->nr_events, "%s:%s", events[i].system,
				  events[i].name, NULL, NULL);
	}
	if (err)
		record_plan_release(plan);
	return err;
}

void record_plan_release(struct record_plan *plan)
{
	for (size_t i = 0; i < plan->nr_probes; i++)
		free(plan->probes[i]);
	for (size_t i = 0; i < plan->nr_events; i++)
		free(plan->events[i]);
	free(plan->probes);
	free(plan->events);
	*plan = (struct record_plan){ 0 };
}
