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

# ends_with WORDS COMMAND...: the command must fail, and its last line hold WORDS.
ends_with() {
	local words=$1
	shift
	! "$@" >"$work/said" 2>&1 && tail -1 "$work/said" | grep -F -- "$words"
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

# What is missing, by its package: with each tool that is there, the next one is asked for.
mkdir "$work/bin"
for tool in bash dirname; do
	ln -s "$(command -v $tool)" "$work/bin"
done
expect_missing() {
	expect "$1 without $2: says which package" refuses "apt-get install $2" \
		env ARCH="$1" PATH="$work/bin" bash "$here/kunit.sh"
}
expect_missing um python3
for tool in python3 make flex bison bc rsync; do
	ln -s "$(type -P true)" "$work/bin/$tool"
done
expect_missing um gcc
ln -s "$(type -P false)" "$work/bin/gcc"
expect_missing x86_64 qemu-system-x86
expect_missing arm64 gcc-aarch64-linux-gnu
ln -s "$(type -P true)" "$work/bin/aarch64-linux-gnu-gcc"
expect_missing arm64 qemu-system-arm
ln -s "$(type -P true)" "$work/bin/qemu-system-x86_64"
expect_missing x86_64 libelf-dev

# No source: apt is there, and fetches nothing.
mkdir "$work/apt"
printf '#!/bin/sh\nexit 1\n' >"$work/apt/apt-get"
chmod +x "$work/apt/apt-get"
expect 'says that the source cannot be fetched, and where the log is' ends_with '/log' \
	env PATH="$work/apt:$PATH" XDG_CACHE_HOME="$work/empty" "$here/kernel-source.sh" 7.3

# A tree in which kunit.py does as it is told: how kunit.sh judges a build and what a kernel said.
make_tree
printf 'kernelversion:\n\t@echo 9.9\n' >"$work/tree/Makefile"
cat >"$work/tree/tools/testing/kunit/kunit.py" <<-'EOF'
	import os, signal, subprocess, sys
	objects = sys.argv[sys.argv.index('--build_dir') + 1]
	os.makedirs(objects, exist_ok=True)
	if sys.argv[1] == 'build':
	    with open(objects + '/linux', 'w') as kernel:
	        kernel.write('#!/bin/sh\necho $$ >"$0.pid"\necho "$KERNEL"\nexec sleep ${HANG:-0}\n')
	    os.chmod(objects + '/linux', 0o755)
	    sys.exit(int(os.environ.get('BUILD', 0)))
	with open(objects + '/runs', 'a+') as runs:
	    run = runs.tell()
	    runs.write('x')
	os.environ['KERNEL'] = os.environ.get('KERNEL', 'ok 1 folio_batch').replace('RUN', str(run))
	with open(objects + '/test.log', 'w') as log:
	    kernel = subprocess.Popen([objects + '/linux'], stdout=log, start_new_session=True)
	    signal.signal(signal.SIGINT, lambda *_: kernel.terminate())
	    kernel.wait()
	print('[00:00:00] Testing complete. ' + os.environ.get('SAYS', 'Ran 3 tests: passed: 3'))
	sys.exit(int(os.environ.get('STATUS', 0)))
EOF
kunit() {
	env ARCH=um KSRC="$work/tree" XDG_CACHE_HOME="$work/cache" OUT="$work/kunit" "$@" "$here/kunit.sh"
}
expect 'calls a good run good' kunit
expect 'leaves the tree under test alone' test ! -e "$work/tree/mm/tests"
expect 'says that the build fails, and where the log is' ends_with '.log' kunit BUILD=1
expect 'fails where a case fails' ends_with 'not all cases passed' kunit STATUS=1
expect 'fails where a run is cut off' ends_with 'not all cases passed' kunit SAYS='Ran 9 tests: passed: 9, errors: 2'
expect 'fails where no case ran' ends_with 'no case ran' kunit SAYS='Ran 9 tests: skipped: 9'
for words in 'WARNING: mm/memory.c:1 at f' '[ 1.0] BUG: unable to handle page fault' 'Bad page map in process' \
	'------------[ cut here ]------------' 'Kernel panic - not syncing' 'BUG: KASAN: use-after-free'; do
	expect "fails where the kernel says \"$words\"" ends_with 'holds a warning' kunit KERNEL="$words"
done

# A kernel that goes on after a failure: "timeout" ends a script that waits for it.
is_over() {
	for _ in {1..50}; do
		kill -0 "$(cat "$work"/cache/fault-analyze/kunit/*/um-correctness/linux.pid)" || return 0
		sleep 0.1
	done
	return 1
}
export -f kunit
export work here
expect 'ends UML with the first failure where STOP is set' ends_with 'not all cases passed' \
	timeout 10 bash -c 'kunit STOP=1 HANG=20 STATUS=1 KERNEL="    not ok 1 test_set_ptes"'
expect 'leaves no kernel behind' is_over
expect 'ends when it is told to' ends_with '' timeout 2 bash -c 'kunit HANG=20'
expect 'ends UML with it' is_over
expect 'lets a good UML end by itself where STOP is set' kunit STOP=1

# kunit.py counts its runs as RUN.
bench() {
	env XDG_CACHE_HOME="$work/cache" OUT="$work/bench" KSRC="$work/tree" KERNEL="# bench: $1" "$here/bench-kunit.sh"
}
expect 'measures where two runs agree' bench 'helper=f nr=1 batched_ns=100.00 single_ns=300.00'
expect 'says of which machine' grep -qx '# make kunit-bench ARCH=x86_64' "$work"/bench/x86_64/first/*.ktap
expect 'takes a difference of a thousandth' bench 'helper=f nr=1 batched_ns=100RUN single_ns=300.00'
expect 'fails where two runs differ' ends_with 'more than 1 %' bench 'helper=f nr=1 batched_ns=100.00 single_ns=RUN'
expect 'fails where a line has no partner' ends_with 'more than 1 %' bench 'helper=f nr=RUN batched_ns=1 single_ns=1'
expect 'fails where nothing was measured' ends_with 'no bench lines' bench ''
expect 'refuses to measure on UML' refuses 'no clock' env ARCH=um "$here/bench-kunit.sh"

exit $failed
