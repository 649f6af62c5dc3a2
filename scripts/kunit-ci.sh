#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs the KUnit suite folio_batch on UML, x86-64 and arm64 of each kernel version given; says what each took.
#
# usage: scripts/kunit-ci.sh VERSION...
#
# All are tried, whatever one says. Each run's words are in build/kunit/ARCH-VERSION-correctness.log.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/lib.sh
. "$here/lib.sh"
out=$here/../build/kunit

passed=0 failed_tests=0 skipped=0

# number WORD RESULT: the number behind "WORD: " in kunit.py's closing words, 0 when it is not there
number() {
	local n
	n=$(sed -n "s/.*\<$1: \([0-9]*\).*/\1/p" <<<"$2")
	echo "${n:-0}"
}

add_up() {
	passed=$((passed + $(number passed "$1")))
	failed_tests=$((failed_tests + $(number failed "$1") + $(number crashed "$1") + $(number errors "$1")))
	skipped=$((skipped + $(number skipped "$1")))
}

# One run: its result and its time as a line.
one() {
	local arch=$1 kver=$2 begin=$SECONDS verdict=ok said result
	said=$(ARCH=$arch KVER=$kver CONFIG=correctness OUT=$out "$here/kunit.sh" 2>&1 >/dev/null) || verdict=FAILED
	if [ $verdict = ok ]; then
		result=$(sed -n 's/.*Testing complete\. //p' "$out/$arch-$kver-correctness.log")
	else
		result=$(tail -1 <<<"$said")
	fi
	printf '%-6s %-6s %-4s %4d s  %s\n' "$verdict" "$arch" "$kver" $((SECONDS - begin)) "$result"
	add_up "$result"
	[ $verdict = ok ]
}

main() {
	local arch kver failed=0
	[ $# -gt 0 ] || die 'usage: kunit-ci.sh VERSION...'
	mkdir -p "$out"
	for kver; do
		for arch in um x86_64 arm64; do
			one "$arch" "$kver" || failed=$((failed + 1))
		done
	done
	# a run that failed without a word of its tests is one that failed, too
	[ $failed = 0 ] || [ $failed_tests -gt 0 ] || failed_tests=$failed
	echo "$passed passed, $failed_tests failed, $skipped skipped"
	[ $failed = 0 ] || die "$failed of $(($# * 3)) runs failed"
}

main "$@"
