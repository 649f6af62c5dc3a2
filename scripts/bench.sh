#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Measures fault-analyze report: side by side with a bare walk of the same pages, with libtracecmd,
# with trace-cmd report and with the decompressor alone; how its cost grows; what memory it takes.
# Every figure is the least of several runs, taken in turn, on one core unless it says two, with the
# recording in the page cache. Where that is allowed, runs have real-time priority.
#
# usage: bench.sh PROGRAM FOLDER-OF-BENCH-PROGRAMS [PART...]
#
# The parts are speed, packed, start, growth and memory; all when none is named. BENCH_EVENTS
# (30000000) events of a recording of the speed part, BENCH_RUNS (5) runs of each, BENCH_SIZE_MB
# (4096) of the recording whose memory is measured. BENCH_DIR keeps recordings.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

[ $# -ge 2 ] || die "usage: bench.sh PROGRAM FOLDER [PART...]"
program=$1 tests=$2
shift 2
parts=${*:-speed packed start growth memory}
events=${BENCH_EVENTS:-30000000} runs=${BENCH_RUNS:-5} size_mb=${BENCH_SIZE_MB:-4096}
dir=${BENCH_DIR:-$cache_dir/bench}
mkdir -p "$dir"
declare -A best count
quiet=()
chrt -f 1 true 2>/dev/null && quiet=(chrt -f 1)

# record NAME ARGUMENTS...: makes a recording unless one of the same arguments is there, and has it
# in the page cache, all of it by reading it in order: what was written stays there in other pieces,
# and takes longer. count[NAME] is how many events it has.
record() {
	local name=$1 file=$dir/$1.dat
	shift
	if [ "$(sed 's/ events .*//' "$file.made" 2>/dev/null)" != "$*" ]; then
		say "making $file"
		echo "$* $("$tests/gen_recording" "$@" "$file")" >"$file.made"
	fi
	count[$name]=$(sed 's/.* events //' "$file.made")
	sync "$file"
	dd if="$file" iflag=nocache count=0 status=none
	cat "$file" >/dev/null
}

# measure KEY CPUS COMMAND...: the least time of COMMAND on these CPUs under KEY, in µs: of the
# processor, or where CPUS names two the time that passes
measure() {
	local key=$1 cpus=$2 us
	shift 2
	TIMEFORMAT='%U %S'
	[[ $cpus != *,* ]] || TIMEFORMAT='%R 0'
	us=$({ time taskset -c "$cpus" "${quiet[@]}" "$@" >"$dir/out" 2>&1; } 2>&1 |
		awk '{ print int(1e6 * ($1 + $2)) }')
	[ "$us" -gt 0 ] || us=1
	if [ -z "${best[$key]:-}" ] || [ "$us" -lt "${best[$key]}" ]; then
		best[$key]=$us
	fi
}

# row LABEL KEY EVENTS [KEY2 NOTE]...: time and rate of KEY, and how many times as fast as KEY2
row() {
	local label=$1 us=${best[$2]} n=$3 notes=
	shift 3
	while [ $# -gt 0 ]; do
		notes+=$(awk -v a="${best[$1]}" -v b="$us" -v t="$2" \
			'BEGIN { printf "  %.2f %s", a / b, t }')
		shift 2
	done
	awk -v us="$us" -v n="$n" -v l="$label" -v notes="$notes" 'BEGIN {
		printf "  %-28s %8.1f ms %7.2f M events/s%s\n", l, us / 1000, n / us, notes
	}'
}

speed() {
	record reuse -k reuse -n "$events"
	record random -k random -n "$events"
	record few -k reuse -n 1000000
	for ((run = 0; run < runs; run++)); do
		for kind in reuse random; do
			measure "$kind-walk" 0 "$tests/bench_walk" "$dir/$kind.dat"
			measure "$kind-report" 0 "$program" report "$dir/$kind.dat"
			measure "$kind-library" 0 "$tests/bench_libtracecmd" "$dir/$kind.dat"
		done
	done
	for kind in reuse random; do
		echo "$kind: ${count[$kind]} events"
		row "bare walk" $kind-walk "${count[$kind]}"
		row "libtracecmd, pairing only" $kind-library "${count[$kind]}"
		row "fault-analyze report" $kind-report "${count[$kind]}" \
			$kind-walk "of the walk" $kind-library "times libtracecmd"
	done
	if command -v trace-cmd >/dev/null; then
		measure few-report 0 "$program" report "$dir/few.dat"
		measure few-tracecmd 0 trace-cmd report "$dir/few.dat"
		echo "reuse, the first ${count[few]} events"
		row "trace-cmd report" few-tracecmd "${count[few]}"
		row "fault-analyze report" few-report "${count[few]}" few-tracecmd "times trace-cmd"
		awk -v us="${best[reuse-report]}" -v n="${count[reuse]}" -v us1="${best[few-tracecmd]}" \
			-v n1="${count[few]}" 'BEGIN {
			printf "  start-up apart, at the rate of all: %.1f times\n", n / us / (n1 / us1)
		}'
	fi
}

# Times of a compressed recording are not as regular as an instruction count: --jitter.
packed() {
	for kind in zstd zlib; do
		record $kind -k reuse -j 1000 -z $kind -n $((events / 3))
		for ((run = 0; run < runs; run++)); do
			measure $kind-alone 0 "$tests/bench_unpack" "$dir/$kind.dat"
			measure $kind-one 0 "$program" report "$dir/$kind.dat"
			cp "$dir/out" "$dir/out.one"
			[ "$(nproc)" -eq 1 ] || measure $kind-two 0,1 "$program" report "$dir/$kind.dat"
			cmp "$dir/out" "$dir/out.one" || die "one thread and two do not report the same"
		done
		echo "reuse, packed by $kind: ${count[$kind]} events"
		row "the decompressor alone" $kind-alone "${count[$kind]}"
		row "report, one CPU" $kind-one "${count[$kind]}" $kind-alone "of it"
		[ -z "${best[$kind-two]:-}" ] ||
			row "report, two CPUs" $kind-two "${count[$kind]}" $kind-alone "of it"
	done
}

# A kernel has 1,500 events.
start() {
	record small -k reuse -n 1000
	record formats -k reuse -n 1000 -m 1500 -z zstd
	for ((run = 0; run < 4 * runs; run++)); do
		measure small 0,1 "$program" report "$dir/small.dat"
		measure formats 0,1 "$program" report "$dir/formats.dat"
	done
	printf 'start-up: a report of %d events takes %d ms, %d ms with 1500 formats more\n' \
		"${count[small]}" $((best[small] / 1000)) $((best[formats] / 1000))
}

# grow LABEL FIRST NAME...: the cost of an event in each recording, beside that in FIRST
grow() {
	local label=$1 first=$2
	shift 2
	for ((run = 0; run < runs; run++)); do
		for name in "$@"; do
			measure "$name" 0 "$program" report "$dir/$name.dat"
		done
	done
	for name in "$@"; do
		awk -v us="${best[$name]}" -v n="${count[$name]}" -v l="$label ${name#*-}" \
			-v us1="${best[$first]}" -v n1="${count[$first]}" 'BEGIN {
			printf "  %-28s %8.1f ms %7.1f ns an event  %.2f times the first\n", l,
				us / 1000, us * 1000 / n, (us / n) / (us1 / n1)
		}'
	done
}

growth() {
	local sizes=() cpus=() tasks=()
	for n in 1 2 4 8; do
		record "size-$n" -k reuse -n $((n * events / 6))
		sizes+=("size-$n")
	done
	for n in 1 4 16 64 256; do
		record "cpus-$n" -k random -c "$n" -t 1000 -n $((events / 6))
		cpus+=("cpus-$n")
	done
	for n in 1 10 100 1000 10000; do
		record "tasks-$n" -k random -c 1 -t "$n" -n $((events / 6))
		tasks+=("tasks-$n")
	done
	echo "growth"
	grow "reuse, times as large:" size-1 "${sizes[@]}"
	grow "random, CPUs:" cpus-1 "${cpus[@]}"
	grow "random, tasks:" tasks-1 "${tasks[@]}"
}

# peak FILE: the most memory that a report of it takes, in KiB
peak() {
	/usr/bin/time -f %M "$program" report "$1" 2>&1 >/dev/null | tail -n 1
}

# folios WHAT MMS CPUS ORDER: what a live folio of that order takes in each mm. 1048576 are alive
# together in one mm that has forked, or in it and its child; one PTE of each was written since.
folios() {
	local name=folios-$2-$3-$4 nr=$((1048576 * $2)) child=() kib
	[ "$2" = 1 ] || child=(--child)
	record "$name" -k random "${child[@]}" -c "$3" -o "$4" -s $((1 << (32 + $4))) -n 8000000
	kib=$(peak "$dir/$name.dat")
	printf '  1048576 live folios of %s, %d mms, %d CPUs: %d KiB, %.1f bytes a folio and mm over a small one\n' \
		"$1" "$2" "$3" "$kib" "$(awk "BEGIN { print ($kib - $base) * 1024 / $nr }")"
}

memory() {
	local base kib
	[ -x /usr/bin/time ] || { echo "memory: not measured, no /usr/bin/time" && return; }
	record large -k reuse -n $((size_mb * 24000))
	record small -k reuse -n 1000
	base=$(peak "$dir/small.dat")
	kib=$(peak "$dir/large.dat")
	echo "memory"
	printf '  a recording of %d MB takes at most %d KiB, a small one %d KiB\n' \
		$(($(stat -c %s "$dir/large.dat") >> 20)) "$kib" "$base"
	folios 4K 2 1 0
	folios 4K 2 64 0
	folios 4K 2 256 0
	folios "64K, resolved in part" 2 1 4
	folios "64K, resolved in part" 1 1 4
}

for part in $parts; do
	case $part in
	speed | packed | start | growth | memory) $part ;;
	*) die "no part $part: they are speed, packed, start, growth and memory" ;;
	esac
done
