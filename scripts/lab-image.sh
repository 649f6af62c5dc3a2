#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes an archive of files for the lab's guest and prints its path.
#
# usage: scripts/lab-image.sh x86_64|arm64 [base|redis]
#
#   base   the guest's initramfs: busybox, trace-cmd, fault-workload, /init (the default)
#   redis  redis-server, to be unpacked over it
#
# Programs are Debian's own packages for that architecture, of the release that this machine runs; apt fetches
# and verifies them under a configuration of its own in the cache. manifest.json beside the archive says what is
# in it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/lib.sh
. "$here/lib.sh"
# shellcheck source=scripts/apt.sh
. "$here/apt.sh"

# packages of each part, and their programs that the guest gets
declare -A packages=(
	[base]='busybox-static trace-cmd libtracefs1 libtraceevent1 libzstd1 libc6'
	[redis]='redis-server redis-tools libatomic1 liblzf1 libjemalloc2 libsystemd0 libssl3 libc6 libstdc++6
		libgcc-s1 libcap2 libgcrypt20 liblzma5 libzstd1 liblz4-1 libgpg-error0'
)
declare -A programs=([base]='/bin/busybox /usr/bin/trace-cmd' [redis]='/usr/bin/redis-server')

fetch_packages() {
	local apt=$dir/apt codename
	# shellcheck source=/dev/null
	codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	[ -n "$codename" ] || die 'no VERSION_CODENAME in /etc/os-release: the lab needs Debian'
	private_apt "$apt"
	apt_opts+=(-o "APT::Architecture=$debian_arch" -o "APT::Architectures=$debian_arch"
		-o Dir::State::status=/dev/null)
	write_sources "$codename" "$codename $codename-updates $codename-security" >"$apt/sources.list"
	say "fetching ${wanted[*]} for $debian_arch (log: $apt/log)"
	rm -rf "$dir/debs.new"
	mkdir "$dir/debs.new"
	(
		cd "$dir/debs.new"
		apt-get "${apt_opts[@]}" update || echo 'lab-image.sh: update incomplete'
		apt-get "${apt_opts[@]}" download "${wanted[@]}"
	) >"$apt/log" 2>&1 || die "apt cannot fetch the guest's packages: see $apt/log"
	(cd "$dir/debs.new" && sha256sum -- *.deb >sha256)
	rm -rf "$dir/debs"
	mv "$dir/debs.new" "$dir/debs"
}

packages_are_whole() {
	[ -f "$dir/debs/sha256" ] && [ "$(wc -l <"$dir/debs/sha256")" = ${#wanted[@]} ] &&
		(cd "$dir/debs" && sha256sum --quiet -c sha256) >/dev/null 2>&1
}

# The loader, by its path, and the libraries, by name, that a program or library asks for.
needed_by() {
	readelf -ld "$1" 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p; s/.*interpreter: \([^]]*\)\]/\1/p'
}

# Copies the program or library of the path $1 in the unpacked packages, and what it asks for.
copy_program() {
	local path=$all$1 name
	[ ! -e "$root$1" ] || return 0
	[ -f "$path" ] || die "no package has $1"
	mkdir -p "$root$(dirname "$1")"
	cp -L "$path" "$root$1"
	while read -r name; do
		[[ $name = /* ]] || name=$(cd "$all" && find . -name "$name" -print -quit | sed 's/^\.//')
		copy_program "$name"
	done < <(needed_by "$path")
}

# Unpacks the packages; what is a link to a path of the guest becomes one to the file that lies here.
unpack() {
	local deb link
	rm -rf "$all"
	mkdir -p "$all"
	for deb in "$dir"/debs/*.deb; do
		dpkg -x "$deb" "$all"
	done
	find "$all" -type l -lname '/*' | while read -r link; do
		ln -sfn "$all$(readlink "$link")" "$link"
	done
}

# Only what runs in the guest; documentation and the rest of the packages stay out.
fill_root() {
	local program
	root=$dir/root all=$dir/all
	unpack
	rm -rf "$root"
	mkdir "$root"
	for program in ${programs[$part]}; do
		copy_program "$program"
	done
	[ "$part" = base ] || return 0
	make -s -C "$here/../traces/workloads" ARCH="$arch" OUT="$dir" >&2
	cp "$dir/fault-workload" "$root/bin/"
	mkdir "$root/dev"
	install -m 755 "$here/lab/guest-init" "$root/init"
}

pack() {
	find "$root" -exec touch -h -d @0 {} +
	(cd "$root" && find . | LC_ALL=C sort | cpio -o -H newc -R 0:0 --quiet --reproducible) |
		gzip -n9 >"$dir/initrd.gz.new"
	mv "$dir/initrd.gz.new" "$dir/initrd.gz"
}

# The archive, each program in it and the packages that they come from, by checksum or version.
write_manifest() {
	local deb
	(
		cd "$root"
		find . -type f -perm /100 ! -name '*.so.*' | sed 's/^\.//' | LC_ALL=C sort | while read -r program; do
			printf '%s %s\n' "$program" "$(sha256sum ".$program" | cut -d' ' -f1)"
		done
	) | jq -Rn '[inputs | split(" ") | {(.[0]): .[1]}] | add' >"$dir/programs"
	for deb in "$dir"/debs/*.deb; do
		dpkg-deb -f "$deb" Package Version | sed 's/^[A-Za-z]*: //' | xargs
	done | jq -Rn '[inputs]' >"$dir/packages"
	jq -n --arg sha256 "$(sha256sum <"$dir/initrd.gz" | cut -d' ' -f1)" --slurpfile programs "$dir/programs" \
		--slurpfile packages "$dir/packages" \
		'{sha256: $sha256, programs_sha256: $programs[0], packages: $packages[0]}' >"$dir/manifest.json"
}

main() {
	arch=${1:-} part=${2:-base}
	case $arch in
	x86_64) debian_arch=amd64 ;;
	arm64) debian_arch=arm64 ;;
	esac
	[[ $# -le 2 && -n ${debian_arch:-} && -n ${packages[$part]:-} ]] ||
		die 'usage: lab-image.sh x86_64|arm64 [base|redis]'
	read -r -d '' -a wanted <<<"${packages[$part]}" || true
	"$here/deps.sh" kunit lab >&2
	unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
	dir=$cache_dir/lab/image-$arch/$part
	lock "$dir/lock"
	packages_are_whole || fetch_packages
	fill_root
	pack
	write_manifest
	echo "$dir/initrd.gz"
}

main "$@"
