#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# compare, plot and pages as a user meets them: tables that fit a mail, every option, files that lie, disks that are
# full. The pairs of traces/ are what is compared; their figures come from their manifests.
set -uo pipefail
# shellcheck source=analyzer/tests/judge.sh
. "$(dirname "$0")/judge.sh"
one=traces/lab/x86_64-reuse-64k.dat
other=traces/lab/x86_64-cow-64k.dat

# --- making files --------------------------------------------------------------------------------

"$FAULT_ANALYZE" report -F json "$one" >"$tmp/one.json" || exit 1

# variant NAME FILTER: $tmp/NAME, the report of a recording as the jq filter changes it
variant() {
	jq -c "$2" "$tmp/one.json" >"$tmp/$1" || wrong "jq: $2"
}

# run_of NAME SEED [FILTER]: a run of its own, of a clock that does not count instructions
run_of() {
	variant "$1" ".recordings[0] |= (.exact = false | .trace_id = \"0x$2\" | .boot = \"$2\" | .build = \"x\") | ${3:-.}"
}

# runs SIDE NR [FILTER]: the files $tmp/SIDE1 to NR, in $files
runs() {
	local i

	files=()
	for ((i = 1; i <= $2; i++)); do
		run_of "$1$i" "$((RANDOM % 9 + 1))$(printf %s "$1" | od -An -tx1 | tr -d ' \n')$i" "${3:-.}"
		files+=("$tmp/$1$i")
	done
}

# --- judging -------------------------------------------------------------------------------------

prints() {
	grep -qE -- "$1" "$tmp/out" || wrong "$ran: does not print '$1': $(head -n 20 "$tmp/out")"
}

prints_not() {
	! grep -qE -- "$1" "$tmp/out" || wrong "$ran: prints '$1'"
}

fits() {
	[ "$(wc -L <"$tmp/out")" -le 72 ] || wrong "$ran: wider than 72 columns"
	prints_not ' $'
}

# rows of figures in $tmp/out: metrics are indented
nr_rows() {
	grep -c '^  *[a-zP].* [0-9n-]' "$tmp/out"
}

# json FILTER: holds of $tmp/out
json() {
	jq -e "$1" "$tmp/out" >"$tmp/jq" 2>&1 || wrong "$ran: not so: $1: $(head -c 300 "$tmp/jq")"
}

# damaged_json FILE WORDS: each command that reads reports says so in one line that names it, and exits 2
damaged_json() {
	local words=$2

	for args in "compare $1 $tmp/one.json" "compare $tmp/one.json $1" "plot -o $tmp/never $1" "merge $1"; do
		# shellcheck disable=SC2086 # words
		run $args
		exits 2
		one_line
		says "$1: $words"
		prints_nothing
	done
	[ ! -e "$tmp/never" ] || wrong "plot: made its folder for nothing"
}

# refused WORDS ARG...: exit 3 with the reason, and nothing printed; with --force the table, with a warning
refused() {
	local words=$1

	shift
	run compare "$@"
	exits 3
	says "$words"
	says "not compared; --force compares all the same"
	prints_nothing
	run compare --force "$@"
	exits "${forced_exit:-0}"
	says "$words"
	prints '^forced: '
	fits
}

# --- tables --------------------------------------------------------------------------------------

# Each pair of traces/pairs in each view: the short and the raw table are together the whole.
test_pairs_fit_a_mail() {
	local before after nr=0 all brief

	for before in traces/pairs/*-before.dat; do
		after=${before%-before.dat}-after.dat
		good compare "$before" -- "$after"
		fits
		prints '\(I\) better, \(R\) worse, = same'
		prints ' exact( |$)'
		all=$(nr_rows)
		good compare --commit-message "$before" -- "$after"
		fits
		brief=$(nr_rows)
		[ "$brief" -ge 3 ] && [ "$brief" -le 12 ] || wrong "$ran: $brief rows"
		# two lines of caption, then an empty one
		sed -n 1p "$tmp/out" | grep -qE "^(x86_64|aarch64), 7\..*, 4K pages, clock [a-z]+ in ns \(instructions\)$" ||
			wrong "$ran: no machine in its first line: $(head -n 1 "$tmp/out")"
		sed -n 2p "$tmp/out" | grep -qE '^1 run, 1 boot, 1 build a side; marked from 1 % on$' ||
			wrong "$ran: no runs in its second line: $(sed -n 2p "$tmp/out")"
		[ -z "$(sed -n 3p "$tmp/out")" ] || wrong "$ran: a third line of caption"
		good compare --raw "$before" -- "$after"
		fits
		[ $((brief + $(nr_rows))) = "$all" ] || wrong "$ran: $brief and $(nr_rows) rows are not all $all"
		nr=$((nr + 1))
	done
	[ "$nr" -ge 20 ] || wrong "only $nr pairs"
}

# What one fault costs that now does the folio's work, beside what it replaces, with its tail.
test_one_fault_for_the_folio() {
	local pair=traces/pairs/x86_64-cow-64k bytes

	bytes=$(jq '[.oracle[] | select(.phase == "store")][0].bytes' $pair-before.dat.json)
	good compare --commit-message --comm fault-workload $pair-before.dat $pair-after.dat
	prints "^  faults +$((bytes / 4096)) +$((bytes / 65536)) +-93.8%  exact \(I\)$"
	prints '^  per folio p50 '
	prints '^  per folio p99 '
	prints '^  time/PTE '
	prints '^  PTEs/fault p50 +1 +16 +x16.0  exact$'
	good compare -F json --comm fault-workload --class cow --order 4 $pair-before.dat $pair-after.dat
	json 'def row(m): .rows[] | select(.metric == m);
		row("latency_ns.p50").after == row("per_folio_latency_ns.p50").after and
		row("latency_ns.max").after == row("per_folio_latency_ns.max").after and
		row("per_folio_latency_ns.p50").before > 8 * row("latency_ns.p50").before and
		row("ptes_per_fault.max").after == 16 and row("faults").verdict == "improvement"'
}

test_architectures_side_by_side() {
	local a=traces/pairs/x86_64-reuse-64k b=traces/pairs/arm64-reuse-64k

	good compare --commit-message $a-before.dat $b-before.dat -- $a-after.dat $b-after.dat
	fits
	[ "$(nr_rows)" -le 12 ] || wrong "$ran: $(nr_rows) rows"
	prints '^x86_64, aarch64, '
	[ "$(sed -n 3p "$tmp/out")" = "" ] || wrong "$ran: a third line of caption"
	prints '^ +x86_64 +aarch64$'
	prints '^ faults +2048 +128 +-93.8% I +2048 +128 +-93.8% I$'
	# three of them, one known by its report alone
	for side in before after; do
		"$FAULT_ANALYZE" report -F json $b-$side.dat | jq -c --arg id "0x${side:0:1}" \
			'.recordings[0] |= (.arch = "riscv64" | .kernel = "7.4" | .trace_id = $id)' >"$tmp/$side"
	done
	good compare $a-before.dat $b-before.dat "$tmp/before" -- $a-after.dat $b-after.dat "$tmp/after"
	fits
	prints '^ +x86_64 +aarch64 +riscv64$'
	prints '^ faults +2048 +128 I +2048 +128 I +2048 +128 I$'
	prints '^riscv64, 7.4, '
	good compare -F json $a-before.dat $b-before.dat -- $a-after.dat $b-after.dat
	json '[.rows[].arch] | unique == ["aarch64", "x86_64"]'
	json '[.rows[] | select(.metric == "faults" and .class == "reuse" and .order == 4)] | length == 2 and
		all(.before == 2048 and .after == 128)'
}

test_too_few_runs() {
	local needed

	runs b 3
	local before=("${files[@]}")
	runs a 4 '(.recordings[0], .) |= .'
	good compare --metric faults,latency_ns.sum "${before[@]}" -- "${files[@]}"
	fits
	prints ' few$'
	prints '^3:4 runs, 3:4 boots, 1:1 builds; marked from 1 % on, p <= 0.05$'
	needed=$(sed -n 's/^insufficient: [0-9]* tests need \([0-9]*\) runs a side, here 3 and 4$/\1/p' "$tmp/out")
	[ -n "$needed" ] || wrong "$ran: not how many it takes"
	good compare -F json "${before[@]}" -- "${files[@]}"
	json ".families[0].runs_needed == $needed and ([.rows[] | select(.metric == \"faults\").verdict] | unique == [\"insufficient\"])"
	# as many as it said are enough
	runs b "$needed"
	before=("${files[@]}")
	runs a "$needed"
	good compare "${before[@]}" -- "${files[@]}"
	prints_not '^insufficient'
	prints '95 % interval'
	prints '\[0.0, 0.0\] +=$'
	# an exact clock needs one
	good compare --exact "$tmp/b1" "$tmp/a1"
	prints ' exact ='
	prints_not '^insufficient'
}

# Twice the change that there is leaves it unmarked, half of it does not.
test_threshold() {
	local pair=traces/pairs/x86_64-reuse-4k change

	good compare -F json --metric latency_ns.sum --class reuse --order 0 $pair-before.dat $pair-after.dat
	change=$(jq '.rows[0].change_percent | fabs' "$tmp/out")
	good compare --threshold "$(jq -n "$change * 2")" --metric latency_ns.sum --class reuse --order 0 \
		$pair-before.dat $pair-after.dat
	prints '=$'
	prints "marked from $(printf %.4g "$(jq -n "$change * 2")") % on"
	good compare --threshold "$(jq -n "$change / 2")" --metric latency_ns.sum --class reuse --order 0 \
		$pair-before.dat $pair-after.dat
	prints '\((I|R)\)$'
	good compare --threshold 99 --commit-message traces/pairs/x86_64-reuse-64k-before.dat traces/pairs/x86_64-reuse-64k-after.dat
	prints_not '\(I\)$'
	bad_usage "--threshold '-1' is no percentage" compare --threshold -1 $pair-before.dat $pair-after.dat
}

# However faults are split, they stay as many, and so do PTEs and episodes: of tasks that share an address space, too.
test_by() {
	local by sum total metric old=traces/pairs/x86_64-redis-64k-before.dat new=traces/pairs/x86_64-redis-64k-after.dat

	for metric in faults ptes episodes; do
		good compare -F json --metric $metric --by '' $old $new
		total=$(jq -c '[([.rows[].before] | add), ([.rows[].after] | add)]' "$tmp/out")
		for by in class order class,order comm mm class,comm class,order,mm; do
			good compare -F json --metric $metric --by "$by" $old $new
			sum=$(jq -c '[([.rows[].before] | add), ([.rows[].after] | add)]' "$tmp/out")
			[ "$sum" = "$total" ] || wrong "$ran: $sum $metric, not $total"
		done
	done
	for by in comm mm class,order,comm; do
		good compare --by "$by" $old $new
		fits
	done
	good compare -F json --metric faults_per_pte --by class,comm $old $new
	json 'all(.rows[]; .before == null or .before <= 1.5)'
	json '[.rows[].group] | contains(["redis-server"]) and all(. != null)'
	bad_usage "--by 'comm,mm' is not of class" compare --by comm,mm $old $new
}

# A group divides the faults of folios by their PTEs, and does not know what one of its rows does not.
test_groups() {
	local pair=traces/pairs/x86_64-redis-64k side want

	for side in before after; do
		want=$("$FAULT_ANALYZE" report -F json --comm redis-server $pair-$side.dat |
			jq '[.classes[] | select(.ptes > 0)] | (map(.faults) | add) / (map(.ptes) | add)')
		good compare -F json --by comm --metric faults_per_pte,ns_per_pte,ptes_resolved $pair-before.dat $pair-after.dat
		json "[.rows[] | select(.group == \"redis-server\")] |
			(.[] | select(.metric == \"faults_per_pte\").$side - $want | fabs) < 1e-12"
		json "[.rows[] | select(.group == \"redis-server\") | select(.metric != \"faults_per_pte\").$side] == [null, null]"
		json "all(.rows[] | select(.group == \"fault-workload\"); .$side > 0)"
	done
}

# Which PTEs a reuse fault made usable no event says, where some had no fault: not even how many.
test_resolved() {
	local pair=traces/pairs/x86_64-reuse-64k row='.classes[] | select(.class == "reuse" and .order == 4)'

	good report -F json $pair-after.dat
	json "$row | .ptes == 2048 and .ptes_touched == 128 and .ptes_resolved == null and .timed_ptes == null"
	mv "$tmp/out" "$tmp/after.json"
	good report -F json $pair-before.dat
	json "$row | .ptes_resolved == 2048 and .timed_ptes == 2048"
	mv "$tmp/out" "$tmp/before.json"
	good report -F json $pair-worker-after.dat
	json "$row | .ptes_touched == 128 and .ptes_resolved == 2048"
	good merge "$tmp/before.json" "$tmp/after.json"
	json "$row | .ptes == 4096 and .ptes_touched == 2176 and .ptes_resolved == null and .ns_per_pte == null"
	good folios -F tsv -o class,ptes_resolved --class reuse --order 4 $pair-after.dat
	[ "$(tail -n +2 "$tmp/out" | sort | uniq -c | tr -s ' \t' ' ')" = " 128 reuse n/a" ] || wrong "$ran: $(head -n 3 "$tmp/out")"
	# reports have said how many had a fault
	jq -c "($row) |= (.ptes_resolved = 128 | .timed_ptes = 128)" "$tmp/after.json" >"$tmp/old.json"
	good merge "$tmp/old.json"
	json "$row | .ptes_resolved == null"
}

test_metric() {
	good compare -F json --metric latency_ns.p999,episodes "$one" "$other"
	json '[.rows[].metric] | unique == ["episodes", "latency_ns.p999"]'
	json 'all(.rows[]; .verdict == null)'
	good compare --metric latency_ns.p999 --commit-message "$one" "$other"
	[ "$(nr_rows)" -le 12 ] || wrong "$ran: $(nr_rows) rows"
	bad_usage "--metric 'speed' has a figure that does not exist" compare --metric speed "$one" "$other"
}

# The three tables for programs say the same, by the contract's names.
test_formats() {
	good compare -F json "$one" "$other"
	json '.schema == "fault-analyze/1" and (.before.recordings | length) == 1 and (.after.recordings | length) == 1'
	json 'all(.rows[]; (keys - ["arch", "group", "from", "p"]) == ["after", "before", "change_percent", "ci95_percent",
		"class", "exact", "level", "metric", "order", "runs", "verdict"])'
	json 'all(.rows[]; .verdict == null or (.verdict | IN("improvement", "regression", "same", "inconclusive", "insufficient")))'
	json 'all(.rows[]; .exact and .ci95_percent == null)'
	jq -r '.rows[] | [.class, .metric, .before, .after] | map(. // "n/a") | @tsv' "$tmp/out" >"$tmp/json"
	good compare -F tsv -o class,metric,before,after "$one" "$other"
	[ "$(tail -n +2 "$tmp/out" | wc -l)" = "$(wc -l <"$tmp/json")" ] || wrong "$ran: not as many rows as JSON"
	tail -n +2 "$tmp/out" | paste "$tmp/json" - | awk -F'\t' '
		function far(a, b) { return a != b && (a - b) ^ 2 > (1e-9 * b) ^ 2 }
		$1 != $5 || $2 != $6 || far($3, $7) || far($4, $8) { exit 1 }' || wrong "$ran: not what JSON says"
	mv "$tmp/out" "$tmp/tsv"
	good compare -F csv -o class,metric,before,after "$one" "$other"
	tr ',' '\t' <"$tmp/out" | tr -d '\r' | cmp -s - "$tmp/tsv" || wrong "$ran: not what TSV says"
	bad_usage "--output is for the columns of tsv and csv" compare -o metric "$one" "$other"
	bad_usage "--output is for tables, json has all columns" compare -F json -o metric "$one" "$other"
	bad_usage "--commit-message and --raw choose rows of text" compare -F json --raw "$one" "$other"
	bad_usage "--commit-message and --raw choose rows of text" compare -F tsv --commit-message "$one" "$other"
	bad_usage "--commit-message or --raw, not both" compare --raw --commit-message "$one" "$other"
	bad_usage "--commit-message or --raw, not both" compare --commit-message --raw "$one" "$other"
	bad_usage "--format is of what is printed, not of --html" compare -F json --html "$tmp/page" "$one" "$other"
	bad_usage "--format is of what is printed, not of --html" report -F tsv --html "$tmp/page" "$one"
	[ ! -e "$tmp/page" ] || wrong "a page is written all the same"
	bad_usage "no column 'wings'" compare -F tsv -o wings "$one" "$other"
}

# Waste is known where each fault resolved its own PTE alone, and where the workload lists what it used.
test_waste() {
	local pair=traces/pairs/x86_64-cow-64k start end side

	for side in before after; do
		ln -s "$PWD/$pair-$side.dat" "$tmp/$side.dat"
		jq 'del(.used)' $pair-$side.dat.json >"$tmp/$side.dat.json"
	done
	good compare -F json --class cow --order 4 --metric waste_ptes "$tmp/before.dat" "$tmp/after.dat"
	json '.rows | length == 1 and .[0].before == 0 and .[0].after == null'
	good compare --class cow --order 4 "$tmp/before.dat" "$tmp/after.dat"
	prints '^  waste, PTEs +0 +n/a +n/a$'
	# one page of four: three of four copies are wasted
	start=$(jq -r '.oracle[0].start' $pair-after.dat.json)
	end=$(jq -r '.oracle[0].end' $pair-after.dat.json)
	jq --arg first "$start" --arg last "$end" '.used = [{ class: "cow", start: $first, "end": $last, every: 4 }]' \
		$pair-after.dat.json >"$tmp/after.dat.json"
	good compare -F json --class cow --order 4 --metric waste_ptes,ptes_resolved "$tmp/before.dat" "$tmp/after.dat"
	json '(.rows[] | select(.metric == "waste_ptes").after) == 3 / 4 * (.rows[] | select(.metric == "ptes_resolved").after)'
	good compare --commit-message --class cow --order 4 "$tmp/before.dat" "$tmp/after.dat"
	prints '^  waste, PTEs +0 +768 '
	# a report keeps it
	"$FAULT_ANALYZE" report -F json --class cow --order 4 "$tmp/after.dat" >"$tmp/after.json"
	good compare -F json --class cow --order 4 --metric waste_ptes "$tmp/before.dat" "$tmp/after.json"
	json '.rows[0].after == 768'
}

# --- what is refused -----------------------------------------------------------------------------

test_unlike() {
	variant a '.'
	variant b '.recordings[0].trace_id = "0x1"'
	good compare "$tmp/a" "$tmp/b"
	variant b '.recordings[0] |= (.trace_id = "0x1" | .arch = "aarch64")'
	refused "architectures differ" "$tmp/a" "$tmp/b"
	variant b '.recordings[0] |= (.trace_id = "0x1" | .page_size = 16384)'
	refused "page sizes differ" "$tmp/a" "$tmp/b"
	variant b '.recordings[0] |= (.trace_id = "0x1" | .clock = "mono")'
	refused "clocks differ" "$tmp/a" "$tmp/b"
	variant b '.recordings[0] |= (.trace_id = "0x1" | .exact = false)'
	refused "counts instructions" "$tmp/a" "$tmp/b"
	variant b '.recordings[0] |= (.trace_id = "0x1" | .probes += ["kmem:odd"])'
	refused "probe sets differ" "$tmp/a" "$tmp/b"
	variant b '.recordings[0] |= (.trace_id = "0x1" | .lost_events = (.events / 900 | ceil))'
	refused "more than 0.1 %" "$tmp/a" "$tmp/b"
	variant b '.recordings[0] |= (.trace_id = "0x1" | .lost_uncounted = 1)'
	refused "lost events without a count" "$tmp/a" "$tmp/b"
	variant b '.recordings[0] |= (.trace_id = "0x1" | .damaged = [{ offset: 7, reason: "x" }] | .damaged_places = 1)'
	refused "is damaged" "$tmp/a" "$tmp/b"
	refused "workloads differ: 'fault-workload reuse --size 8M --folio 64K' in " \
		traces/pairs/x86_64-reuse-64k-before.dat traces/pairs/x86_64-cow-64k-after.dat
	# without manifests nothing is known of them
	cp traces/pairs/x86_64-cow-64k-after.dat "$tmp/cow.dat"
	good compare --exact traces/pairs/x86_64-reuse-64k-before.dat "$tmp/cow.dat"
	# a recording that is damaged is so, whatever is forced
	"$(dirname "$FAULT_ANALYZE")/tests/gen_recording" -f 6 -s 262144 -n 300 "$tmp/whole.dat" >"$tmp/made"
	head -c $(($(stat -c %s "$tmp/whole.dat") - 5000)) "$tmp/whole.dat" >"$tmp/cut.dat"
	forced_exit=2 refused "is damaged" "$tmp/whole.dat" "$tmp/cut.dat"
	variant b '.recordings[0] |= (.trace_id = "0x1" | .lost_events = (.events / 1100 | floor))'
	good compare "$tmp/a" "$tmp/b"
}

test_sides() {
	bad_usage "no recording before" compare -- "$one"
	bad_usage "no recording after" compare "$one" --
	bad_usage "exactly two files" compare "$one"
	bad_usage "a side has no file" plot -o "$tmp/plots" "$one" --
	variant a '.recordings = [] | .classes = [] | .faults |= map_values(0)'
	bad_usage "no recording after" compare "$one" "$tmp/a"
	# the same recording: itself, by another name, as its report
	cp "$one" "$tmp/copy.dat"
	variant a '.'
	for second in "$one" "$tmp/copy.dat" "$tmp/a"; do
		run compare --exact "$one" "$second"
		exits 3
		one_line
		says "are the same recording"
		prints_nothing
	done
	run compare --exact "$one" "$other" -- "$tmp/copy.dat"
	exits 3
	one_line
	run compare "$one" "$tmp/none"
	exits 2
	one_line
	says "$tmp/none: No such file"
	run plot -o "$tmp/never" "$tmp/none"
	exits 2
	one_line
	[ ! -e "$tmp/never" ] || wrong "$ran: made its folder for nothing"
}

test_cut_json() {
	local size at

	size=$(stat -c %s "$tmp/one.json")
	for ((at = 1; at < size - 1; at += size / 17)); do
		head -c "$at" "$tmp/one.json" >"$tmp/cut"
		damaged_json "$tmp/cut" "JSON is cut at byte $at"
	done
	: >"$tmp/cut"
	run compare "$tmp/cut" "$tmp/one.json"
	exits 2
	one_line
	{ cat "$tmp/one.json"; echo '{}'; } >"$tmp/cut"
	damaged_json "$tmp/cut" "more than one JSON value"
}

test_schema_of_tomorrow() {
	variant b '.schema = "fault-analyze/2"'
	damaged_json "$tmp/b" 'schema: is "fault-analyze/2", not "fault-analyze/1"'
	variant b 'del(.schema)'
	damaged_json "$tmp/b" "schema: missing"
	variant b '.schema = 1'
	damaged_json "$tmp/b" "schema: is int, not string"
	# comparisons and manifests are other things of this schema's kin
	"$FAULT_ANALYZE" compare -F json "$one" "$other" >"$tmp/b"
	damaged_json "$tmp/b" "filters: missing"
	cp traces/pairs/x86_64-cow-4k-before.dat.json "$tmp/b"
	damaged_json "$tmp/b" 'schema: is "fault-analyze-manifest/1"'
}

# Every figure that follows from others, changed by one: of a recording and the total alike, so that the sum of the
# recordings is what the total says.
test_counters_that_do_not_add_up() {
	local filter words

	while IFS=@ read -r filter words; do
		variant b "(.recordings[0], .) |= ($filter)"
		damaged_json "$tmp/b" "$words"
	done <<-'END'
		.faults.total += 1@recordings[0].classes: faults add up to
		.classes[0].faults += 1@recordings[0].classes[0].faults_per_pte: does not add up
		.classes[0].faults += 1 | .classes[0].faults_per_pte = .classes[0].faults / .classes[0].ptes@recordings[0].classes: faults add up to
		.faults.unpaired_entries = .faults.entries + 1@recordings[0].faults: more unpaired than recorded
		.faults.unpaired_exits = .faults.exits + 1@recordings[0].faults: more unpaired than recorded
		.faults.major = .faults.total + 1@recordings[0].faults: more major
		.faults.remote = .faults.total + 1@recordings[0].faults: more major
		.classes[0].folios = .classes[0].episodes + 1@recordings[0].classes[0]: more figures than there were
		.classes[0].timed_ptes = .classes[0].ptes_resolved + 1@recordings[0].classes[0]: more figures than there were
		.classes[0].ptes_touched = .classes[0].ptes + 1@recordings[0].classes[0]: more PTEs than the folios have
		.classes[0].ptes += 1@recordings[0].classes[0].faults_per_pte: does not add up
		.classes[0].timed_ptes -= 1@recordings[0].classes[0].ns_per_pte: does not add up
		.classes[0].faults_per_pte = 0.5@recordings[0].classes[0].faults_per_pte: does not add up
		.classes[0].ns_per_pte += 1@recordings[0].classes[0].ns_per_pte: does not add up
		.classes[0].waste_ptes = .classes[0].ptes_resolved + 1@recordings[0].classes[0].waste_ptes: more than was resolved
		.classes[0].latency_ns.count += 1@recordings[0].classes[0].latency_ns.count: 
		.classes[0].latency_ns.min -= 1@recordings[0].classes[0].latency_ns.min: 
		.classes[0].latency_ns.p50 += 1@recordings[0].classes[0].latency_ns.p50: 
		.classes[0].latency_ns.p99 += 1@recordings[0].classes[0].latency_ns.p99: 
		.classes[0].latency_ns.max += 1@recordings[0].classes[0].latency_ns.max: 
		.classes[0].latency_ns.sum += 1@recordings[0].classes[0].latency_ns.sum: 
		.classes[0].latency_ns.mean += 1@recordings[0].classes[0].latency_ns.mean: 
		.classes[0].latency_ns.values[0][1] += 1@recordings[0].classes[0].latency_ns
		.classes[0].per_folio_latency_ns.sum += 1@recordings[0].classes[0].per_folio_latency_ns.sum: 
		.classes[0].ptes_per_fault.values[0][0] += 1@recordings[0].classes[0].ptes_per_fault
		.classes[1] = .classes[0]@recordings[0].classes[1]: stands here twice
		.classes[0].faults = -1@recordings[0].classes[0].faults: is not a count
		.classes[0].faults = 1.5@recordings[0].classes[0].faults: is double
		.classes[0].class = "cows"@recordings[0].classes[0].class: no such class: cows
		.classes[0].order = 15@recordings[0].classes[0].order: is too large
		del(.classes[0].episodes)@recordings[0].classes[0].episodes: missing
	END
	# of the total alone
	variant b '.faults.entries += 1'
	damaged_json "$tmp/b" "faults: are not the sum of the recordings'"
	variant b '.classes |= .[1:] | .faults.total = ([.classes[].faults] | add)'
	damaged_json "$tmp/b" "faults: are not the sum"
	variant b '.classes[0].level = "pmd"'
	damaged_json "$tmp/b" "classes: map, order 0: is not the sum of the recordings'"
}

# --- what cannot be written ----------------------------------------------------------------------

test_full_disk() {
	local format args

	for format in text tsv csv json; do
		status=0 ran="fault-analyze compare -F $format >/dev/full"
		"$FAULT_ANALYZE" compare -F $format "$one" "$other" 2>"$tmp/err" >/dev/full || status=$?
		exits 2
		one_line
		says "standard output: No space left on device"
	done
	for args in "report $one" "compare $one $other"; do
		# shellcheck disable=SC2086 # words
		run $args --html /dev/full
		exits 2
		one_line
		says "/dev/full: No space left on device"
		[ -c /dev/full ] || wrong "$ran: /dev/full is no device any more"
		# no more than 8 KiB can be written to a file
		mkdir -p "$tmp/small"
		status=0 ran="fault-analyze $args --html (8 KiB at most)"
		# shellcheck disable=SC2086 # words
		(trap '' XFSZ; ulimit -f 8; exec "$FAULT_ANALYZE" $args --html "$tmp/small/page.html" 2>"$tmp/err") || status=$?
		exits 2
		one_line
		says "$tmp/small/"
		[ -z "$(ls "$tmp/small")" ] || wrong "$ran: left $(ls "$tmp/small")"
	done
	# data that is cut short is taken away, and what was written before is whole
	status=0 ran="fault-analyze plot (8 KiB at most)"
	(trap '' XFSZ; ulimit -f 8; exec "$FAULT_ANALYZE" plot -o "$tmp/small" "$one" 2>"$tmp/err") || status=$?
	exits 2
	one_line
	says "$tmp/small/"
	says "File too large"
	for file in "$tmp"/small/*; do
		[ "$(tail -c 1 "$file" | od -An -tx1 | tr -d ' ')" = 0a ] || wrong "$ran: half of $file"
	done
	# so are pictures, of which gnuplot does not say it
	status=0 ran="fault-analyze plot (16 KiB at most)"
	(trap '' XFSZ; ulimit -f 16; exec "$FAULT_ANALYZE" plot -o "$tmp/small2" traces/lab/x86_64-reuse-2m-pmd.dat \
		2>"$tmp/err") || status=$?
	exits 2
	one_line
	says "; the data is in $tmp/small2"
	for file in "$tmp"/small2/*.png; do
		[ ! -e "$file" ] || tail -c 16 "$file" | grep -aq IEND || wrong "$ran: half of $file"
	done
	for file in "$tmp"/small2/*.svg; do
		[ ! -e "$file" ] || tail -c 16 "$file" | grep -aq '</svg>' || wrong "$ran: half of $file"
	done
	[ "$(find "$tmp/small2" -name '*.tsv' | wc -l)" = 8 ] || wrong "$ran: not all data is there"
}

test_folders_that_cannot_be() {
	local as_whom=() args

	mkdir "$tmp/closed"
	chmod 555 "$tmp/closed"
	unprivileged || return
	for args in "report --html $tmp/closed/page.html" "plot -o $tmp/closed" "plot -o $tmp/closed/new"; do
		# shellcheck disable=SC2086 # words
		run $args "$one"
		exits 2
		one_line
		says "Permission denied"
		[ -z "$(ls "$tmp/closed")" ] || wrong "$ran: left $(ls "$tmp/closed")"
	done
	chmod 755 "$tmp/closed"
	: >"$tmp/file"
	run plot -o "$tmp/file" "$one"
	exits 2
	one_line
	run report --html "$tmp" "$one"
	exits 2
	one_line
	bad_usage "--output '' is no folder" plot -o '' "$one"
	bad_usage "--html '' is no file" report --html '' "$one"
	bad_usage "one.json is a report: --entry, --exit and --folio-size are for recordings" \
		compare --folio-size 64K "$tmp/one.json" "$other"
	for args in "--pid 1" "--folio-size 64K" "--entry a:b"; do
		# shellcheck disable=SC2086 # words
		run plot $args -o "$tmp/unlike" "$tmp/one.json"
		one_line
		says "a report"
		[ "$status" != 0 ] && [ ! -e "$tmp/unlike" ] || wrong "$ran: drew what was not asked for"
	done
	bad_usage "--html '' is no file" compare --html '' "$one" "$other"
}

# --- gnuplot -------------------------------------------------------------------------------------

# fake_gnuplot LINES: a gnuplot that does those lines of shell first, then its work
fake_gnuplot() {
	mkdir -p "$tmp/bin"
	printf '#!/bin/sh\n%s\nexec %s "$@"\n' "$1" "$(command -v gnuplot)" >"$tmp/bin/gnuplot"
	chmod 755 "$tmp/bin/gnuplot"
}

test_gnuplot_missing_or_failing() {
	local kind

	fake_gnuplot 'echo "\"x.gp\" line 3: undefined variable: y" >&2; exit 1'
	for kind in missing failing killed; do
		[ $kind != missing ] || mv "$tmp/bin/gnuplot" "$tmp/gnuplot"
		[ $kind != failing ] || mv "$tmp/gnuplot" "$tmp/bin/gnuplot"
		# shellcheck disable=SC2016 # the script's
		[ $kind != killed ] || fake_gnuplot 'kill -9 $$'
		status=0 ran="fault-analyze plot (gnuplot $kind)"
		PATH=$tmp/bin "$FAULT_ANALYZE" plot -o "$tmp/plots-$kind" "$one" >"$tmp/out" 2>"$tmp/err" || status=$?
		exits 2
		one_line
		says "gnuplot"
		says "; the data is in $tmp/plots-$kind"
		prints_nothing
		[ "$(find "$tmp/plots-$kind" -name '*.tsv' | wc -l)" = 8 ] || wrong "$ran: not all data is there"
		[ "$(find "$tmp/plots-$kind" -type f ! -name '*.tsv' | wc -l)" = 0 ] || wrong "$ran: leaves pictures"
		status=0 ran="fault-analyze report --html (gnuplot $kind)"
		PATH=$tmp/bin "$FAULT_ANALYZE" report --html "$tmp/page-$kind" "$one" >"$tmp/out" 2>"$tmp/err" || status=$?
		exits 2
		one_line
		says "gnuplot"
		grep -q '</html>' "$tmp/page-$kind" && grep -q 'No pictures: gnuplot' "$tmp/page-$kind" ||
			wrong "$ran: no page without pictures"
	done
}

# drawing SIGNAL ARG...: the program, which gnuplot sends that signal in the middle of its first picture
drawing() {
	# shellcheck disable=SC2016 # the script's
	fake_gnuplot 'echo $$ >"$PID"; : >"$3/$(basename "$2" .gp).png"; kill -"$SIGNAL" $PPID; '"$draw_on"
	mkdir -p "$tmp/scratch" "$tmp/place"
	status=0 ran="fault-analyze ${*:2} (and SIG$1)"
	{ # bash says of each what ended it
		PID=$tmp/pid SIGNAL=$1 TMPDIR=$tmp/scratch PATH=$tmp/bin:$PATH timeout 60 "${as[@]}" "$FAULT_ANALYZE" \
			"${@:2}" >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
	} 2>/dev/null
	[ -z "$(ls "$tmp/scratch")" ] || wrong "$ran: left $(ls "$tmp/scratch")"
	rm -rf "$tmp/scratch"
}

# What ends the program ends gnuplot, too, and leaves no half of a page or a picture.
test_ended_while_drawing() {
	local as=(env '--default-signal=HUP,INT,TERM') draw_on='exec sleep 60' signal args

	for signal in HUP INT TERM; do
		for args in "report --html $tmp/place/page $one" "compare --html $tmp/place/page $one $other" \
			"report --html /dev/stdout $one" "plot -o $tmp/place $one"; do
			# shellcheck disable=SC2086 # words
			drawing $signal $args
			exits $((128 + $(kill -l $signal)))
			! kill "$(cat "$tmp/pid")" 2>/dev/null || wrong "$ran: left gnuplot"
			rm -f "$tmp"/place/*.tsv
			rmdir "$tmp/place" || wrong "$ran: left $(ls "$tmp/place")"
		done
	done
}

test_ignored_while_drawing() {
	local as=(env '--ignore-signal=HUP,INT,TERM') draw_on='' signal

	for signal in HUP INT TERM; do
		drawing $signal report --html "$tmp/place/page" "$one"
		exits 0
		grep -q '</html>' "$tmp/place/page" || wrong "$ran: no page"
		rm -rf "$tmp/place"
	done
}

# One that has seen enough of a page ends the program by SIGPIPE.
test_reader_of_page_leaves() {
	mkdir "$tmp/scratch"
	TMPDIR=$tmp/scratch "$FAULT_ANALYZE" report --html /dev/stdout "$one" | sed -n '/Pictures/q'
	[ "${PIPESTATUS[0]}" = 141 ] || wrong "the program does not end with its reader"
	[ -z "$(ls "$tmp/scratch")" ] || wrong "a page half read left $(ls "$tmp/scratch")"
	rm -rf "$tmp/scratch"
}

# A person runs each script from elsewhere, and a copy that was edited.
test_scripts_alone() {
	local script name

	good plot -o "$tmp/plots" "$one" "$other"
	good replay --sweep window=1,2,folio --plot "$tmp/plots" traces/lab/x86_64-reuse-64k.dat
	find "$tmp/plots" -type f ! -name '*.tsv' -delete
	for name in "$tmp"/plots/*.tsv; do
		name=$(basename "$name" .tsv)
		script=$PWD/plots/$name.gp
		grep -q "^# .*Usage: gnuplot -c plots/$name.gp DIR$" "$script" || wrong "$name.gp: says no usage"
		(cd / && gnuplot -c "$script" "$tmp/plots") >"$tmp/said" 2>&1 || wrong "$name.gp: $(cat "$tmp/said")"
		[ ! -s "$tmp/said" ] || wrong "$name.gp: speaks: $(head -c 300 "$tmp/said")"
		tail -c 16 "$tmp/plots/$name.png" | grep -aq IEND && tail -c 16 "$tmp/plots/$name.svg" | grep -q '</svg>' ||
			wrong "$name.gp: no pictures"
	done
	cp -r plots "$tmp/edited"
	sed -i 's/set title "Latency of faults, cumulative"/set title "edited"/' "$tmp/edited/latency-cdf.gp"
	(cd "$tmp/plots" && gnuplot -c "$tmp/edited/latency-cdf.gp") || wrong "an edited copy fails in its data's folder"
	grep -q '>edited<' "$tmp/plots/latency-cdf.svg" || wrong "an edited copy draws something else"
	FAULT_ANALYZE_PLOTS=$tmp/edited good plot -o "$tmp/plots" "$one" "$other"
	grep -q '>edited<' "$tmp/plots/latency-cdf.svg" || wrong "$ran: not by FAULT_ANALYZE_PLOTS"
}

# Each picture is 800 pixels wide and says what it shows: axes with units, before first and in its colour. What is
# not known is n/a in the bars as it is in the table.
test_pictures_say_what_they_show() {
	local pair=traces/pairs/x86_64-reuse-64k dir=$tmp/said-by file words word bars

	good plot -o "$dir" $pair-before.dat -- $pair-after.dat
	while IFS=: read -r file words; do
		[ "$(od -An -j16 -N8 -tx1 "$dir/$file.png" | tr -d ' ')" = 00000320000001f4 ] ||
			wrong "$file.png: not 800 by 500 pixels"
		IFS='|' read -ra words <<<"$words"
		for word in "${words[@]}"; do
			grep -qF -- "$word" "$dir/$file.svg" || wrong "$file.svg: does not say '$word'"
		done
	done <<-'END'
		latency-cdf:latency of a fault (ns)|part of the faults|before reuse 64K|after reuse 64K
		latency-histogram:latency of a fault (ns)|faults in each 12th of a power of ten|by class, before|by class, after
		faults-per-pte:faults / PTE|class and size of folio|>before<|>after<|>0.0625<
		ns-per-pte:per-folio latency / PTE (ns)|class and size of folio|>before<|>after<|>n/a<
		ptes-per-fault:PTEs resolved by one fault|>faults<|not recorded of: before reuse 64K, after reuse 64K
		faults-over-time:time since the first fault (ms)|faults in each |µs|time, before|time, after
		address-map:time since the first fault (ms)|(MiB)|time, before|time, after
		per-folio-latency:per-folio latency (ns)|class and size of folio|>before<|>after<|the median is black
	END
	for file in "$dir"/*.svg; do
		awk '/before/ { b = b ? b : NR } /after/ { a = a ? a : NR } END { exit !(b && b < a) }' "$file" ||
			wrong "$file: after comes before before"
		case $file in
		*-per-pte.svg | *cdf.svg | *fault.svg | *folio-latency.svg)
			awk '/rgb\( *0, *114, *178\)/ { b = b ? b : NR } /rgb\(213, *94, *0\)/ { a = a ? a : NR }
				END { exit !(b && b < a) }' "$file" || wrong "$file: before is not blue"
			;;
		esac
	done
	good compare -F json --metric faults_per_pte,ns_per_pte $pair-before.dat $pair-after.dat
	for file in faults-per-pte:faults_per_pte ns-per-pte:ns_per_pte; do
		bars=$(grep '^reuse 64K' "$dir/${file%:*}.tsv" | jq -Rc 'split("\t")[1:] | map(tonumber? // null)')
		json "[.rows[] | select(.class == \"reuse\" and .order == 4 and .metric == \"${file#*:}\") | .before, .after] == $bars"
	done
}

# The colours of classes, and of before and after, as the colour-blind see them: after Vienot, Brettel and Mollon
# (1999), and how far apart in CIELAB (1976). What differs by less than 10 is hard to tell apart in thin lines.
test_colours() {
	local least

	least=$(sed -n '/_color(title) =/,/0x606060/p; /^before_color\|^after_color/p' plots/common.gp | grep -o '0x[0-9a-f]\{6\}' |
		sort -u | while read -r c; do echo $((16#${c:2:2})) $((16#${c:4:2})) $((16#${c:6:2})); done | awk '
		function linear(v) {
			v /= 255
			return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ^ 2.4
		}
		function root(t) { return t > 0.008856 ? t ^ (1 / 3) : 7.787 * t + 16 / 116 }
		function clamp(v) { return v < 0 ? 0 : v > 1 ? 1 : v }
		function lab(n, eye, r, g, b,    x, y, z) {
			x = root((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047)
			y = root(0.2126 * r + 0.7152 * g + 0.0722 * b)
			z = root((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883)
			L[n, eye] = 116 * y - 16; A[n, eye] = 500 * (x - y); B[n, eye] = 200 * (y - z)
		}
		{
			r = linear($1); g = linear($2); b = linear($3)
			lab(NR, 1, r, g, b)
			protan = clamp(0.11238 * r + 0.88762 * g)
			lab(NR, 2, protan, protan, clamp(0.00401 * (r - g) + b))
			deutan = clamp(0.29275 * r + 0.70725 * g)
			lab(NR, 3, deutan, deutan, clamp(0.02234 * (g - r) + b))
		}
		END {
			least = 1000
			for (i = 1; i <= NR; i++)
				for (j = 1; j < i; j++)
					for (eye = 1; eye <= 3; eye++) {
						d = (L[i, eye] - L[j, eye]) ^ 2 + (A[i, eye] - A[j, eye]) ^ 2
						d = sqrt(d + (B[i, eye] - B[j, eye]) ^ 2)
						least = d < least ? d : least
					}
			print NR, int(least)
		}')
	[ "${least% *}" -ge 9 ] || wrong "only ${least% *} colours found in common.gp"
	[ "${least#* }" -ge 15 ] || wrong "two colours are ${least#* } apart to someone's eye"
}

# on_terminal ARG...: the program with a terminal for all that it says, which is $tmp/typescript
on_terminal() {
	local words

	printf -v words '%q ' "$FAULT_ANALYZE" "$@"
	ran="fault-analyze $* (on a terminal)"
	status=0
	PATH=$tmp/bin:$PATH timeout 120 script -qec "$words" "$tmp/typescript" </dev/null >/dev/null || status=$?
	exits 0
}

# Progress shows on a terminal alone, after a second and not before, and is wiped out at the end.
test_progress() {
	local args try took

	for args in "plot -o $tmp/plots $one" "report --html $tmp/page $one" "compare --html $tmp/page $one $other"; do
		fake_gnuplot 'case $2 in *latency-cdf.gp) sleep 1.2 ;; esac'
		# shellcheck disable=SC2086 # words
		on_terminal $args
		grep -aq $'\rdrawing latency-cdf' "$tmp/typescript" || wrong "$ran: says nothing in more than a second"
		tail -c 200 "$tmp/typescript" | grep -aq $'\r\033\[K' || wrong "$ran: leaves its line there"
		# shellcheck disable=SC2086 # words
		PATH=$tmp/bin:$PATH good $args
	done
	fake_gnuplot "$(printf 'touch "%s/drawn/$(basename "$2" .gp).png"; for k in png svg; do cp "%s/drawn.$k" "$3/$(basename "$2" .gp).$k"; done; exit 0' "$tmp" "$tmp")"
	mkdir "$tmp/drawn"
	cp "$tmp/plots/latency-cdf.png" "$tmp/drawn.png"
	cp "$tmp/plots/latency-cdf.svg" "$tmp/drawn.svg"
	# a busy machine may take longer
	for ((try = 0, took = 1000000; try < 10 && took >= 1000000; try++)); do
		took=${EPOCHREALTIME//[.,]/}
		on_terminal plot -o "$tmp/quick" "$one"
		took=$((${EPOCHREALTIME//[.,]/} - took))
	done
	[ "$(find "$tmp/drawn" -type f | wc -l)" = 8 ] || wrong "$ran: not by the fake gnuplot"
	! grep -aq drawing "$tmp/typescript" || wrong "$ran: progress in less than a second"
}

run_tests
