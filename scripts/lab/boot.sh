# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# How a guest of the lab is started and judged. Sourced, never run. Needs arch, name (for messages), work (an
# empty folder of this run) and lib.sh; memory is what it has (1G).

boot_minutes=${BOOT_MINUTES:-15}
trouble='^(\[[^]]*\] ?)?(WARNING|BUG|Oops|Kernel panic)|cut here|Bad page'

# qemu_line KERNEL INITRD HOST_FOLDER BOOT_PARAMETERS: sets the array qemu.
# One CPU; a nanosecond of guest time is an executed instruction; no time or chance from the host: the x86 TSC
# and the arm64 counter run at 1 GHz, the clock starts at a fixed date.
qemu_line() {
	local kernel=$1 initrd=$2 host=$3 parameters=$4
	# shellcheck disable=SC2054 # QEMU's commas
	local common=(-smp 1 -m "${memory:-1G}" -nodefaults -no-user-config -display none -serial stdio -no-reboot
		-icount shift=0,sleep=off -rtc base=2026-01-01,clock=vm
		-fsdev "local,id=host,path=$host,security_model=none" -device virtio-9p-pci,fsdev=host,mount_tag=host
		-kernel "$kernel" -initrd "$initrd")
	# Each character on the console is guest time: warnings and worse alone.
	local append="norandmaps panic=-1 loglevel=5${parameters:+ $parameters}"
	[ "$disk_mb" = 0 ] || common+=(-drive "file=$work/disk,if=virtio,format=raw,cache=unsafe")
	case $arch in
	x86_64)
		qemu=(qemu-system-x86_64 -M pc -cpu max "${common[@]}"
			-append "console=ttyS0 tsc=reliable tsc_early_khz=1000000 $append")
		;;
	arm64)
		# shellcheck disable=SC2054
		qemu=(qemu-system-aarch64 -M virt -cpu max,pauth-impdef=on "${common[@]}"
			-append "console=ttyAMA0 $append")
		;;
	esac
}

# An empty file system for the guest's /dev/vda.
make_disk() {
	[ "$disk_mb" != 0 ] || return 0
	mkfs.xfs -q -d "file,name=$work/disk,size=${disk_mb}m"
}

# Runs $qemu. The guest must leave $work/host/verdict; else dies with the console's last lines.
boot() {
	local status=0
	mkdir -p "$work/host"
	limited "$boot_minutes" "${qemu[@]}" </dev/null >"$work/console" 2>&1 || status=$?
	if [ "$status" = 0 ] && [ -f "$work/host/verdict" ] && ! grep -qE "$trouble" "$work/console"; then
		return
	fi
	tail -25 "$work/console" | tr -d '\r' >&2
	[ "$status" != 124 ] || die "$name: no end after $boot_minutes minutes (console: $work/console)"
	die "$name: the guest failed (console: $work/console)"
}

# add_files FOLDER: the guest's files from the archives $image and, unpacked over them, those of FOLDER.
add_files() {
	find "$1" -exec touch -h -d @0 {} +
	cat "${image[@]}" >"$work/initrd.gz"
	(cd "$1" && find . | LC_ALL=C sort | cpio -o -H newc -R 0:0 --quiet --reproducible) |
		gzip -n >>"$work/initrd.gz"
}

# boot_job PARAMETERS <ROW: boots $kernel with ROW as the guest's row, whose job leaves its files in $work/host; sets
# work. Needs arch, name, image, kernel and disk_mb.
boot_job() {
	work=$cache_dir/lab/runs/$name
	lock "$work.lock"
	rm -rf "$work"
	mkdir -p "$work/files"
	cat >"$work/files/row"
	add_files "$work/files"
	make_disk
	qemu_line "$kernel" "$work/initrd.gz" "$work/host" "$1"
	boot
}
