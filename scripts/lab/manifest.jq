# SPDX-License-Identifier: GPL-2.0-or-later
# A recording's manifest from what lab.sh knows. The oracle is what the workload printed while it was recorded.

# What recording costs: executed instructions of a phase with and without it, over the phase's faults.
def cost($recorded; $plain):
	($recorded.ru_minflt + $recorded.ru_majflt) as $faults |
	{ phase: $recorded.phase, recorded_ns: $recorded.wall_ns, unrecorded_ns: $plain.wall_ns,
	  unrecorded_store_ns: $plain.store_ns,
	  ns_per_fault: (if $faults > 0 then (($recorded.wall_ns - $plain.wall_ns) / $faults | round) else null end) };

# The pages that the workload used, by what made their PTEs usable: populating, and storing after a fork. A range
# that is used so several times (by each child) stands here once.
def used:
	{ populate: ["map"], repopulate: ["map"], store: ["reuse", "cow"] } as $classes |
	[.[] | .phase as $phase | ($classes[$phase] // [])[] as $class |
		{ class: $class, start: .start, "end": .end, every: (.every // 1) }] | unique;

{ schema: "fault-analyze-manifest/1",
  exact: true,
  row: $row, name: $name, side: $side,
  kernel: $kernel[0].kernel, arch: $kernel[0].arch, boot: $name, build: $kernel[0].image_sha256,
  kernel_build: $kernel[0], guest: $guest, boot_parameters: $parameters,
  preset: $preset, probes: ($probes | split("\n")), events: ($events | split(" ")), clock: $clock,
  kallsyms: "the probed functions alone",
  trace_cmd: $trace_cmd, qemu_version: $qemu_version, qemu: $qemu, date: $date,
  workload: $workload,
  oracle: $oracle,
  used: ($oracle | used),
  event_counts: $event_counts,
  recording_cost: [range($oracle | length) as $i | cost($oracle[$i]; $unrecorded[$i])] }
