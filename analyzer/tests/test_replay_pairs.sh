#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Every pair of recordings of the candidate changes: what replay predicts from the one before is what the
# patched kernel then did, in faults of every class and in the time of those that batch; README.md has that table.
# And that this can fail.
set -uo pipefail
# shellcheck source=analyzer/tests/judge.sh
. "$(dirname "$0")/judge.sh"

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
	sed -n '/^| pair | policy |/,/^$/p' README.md | grep . | diff - "$tmp/table" ||
		wrong 'README.md has another table of pairs'
}

# replays OPTION...: what replay says of every recording, as JSON, one line each in $tmp/replays
replays() {
	local recording

	recordings=(traces/*/*.dat)
	for recording in "${recordings[@]}"; do
		run replay -F json "$@" "$recording"
		# rows that are about other things record no forks, which is said
		[ "$status" = 0 ] || says 'has no forks'
		cat "$tmp/out"
	done >"$tmp/replays"
}

# objections FILTER: holds of each of them
objections() {
	local nr

	[ "$(wc -l <"$tmp/replays")" = ${#recordings[@]} ] || wrong 'not one line of JSON of each'
	jq -c "if $1 then empty else input_line_number - 1 end" "$tmp/replays" >"$tmp/bad" ||
		{ wrong 'what they say is no JSON'; return; }
	while read -r nr; do
		wrong "${recordings[$nr]}: not so: $(sed -n $((nr + 1))p "$tmp/replays" | head -c 1000)"
	done <"$tmp/bad"
}

# every recording there is: no rule is what happened, to the fault, the PTE and the nanosecond
test_none_is_the_identity() {
	replays --policy none
	objections '(.rows | length > 0) and all(.rows[]; .predicted_faults == .recorded_faults and
		.predicted_ns == .recorded_ns and .waste_ptes == 0 and
		.predicted_faults_per_pte == .recorded_faults_per_pte)'
	[ ${#recordings[@]} -ge 100 ] || wrong "only ${#recordings[@]} recordings"
}

# and a wider window never predicts more faults, nor less waste
test_wider_saves_more() {
	replays --sweep window=1,2,4,8,16,32,64,128,256,512,folio
	objections '[.sweep[].predicted_faults] as $faults | [.sweep[].waste_ptes] as $waste |
		$faults == ($faults | sort | reverse) and $waste == ($waste | sort) and
		.sweep[0].saved_faults == 0 and ($faults | length) == 11'
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
