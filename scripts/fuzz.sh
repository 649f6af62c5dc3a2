#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs fuzz targets one after the other and says how many inputs each has tried.
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
folder=$1 seconds=$2 flags=$3
shift 3
mkdir -p "$folder/findings"
failed=0

# minimise NAME: its corpus
minimise() {
	local corpus=$folder/corpus/$1

	rm -rf "$corpus.least"
	mkdir "$corpus.least"
	"$folder/fuzz_$1" -merge=1 -set_cover_merge=1 -max_len=65536 -rss_limit_mb=2048 "$corpus.least" \
		"$corpus" >"$folder/$1-minimise.log" 2>&1
	rm -rf "$corpus"
	mv "$corpus.least" "$corpus"
}

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
		minimise "$name"
		printf '%-10s %9d inputs in %d s, none found bad; %d kept, %d KiB\n' "$name" "$runs" \
			"$seconds" "$(find "$folder/corpus/$name" -type f | wc -l)" \
			"$(du -sk --apparent-size "$folder/corpus/$name" | cut -f1)"
	else
		failed=1
		echo "--- $log (exit $status)"
		tail -n 60 "$log"
	fi
done
[ "$failed" -eq 0 ]
