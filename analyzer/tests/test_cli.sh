#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The program as a user meets it: bad files and bad options. FAULT_ANALYZE names it; its
# build folder has tests/gen_recording. Prints closing lines as cmocka does.
set -uo pipefail
# shellcheck source=analyzer/tests/judge.sh
. "$(dirname "$0")/judge.sh"
gen=$(dirname "$FAULT_ANALYZE")/tests/gen_recording
lab=traces/lab/x86_64-reuse-2m-pmd.dat

# --- judging -------------------------------------------------------------------------------------

# damaged FILE: report says so in one line with an offset, exits 2, and what it prints is JSON that
# says the same, or nothing
damaged() {
	run report -F json "$1"
	exits 2
	one_line
	grep -q "^fault-analyze: $1: offset [0-9]*: ." "$tmp/err" ||
		wrong "$ran: names no file and offset: $(head -c 400 "$tmp/err")"
	[ ! -s "$tmp/out" ] ||
		jq -e '.recordings[0].damaged | length > 0' "$tmp/out" >"$tmp/jq" 2>&1 ||
		wrong "$ran: the JSON does not say that it is damaged: $(head -n 1 "$tmp/jq")"
}

# reported FILE: a damaged file that is reported in text and JSON all the same, as far as it goes
reported() {
	damaged "$1"
	[ -s "$tmp/out" ] || wrong "$ran: no report of what was read"
	run report "$1"
	exits 2
	one_line
	grep -q '^  damaged at byte [0-9]*: .' "$tmp/out" || wrong "$ran: the text says no damage"
	run folios -F json "$1"
	exits 2
	one_line
	jq -e '.recording.damaged | length > 0' "$tmp/out" >"$tmp/jq" 2>&1 ||
		wrong "$ran: the JSON does not say that it is damaged: $(head -n 1 "$tmp/jq")"
}

# refused FILE WORDS: one line, exit 2, no report
refused() {
	local command

	for command in report folios; do
		run "$command" "$1"
		exits 2
		one_line
		says "$1: "
		says "$2"
		prints_nothing
	done
}

# --- making files --------------------------------------------------------------------------------

# number FILE OFFSET BYTES: a little-endian one
number() {
	od -An -v -t "u$3" -j "$2" -N "$3" "$1" | tr -d ' '
}

# patch FILE OFFSET BYTES: as printf writes them
patch() {
	printf '%b' "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# copy NAME: a fresh copy of $tmp/NAME to break
copy() {
	cp "$tmp/$1" "$tmp/bad"
}

# places FILE BYTES: the offsets of those bytes (a Perl pattern)
places() {
	LC_ALL=C grep -aobP -- "$2" "$1" | cut -d: -f1
}

# options: of $tmp/v7, which is not compressed: lines of "id offset", of the option's id word; a
# section of them begins with 16 bytes of header and ends with DONE (0), which names the next one
options() {
	local file=$tmp/v7 at=24 next id

	while next=$(number "$file" "$at" 8) && [ "$next" != 0 ]; do
		echo "section $next"
		at=$((next + 16))
		while id=$(number "$file" "$at" 2) && echo "$id $at" && [ "$id" != 0 ]; do
			at=$((at + 6 + $(number "$file" $((at + 2)) 4)))
		done
		at=$((at + 6))
	done
}

# option ID: the offset of the first such option of $tmp/v7
option() {
	options | sed -n "s/^$1 //p" | head -n 1
}

make_files() {
	"$gen" -f 6 -s 262144 -n 300 "$tmp/v6" &&
		"$gen" -f 7 -s 262144 -n 300 "$tmp/v7" &&
		"$gen" -f 7 -s 262144 -z zstd -n 300 "$tmp/zstd" &&
		"$gen" -f 7 -s 262144 -z zlib -n 300 "$tmp/zlib" &&
		"$gen" -f 7 -s 262144 -e -n 300 "$tmp/big"
}

# --- tests ---------------------------------------------------------------------------------------

test_good_files() {
	local file

	for file in v6 v7 zstd zlib big; do
		good report "$tmp/$file"
		good folios "$tmp/$file"
		good report -F json "$tmp/$file"
		jq -e '.recordings[0].damaged == [] and .faults.total > 100 and
			.faults.total == .faults.entries and .faults.entries == .faults.exits' \
			"$tmp/out" >/dev/null || wrong "$ran: not what was generated"
	done
}

# The data of the CPU 4 GiB behind the metadata: what is in between is a hole.
test_beyond_4_gib() {
	local at from

	at=$(($(places "$tmp/v6" 'flyrecord\x00' | tail -n 1) + 10))
	from=$(number "$tmp/v6" "$at" 8)
	head -c "$from" "$tmp/v6" >"$tmp/far"
	patch "$tmp/far" $((at + 4)) '\x01'
	truncate -s $((from + (1 << 32))) "$tmp/far"
	tail -c +$((from + 1)) "$tmp/v6" >>"$tmp/far"
	good report -F json "$tmp/v6"
	sed "s,$tmp/v6,$tmp/far," "$tmp/out" >"$tmp/expected"
	good report -F json "$tmp/far"
	cmp -s "$tmp/expected" "$tmp/out" || wrong "$ran: not what it says of it in one piece"
	rm "$tmp/far"
}

test_not_a_recording() {
	printf 'int main(void) { return 0; }\n' >"$tmp/bad"
	refused "$tmp/bad" "offset 0: not a trace.dat recording"
	refused "$FAULT_ANALYZE" "offset 0: not a trace.dat recording"
	head -c 100000 /dev/zero >"$tmp/bad"
	refused "$tmp/bad" "offset 0: not a trace.dat recording"
	copy v7
	patch "$tmp/bad" 10 '8'
	refused "$tmp/bad" "version '8' is not known, only 6 and 7 are"
	copy v7
	patch "$tmp/bad" 10 '\0033'
	refused "$tmp/bad" "offset 10: version '"
	copy zstd
	patch "$tmp/bad" 18 'lz77'
	refused "$tmp/bad" "compressed with 'lz77', only zstd and zlib are known"
}

test_missing_directory_empty() {
	refused "$tmp/none" "No such file or directory"
	refused "$tmp" "Is a directory"
	: >"$tmp/empty"
	refused "$tmp/empty" "the file is empty"
	# options do not make it another error
	run report --entry faults:fault_entry --exit faults:fault_exit "$tmp/none"
	exits 2
	one_line
	# a name of two lines, one of them in color
	local odd=$tmp/$'a\nb\033[1m'

	: >"$odd"
	run report "$odd"
	exits 2
	one_line
	says '\x0ab\x1b[1m: '
}

test_not_seekable() {
	mkfifo "$tmp/fifo"
	refused "$tmp/fifo" "is not seekable, a recording has to be a file"
	refused - "is not seekable, a recording has to be a file"
	refused /dev/null "is not seekable, a recording has to be a file"
	status=0 ran="fault-analyze report /dev/stdin (a pipe)"
	# shellcheck disable=SC2002 # a pipe is what is tested
	cat "$tmp/v7" | "$FAULT_ANALYZE" report /dev/stdin >"$tmp/out" 2>"$tmp/err" || status=$?
	exits 2
	one_line
	says "is not seekable"
	prints_nothing
}

test_no_permission() {
	local as_whom=()

	cp "$tmp/v7" "$tmp/secret"
	chmod 000 "$tmp/secret"
	unprivileged || return
	run report "$tmp/secret"
	exits 2
	one_line
	says "$tmp/secret: Permission denied"
	prints_nothing
}

# cut_everywhere FILE HEADER: at each of its first HEADER bytes, then at places all over it
cut_everywhere() {
	local size at step

	size=$(stat -c %s "$1")
	step=$((size / 25 + 1))
	for ((at = 1; at < size; at += at < $2 ? 1 : step)); do
		head -c "$at" "$1" >"$tmp/bad"
		damaged "$tmp/bad"
	done
	for at in 1 8 124; do
		head -c $((size - at)) "$1" >"$tmp/bad"
		damaged "$tmp/bad"
	done
}

test_cut_v6() {
	cut_everywhere "$tmp/v6" 40
}

test_cut_v7() {
	cut_everywhere "$tmp/v7" 40
	cut_everywhere "$tmp/big" 1
}

test_cut_compressed() {
	cut_everywhere "$tmp/zstd" 40
	cut_everywhere "$tmp/zlib" 1
	cut_everywhere "$lab" 1
}

# What was read before the cut is reported; of version 7 the table of CPUs stands behind the data.
test_cut_in_data() {
	local file

	for file in v6 v7 zstd zlib; do
		head -c $(($(stat -c %s "$tmp/$file") - 1000)) "$tmp/$file" >"$tmp/bad"
		case $file in
		v6) reported "$tmp/bad" ;;
		*)
			damaged "$tmp/bad"
			says " bytes of CPU data cannot be read: the table of CPUs, behind them, is missing"
			;;
		esac
	done
}

test_sections_that_lie() {
	local at bytes

	for at in $(options | sed -n 's/^section //p'); do
		for bytes in '\xff\xff\xff\xff\xff\xff\xff\xff' '\xff\xff\xff\x7f\0\0\0\0' \
			'\0\0\0\0\0\0\0\0' '\x05\0\0\0\0\0\0\0'; do
			copy v7
			patch "$tmp/bad" $((at + 8)) "$bytes"
			damaged "$tmp/bad"
		done
	done
	# sections of formats, header_page and command lines: their size, then a text's within them
	for at in 16 17 18 21; do
		at=$(number "$tmp/v7" $(($(option "$at") + 6)) 8)
		copy v7
		patch "$tmp/bad" $((at + 8)) '\xff\xff\xff\xff\xff\xff\xff\xff'
		reported "$tmp/bad"
		copy v7
		patch "$tmp/bad" $((at + 16 + 12)) '\xff\xff\xff\xff\xff\xff\xff\xff'
		run report "$tmp/bad" # it may have hit a text's bytes
		[ "$status" = 0 ] || damaged "$tmp/bad"
	done
	# an option's size, and its section's place
	for at in $(options | sed -n 's/^\(3\|16\|18\) //p'); do
		copy v7
		patch "$tmp/bad" $((at + 2)) '\xff\xff\xff\xff'
		damaged "$tmp/bad"
		copy v7
		patch "$tmp/bad" $((at + 6)) '\xff\xff\xff\xff\xff\xff\xff\xff'
		damaged "$tmp/bad"
	done
	# sections of options in a circle
	copy v7
	at=$(options | sed -n 's/^0 //p' | tail -n 1)
	head -c 32 "$tmp/v7" | tail -c 8 | dd of="$tmp/bad" bs=1 seek=$((at + 6)) conv=notrunc status=none
	reported "$tmp/bad"
}

# CPU data begins at a multiple of 4096; of both files the last page is a sub-buffer.
test_pages_that_lie() {
	local file at

	for file in v6 v7; do
		at=$(places "$tmp/$file" '\x21\x04|\x22\x04' | tail -n 1) # ids of the pair
		at=$((at / 4096 * 4096))
		copy "$file"
		patch "$tmp/bad" $((at + 8)) '\xff\xff\0\0'
		reported "$tmp/bad"
		says "holds more than fits"
		copy "$file"
		patch "$tmp/bad" $((at + 12)) '\x01'
		reported "$tmp/bad"
		# an event that is longer than its page
		copy "$file"
		patch "$tmp/bad" $((at + 16)) '\0\0\0\0\xff\xff\xff\x7f'
		reported "$tmp/bad"
		says "holds what is no event"
		# and one that is shorter than its format: 4 bytes, of the same id
		copy "$file"
		patch "$tmp/bad" $((at + 16)) '\x01'
		damaged "$tmp/bad"
	done
}

test_does_not_unpack() {
	local at nr=0

	for at in $(places "$tmp/zstd" '\x28\xb5\x2f\xfd'); do
		copy zstd
		patch "$tmp/bad" "$at" '\x29'
		damaged "$tmp/bad"
		says "does not unpack"
		# what it packs is of another size than it says
		copy zstd
		patch "$tmp/bad" $((at - 4)) '\x01\0\0\0'
		damaged "$tmp/bad"
		copy zstd
		patch "$tmp/bad" $((at - 8)) '\xff\xff\xff\x7f'
		damaged "$tmp/bad"
		says "lies about its size"
		copy zstd
		patch "$tmp/bad" $((at - 4)) '\xff\xff\xff\xff'
		damaged "$tmp/bad"
		says "lies about its size"
		nr=$((nr + 1))
	done
	[ "$nr" -ge 6 ] || wrong "only $nr zstd frames found"
	nr=0
	for at in $(places "$tmp/zlib" '\x78\x9c|\x78\x5e|\x78\xda|\x78\x01'); do
		copy zlib
		patch "$tmp/bad" $((at + 20)) '\xff\xff\xff\xff'
		run report "$tmp/bad"
		exits 2
		one_line
		nr=$((nr + 1))
	done
	[ "$nr" -ge 6 ] || wrong "only $nr zlib streams found"
}

test_damaged_format_text() {
	local file at

	for file in v6 v7; do
		at=$(places "$tmp/$file" 'offset:8;\tsize:8;\tsigned:0;' | tail -n 1)
		for bytes in '\x01' '\x80' '\0' 'O'; do
			copy "$file"
			patch "$tmp/bad" "$at" "$bytes"
			reported "$tmp/bad"
		done
		at=$(places "$tmp/$file" 'ID: 1057' | tail -n 1)
		copy "$file"
		patch "$tmp/bad" $((at + 4)) 'x'
		reported "$tmp/bad"
	done
}

# A print format that nobody can parse is no damage, a byte in it that no text has is.
test_print_format() {
	local file at

	for file in v6 v7; do
		at=$(places "$tmp/$file" 'print fmt: .' | tail -n 1)
		copy "$file"
		patch "$tmp/bad" $((at + 11)) '"%((('
		good report "$tmp/bad"
		copy "$file"
		patch "$tmp/bad" $((at + 11)) '\x02'
		reported "$tmp/bad"
	done
}

test_text_recordings() {
	local at

	copy v6
	at=$(places "$tmp/bad" 'flyrecord')
	patch "$tmp/bad" "$at" 'latency  \0'
	refused "$tmp/bad" "offset $at: a latency recording is text and holds no events to analyze"
	copy v7
	patch "$tmp/bad" "$(option 3)" '\x16\0'
	refused "$tmp/bad" "a text recording holds no events to analyze"
}

test_bad_usage() {
	local command

	for command in report folios; do
		bad_usage "no option '--colour'" "$command" --colour "$lab"
		bad_usage "no option '-x'" "$command" -x "$lab"
		bad_usage "needs a value" "$command" "$lab" --pid
		bad_usage "needs a value" "$command" -F
		bad_usage "takes no value" "$command" --exact=yes "$lab"
		bad_usage "--format 'xml' is no format" "$command" -F xml "$lab"
		bad_usage "no column 'wings'" "$command" -o faults,wings "$lab"
		bad_usage "no column ''" "$command" -o '' "$lab"
		bad_usage "--output is for tables, json has all columns" "$command" -F json -o faults "$lab"
		bad_usage "--pid '1-' is no list of numbers" "$command" --pid 1- "$lab"
		bad_usage "--cpu '2-1' ends before it starts" "$command" --cpu 2-1 "$lab"
		bad_usage "--cpu 'all' is no list of numbers" "$command" --cpu all "$lab"
		bad_usage "--comm '' is no name" "$command" --comm '' "$lab"
		bad_usage "--mm 'init' is no hexadecimal address" "$command" --mm init "$lab"
		bad_usage "--addr '10' is not START-END in hexadecimal" "$command" --addr 10 "$lab"
		bad_usage "--addr '20-10' ends before it starts" "$command" --addr 20-10 "$lab"
		bad_usage "--addr '10-10' is empty" "$command" --addr 10-10 "$lab"
		bad_usage "--time 'now' is not START-END in seconds" "$command" --time now "$lab"
		bad_usage "--time '2-1' ends before it starts" "$command" --time 2-1 "$lab"
		bad_usage "--time '2-2' is empty" "$command" --time 2-2 "$lab"
		bad_usage "--class 'cows' is no list of classes" "$command" --class cows "$lab"
		bad_usage "--order '12K' is no list of folio orders or sizes" "$command" --order 12K "$lab"
		bad_usage "--order '64K-4K' ends before it starts" "$command" --order 64K-4K "$lab"
		bad_usage "--entry 'fault_entry' is not SYSTEM:NAME" "$command" --entry fault_entry
		bad_usage "--exit 'x' is not SYSTEM:NAME" "$command" --exit x "$lab"
		bad_usage "no event of the name that --entry gives" "$command" --entry a:b "$lab"
		bad_usage "no event of the name that --exit gives" "$command" --exit a:b "$lab"
		bad_usage "--folio-size 'big' is no size" "$command" --folio-size big "$lab"
		bad_usage "--folio-size is no power of two" "$command" --folio-size 12K "$lab"
	done
	bad_usage "record takes a command, or --pid" record
	bad_usage "--preset 'faults' is none of" record --preset faults -- true
	bad_usage "--pid 'init' is not a number" record --pid init
	bad_usage "folios takes one recording" folios "$lab" "$lab"
	bad_usage "no option '--format'" plot -F json -o "$tmp/plots" "$lab"
	bad_usage "no command 'reprot'" reprot "$lab"
	bad_usage "--format 'xml' is no format" merge -F xml "$lab"
	bad_usage "takes JSON that report wrote" merge
	bad_usage "no command"
}

# A filter that lets nothing pass is no error, but may be a slip: said in one line, of each recording.
test_nothing_passes() {
	local redis=traces/pairs/x86_64-redis-64k-before.dat command

	for command in report folios; do
		run "$command" --comm redis-srever $redis
		exits 0
		one_line
		says "$redis: no fault of 7481 passed the filters; tasks that had faults: redis-server, fault-workload, "
		run "$command" --comm redis-server --cpu 4 $redis
		exits 0
		one_line
		grep -qx "fault-analyze: $redis: no fault of 7481 passed the filters" "$tmp/err" ||
			wrong "$ran: says $(cat "$tmp/err")"
		good "$command" --comm redis-server,fault-workload $redis
	done
	run report --pid 99999 $redis $redis
	exits 0
	[ "$(grep -c ' passed the filters$' "$tmp/err")" = 2 ] || wrong "$ran: not a line for each recording"
	run compare --class swap $redis ${redis/before/after}
	exits 0
	[ "$(grep -c ' passed the filters$' "$tmp/err")" = 2 ] || wrong "$ran: not a line for each side"
}

# An order is known by its size, too, of the recording's pages: 64K are order 4, or 0 of arm64's 64K.
test_orders_by_size() {
	local by

	for by in 4K,64K,2M 0,4,9 4K-2M; do
		good report -F tsv --order "$by" "$lab"
		mv "$tmp/out" "$tmp/out.$by"
		cmp -s "$tmp/out.$by" "$tmp/out.4K,64K,2M" || wrong "$ran: other rows than of --order 4K,64K,2M"
	done
	[ "$(wc -l <"$tmp/out.0,4,9")" -ge 3 ] || wrong "only $(cat "$tmp/out.0,4,9")"
}

# Who may not trace is told which file says so. The program is copied to where everybody may run it.
test_record_refused() {
	local as_whom=() from=$FAULT_ANALYZE FAULT_ANALYZE=$tmp/bin/fault-analyze

	chmod 711 "$tmp"
	install -m 755 -D "$from" "$FAULT_ANALYZE"
	if [ "$(id -u)" = 0 ]; then
		command -v setpriv >/dev/null || { problem="skip: root may trace, and there is no setpriv"; return; }
		as_whom=(setpriv --reuid=65534 --clear-groups)
		run --version
		[ "$status" = 0 ] || { problem="skip: nobody but root can read the libraries of $from"; return; }
	fi
	# libtracefs 1.6 forgets to free the name of a folder that it may not enter
	ASAN_OPTIONS=detect_leaks=0 run record --print true
	exits 2
	one_line
	prints_nothing
	grep -q '^fault-analyze: cannot record: \(/.*/available_filter_functions: .*; it takes root\|no tracefs here: be root\)' \
		"$tmp/err" || wrong "$ran: says $(cat "$tmp/err")"
}

test_help() {
	local command option

	for option in --help -h help; do
		good "$option"
		grep -q '^Usage: ' "$tmp/out" || wrong "$ran: no usage"
	done
	for command in report folios merge; do
		good "$command" --help
		grep -q "^Usage: fault-analyze $command" "$tmp/out" || wrong "$ran: no usage"
		[ "$(wc -L <"$tmp/out")" -le 100 ] || wrong "$ran: wider than a terminal"
	done
	good --version
	[ "$(cat "$tmp/out")" = "fault-analyze $(cat "$(dirname "$FAULT_ANALYZE")/version")" ] ||
		wrong "$ran: not what make has found"
}

# Whatever prints JSON says first by which schema, and by which program.
test_json_documents() {
	local line

	"$FAULT_ANALYZE" report -F json "$lab" >"$tmp/report.json"
	for line in "report $lab" "folios $lab" "compare $lab traces/lab/x86_64-reuse-4k.dat" "merge $tmp/report.json" \
		"replay --policy none $lab" "replay --sweep window=1,folio $lab" "kunit traces/costs/x86_64-7.3.ktap"; do
		# shellcheck disable=SC2086 # words
		good $line -F json
		jq -e --arg version "$(cat "$(dirname "$FAULT_ANALYZE")/version")" '(keys_unsorted[:2] == ["schema", "tool_version"]) and
			.schema == "fault-analyze/1" and .tool_version == $version' "$tmp/out" >"$tmp/jq" 2>&1 ||
			wrong "$ran: does not say what it is: $(head -c 100 "$tmp/out")"
	done
}

test_mixed_list() {
	local a=traces/lab/x86_64-reuse-4k.dat b=traces/lab/aarch64-reuse-4k.dat

	head -c $(($(stat -c %s "$tmp/v6") - 5000)) "$tmp/v6" >"$tmp/bad"
	run report -F json "$a" "$tmp/none" "$b"
	exits 2
	one_line
	jq -e '(.recordings | length) == 2 and .faults.entries == 1078 + 1154 and
		.recordings[0].faults.entries == 1078 and .recordings[1].faults.entries == 1154' \
		"$tmp/out" >/dev/null || wrong "$ran: not both and their total"
	run report "$tmp/empty" "$a" "$tmp/bad" "$b"
	exits 2
	[ "$(wc -l <"$tmp/err")" = 2 ] || wrong "$ran: not one line a bad file"
	grep -q "^total of 3 recordings" "$tmp/out" || wrong "$ran: no total"
	[ "$(grep -c '^  damaged at byte' "$tmp/out")" -ge 1 ] || wrong "$ran: no damage in the text"
	good report -F json "$a" "$b"
	run report "$tmp/empty" "$tmp/none"
	exits 2
	prints_nothing
}

test_default_file() {
	local command

	for command in report folios; do
		run "$command"
		exits 2
		one_line
		says "trace.dat: No such file or directory"
	done
	cp "$lab" "$tmp/trace.dat"
	for command in report folios; do
		good "$command" "$tmp/trace.dat"
		mv "$tmp/out" "$tmp/named"
		(cd "$tmp" && "$FAULT_ANALYZE" "$command") >"$tmp/out" 2>"$tmp/err" ||
			wrong "$command without a file fails in a folder with trace.dat"
		sed -i "s,$tmp/,," "$tmp/named"
		cmp -s "$tmp/out" "$tmp/named" || wrong "$command: not trace.dat's report"
	done
}

# report's own JSON beside the recording, and a manifest
test_manifest() {
	local at=$tmp/with

	cp "$lab" "$at"
	(cd "$tmp" && "$FAULT_ANALYZE" report -F json with >with.json 2>"$tmp/err") ||
		wrong "report -F json FILE >FILE.json fails: $(cat "$tmp/err")"
	good report -F json "$at"
	jq -e '.recordings[0].exact == false' "$tmp/out" >/dev/null || wrong "$ran: exact"
	echo '{ "schema": "fault-analyze-manifest/1", "exact": true }' >"$at.json"
	good report -F json "$at"
	jq -e '.recordings[0].exact == true' "$tmp/out" >/dev/null || wrong "$ran: not exact"
	echo '{ "schema": null }' >"$at.json"
	good report "$at"
	echo '{ "schema": ' >"$at.json"
	reported "$at"
	says "the manifest is left out (does not parse): with.json"
	run report -F tsv -o class,faults "$at"
	exits 2
	mv "$tmp/out" "$tmp/rows"
	rm "$at.json"
	good report -F tsv -o class,faults "$at"
	cmp -s "$tmp/rows" "$tmp/out" || wrong "$ran: other faults than beside a manifest that does not parse"
	echo '{ "schema": ' >"$at.json"
	run compare "${lab/2m-pmd/64k}" "$at"
	exits 3
	says "$at: offset 0: the manifest is left out"
	says "$at is damaged"
	run replay --policy none "$at"
	exits 2
	one_line
	[ -s "$tmp/out" ] || wrong "$ran: predicts nothing"
	# as is one that nobody may read
	echo '{ "schema": null }' >"$at.json"
	chmod 000 "$at.json"
	unprivileged || return
	run report "$at"
	exits 2
	one_line
	says "the manifest is left out (Permission denied): with.json"
}

make_files >"$tmp/made" || { cat "$tmp/made"; exit 1; }
run_tests
