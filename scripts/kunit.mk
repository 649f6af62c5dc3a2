# SPDX-License-Identifier: GPL-2.0-or-later
# The KUnit suite folio_batch in kernels of its own. ARCH=um|x86_64|arm64 KVER=7.3|6.12 KSRC=dir
# CONFIG=correctness|latency|kasan|kmemleak; scripts/kunit.sh says what else it takes.

.PHONY: kunit kunit-all kunit-ci kunit-mutants kunit-style

kunit:
	@scripts/kunit.sh

kunit-all:
	@scripts/kunit-ci.sh 7.3 6.12

kunit-ci:
	@scripts/kunit-ci.sh 7.3

kunit-mutants:
	@scripts/mutate-kunit.sh

kunit-style:
	@scripts/check-kunit-style.sh
