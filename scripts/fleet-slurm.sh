#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# One report over many recordings on a file system that nodes share: a job file for Slurm.
#
# usage: fleet-slurm.sh [--dry-run] OUT.json RECORDING...
#
# Submits itself as an array of TASKS (a task a recording, at most 1000), waits for it, and merges what the
# tasks have reported. Slurm's own variables choose where they run (SBATCH_PARTITION, SBATCH_ACCOUNT),
# REPORT_OPTIONS has options of report, FAULT_ANALYZE names the program where PATH has none. --dry-run
# shows the line of sbatch and runs the tasks here, one after the other, without Slurm.
#
# Exit 0: all was read. Exit 2: stderr names what was damaged or not read, and OUT.json, where there is one,
# is the report of what was. The recordings stand in it in the order in which they were given.
#SBATCH --job-name=fault-analyze
#SBATCH --cpus-per-task=1
set -euo pipefail
program=${FAULT_ANALYZE:-fault-analyze}

die() {
	echo "fleet-slurm.sh: $*" >&2
	exit 1
}

# task FOLDER NUMBER: the report of that block of the recordings, whole or damaged, or none
task() {
	local list part status=0

	mapfile -d '' -t list <"$1/$2.list"
	part=$1/$2
	# shellcheck disable=SC2086 # options are words
	"$program" report -F json ${REPORT_OPTIONS:-} -- "${list[@]}" >"$part" || status=$?
	[[ ! -s $part || $status != [02] ]] || mv "$part" "$part.json"
	exit "$status"
}

# a node runs a copy of this file
[ "${1:-}" != --task ] || task "$2" "$SLURM_ARRAY_TASK_ID"

dry=
[ "${1:-}" != --dry-run ] || { dry=1; shift; }
[ $# -ge 2 ] || die 'usage: fleet-slurm.sh [--dry-run] OUT.json RECORDING...'
[ -n "$dry" ] || command -v sbatch >/dev/null || die 'no sbatch: this is no machine of a Slurm cluster'
out=$(realpath "$1")
shift
rm -f "$out"
parts=$(mktemp -d "$out.parts-XXXXXX")
trap 'rm -rf "$parts"' EXIT
tasks=$(($# < ${TASKS:-1000} ? $# : ${TASKS:-1000}))
for ((i = 0; i < tasks; i++)); do
	# blocks that differ by one recording at most
	printf '%s\0' "${@:1 + $# * i / tasks:$# * (i + 1) / tasks - $# * i / tasks}" >"$parts/$i.list"
done

line=(sbatch --wait --array="0-$((tasks - 1))" --output="$parts/%a.log" "$0" --task "$parts")
status=0
if [ -n "$dry" ]; then
	echo "${line[*]}" >&2
	for ((i = 0; i < tasks; i++)); do
		SLURM_ARRAY_TASK_ID=$i "$BASH" "${line[@]:4}" >"$parts/$i.log" 2>&1 || status=2
	done
else
	"${line[@]}" >&2 || status=2
fi

reports=()
for ((i = 0; i < tasks; i++)); do
	[ ! -e "$parts/$i.log" ] || cat "$parts/$i.log" >&2
	if [ -e "$parts/$i.json" ]; then
		reports+=("$parts/$i.json")
	else
		echo "fleet-slurm.sh: no report of: $(tr '\0' ' ' <"$parts/$i.list")" >&2
		status=2
	fi
done
if [ ${#reports[@]} -gt 0 ]; then
	"$program" merge "${reports[@]}" >"$parts/merged" || status=2
	[ ! -s "$parts/merged" ] || mv "$parts/merged" "$out"
fi
exit "$status"
