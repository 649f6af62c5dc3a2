#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs the kernel's own selftests of mm on a plain kernel of the lab and on the patched one with both changes on,
# and expects the same of them.
#
# usage: scripts/lab-selftests.sh x86_64|arm64
#
# OUT (build/lab/selftests) gets what each program said, ARCH-plain/NAME and ARCH-patched/NAME. Exit 1 where a
# test has another result, where a kernel warns, or where nothing ran.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/lib.sh
. "$here/lib.sh"
# shellcheck source=scripts/lab/boot.sh
. "$here/lab/boot.sh"
out=${OUT:-$here/../build/lab/selftests}
boot_minutes=120
memory=3G # khugepaged wants huge pages when much has run before it

# run SIDE PARAMETERS: leaves what the programs said in $out/$arch-SIDE.
run() {
	local side=$1 parameters=$2 kernel
	name=$arch-selftests-$side
	work=$cache_dir/lab/runs/$name
	lock "$work.lock"
	kernel=$("$here/lab-kernel.sh" "$arch" "$side")
	rm -rf "$work"
	mkdir -p "$work/files"
	cp "$here/lab/guest-selftests" "$work/files/row"
	add_files "$work/files"
	truncate -s 256M "$work/disk"
	qemu_line "$kernel" "$work/initrd.gz" "$work/host" "$parameters"
	boot
	rm -rf "$out/${arch:?}-$side"
	mkdir -p "$out/$arch-$side"
	find "$work/host" -type f ! -name verdict -exec cp {} "$out/$arch-$side/" \;
}

# results FOLDER: one line a test, "PROGRAM: RESULT NAME", without what differs from run to run: its number,
# addresses, times and counts.
results() {
	(
		cd "$1"
		grep -HE '^(ok|not ok|exit|Bail out!) |\.\.\. *(OK|Fail|Skip|done)' -- * |
			sed -E 's/^([^:]*):((not )?ok) [0-9]+ /\1: \2 /; s/0x[0-9a-f]+/ADDRESS/g'
	)
}

arch=${1:-}
[[ $# = 1 && $arch =~ ^(x86_64|arm64)$ ]] || die 'usage: lab-selftests.sh x86_64|arm64'
unset ARCH
disk_mb=256
image=("$("$here/lab-image.sh" "$arch")" "$("$here/lab-image.sh" "$arch" selftests)")
run plain ''
run patched 'wp_reuse_batch=folio wp_copy_batch=on'
diff -u --label plain --label patched <(results "$out/$arch-plain") <(results "$out/$arch-patched") ||
	die "$arch: the patched kernel does not do as the plain one: see $out"
results "$out/$arch-patched" | awk -v arch="$arch" '
	/: exit / { programs++; next }
	/: ok .*# SKIP/ || /Skip/ { skipped++; next }
	/: not ok/ || /Fail/ { failed++; next }
	{ passed++ }
	END {
		if (!passed)
			exit 1
		printf "%s: %d programs, %d tests pass, %d fail, %d skip, the same on both kernels\n", arch, programs, passed, failed, skipped
	}' || die "$arch: no selftest passed"
