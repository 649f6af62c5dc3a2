#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Records one side of a row in two boots and says what of it is the same.
#
# usage: scripts/test-repeat.sh x86_64|arm64 [NAME [before|after]]     (reuse-64k after)
#
# The same must be: the workload's own counts, the events with all their fields, and the faults by class and order.
# Times may differ: by how much is printed, and more than 1 % of the time in faults is too much. Exit 1 then.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/lib.sh
. "$here/lib.sh"
analyze=${FAULT_ANALYZE:-$here/../build/fault-analyze}
arch=${1:-} name=${2:-reuse-64k} side=${3:-after}
[[ $arch =~ ^(x86_64|arm64)$ ]] || die 'usage: test-repeat.sh x86_64|arm64 [NAME [before|after]]'
unset ARCH
work=$here/../build/lab/repeat
recording=$arch-$name-$side.dat
for boot in 1 2; do
	OUT=$work/$boot "$here/lab.sh" "$name" "$arch" "$side" >/dev/null
done

oracle() {
	jq -S '[.oracle[] | del(.from_ns, .wall_ns, .store_ns)]' "$work/$1/$recording.json"
}

events() {
	trace-cmd report -q -i "$work/$1/$recording" 2>/dev/null | sed -E 's/^(.*\[[0-9]+\]) +[0-9.]+:/\1/'
}

classes() {
	"$analyze" report -F json "$work/$1/$recording" | jq -S '[.classes[] | {class, order, level, faults, ptes_resolved}]'
}

latencies() {
	"$analyze" report -F json "$work/$1/$recording" | jq -c '[.classes[] | {class, order, latency_ns}]'
}

# same WHAT FUNCTION: the two boots agree.
same() {
	cmp -s <("$2" 1) <("$2" 2) || { diff <("$2" 1) <("$2" 2) | head -5; die "$recording: two boots differ in $1"; }
	echo "$recording: the same in two boots: $1"
}

same "the workload's counts" oracle
same "$(events 1 | wc -l) events with all fields" events
same 'faults and PTEs by class and order' classes
jq -rn --argjson a "$(latencies 1)" --argjson b "$(latencies 2)" --arg name "$recording" '
	[$a, $b | map(.latency_ns.sum) | add] as [$x, $y] |
	([range($a | length) as $i | $a[$i].latency_ns.p50 - $b[$i].latency_ns.p50 | fabs] | max) as $p50 |
	"\($name): time in faults \($x) and \($y) ns, medians differ by at most \($p50) ns",
	if (($x - $y) | fabs) * 100 > $x then "too much" | halt_error(1) else empty end'
