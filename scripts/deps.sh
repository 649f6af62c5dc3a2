#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Installs what building and testing need and this machine lacks.
#
# usage: deps.sh [build|test|ci|kunit|lab]...     (default: build test)
#
# On Debian and its kin: says which packages, then installs them. Elsewhere: names them and stops.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

# what for | how to see that it is there | Debian | Fedora | Arch
table='
build|command gcc|gcc|gcc|gcc
build|command pkg-config|pkg-config|pkgconf-pkg-config|pkgconf
build|module smartcols|libsmartcols-dev|libsmartcols-devel|util-linux
build|module json-c|libjson-c-dev|json-c-devel|json-c
build|module libzstd|libzstd-dev|libzstd-devel|zstd
build|module zlib|zlib1g-dev|zlib-devel|zlib
test|module cmocka|libcmocka-dev|libcmocka-devel|cmocka
test|module libtracecmd|libtracecmd-dev|libtracecmd-devel|trace-cmd
test|module libtraceevent|libtraceevent-dev|libtraceevent-devel|libtraceevent
build|module libtracefs|libtracefs-dev|libtracefs-devel|libtracefs
test|command jq|jq|jq|jq
test|command gnuplot|gnuplot-nox|gnuplot|gnuplot
test|command script|bsdutils|util-linux|util-linux
test|command parallel|parallel|parallel|parallel
32|command i686-linux-gnu-gcc|gcc-i686-linux-gnu||
ci|command slurmctld|slurmctld|slurm-slurmctld|slurm-llnl
ci|command slurmd|slurmd|slurm-slurmd|slurm-llnl
ci|command sbatch|slurm-client|slurm|slurm-llnl
ci|command munged|munge|munge|munge
ci|command chromium|chromium|chromium|chromium
ci|command clang|clang|clang|clang
ci|command clang-format|clang-format|clang-tools-extra|clang
ci|command xz|xz-utils|xz|xz
ci|runtime fuzzer|libclang-rt-dev|compiler-rt|compiler-rt
kunit|command python3|python3|python3|python
kunit|command flex|flex|flex|flex
kunit|command bison|bison|bison|bison
kunit|command bc|bc|bc|bc
kunit|command rsync|rsync|rsync|rsync
kunit|command sparse|sparse|sparse|sparse
kunit|command xz|xz-utils|xz|xz
kunit|module libelf|libelf-dev|elfutils-libelf-devel|libelf
kunit|module openssl|libssl-dev|openssl-devel|openssl
kunit|command aarch64-linux-gnu-gcc|gcc-aarch64-linux-gnu|gcc-aarch64-linux-gnu|aarch64-linux-gnu-gcc
kunit|command qemu-system-x86_64|qemu-system-x86|qemu-system-x86-core|qemu-system-x86
kunit|command qemu-system-aarch64|qemu-system-arm|qemu-system-aarch64-core|qemu-system-aarch64
lab|command cpio|cpio|cpio|cpio
lab|command trace-cmd|trace-cmd|trace-cmd|trace-cmd
lab|command mkfs.xfs|xfsprogs|xfsprogs|xfsprogs
'

is_there() {
	case $1 in
	command\ *) PATH=$PATH:/usr/sbin command -v "${1#command }" >/dev/null ;;
	module\ *) pkg-config --exists "${1#module }" 2>/dev/null ;;
	runtime\ *) compgen -G "$(clang -print-resource-dir 2>/dev/null)/lib/*/*${1#runtime }*.a" >/dev/null ;;
	esac
}

# missing COLUMN: the packages of that column whose things are not there
missing() {
	local purpose check debian fedora arch
	while IFS='|' read -r purpose check debian fedora arch; do
		[[ -n $purpose && " ${wanted[*]} " == *" $purpose "* ]] || continue
		is_there "$check" || eval "echo \"\$$1\""
	done <<<"$table" | sort -u | xargs
}

wanted=("${@:-build}")
[ $# -gt 0 ] || wanted=(build test)
packages=$(missing debian)
[ -n "$packages" ] || exit 0

if ! command -v apt-get >/dev/null; then
	if command -v dnf >/dev/null; then
		die "missing packages; install them: dnf install $(missing fedora)"
	elif command -v pacman >/dev/null; then
		die "missing packages; install them: pacman -S $(missing arch)"
	fi
	die "missing packages, by their Debian names: $packages"
fi

sudo=
if [ "$(id -u)" -ne 0 ]; then
	command -v sudo >/dev/null || die "missing packages; as root: apt-get install $packages"
	sudo=sudo
fi
say "installing Debian packages: $packages"
$sudo apt-get update -qq
# shellcheck disable=SC2086 # a list of words
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq $packages >/dev/null ||
	die "apt-get could not install: $packages"
