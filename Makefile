# ocsim: GNU make, no configure step. `make help` lists the targets.
VERSION := 0.1.0
CC ?= gcc
PREFIX ?= /usr/local
# -j gives make its own parallelism; JOBS is what reproduce hands to `ocsim run -j`.
JOBS ?= $(shell nproc 2>/dev/null || echo 1)

# OPT, SAN and COV each build in a folder of their own, so switching never mixes objects.
OPT ?= -O2
MODE := $(notdir $(CC))$(subst $(eval ) ,,$(OPT))$(if $(SAN),-san)$(if $(COV),-cov)
BUILD := build/$(MODE)

PACKAGES := gcc make pkg-config libgsl-dev libcjson-dev libyaml-dev libcunit1-dev gnuplot-nox
LIBRARIES := gsl libcjson yaml-0.1
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla
COMMIT := $(shell git describe --always --dirty 2>/dev/null || echo unknown)
# No contraction to fused multiply-add: results must not depend on the compiler (design: same hash everywhere).
CFLAGS := -std=c17 -D_GNU_SOURCE -Isim $(OPT) -g $(WARNINGS) $(WERROR) -ffp-contract=off \
	$(if $(SAN),-fsanitize=address$(,)undefined -fno-sanitize-recover=all -fno-omit-frame-pointer) \
	$(if $(COV),--coverage) $(EXTRA_CFLAGS)
, := ,
LDFLAGS := $(if $(SAN),-fsanitize=address$(,)undefined) $(if $(COV),--coverage)
LDLIBS = $(shell pkg-config --libs $(LIBRARIES)) -lm
PKG_CFLAGS = $(shell pkg-config --cflags $(LIBRARIES))

SOURCES := $(wildcard sim/*/*.c)
OBJECTS := $(SOURCES:%.c=$(BUILD)/%.o)
ROOM_OBJECTS := $(filter-out $(BUILD)/sim/cli/main.o,$(OBJECTS))
TEST_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/*.c))
BENCH_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/bench/*.c))
FUZZ_SOURCES := $(filter-out tests/fuzz/replay.c,$(wildcard tests/fuzz/*.c))
FUZZ_REPLAYS := $(FUZZ_SOURCES:tests/fuzz/%.c=$(BUILD)/fuzz-%)

.PHONY: all deps build test bench sanitize coverage fuzz format install clean help reproduce portability
.DEFAULT_GOAL := all

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
	@$(CC) $(CFLAGS) $(PKG_CFLAGS) -DOCSIM_VERSION='"$(VERSION)"' -DOCSIM_FLAGS='"$(OPT)$(if $(SAN), sanitized)"' -MMD -MP -c -o $@ $<

# The commit is compiled into one file only, and that file only when it changes.
$(BUILD)/commit: .FORCE
	@mkdir -p $(@D); echo '$(COMMIT)' | cmp -s - $@ || echo '$(COMMIT)' > $@
.FORCE:

-include $(OBJECTS:.o=.d) $(TEST_OBJECTS:.o=.d) $(BENCH_OBJECTS:.o=.d)

## format: lay out the C files with clang-format
format:
	@clang-format -i $$(git ls-files '*.c' '*.h')

## clean: remove what was built
clean:
	@rm -rf build ocsim ocsim-mpi

## help: this list
help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)
