#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# replay as a user meets it: validation both ways, sweeps and their plot, and what it says of costs, recordings
# and options that are not what it needs. Prints closing lines as cmocka does.
set -uo pipefail
# shellcheck source=analyzer/tests/judge.sh
. "$(dirname "$0")/judge.sh"
gen=$(dirname "$FAULT_ANALYZE")/tests/gen_recording
pair=traces/pairs/x86_64-reuse-64k
before=$pair-before.dat after=$pair-after.dat
costs=traces/costs/x86_64-7.3.ktap
sweep=window=1,2,4,8,16,32,64,128,256,512,folio
app=(--comm fault-workload)

# row CLASS ORDER FILTER: the row of the JSON in $tmp/out for which a jq filter has to hold
row() {
	jq -e --arg class "$1" --argjson order "$2" \
		".rows[] | select(.class == \$class and .order == \$order and .level == \"pte\") | $3" \
		"$tmp/out" >"$tmp/jq" 2>&1 || wrong "$ran: $1 $2: not $3: $(jq -c .rows "$tmp/out" | head -c 600)"
}

# replayed CODE WORDS ARG...: one line with the words, and counts predicted all the same
replayed() {
	local code=$1 words=$2

	shift 2
	run replay -F json "$@"
	exits "$code"
	one_line
	says "$words"
	row reuse 4 '.predicted_faults == 128'
}

# bad_usage WORDS ARG...: one line with a hint, exit 1, nothing printed
bad_usage() {
	local words=$1

	shift
	run replay "$@"
	exits 1
	one_line
	says "$words"
	says "; see 'fault-analyze replay --help'"
	prints_nothing
}

# unlike CODE WORDS AFTER: an AFTER that cannot be one; the prediction is printed without it, and says so
unlike() {
	replayed "$1" "$2" "${app[@]}" --policy whole-folio --validate "$3" "$before"
	says "$3: "
	row reuse 4 '.actual_faults == null and .error_percent == null'
	jq -e '.validate == null' "$tmp/out" >/dev/null || wrong "$ran: the JSON calls it validated"
	run replay "${app[@]}" --policy whole-folio --validate "$3" "$before"
	exits "$1"
	[ "$(sed -n 2p "$tmp/out")" = "not validated against $3" ] || wrong "$ran: the table does not say so"
}

# --- tests ---------------------------------------------------------------------------------------

test_validation_that_holds() {
	good replay -F json "${app[@]}" --policy whole-folio --costs "$costs" --validate "$after" "$before"
	row reuse 4 '.predicted_faults == .actual_faults and .error_percent == 0 and .missed == null'
	jq -e --arg after "$after" '.validate == $after' "$tmp/out" >/dev/null || wrong "$ran: against what?"
	row reuse 4 '.predicted_ns_interval[0] <= .actual_ns and .actual_ns <= .predicted_ns_interval[1]'
	row reuse 4 '.time_error_percent | fabs <= 10'
	good replay "${app[@]}" --policy whole-folio --costs "$costs" --validate "$after" "$before"
	grep -qE '^reuse +4 +64K pte +2048 +128 +128 +0\.0 ' "$tmp/out" || wrong "$ran: no such row"
}

test_validation_that_misses() {
	# as if the kernel had batched 16 times less
	run replay -F json "${app[@]}" --policy none --costs "$costs" --validate "$after" "$before"
	exits 3
	one_line
	says "prediction missed: counts of 1 rows, times of 0 rows"
	row reuse 4 '.missed == "faults" and .error_percent == 1500'
	# and as if its PTEs cost three times more
	run replay -F json "${app[@]}" --policy whole-folio --ns-per-pte 200 --validate "$after" "$before"
	exits 3
	one_line
	says "prediction missed: counts of 0 rows, times of 1 rows"
	row reuse 4 '.missed == "time" and .error_percent == 0 and .time_error_percent > 10'
}

test_after_that_is_none() {
	unlike 3 'was recorded on aarch64, the one before on x86_64' traces/pairs/arm64-reuse-64k-after.dat
	unlike 3 "is of the workload 'fault-workload cow --size 4M --folio 64K'" traces/pairs/x86_64-cow-64k-after.dat
	# without manifests: by what was populated
	cp "$after" "$tmp/after.dat"
	good replay "${app[@]}" --policy whole-folio --validate "$tmp/after.dat" "$before"
	! grep -q 'not validated' "$tmp/out" || wrong "$ran: the table says that it was not validated"
	cp traces/pairs/x86_64-cow-64k-after.dat "$tmp/after.dat"
	unlike 3 'is of another workload: order 4 was populated by 64 faults, in the one before by 128' "$tmp/after.dat"
	unlike 2 'No such file' "$tmp/none.dat"
}

test_other_probes() {
	run replay -F json "${app[@]}" --policy whole-folio --costs "$costs" \
		--validate traces/pairs/x86_64-reuse-64k-worker-after.dat traces/pairs/x86_64-reuse-64k-worker-before.dat
	exits 0
	one_line
	says 'has other probes in its faults than the one before: times are not compared'
	row reuse 4 '.actual_faults == 128 and .actual_ns == null'
}

test_costs() {
	local with=("${app[@]}" --policy whole-folio "$before")

	good replay -F json "${with[@]}"
	row reuse 4 '.predicted_ns == null'
	good replay "${with[@]}"
	grep -q 'no costs: counts' "$tmp/out" || wrong "$ran: does not say that there are no times"
	good replay -F json --costs "$costs" "${with[@]}"
	row reuse 4 '.predicted_ns > 0'
	jq 'del(.costs)' "$tmp/out" >"$tmp/once"
	# the same run twice says no more than once
	good replay -F json --costs "$costs" --costs "$costs" "${with[@]}"
	jq 'del(.costs)' "$tmp/out" | cmp -s - "$tmp/once" || wrong "$ran: is not what it says with the file once"
	# of one size of folios, for another, within wide bounds; of two, within 2 %
	good replay -F json --costs "$after" "${app[@]}" --policy whole-folio \
		--validate traces/pairs/x86_64-reuse-1m-after.dat traces/pairs/x86_64-reuse-1m-before.dat
	row reuse 8 '.time_error_percent | fabs > 10'
	good replay -F json --costs "$after" --costs traces/pairs/x86_64-reuse-2m-pte-after.dat \
		--costs traces/pairs/x86_64-reuse-1m-after.dat "${app[@]}" --policy window=16 \
		--validate traces/pairs/x86_64-reuse-1m-16-after.dat traces/pairs/x86_64-reuse-1m-16-before.dat
	row reuse 8 '.time_error_percent | fabs < 2'
}

# with costs the table has the interval, and fits a screen
test_interval() {
	local arch with=("${app[@]}" --policy whole-folio)

	good replay --costs "$costs" "${with[@]}" "$before"
	grep -qE '^reuse +4 +64K pte +2048 +128 +4474429 +441572 +404644 +699492 +3449\.8 +0$' "$tmp/out" ||
		wrong "$ran: no interval: $(cat "$tmp/out")"
	good replay "${with[@]}" "$before"
	! grep -q PRED-LOW "$tmp/out" || wrong "$ran: an interval of nothing"
	grep -q PRED-F/PTE "$tmp/out" || wrong "$ran: no faults per PTE"
	for arch in x86_64 arm64; do
		good replay --costs "traces/costs/$arch-7.3.ktap" --policy whole-folio "traces/pairs/$arch-redis-64k-before.dat"
		[ "$(tail -n +2 "$tmp/out" | wc -L)" -le 100 ] || wrong "$ran: wider than 100 columns"
	done
}

test_bad_costs() {
	local with=("${app[@]}" --policy whole-folio "$before") helper

	for helper in modify_prot_ptes folio_pte_batch_flags SetPageAnonExclusive; do
		grep -v "helper=$helper " "$costs" >"$tmp/costs"
		replayed 2 "$tmp/costs: has no bench lines of $helper that passed; make kunit-bench makes them" \
			--costs "$tmp/costs" "${with[@]}"
		row reuse 4 '.predicted_ns == null and .recorded_ns > 0'
	done
	# what the policy does not need may be missing
	grep -v 'helper=folio_copy ' "$costs" >"$tmp/costs"
	good replay --costs "$tmp/costs" "${with[@]}"
	run replay --costs "$tmp/costs" "${app[@]}" --policy cow-whole-folio traces/pairs/x86_64-cow-64k-before.dat
	exits 2
	one_line
	says 'has no bench lines of folio_copy that passed'
	# figures of a case that failed are none
	sed 's/ok 14 modify_prot_ptes/not &/' "$costs" >"$tmp/costs"
	cmp -s "$tmp/costs" "$costs" && wrong 'the case modify_prot_ptes is not the 14th any more'
	replayed 2 'has no bench lines of modify_prot_ptes that passed' --costs "$tmp/costs" "${with[@]}"
	# KTAP that is cut, and what is no KTAP
	head -n 60 "$costs" >"$tmp/costs"
	replayed 2 'KTAP is cut: ' --costs "$tmp/costs" "${with[@]}"
	echo 'int main(void);' >"$tmp/costs"
	replayed 2 'no KTAP: no line "KTAP version 1"' --costs "$tmp/costs" "${with[@]}"
	: >"$tmp/costs"
	replayed 2 'no KTAP' --costs "$tmp/costs" "${with[@]}"
	replayed 2 'No such file' --costs "$tmp/none" "${with[@]}"
	# recordings that do not batch, or of another architecture, and a mixture
	replayed 2 'has no batched reuse faults of large folios' --costs "$before" "${with[@]}"
	replayed 2 'of another architecture than the recording' \
		--costs traces/pairs/arm64-reuse-64k-after.dat "${with[@]}"
	replayed 2 'traces/costs/arm64-7.3.ktap: is of another architecture than the recording' \
		--costs "$costs" --costs traces/costs/arm64-7.3.ktap "${with[@]}"
	row reuse 4 '.predicted_ns == null'
	# uname and make call it differently; of KTAP that does not say what it is of nothing can be said
	good replay --costs traces/costs/arm64-7.3.ktap --policy whole-folio traces/pairs/arm64-reuse-64k-before.dat
	sed '1,/^KTAP/{/^#/d}' traces/costs/arm64-7.3.ktap >"$tmp/costs"
	good replay --costs "$tmp/costs" "${with[@]}"
	replayed 2 'cannot be mixed: costs are of KTAP or of recordings' --costs "$costs" --costs "$after" "${with[@]}"
	bad_usage "--ns-per-pte '-1' is no cost in ns" --ns-per-pte -1 "${with[@]}"
	bad_usage "--ns-per-pte '1,x' has a base that is no cost in ns" --ns-per-pte 1,x "${with[@]}"
	bad_usage '--costs or --ns-per-pte, not both' --ns-per-pte 1 --costs "$costs" "${with[@]}"
}

test_bad_options() {
	bad_usage "--policy 'all' is no policy" --policy all "$before"
	bad_usage "--policy 'window=3' has a window that is no power of two" --policy window=3 "$before"
	bad_usage "--policy 'window=0' has a window that is no power of two" --policy window=0 "$before"
	bad_usage "--policy 'window=1024' has a window larger than a page table" --policy window=1024 "$before"
	bad_usage "--policy 'window=4+contpte' has two rules for reuse" --policy window=4+contpte "$before"
	bad_usage "--sweep 'window=12' has a window that is no power of two" --sweep window=4,12 "$before"
	bad_usage "--sweep 'folio' does not begin with window=" --sweep folio "$before"
	bad_usage "--sweep 'window=' has no window" --sweep window= "$before"
	bad_usage "--stale-tlb 'some' is none of none, ascending, all" --stale-tlb some --policy none "$before"
	bad_usage 'one of --policy and --sweep has to be given' "$before"
	bad_usage 'one of --policy and --sweep has to be given' --policy none --sweep "$sweep" "$before"
	bad_usage 'is for one policy, not for --sweep' --sweep "$sweep" --validate "$after" "$before"
	bad_usage '--plot is for --sweep' --policy none --plot "$tmp/plot" "$before"
	bad_usage '--output is for tables, json has all columns' --policy none -F json -o class "$before"
	bad_usage '--output is for tables, json has all columns' --sweep "$sweep" -F json -o policy "$before"
	bad_usage 'is one recording too many' --policy none "$before" "$after"
}

# without EXPRESSION NAME: a recording in which sed changed the name of an event, so that it lacks it; replay
# says what is missing and what would supply it, and marks the rows that depend on it and no other
without() {
	"$gen" -n 3000 "$tmp/made.dat" >"$tmp/made.txt" && LC_ALL=C sed "$1" "$tmp/made.dat" >"$tmp/lacks.dat"
	cmp -s "$tmp/made.dat" "$tmp/lacks.dat" && wrong "nothing to change by $1"
	run replay -F json --policy whole-folio "$tmp/lacks.dat"
	exits 2
	one_line
	says "$tmp/lacks.dat: has no $2"
	says 'rows that depend on them are marked'
	jq -e '.missing != null and (.rows | length > 0) and
		all(.rows[]; (.doubt != null) == (.class | IN("reuse", "cow", "spurious", "unknown")))' \
		"$tmp/out" >/dev/null || wrong "$ran: rows are not marked as they should be: $(head -c 600 "$tmp/out")"
	run replay --policy whole-folio "$tmp/lacks.dat"
	grep -q 'DOUBT' "$tmp/out" || wrong "$ran: the text marks nothing"
	run replay --sweep window=1,16 "$tmp/lacks.dat"
	exits 2
	grep -q 'DOUBT' "$tmp/out" || wrong "$ran: the sweep marks nothing"
}

test_missing_events() {
	"$gen" -n 3000 "$tmp/made.dat" >"$tmp/made.txt"
	good replay -F json --policy whole-folio "$tmp/made.dat"
	jq -e '.missing == null and all(.rows[]; .doubt == null)' "$tmp/out" >/dev/null || wrong "$ran: marks rows"
	row reuse 4 '.predicted_faults * 16 == .recorded_faults'
	without 's/\boldmm\b/aldmm/g; s/\bsched_process_fork\b/sched_process_fark/g' \
		'forks: record a probe pair on dup_mmap, or -e task:task_newtask'
	without 's/\bexit_mmap\b/exit_mmaq/g' 'ends of address spaces: record -e mmap:exit_mmap'
	# the end of the child is then taken from its task, so that this much can be predicted
	run replay -F json --policy whole-folio "$tmp/lacks.dat"
	row reuse 4 '.predicted_faults * 16 == .recorded_faults and .doubt == "ends of address spaces"'
	# exceptions alone: faults, of which nothing more is known; and no events of faults at all
	without 's/ flags;/ flagz;/g' \
		'fault entries of mm and address: record the probe pair on handle_mm_fault'
	run replay --policy none --addr 1-2 "$before"
	exits 2
	one_line
	says "$before: no fault of 2244 passed the filters"
	run replay --policy none "$tmp/none.dat"
	exits 2
	one_line
	prints_nothing
}

test_stale_tlb() {
	local which

	for which in none ascending all; do
		good replay "${app[@]}" --policy whole-folio --stale-tlb "$which" "$before"
		grep -q "stale TLB: $which assumed" "$tmp/out" || wrong "$ran: does not say what was assumed"
		good replay -F json "${app[@]}" --policy whole-folio --stale-tlb "$which" "$before"
		jq -e --arg which "$which" '.stale_tlb == $which' "$tmp/out" >/dev/null || wrong "$ran: not in the JSON"
	done
	# a sweep says it, too, and every file that its costs are from
	cp "$costs" "$tmp/again.ktap"
	for which in none ascending all; do
		local sweeping=("${app[@]}" --sweep "window=1,folio" --stale-tlb "$which" --costs "$costs" --costs "$tmp/again.ktap")

		good replay "${sweeping[@]}" "$before"
		[ "$(head -n 1 "$tmp/out")" = "sweep on $before; stale TLB: $which assumed; costs from $costs, $tmp/again.ktap" ] ||
			wrong "$ran: does not say what was assumed: $(head -n 1 "$tmp/out")"
		good replay -F json "${sweeping[@]}" "$before"
		jq -e --arg which "$which" --arg costs "$costs, $tmp/again.ktap" \
			'.stale_tlb == $which and .costs == $costs and .missing == null' "$tmp/out" >/dev/null ||
			wrong "$ran: not in the JSON: $(head -c 300 "$tmp/out")"
	done
	good replay -F json "${app[@]}" --policy whole-folio --stale-tlb all "$before"
	# the workload ascends: each page that is not the first of its folio comes back
	row spurious 4 '.predicted_faults == 1920'
	good replay -F json "${app[@]}" --policy whole-folio --stale-tlb ascending "$before"
	row spurious 4 '.predicted_faults == 1920'
}

test_sweep() {
	good replay -F json "${app[@]}" --sweep "$sweep" --costs "$costs" "$before"
	jq -e '[.sweep[].predicted_faults] == ([.sweep[].predicted_faults] | sort | reverse) and
		[.sweep[].saved_faults] == ([.sweep[].saved_faults] | sort) and
		[.sweep[].one_fault_ns] == ([.sweep[].one_fault_ns] | sort) and
		.sweep[0].saved_faults == 0 and .sweep[-1].policy == "whole-folio" and (.sweep | length) == 11' \
		"$tmp/out" >/dev/null || wrong "$ran: not what a wider window does: $(head -c 600 "$tmp/out")"
	# its table has columns of its own
	good replay -F tsv -o policy,saved_faults "${app[@]}" --sweep window=1,folio "$before"
	[ "$(head -n 1 "$tmp/out")" = policy$'\t'saved_faults ] || wrong "$ran: other columns: $(head -n 1 "$tmp/out")"
	bad_usage "no column 'class'" replay -o class --sweep window=1,folio "$before"
	bad_usage "no column 'saved_faults'" replay -o saved_faults --policy none "$before"
	# waste comes where less than all is written
	good replay -F json "${app[@]}" --sweep "$sweep" traces/pairs/arm64-reuse-64k-sparse-before.dat
	jq -e '[.sweep[].waste_ptes][:5] == [0, 128, 384, 896, 1920]' "$tmp/out" >/dev/null ||
		wrong "$ran: other waste: $(jq -c '[.sweep[].waste_ptes]' "$tmp/out")"
}

test_sweep_plot() {
	command -v gnuplot >/dev/null || { problem='skip: no gnuplot'; return; }
	good replay "${app[@]}" --sweep "$sweep" --costs "$costs" --plot "$tmp/plot" "$before"
	[ "$(head -c 4 "$tmp/plot/sweep.png" | tail -c 3)" = PNG ] || wrong "$ran: no PNG"
	grep -q '</svg>' "$tmp/plot/sweep.svg" || wrong "$ran: no SVG"
	[ "$(grep -c '"faults saved"' "$tmp/plot/sweep.tsv")" = 2 ] || wrong "$ran: not two curves"
	# the script runs alone, and without costs one curve is left
	rm "$tmp/plot"/sweep.{png,svg}
	gnuplot -c plots/sweep.gp "$tmp/plot" 2>"$tmp/err" || wrong "gnuplot: $(head -n 3 "$tmp/err")"
	[ -s "$tmp/plot/sweep.png" ] || wrong 'plots/sweep.gp alone draws nothing'
	good replay "${app[@]}" --sweep "$sweep" --plot "$tmp/plot" "$before"
	grep -q '^# no costs were given' "$tmp/plot/sweep.tsv" || wrong "$ran: the data does not say why"
	run replay "${app[@]}" --sweep "$sweep" --plot "$tmp/none/plot" "$before"
	exits 2
	one_line
}

run_tests
