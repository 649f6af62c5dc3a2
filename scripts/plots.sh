#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Draws the recordings in traces/: NAME-before.dat with NAME-after.dat, every other one alone.
#
# usage: plots.sh PROGRAM [OUT]     (default: plots/out)
set -euo pipefail
program=$1
out=${2:-plots/out}

draw() {
	local name=$1
	shift
	mkdir -p "$out/$name"
	"$program" plot -o "$out/$name" "$@"
	printf '  PLOTS   %s\n' "$out/$name"
}

nr=0
while IFS= read -r file; do
	name=$(basename "$file" .dat)
	case $file in
	*-before.dat)
		after=${file%-before.dat}-after.dat
		[ -e "$after" ] || { echo "plots.sh: $file has no $after" >&2; exit 2; }
		draw "${name%-before}" "$file" -- "$after"
		;;
	*-after.dat)
		[ -e "${file%-after.dat}-before.dat" ] || draw "$name" "$file"
		;;
	*)
		draw "$name" "$file"
		;;
	esac
	nr=$((nr + 1))
done < <(find traces -name '*.dat' | sort)
[ "$nr" -gt 0 ] || { echo "plots.sh: no recordings in traces/" >&2; exit 2; }
