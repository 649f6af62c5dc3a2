# SPDX-License-Identifier: GPL-2.0-or-later
# Everything that is built goes to $(BUILD); kernels go to the cache folder of scripts/.

PREFIX  ?= /usr/local
DESTDIR ?=
BUILD   ?= build
ifeq ($(origin CC),default)
CC      := gcc
endif
CFLAGS  ?= -O2 -g
INSTALL ?= install
PKG_CONFIG ?= pkg-config

PKGS       := smartcols json-c libzstd zlib libtracefs
TEST_PKGS  := cmocka libtracecmd libtraceevent libtracefs

# One build folder a flavour, so that SANITIZE=1 never links objects of the plain build.
ifeq ($(SANITIZE),1)
FLAVOUR    := sanitize
# what is not initialised holds a pattern, which the sanitizers then stumble over
SAN_FLAGS  := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer \
	      -ftrivial-auto-var-init=pattern
else ifeq ($(SANITIZE),thread)
FLAVOUR    := thread
SAN_FLAGS  := -fsanitize=thread -fno-omit-frame-pointer
else
FLAVOUR    := plain
# The hot path crosses files: gcc's link-time optimisation is worth a fifth of the program's time.
# Tests link the same objects without it.
ifneq ($(findstring gcc,$(CC)),)
OPT_FLAGS  := -flto=auto -ffat-lto-objects
NO_LTO     := -fno-lto
AR         := gcc-ar
endif
endif
ifeq ($(WERROR),1)
WERROR_FLAG := -Werror
endif
ifeq ($(V),1)
Q :=
else
Q := @
say = @printf '  %-7s %s\n' $(1) $(2);
endif

OUT      := $(BUILD)/$(FLAVOUR)
VERSION  := $(shell git describe --always --dirty 2>/dev/null || echo unknown)

ALL_CFLAGS = -std=gnu11 -Wall -Wextra -Wno-unused-parameter -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	     -D_GNU_SOURCE $(WERROR_FLAG) $(SAN_FLAGS) $(CFLAGS) $(OPT_FLAGS) -Ianalyzer \
	     -D_FILE_OFFSET_BITS=64 $(shell $(PKG_CONFIG) --cflags $(PKGS))
LDLIBS     = $(shell $(PKG_CONFIG) --libs $(PKGS)) -lm -lpthread
TEST_CFLAGS = $(shell $(PKG_CONFIG) --cflags $(TEST_PKGS)) -Ianalyzer/tests
TEST_LIBS  = $(shell $(PKG_CONFIG) --libs $(TEST_PKGS))

SRCS     := $(filter-out analyzer/main.c,$(wildcard analyzer/*.c))
OBJS     := $(SRCS:analyzer/%.c=$(OUT)/%.o)
PROGRAM  := $(OUT)/fault-analyze

TEST_SRCS    := $(wildcard analyzer/tests/test_*.c)
TEST_SUPPORT := $(filter-out $(wildcard analyzer/tests/test_*.c analyzer/tests/gen_*.c \
			       analyzer/tests/bench_*.c analyzer/tests/fuzz_*.c),$(wildcard analyzer/tests/*.c))
TEST_OBJS    := $(TEST_SUPPORT:analyzer/tests/%.c=$(OUT)/tests/%.o)
TEST_SCRIPTS := $(wildcard analyzer/tests/test_*.sh)
TESTS        := $(TEST_SRCS:analyzer/tests/%.c=$(OUT)/tests/%)

.PHONY: all bench demo check check-32 check-in-root check-threads check-thread-tests calibrate plots clean install uninstall help deps format-check tests
.DELETE_ON_ERROR:
.PRECIOUS: $(OUT)/%.o $(OUT)/tests/%.o

## all: build the program at build/fault-analyze
all: $(PROGRAM)
	$(Q)ln -sf $(FLAVOUR)/fault-analyze $(BUILD)/fault-analyze

$(PROGRAM): $(OUT)/main.o $(OUT)/libfault.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(SAN_FLAGS) $(CFLAGS) $(OPT_FLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(OUT)/libfault.a: $(OBJS)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(OUT)/%.o: analyzer/%.c Makefile | $(OUT)/tests
	$(call say,CC,$<)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# a file that is written when the version changes, else left alone
$(OUT)/version.o: ALL_CFLAGS += -DTOOL_VERSION='"$(VERSION)"'
$(OUT)/version.o: $(OUT)/version
$(OUT)/version: FORCE | $(OUT)/tests
	$(Q)echo '$(VERSION)' | cmp -s - $@ || echo '$(VERSION)' >$@
FORCE:

$(OUT)/tests/%.o: analyzer/tests/%.c Makefile | $(OUT)/tests
	$(call say,CC,$<)
	$(Q)$(CC) $(ALL_CFLAGS) $(TEST_CFLAGS) -MMD -MP -c -o $@ $<

$(OUT)/tests/test_%: $(OUT)/tests/test_%.o $(TEST_OBJS) $(OUT)/libfault.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(SAN_FLAGS) $(CFLAGS) $(NO_LTO) $(LDFLAGS) -o $@ $^ $(LDLIBS) $(TEST_LIBS)

WRITER_OBJS := $(filter %/trace_writer.o $(OUT)/tests/trace_writer_%.o,$(TEST_OBJS))

# Makes the benchmarks' recordings.
$(OUT)/tests/gen_recording: $(OUT)/tests/gen_recording.o $(WRITER_OBJS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(SAN_FLAGS) $(CFLAGS) $(NO_LTO) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(OUT)/tests/bench_%: $(OUT)/tests/bench_%.o $(OUT)/libfault.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(SAN_FLAGS) $(CFLAGS) $(NO_LTO) $(LDFLAGS) -o $@ $^ $(LDLIBS) $(TEST_LIBS)

$(OUT)/tests:
	$(Q)mkdir -p $@

tests: $(TESTS) $(OUT)/tests/gen_recording

## demo: install what is missing, build, report the recordings in traces/
demo: deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)scripts/demo.sh $(BUILD)/fault-analyze

## check: install what is missing, build, run all tests
check: deps
	$(Q)$(MAKE) --no-print-directory all tests
	$(Q)scripts/run-tests.sh $(PROGRAM) $(TEST_SCRIPTS) $(TESTS)

# What depends on the size of a word: the tests in C, hostile files and streams, and all that the plain build says.
TEST_SCRIPTS_32 := $(addprefix analyzer/tests/,same_answers.sh test_cli.sh test_replay_cli.sh test_streams.sh)

## check-32: build for 32-bit x86 against Debian's libraries for it, run the tests, compare with the plain build
check-32: deps
	$(Q)scripts/deps.sh 32
	$(Q)$(MAKE) --no-print-directory all
	$(Q)root=$$(scripts/i386-root.sh) && $(MAKE) --no-print-directory check-in-root FLAVOUR=i386 ROOT="$$root"

# loader and libraries are those of ROOT, when it is built and when it runs
check-in-root: export REFERENCE = $(abspath $(BUILD)/plain/fault-analyze)
check-in-root: export PKG_CONFIG_SYSROOT_DIR = $(ROOT)
check-in-root: export PKG_CONFIG_LIBDIR = $(ROOT)/usr/lib/i386-linux-gnu/pkgconfig
check-in-root:
	$(Q)$(MAKE) --no-print-directory $(PROGRAM) tests CC='i686-linux-gnu-gcc --sysroot=$(ROOT)' LDFLAGS='\
		-Wl,--dynamic-linker=$(ROOT)/lib/ld-linux.so.2,--disable-new-dtags \
		-Wl,-rpath,$(ROOT)/lib/i386-linux-gnu:$(ROOT)/usr/lib/i386-linux-gnu'
	$(Q)scripts/run-tests.sh $(PROGRAM) $(TEST_SCRIPTS_32) $(TESTS)

# of the tests, those that read compressed recordings, whole and damaged
THREAD_TESTS = $(addprefix $(OUT)/tests/,test_ahead test_lab test_truncation)

## check-threads: build with ThreadSanitizer, run the tests that unpack in two threads
check-threads: deps
	$(Q)$(MAKE) --no-print-directory check-thread-tests SANITIZE=thread

check-thread-tests: $(PROGRAM) $(THREAD_TESTS)
	$(Q)scripts/run-tests.sh $(PROGRAM) $(THREAD_TESTS)

## calibrate: simulate PAIRS (20000) pairs of runs a case and print how often intervals cover
PAIRS ?= 20000
calibrate: $(OUT)/tests/test_calibration
	$< $(PAIRS)

deps:
	$(Q)scripts/deps.sh

BENCH_PROGRAMS := $(addprefix $(OUT)/tests/,gen_recording bench_walk bench_libtracecmd bench_unpack)

## bench: measure speed, growth and memory, beside what else reads recordings (BENCH_PARTS, BENCH_EVENTS)
bench: deps
	$(Q)$(MAKE) --no-print-directory all $(BENCH_PROGRAMS)
	$(Q)scripts/bench.sh $(PROGRAM) $(OUT)/tests $(BENCH_PARTS)

MAN_PAGE   := $(PREFIX)/share/man/man1/fault-analyze.1
COMPLETION := $(PREFIX)/share/bash-completion/completions/fault-analyze

# The page says what the program says of itself: one for another machine goes without.
## install: put the program, its plot scripts, manual page and bash completion under $(DESTDIR)$(PREFIX)
install: all
	$(INSTALL) -d $(DESTDIR)$(PREFIX)/bin
	$(INSTALL) -m 755 $(PROGRAM) $(DESTDIR)$(PREFIX)/bin/fault-analyze
	$(INSTALL) -d $(DESTDIR)$(PREFIX)/share/fault-analyze/plots
	$(INSTALL) -m 644 plots/*.gp $(DESTDIR)$(PREFIX)/share/fault-analyze/plots
	$(INSTALL) -m 644 -D scripts/bash-completion $(DESTDIR)$(COMPLETION)
	$(Q)if $(PROGRAM) --version >/dev/null 2>&1; then \
		scripts/man.sh $(PROGRAM) >$(OUT)/fault-analyze.1 && \
		$(INSTALL) -m 644 -D $(OUT)/fault-analyze.1 $(DESTDIR)$(MAN_PAGE); \
	else \
		echo 'no manual page: $(PROGRAM) does not run here'; \
	fi

## plots: draw the recordings of traces/ into plots/out/
plots: all
	$(Q)scripts/plots.sh $(BUILD)/fault-analyze

## uninstall: take away what install put there
uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/fault-analyze $(DESTDIR)$(MAN_PAGE) $(DESTDIR)$(COMPLETION)
	rm -rf $(DESTDIR)$(PREFIX)/share/fault-analyze

## format-check: compare every C file with .clang-format
format-check:
	$(Q)clang-format --dry-run --Werror $(wildcard analyzer/*.[ch] analyzer/tests/*.[ch] traces/workloads/*.[ch])

include scripts/kunit.mk
include scripts/fuzz.mk
include scripts/lab.mk

## clean: remove build/
clean:
	rm -rf $(BUILD)

## help: show this
help:
	@sed -n 's/^## /  make /p' $(MAKEFILE_LIST)
	@echo
	@echo '  V=1 shows commands, SANITIZE=1 builds with ASan and UBSan, WERROR=1 makes warnings errors,'
	@echo '  PREFIX= and DESTDIR= say where install puts things.'

-include $(wildcard $(OUT)/*.d $(OUT)/tests/*.d)
