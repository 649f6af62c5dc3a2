#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs fuzz targets, as many at a time as there are processors, and says how many inputs each has tried.
#
# usage: fuzz.sh FOLDER SECONDS FLAGS NAME...
#
# FOLDER holds the targets fuzz_NAME, seeds/NAME and corpus/NAME, which grows and is then reduced to the
# fewest inputs that reach the same code. An input that crashes, hangs or takes too much memory stays in
# FOLDER/findings, and the exit is not 0.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

[ $# -ge 4 ] || die "usage: fuzz.sh FOLDER SECONDS FLAGS NAME..."
if [ $# -gt 4 ]; then
	printf '%s\0' "${@:4}" | xargs -0 -n 1 -P "$(nproc)" "$0" "${@:1:3}"
	exit
fi
folder=$1 seconds=$2 flags=$3 name=$4
mkdir -p "$folder/findings" "$folder/corpus/$name" "$folder/seeds/$name"
log=$folder/$name.log

# minimise: the corpus
minimise() {
	local corpus=$folder/corpus/$name

	rm -rf "$corpus.least"
	mkdir "$corpus.least"
	"$folder/fuzz_$name" -merge=1 -set_cover_merge=1 -max_len=65536 -rss_limit_mb=2048 "$corpus.least" \
		"$corpus" >"$folder/$name-minimise.log" 2>&1
	rm -rf "$corpus"
	mv "$corpus.least" "$corpus"
}

status=0
# shellcheck disable=SC2086 # flags are words
"$folder/fuzz_$name" $flags -max_total_time="$seconds" -print_final_stats=1 -verbosity=1 \
	-artifact_prefix="$folder/findings/$name-" \
	"$folder/corpus/$name" "$folder/seeds/$name" >"$log" 2>&1 || status=$?
runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
if [ "$status" -ne 0 ] || [ "${runs:-0}" -eq 0 ]; then
	echo "--- $log (exit $status)"
	tail -n 60 "$log"
	exit 1
fi
minimise
printf '%-10s %9d inputs in %d s, none found bad; %d kept, %d KiB\n' "$name" "$runs" "$seconds" \
	"$(find "$folder/corpus/$name" -type f | wc -l)" "$(du -sk --apparent-size "$folder/corpus/$name" | cut -f1)"
