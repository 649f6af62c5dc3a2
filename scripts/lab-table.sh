#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A Markdown table of what the manifests in a folder say: the kernel's own counts, before and after.
#
# usage: scripts/lab-table.sh [FOLDER]     (traces/pairs)
#
# Of each recording the phase that its mode is about: faults, and guest instructions of that phase in the same
# boot without the recorder. Several such phases (children) are added up; of several forks the last one counts.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/lib.sh
. "$here/lib.sh"
need jq jq
folder=${1:-$here/../traces/pairs}
compgen -G "$folder/*.dat.json" >/dev/null || die "no manifests in $folder"

# shellcheck disable=SC2016 # jq's variables
jq -rs '
def about: { reuse: "store", cow: "store", usemem: "store", dontneed: "dontneed" }[.mode] // .mode;
def phases: [.oracle, .recording_cost] | transpose |
	map({ phase: .[0].phase, about: (.[0] | about), faults: (.[0].ru_minflt + .[0].ru_majflt),
	      instructions: .[1].unrecorded_ns, done: (.[0].collapsed_bytes // .[0].reclaimed_bytes) }) |
	map(select(.phase == .about)) | if .[0].phase == "fork" then .[-1:] else . end;
def side($s): map(select(.side == $s)) | first |
	if . then (phases | { faults: (map(.faults) | add), instructions: (map(.instructions) | add),
			      done: (map(.done) | add) }) else null end;
def kilo: if . == null then "n/a" else (. / 1000 | round | tostring) + "k" end;
def ratio($b; $a): if $b == null or $a == null then "" else ($a / $b * 1000 | round / 1000 | tostring) end;

map(. + { pair: (.name | sub("-(before|after)$"; "")) }) | group_by(.pair) |
"| pair | faults before | after | instructions before | after | after/before | collapsed or reclaimed bytes before | after |",
"| --- | --- | --- | --- | --- | --- | --- | --- |",
(.[] | side("before") as $b | side("after") as $a |
 "| \(.[0].pair) | \($b.faults // "") | \($a.faults // "") | \($b.instructions | kilo) | \($a.instructions | kilo) | " +
 "\(ratio($b.instructions; $a.instructions)) | \($b.done // "") | \($a.done // "") |")
' "$folder"/*.dat.json
