#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds a kernel of the lab, 7.3 in the latency configuration, and prints the path of its image.
#
# usage: scripts/lab-kernel.sh x86_64|arm64 plain|patched|kprobes
#
# patched has the changes of kunit/patches/7.3; kprobes is plain without fprobe events. All are built in one tree
# an architecture, which stays in the cache: sources are copied to it where their content differs, so that going
# from one to the other compiles what differs. Beside it SIDE.image and SIDE.manifest.json, which says what the
# image was made of: while that is unchanged, and so is the image, nothing is built. log has all that make said.
# JOBS compile jobs (the CPUs).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/lib.sh
. "$here/lib.sh"

kver=7.3
patches=$here/../kunit/patches/$kver
build_minutes=90

# The kernel's make in the tree; the same words in every build of the same sources.
kmake() {
	local cross=()
	[ "$arch" = x86_64 ] || cross=(CROSS_COMPILE=aarch64-linux-gnu-)
	make -C "$tree" ARCH="$arch" "${cross[@]}" KBUILD_BUILD_USER=lab KBUILD_BUILD_HOST=lab \
		KBUILD_BUILD_TIMESTAMP='1970-01-01 UTC' KBUILD_BUILD_VERSION=1 "$@"
}

# Brings $tree to the wanted sources. A file whose content differs is replaced and gets the present time, which
# make needs; the others keep theirs. Files that a patch adds stay when it goes: no Makefile names them then.
make_tree() {
	local pristine sources=$lab/sources-$side
	pristine=$("$here/kernel-source.sh" "$kver")
	rm -rf "$sources"
	mkdir -p "$lab"
	rsync -a --link-dest="$pristine/" "$pristine/" "$sources/"
	[ "$side" != patched ] || "$here/apply-patches.sh" "$sources" >&2
	if [ -d "$tree" ]; then
		rsync -rlpc "$sources/" "$tree/"
	else
		rsync -a --link-dest="$sources/" "$sources/" "$tree.new/"
		mv "$tree.new" "$tree"
	fi
}

# The configuration that is wanted, as lines of a .config.
wanted_config() {
	local change=
	[ "$side" != kprobes ] || change='s/^\(CONFIG_FPROBE_EVENTS\)=y/# \1 is not set/'
	sed "$change" "$here/lab/lab.config" "$here/lab/$arch.config"
}

# A checksum over all that decides what the image becomes.
inputs() {
	{
		cat "$cache_dir/src/linux-$kver.stamp"
		wanted_config
		[ "$side" != patched ] || cat "$patches"/*.patch
		"$compiler" --version
	} | sha256sum | cut -d' ' -f1
}

image_is_current() {
	local manifest=$lab/$side.manifest.json
	[ -f "$image" ] && [ -f "$manifest" ] && [ -f "$cache_dir/src/linux-$kver.stamp" ] &&
		[ "$(jq -r '.inputs_sha256 + .image_sha256' "$manifest")" = "$(inputs)$(sha256sum <"$image" | cut -d' ' -f1)" ]
}

configure() {
	local line
	wanted_config >"$tree/.lab.config"
	kmake -s tinyconfig
	(cd "$tree" && ./scripts/kconfig/merge_config.sh -m .config .lab.config) >/dev/null
	kmake -s olddefconfig
	while read -r line; do
		case $line in
		CONFIG_*) grep -qxF "$line" "$tree/.config" || die "the configuration has no $line" ;;
		'# CONFIG_'*' is not set')
			line=${line#\# }
			! grep -q "^${line%% *}=" "$tree/.config" || die "the configuration has ${line%% *}"
			;;
		esac
	done <"$tree/.lab.config"
}

# What was built: the patch files by name and checksum, the configuration by its checksum.
write_manifest() {
	jq -n --arg kernel "$(kmake -s kernelrelease)" --arg arch "$arch" --arg side "$side" \
		--arg source "$(sed -n 's/^package //p' "$cache_dir/src/linux-$kver.stamp")" \
		--arg config_sha256 "$(grep -v '^#' "$tree/.config" | sha256sum | cut -d' ' -f1)" \
		--arg compiler "$(sed -n 's/^CONFIG_CC_VERSION_TEXT="\(.*\)"/\1/p' "$tree/.config")" \
		--arg inputs_sha256 "$(inputs)" --arg image_sha256 "$(sha256sum <"$image" | cut -d' ' -f1)" \
		--argjson patches "$(patch_list)" \
		'{kernel: $kernel, arch: $arch, side: $side, source: $source, patches: $patches, compiler: $compiler,
		  config_sha256: $config_sha256, inputs_sha256: $inputs_sha256, image_sha256: $image_sha256}' \
		>"$lab/manifest.new"
	mv "$lab/manifest.new" "$lab/$side.manifest.json"
}

patch_list() {
	[ "$side" = patched ] || { echo '[]'; return; }
	(cd "$patches" && sha256sum -- *.patch) | jq -Rn '[inputs | split("  ") | {file: .[1], sha256: .[0]}]'
}

build() {
	make_tree
	(configure) >"$lab/log" 2>&1 || die "cannot configure: $(tail -n 1 "$lab/log")"
	say "building $arch $side (log: $lab/log)"
	export -f kmake
	export arch tree
	limited "$build_minutes" bash -c "kmake -j${JOBS:-$(nproc)} ${target##*/}" >>"$lab/log" 2>&1 ||
		die "the kernel does not build: see $lab/log"
	cp "$tree/$target" "$image.new"
	mv "$image.new" "$image"
	write_manifest
}

main() {
	arch=${1:-} side=${2:-}
	[[ $# = 2 && $arch =~ ^(x86_64|arm64)$ && $side =~ ^(plain|patched|kprobes)$ ]] ||
		die 'usage: lab-kernel.sh x86_64|arm64 plain|patched|kprobes'
	[ "$side" != patched ] || compgen -G "$patches/*.patch" >/dev/null || die "no patches in $patches"
	"$here/deps.sh" kunit test lab >&2
	unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES KBUILD_OUTPUT
	lab=$cache_dir/lab/$kver/$arch
	tree=$lab/tree
	image=$lab/$side.image
	target=arch/x86/boot/bzImage compiler=gcc
	[ "$arch" = x86_64 ] || target=arch/arm64/boot/Image compiler=aarch64-linux-gnu-gcc
	if ! image_is_current; then
		lock "$lab.lock"
		image_is_current || build
	fi
	echo "$image"
}

main "$@"
