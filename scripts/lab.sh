#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Records a row of the lab on one architecture: builds the kernels, boots, runs the workload, brings back
# what was recorded and judges it.
#
# usage: scripts/lab.sh ROW|NAME|all x86_64|arm64 [before|after]
#
# scripts/lab/rows lists rows and names. OUT (build/lab) gets ARCH-NAME-SIDE.dat and, beside it, its manifest
# ARCH-NAME-SIDE.dat.json. Exit 1 when a boot fails or takes too long, when the kernel warns, or when the
# analyzer's fault counts are not the workload's own.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/lib.sh
. "$here/lib.sh"
# shellcheck source=scripts/lab/presets.sh
. "$here/lab/presets.sh"
# shellcheck source=scripts/lab/boot.sh
. "$here/lab/boot.sh"

out=${OUT:-$here/../build/lab}
max_bytes=$((600 << 10))

# One assignment of a plain shell.
assign() {
	printf "%s='%s'\n" "$1" "${2//\'/\'\\\'\'}"
}

# The row as the guest's /init reads it, in an archive that the kernel unpacks after the image.
pack_row() {
	local dir=$work/row
	mkdir -p "$dir"
	{
		assign workload "$workload"
		assign setup "$setup"
		assign probes "$probes"
		assign events "$events"
		assign clock "$clock"
		assign buffer_kb 32768
	} >"$dir/row"
	add_files "$dir"
}

# Makes each archive once a run: sets images[base] and what else the preset wants, and image, those of this boot.
declare -A images
need_images() {
	local part
	image=()
	for part in $parts; do
		[ -n "${images[$part]:-}" ] || images[$part]=$("$here/lab-image.sh" "$arch" "$part")
		image+=("${images[$part]}")
	done
}

# The manifest's qemu line names no folder of this machine.
shown_qemu() {
	local word words=()
	for word in "${qemu[@]}"; do
		word=${word//$kernel/KERNEL}
		word=${word//$work\/initrd.gz/INITRD}
		word=${word//$work\/host/HOST}
		word=${word//$work\/disk/DISK}
		words+=("$(printf '%q' "$word")")
	done
	echo "${words[*]}"
}

# How many records of each event trace-cmd itself sees; those of contpte_convert apart by what they did.
count_events() {
	trace-cmd report -q -i "$work/$name.dat" 2>"$work/trace-cmd.log" |
		sed -n 's/\(contpte_convert\):.* cont=\([0-9x]*\).*/\1_cont_\2:/
			s/^.*\] *[0-9.]*: \([a-z_0-9]*\):.*/\1/p' | sort | uniq -c |
		jq -Rn '[inputs | ltrimstr(" ") | capture("(?<n>[0-9]+) (?<name>.*)") | {(.name): (.n | tonumber)}] | add'
}

write_manifest() {
	jq -n --slurpfile kernel "${kernel%.image}.manifest.json" \
		--slurpfile guest <(cat "${image[@]/%initrd.gz/manifest.json}") --slurpfile oracle "$work/host/oracle.json" \
		--slurpfile unrecorded "$work/host/unrecorded.json" --arg row "$row" --arg name "$name" \
		--arg side "$side" --arg preset "$preset" --arg parameters "$parameters" \
		--arg workload "fault-workload $workload" --arg probes "$probes" --arg events "$events" --arg clock "$clock" \
		--arg qemu "$(shown_qemu)" --arg qemu_version "$("${qemu[0]}" --version | sed -n 's/.*version \([^ ]*\).*/\1/p')" \
		--argjson event_counts "$(count_events)" --arg trace_cmd "$(cat "$work/host/trace-cmd.version")" --arg date "$(date -u +%Y-%m-%d)" -f "$here/lab/manifest.jq" \
		>"$work/$name.dat.json"
}

# The recording must be small enough to keep, and what the kernel counted must be in it.
judge() {
	local size
	size=$(stat -c %s "$work/$name.dat")
	[ "$size" -le "$max_bytes" ] || die "$name: the recording has $size bytes, more than $max_bytes"
	"$here/check-traces.sh" "$work/$name.dat"
}

# Builds each kernel once a run: sets kernels[plain] or kernels[patched].
declare -A kernels
need_kernel() {
	[ -n "${kernels[$1]:-}" ] || kernels[$1]=$("$here/lab-kernel.sh" "$arch" "$1")
}

# record SIDE KERNEL,PARAMETER,...
record() {
	local spec=$2
	side=$1
	name=$arch-$record_name-$side
	parameters=${spec#"${spec%%,*}"}
	parameters=$(echo "${parameters//,/ }" | xargs)
	preset "$preset" "${spec%%,*}" || die "no preset $preset"
	need_kernel "${spec%%,*}"
	need_images
	kernel=${kernels[${spec%%,*}]}
	work=$cache_dir/lab/runs/$name
	lock "$work.lock"
	rm -rf "$work"
	mkdir -p "$work"
	pack_row
	make_disk
	qemu_line "$kernel" "$work/initrd.gz" "$work/host" "$parameters"
	boot
	mv "$work/host/trace.dat" "$work/$name.dat"
	write_manifest
	judge
	cp "$work/$name.dat" "$work/$name.dat.json" "$out/"
}

main() {
	local wanted=${1:-} sides=${3:-before after} only_arch before after found=
	arch=${2:-}
	[[ $arch =~ ^(x86_64|arm64)$ && $sides =~ ^(before|after|before\ after)$ ]] ||
		die 'usage: lab.sh ROW|NAME|all x86_64|arm64 [before|after]'
	unset ARCH
	mkdir -p "$out"
	while read -r -u 3 row record_name only_arch preset before after workload; do
		[[ $row != '#'* && -n $row ]] || continue
		[[ $wanted = all || $wanted = "$row" || $wanted = "$record_name" ]] || continue
		[[ $only_arch = any || $only_arch = "$arch" ]] || continue
		found=1
		[[ $sides != *before* ]] || (record before "$before")
		[[ $sides != *after* ]] || (record after "$after")
	done 3<"$here/lab/rows"
	[ -n "$found" ] || die "no row $wanted for $arch in scripts/lab/rows"
}

main "$@"
