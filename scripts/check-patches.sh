#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a kernel maintainer's tools say of the candidate changes: checkpatch.pl --strict of each patch; W=1 and sparse
# of the files that they touch, no more than of the same files without them. Silence is good.
#
# usage: scripts/check-patches.sh [ARCH...]        (x86_64 arm64)
#
# Uses the trees of lab-kernel.sh. build/patches has what the compilers said.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/lib.sh
. "$here/lib.sh"
patches=("$here"/../kunit/patches/7.3/*.patch)
logs=$here/../build/patches
checker=$logs/sparse

# The objects of this architecture that the patches touch and the tree can build.
objects() {
	sed -n 's,^+++ b/\(.*\)\.c$,\1.o,p' "${patches[@]}" | sort -u | grep -vE "^arch/" || true
	sed -n "s,^+++ b/\(arch/${arch%_64}.*\)\.c\$,\1.o,p" "${patches[@]}" | sort -u
}

# compile SIDE: W=1 and sparse of the objects; a log without line numbers, sorted.
compile() {
	local cross=() list object
	[ "$arch" != arm64 ] || cross=(CROSS_COMPILE=aarch64-linux-gnu-)
	rsync -rlpc "$sources-$1/" "$tree/" # as lab-kernel.sh does
	mapfile -t list < <(cd "$sources-$1" && for object in $(objects); do [ ! -f "${object%.o}.c" ] || echo "$object"; done)
	(cd "$tree" && rm -f "${list[@]}")
	make -s -C "$tree" ARCH="$arch" "${cross[@]}" W=1 C=1 CHECK="$checker" "${list[@]}" >"$logs/$arch-$1.log" 2>&1 ||
		die "$arch does not compile with W=1: see $logs/$arch-$1.log"
	! grep -q 'C=1 specified, but' "$logs/$arch-$1.log" || die "make does not take this sparse: see $logs/$arch-$1.log"
	grep -E ': (warning|error|note): ' "$logs/$arch-$1.log" | sed -E 's/:[0-9]+:[0-9]+: /: /' | sort >"$logs/$arch-$1" || true
	say "$arch $1: ${#list[@]} files, $(wc -l <"$logs/$arch-$1") remarks"
}

check_compilers() {
	arch=$1
	"$here/lab-kernel.sh" "$arch" plain >/dev/null
	"$here/lab-kernel.sh" "$arch" patched >/dev/null
	tree=$cache_dir/lab/7.3/$arch/tree sources=$cache_dir/lab/7.3/$arch/sources
	(
		lock "$cache_dir/lab/7.3/$arch.lock"
		compile plain
		compile patched
	)
	# what plain alone says is of files that make had to build before
	if comm -13 "$logs/$arch-plain" "$logs/$arch-patched" | grep .; then
		failed=1
	fi
}

main() {
	local failed=0 each
	unset MAKEFLAGS MFLAGS MAKELEVEL ARCH
	[ $# -gt 0 ] || set -- x86_64 arm64
	need perl perl
	need sparse sparse
	write_sparse "$checker"
	for each in "${patches[@]}"; do
		# A file that git tracks would be checked as a source.
		perl "$("$here/kernel-source.sh" 7.3)/scripts/checkpatch.pl" --no-tree --strict --terse --show-types \
			--ignore MISSING_SIGN_OFF - <"$each" || failed=1
	done
	for each; do
		check_compilers "$each"
	done
	[ "$failed" = 0 ] || die 'the tools have something to say'
	say 'checkpatch, W=1 and sparse have nothing to say'
}

main "$@"
