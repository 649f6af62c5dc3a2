#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What README.md shows is what the program prints, as pasted; traces/README.md has the tables that
# scripts/lab-table.sh prints, kunit/README.md that of traces/costs.
set -uo pipefail
# shellcheck source=analyzer/tests/judge.sh
. "$(dirname "$0")/judge.sh"
export FAULT_ANALYZE_PLOTS=$PWD/plots

# The samples, as $tmp/N.command and $tmp/N.expected: "    $ fault-analyze ..." and the block behind it; in
# $tmp/stray the lines where a block has no command.
split_samples() {
	awk -v dir="$tmp" '
		/^    \$ fault-analyze / { command = substr($0, 7); next }
		/^```$/ && inside { inside = 0; close(file); command = ""; next }
		/^```$/ && command != "" {
			inside = 1
			file = dir "/" ++nr ".expected"
			print command >(dir "/" nr ".command")
			next
		}
		/^```$/ { print FNR; inside = 1; file = "/dev/null"; next }
		inside { print >file }' README.md >"$tmp/stray"
}

# What the samples need of the clone's top folder once the program is built; what they write stays out of it.
make_folder() {
	mkdir -p "$tmp/top/build"
	ln -s "$PWD/traces" "$tmp/top"
	ln -s "$(realpath "$FAULT_ANALYZE")" "$tmp/top/build/fault-analyze"
}

test_samples() {
	local expected nr=0

	split_samples
	[ ! -s "$tmp/stray" ] || wrong "README.md has blocks of no command, in lines $(tr '\n' ' ' <"$tmp/stray")"
	make_folder
	for expected in "$tmp"/*.expected; do
		nr=$((nr + 1))
		(set +o pipefail; cd "$tmp/top" && PATH=$PWD/build:$PATH && eval "$(cat "${expected%.expected}.command")") \
			>"$tmp/out" 2>"$tmp/err" || wrong "fails: $(cat "${expected%.expected}.command" "$tmp/err")"
		diff "$expected" "$tmp/out" || wrong "README.md shows another output of: $(cat "${expected%.expected}.command")"
	done
	[ "$nr" -ge 6 ] || wrong "README.md has $nr samples"
}

test_lab_tables() {
	scripts/lab-table.sh >"$tmp/out" 2>"$tmp/err" || wrong "lab-table.sh fails: $(cat "$tmp/err")"
	grep '^|' "$tmp/out" >"$tmp/rows"
	[ "$(wc -l <"$tmp/rows")" -ge 100 ] || wrong "lab-table.sh prints $(wc -l <"$tmp/rows") rows"
	! grep -vxFf traces/README.md "$tmp/rows" || wrong "traces/README.md has no such rows"
}

# of each helper for 1, 16 and 512 PTEs: ns per PTE, batched and single
test_bench_table() {
	good kunit -b -F tsv traces/costs/x86_64-7.3.ktap
	awk 'NR > 1 && ($2 == 1 || $2 == 16 || $2 == 512) {
		printf "%s%.1f %.1f%s", $2 == 1 ? $1 " " : " ", $5, $6, $2 == 512 ? "\n" : "" }' "$tmp/out" >"$tmp/rows"
	echo "two runs of $(($(wc -l <"$tmp/out") - 1)) lines agree to 0.000 %" >>"$tmp/rows"
	sed -n '/^    ns per PTE, batched and single/,/^    two runs/p' kunit/README.md | tail -n +2 | tr -s ' ' |
		sed 's/^ //' | diff - "$tmp/rows" || wrong "kunit/README.md has another table of costs"
}

run_tests
