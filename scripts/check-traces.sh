#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Holds recordings against their manifests: what the analyzer finds in the workload's region against what the
# kernel counted for it. One line a recording.
#
# usage: scripts/check-traces.sh RECORDING...     (RECORDING.json is its manifest)
#
# Faults of first touch must be those of the phases that populate, all others those of the phases that store;
# what is populated again after MADV_DONTNEED, of which no event tells, may be called either.
# Nothing may be lost or damaged. ANALYZE: the program (build/fault-analyze). Exit 1 on any difference.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/lib.sh
. "$here/lib.sh"
analyze=${ANALYZE:-$here/../build/fault-analyze}

# One object: what the manifest says of the region, and how many faults the kernel counted in it.
# shellcheck disable=SC2016 # jq's variables
oracle='
	def faults: map(.ru_minflt + .ru_majflt) | add // 0;
	[.oracle[] | select(.exact_faults)] |
	{ addr: (.[0] | "\(.start)-\(.end)"),
	  first: (map(select(.phase == "populate" or .phase == "touch")) | faults),
	  again: (map(select(.phase == "repopulate")) | faults),
	  other: (map(select(.phase | test("^(re)?populate$|^touch$") | not)) | faults) }'

found='
	def faults: map(.faults) | add // 0;
	{ first: ([.classes[] | select(.class == "map" or .class == "file")] | faults),
	  other: ([.classes[] | select(.class != "map" and .class != "file")] | faults),
	  total: .faults.total, lost: .recordings[0].lost_events, damaged: (.recordings[0].damaged | length),
	  classes: ([.classes[] | "\(.faults) \(.class)"] | join(", ")) }'

check() {
	local recording=$1 expected addr report
	[ -f "$recording.json" ] || die "$recording has no manifest $recording.json"
	[ "$(jq -r .schema "$recording.json")" = fault-analyze-manifest/1 ] || die "$recording.json is no manifest"
	expected=$(jq -c "$oracle" "$recording.json")
	addr=$(jq -r .addr <<<"$expected")
	report=$("$analyze" report -F json --addr "$addr" "$recording" | jq -c "$found") ||
		die "$recording: fault-analyze failed"
	jq -en --argjson e "$expected" --argjson f "$report" '
		$f.total == $e.first + $e.again + $e.other and $f.lost == 0 and $f.damaged == 0 and
		$f.first >= $e.first and $f.other >= $e.other' >/dev/null ||
		die "$recording: the kernel counted $expected, the analyzer $report"
	echo "${recording##*/}: $(jq -r .classes <<<"$report")"
}

[ $# -gt 0 ] || die 'usage: check-traces.sh RECORDING...'
[ -x "$analyze" ] || die "no $analyze: run make"
need jq jq
for recording in "$@"; do
	check "$recording"
done
