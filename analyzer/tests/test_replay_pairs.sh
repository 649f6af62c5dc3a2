#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Every pair of recordings of the rows reuse and cow: what replay predicts from the one before is what the
# patched kernel then did, class by class. The knob of the kernel after, as its manifest has it, is
# the policy.
set -uo pipefail
cd "$(dirname "$0")/../.."
passed=0 failed=0

# policy PARAMETERS: the policy that a kernel's boot parameters ask for
policy() {
	case " $1 " in
	*' wp_reuse_batch=folio '*) echo whole-folio ;;
	*' wp_reuse_batch=16 '*) echo window=16 ;;
	*' wp_copy_batch=on '*) echo cow-whole-folio ;;
	esac
}

for after in traces/pairs/*-reuse-*-after.dat traces/pairs/*-cow-*-after.dat; do
	before=${after%-after.dat}-before.dat
	rule=$(policy "$(jq -r .boot_parameters "$after.json")")
	if [ -z "$rule" ]; then
		echo "[  FAILED  ] $after: its manifest has no knob that is a policy"
	elif said=$("$FAULT_ANALYZE" replay --comm fault-workload --policy "$rule" \
			--validate "$after" "$before" 2>&1); then
		passed=$((passed + 1))
		echo "[       OK ] $(basename "$after"): $rule"
		continue
	else
		echo "[  FAILED  ] $after: $rule"
		echo "$said"
	fi
	failed=$((failed + 1))
done
[ $((passed + failed)) -ge 20 ] || { echo "only $((passed + failed)) pairs"; failed=$((failed + 1)); }
echo "[  PASSED  ] $passed test(s)."
[ "$failed" -eq 0 ] || { echo "[  FAILED  ] $failed test(s), listed above"; exit 1; }
