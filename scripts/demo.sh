#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Shows what fault-analyze makes of the recordings in traces/.
#
# usage: demo.sh PROGRAM
set -euo pipefail
cd "$(dirname "$0")/.."
program=$1

run() {
	printf '\n$ fault-analyze %s\n' "$*"
	"$program" "$@"
}

run report --addr 7fc78c200000-7fc78ca00000 traces/lab/x86_64-reuse-64k.dat
run report --addr 7f4f57800000-7f4f57c00000 traces/lab/x86_64-cow-64k.dat
printf '\nThe first folios of the second one:\n'
printf '\n$ fault-analyze folios -F tsv --class cow … | head -n 4\n'
"$program" folios -F tsv --class cow --order 4 --addr 7f4f57800000-7f4f57840000 \
	traces/lab/x86_64-cow-64k.dat | head -n 4
printf '\nAll recordings, by class and order, in total:\n'
printf '\n$ fault-analyze report traces/lab/*.dat\n'
"$program" report traces/lab/*.dat | sed -n '/^total of/,$p'
printf '\nBefore and after a patch, for a mail:\n'
for pair in x86_64-reuse-64k arm64-cow-64k x86_64-redis-64k; do
	run compare --commit-message "traces/pairs/$pair-before.dat" -- "traces/pairs/$pair-after.dat"
done
printf '\nThat after, predicted from before, and held against it:\n'
run replay --policy whole-folio --costs traces/costs/x86_64-7.3.ktap --class reuse,cow \
	--validate traces/pairs/x86_64-reuse-64k-after.dat traces/pairs/x86_64-reuse-64k-before.dat
printf '\nAll pairs:\n\n$ scripts/lab-table.sh\n'
FAULT_ANALYZE=$program scripts/lab-table.sh
