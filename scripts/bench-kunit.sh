#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Measures the batched helpers: the suite's bench case in a kernel without checks, on a clock that counts
# instructions. Twice, since figures that do not come out again are worth nothing.
#
# usage: [ARCH=x86_64|arm64] [KVER=...] [KSRC=...] scripts/bench-kunit.sh
#
# ARCH is x86_64 unless given; the rest is as for kunit.sh. Exit 1 when a line of one run has no partner in the
# other or differs from it by more than 1 %. OUT (build/kunit/bench)/ARCH/first and second keep the runs;
# stdout gets ns per PTE as a table: of one call on all PTEs, and of one call a PTE.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/lib.sh
. "$here/lib.sh"
out=${OUT:-$here/../build/kunit/bench}

# Writes lines "HELPER NR BATCHED SINGLE" of the KTAP in folder $1 to $1/figures.
read_figures() {
	sed -nE 's/.*# bench: helper=(\S+) nr=([0-9]+) batched_ns=([0-9.]+) single_ns=([0-9.]+)\r?$/\1 \2 \3 \4/p' \
		"$1"/*.ktap >"$1/figures"
	[ -s "$1/figures" ] || die "no bench lines in $(echo "$1"/*.ktap)"
}

# Compares the figures of two files; says the largest difference, and which lines are apart.
agree() {
	awk 'function differ(a, b,  d) { d = (a > b ? a - b : b - a); return b ? d / b * 100 : (d ? 100 : 0) }
	     NR == FNR { batched[$1, $2] = $3; single[$1, $2] = $4; lines++; next }
	     !(($1, $2) in batched) { print $1, $2 ": only in the second run"; bad = 1; next }
	     {
		d = differ(batched[$1, $2], $3)
		s = differ(single[$1, $2], $4)
		max = d > max ? d : max
		max = s > max ? s : max
		if (d > 1 || s > 1) {
			printf "%s nr=%d: %s and %s, %s and %s ns\n", $1, $2, batched[$1, $2], $3, single[$1, $2], $4
			bad = 1
		}
		lines--
	     }
	     END {
		if (!FNR || lines) { print "the runs do not have the same lines"; bad = 1 }
		printf "two runs of %d lines agree to %.3f %%\n", FNR, max
		exit bad
	     }' "$1" "$2"
}

# ns per PTE: a row a helper, two columns a number of PTEs; the other numbers are in the KTAP.
table() {
	awk '$2 != 1 && $2 != 16 && $2 != 512 { next }
	     !($1 in row) { row[$1] = ++helpers; name[helpers] = $1 }
	     !($2 in column) { column[$2] = ++nrs; nr[nrs] = $2 }
	     { cell[row[$1], column[$2]] = sprintf("%7.1f %7.1f", $3 / $2, $4 / $2) }
	     END {
		printf "%-30s", "ns per PTE, batched and single"
		for (c = 1; c <= nrs; c++) printf " %15s", nr[c] (nr[c] == 1 ? " PTE" : " PTEs")
		print ""
		for (r = 1; r <= helpers; r++) {
			printf "%-30s", name[r]
			for (c = 1; c <= nrs; c++) printf " %15s", cell[r, c]
			print ""
		}
	     }'
}

main() {
	export ARCH=${ARCH:-x86_64} CONFIG=latency FILTER=folio_batch.bench_helpers ACCEL=tcg
	export MINUTES=${MINUTES:-60}
	# One CPU, one ns an instruction; on x86-64 the kernel is told that its TSC runs at 1 GHz and is to be trusted.
	# The CPU is the one of the lab's recordings: how a page is copied, for one, depends on it.
	export QEMU_ARGS='-icount shift=0,sleep=off -cpu max'
	local run
	case $ARCH in
	x86_64) export ARGS='tsc_early_khz=1000000 tsc=reliable' ;;
	arm64) ;;
	um) die 'UML has no clock that counts instructions: ARCH=x86_64 or arm64' ;;
	*) die "no ARCH $ARCH: x86_64 or arm64" ;;
	esac
	mkdir -p "$out/$ARCH"
	out=$(cd "$out/$ARCH" && pwd)
	STEP=build OUT=$out "$here/kunit.sh"
	for run in first second; do
		rm -rf "${out:?}/$run"
		STEP=run OUT=$out/$run "$here/kunit.sh" >&2
		sed -i "1i # make kunit-bench ARCH=$ARCH" "$out/$run"/*.ktap # of which machine, for replay
		read_figures "$out/$run"
	done
	table <"$out/first/figures"
	agree "$out/first/figures" "$out/second/figures" || die "the runs differ by more than 1 %: see $out"
}

main "$@"
