#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Applies the candidate kernel changes of kunit/patches/ to a kernel tree, or removes them again byte for byte.
#
# usage: scripts/apply-patches.sh TREE [--remove]
#
# The tree's version chooses the folder. All patches change a copy of the files they name, without fuzz; only
# when the last one has applied does the tree change, by rename, since its files may be hard links. A tree
# that has them all already (or none, with --remove) is left as it is.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/lib.sh
. "$here/lib.sh"

# The files that patch $1 names; those it creates or deletes are named on one side only.
files_of() {
	sed -nE 's,^(---|\+\+\+) [ab]/([^\t]+).*,\2,p' "$1"
}

# Copies the files that the patches name from the tree to the empty folder $1.
copy_files() {
	local file
	for file in "${files[@]}"; do
		[ ! -f "$tree/$file" ] || cp -p --parents "$file" "$1"
	done
}

# Patches folder $1 with the patches forwards or, with -R as $2, backwards. Where one fails, $1.log says why.
try() {
	local name
	local order=("${patches[@]}")
	if [ "${2:-}" = -R ]; then
		mapfile -t order < <(printf '%s\n' "${patches[@]}" | tac)
	fi
	for name in "${order[@]}"; do
		patch -d "$1" -p1 -sfF0 --no-backup-if-mismatch -r - ${2:+"$2"} -i "$name" >"$1.log" 2>&1 || {
			sed -i "1i\\${name##*/}" "$1.log"
			return 1
		}
	done
}

# Makes the tree's files those of folder $1. A file that is not there is gone.
put_back() {
	local file
	for file in "${files[@]}"; do
		if [ ! -e "$1/$file" ]; then
			rm -f "$tree/$file"
		elif ! cmp -s "$1/$file" "$tree/$file"; then
			mkdir -p "$(dirname "$tree/$file")"
			cp --preserve=mode "$1/$file" "$tree/$file.patches"
			mv "$tree/$file.patches" "$tree/$file"
		fi
	done
}

main() {
	local wanted=() other=-R what=apply
	case $#:${2:-} in
	1:) ;;
	2:--remove) wanted=(-R) other='' what=remove ;;
	*) die 'usage: apply-patches.sh TREE [--remove]' ;;
	esac
	need patch patch
	[ -f "$1/mm/memory.c" ] || die "$1 is no kernel tree: give the top of a kernel source"
	tree=$(cd "$1" && pwd)
	version=$(sed -nE 's/^(VERSION|PATCHLEVEL) = ([0-9]+)$/\2/p' "$tree/Makefile" | paste -sd.)
	patches=("$here/../kunit/patches/$version"/*.patch)
	[ -f "${patches[0]}" ] || die "no patches for Linux $version: there are those for $(cd "$here/../kunit/patches" && ls -d [0-9]*)"
	mapfile -t files < <(for name in "${patches[@]}"; do files_of "$name"; done | sort -u)

	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	mkdir "$work/new" "$work/old"
	cd "$tree"
	copy_files "$work/new"
	copy_files "$work/old"
	if try "$work/new" "${wanted[@]}"; then
		put_back "$work/new"
	elif ! try "$work/old" "$other"; then
		die "cannot $what $(paste -sd' ' "$work/new.log"): give a tree with all of them or none"
	fi
}

main "$@"
