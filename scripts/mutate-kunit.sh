#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Shows that the KUnit suite folio_batch is a test: plants bugs, one a boot, and expects each to be found.
#
# usage: [LIST=linux-7.3|patches-7.3] scripts/mutate-kunit.sh [NUMBER...]
#
# kunit/mutants/LIST.mutants lists the bugs: of Linux as it is, or with the candidate changes of kunit/patches.
# All go into one scratch copy of the kernel, each behind "folio_batch_mutant == N", a boot parameter, so an
# architecture is built once and a mutant costs one boot. Each architecture must first pass with no mutant.
# build/kunit/mutants/LIST.md gets the table: a mutant is killed by the first case that failed, or by what the
# kernel said; a run that ends without either is none. Where NUMBERs are given, the other rows stay as they are.
# Exit 1 when one survives that kunit/mutants/LIST.equivalent does not explain.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/lib.sh
. "$here/lib.sh"
export LIST=${LIST:-linux-7.3}
mutants=$here/../kunit/mutants/$LIST.mutants
equivalent=$here/../kunit/mutants/$LIST.equivalent
out=$here/../build/kunit/mutants/$LIST
minutes=10
export KVER=7.3 CONFIG=correctness
case $LIST in
linux-7.3) export TREE=7.3-mutants ;;
patches-7.3) export TREE=7.3-patched-mutants FILTER='folio_batch_patches*' QEMU_ARGS='-smp 2 -cpu max' ;;
*) die "no list $LIST: linux-7.3 or patches-7.3" ;;
esac

# Lines "NUMBER ARCH FILE WHAT", one a mutant.
list() {
	awk '$1 == "mutant" { arch = $2; sub(/^mutant [^ ]+ /, ""); what = $0; number++; new = 1 }
	     $1 == "in" && new { print number, arch, $2, what; new = 0 }' "$mutants"
}

# Writes the files that the mutants change, as they read with all mutants in, below the folder $2.
plant() {
	awk -v tree="$1" -v out="$2" '
		function fatal(text) { print FILENAME ":" FNR ": " text > "/dev/stderr"; failed = 1; exit 1 }
		function trim(s) { sub(/^[ \t]+/, "", s); return s }
		function load(	line) {
			if (file in size) return
			while ((getline line < (tree "/" file)) > 0) text[file, ++size[file]] = line
			if (!size[file]) fatal("no " file)
		}
		# The index of the hunk in its function, 0 where it is not found.
		function find(	i, head, body, behind) {
			for (i = 1; i <= size[file]; i++) {
				if (!head && text[file, i] ~ "^[a-z_].*" && match(text[file, i], "(^|[ *])" name "\\("))
					head = 1
				if (!head) continue
				if (!body && text[file, i] ~ /;$/) head = 0
				if (text[file, i] == "{") body = 1
				if (text[file, i] == "}") { head = body = behind = 0; continue }
				if (!body) continue
				if (skip != "" && !behind) { behind = trim(text[file, i]) == skip; continue }
				if (trim(text[file, i]) == old) return i
			}
			return 0
		}
		function hunk(	at, i, indent, line) {
			if (old == "") return
			if (!(at = find())) fatal("mutant " number ": " file ", " name "(): no line: " old)
			indent = text[file, at]
			sub(/[^ \t].*/, "", indent)
			for (i = size[file]; i > at; i--) text[file, i + added - 1] = text[file, i]
			for (i = 1; i <= added; i++) {
				line = fresh[i]
				gsub(/MUTANT/, "(folio_batch_mutant == " number ")", line)
				text[file, at + i - 1] = indent line
			}
			size[file] += added - 1
			old = ""
		}
		/^#/ || /^$/ { next }
		$1 == "mutant" { hunk(); number++; skip = ""; next }
		$1 == "in" { hunk(); file = $2; name = $3; load(); next }
		/^@ / { skip = substr($0, 3); next }
		/^- / { hunk(); old = substr($0, 3); added = 0; next }
		/^\+ / { fresh[++added] = substr($0, 3); next }
		{ fatal("not understood: " $0) }
		END {
			if (failed) exit 1
			hunk()
			for (file in size)
				for (i = 1; i <= size[file]; i++)
					print text[file, i] > (out "/" file)
		}' "$mutants"
}

# Changes the kernel tree $1; what does not change from run to run keeps its time, so nothing is rebuilt.
patch_tree() {
	local tree=$1 saved=${1%/tree}/mutated fresh file
	[ "$LIST" = linux-7.3 ] || "$here/apply-patches.sh" "$tree"
	fresh=$(mktemp -d)
	while read -r file; do
		mkdir -p "$fresh/$(dirname "$file")"
	done < <(awk '$1 == "in" { print $2 }' "$mutants")
	plant "$tree" "$fresh" || die "the mutants do not fit $tree"
	mkdir -p "$fresh/include/linux" "$fresh/mm"
	sed '/^#endif .*__ASSEMBLY__/i extern int folio_batch_mutant;' "$tree/include/linux/types.h" \
		>"$fresh/include/linux/types.h"
	[ -f "$fresh/mm/util.c" ] || cp "$tree/mm/util.c" "$fresh/mm/util.c"
	cat >>"$fresh/mm/util.c" <<-'EOF'

		#include <linux/moduleparam.h>
		int folio_batch_mutant;
		core_param(folio_batch_mutant, folio_batch_mutant, int, 0444);
	EOF
	(cd "$fresh" && find . -type f) | while read -r file; do
		mkdir -p "$saved/$(dirname "$file")"
		cmp -s "$fresh/$file" "$saved/$file" || cp "$fresh/$file" "$saved/$file"
		cp -p --remove-destination "$saved/$file" "$tree/$file"
	done
	rm -rf "$fresh"
}

# What killed the mutant of the run in folder $1: the first failed case, else the kernel's first complaint.
killer() {
	local what
	grep -q '# Subtest: folio_batch' "$1"/*.ktap || { echo 'NOT RUN: the kernel does not reach the suite'; return; }
	what=$(sed -nE -e 's/^ *# ([a-z0-9_]+): (EXPECTATION|ASSERTION) FAILED.*/\1/p' \
		-e 's/^ {4}not ok [0-9]+ ([a-z0-9_]+).*/\1/p' "$1"/*.ktap | head -1)
	[ -n "$what" ] || what=$(grep -ohE '(WARNING|BUG|Oops|Kernel panic|Internal error|Unable to handle)[^#]{0,60}' \
		"$1"/*.ktap | head -1 | sed 's/^/kernel: /')
	echo "${what:-NOT RUN: no verdict in $minutes minutes, see $1}"
}

# Boots mutant $2 on $1; the rest of the table's row on stdout.
try_mutant() {
	local arch=$1 number=$2 where=$out/$2
	rm -rf "$where"
	mkdir -p "$where"
	if ARCH=$arch STEP=run OUT=$where MINUTES=$minutes STOP=1 SPEED='speed>slow' ARGS="folio_batch_mutant=$number oops=panic" \
		"$here/kunit.sh" >"$where/log" 2>&1; then
		sed -n "s/^$number: /survives, equivalent: /p" "$equivalent" | grep . || echo 'SURVIVES'
	else
		killer "$where"
	fi
}

# All wanted mutants of one architecture, after a run without any.
try_arch() {
	local arch=$1 number file what result mine
	mine=$(list | awk -v arch="$arch" -v wanted="^($wanted)$" '$2 == arch && $1 ~ wanted')
	[ -n "$mine" ] || return 0
	ARCH=$arch STEP=build PATCH=$0 OUT=$out "$here/kunit.sh" >"$out/$arch.log" 2>&1 || die "$(tail -1 "$out/$arch.log")"
	ARCH=$arch STEP=run OUT=$out SPEED='speed>slow' "$here/kunit.sh" >>"$out/$arch.log" 2>&1 ||
		die "$arch fails without a mutant: $(tail -1 "$out/$arch.log")"
	while read -r number _ file what; do
		result=$(try_mutant "$arch" "$number")
		say "$number $arch: $result"
		echo "| $number | $arch | $file | $what | $result |" >"$out/$number.row"
	done <<<"$mine"
}

main() {
	local arch jobs=() job status=0
	if [ $# = 1 ] && [ -d "$1" ]; then
		patch_tree "$1"
		return
	fi
	wanted=$(IFS='|' && echo "${*:-[0-9]+}")
	mkdir -p "$out"
	out=$(cd "$out" && pwd)
	[ $# -gt 0 ] || rm -f "$out"/*.row
	for arch in um x86_64 arm64; do
		try_arch "$arch" &
		jobs+=($!)
	done
	for job in "${jobs[@]}"; do
		wait "$job" || status=1
	done
	{
		echo '| # | ran on | file | planted bug | killed by |'
		echo '| --- | --- | --- | --- | --- |'
		cat "$out"/*.row | sort -t'|' -k2n
	} >"$out.md"
	[ $# -gt 0 ] || [ "$(grep -c '^| [0-9]' "$out.md")" = "$(list | wc -l)" ] || status=1
	[ "$status" = 0 ] || die "not all mutants were tried: see $out"
	say "$(grep -c '^| [0-9]' "$out.md") mutants, $(grep -c 'SURVIVES' "$out.md" || true) survive: $out.md"
	! grep -qE 'SURVIVES|NOT RUN' "$out.md" || exit 1
}

main "$@"
