# `make run` and `make test` do all the set-up on a machine that has Python 3.11 to 3.13, a C++ compiler, CMake's needs and git.

SHELL := /bin/bash
VENV ?= .venv
BIN := $(VENV)/bin
TASK ?= heat-apple

# The first of these that is a Python this project supports; PYTHON=... overrides.
SUPPORTED := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))
PYTHON ?= $(shell for python in python3 python3.12 python3.11 python3.13; do \
	$$python -c '$(SUPPORTED)' 2>/dev/null && echo $$python && break; done)

# What pip says while it installs, reduced to what a person waits for; all of it is in the log.
LOG := $(VENV)/install.log
SHOW := awk '\
	/^ *\[[0-9]+\/[0-9]+\]/ { split(substr($$1, 2), at, /[\/\]]/); if (at[1] % 20 == 0 || at[1] == at[2]) \
		{ print "  compiling llama.cpp: " at[1] " of " at[2]; fflush() } next } \
	/^ *\[ *[0-9]+%\] Building/ { split($$0, at, /[\[%]/); if (int(at[2] / 25) > quarter) \
		{ quarter = int(at[2] / 25); print "  compiling the planner of ALFWorld: " at[2] + 0 "%"; fflush() } next } \
	/Building wheel for llama.cpp.python/ && !told++ { print "llama.cpp is compiled for this machine now; on two cores that takes about ten minutes, once."; fflush() } \
	/^Collecting|^ERROR|^error|^Successfully/ { print "  " substr($$0, 1, 100); fflush() }'

.PHONY: help run test check clean

help:
	@echo "make run    set up, then play the sample task $(TASK) on the embedded model"
	@echo "make test   set up, then check the style and the types and run the tests"
	@echo "make clean  remove the environment"

run: $(VENV)/.installed
	@$(BIN)/evoharness run $(TASK); code=$$?; \
	if [ $$code -gt 1 ]; then exit $$code; fi

test: $(VENV)/.installed-test check
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest
	@$(BIN)/coverage combine -q
	$(BIN)/coverage report

check: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

clean:
	rm -rf $(VENV)

$(VENV)/.installed: pyproject.toml
	$(call install,.)

$(VENV)/.installed-test: pyproject.toml
	$(call install,.[test])
	@touch $(VENV)/.installed

define install
@if [ -z "$(PYTHON)" ]; then echo "expected Python 3.11, 3.12 or 3.13 as python3; install one, or name it: make PYTHON=/path/to/python3.12"; exit 2; fi
@test -d $(VENV) || $(PYTHON) -m venv $(VENV)
@echo "installing evoharness and what it needs into $(VENV) (log: $(LOG))"
@set -o pipefail; CMAKE_BUILD_PARALLEL_LEVEL=$$(getconf _NPROCESSORS_ONLN) $(BIN)/pip install -v -e '$(1)' 2>&1 | tee $(LOG) | $(SHOW) \
	|| { tail -n 40 $(LOG); echo "the installation failed; the whole log is $(LOG)"; exit 1; }
@touch $@
endef
