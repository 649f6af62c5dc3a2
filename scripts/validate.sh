#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The whole proof: kernels built before and after, the KUnit suite and the kernel's own tests on each, every row
# recorded, the analyzer's fault counts against the kernel's own, and the recorder in every way.
#
# usage: scripts/validate.sh [x86_64] [arm64]
#
# ROW takes one row or name of scripts/lab/rows alone. The architectures run side by side, and each goes on after a
# miss; one table of verdicts at the end. build/validate has a log a step. Exit 1 on any miss.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/lib.sh
. "$here/lib.sh"
logs=$here/../build/validate

# step NAME COMMAND...: runs it with a log of its own and notes the verdict.
step() {
	local name=$1 log=$logs/$arch-${1//[^a-zA-Z0-9]/-}.log start=$SECONDS verdict=good
	shift
	say "$arch: $name"
	"$@" >"$log" 2>&1 </dev/null || verdict=MISSED
	[ "$verdict" = good ] || tail -n 3 "$log" >&2
	printf '%-7s %-6s  %-34s  %5d s\n' "$verdict" "$arch" "$name" $((SECONDS - start)) >>"$logs/$arch.verdicts"
}

# Names of the lines of scripts/lab/rows for architecture $1, all or those of $ROW.
rows_of() {
	awk -v arch="$1" -v row="${ROW:-}" '!/^#/ && ($3 == "any" || $3 == arch) &&
		(row == "" || row == $1 || row == $2) { print $2 }' "$here/lab/rows"
}

validate() {
	local arch=$1 name kind
	: >"$logs/$arch.verdicts"
	for kind in plain patched kprobes; do
		step "kernel $kind" "$here/lab-kernel.sh" "$arch" "$kind"
	done
	step 'KUnit plain' env ARCH="$arch" "$here/kunit.sh"
	step 'KUnit patched' env ARCH="$arch" PATCH="$here/apply-patches.sh" FILTER='folio_batch*' \
		QEMU_ARGS='-smp 2 -cpu max' "$here/kunit.sh"
	step 'guests that go wrong' "$here/test-lab.sh" "$arch"
	for kind in plain patched kprobes; do
		step "record, $kind kernel" "$here/test-record.sh" "$arch" "$kind"
	done
	step 'copies in a full cgroup' "$here/test-memcg.sh" "$arch"
	while read -r name; do
		step "row $name" "$here/lab.sh" "$name" "$arch"
	done < <(rows_of "$arch")
	step 'selftests of mm' "$here/lab-selftests.sh" "$arch"
}

main() {
	local arch job verdicts=() running=() missed
	[ $# -gt 0 ] || set -- x86_64 arm64
	for arch in "$@"; do
		[[ $arch =~ ^(x86_64|arm64)$ ]] || die 'usage: validate.sh [x86_64] [arm64]'
		verdicts+=("$logs/$arch.verdicts")
	done
	mkdir -p "$logs"
	trap 'trap - INT TERM; kill 0' INT TERM
	for arch in "$@"; do
		validate "$arch" &
		running+=($!)
	done
	for job in "${running[@]}"; do
		wait "$job" || die "an architecture did not come to its end: see $logs"
	done
	cat "${verdicts[@]}"
	missed=$(cat "${verdicts[@]}" | awk '$1 != "good" { missed++ } END { print missed + 0 }')
	[ "$missed" = 0 ] || die "$missed missed: see $logs"
	say "all $(cat "${verdicts[@]}" | wc -l) good, in $((SECONDS / 60)) minutes"
}

main "$@"
