#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Draws the recordings in traces/: NAME-before.dat with NAME-after.dat, every other one alone; and, of those before
# a change to reuse that show forks, what each window of PTEs would have done.
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

# sweep NAME BEFORE COMM
sweep() {
	"$program" replay --sweep window=1,2,4,8,16,32,64,128,256,512,folio --comm "$3" \
		--costs "traces/costs/${1%%-*}-7.3.ktap" --plot "$out/$1" "$2" >"$out/$1/sweep.txt"
}

nr=0
while IFS= read -r file; do
	name=$(basename "$file" .dat)
	case $file in
	*-before.dat)
		after=${file%-before.dat}-after.dat
		[ -e "$after" ] || { echo "plots.sh: $file has no $after" >&2; exit 2; }
		draw "${name%-before}" "$file" -- "$after"
		case $name in
		*-latency-before) ;;
		*-reuse-*) sweep "${name%-before}" "$file" fault-workload ;;
		*-redis-*) sweep "${name%-before}" "$file" redis-server ;;
		esac
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
