#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Does what a reviewer does: installs the suite into a kernel tree, runs kunit.py there as it stands, removes it.
#
# usage: [KVER=7.3|6.12] [ACCEL=tcg|kvm] scripts/test-kunit-tree.sh [ARCH...]        (um x86_64 arm64)
#
# Each tree is a scratch copy of Debian's source in the cache. kunit.py gets no option of ours: its own
# configuration, its own build folder. A cold run takes a quarter of an hour an architecture; what kunit.py says is
# in build/kunit/tree-ARCH.log. QEMU runs without KVM; ACCEL=kvm lets kunit.py try it. Exit 1 when a run fails, when
# no case ran, or when a file of the tree differs after "install-kunit.sh --remove".
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/lib.sh
. "$here/lib.sh"
kver=${KVER:-7.3}
accel=${ACCEL:-tcg}
out=$here/../build/kunit
minutes=90

# The command of README.md for one architecture.
run() {
	local arch=$1 options=()
	case $arch in
	um) ;;
	x86_64)
		options=(--arch=x86_64)
		wrap_qemu x86_64 "$tree.bin" "$accel"
		;;
	arm64)
		options=(--arch=arm64 --cross_compile=aarch64-linux-gnu-)
		wrap_qemu aarch64 "$tree.bin" "$accel"
		;;
	*) die "no ARCH $arch: um, x86_64 or arm64" ;;
	esac
	cd "$tree"
	say "$arch: ./tools/testing/kunit/kunit.py run ${options[*]} folio_batch"
	LIMIT_SIGNAL=INT limited "$minutes" ./tools/testing/kunit/kunit.py run "${options[@]}" folio_batch >"$out/tree-$arch.log" 2>&1 ||
		die "$arch fails in a plain tree: see $out/tree-$arch.log"
	grep 'Testing complete' "$out/tree-$arch.log" | grep 'passed: [1-9]' | grep -qvE '(failed|crashed|errors): [1-9]' ||
		die "$arch: not all cases ran in a plain tree: see $out/tree-$arch.log"
	echo "$arch $kver: $(sed -n 's/.*Testing complete\. //p' "$out/tree-$arch.log")"
}

try_arch() {
	local arch=$1 source tree=$cache_dir/kunit/$kver-plain/$1
	mkdir -p "$tree"
	lock "$tree.lock"
	source=$("$here/kernel-source.sh" "$kver")
	# Hard links, which neither install-kunit.sh nor a build writes through.
	rsync -a --delete --exclude=/.kunit --link-dest="$source/" "$source/" "$tree/"
	"$here/install-kunit.sh" "$tree"
	(run "$arch")
	"$here/install-kunit.sh" "$tree" --remove
	diff -rq --exclude=.kunit --exclude=__pycache__ "$source" "$tree" >&2 ||
		die "install-kunit.sh --remove does not restore $tree: see above"
}

main() {
	local arch
	unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
	mkdir -p "$out"
	out=$(cd "$out" && pwd)
	for arch; do
		try_arch "$arch"
	done
	say 'each tree is as it was before'
}

[ $# -gt 0 ] || set -- um x86_64 arm64
main "$@"
