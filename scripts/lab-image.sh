#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes the lab guest's initramfs (busybox, trace-cmd, fault-workload, /init) and prints its path.
#
# usage: scripts/lab-image.sh x86_64|arm64
#
# Programs are Debian's own packages for that architecture, of the release that this machine runs; apt fetches
# and verifies them under a configuration of its own in the cache. versions beside the image lists them.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/lib.sh
. "$here/lib.sh"
# shellcheck source=scripts/apt.sh
. "$here/apt.sh"

packages=(busybox-static trace-cmd libtracefs1 libtraceevent1 libzstd1 libc6)

fetch_packages() {
	local apt=$dir/apt codename
	# shellcheck source=/dev/null
	codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	[ -n "$codename" ] || die 'no VERSION_CODENAME in /etc/os-release: the lab needs Debian'
	private_apt "$apt"
	apt_opts+=(-o "APT::Architecture=$debian_arch" -o "APT::Architectures=$debian_arch"
		-o Dir::State::status=/dev/null)
	write_sources "$codename" "$codename $codename-updates $codename-security" >"$apt/sources.list"
	say "fetching ${packages[*]} for $debian_arch (log: $apt/log)"
	rm -rf "$dir/debs.new"
	mkdir "$dir/debs.new"
	(
		cd "$dir/debs.new"
		apt-get "${apt_opts[@]}" update || echo 'lab-image.sh: update incomplete'
		apt-get "${apt_opts[@]}" download "${packages[@]}"
	) >"$apt/log" 2>&1 || die "apt cannot fetch the guest's packages: see $apt/log"
	(cd "$dir/debs.new" && sha256sum -- *.deb >sha256)
	rm -rf "$dir/debs"
	mv "$dir/debs.new" "$dir/debs"
}

packages_are_whole() {
	[ -f "$dir/debs/sha256" ] && [ "$(wc -l <"$dir/debs/sha256")" = ${#packages[@]} ] &&
		(cd "$dir/debs" && sha256sum --quiet -c sha256) >/dev/null 2>&1
}

# Only what runs in the guest; documentation and the rest of libc stay out.
fill_root() {
	local root=$dir/root all=$dir/all deb lib
	rm -rf "$root" "$all"
	mkdir -p "$root/bin" "$root/dev" "$all"
	for deb in "$dir"/debs/*.deb; do
		dpkg -x "$deb" "$all"
	done
	cp "$all/bin/busybox" "$all/usr/bin/trace-cmd" "$root/bin/"
	for lib in ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 libc.so.6 libtracefs.so.1 libtraceevent.so.1 libzstd.so.1; do
		while read -r path; do
			mkdir -p "$root/$(dirname "${path#"$all/"}")"
			cp -L "$path" "$root/${path#"$all/"}"
		done < <(find "$all" -name "$lib")
	done
	make -s -C "$here/../traces/workloads" ARCH="$arch" OUT="$dir" >&2
	cp "$dir/fault-workload" "$root/bin/"
	install -m 755 "$here/lab/guest-init" "$root/init"
	find "$root" -exec touch -h -d @0 {} +
}

pack() {
	(cd "$dir/root" && find . | LC_ALL=C sort | cpio -o -H newc -R 0:0 --quiet --reproducible) |
		gzip -n9 >"$dir/initrd.gz.new"
	mv "$dir/initrd.gz.new" "$dir/initrd.gz"
}

main() {
	arch=${1:-}
	case $#:$arch in
	1:x86_64) debian_arch=amd64 ;;
	1:arm64) debian_arch=arm64 ;;
	*) die 'usage: lab-image.sh x86_64|arm64' ;;
	esac
	"$here/deps.sh" kunit lab >&2
	unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
	dir=$cache_dir/lab/image-$arch
	lock "$dir/lock"
	packages_are_whole || fetch_packages
	fill_root
	pack
	for deb in "$dir"/debs/*.deb; do
		dpkg-deb -f "$deb" Package Version | sed 's/^[A-Za-z]*: //' | xargs
	done >"$dir/versions"
	echo "$dir/initrd.gz"
}

main "$@"
