#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Every pair of recordings of the candidate changes: what replay predicts from the one before is what the
# patched kernel then did, in faults of every class and in the time of those that batch. And that this can fail.
set -uo pipefail
# shellcheck source=analyzer/tests/judge.sh
. "$(dirname "$0")/judge.sh"
export PROGRAM=$FAULT_ANALYZE

# rows ARG...: what scripts/replay-table.sh says, without its heading, in $tmp/rows; $status
rows() {
	status=0
	scripts/replay-table.sh "$@" >"$tmp/table" 2>"$tmp/err" || status=$?
	tail -n +3 "$tmp/table" >"$tmp/rows"
}

test_all_pairs() {
	rows
	cat "$tmp/rows"
	[ "$status" = 0 ] || wrong "exit $status: $(head -c 400 "$tmp/err")"
	! grep -q MISSED "$tmp/rows" || wrong "$(grep MISSED "$tmp/rows")"
	[ "$(grep -c '^| arm64-\(reuse\|cow\)-' "$tmp/rows")" -ge 14 ] || wrong 'pairs of arm64 are missing'
	[ "$(grep -c '^| x86_64-\(reuse\|cow\)-' "$tmp/rows")" -ge 12 ] || wrong 'pairs of x86-64 are missing'
	grep -q '^| x86_64-redis-' "$tmp/rows" || wrong 'the pair of redis is missing'
	# with times, but for those whose probes differ
	[ "$(grep -c 'n/a' "$tmp/rows")" = "$(grep -c -- '-worker ' "$tmp/rows")" ] || wrong 'times are missing'
}

# as if the kernel after had not batched: AFTER is the recording before
test_a_pair_that_misses() {
	local kind

	for kind in before after; do
		cp "traces/pairs/x86_64-reuse-64k-before.dat" "$tmp/x86_64-reuse-64k-$kind.dat"
		cp "traces/pairs/x86_64-reuse-64k-$kind.dat.json" "$tmp/x86_64-reuse-64k-$kind.dat.json"
	done
	rows "$tmp"
	[ "$status" = 1 ] || wrong "exit $status of a pair that misses: $(cat "$tmp/table")"
	grep -q '^| x86_64-reuse-64k | whole-folio | 2,048 | 128 | 2,048 .* MISSED |$' "$tmp/rows" ||
		wrong "the table does not say so: $(cat "$tmp/rows")"
}

run_tests
