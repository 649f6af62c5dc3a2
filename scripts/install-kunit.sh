#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Installs the KUnit suite folio_batch into a kernel tree, or removes it again byte for byte.
#
# usage: scripts/install-kunit.sh TREE [--remove]
#
# The tree gets eight files in mm/tests and one line each in mm/Makefile and mm/Kconfig.debug. Installing
# again updates the files; a file whose content does not change keeps its time, so nothing is rebuilt.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/lib.sh
. "$here/lib.sh"
kunit=$here/../kunit

# What goes where: "file in kunit/:file in mm/tests".
files=(folio_batch_kunit.c:folio_batch_kunit.c folio_batch_reuse_kunit.c:folio_batch_reuse_kunit.c
	folio_batch_copy_kunit.c:folio_batch_copy_kunit.c folio_batch_patches.h:folio_batch_patches.h
	folio_batch_live.h:folio_batch_live.h batch_cases.h:batch_cases.h
	Kconfig:Kconfig.folio_batch tree.kunitconfig:.kunitconfig)
kconfig_line='source "mm/tests/Kconfig.folio_batch"'
# shellcheck disable=SC2016 # make expands it
makefile_line='obj-$(CONFIG_FOLIO_BATCH_KUNIT_TEST) += tests/folio_batch_kunit.o tests/folio_batch_reuse_kunit.o tests/folio_batch_copy_kunit.o'

has_line() {
	grep -qxF -- "$2" "$1"
}

# Rewrites file $1 as what the remaining command prints of it. By rename: the file may be a hard link.
rewrite() {
	local file=$1
	shift
	cp -p "$file" "$file.folio_batch"
	"$@" "$file" >"$file.folio_batch"
	mv "$file.folio_batch" "$file"
}

append_line() {
	has_line "$1" "$2" || rewrite "$1" sed "\$a\\
${2//\\/\\\\}"
}

remove_line() {
	! has_line "$1" "$2" || rewrite "$1" grep -vxF -- "$2"
}

# Ours, or nobody's: the tree must not define the option or the suite in any other place.
refuse_other_suite() {
	local other
	installed && return
	other=$(grep -rlE 'config FOLIO_BATCH_KUNIT_TEST|\.name = "folio_batch"' --include='*.c' --include='Kconfig*' \
		"$tree/mm" "$tree/lib" | head -1 || true)
	[ -z "$other" ] || die "$other already has a suite folio_batch: remove it, or use that one"
	for pair in "${files[@]}"; do
		[ ! -e "$tree/mm/tests/${pair#*:}" ] ||
			die "$tree/mm/tests/${pair#*:} is there already and not ours: move it away"
	done
}

installed() {
	has_line "$tree/mm/Kconfig.debug" "$kconfig_line"
}

install_suite() {
	refuse_other_suite
	mkdir -p "$tree/mm/tests"
	append_line "$tree/mm/Kconfig.debug" "$kconfig_line"
	append_line "$tree/mm/Makefile" "$makefile_line"
	for pair in "${files[@]}"; do
		cmp -s "$kunit/${pair%:*}" "$tree/mm/tests/${pair#*:}" ||
			cp --remove-destination "$kunit/${pair%:*}" "$tree/mm/tests/${pair#*:}"
	done
}

remove_suite() {
	installed || die "$tree has no folio_batch suite that this script installed"
	for pair in "${files[@]}"; do
		rm -f "$tree/mm/tests/${pair#*:}"
	done
	rmdir --ignore-fail-on-non-empty "$tree/mm/tests"
	remove_line "$tree/mm/Makefile" "$makefile_line"
	remove_line "$tree/mm/Kconfig.debug" "$kconfig_line"
}

case $#:${2:-} in
1:) action=install_suite ;;
2:--remove) action=remove_suite ;;
*) die 'usage: install-kunit.sh TREE [--remove]' ;;
esac
tree=$1
for file in mm/Makefile mm/Kconfig.debug tools/testing/kunit/kunit.py; do
	[ -f "$tree/$file" ] || die "$tree is no kernel tree with KUnit (no $file): give the top of a kernel source"
done
[ -f "$kunit/folio_batch_kunit.c" ] || die "no $kunit/folio_batch_kunit.c: run this from a whole checkout"
$action
