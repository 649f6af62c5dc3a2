#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Tests the scripts around the KUnit suite without building a kernel: what they change, restore and refuse.
# shellcheck disable=SC2317 # called through expect
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# expect WHAT COMMAND...: the command must succeed.
expect() {
	local what=$1
	shift
	if "$@" >"$work/out" 2>&1; then
		echo "ok $what"
	else
		echo "not ok $what"
		sed 's/^/# /' "$work/out"
		failed=1
	fi
}

# refuses WORDS COMMAND...: the command must fail and say WORDS in one line.
refuses() {
	local words=$1
	shift
	! "$@" >"$work/said" 2>&1 && [ "$(wc -l <"$work/said")" = 1 ] && grep -qF -- "$words" "$work/said"
}

# A tree that has what install-kunit.sh touches and looks for.
make_tree() {
	rm -rf "$work/tree" "$work/before"
	mkdir -p "$work/tree/mm" "$work/tree/lib" "$work/tree/tools/testing/kunit"
	printf 'obj-y := memory.o\n' >"$work/tree/mm/Makefile"
	printf 'config DEBUG_PAGEALLOC\n\tbool\n' >"$work/tree/mm/Kconfig.debug"
	touch "$work/tree/tools/testing/kunit/kunit.py"
	cp -a "$work/tree" "$work/before"
}

same_tree() {
	diff -r "$1" "$2" && diff <(cd "$1" && find . | sort) <(cd "$2" && find . | sort)
}

install="$here/install-kunit.sh"
make_tree
expect 'installs' "$install" "$work/tree"
expect 'adds one line to mm/Makefile' test "$(diff "$work/before/mm/Makefile" "$work/tree/mm/Makefile" | grep -c '^>')" = 1
expect 'copies the suite' cmp "$here/../kunit/folio_batch_kunit.c" "$work/tree/mm/tests/folio_batch_kunit.c"
cp -a "$work/tree" "$work/once"
expect 'installs again' "$install" "$work/tree"
expect 'changes nothing the second time' same_tree "$work/once" "$work/tree"
expect 'removes' "$install" "$work/tree" --remove
expect 'restores the tree byte for byte' same_tree "$work/before" "$work/tree"
expect 'refuses to remove what is not there' refuses 'has no folio_batch suite' "$install" "$work/tree" --remove

make_tree
ln "$work/tree/mm/Makefile" "$work/linked"
expect 'installs into a tree of hard links' "$install" "$work/tree"
expect 'leaves the other name of a hard link alone' cmp "$work/linked" "$work/before/mm/Makefile"

make_tree
printf 'config FOLIO_BATCH_KUNIT_TEST\n' >>"$work/tree/mm/Kconfig.debug"
expect 'refuses a tree with another suite' refuses 'already has a suite' "$install" "$work/tree"
make_tree
mkdir "$work/tree/mm/tests"
touch "$work/tree/mm/tests/.kunitconfig"
expect 'refuses to replace a file' refuses 'there already' "$install" "$work/tree"
expect 'refuses what is no kernel tree' refuses 'no kernel tree' "$install" "$work"

expect 'refuses an unknown architecture' refuses 'no ARCH' env ARCH=vax "$here/kunit.sh"
expect 'refuses an unknown configuration' refuses 'no CONFIG' env CONFIG=quick "$here/kunit.sh"
expect 'refuses KASAN on UML' refuses 'is for ARCH=x86_64' env CONFIG=kasan "$here/kunit.sh"
expect 'refuses a source that is not there' refuses 'no folder' env KSRC="$work/none" "$here/kunit.sh"
expect 'refuses a source that is no kernel' refuses 'no kernel tree' env KSRC="$work/before/lib" "$here/kunit.sh"
expect 'refuses an unknown version' refuses 'usage:' "$here/kernel-source.sh" 2.6
mkdir "$work/bin"
for tool in bash dirname; do
	ln -s "$(command -v $tool)" "$work/bin"
done
expect 'says which package is missing' refuses 'apt-get install python3' env PATH="$work/bin" bash "$here/kunit.sh"

exit $failed
