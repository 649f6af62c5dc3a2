# SPDX-License-Identifier: GPL-2.0-or-later
# The lab: recordings on kernels of our own. ROW=reuse|cow|... or a name of scripts/lab/rows, ARCH=x86_64|arm64,
# SIDE=before|after; what is not given means all.

.PHONY: lab validate

LAB_ARCHES := $(or $(ARCH),x86_64 arm64)

## lab: record rows under QEMU, before and after: ROW=reuse ARCH=arm64 SIDE=before
lab: all
	$(Q)$(foreach arch,$(LAB_ARCHES),scripts/lab.sh '$(or $(ROW),all)' $(arch) $(SIDE) &&) true

## validate: kernels, KUnit suite, every row, on both architectures, and one table of verdicts
validate: all
	$(Q)scripts/validate.sh $(LAB_ARCHES)
