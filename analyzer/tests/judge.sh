# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What the tests in shell share: the program run and judged, and cmocka's closing lines. Sourced, never
# run; gives the folder $tmp and changes to the top of the source.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
: "${FAULT_ANALYZE:?names the program to test}"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
passed=0
failed=() skipped=()
problem= # of the test that runs, the first; or "skip", with ": why" behind it

wrong() {
	[ -n "$problem" ] || problem=$*
}

# run ARG...: the program; $status, $tmp/out and $tmp/err are what came of it
# $as_whom, in front of the program, takes rights from it: see unprivileged
as_whom=()
run() {
	ran="fault-analyze $*${as_whom[*]:+ (by ${as_whom[*]})}"
	status=0
	timeout 60 "${as_whom[@]}" "$FAULT_ANALYZE" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
}

one_line() {
	[ "$(wc -l <"$tmp/err")" = 1 ] || wrong "$ran: not one line on stderr: $(head -c 400 "$tmp/err")"
	grep -q "^fault-analyze: " "$tmp/err" || wrong "$ran: stderr does not say who speaks"
}

# says WORDS: on stderr
says() {
	grep -qF -- "$1" "$tmp/err" || wrong "$ran: no '$1' in: $(head -c 400 "$tmp/err")"
}

exits() {
	[ "$status" = "$1" ] || wrong "$ran: exit $status, not $1: $(head -c 400 "$tmp/err")"
}

prints_nothing() {
	[ ! -s "$tmp/out" ] || wrong "$ran: printed a report"
}

good() {
	run "$@"
	exits 0
	[ ! -s "$tmp/err" ] || wrong "$ran: speaks: $(head -c 400 "$tmp/err")"
}

# bad_usage WORDS ARG...: one line with a hint, exit 1
bad_usage() {
	local words=$1

	shift
	run "$@"
	exits 1
	one_line
	says "$words"
	says "; see 'fault-analyze "
	prints_nothing
}

# unprivileged: run runs the program without root's right to read and write everything, in a test that has made
# $as_whom its own; false, and a skip, where that cannot be
unprivileged() {
	[ "$(id -u)" = 0 ] || return 0
	command -v setpriv >/dev/null || { problem="skip: root may do everything, and there is no setpriv"; return 1; }
	as_whom=(setpriv --bounding-set=-dac_override,-dac_read_search)
}

# as cmocka: each function below that is named test_* is one
run_test() {
	echo "[ RUN      ] $1"
	problem=
	"$1"
	if [[ $problem == skip* ]]; then
		echo "[  SKIPPED ] $1${problem#skip}"
		skipped+=("$1")
	elif [ -n "$problem" ]; then
		echo "$problem"
		echo "[  FAILED  ] $1"
		failed+=("$1")
	else
		echo "[       OK ] $1"
		passed=$((passed + 1))
	fi
}

# run_tests: each function that is named test_*
run_tests() {
	local tests test

	mapfile -t tests < <(declare -F | sed -n 's/^declare -f \(test_.*\)/\1/p')
	echo "[==========] Running ${#tests[@]} test(s)."
	for test in "${tests[@]}"; do
		run_test "$test"
	done
	echo "[==========] ${#tests[@]} test(s) run."
	echo "[  PASSED  ] $passed test(s)."
	[ "${#skipped[@]}" = 0 ] || echo "[  SKIPPED ] ${#skipped[@]} test(s)."
	[ "${#failed[@]}" = 0 ] || {
		echo "[  FAILED  ] ${#failed[@]} test(s), listed below:"
		printf '[  FAILED  ] %s\n' "${failed[@]}"
		exit 1
	}
}
