#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs test programs, as many at a time as there are processors, each under a time limit, and adds their tests up.
#
# usage: run-tests.sh PROGRAM TEST...     (TEST_JOBS: how many at a time)
#
# A TEST is a cmocka program, or a script that prints cmocka's closing lines. FAULT_ANALYZE names
# PROGRAM to them. What they print is kept beside them, and shown when one fails.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

# closing WORD LOG: the number in cmocka's closing line "[  WORD  ] N test(s)"
closing() {
	sed -n "s/^\[  *$1  *\] \([0-9]*\) test(s).*/\1/p" "$2" | tail -n 1
}

# one TEST: runs it, adds "passed failed skipped" to the results, and says what there is to say at once
one() {
	local name log start=$SECONDS status=0 p f s skips said

	name=$(basename "$1" .sh)
	log=$log_dir/$name.log
	limited 10 "$1" >"$log" 2>&1 || status=$?
	p=$(closing PASSED "$log") f=$(closing FAILED "$log") s=$(closing SKIPPED "$log")
	p=${p:-0} f=${f:-0} s=${s:-0}
	# a crash, a leak or a time-out fails even where no test did
	[ "$status" -eq 0 ] || [ "$f" -gt 0 ] || f=1
	[ "$((p + f + s))" -gt 0 ] || f=1
	if ! skips=$(grep '^\[  SKIPPED \] [^0-9]' "$log" | sort -u) && [ "$s" -gt 0 ]; then
		skips="$name: skipped without a name" f=1
	fi
	echo "$p $f $s" >>"$results"
	said=$(
		printf '%-24s %4d passed, %d failed, %d skipped (%d s)\n' "$name" "$p" "$f" "$s" \
			$((SECONDS - start))
		[ -z "$skips" ] || echo "$skips"
		[ "$f" -eq 0 ] || { echo "--- $log (exit $status)"; tail -n 60 "$log"; }
	)
	echo "$said"
}

if [ "${1:-}" = --one ]; then
	one "$2"
	exit
fi
[ $# -ge 2 ] || die "usage: run-tests.sh PROGRAM TEST..."
FAULT_ANALYZE=$(realpath "$1")
log_dir=$(dirname "$1")/tests
results=$(mktemp)
trap 'rm -f "$results"' EXIT
export FAULT_ANALYZE log_dir results
# stop at the first error, and do not take an exit code that the program under test uses
export ASAN_OPTIONS=exitcode=99 UBSAN_OPTIONS=print_stacktrace=1:exitcode=99 TSAN_OPTIONS=exitcode=99:halt_on_error=1
shift
mkdir -p "$log_dir"
printf '%s\0' "$@" | xargs -0 -n 1 -P "${TEST_JOBS:-$(nproc)}" "$0" --one
awk -v tests=$# '
	{ passed += $1; failed += $2; skipped += $3 }
	END {
		printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
		if (NR != tests)
			printf "%d programs without a result\n", tests - NR
		exit NR != tests || failed > 0
	}' "$results"
