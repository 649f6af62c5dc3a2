#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Guests that go wrong: each must end in time with the console's last words and a non-zero exit.
#
# usage: scripts/test-lab.sh x86_64|arm64
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/lib.sh
. "$here/lib.sh"
# shellcheck source=scripts/lab/boot.sh
. "$here/lab/boot.sh"

# goes_wrong NAME JOB PARAMETERS WORDS: a guest whose init runs JOB ends badly and WORDS are said.
goes_wrong() {
	local said
	name=$arch-$1
	if said=$(boot_job "$3" <<<"$(printf 'job() {\n\tmkdir -p /tmp/out\n\t%s\n}' "$2")" 2>&1); then
		die "$1: the guest was called good"
	fi
	grep -qF "$4" <<<"$said" || die "$1: nobody said '$4': $said"
	echo "ok $1: $(tail -1 <<<"$said" | sed "s,$cache_dir,CACHE,g")"
}

arch=${1:-}
[[ $# = 1 && $arch =~ ^(x86_64|arm64)$ ]] || die 'usage: test-lab.sh x86_64|arm64'
unset ARCH
disk_mb=0
image=("$("$here/lab-image.sh" "$arch")")
kernel=$("$here/lab-kernel.sh" "$arch" plain)
goes_wrong no-init : 'rdinit=/none' 'Kernel panic'
goes_wrong job-fails 'echo "a word from the guest"; return 1' '' 'a word from the guest'
goes_wrong job-warns 'touch /tmp/out/file; echo "WARNING: as a kernel says it"' '' 'WARNING: as a kernel'
boot_minutes=0.5
goes_wrong job-hangs 'echo "round and round"; while :; do :; done' '' 'no end after 0.5 minutes'
