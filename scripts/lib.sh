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

# write_sparse FILE: a sparse for the kernel's make CHECK=FILE. Released ones know neither __typeof_unqual__ (7.3's make
# then leaves it out with a mere warning) nor that the __builtin_strlen() of a literal is a constant (each
# MODULE_LICENSE() then is an error).
write_sparse() {
	mkdir -p "$(dirname "$1")"
	cat >"$1" <<-'EOT'
		#!/bin/sh
		exec sparse -D__typeof_unqual__=__typeof__ '-D__builtin_strlen(s)=(sizeof(s) - 1)' "$@"
	EOT
	chmod +x "$1"
}

# limited MINUTES COMMAND...: as timeout, but an interrupt of this script ends the command's children as well, by the
# signal LIMIT_SIGNAL (TERM).
limited() {
	local minutes=$1 status=0 signal=${LIMIT_SIGNAL:-TERM}
	shift
	timeout -s "$signal" -k 10 "${minutes}m" "$@" &
	trap 'kill -"$signal" $!' INT TERM
	wait $! || status=$?
	trap - INT TERM
	return $status
}

# wrap_kernel FILE PROGRAM ACCEL: FILE is to run PROGRAM, QEMU or UML, in its stead, with kunit.py's habits corrected:
# with ACCEL tcg it is not asked to try KVM, since kunit.py leaves no choice and a KVM that opens may still not run;
# where STOP is set it ends with the first failure.
wrap_kernel() {
	mkdir -p "$(dirname "$1")"
	cat >"$1" <<-EOF
		#!/bin/bash
		# Written by ${0##*/}; lib.sh says why.
		arguments=()
		for argument; do
			case \$argument:$3 in
			kvm:tcg | hvf:tcg) unset "arguments[-1]" ;;
			*) arguments+=("\$argument") ;;
			esac
		done
		[ -n "\${STOP:-}" ] || exec $2 "\${arguments[@]}"
		exec 3< <(exec $2 "\${arguments[@]}")
		trap "kill \$! 2>/dev/null && wait \$!" EXIT
		trap exit TERM
		sed -u '/^ *not ok /q' <&3 &
		wait \$!
	EOF
	chmod +x "$1"
}

# wrap_qemu MACHINE FOLDER ACCEL: puts a wrapped qemu-system-MACHINE, in FOLDER, first in PATH.
wrap_qemu() {
	wrap_kernel "$2/qemu-system-$1" "$(command -v "qemu-system-$1")" "$3"
	PATH=$2:$PATH
}
