# SPDX-License-Identifier: GPL-2.0-or-later
# Hostile input: the long tests of damaged recordings, and fuzz targets, which need clang (libFuzzer,
# ASan, UBSan). Seeds are made anew from the tests' writer and traces/; the corpus that grows from them
# begins as the one kept in analyzer/tests/data/fuzz, which make fuzz-keep replaces.

FUZZ_SECONDS ?= 60
FUZZ         := $(BUILD)/fuzz
FUZZ_CFLAGS  := -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all \
		-fno-omit-frame-pointer
FUZZ_NAMES   := $(patsubst analyzer/tests/fuzz_%.c,%,$(wildcard analyzer/tests/fuzz_*.c))
FUZZ_OBJS    := $(SRCS:analyzer/%.c=$(FUZZ)/%.o)
# An input that takes a second of the processor, or more memory than 64 MiB and what it justifies, is a
# finding by fuzz.h; -timeout ends what never comes back, and the fuzzer's own corpus needs the memory.
FUZZ_FLAGS   := -timeout=10 -malloc_limit_mb=64 -rss_limit_mb=2048 -max_len=65536 -use_value_profile=1

# private: what they are made from may be objects of the plain build
$(FUZZ)/%: private OPT_FLAGS :=

FUZZ_KEPT    := analyzer/tests/data/fuzz

.PHONY: check-long fuzz fuzz-keep fuzz-targets
.PRECIOUS: $(FUZZ)/%.o $(FUZZ)/tests/%.o

## check-long: the tests of damaged recordings with all their cuts and changes, not a sample
check-long: deps
	$(Q)$(MAKE) --no-print-directory all tests
	$(Q)FAULT_ANALYZE_LONG=1 scripts/run-tests.sh $(PROGRAM) $(OUT)/tests/test_truncation \
		$(OUT)/tests/test_corruption

## fuzz: run each fuzz target for FUZZ_SECONDS (60)
fuzz: fuzz-targets
	$(Q)scripts/fuzz.sh $(FUZZ) $(FUZZ_SECONDS) '$(FUZZ_FLAGS)' $(FUZZ_NAMES)

## fuzz-keep: pack the corpora that the fuzz targets have grown, inputs below 12 KiB, to begin with them
fuzz-keep:
	$(Q)mkdir -p $(FUZZ_KEPT)
	$(Q)for name in $(FUZZ_NAMES); do \
		(cd $(FUZZ)/corpus && find $$name -type f -size -25b -print0 | LC_ALL=C sort -z) | \
		tar --mtime=@0 --owner=0 --group=0 --numeric-owner -C $(FUZZ)/corpus --null -T - -c | \
		xz -9e >$(FUZZ_KEPT)/$$name.tar.xz || exit; \
	done

fuzz-targets: $(FUZZ_NAMES:%=$(FUZZ)/fuzz_%) $(FUZZ)/seeds/.made $(FUZZ)/corpus/.made

$(FUZZ)/%.o: analyzer/%.c Makefile scripts/fuzz.mk | $(FUZZ)/tests
	$(call say,CC,$@)
	$(Q)clang $(ALL_CFLAGS) $(FUZZ_CFLAGS) -DTOOL_VERSION='"fuzz"' -MMD -MP -c -o $@ $<

$(FUZZ)/fuzz_%: $(FUZZ)/tests/fuzz_%.o $(FUZZ_OBJS)
	$(call say,LINK,$@)
	$(Q)clang $(FUZZ_CFLAGS) -fsanitize=fuzzer -o $@ $^ $(LDLIBS)

$(OUT)/tests/gen_fuzz_seeds: $(OUT)/tests/gen_fuzz_seeds.o $(OUT)/libfault.a $(WRITER_OBJS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(SAN_FLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(OUT)/libfault.a $(LDLIBS)

# recordings that fit into an input are seeds as they are
$(FUZZ)/seeds/.made: $(OUT)/tests/gen_fuzz_seeds scripts/fuzz.mk $(wildcard traces/lab/*.dat \
		traces/pairs/*-64k-*.dat traces/costs/*.ktap analyzer/tests/data/ktap/*.ktap)
	$(Q)rm -rf $(@D) && mkdir -p $(@D)
	$(Q)$< $(@D) $(filter traces/lab/%,$^)
	$(Q)mkdir $(@D)/model $(@D)/ktap && cp $(filter %.ktap,$^) $(@D)/ktap
	$(Q)find $(filter traces/pairs/%,$^) -size -64k -exec cp -t $(@D)/container {} + \
		-exec cp -t $(@D)/report {} +
	$(Q)touch $@

$(FUZZ)/corpus/.made: $(wildcard $(FUZZ_KEPT)/*.tar.xz)
	$(Q)mkdir -p $(@D)
	$(Q)for kept in $^; do tar -xJf $$kept -C $(@D) || exit; done
	$(Q)touch $@

$(FUZZ)/tests:
	$(Q)mkdir -p $@

-include $(wildcard $(FUZZ)/*.d $(FUZZ)/tests/*.d)
