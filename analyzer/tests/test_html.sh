#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Opens the pages of report --html and compare --html in a browser without a screen, and compares
# every figure of their tables with the JSON of the same command.
set -euo pipefail

program=${FAULT_ANALYZE:?names the program}
one=traces/lab/x86_64-reuse-64k.dat
other=traces/lab/x86_64-cow-64k.dat
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
passed=0 failed=0

if ! command -v chromium >/dev/null; then
	echo '[  SKIPPED ] test_html: chromium is not installed'
	echo '[  SKIPPED ] 1 test(s).'
	exit 0
fi

browse() {
	HOME=$dir timeout 120 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
		--virtual-time-budget=5000 "$@" 2>"$dir/browser.log"
}

# page_figures PAGE: "row key value" of each cell, as the browser has understood them
page_figures() {
	browse --dump-dom "file://$1" >"$1.dom"
	grep -o '<tr>.*' "$1.dom" | awk '/data-key=/ {
		row++
		while (match($0, /data-key="[^"]*" data-value="[^"]*"/)) {
			split(substr($0, RSTART, RLENGTH), part, "\"")
			print row, part[2], part[4]
			$0 = substr($0, RSTART + RLENGTH)
		}
	}'
}

# json_figures ROWS FIGURES <JSON: the same of the rows that the jq filter ROWS gives, for the keys
# in FIGURES
json_figures() {
	jq -r "[$1] | to_entries[] | \"\(.key + 1) \(.value | tojson)\"" |
	while read -r row json; do
		awk -v row="$row" '$1 == row { print $2 }' "$2" |
			jq -rR --argjson json "$json" --arg row "$row" '. as $key |
				($json | getpath($key / ".")) as $v |
				"\($row) \($key) \(if $v == null then "n/a" elif $v == true then "yes"
				elif $v == false then "no" else $v end)"'
	done
}

# same A B: two lists of figures agree, numbers to 12 digits
same() {
	[ -s "$1" ] && [ "$(wc -l <"$1")" -eq "$(wc -l <"$2")" ] &&
	paste -d ' ' "$1" "$2" | awk '
		function far(a, b) { return (a - b) ^ 2 > (1e-12 * b) ^ 2 }
		$1 != $4 || $2 != $5 ||
		($3 != $6 && ($3 !~ /^[-0-9.e+]+$/ || far($3, $6))) { print; bad = 1 }
		END { exit bad }'
}

# ok NAME COMMAND...: one test
ok() {
	local name=$1
	shift
	if "$@"; then
		echo "[       OK ] $name"
		passed=$((passed + 1))
	else
		echo "[  FAILED  ] $name"
		failed=$((failed + 1))
	fi
}

report_tables() {
	"$program" report --html "$dir/report.html" "$one" "$other"
	page_figures "$dir/report.html" | grep -v ' folio_bytes ' >"$dir/page"
	"$program" report -F json "$one" "$other" |
		json_figures '.recordings[].classes[], .classes[]' "$dir/page" >"$dir/json"
	[ "$(wc -l <"$dir/page")" -gt 500 ] && same "$dir/page" "$dir/json"
}

compare_tables() {
	"$program" compare --html "$dir/compare.html" "$one" "$other"
	# these stand in the JSON as pairs, or not at all
	page_figures "$dir/compare.html" | grep -Ev ' (ci95_low|ci95_high|runs_before|runs_after)' \
		>"$dir/page"
	"$program" compare -F json "$one" "$other" |
		json_figures '.rows[]' "$dir/page" >"$dir/json"
	[ "$(wc -l <"$dir/page")" -gt 500 ] && same "$dir/page" "$dir/json"
}

# Nothing is fetched from elsewhere, nothing runs, and it says how wide a phone is.
self_contained() {
	local page
	for page in report compare; do
		! grep -Eq '<script|<link|https?://|(src|href)="[^d]' "$dir/$page.html" &&
			grep -q 'name="viewport"' "$dir/$page.html" || return 1
	done
}

# The browser has decoded each of the eight pictures.
pictures() {
	local page
	for page in report compare; do
		sed 's|</body>|<script>onload = () => document.title = Array.from(document.images).filter(i => i.naturalWidth).length + " drawn"</script></body>|' \
			"$dir/$page.html" >"$dir/$page-counted.html"
		browse --dump-dom "file://$dir/$page-counted.html" >"$dir/dom" &&
			grep -q '<title>8 drawn</title>' "$dir/dom" || return 1
	done
}

# On a phone nothing is wider than the screen but what scrolls by itself: tables and pictures. The table of a
# comparison, 72 columns of text, need not.
fits_a_phone() {
	local page width
	for page in report compare; do
		sed 's|</body>|<script>onload = () => document.title = [document.documentElement, ...document.querySelectorAll("pre")].slice(0, 2).map(e => e.scrollWidth <= innerWidth \&\& e.scrollWidth <= e.clientWidth + 1).join()</script></body>|' \
			"$dir/$page.html" >"$dir/phone.html"
		[ $page = compare ] && width='true,true' || width='true,'
		browse --window-size=390,800 --dump-dom "file://$dir/phone.html" >"$dir/dom" &&
			grep -q "<title>$width" "$dir/dom" || return 1
	done
}

# On paper pictures stand two in a row: a comparison takes a few pages, not one for each.
prints() {
	browse --print-to-pdf="$dir/page.pdf" "file://$dir/compare.html"
	local nr
	nr=$(grep -ac "/Type */Page\\b" "$dir/page.pdf")
	[ "$nr" -ge 2 ] && [ "$nr" -le 8 ]
}

# A page that cannot be written leaves nothing, and one line.
nothing_half_written() {
	local status=0
	mkdir "$dir/gone"
	"$program" report --html "$dir/gone/no/page.html" "$one" 2>"$dir/err" || status=$?
	[ "$status" -eq 2 ] && [ "$(wc -l <"$dir/err")" -eq 1 ] || return 1
	[ -z "$(ls "$dir/gone")" ]
}

ok report_tables report_tables
ok compare_tables compare_tables
ok self_contained self_contained
ok pictures pictures
ok fits_a_phone fits_a_phone
ok prints prints
ok nothing_half_written nothing_half_written
echo "[  PASSED  ] $passed test(s)."
[ "$failed" -eq 0 ] || { echo "[  FAILED  ] $failed test(s)."; exit 1; }
