#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# One report over the recordings of many machines: a job file for GNU parallel.
#
# usage: fleet-parallel.sh OUT.json RECORDING...
#
# A RECORDING is a file here, or HOST:FILE, which that host's own fault-analyze reads, by ssh: a report of
# some 100 KB travels, not a recording of many GB. PARALLEL has options of GNU parallel ('-j 8 --eta'),
# REPORT_OPTIONS those of report ('--comm postgres'), FAULT_ANALYZE the program where PATH has none.
#
# Exit 0: all was read. Exit 2: stderr names what was damaged or not read, and OUT.json, where there is one,
# is the report of what was. The recordings stand in it in the order in which they were given.
# shellcheck disable=SC2317 # what GNU parallel calls is reached
set -euo pipefail

die() {
	echo "fleet-parallel.sh: $*" >&2
	exit 1
}

# report_on RECORDING
report_on() {
	# shellcheck disable=SC2206 # options are words
	local command=("$program" report -F json $REPORT_OPTIONS --)

	if [[ -e $1 || $1 != *:* ]]; then
		"${command[@]}" "$1"
	else
		ssh -n -o BatchMode=yes -- "${1%%:*}" "$(printf '%q ' "${command[@]}" "${1#*:}")"
	fi
}

# job NUMBER RECORDING: leaves a report, whole or damaged, of the recording, or none
job() {
	local part=$parts/$1 status=0

	report_on "$2" >"$part" || status=$?
	[[ ! -s $part || $status != [02] ]] || mv "$part" "$part.json"
	return "$status"
}

[ $# -ge 2 ] || die 'usage: fleet-parallel.sh OUT.json RECORDING...'
command -v parallel >/dev/null || die 'no parallel: apt-get install parallel'
out=$1
shift
rm -f "$out"
parts=$(mktemp -d "$out.parts-XXXXXX")
trap 'rm -rf "$parts"' EXIT
program=${FAULT_ANALYZE:-fault-analyze}
export PARALLEL_SHELL=$BASH REPORT_OPTIONS=${REPORT_OPTIONS:-} program parts
export -f report_on job
status=0
printf '%s\0' "$@" | parallel -0 job '{#}' '{}' || status=2

reports=()
for ((i = 1; i <= $#; i++)); do
	if [ -e "$parts/$i.json" ]; then
		reports+=("$parts/$i.json")
	else
		echo "fleet-parallel.sh: no report of: ${!i}" >&2
		status=2
	fi
done
if [ ${#reports[@]} -gt 0 ]; then
	"$program" merge "${reports[@]}" >"$parts/merged" || status=2
	[ ! -s "$parts/merged" ] || mv "$parts/merged" "$out"
fi
exit "$status"
