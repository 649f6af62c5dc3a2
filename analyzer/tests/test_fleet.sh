#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The job files of scripts/ for a fleet: under GNU parallel as local jobs, and as an array of a Slurm of
# this one machine, started in a folder of its own; where that cannot be, by the job file's dry run.
set -uo pipefail
# shellcheck source=analyzer/tests/judge.sh
. "$(dirname "$0")/judge.sh"
recordings=(traces/lab/*.dat)
slurm= # its folder, once it runs
PATH=$PATH:/usr/sbin # where its daemons are

# fleet SCRIPT ARG...: as run
fleet() {
	ran="$*"
	status=0
	timeout 120 "scripts/$1" "${@:2}" >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
}

# is_report_over FILE RECORDING...: FILE is what one report over the recordings prints
is_report_over() {
	"$FAULT_ANALYZE" report -F json -- "${@:2}" >"$tmp/one" 2>"$tmp/complaints"
	cmp -s "$1" "$tmp/one" || wrong "$ran: $1 is not one report over all"
}

leaves_nothing() {
	[ "$(cd "$tmp" && echo all.json*)" = "$1" ] || wrong "$ran: left $(cd "$tmp" && echo all.json*)"
}

# survives SCRIPT ARG...: recordings that are damaged, missing, or whole
survives() {
	head -c 300000 "${recordings[0]}" >"$tmp/cut.dat"
	fleet "$@" "$tmp/all.json" "${recordings[1]}" "$tmp/cut.dat" "$tmp/none" "${recordings[2]}"
	exits 2
	says "$tmp/cut.dat: offset "
	says "$tmp/none: No such file or directory"
	says "no report of: $tmp/none"
	is_report_over "$tmp/all.json" "${recordings[1]}" "$tmp/cut.dat" "${recordings[2]}"
}

# refuses SCRIPT ARG...: a recording twice, and leaves no report of before that reads like this one
refuses() {
	echo '{}' >"$tmp/all.json"
	fleet "$@" "$tmp/all.json" "${recordings[1]}" "${recordings[1]}"
	exits 2
	says "same trace_id"
	leaves_nothing 'all.json*'
}

test_parallel() {
	PARALLEL='-j 4' fleet fleet-parallel.sh "$tmp/all.json" "${recordings[@]}"
	exits 0
	[ ! -s "$tmp/err" ] || wrong "$ran: speaks: $(head -c 400 "$tmp/err")"
	is_report_over "$tmp/all.json" "${recordings[@]}"
	leaves_nothing all.json
}

test_parallel_survives() {
	survives fleet-parallel.sh
	refuses fleet-parallel.sh
}

# ssh is a stand-in here: it runs the command in a folder that is the host's
test_parallel_hosts() {
	mkdir -p "$tmp/bin" "$tmp/hosts/a" "$tmp/hosts/b"
	cp "${recordings[0]}" "$tmp/hosts/a/trace 1.dat"
	cp "${recordings[1]}" "$tmp/hosts/b/trace 1.dat"
	cat >"$tmp/bin/ssh" <<-END
		#!/bin/bash
		while [[ \$1 == -* ]]; do [ "\$1" != -o ] || shift; shift; done
		cd "$tmp/hosts/\$1" && bash -c "\$2"
	END
	chmod +x "$tmp/bin/ssh"
	PATH=$tmp/bin:$PATH fleet fleet-parallel.sh "$tmp/all.json" 'b:trace 1.dat' 'a:trace 1.dat'
	exits 0
	jq -e '.recordings | length == 2 and .[0].trace_id != .[1].trace_id' "$tmp/all.json" >"$tmp/jq" ||
		wrong "$ran: not the recordings of two hosts"
	PATH=$tmp/bin:$PATH REPORT_OPTIONS='--class cow' fleet fleet-parallel.sh "$tmp/all.json" \
		'a:trace 1.dat' 'c:trace 1.dat'
	exits 2
	says 'no report of: c:trace 1.dat'
	jq -e '.filters == { "class": "cow" }' "$tmp/all.json" >"$tmp/jq" || wrong "$ran: no filter"
}

test_usage() {
	local script

	for script in fleet-parallel.sh fleet-slurm.sh; do
		fleet "$script" "$tmp/all.json"
		exits 1
		says "usage: $script"
	done
}

# start_slurm: a cluster of this machine; false where it cannot be
start_slurm() {
	local program host i

	host=$(hostname -s)
	slurm=$tmp/slurm
	for program in munged slurmctld slurmd sbatch sinfo; do
		command -v "$program" >/dev/null || { echo "no $program"; return 1; }
	done
	[ "$(id -u)" = 0 ] || { echo "slurmd has to be root"; return 1; }
	mkdir -p "$slurm/state" "$slurm/spool"
	(umask 077 && head -c 1024 /dev/urandom >"$slurm/key")
	cat >"$slurm/slurm.conf" <<-END
		ClusterName=test
		SlurmctldHost=$host(127.0.0.1)
		SlurmctldPort=$((20000 + RANDOM % 5000))
		SlurmdPort=$((25000 + RANDOM % 5000))
		SlurmUser=root
		AuthType=auth/munge
		AuthInfo=socket=$slurm/socket
		StateSaveLocation=$slurm/state
		SlurmdSpoolDir=$slurm/spool
		SlurmctldPidFile=$slurm/slurmctld.pid
		SlurmdPidFile=$slurm/slurmd.pid
		SlurmctldLogFile=$slurm/slurmctld.log
		SlurmdLogFile=$slurm/slurmd.log
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		SchedulerParameters=sched_min_interval=0
		NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc)
		PartitionName=test Nodes=ALL Default=YES State=UP
	END
	export SLURM_CONF=$slurm/slurm.conf
	munged --force --key-file="$slurm/key" --socket="$slurm/socket" --pid-file="$slurm/munged.pid" \
		--log-file="$slurm/munged.log" --seed-file="$slurm/seed" || return 1
	slurmctld && slurmd || return 1
	for ((i = 0; i < 100; i++)); do
		[ "$(sinfo -h -o %t 2>&1)" != idle ] || return 0
		sleep 0.1
	done
	tail -n 5 "$slurm"/*.log
	return 1
}

stop_slurm() {
	local file

	for file in "$slurm"/*.pid; do
		[ ! -e "$file" ] || kill "$(cat "$file")"
	done
}

# array ARG...: fleet-slurm.sh with these, as an array of three tasks
array() {
	TASKS=3 fleet fleet-slurm.sh "$@" "$tmp/all.json" "${recordings[@]}"
	exits 0
	is_report_over "$tmp/all.json" "${recordings[@]}"
	leaves_nothing all.json
}

test_slurm_dry_run() {
	array --dry-run
	says "sbatch --wait --array=0-2 "
	survives fleet-slurm.sh --dry-run
	refuses fleet-slurm.sh --dry-run
}

test_slurm() {
	if start_slurm >"$tmp/why" 2>&1; then
		array
		says "Submitted batch job "
		survives fleet-slurm.sh
	else
		problem="skip: no Slurm on this machine: $(tail -n 1 "$tmp/why")"
	fi
}

trap 'stop_slurm; rm -rf "$tmp"' EXIT
run_tests
