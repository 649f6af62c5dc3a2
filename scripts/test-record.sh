#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs fault-analyze record in a guest of the lab, where tracing is allowed, and ends it in every way.
#
# usage: scripts/test-record.sh
#
# Takes the plain x86-64 kernel, so it is for a machine of that architecture. The guest's checks are
# scripts/lab/guest-record-test; a check that fails is on the console, which is shown.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/lib.sh
. "$here/lib.sh"
# shellcheck source=scripts/lab/boot.sh
. "$here/lab/boot.sh"

analyze=${ANALYZE:-$here/../build/fault-analyze}

# The program with the libraries that it needs here.
copy_program() {
	local library
	mkdir -p "$1/bin"
	cp -L "$analyze" "$1/bin/fault-analyze"
	ldd "$analyze" | sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p' | while read -r library; do
		mkdir -p "$1$(dirname "$library")"
		cp -L "$library" "$1$library"
	done
}

[ "$(uname -m)" = x86_64 ] || die 'this test is for x86-64 machines'
[ -x "$analyze" ] || die "no $analyze: run make"
arch=x86_64
name=test-record
disk_mb=0
work=$cache_dir/lab/runs/$name
lock "$work.lock"
image=("$("$here/lab-image.sh" "$arch")")
kernel=$("$here/lab-kernel.sh" "$arch" plain)
rm -rf "$work"
mkdir -p "$work/files"
cp "$here/lab/guest-record-test" "$work/files/row"
copy_program "$work/files"
add_files "$work/files"
qemu_line "$kernel" "$work/initrd.gz" "$work/host" ''
boot
"$analyze" report "$work/host/command.dat"
cat "$work/host/checks"
