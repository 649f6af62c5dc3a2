# SPDX-License-Identifier: GPL-2.0-or-later
# The lab: recordings on kernels of our own. ROW=reuse|cow|... or a name of scripts/lab/rows, ARCH=x86_64|arm64,
# SIDE=before|after; what is not given means all.

.PHONY: lab lab-selftests lab-test validate

LAB_ARCHES := $(or $(ARCH),x86_64 arm64)

## lab: record rows under QEMU, before and after: ROW=reuse ARCH=arm64 SIDE=before
lab: all
	$(Q)$(foreach arch,$(LAB_ARCHES),scripts/lab.sh '$(or $(ROW),all)' $(arch) $(SIDE) &&) true

## lab-selftests: the kernel's own tests of mm, on the plain kernel and on the patched one: ARCH=x86_64
lab-selftests:
	$(Q)$(foreach arch,$(LAB_ARCHES),scripts/lab-selftests.sh $(arch) &&) true

## lab-test: fault-analyze record in guests of every kind, and guests that go wrong: ARCH=x86_64
lab-test:
	$(Q)$(foreach arch,$(LAB_ARCHES),scripts/test-lab.sh $(arch) &&) true
	$(Q)$(foreach arch,$(LAB_ARCHES),$(foreach kind,plain patched kprobes,scripts/test-record.sh $(arch) $(kind) &&)) true

## validate: kernels, KUnit suite, every row, on both architectures, and one table of verdicts
validate: all
	$(Q)scripts/validate.sh $(LAB_ARCHES)
