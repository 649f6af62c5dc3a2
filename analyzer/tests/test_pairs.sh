#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Each recording of traces/pairs against its manifest, with the closing lines of a cmocka program.
set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
good=0 bad=0
for recording in "$top"/traces/pairs/*.dat; do
	if ANALYZE=$FAULT_ANALYZE "$top/scripts/check-traces.sh" "$recording"; then
		good=$((good + 1))
	else
		bad=$((bad + 1))
	fi
done
printf '[  PASSED  ] %d test(s).\n' "$good"
[ "$bad" = 0 ] || printf '[  FAILED  ] %d test(s).\n' "$bad"
[ "$bad" = 0 ] && [ "$good" -gt 0 ]
