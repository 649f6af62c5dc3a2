#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The program, FAULT_ANALYZE, says to the byte what another build of it says, REFERENCE: of all recordings in
# traces/, by every command and format. make check-32 holds the 32-bit program against the plain one.
set -uo pipefail
# shellcheck source=analyzer/tests/judge.sh
. "$(dirname "$0")/judge.sh"
: "${REFERENCE:?names the program to compare with}"

# same ARG...: output, complaints and exit code of both
same() {
	local expected=0

	timeout 60 "$REFERENCE" "$@" >"$tmp/expected" 2>"$tmp/expected_err" </dev/null || expected=$?
	run "$@"
	exits "$expected"
	cmp -s "$tmp/expected" "$tmp/out" || wrong "$ran: $(diff "$tmp/expected" "$tmp/out" | head -n 5)"
	cmp -s "$tmp/expected_err" "$tmp/err" || wrong "$ran: $(diff "$tmp/expected_err" "$tmp/err" | head -n 5)"
}

test_report() {
	local format

	for format in text tsv csv json; do
		same report -F $format traces/*/*.dat
		[ "$(wc -l <"$tmp/expected")" -gt 200 ] || wrong "$ran: the other program says next to nothing"
	done
	cp "$tmp/out" "$tmp/report.json"
	same merge "$tmp/report.json"
}

test_folios() {
	local recording

	for recording in traces/*/*.dat; do
		same folios -F tsv "$recording"
	done
}

# as text: the last digit of a change is the processor's to round
test_compare_and_replay() {
	local before after

	for before in traces/pairs/*-before.dat; do
		after=${before%-before.dat}-after.dat
		same compare "$before" "$after"
		same replay --sweep window=1,8,folio --costs "$after" "$before"
	done
	same compare --force traces/pairs/x86_64-*-before.dat -- traces/pairs/x86_64-*-after.dat
	for before in traces/pairs/x86_64-*-64k-before.dat; do
		same replay --policy whole-folio+cow-whole-folio --costs traces/costs/x86_64-7.3.ktap \
			--validate "${before%-before.dat}-after.dat" "$before"
	done
}

test_kunit() {
	local ktap

	for ktap in traces/costs/*.ktap analyzer/tests/data/ktap/*.ktap; do
		same kunit -F json "$ktap"
	done
}

run_tests
