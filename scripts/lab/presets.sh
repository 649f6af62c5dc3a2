# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2016,SC2034 # the kernel expands $arg1; the sourcing script reads these
# What each preset records: probes (lines of dynamic_events) and events. Sourced, never run.

# vm_area_struct begins with vm_start, vm_end, vm_mm on 64-bit kernels since 6.1.
probes_pair='f:faults/fault_entry handle_mm_fault start=+0($arg1):x64 end=+8($arg1):x64 mm=+16($arg1):x64 address=$arg2:x64 flags=$arg3:x32
f:faults/fault_exit handle_mm_fault%return ret=$retval:x32'
events_pair='faults:fault_entry faults:fault_exit'

# Fires outside of faults, but for mm_page_alloc, which names the folio of a fault that allocates one.
probes_mm='f:faults/dup_mmap_entry dup_mmap mm=$arg1:x64 oldmm=$arg2:x64
f:faults/dup_mmap_exit dup_mmap%return ret=$retval:s32'
events_mm='faults:dup_mmap_entry faults:dup_mmap_exit mmap:exit_mmap sched:sched_process_fork
sched:sched_process_exec sched:sched_process_exit kmem:mm_page_alloc'

# The whole copy of one VMA's page tables, and the end of an address space's mappings.
probes_fork='f:lab/copy_page_range_entry copy_page_range start=+0($arg2):x64 end=+8($arg2):x64
f:lab/copy_page_range_exit copy_page_range%return ret=$retval:s32'
events_fork='lab:copy_page_range_entry lab:copy_page_range_exit'

# arm64: a block of contiguous PTEs is put together (the new PTE has PTE_CONT, bit 52) or taken apart. Its callers
# __contpte_try_fold and __contpte_try_unfold are inlined where it matters.
probes_contpte='f:lab/contpte_convert contpte_convert address=$arg2:x64 cont=$arg4:b1@52/64'
events_contpte='lab:contpte_convert'

# One call looks at all PTEs of one folio; the return value is how many of them were young.
probes_reclaim='f:lab/folio_referenced_entry folio_referenced folio=$arg1:x64
f:lab/folio_referenced_exit folio_referenced%return young=$retval:s32'
events_reclaim='lab:folio_referenced_entry lab:folio_referenced_exit vmscan:mm_vmscan_lru_shrink_inactive
vmscan:mm_vmscan_memcg_reclaim_begin vmscan:mm_vmscan_memcg_reclaim_end'
setup_reclaim='mkdir /disk && mount -t xfs /dev/vda /disk'

events_collapse='huge_memory:mm_collapse_huge_page huge_memory:mm_khugepaged_scan_pmd
huge_memory:mm_collapse_huge_page_isolate'

# Of the patched kernel: how many PTEs a fault resolved.
probes_worker='f:lab/wp_reuse_folio_exit wp_reuse_folio%return ptes=$retval:s32'
events_worker='lab:wp_reuse_folio_exit'

# preset NAME KERNEL: sets probes, events, clock, setup (commands in the guest), disk_mb (0: none) and parts (of
# lab-image.sh); false for an unknown name. The clock "mono" is the one in which the oracle says when a phase began.
preset() {
	probes=$probes_pair
	events=$events_pair
	clock=local
	setup=
	disk_mb=0
	parts=base
	case $1 in
	pair) clock=mono ;;
	fault | worker | fork | contpte | collapse | redis)
		probes+=$'\n'$probes_mm
		events+=" $events_mm"
		;;&
	worker)
		[ "$2" = plain ] || probes+=$'\n'$probes_worker
		[ "$2" = plain ] || events+=" $events_worker"
		;;
	fork)
		probes+=$'\n'$probes_fork
		events+=" $events_fork"
		;;
	contpte)
		probes+=$'\n'$probes_contpte
		events+=" $events_contpte"
		;;
	collapse)
		events+=" $events_collapse"
		;;
	reclaim | reclaim-mglru)
		probes+=$'\n'$probes_reclaim
		events+=" $events_reclaim"
		disk_mb=512
		setup=$setup_reclaim' && echo n >/sys/kernel/mm/lru_gen/enabled'
		[ "$1" = reclaim ] || setup=${setup/echo n/echo y}
		;;
	redis)
		clock=mono
		parts='base redis'
		;;
	fault) ;;
	*) return 1 ;;
	esac
	events=${events//$'\n'/ }
}
