#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes a folder with Debian's libraries for 32-bit x86, to build against and to run on, and prints its path.
#
# usage: i386-root.sh
#
# apt fetches and verifies them, of the release that this machine runs, under a configuration of its own in
# the cache; nothing else on the machine changes and no root is needed. A folder that is not what was
# unpacked is made anew.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=scripts/apt.sh
. "$(dirname "$0")/apt.sh"

packages='libc6-dev libgcc-12-dev libsmartcols-dev libjson-c-dev libzstd-dev zlib1g-dev libtracefs-dev
	libtraceevent-dev libtracecmd-dev libcmocka-dev'
dir=$cache_dir/i386
root=$dir/root

listing() {
	echo "$packages"
	(cd "$root" && find . -printf '%p %s %l\n' | LC_ALL=C sort)
}

fetch() {
	local codename deb

	# shellcheck source=/dev/null
	codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	[ -n "$codename" ] || die 'no VERSION_CODENAME in /etc/os-release: the 32-bit build needs Debian'
	rm -rf "$dir/apt" "$root"
	private_apt "$dir/apt"
	apt_opts+=(-o APT::Architecture=i386 -o APT::Architectures=i386 -o Dir::State::status=/dev/null)
	write_sources "$codename" "$codename $codename-updates $codename-security" >"$dir/apt/sources.list"
	say "fetching i386 packages (log: $dir/log)"
	{
		apt-get "${apt_opts[@]}" update || echo 'i386-root.sh: update incomplete'
		# shellcheck disable=SC2086 # words
		apt-get "${apt_opts[@]}" install -y --download-only --no-install-recommends $packages
	} >"$dir/log" 2>&1 || die "apt cannot fetch them: see $dir/log"
	mkdir -p "$root"
	for deb in "$dir"/apt/archives/*.deb; do
		dpkg -x "$deb" "$root"
	done
	rm -rf "$dir/apt"
	listing >"$dir/stamp"
}

need apt-get apt
need dpkg dpkg
lock "$dir.lock"
mkdir -p "$dir"
{ [ -d "$root" ] && listing | cmp -s - "$dir/stamp"; } || fetch
echo "$root"
