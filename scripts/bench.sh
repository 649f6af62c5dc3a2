#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Measures fault-analyze report side by side with a bare walk of the same pages, with libtracecmd and
# with trace-cmd report, in one run on one core, warm cache.
#
# usage: bench.sh PROGRAM FOLDER-OF-BENCH-PROGRAMS
#
# BENCH_EVENTS (30000000) events a recording, BENCH_RUNS (5) runs of each, taken in turn; what is
# shown is the least processor time of each, and its ratio to the walk's. BENCH_DIR keeps recordings.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

[ $# -eq 2 ] || die "usage: bench.sh PROGRAM FOLDER"
program=$1 tests=$2
events=${BENCH_EVENTS:-30000000} runs=${BENCH_RUNS:-5}
dir=${BENCH_DIR:-$cache_dir/bench}
mkdir -p "$dir"
declare -A best count

# record NAME ARGUMENTS...: makes a recording unless one of the same arguments is there
record() {
	local file=$dir/$1.dat
	shift
	if [ "$(cat "$file.args" 2>/dev/null)" != "$*" ]; then
		say "making $file"
		"$tests/gen_recording" "$@" "$file" >/dev/null
		echo "$*" >"$file.args"
	fi
	cat "$file" >/dev/null # warm
}

# measure KEY COMMAND...: the least user + system time of COMMAND under KEY, in ms
measure() {
	local key=$1 ms
	shift
	TIMEFORMAT='%U %S'
	ms=$({ time taskset -c 0 "$@" >"$dir/out" 2>&1; } 2>&1 | awk '{print int(1000 * ($1 + $2))}')
	if [ -z "${best[$key]:-}" ] || [ "$ms" -lt "${best[$key]}" ]; then
		best[$key]=$ms
	fi
}

# row KEY EVENTS LABEL WALK-KEY
row() {
	local ms=${best[$1]} walk=${best[$4]}
	[ "$ms" -gt 0 ] || ms=1
	awk -v ms="$ms" -v n="$2" -v l="$3" -v w="$walk" 'BEGIN {
		printf "  %-28s %8d ms %8.2f M events/s %6.2f of the walk\n", l, ms, n / ms / 1000, w / ms
	}'
}

record reuse -k reuse -n "$events"
record random -k random -n "$events"
record small -k reuse -n 1000
for kind in reuse random; do
	count[$kind]=$("$program" report -F tsv -o events "$dir/$kind.dat" | sed -n 2p)
done
for ((run = 0; run < runs; run++)); do
	for kind in reuse random; do
		measure "$kind-walk" "$tests/bench_walk" "$dir/$kind.dat"
		measure "$kind-report" "$program" report "$dir/$kind.dat"
		measure "$kind-library" "$tests/bench_libtracecmd" "$dir/$kind.dat"
	done
	measure start "$program" report "$dir/small.dat"
done
if command -v trace-cmd >/dev/null; then
	record few -k reuse -n 1000000
	measure few-tracecmd trace-cmd report "$dir/few.dat"
	few=$("$program" report -F tsv -o events "$dir/few.dat" | sed -n 2p)
fi
for kind in reuse random; do
	echo "$kind: ${count[$kind]} events"
	row $kind-walk "${count[$kind]}" "bare walk" $kind-walk
	row $kind-report "${count[$kind]}" "fault-analyze report" $kind-walk
	row $kind-library "${count[$kind]}" "libtracecmd, pairing only" $kind-walk
done
echo "start-up, report of 1000 events: ${best[start]} ms"
if [ -n "${few:-}" ]; then
	awk -v ms="${best[few-tracecmd]}" -v n="$few" \
		'BEGIN { printf "trace-cmd report of %d events: %.2f M events/s\n", n, n / ms / 1000 }'
fi
