#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs test programs one after the other, each under a time limit, and adds their tests up.
#
# usage: run-tests.sh PROGRAM TEST...
#
# A TEST is a cmocka program, or a script that prints cmocka's closing lines. FAULT_ANALYZE names
# PROGRAM to them. What they print is kept beside them, and shown when one fails.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

[ $# -ge 2 ] || die "usage: run-tests.sh PROGRAM TEST..."
FAULT_ANALYZE=$(realpath "$1")
export FAULT_ANALYZE
# stop at the first error, and do not take an exit code that the program under test uses
export ASAN_OPTIONS=exitcode=99 UBSAN_OPTIONS=print_stacktrace=1:exitcode=99
log_dir=$(dirname "$1")/tests
shift
mkdir -p "$log_dir"
passed=0 failed=0 skipped=0

# closing WORD LOG: the number in cmocka's closing line "[  WORD  ] N test(s)"
closing() {
	sed -n "s/^\[  *$1  *\] \([0-9]*\) test(s).*/\1/p" "$2" | tail -n 1
}

for test in "$@"; do
	name=$(basename "$test" .sh)
	log=$log_dir/$name.log
	start=$SECONDS status=0
	timeout -k 5 600 "$test" >"$log" 2>&1 || status=$?
	p=$(closing PASSED "$log") f=$(closing FAILED "$log") s=$(closing SKIPPED "$log")
	p=${p:-0} f=${f:-0} s=${s:-0}
	# a crash, a leak or a time-out fails even where no test did
	[ "$status" -eq 0 ] || [ "$f" -gt 0 ] || f=1
	[ "$((p + f + s))" -gt 0 ] || f=1
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	printf '%-24s %4d passed, %d failed, %d skipped (%d s)\n' "$name" "$p" "$f" "$s" \
		$((SECONDS - start))
	if [ "$s" -gt 0 ]; then
		grep '^\[  SKIPPED \] [^0-9]' "$log" | sort -u || die "$name: skipped without a name"
	fi
	if [ "$f" -gt 0 ]; then
		echo "--- $log (exit $status)"
		tail -n 60 "$log"
	fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
