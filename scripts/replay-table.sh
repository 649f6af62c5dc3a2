#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A Markdown table of what replay predicts from each recording before, with costs from the KUnit bench of that
# architecture, beside what the patched kernel then did: the faults that the change is about, and their time.
#
# usage: scripts/replay-table.sh [FOLDER]     (traces/pairs; FAULT_ANALYZE: the program, build/fault-analyze)
#
# The policy is the knob of the kernel after, as its manifest has it. Exit 1 when counts miss by more than 0.5 %
# and one fault in any class, or of redis by more than 2 % in these and in all; or a time by more than 10 %, or
# its interval.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/lib.sh
. "$here/lib.sh"
need jq jq
program=${FAULT_ANALYZE:-$here/../build/fault-analyze}
folder=${1:-$here/../traces/pairs}
missed=0

# policy PARAMETERS: the policy that a kernel's boot parameters ask for.
policy() {
	case " $1 " in
	*' wp_reuse_batch=folio '*) echo whole-folio ;;
	*' wp_reuse_batch=16 '*) echo window=16 ;;
	*' wp_copy_batch=on '*) echo cow-whole-folio ;;
	esac
}

# pair AFTER: its row of the table; false when it misses.
pair() {
	local after=$1 name arch before rule class json said status=0 comm=fault-workload count=0.005 exact=true
	name=$(basename "$after" -after.dat)
	arch=${name%%-*}
	before=${after%-after.dat}-before.dat
	rule=$(policy "$(jq -r .boot_parameters "$after.json")")
	case $rule in
	cow-whole-folio) class=cow ;;
	'') return ;;
	*) class=reuse ;;
	esac
	# Of the probe pair alone: without forks there is nothing to predict. Two runs of redis are not the same.
	case $(jq -r '.preset + " " + .workload' "$after.json") in
	'pair '*) return ;;
	*' redis '*) comm=redis-server count=0.02 exact=false ;;
	esac
	said=$(mktemp)
	json=$("$program" replay -F json --comm "$comm" --policy "$rule" --costs "$here/../traces/costs/$arch-7.3.ktap" \
		--validate "$after" "$before" 2>"$said") || status=$?
	if { [ "$status" != 0 ] && [ "$status" != 3 ]; } || jq -e '.validate == null' <<<"$json" >/dev/null; then
		cat "$said" >&2
		rm "$said"
		echo "| $name | $rule | exit $status | | | | | | |"
		return 1
	fi
	rm "$said"
	# shellcheck disable=SC2016 # jq's variables
	jq -re --arg name "$name" --arg rule "$rule" --arg class "$class" --argjson count "$count" \
		--argjson exact "$exact" --argjson status "$status" '
	def thousands: tostring | [while(length > 0; .[:-3]) | .[-3:]] | reverse | join(",");
	def shown: if . == null then "n/a" else thousands end;
	def kilo: if . == null then "n/a" else (. / 1000 | round | thousands) + "k" end;
	def percent: if . == null then "n/a" else (. * 10 | round / 10 | tostring) + " %" end;
	def sum(f): map(f) | if any(. == null) then null else add end;
	def off($a; $b): if $b == 0 then (if $a == 0 then 0 else 1 end) else ($a - $b | fabs) / $b end;
	(.rows | off(sum(.predicted_faults); sum(.actual_faults))) as $all |
	[.rows[] | select(.class == $class and .order != null)] | (map(.order) | max) as $order |
	map(select(.order == $order)) |
	{ before: sum(.recorded_faults), predicted: sum(.predicted_faults), after: sum(.actual_faults),
	  ns: sum(.predicted_ns), low: sum(.predicted_ns_interval[0]), high: sum(.predicted_ns_interval[1]),
	  actual: sum(.actual_ns), late: any(.missed == "time") } |
	.error = (if .actual and .ns then 100 * (.ns / .actual - 1) else null end) |
	.bad = ($all > $count or ((.predicted - .after | fabs) > 1 and off(.predicted; .after) > $count) or
		.late or (.error != null and (.error | fabs) > 10) or ($exact and $status != 0)) |
	"| \($name) | \($rule) | \(.before | shown) | \(.predicted | shown) | \(.after | shown) | " +
	"\(.ns | kilo) | \(.low | kilo)-\(.high | kilo) | \(.actual | kilo) | \(.error | percent)" +
	(if .bad then " MISSED" else "" end) + " |", (.bad | not)
	' <<<"$json" | { read -r row; echo "$row"; read -r good; [ "$good" = true ]; }
}

echo '| pair | policy | faults before | predicted | after | time predicted | interval | after | error |'
echo '| --- | --- | --- | --- | --- | --- | --- | --- | --- |'
for after in "$folder"/*-after.dat; do
	pair "$after" || missed=$((missed + 1))
done
[ "$missed" = 0 ] || die "$missed pairs missed"
