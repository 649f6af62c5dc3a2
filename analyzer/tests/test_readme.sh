#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What README.md shows is what the program prints.
set -uo pipefail
# shellcheck source=analyzer/tests/judge.sh
. "$(dirname "$0")/judge.sh"
export FAULT_ANALYZE_PLOTS=$PWD/plots

# The samples, as $tmp/N.command and $tmp/N.expected: "    $ fault-analyze ..." and the block behind it.
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
		inside { print >file }' README.md
}

# Where the samples are of: recordings of pairs without their folder, the others with it.
make_folder() {
	mkdir "$tmp/at"
	ln -s "$PWD/traces" "$PWD"/traces/pairs/* "$tmp/at"
}

test_samples() {
	local expected nr=0

	split_samples
	make_folder
	# shellcheck disable=SC2317 # the samples call it
	fault-analyze() { "$FAULT_ANALYZE" "$@"; }
	for expected in "$tmp"/*.expected; do
		nr=$((nr + 1))
		(set +o pipefail; cd "$tmp/at" && eval "$(cat "${expected%.expected}.command")") >"$tmp/out" 2>"$tmp/err" ||
			wrong "fails: $(cat "${expected%.expected}.command" "$tmp/err")"
		diff "$expected" "$tmp/out" || wrong "README.md shows another output of: $(cat "${expected%.expected}.command")"
	done
	[ "$nr" -ge 5 ] || wrong "README.md has $nr samples"
}

run_tests
