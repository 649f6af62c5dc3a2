#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs fault-analyze record in a guest of the lab, where tracing is allowed, with everything that this kernel
# offers, and ends it in every way.
#
# usage: scripts/test-record.sh x86_64|arm64 plain|patched|kprobes
#
# The kernel is one of lab-kernel.sh. The guest's checks are scripts/lab/guest-record-test; one that fails is on
# the console, which is shown. Exit 1 then.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/lib.sh
. "$here/lib.sh"
# shellcheck source=scripts/lab/boot.sh
. "$here/lab/boot.sh"

arch=${1:-} kind=${2:-}
[[ $# = 2 && $arch =~ ^(x86_64|arm64)$ && $kind =~ ^(plain|patched|kprobes)$ ]] ||
	die 'usage: test-record.sh x86_64|arm64 plain|patched|kprobes'
unset ARCH
name=$arch-record-$kind
disk_mb=0
image=("$("$here/lab-image.sh" "$arch")" "$("$here/lab-image.sh" "$arch" analyzer)")
kernel=$("$here/lab-kernel.sh" "$arch" "$kind")
boot_job '' < <(echo "kind=$kind arch=$arch" && cat "$here/lab/guest-record-test")
cat "$work/host/checks"
