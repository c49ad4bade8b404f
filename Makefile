# ocsim: GNU make, no configure step. `make help` lists the targets.
VERSION := 0.1.0
ifeq ($(origin CC),default)
CC := gcc
endif
PREFIX ?= /usr/local
# -j gives make its own parallelism; JOBS is what reproduce hands to `ocsim run -j`.
JOBS ?= $(shell nproc 2>/dev/null || echo 1)

# OPT, SAN and COV each build in a folder of their own, so switching never mixes objects.
OPT ?= -O2
MODE := $(notdir $(CC))$(subst $(eval ) ,,$(OPT))$(if $(SAN),-san)$(if $(COV),-cov)
BUILD := build/$(MODE)

PACKAGES := gcc libc6-dev make patch pkg-config libgsl-dev libcjson-dev libyaml-dev libcunit1-dev gnuplot-nox fonts-urw-base35
LIBRARIES := gsl libcjson yaml-0.1
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla
COMMIT := $(shell git describe --always --dirty 2>/dev/null || echo unknown)
comma := ,
# No contraction to fused multiply-add: results must not depend on the compiler (design: same hash everywhere).
CFLAGS := -std=c17 -D_GNU_SOURCE -Isim $(OPT) -g $(WARNINGS) $(WERROR) -ffp-contract=off \
	$(if $(SAN),-fsanitize=address$(comma)undefined -fno-sanitize-recover=all -fno-omit-frame-pointer) \
	$(if $(COV),--coverage) $(EXTRA_CFLAGS)
LDFLAGS := $(if $(SAN),-fsanitize=address$(comma)undefined) $(if $(COV),--coverage)
LDLIBS = $(shell pkg-config --libs $(LIBRARIES)) -lm
PKG_CFLAGS = $(shell pkg-config --cflags $(LIBRARIES))

SOURCES := $(wildcard sim/*/*.c)
OBJECTS := $(SOURCES:%.c=$(BUILD)/%.o)
ROOM_OBJECTS := $(filter-out $(BUILD)/sim/cli/main.o,$(OBJECTS))
TEST_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/*.c))
BENCH_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/bench/*.c))
FUZZ_SOURCES := $(filter-out tests/fuzz/replay.c,$(wildcard tests/fuzz/*.c))
FUZZ_REPLAYS := $(FUZZ_SOURCES:tests/fuzz/%.c=$(BUILD)/fuzz-%)

.PHONY: mpi ocsim-mpi all deps build build-tests run-tests test test-mpi test-long bench sanitize coverage fuzz format \
	install clean help reproduce portability program print-program test-clang
.DEFAULT_GOAL := all
.PRECIOUS: $(BUILD)/%.o
# All cores, unless the caller says otherwise.
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(JOBS)
endif

## all: install what is missing, build ./ocsim
all: deps
	@$(MAKE) --no-print-directory build

## deps: install missing Debian packages through apt-get (with sudo where you are not root)
deps:
	@missing=$$(for p in $(PACKAGES); do dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || echo $$p; done); \
	if [ -n "$$missing" ]; then \
	  sudo=$$([ "$$(id -u)" = 0 ] || echo sudo); \
	  echo "deps: installing" $$missing; \
	  $$sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -y -qq --no-install-recommends $$missing; \
	fi

build: $(BUILD)/ocsim
	@cp -f $(BUILD)/ocsim ocsim.tmp && mv -f ocsim.tmp ocsim

program: $(BUILD)/ocsim
print-program:
	@echo $(BUILD)/ocsim

$(BUILD)/ocsim: $(OBJECTS)
	@$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/tests/suite: $(ROOM_OBJECTS) $(TEST_OBJECTS)
	@$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS) -lcunit

$(BUILD)/tests/bench/bench: $(ROOM_OBJECTS) $(BENCH_OBJECTS) $(BUILD)/tests/reference_heap.o
	@$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/fuzz-%: $(BUILD)/tests/fuzz/%.o $(BUILD)/tests/fuzz/replay.o $(ROOM_OBJECTS)
	@$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	@echo "  CC $<"
	@$(CC) $(CFLAGS) $(PKG_CFLAGS) -DOCSIM_VERSION='"$(VERSION)"' -DOCSIM_FLAGS='"$(OPT)$(if $(SAN), sanitized)"' \
	  -DOCSIM_DATADIR='"$(PREFIX)/share/ocsim"' -MMD -MP -c -o $@ $<

# The commit goes into one file only, and that is compiled anew only when the commit changes.
$(BUILD)/commit: .FORCE
	@mkdir -p $(@D); echo '$(COMMIT)' | cmp -s - $@ || echo '$(COMMIT)' > $@
.FORCE:
$(BUILD)/sim/results/manifest.o: $(BUILD)/commit
$(BUILD)/sim/results/manifest.o: CFLAGS += -DOCSIM_COMMIT='"$(COMMIT)"'

-include $(OBJECTS:.o=.d) $(TEST_OBJECTS:.o=.d) $(BENCH_OBJECTS:.o=.d) $(wildcard $(BUILD)/tests/fuzz/*.d)

## test: install what is missing, build, run every test; prints what failed and exits non-zero
test: deps
	@$(MAKE) --no-print-directory build $(BUILD)/tests/suite $(FUZZ_REPLAYS)
	@$(MAKE) --no-print-directory run-tests

# Without deps: what `test`, `sanitize` and `coverage` have in common.
run-tests:
	@$(BUILD)/tests/suite
	@for target in $(FUZZ_REPLAYS); do \
	  corpus=tests/fuzz/corpus/$${target##*fuzz-fuzz_}; $$target $$corpus || exit 1; done
	@OBJECTS='$(OBJECTS)' tests/adding $(CC) $(CFLAGS) $(PKG_CFLAGS) -- $(LDFLAGS) $(LDLIBS)
	@if [ -x ../shared/check/contract ] && command -v python3 >/dev/null; then ../shared/check/contract; fi

## test-long: the tests with more repetitions (100 kills, 10^8 queue operations)
test-long: deps
	@$(MAKE) --no-print-directory build $(BUILD)/tests/suite
	@OCSIM_LONG=1 OCSIM_KILLS=100 $(BUILD)/tests/suite

## test-mpi: ranks give the same results as one process; installs MPI where it is missing
test-mpi: mpi
	@$(MAKE) --no-print-directory build $(BUILD)/tests/suite
	@OCSIM_MPI=1 OCSIM_SUITE=ranks $(BUILD)/tests/suite

## reproduce: the published results beside ocsim's, with figures; exits non-zero outside tolerance
reproduce: all
	@scenarios/reproduce $(JOBS)

## bench: measures speed as ratios within one run
bench: deps
	@$(MAKE) --no-print-directory build $(BUILD)/tests/bench/bench
	@$(BUILD)/tests/bench/bench; code=$$?; tests/bench/streams || code=1; exit $$code

## sanitize: every test with AddressSanitizer and UndefinedBehaviorSanitizer
sanitize: deps
	@$(MAKE) --no-print-directory SAN=1 OPT=-O1 build-tests
	@cp -f build/$(notdir $(CC))-O1-san/ocsim ocsim && OCSIM_SHORT=1 $(MAKE) --no-print-directory SAN=1 OPT=-O1 run-tests; \
	code=$$?; $(MAKE) --no-print-directory build; exit $$code

## test-clang: every test built with clang
test-clang: PACKAGES += clang
test-clang: deps
	@$(MAKE) --no-print-directory CC=clang build build-tests && $(MAKE) --no-print-directory CC=clang run-tests; \
	code=$$?; $(MAKE) --no-print-directory build; exit $$code

build-tests: $(BUILD)/ocsim $(BUILD)/tests/suite $(FUZZ_REPLAYS)

## portability: same files and trace hashes with gcc and clang, -O0 -O2 -O3, and the sanitizers
portability: deps
	+@tests/portability

## coverage: line coverage of each room, by gcov
coverage: deps
	@$(MAKE) --no-print-directory COV=1 OPT=-O0 build-tests
	@find build/$(notdir $(CC))-O0-cov -name '*.gcda' -delete
	@cp -f build/$(notdir $(CC))-O0-cov/ocsim ocsim && OCSIM_SHORT=1 $(MAKE) --no-print-directory COV=1 OPT=-O0 run-tests; \
	code=$$?; $(MAKE) --no-print-directory build; [ $$code = 0 ] && tests/coverage build/$(notdir $(CC))-O0-cov

## fuzz: runs every fuzz target for FUZZ_SECONDS (60) each with clang's libFuzzer
FUZZ_SECONDS ?= 60
fuzz: PACKAGES += clang libclang-rt-14-dev
fuzz: deps
	@for source in $(FUZZ_SOURCES); do \
	  name=$$(basename $$source .c); corpus=build/fuzz/$$name; mkdir -p $$corpus; echo "fuzz: $$name"; \
	  clang -std=c17 -D_GNU_SOURCE -Isim -O1 -g -fsanitize=fuzzer,address,undefined -DOCSIM_VERSION='"fuzz"' -DOCSIM_FLAGS='"fuzz"' \
	    $(PKG_CFLAGS) -o build/fuzz/$$name.run $$source $(filter-out sim/cli/main.c,$(SOURCES)) $(LDLIBS) && \
	  build/fuzz/$$name.run -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=2048 -timeout=10 -print_final_stats=0 -verbosity=0 \
	    $$corpus tests/fuzz/corpus/$${name#fuzz_} || exit 1; done

## install: ocsim, its data, man pages and completions under PREFIX (/usr/local)
SHARE = $(DESTDIR)$(PREFIX)/share
install: all
	@install -d $(DESTDIR)$(PREFIX)/bin $(SHARE)/ocsim $(SHARE)/man/man1 $(SHARE)/man/man5 $(SHARE)/man/man7 \
	  $(SHARE)/bash-completion/completions $(SHARE)/zsh/site-functions $(SHARE)/fish/vendor_completions.d
	@install ocsim $(DESTDIR)$(PREFIX)/bin/ocsim
	@cp -r models topologies scenarios plots $(SHARE)/ocsim/
	@./ocsim man ocsim > $(SHARE)/man/man1/ocsim.1
	@./ocsim man scenario > $(SHARE)/man/man5/ocsim-scenario.5
	@./ocsim man topology > $(SHARE)/man/man5/ocsim-topology.5
	@./ocsim man results > $(SHARE)/man/man5/ocsim-results.5
	@./ocsim man strategies > $(SHARE)/man/man7/ocsim-strategies.7
	@./ocsim completion bash > $(SHARE)/bash-completion/completions/ocsim
	@./ocsim completion zsh > $(SHARE)/zsh/site-functions/_ocsim
	@./ocsim completion fish > $(SHARE)/fish/vendor_completions.d/ocsim.fish

# Where the data will be is compiled into one file: another PREFIX compiles that one anew.
.PHONY: .FORCE
$(BUILD)/prefix: .FORCE
	@mkdir -p $(@D); echo '$(PREFIX)' | cmp -s - $@ || echo '$(PREFIX)' > $@
$(BUILD)/sim/input/file.o: $(BUILD)/prefix

## mpi: build ./ocsim-mpi, which spreads the runs of a sweep over ranks: mpirun -n 4 ./ocsim-mpi run ...
mpi:
	@$(MAKE) --no-print-directory deps PACKAGES='$(PACKAGES) libopenmpi-dev openmpi-bin'
	@$(MAKE) --no-print-directory ocsim-mpi CC=mpicc EXTRA_CFLAGS='$(EXTRA_CFLAGS) -DOCSIM_MPI'

# Copied every time, as ./ocsim is: the tests take the older of the two for outdated.
ocsim-mpi: $(BUILD)/ocsim
	@cp -f $< $@.tmp && mv -f $@.tmp $@

## format: lay out the C files with clang-format
format:
	@clang-format -i $$(git ls-files '*.c' '*.h')

## clean: remove what was built
clean:
	@rm -rf build ocsim ocsim-mpi

## help: this list
help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)
