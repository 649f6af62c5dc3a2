# SPDX-License-Identifier: GPL-2.0-or-later
# The KUnit suite folio_batch in kernels of its own. ARCH=um|x86_64|arm64 KVER=7.3|6.12 KSRC=dir
# CONFIG=correctness|latency|kasan|lockdep; scripts/kunit.sh says what else it takes.

.PHONY: kunit kunit-all kunit-ci kunit-bench kunit-mutants kunit-style kunit-tree kunit-scripts-test

## kunit: build and run the KUnit suite folio_batch (ARCH, KVER, KSRC, CONFIG)
kunit:
	@scripts/kunit.sh

## kunit-all: run it on UML, x86-64 and arm64 of 7.3 and 6.12
kunit-all:
	@scripts/kunit-ci.sh 7.3 6.12

## kunit-ci: run it on the three architectures of 7.3 and say what each took
kunit-ci:
	@scripts/kunit-ci.sh 7.3

## kunit-bench: measure the helpers, ns per PTE, twice, and expect the same (ARCH=x86_64 or arm64)
kunit-bench:
	@scripts/bench-kunit.sh

## kunit-mutants: plant bugs into the kernel, one a boot, and expect each to be found (LIST=linux-7.3 or patches-7.3)
kunit-mutants:
	@scripts/mutate-kunit.sh

## kunit-tree: install the suite into a scratch tree, run kunit.py there as it stands, remove it again
kunit-tree:
	@scripts/test-kunit-tree.sh

## kunit-style: checkpatch.pl --strict, W=1 and sparse
kunit-style:
	@scripts/check-kunit-style.sh

## kunit-scripts-test: test the scripts themselves, without building a kernel
kunit-scripts-test:
	@scripts/test-kunit-scripts.sh
