#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Markdown tables of the recordings in a folder: the kernel's own counts, before and after, what reclaim and collapse
# did by their probes and tracepoints, and latencies.
#
# usage: scripts/lab-table.sh [FOLDER]     (traces/pairs)
#
# FAULT_ANALYZE: the program (build/fault-analyze).
#
# Of each recording the phase that its mode is about: faults, and guest instructions of that phase in the same
# boot without the recorder. Several such phases (children) are added up; of several forks the last one counts.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/lib.sh
. "$here/lib.sh"
need jq jq
folder=${1:-$here/../traces/pairs}
analyze=${FAULT_ANALYZE:-$here/../build/fault-analyze}
compgen -G "$folder/*.dat.json" >/dev/null || die "no manifests in $folder"

# shellcheck disable=SC2016 # jq's variables
jq -rs '
def about: { reuse: "store", cow: "store", usemem: "store", dontneed: "dontneed", redis: "set" }[.mode] // .mode;
def phases: [.oracle, .recording_cost] | transpose |
	map({ phase: .[0].phase, about: (.[0] | about), faults: (.[0].ru_minflt + .[0].ru_majflt),
	      instructions: .[1].unrecorded_ns, done: (.[0].collapsed_bytes // .[0].reclaimed_bytes) }) |
	map(select(.phase == .about)) | if .[0].phase == "fork" then .[-1:] else . end;
def side($s): map(select(.side == $s)) | first |
	if . then (phases | { faults: (map(.faults) | add), instructions: (map(.instructions) | add),
			      done: (map(.done) | add) }) else null end;
def kilo: if . == null then "n/a" else (. / 1000 | round | tostring) + "k" end;
def ratio($b; $a): if $b == null or $a == null then "" else ($a / $b * 1000 | round / 1000 | tostring) end;

map(select(.row != "latency")) | map(. + { pair: (.name | sub("-(before|after)$"; "")) }) | group_by(.pair) |
"| pair | faults before | after | instructions before | after | after/before | collapsed or reclaimed bytes before | after |",
"| --- | --- | --- | --- | --- | --- | --- | --- |",
(.[] | side("before") as $b | side("after") as $a |
 "| \(.[0].pair) | \($b.faults // "") | \($a.faults // "") | \($b.instructions | kilo) | \($a.instructions | kilo) | " +
 "\(ratio($b.instructions; $a.instructions)) | \($b.done // "") | \($a.done // "") |")
' "$folder"/*.dat.json

# Latencies of the faults of the store phase, from the probe pair alone, and of the stores as the workload times them
# in the same boot without the recorder: "p50 p99 max fault-p50 fault-max faults" of a recording.
latencies() {
	local addr from to
	read -r addr from to < <(jq -r '.oracle[] | select(.phase == "store") |
		"\(.start)-\(.end) \(.from_ns / 1e9) \((.from_ns + .wall_ns) / 1e9)"' "$1.json")
	jq -rn --slurpfile manifest "$1.json" \
		--slurpfile report <("$analyze" report -F json --addr "$addr" --time "$from-$to" "$1") '
		def rank($values; $q): ($values | map(.[1]) | add) as $n |
			reduce $values[] as [$v, $c] ({seen: 0, at: null};
				if .at == null then .seen += $c | if .seen >= $n * $q then .at = $v else . end else . end) | .at;
		($report[0].classes | map(.latency_ns.values[]) | sort_by(.[0])) as $values |
		($manifest[0].recording_cost[] | select(.phase == "store").unrecorded_store_ns) as $store |
		"\($values | map(.[1]) | add) \(rank($values; 0.5)) \(rank($values; 0.99)) \(rank($values; 1)) " +
		"\($store.p50) \($store.p99) \($store.max)"'
}

# The events of a recording: "seconds name: fields".
events() {
	trace-cmd report -q -t -i "$1" 2>/dev/null | sed -E 's/^.*\[[0-9]+\] +([0-9.]+): /\1 /'
}

# reclaimed: calls of folio_referenced() and the thousands of instructions in them and in the whole of reclaim.
reclaimed() {
	events "$1" | awk '
		function since(start) { return ($1 - start) * 1e6 }
		$2 == "folio_referenced_entry:" { entry = $1; calls++ }
		$2 == "folio_referenced_exit:" { inside += since(entry) }
		$2 == "mm_vmscan_memcg_reclaim_begin:" { begin = $1 }
		$2 == "mm_vmscan_memcg_reclaim_end:" { all += since(begin) }
		END { printf "%d | %.0fk | %.0fk", calls, inside, all }'
}

# collapsed: how often each status came of a scan and of a collapse.
collapsed() {
	events "$1" | sed -nE 's/^[0-9.]+ (mm_khugepaged_scan_pmd|mm_collapse_huge_page):.* status=([a-z_]+).*/\1 \2/p' |
		sed 's/mm_khugepaged_scan_pmd/scan/; s/mm_collapse_huge_page/collapse/' | sort | uniq -c |
		awk '{ printf "%s%d %s %s", (NR > 1 ? ", " : ""), $1, $2, $3 }'
}

# pairs PATTERN FUNCTION: a table row for each pair of that pattern, of what FUNCTION says of each side.
pairs() {
	local before name
	for before in "$folder"/$1-before.dat; do
		[ -e "$before" ] || die "no $1 in $folder"
		name=${before##*/}
		echo "| ${name%-before.dat} | $("$2" "$before") | $("$2" "${before%-before.dat}-after.dat") |"
	done
}

echo
echo '| pair | folio_referenced() calls before | time in them | reclaim | calls after | time in them | reclaim |'
echo '| --- | --- | --- | --- | --- | --- | --- |'
pairs '*-reclaim-*' reclaimed
echo
echo '| pair | statuses before | after |'
echo '| --- | --- | --- |'
pairs '*-collapse-*' collapsed

echo
echo '| pair | faults before | after | fault before: p50, p99, max | after | store before: p50, p99, max | after |'
echo '| --- | --- | --- | --- | --- | --- | --- |'
for before in "$folder"/*-latency-before.dat; do
	[ -e "$before" ] || die "no recordings of the row latency in $folder"
	after=${before%-before.dat}-after.dat
	read -r -a b <<<"$(latencies "$before")"
	read -r -a a <<<"$(latencies "$after")"
	name=${before##*/}
	echo "| ${name%-before.dat} | ${b[0]} | ${a[0]} | ${b[1]}, ${b[2]}, ${b[3]} | ${a[1]}, ${a[2]}, ${a[3]} |" \
		"${b[4]}, ${b[5]}, ${b[6]} | ${a[4]}, ${a[5]}, ${a[6]} |"
done
