#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Each recording of traces/pairs against its manifest, and the manifests against each other, with the closing lines
# of a cmocka program.
set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
good=0 bad=0

verdict() {
	if "$@"; then
		good=$((good + 1))
	else
		bad=$((bad + 1))
	fi
}

# manifests_say ARCH FILTER: the filter, over a list of this architecture's manifests, has nothing to object.
manifests_say() {
	jq -rs --arg arch "$1" "map(select(.arch == \$arch)) | $2" "$top"/traces/pairs/*.dat.json |
		if grep .; then false; else echo "$1: $3"; fi
}

# Each line of the lab's rows has both sides, of one workload on one machine.
both_sides() {
	manifests_say "$1" 'group_by(.name | sub("-(before|after)$"; ""))[] |
		select((map(.side) | sort != ["after", "before"]) or
		       (map([.workload, .qemu_version, .kernel_build.config_sha256, .guest[0].programs_sha256]) |
			unique | length > 1)) | "\(.[0].name): the sides do not belong together"' 'both sides alike'
}

# All of them come from one workload, one plain kernel and one patched one.
# shellcheck disable=SC2016 # jq's variables
one_generation() {
	manifests_say "$1" 'def one($what): unique | if length == 1 and .[0] then empty else "\(length) of \($what)" end;
		(map(.guest[0].programs_sha256["/bin/fault-workload"]) | one("the workload")),
		(map(select(.kernel_build.side == "plain").build) | one("the plain kernel")),
		(map(select(.kernel_build.side == "patched").build) | one("the patched kernel"))' \
		'one workload, one kernel a side'
}

for recording in "$top"/traces/pairs/*.dat; do
	verdict "$top/scripts/check-traces.sh" "$recording"
done
verdict both_sides x86_64
verdict both_sides arm64
verdict one_generation x86_64
verdict one_generation arm64
printf '[  PASSED  ] %d test(s).\n' "$good"
[ "$bad" = 0 ] || printf '[  FAILED  ] %d test(s).\n' "$bad"
[ "$bad" = 0 ] && [ "$good" -gt 3 ]
