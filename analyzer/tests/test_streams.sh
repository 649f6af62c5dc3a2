#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Each command with inputs that are no files or that change while they are read, with outputs that end
# early, and interrupted: what comes out is whole, or the exit is not 0 and what there is does not parse.
set -uo pipefail
# shellcheck source=analyzer/tests/judge.sh
. "$(dirname "$0")/judge.sh"
gen=$(dirname "$FAULT_ANALYZE")/tests/gen_recording
before=traces/pairs/x86_64-reuse-64k-before.dat
after=traces/pairs/x86_64-reuse-64k-after.dat
ktap=analyzer/tests/data/ktap/bench.ktap
json=$tmp/report.json

# Command lines of those that read recordings; FILE is the one in question, and the others are good.
readers=("report FILE" "report -F json $before FILE" "folios FILE" "folios -F json FILE"
	"compare --force -F json $before -- FILE" "replay --policy whole-folio -F json FILE"
	"replay --policy whole-folio --validate FILE $before" "plot -o $tmp/plots FILE")
# and of those that read a stream
streams=("merge FILE" "merge -F text FILE" "kunit FILE" "kunit -F json FILE")
# All that print, on good files.
printers=("report $before" "report -F tsv $before" "report -F json $before" "folios $before"
	"folios -F json $before" "compare $before $after" "compare -F csv $before $after"
	"compare -F json $before $after" "replay --policy whole-folio $before"
	"replay --policy whole-folio -F json $before" "merge $json" "merge -F text $json" "kunit $ktap"
	"kunit -F json $ktap" "record --help" "plot --help" "folios --help" "--help" "--version")

# words COMMAND-LINE FILE: the command line as the array $words
words() {
	read -ra words <<<"${1/FILE/$2}"
}

# is_no_json: what was printed is not taken for a whole answer
is_no_json() {
	[ ! -s "$tmp/out" ] || ! jq -e . "$tmp/out" >"$tmp/jq" 2>&1 || wrong "$ran: what it printed is JSON"
}

# --- inputs that are no files --------------------------------------------------------------------

test_recording_from_a_pipe() {
	local line file words

	rm -f "$tmp/fifo"
	mkfifo "$tmp/fifo"
	for line in "${readers[@]}"; do
		for file in "$tmp/fifo" /dev/null /dev/stdin; do
			words "$line" "$file"
			ran="fault-analyze ${words[*]} (from a pipe)"
			status=0
			# shellcheck disable=SC2002 # a pipe is what is tested
			cat "$before" 2>"$tmp/cat" |
				timeout 60 "$FAULT_ANALYZE" "${words[@]}" >"$tmp/out" 2>"$tmp/err" || status=$?
			exits 2
			one_line
			says "$file: is not seekable, a recording has to be a file"
			# but for the recordings beside it
			[[ $line == *$before* && $line != compare* && $line != plot* ]] || prints_nothing
		done
	done
}

# The same as of a file, from a FIFO and from standard input.
test_stream_from_a_pipe() {
	local line file words name

	rm -f "$tmp/fifo"
	mkfifo "$tmp/fifo"
	for line in "${streams[@]}"; do
		file=$ktap
		[[ $line != merge* ]] || file=$json
		words "$line" "$file"
		run "${words[@]}"
		mv "$tmp/out" "$tmp/expected"
		for name in /dev/stdin -; do
			words "$line" "$name"
			ran="fault-analyze ${words[*]}"
			# shellcheck disable=SC2002 # a pipe is what is tested
			cat "$file" | "$FAULT_ANALYZE" "${words[@]}" >"$tmp/out" 2>"$tmp/err"
			sed "s,$file,$name,g" "$tmp/expected" | cmp -s - "$tmp/out" || wrong "$ran: not as of a file"
		done
		words "$line" "$tmp/fifo"
		ran="fault-analyze ${words[*]}"
		cat "$file" >"$tmp/fifo" &
		timeout 60 "$FAULT_ANALYZE" "${words[@]}" >"$tmp/out" 2>"$tmp/err"
		sed "s,$file,$tmp/fifo,g" "$tmp/expected" | cmp -s - "$tmp/out" || wrong "$ran: not as of a file"
		wait
	done
}

# piped FILE ARG...: the program with FILE in a pipe as standard input
piped() {
	local file=$1

	shift
	ran="fault-analyze $* (from $file)" status=0
	# shellcheck disable=SC2002 # a pipe is what is tested
	cat "$file" | timeout 60 "$FAULT_ANALYZE" "$@" >"$tmp/out" 2>"$tmp/err" || status=$?
}

# A report stands for a recording wherever both are taken: "-" is one, too, and no recording.
test_report_from_stdin() {
	"$FAULT_ANALYZE" report -F json "$before" >"$tmp/before.json"
	(echo; cat "$tmp/before.json") >"$tmp/spaced.json"
	good compare "$tmp/before.json" "$after"
	mv "$tmp/out" "$tmp/expected"
	for file in "$tmp/before.json" "$tmp/spaced.json"; do
		piped "$file" compare - "$after"
		exits 0
		cmp -s "$tmp/expected" "$tmp/out" || wrong "$ran: not as of a file"
		piped "$file" plot -o "$tmp/plots" -
		exits 0
	done
	piped "$before" compare - "$after"
	exits 2
	one_line
	says "-: is not seekable, a recording has to be a file"
	piped /dev/null compare - "$after"
	exits 2
	one_line
	piped "$tmp/before.json" compare - -
	exits 2
	one_line
	says "-: is not seekable"
	prints_nothing
	piped "$tmp/before.json" merge - -
	exits 2
	one_line
	says "-: JSON is cut at byte 0"
}

# --- outputs that end early ----------------------------------------------------------------------

test_full_disk() {
	local line

	for line in "${printers[@]}"; do
		ran="fault-analyze $line >/dev/full"
		status=0
		# shellcheck disable=SC2086 # words
		"$FAULT_ANALYZE" $line >/dev/full 2>"$tmp/err" || status=$?
		exits 2
		says "fault-analyze: standard output: No space left on device"
	done
}

# run_filling LINE: a disk that fills while files are written: a limit on their size, an error instead of a signal.
run_filling() {
	ran="fault-analyze $1 (files of 1 KiB at most)"
	status=0
	# shellcheck disable=SC2086 # words
	(trap '' XFSZ && ulimit -f 1 && exec "$FAULT_ANALYZE" $1) >"$tmp/out" 2>"$tmp/err" || status=$?
	exits 2
}

test_full_disk_of_files() {
	local line

	for line in "plot -o $tmp/small $before" "report --html $tmp/small.html $before" \
		"compare --html $tmp/small.html $before $after"; do
		run_filling "$line"
		says "fault-analyze: "
	done
	for line in "${printers[@]}"; do
		[[ $line == *json* && $line != *text* ]] || continue
		run_filling "$line"
		says "fault-analyze: standard output: File too large"
		is_no_json
	done
}

test_closed_pipe() {
	local line

	rm -f "$tmp/fifo"
	mkfifo "$tmp/fifo"
	# shellcheck disable=SC2094 # a pipe that nobody reads
	exec 3<>"$tmp/fifo" 4>"$tmp/fifo" 3>&-
	for line in "${printers[@]}"; do
		ran="fault-analyze $line (into a closed pipe)"
		status=0
		# shellcheck disable=SC2086 # words
		"$FAULT_ANALYZE" $line >&4 2>"$tmp/err" || status=$?
		exits 141
		# a parent that ignores SIGPIPE (Python's, say) sees an error instead
		status=0
		# shellcheck disable=SC2086 # words
		(trap '' PIPE && exec "$FAULT_ANALYZE" $line) >&4 2>"$tmp/err" || status=$?
		exits 2
		says "fault-analyze: standard output: Broken pipe"
	done
	exec 4>&-
}

# --- what happens in the middle ------------------------------------------------------------------

# start COMMAND-LINE FILE: in the background, as $pid, with SIGINT as a terminal's program has it
start() {
	words "$1" "$2"
	ran="fault-analyze ${words[*]}"
	env --default-signal=INT "$FAULT_ANALYZE" "${words[@]}" >"$tmp/out" 2>"$tmp/err" </dev/null &
	pid=$!
}

# look: $time is the processor time that $pid has taken, in hundredths of a second, $state its state
look() {
	local line words

	state=
	read -r line <"/proc/$pid/stat" || return
	read -ra words <<<"${line##*) }"
	state=${words[0]}
	time=$((words[11] + words[12]))
}

# stop_in_the_middle COMMAND-LINE FILE: starts it, and stops it while it reads events: it has taken 50 ms of
# the processor, and has not ended
stop_in_the_middle() {
	local time state

	start "$1" "$2"
	while look 2>/dev/null && [ "$state" != Z ] && [ "$time" -lt 5 ]; do
		sleep 0.01
	done
	kill -STOP "$pid" 2>/dev/null
	look 2>/dev/null
	[[ $state = [TRSD] ]] || wrong "$ran: ended too soon to be tested"
}

# finish: lets it go on to its end
finish() {
	kill -CONT "$pid" 2>/dev/null
	status=0
	wait "$pid" || status=$?
}

# make_big COMMAND NAME ARG...: $tmp/NAME, made with these, takes the command 0.25 s of the processor, however fast
# this machine and build is
make_big() {
	local command=$1 file=$tmp/$2 nr=100000 seconds

	shift 2
	"$gen" "$@" -n "$nr" "$file" >"$tmp/made" || return
	seconds=$({ TIMEFORMAT=%U; time "$FAULT_ANALYZE" "$command" "$file" >"$tmp/out"; } 2>&1)
	nr=$(awk -v nr="$nr" -v s="$seconds" 'BEGIN { print int(nr * 0.25 / (s > 0.005 ? s : 0.005)) }')
	"$gen" "$@" -n "$nr" "$file" >"$tmp/made"
}

# big_for COMMAND-LINE: the recording that takes it long enough, in $big; folios, with a line for each, take longer
big_for() {
	big=$tmp/big.dat
	[[ $1 != folios* ]] || big=$tmp/folios.dat
}

test_file_shrinks() {
	local line big

	for line in "${readers[@]}"; do
		big_for "$line"
		cp --reflink=auto "$big" "$tmp/now.dat"
		stop_in_the_middle "$line" "$tmp/now.dat"
		truncate -s $(($(stat -c %s "$big") / 2)) "$tmp/now.dat"
		finish
		exits 2
		says "$tmp/now.dat: offset "
		[ ! -s "$tmp/out" ] || [[ $line != *json* ]] || jq -e . "$tmp/out" >"$tmp/jq" ||
			wrong "$ran: half an answer"
	done
}

# What is appended is not of the recording that was opened.
test_file_grows() {
	local line big

	for line in "${readers[@]}"; do
		[[ $line != *validate* ]] || continue # another recording: a miss
		big_for "$line"
		cp --reflink=auto "$big" "$tmp/now.dat"
		words "$line" "$tmp/now.dat"
		run "${words[@]}"
		exits 0
		mv "$tmp/out" "$tmp/expected"
		stop_in_the_middle "$line" "$tmp/now.dat"
		cat "$before" >>"$tmp/now.dat"
		finish
		exits 0
		cmp -s "$tmp/out" "$tmp/expected" || wrong "$ran: grew, and another answer"
	done
}

# pad NAME: $tmp/NAME, what merge or kunit reads with 32 MiB in it that mean nothing, so that reading takes a while
pad() {
	case $1 in
	json)
		head -c 1 "$json"
		head -c 32M /dev/zero | tr '\0' ' '
		tail -c +2 "$json"
		;;
	ktap)
		head -n 2 "$ktap"
		yes '# of no account' | head -c 32M
		tail -n +3 "$ktap"
		;;
	esac >"$tmp/$1"
}

# stop_while_reading COMMAND-LINE FILE: starts it, and stops it in the middle of FILE
stop_while_reading() {
	local size fd info=/dev/null at=0 time state

	size=$(stat -c %s "$2")
	start "$1" "$2"
	while [ "${at:-0}" -eq 0 ] && look 2>/dev/null && [ "$state" != Z ]; do
		for fd in /proc/"$pid"/fd/*; do
			[[ ! $fd -ef $2 ]] || info=/proc/$pid/fdinfo/${fd##*/}
		done
		read -r _ at 2>/dev/null <"$info"
	done
	kill -STOP "$pid" 2>/dev/null
	read -r _ at 2>/dev/null <"$info"
	[ "$at" -gt 0 ] && [ "$at" -lt "$size" ] || wrong "$ran: at byte $at of $size when it was stopped"
}

# A stream that is cut behind a reader's back is cut; what is appended is read, and is too much.
test_stream_shrinks_or_grows() {
	local line file

	for line in "merge FILE" "kunit -F json FILE"; do
		file=$tmp/json
		[[ $line != kunit* ]] || file=$tmp/ktap
		pad "${file##*/}"
		words "$line" "$file"
		good "${words[@]}"
		stop_while_reading "$line" "$file"
		truncate -s $(($(stat -c %s "$file") / 2)) "$file"
		finish
		exits 2
		one_line
		says cut
		[[ $line != merge* ]] || prints_nothing
		pad "${file##*/}"
		stop_while_reading "$line" "$file"
		if [[ $line = merge* ]]; then echo '{}'; else echo 'ok 2 late'; fi >>"$file"
		finish
		exits 2
		mv "$tmp/out" "$tmp/expected"
		mv "$tmp/err" "$tmp/said"
		run "${words[@]}"
		exits 2
		cmp -s "$tmp/out" "$tmp/expected" && cmp -s "$tmp/err" "$tmp/said" ||
			wrong "$ran: grew, and another answer: $(cat "$tmp/said" "$tmp/err")"
		rm "$file"
	done
}

test_interrupt() {
	local line big

	for line in "${readers[@]}"; do
		big_for "$line"
		stop_in_the_middle "$line" "$big"
		kill -INT "$pid"
		finish
		exits 130
		is_no_json
	done
}

# while they wait for the rest of a stream
test_interrupt_of_streams() {
	local line file

	rm -f "$tmp/fifo"
	mkfifo "$tmp/fifo"
	for line in "${streams[@]}"; do
		file=$ktap
		[[ $line != merge* ]] || file=$json
		start "$line" "$tmp/fifo"
		exec 3>"$tmp/fifo"
		head -c 1000 "$file" >&3
		sleep 0.1
		kill -INT "$pid"
		finish
		exec 3>&-
		exits 130
		prints_nothing
	done
}

"$FAULT_ANALYZE" report -F json "$before" >"$json" && make_big report big.dat -k random -c 4 -s 16777216 &&
	make_big folios folios.dat || exit 1
run_tests
