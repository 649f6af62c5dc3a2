#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs the kernel's own selftests of mm on a plain kernel of the lab and on the patched one with both changes on,
# and expects the same of them.
#
# usage: scripts/lab-selftests.sh x86_64|arm64
#
# Some of these tests do not say the same each time on one kernel: khugepaged wants huge pages and moments that it
# may not get. So a program of which the patched kernel said what the plain one did not is run again on both, three
# times at most: all that the patched kernel ever said of a program, the plain kernel must have said as well.
# OUT (build/lab/selftests) gets what each program said, ARCH-plain/TRY/NAME and ARCH-patched/TRY/NAME. Exit 1 where
# the patched kernel alone has a result, where a kernel warns, or where nothing passed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/lib.sh
. "$here/lib.sh"
# shellcheck source=scripts/lab/boot.sh
. "$here/lab/boot.sh"
out=${OUT:-$here/../build/lab/selftests}
boot_minutes=120
memory=3G # khugepaged wants huge pages when much has run before it
max_tries=4

# The guest swaps to it: no file system.
make_disk() {
	truncate -s "${disk_mb}M" "$work/disk"
}

# run SIDE TRY PROGRAMS PARAMETERS: leaves what the programs said in $out/$arch-SIDE/TRY.
run() {
	local kernel results=$out/$arch-$1/$2
	name=$arch-selftests-$1
	kernel=$("$here/lab-kernel.sh" "$arch" "$1")
	boot_job "$4" < <(echo "only='$3'" && cat "$here/lab/guest-selftests")
	mkdir -p "$results"
	find "$work/host" -type f ! -name verdict -exec cp {} "$results/" \;
}

run_both() {
	(run plain "$1" "$2" '')
	(run patched "$1" "$2" 'wp_reuse_batch=folio wp_copy_batch=on')
}

# results FILE: one line a test, without what differs from run to run: its number, addresses, times and counts.
results() {
	grep -E '^(ok|not ok|exit|Bail out!) |\.\.\. *(OK|Fail|Skip|done)' "$1" |
		sed -E 's/^((not )?ok) [0-9]+ /\1 /; s/0x[0-9a-f]+/ADDRESS/g'
}

# Programs of which the patched kernel said what the plain one never did.
programs_apart() {
	local said plain program
	for said in "$out/$arch-patched"/*/*; do
		program=${said##*/}
		for plain in "$out/$arch-plain"/*/"$program"; do
			cmp -s <(results "$said") <(results "$plain") && continue 2
		done
		echo "$program"
	done | sort -u | xargs
}

show_apart() {
	local program=$1
	diff -u --label "plain $program" --label "patched $program" <(results "$out/$arch-plain/$try/$program") \
		<(results "$out/$arch-patched/$try/$program") >&2 || return 0
}

summary() {
	local said
	for said in "$out/$arch-patched"/1/*; do
		results "$said"
	done | awk -v arch="$arch" -v tries="$try" '
		/^exit / { programs++; next }
		/^ok .*# SKIP/ || /Skip/ { skipped++; next }
		/^not ok/ || /Fail/ { failed++; next }
		/^Bail out/ { next }
		{ passed++ }
		END {
			if (!passed)
				exit 1
			printf "%s: %d programs, %d tests pass, %d fail, %d skip: nothing that the plain kernel does not say as well (tries: %d)\n",
				arch, programs, passed, failed, skipped, tries
		}' || die "$arch: no selftest passed"
}

arch=${1:-}
[[ $# = 1 && $arch =~ ^(x86_64|arm64)$ ]] || die 'usage: lab-selftests.sh x86_64|arm64'
unset ARCH
disk_mb=256
image=("$("$here/lab-image.sh" "$arch")" "$("$here/lab-image.sh" "$arch" selftests)")
rm -rf "$out/$arch-plain" "$out/$arch-patched"
try=1
run_both 1 ''
while apart=$(programs_apart) && [ -n "$apart" ]; do
	for program in $apart; do
		show_apart "$program"
	done
	[ "$try" -lt "$max_tries" ] ||
		die "$arch: the patched kernel does not do as the plain one in $try tries: $apart: see $out"
	try=$((try + 1))
	say "$arch: again: $apart"
	run_both "$try" "$apart"
done
summary
