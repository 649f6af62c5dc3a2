#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes an archive of files for the lab's guest and prints its path.
#
# usage: scripts/lab-image.sh x86_64|arm64 [base|redis|analyzer|selftests]
#
#   base      the guest's initramfs: busybox, trace-cmd, fault-workload, /init (the default)
#   redis     redis-server, to be unpacked over it
#   analyzer  fault-analyze, built for that architecture
#   selftests the kernel's own tests of what the candidate changes touch, in /selftests
#
# Programs are Debian's own packages for that architecture, of the release that this machine runs; apt fetches
# and verifies them under a configuration of its own in the cache. manifest.json beside the archive says what is
# in it; while what it was made of is unchanged, and so is the archive, nothing is made.
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
	[analyzer]='libsmartcols-dev libsmartcols1 libjson-c-dev libjson-c5 libzstd-dev libzstd1 zlib1g-dev zlib1g
		libtracefs-dev libtracefs1 libtraceevent-dev libtraceevent1 libc6'
	[selftests]=''
)
declare -A programs=(
	[base]='/bin/busybox /usr/bin/trace-cmd'
	[redis]='/usr/bin/redis-server'
	[analyzer]='/usr/bin/fault-analyze'
)
selftests=(cow gup_longterm khugepaged madv_populate mkdirty pagemap_ioctl soft-dirty uffd-stress uffd-unit-tests)

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

debs() {
	find "$dir/debs" -name '*.deb' 2>/dev/null | LC_ALL=C sort
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
	for deb in $(debs); do
		dpkg -x "$deb" "$all"
	done
	find "$all" -type l -lname '/*' | while read -r link; do
		ln -sfn "$all$(readlink "$link")" "$link"
	done
}

# The kernel's selftests, static, from the source that the kernels are made of.
build_selftests() {
	local source name more
	source=$("$here/kernel-source.sh" 7.3)
	make -s -C "$source" O="$dir/headers" ARCH="$arch" headers
	local tests=$source/tools/testing/selftests
	mkdir -p "$root/selftests" "$dir/headers" "$dir/include"
	: >"$dir/include/local_config.h_gen" # no liburing
	for name in "${selftests[@]}"; do
		more=()
		[[ $name != uffd-* ]] || more=("$tests/mm/uffd-common.c")
		"${cross}gcc" -static -O2 -U_FORTIFY_SOURCE -D_GNU_SOURCE= -isystem "$dir/headers/usr/include" -I "$dir/include" \
			-I "$source" -I "$tests" -I "$source/tools/include" -o "$root/selftests/$name" \
			"$tests/mm/$name.c" "${more[@]}" "$tests/mm/vm_util.c" "$tests/mm/hugepage_settings.c" \
			-lrt -lpthread -lm || return 1
	done
}

# fault-analyze against the unpacked packages, put among their programs.
build_analyzer() {
	local triple=${cross%-} folder
	folder=$all/usr/lib/$triple
	PKG_CONFIG_LIBDIR=$folder/pkgconfig:$all/usr/share/pkgconfig PKG_CONFIG_SYSROOT_DIR=$all \
		make -s -C "$here/.." BUILD="$dir/build" CC="${cross}gcc" DESTDIR="$all" PREFIX=/usr \
		CFLAGS="-O2 -isystem $all/usr/include" \
		LDFLAGS="-L$folder -Wl,-rpath-link,$folder:$all/lib/$triple" install >"$dir/build.log" 2>&1 ||
		die "fault-analyze does not build for $arch: see $dir/build.log"
}

# Only what runs in the guest; documentation and the rest of the packages stay out.
fill_root() {
	local program
	root=$dir/root all=$dir/all
	unpack
	[ "$part" != analyzer ] || build_analyzer
	rm -rf "$root"
	mkdir "$root"
	[ "$part" != selftests ] || build_selftests >"$dir/build.log" 2>&1 ||
		die "the selftests do not build: see $dir/build.log"
	for program in ${programs[$part]:-}; do
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

# A checksum over all that decides what the archive becomes.
inputs() {
	{
		cat "$0"
		case $part in
		base) cat "$here"/../traces/workloads/{*.[ch],Makefile} "$here/lab/guest-init" ;;
		analyzer) cat "$here"/../analyzer/*.[ch] "$here/../Makefile" ;;
		selftests) cat "$cache_dir/src/linux-7.3.stamp" ;;
		esac
		[ ${#wanted[@]} = 0 ] || cat "$dir/debs/sha256"
		"${cross}gcc" --version
	} 2>/dev/null | sha256sum | cut -d' ' -f1
}

archive_is_current() {
	[ -f "$dir/initrd.gz" ] && [ -f "$dir/manifest.json" ] &&
		[ "$(jq -r '.inputs_sha256 + .sha256' "$dir/manifest.json")" = \
			"$(inputs)$(sha256sum <"$dir/initrd.gz" | cut -d' ' -f1)" ]
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
	for deb in $(debs); do
		dpkg-deb -f "$deb" Package Version | sed 's/^[A-Za-z]*: //' | xargs
	done | jq -Rn '[inputs]' >"$dir/packages"
	jq -n --arg sha256 "$(sha256sum <"$dir/initrd.gz" | cut -d' ' -f1)" --slurpfile programs "$dir/programs" \
		--slurpfile packages "$dir/packages" \
		--arg inputs_sha256 "$(inputs)" \
		'{sha256: $sha256, inputs_sha256: $inputs_sha256, programs_sha256: $programs[0], packages: $packages[0]}' >"$dir/manifest.new"
	mv "$dir/manifest.new" "$dir/manifest.json"
}

main() {
	arch=${1:-} part=${2:-base}
	case $arch in
	x86_64) debian_arch=amd64 cross=x86_64-linux-gnu- ;;
	arm64) debian_arch=arm64 cross=aarch64-linux-gnu- ;;
	esac
	[[ $# -le 2 && -n ${debian_arch:-} && -n ${packages[$part]+set} ]] ||
		die 'usage: lab-image.sh x86_64|arm64 [base|redis|analyzer|selftests]'
	read -r -d '' -a wanted <<<"${packages[$part]}" || true
	"$here/deps.sh" kunit lab >&2
	unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
	dir=$cache_dir/lab/image-$arch/$part
	lock "$dir/lock"
	[ ${#wanted[@]} = 0 ] || packages_are_whole || fetch_packages
	if ! archive_is_current; then
		fill_root
		pack
		write_manifest
	fi
	echo "$dir/initrd.gz"
}

main "$@"
