#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs fuzz targets one after the other and says how many inputs each has tried.
#
# usage: fuzz.sh FOLDER SECONDS FLAGS NAME...
#
# FOLDER holds the targets fuzz_NAME, seeds/NAME and corpus/NAME, which grows. An input that crashes,
# hangs or takes too much memory stays in FOLDER/findings, and the exit is not 0.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

[ $# -ge 4 ] || die "usage: fuzz.sh FOLDER SECONDS FLAGS NAME..."
folder=$1 seconds=$2 flags=$3
shift 3
mkdir -p "$folder/findings"
failed=0

for name in "$@"; do
	mkdir -p "$folder/corpus/$name" "$folder/seeds/$name"
	log=$folder/$name.log
	status=0
	# shellcheck disable=SC2086 # flags are words
	"$folder/fuzz_$name" $flags -max_total_time="$seconds" -print_final_stats=1 -verbosity=1 \
		-artifact_prefix="$folder/findings/$name-" \
		"$folder/corpus/$name" "$folder/seeds/$name" >"$log" 2>&1 || status=$?
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
	if [ "$status" -eq 0 ] && [ "${runs:-0}" -gt 0 ]; then
		printf '%-10s %9d inputs in %d s, none found bad\n' "$name" "$runs" "$seconds"
	else
		failed=1
		echo "--- $log (exit $status)"
		tail -n 60 "$log"
	fi
done
[ "$failed" -eq 0 ]
