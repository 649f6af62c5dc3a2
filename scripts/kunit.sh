#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds a kernel with the KUnit suite folio_batch and runs it: what "make kunit" does.
#
# usage: [NAME=value...] scripts/kunit.sh
#
#   ARCH      um, x86_64 or arm64 (um)
#   KVER      7.3 or 6.12: the Debian source to fetch and test (7.3)
#   KSRC      a kernel tree to test instead; it is copied, never changed
#   CONFIG    correctness, latency, kasan or lockdep (correctness)
#   FILTER    which suites or cases, a glob for kunit.py (folio_batch)
#   SPEED     a filter on the cases' speed, such as "speed>slow": the others are shown as skipped
#   ARGS      kernel arguments
#   ACCEL     tcg or kvm: kunit.py would take KVM where there is one; TCG gives the same everywhere (tcg)
#   QEMU_ARGS arguments for QEMU, such as "-icount shift=0"
#   MINUTES   how long the kernel may run (15)
#   STOP      set to end the kernel with the first failure
#   JOBS      compile jobs (the CPUs)
#   OUT       where the results go (build/kunit)
#   TREE      a name for the scratch tree, where several are wanted (KVER, with PATCH KVER-patched)
#   PATCH     a command that changes the scratch tree; gets its path
#   STEP      build, run or all (all)
#
# Scratch tree and objects stay in the cache, so a second run compiles what changed. OUT gets NAME.ktap, all
# that the kernel said, and NAME.log, all that kunit.py and make said, NAME being ARCH-KVER-CONFIG. Exit 1
# when a case fails, the kernel crashes or warns, or when no case ran.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/lib.sh
. "$here/lib.sh"

arch=${ARCH:-um}
kver=${KVER:-7.3}
ksrc=${KSRC:-}
config=${CONFIG:-correctness}
out=${OUT:-$here/../build/kunit}
accel=${ACCEL:-tcg}
step=${STEP:-all}
build_minutes=60
run_minutes=${MINUTES:-15}

# The lines that no kernel under this suite may print. KTAP's own lines start differently.
trouble='^(\[[^]]*\] ?)?(WARNING|BUG|Oops|KASAN|UBSAN|Kernel panic|page_table_check)|cut here|Bad page'

check_arguments() {
	[ -f "$kunit_dir/$arch.kunitconfig" ] || die "no ARCH $arch: um, x86_64 or arm64"
	[ "$config" = correctness ] || [ -f "$kunit_dir/$config.config" ] ||
		die "no CONFIG $config: correctness, latency, kasan or lockdep"
	[ "$config" != kasan ] || [ "$arch" = x86_64 ] || die 'CONFIG=kasan is for ARCH=x86_64'
	[ "$accel" = tcg ] || [ "$accel" = kvm ] || die "no ACCEL $accel: tcg or kvm"
	[ -z "$ksrc" ] || [ -d "$ksrc" ] || die "no folder $ksrc: KSRC is the top of a kernel tree"
}

check_tools() {
	need python3 python3
	need make make
	need flex flex
	need bison bison
	need bc bc
	need rsync rsync
	need gcc gcc
	case $arch in
	x86_64)
		need qemu-system-x86_64 qemu-system-x86
		gcc -E -include libelf.h - </dev/null >/dev/null 2>&1 || die 'no libelf.h: apt-get install libelf-dev'
		;;
	arm64)
		need aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu
		need qemu-system-aarch64 qemu-system-arm
		;;
	esac
}

# The tree under test, always a copy. One of Debian's is made of hard links; install-kunit.sh never writes
# through them. From a tree of her own only sources are taken, not what a build left there.
make_tree() {
	if [ -z "$ksrc" ]; then
		source=$("$here/kernel-source.sh" "$kver")
		rsync -a --delete --link-dest="$source/" "$source/" "$tree/"
	else
		rsync -a --delete --exclude={/.git,/.config,/.kunit,/include/config,/include/generated} \
			--exclude={'/arch/*/include/generated','*.o','*.a','.*.cmd','*.ko','/vmlinux*'} \
			"$ksrc/" "$tree/"
	fi
	"$here/install-kunit.sh" "$tree"
	[ -z "${PATCH:-}" ] || "$PATCH" "$tree"
}

# kunit.py's command $1, ended after $2 minutes, with the options that build and exec share.
kunit_py() {
	local command=$1 limit=$2 option
	shift 2
	local options=(--build_dir "$objects" --arch "$arch" --kunitconfig "$kunit_dir/$arch.kunitconfig")
	[ "$arch" != arm64 ] || options+=(--cross_compile aarch64-linux-gnu-)
	if [ "$config" != correctness ]; then
		while read -r option; do
			options+=(--kconfig_add "$option")
		done < <(grep '^CONFIG_' "$kunit_dir/$config.config")
	fi
	cd "$tree"
	# the one signal on which kunit.py ends UML, which is in a process group of its own
	LIMIT_SIGNAL=INT limited "$limit" python3 ./tools/testing/kunit/kunit.py "$command" "${options[@]}" "$@"
}

build() {
	local status=0
	kunit_py build "$build_minutes" --jobs "${JOBS:-$(nproc)}" >"$log" 2>&1 || status=$?
	[ "$status" != 124 ] || die "the build takes more than $build_minutes minutes: see $log"
	[ "$status" = 0 ] || die "the kernel does not build: see $log"
}

run() {
	# one that panics would else wait for its time to be up
	local options=(--timeout $((run_minutes * 60)) --kernel_args panic=-1) argument both tee
	[ -z "${SPEED:-}" ] || options+=(--filter "$SPEED" --filter_action skip)
	# The check of the timer counts on real time, which an emulator on a busy machine does not keep.
	[ "$arch" != x86_64 ] || options+=(--kernel_args no_timer_check)
	for argument in ${ARGS:-}; do
		options+=(--kernel_args "$argument")
	done
	[ "$arch" = um ] || [ -z "${QEMU_ARGS:-}" ] || options+=(--qemu_args "$QEMU_ARGS")
	case $arch in
	um)
		# kunit.py runs the file linux of its build folder, and finds there what it decodes a crash with
		if [ -n "${STOP:-}" ]; then
			wrap_kernel "$objects.bin/linux" "$objects/linux" "$accel"
			objects=$objects.bin
		fi
		;;
	x86_64) wrap_qemu x86_64 "$objects.bin" "$accel" ;;
	arm64) wrap_qemu aarch64 "$objects.bin" "$accel" ;;
	esac
	status=0
	exec {both}> >(tee -a "$log")
	tee=$!
	# kunit.py ends the kernel in time and keeps its words; the limit behind it is for kunit.py itself.
	kunit_py exec $((run_minutes + 1)) "${options[@]}" "${FILTER:-folio_batch}" >&"$both" 2>&1 || status=$?
	exec {both}>&-
	wait "$tee"
	cp "$objects/test.log" "$ktap"
}

# kunit.py calls a run good in which all was skipped, and one that was cut off between two cases; it does not look
# at the kernel's own words.
judge() {
	if grep -qE "$trouble" "$ktap"; then
		grep -E "$trouble" "$ktap" | head -5 >&2
		die "the kernel log holds a warning: see $ktap"
	fi
	if [ "$status" != 0 ] || grep -qE "Testing complete.*(failed|crashed|errors): [1-9]" "$log"; then
		die "not all cases passed: see $ktap"
	fi
	grep -qE 'Testing complete.*passed: [1-9]' "$log" || die "no case ran: see $ktap"
	say "$name good: $ktap"
}

main() {
	kunit_dir=$(cd "$here/../kunit" && pwd)
	check_arguments
	check_tools
	# What make gave this script for its own variables is not for the kernel's make.
	unset ARCH CONFIG MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES KBUILD_OUTPUT
	[ -z "$ksrc" ] || kver=$(make -s -C "$ksrc" kernelversion 2>/dev/null) || die "$ksrc is no kernel tree"
	name=$arch-$kver-$config
	mkdir -p "$out"
	out=$(cd "$out" && pwd)
	log=$out/$name.log
	ktap=$out/$name.ktap
	rm -f "$log" "$ktap"

	tree=$cache_dir/kunit/${TREE:-$kver${PATCH:+-patched}}/tree
	[ -z "$ksrc" ] || tree=$cache_dir/kunit/$(realpath "$ksrc" | sha256sum | cut -c1-12)${PATCH:+-patched}/tree
	objects=${tree%/tree}/$arch-$config
	lock "$objects.lock"
	if [ "$step" != run ]; then
		(
			lock "${tree%/tree}/lock"
			make_tree
			say "building $name in $objects"
			build
		)
	fi
	if [ "$step" != build ]; then
		run
		judge
	fi
}

main "$@"
