# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What every script here needs: the cache folder, a one-line death, a lock. Sourced, never run.

# shellcheck disable=SC2034 # used where this file is sourced
cache_dir=${XDG_CACHE_HOME:-$HOME/.cache}/fault-analyze

# die MESSAGE: one line on stderr that says what is wrong and what to do, then exit 1.
die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# say MESSAGE: progress, on stderr.
say() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
}

# need COMMAND PACKAGE: dies when COMMAND is missing and names the Debian package that has it.
need() {
	command -v "$1" >/dev/null || die "no $1: apt-get install $2"
}

# lock FILE: holds FILE exclusively until this shell, or subshell, ends; waits for another holder and says so.
lock() {
	local fd
	mkdir -p "$(dirname "$1")"
	exec {fd}>"$1"
	flock -n "$fd" || { say "waiting for another run that holds $1"; flock "$fd"; }
}

# limited MINUTES COMMAND...: as timeout, but an interrupt of this script ends the command's children as well.
limited() {
	local minutes=$1 status=0
	shift
	timeout -k 10 "${minutes}m" "$@" &
	trap 'kill $!' INT TERM
	wait $! || status=$?
	trap - INT TERM
	return $status
}
