#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Holds recordings against their manifests: what the analyzer finds in the workload's region against what the
# kernel counted for it. One line a recording.
#
# usage: scripts/check-traces.sh RECORDING...     (RECORDING.json is its manifest)
#
# Phases of a region: faults of first touch must be those of the phases that populate, all others those of the
# phases that store; what is populated again after MADV_DONTNEED, of which no event tells, may be called either.
# Phases of a task: all its faults in that time. What the analyzer calls unknown may be either, too.
# Nothing may be lost or damaged. FAULT_ANALYZE: the program (build/fault-analyze). Exit 1 on any difference.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/lib.sh
. "$here/lib.sh"
analyze=${FAULT_ANALYZE:-$here/../build/fault-analyze}

# Phases in one region as one object, what the manifest says of it and how many faults the kernel counted in it,
# behind the filters for it; each phase of a task as one.
# shellcheck disable=SC2016 # jq's variables
oracle='
	def faults: map(.ru_minflt + .ru_majflt) | add // 0;
	def seconds: "\(. / 1000000000 | floor).\(. % 1000000000 | tostring | ("000000000" + .)[-9:])";
	if .schema != "fault-analyze-manifest/1" then error("no manifest") else . end |
	[.oracle[] | select(.exact_faults)] |
	(map(select(.task))[] | [.]), (map(select(.task | not)) | select(length > 0)) |
	if .[0].task then
		"--pid \(.[0].task) --time \(.[0].from_ns | seconds)-\(.[0].from_ns + .[0].wall_ns | seconds)",
		{ first: 0, again: 0, other: 0, either: faults }
	else
		"--addr \(.[0].start)-\(.[0].end)",
		{ first: (map(select(.phase == "populate" or .phase == "touch")) | faults),
		  again: (map(select(.phase == "repopulate")) | faults),
		  other: (map(select(.phase | test("^(re)?populate$|^touch$") | not)) | faults), either: 0 }
	end'

# What the analyzer has found, in words; an error where it is not what the kernel counted, $e.
# shellcheck disable=SC2016
found='
	def faults: map(.faults) | add // 0;
	{ first: ([.classes[] | select(.class == "map" or .class == "file")] | faults),
	  other: ([.classes[] | select(.class != "map" and .class != "file")] | faults),
	  unknown: ([.classes[] | select(.class == "unknown")] | faults),
	  total: .faults.total, lost: .recordings[0].lost_events, damaged: (.recordings[0].damaged | length) } as $f |
	if $f.total == $e.first + $e.again + $e.other + $e.either and $f.lost == 0 and $f.damaged == 0 and
	   $f.first + $f.unknown >= $e.first and $f.other >= $e.other then
		[.classes[] | "\(.faults) \(.class)"] | join(", ")
	else
		error("the kernel counted \($e), the analyzer \($f)")
	end'

check() {
	local recording=$1 filters expected phases words said=()
	[ -f "$recording.json" ] || die "$recording has no manifest $recording.json"
	phases=$(jq -rc "$oracle" "$recording.json") || die "$recording.json cannot be used"
	[ -n "$phases" ] || die "$recording.json counts no faults"
	while read -r -a filters && read -r expected; do
		words=$("$analyze" report -F json "${filters[@]}" "$recording" | jq -r --argjson e "$expected" "$found") ||
			die "$recording: not what its manifest says"
		said+=("$words")
	done <<<"$phases"
	(IFS=';' && echo "${recording##*/}: ${said[*]}")
}

[ $# -gt 0 ] || die 'usage: check-traces.sh RECORDING...'
[ -x "$analyze" ] || die "no $analyze: run make"
need jq jq
for recording in "$@"; do
	check "$recording"
done
