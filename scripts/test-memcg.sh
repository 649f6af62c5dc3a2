#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs the copy of whole folios in a memory cgroup that is full, in a guest of the lab: what KUnit, which has no
# cgroups, cannot.
#
# usage: scripts/test-memcg.sh x86_64|arm64
#
# The kernel is the patched one of lab-kernel.sh. The guest's checks are scripts/lab/guest-memcg-test; one that
# fails is on the console, which is shown. Exit 1 then.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/lib.sh
. "$here/lib.sh"
# shellcheck source=scripts/lab/boot.sh
. "$here/lab/boot.sh"

arch=${1:-}
[[ $# = 1 && $arch =~ ^(x86_64|arm64)$ ]] || die 'usage: test-memcg.sh x86_64|arm64'
unset ARCH
need mkfs.xfs xfsprogs
name=$arch-memcg
disk_mb=512
image=("$("$here/lab-image.sh" "$arch")")
kernel=$("$here/lab-kernel.sh" "$arch" patched)
boot_job '' <"$here/lab/guest-memcg-test"
cat "$work/host/checks"
