#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Fetches a Debian kernel source into the cache and prints the path of its pristine tree.
#
# usage: scripts/kernel-source.sh 7.3|6.12
#
# apt finds, downloads and verifies linux-source-VERSION under a configuration of its own in the cache;
# nothing outside the cache changes and no root is needed. Beside the tree lies a stamp, written last: the
# package as apt verified it and a checksum over the tree's listing (path, size, time of change). A tree
# whose stamp is missing or differs is fetched again.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=scripts/apt.sh
. "$(dirname "$0")/apt.sh"

# Suites to look in, given the release's code name: its own, or the backports that carry a newer kernel.
suites_of() {
	case $1 in
	7.3) echo 'trixie-backports' ;;
	6.12) echo "$2 $2-updates $2-security $2-backports" ;;
	esac
}

# One line a file, path, size and time: what a stamp vouches for.
listing_sum() {
	(cd "$1" && find . -printf '%P %s %T@ %y\n' | LC_ALL=C sort | sha256sum | cut -d' ' -f1)
}

tree_is_whole() {
	[ -f "$stamp" ] && [ -f "$tree/Makefile" ] &&
		[ "$(sed -n 's/^listing //p' "$stamp")" = "$(listing_sum "$tree")" ]
}

fetch() {
	local version=$1 package=linux-source-$1 codename apt=$cache_dir/apt/$1 new=$tree.new deb
	# shellcheck source=/dev/null
	codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	[ -n "$codename" ] || die "no VERSION_CODENAME in /etc/os-release: give a kernel tree with KSRC=dir"
	private_apt "$apt"
	write_sources "$codename" "$(suites_of "$version" "$codename")" >"$apt/sources.list"
	[ -s "$apt/sources.list" ] || die "no Debian archive among apt's sources: give a kernel tree with KSRC=dir"

	say "fetching $package (log: $apt/log)"
	rm -f "$apt"/*.deb
	# One unreachable archive fails the update as a whole; the download decides.
	(
		cd "$apt"
		apt-get "${apt_opts[@]}" update || echo 'kernel-source.sh: update incomplete'
		apt-get "${apt_opts[@]}" download "$package"
	) >"$apt/log" 2>&1 || die "apt cannot fetch $package: see $apt/log, or give a kernel tree with KSRC=dir"
	deb=$(echo "$apt"/"$package"_*.deb)
	[ -f "$deb" ] || die "apt left no $package: see $apt/log"

	rm -rf "$stamp" "$tree" "$new"
	mkdir -p "$new"
	dpkg-deb --fsys-tarfile "$deb" | tar -xO "./usr/src/$package.tar.xz" | xz -dcT0 |
		tar -x -C "$new" --strip-components=1 --no-same-owner ||
		die "cannot unpack $deb into $new: is the disk full?"
	mv "$new" "$tree"
	{
		echo "package $(dpkg-deb -f "$deb" Package) $(dpkg-deb -f "$deb" Version)"
		echo "sha256 $(sha256sum "$deb" | cut -d' ' -f1)"
		echo "listing $(listing_sum "$tree")"
	} >"$stamp.new"
	mv "$stamp.new" "$stamp"
	rm -f "$deb"
}

main() {
	if [ $# -ne 1 ] || [ -z "$(suites_of "$1" release)" ]; then
		die 'usage: kernel-source.sh 7.3|6.12'
	fi
	need apt-get apt
	need dpkg-deb dpkg
	need xz xz-utils
	need flock util-linux
	tree=$cache_dir/src/linux-$1
	stamp=$tree.stamp
	lock "$tree.lock"
	tree_is_whole || fetch "$1"
	echo "$tree"
}

main "$@"
