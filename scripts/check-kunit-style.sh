#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a kernel maintainer's tools say of the suite: checkpatch.pl --strict, W=1 and sparse. Silence is good.
#
# usage: scripts/check-kunit-style.sh [ARCH...]        (um x86_64 arm64)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/lib.sh
. "$here/lib.sh"
suite=("$here"/../kunit/*.[ch])
objects=(mm/tests/folio_batch_kunit.o mm/tests/folio_batch_reuse_kunit.o mm/tests/folio_batch_copy_kunit.o)
checker=$cache_dir/kunit/sparse

# Compiles the suites alone with W=1 and sparse; prints what is said of our files.
compile() {
	local arch=$1 cross=() tree=$cache_dir/kunit/7.3/tree build=$cache_dir/kunit/7.3/$1-correctness object
	local log=$here/../build/kunit/style-$arch.log
	ARCH=$arch KVER=7.3 STEP=build "$here/kunit.sh" || exit 1
	[ "$arch" != arm64 ] || cross=(CROSS_COMPILE=aarch64-linux-gnu-)
	lock "$cache_dir/kunit/7.3/lock"
	rm -f "${objects[@]/#/$build/}"
	make -s -C "$tree" O="$build" ARCH="$arch" "${cross[@]}" W=1 C=1 CHECK="$checker" "${objects[@]}" \
		>"$log" 2>&1 || die "the suites do not compile with W=1: see $log"
	! grep -q 'C=1 specified, but' "$log" || die "make does not take this sparse: see $log"
	for object in "${objects[@]}"; do
		[ -f "$build/$object" ] || die "make built no $object: see $log"
	done
	! grep -E 'folio_batch_|batch_cases' "$log"
}

main() {
	local arch failed=0
	unset MAKEFLAGS MFLAGS MAKELEVEL
	need perl perl
	need sparse sparse
	write_sparse "$checker"
	for arch; do
		(compile "$arch") || failed=1
	done
	perl "$cache_dir/kunit/7.3/tree/scripts/checkpatch.pl" --no-tree --strict --terse --show-types \
		--file "${suite[@]}" || failed=1
	[ "$failed" = 0 ] || die 'the tools have something to say'
	say 'checkpatch, W=1 and sparse have nothing to say'
}

[ $# -gt 0 ] || set -- um x86_64 arm64
main "$@"
