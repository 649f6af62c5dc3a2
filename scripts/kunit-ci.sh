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
	[ $failed = 0 ] || die "$failed of $(($# * 3)) runs failed"
}

main "$@"
