#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What make install puts where: a program that finds its plot scripts, a manual page and completion that know
# every command; and that make uninstall takes all of it away.
set -uo pipefail
# shellcheck source=analyzer/tests/judge.sh
. "$(dirname "$0")/judge.sh"

# of the program that is tested, as it is
make_it() {
	env -u MAKEFLAGS -u MAKELEVEL make -s -o all "$1" BUILD="$tmp/build" PROGRAM="$FAULT_ANALYZE" \
		OUT="$(dirname "$FAULT_ANALYZE")" DESTDIR="$tmp/root" PREFIX=/usr >"$tmp/made" 2>&1 ||
		wrong "make $1 fails: $(head -c 400 "$tmp/made")"
}

# the commands that --help lists
commands() {
	"$FAULT_ANALYZE" --help | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p'
}

test_install() {
	local page=$tmp/root/usr/share/man/man1/fault-analyze.1 command

	make_it install
	cmp -s "$FAULT_ANALYZE" "$tmp/root/usr/bin/fault-analyze" || wrong 'another program is installed'
	cmp -s plots/sweep.gp "$tmp/root/usr/share/fault-analyze/plots/sweep.gp" || wrong 'no plot scripts'
	[ "$(commands | wc -l)" -ge 8 ] || wrong "--help lists $(commands | wc -l) commands"
	for command in $(commands); do
		grep -qx ".B $command" "$page" || wrong "the page has no $command"
	done
	grep -q '^0 good; 1 usage; 2 ' "$page" || wrong 'the page has no exit codes'
	if command -v man >/dev/null; then
		LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -l "$page" >"$tmp/page" 2>"$tmp/err" || wrong 'man cannot show the page'
		[ ! -s "$tmp/err" ] || wrong "man says of the page: $(head -c 400 "$tmp/err")"
	fi
	make_it uninstall
	[ -z "$(find "$tmp/root" ! -type d)" ] || wrong "uninstall leaves $(find "$tmp/root" ! -type d)"
}

# completes WORD...: what bash would propose for the last of them
completes() {
	COMP_WORDS=("$FAULT_ANALYZE" "$@") COMP_CWORD=$#
	_fault_analyze "$FAULT_ANALYZE" "${@: -1}" "${@: -2:1}"
	echo "${COMPREPLY[*]}"
}

test_completion() {
	# shellcheck source=scripts/bash-completion
	. scripts/bash-completion
	[ "$(completes re)" = 'report replay record' ] || wrong "re is $(completes re)"
	[ "$(completes '' | wc -w)" = "$(commands | wc -l)" ] || wrong "a command is one of $(completes '')"
	[ "$(completes compare --c)" = '--commit-message --comm --cpu --class' ] ||
		wrong "compare --c is $(completes compare --c)"
	[ "$(completes record --pr)" = '--preset --print' ] || wrong "record --pr is $(completes record --pr)"
	[ -z "$(completes report tr)" ] || wrong 'a file is taken for a word of its own'
}

run_tests
