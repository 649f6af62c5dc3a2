#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The whole proof: kernels built before and after, the KUnit suite and the kernel's own tests on each, every row
# recorded, the analyzer's fault counts against the kernel's own, and the recorder in every way.
#
# usage: scripts/validate.sh [x86_64] [arm64]
#
# ROW takes one row or name of scripts/lab/rows alone. Goes on after a miss; prints one table of verdicts at the
# end. build/validate has a log a step. Exit 1 on any miss.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/lib.sh
. "$here/lib.sh"
logs=$here/../build/validate

# step NAME COMMAND...: runs it with a log of its own and notes the verdict.
step() {
	local name=$1 log=$logs/${1//[^a-zA-Z0-9]/-}.log start=$SECONDS verdict=good
	shift
	say "$name"
	"$@" >"$log" 2>&1 </dev/null || verdict=MISSED
	[ "$verdict" = good ] || { missed=$((missed + 1)); tail -3 "$log" >&2; }
	printf '%-7s %5d s  %s\n' "$verdict" $((SECONDS - start)) "$name" >>"$logs/verdicts"
}

# Names of the lines of scripts/lab/rows for architecture $1, all or those of $ROW.
rows_of() {
	awk -v arch="$1" -v row="${ROW:-}" '!/^#/ && ($3 == "any" || $3 == arch) &&
		(row == "" || row == $1 || row == $2) { print $2 }' "$here/lab/rows"
}

main() {
	local arch name kind missed=0
	[ $# -gt 0 ] || set -- x86_64 arm64
	mkdir -p "$logs"
	: >"$logs/verdicts"
	for arch in "$@"; do
		[[ $arch =~ ^(x86_64|arm64)$ ]] || die 'usage: validate.sh [x86_64] [arm64]'
	done
	for arch in "$@"; do
		step "$arch kernel plain" "$here/lab-kernel.sh" "$arch" plain
		step "$arch kernel patched" "$here/lab-kernel.sh" "$arch" patched
		step "$arch KUnit plain" env ARCH="$arch" "$here/kunit.sh"
		step "$arch KUnit patched" env ARCH="$arch" PATCH="$here/apply-patches.sh" FILTER='folio_batch*' \
			"$here/kunit.sh"
		step "$arch selftests of mm" "$here/lab-selftests.sh" "$arch"
		step "$arch guests that go wrong" "$here/test-lab.sh" "$arch"
		for kind in plain patched kprobes; do
			step "$arch record, $kind kernel" "$here/test-record.sh" "$arch" "$kind"
		done
		while read -r name; do
			step "$arch $name" "$here/lab.sh" "$name" "$arch"
		done < <(rows_of "$arch")
	done
	cat "$logs/verdicts"
	[ "$missed" = 0 ] || die "$missed missed: see $logs"
}

main "$@"
