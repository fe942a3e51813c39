# Two commands on a fresh machine: `make demo` and `make test`.
# Every target sets up what it needs in .venv, and repeats cost little.

VENV ?= .venv
PEERS ?= $(VENV)-peers
OLDEST ?= $(VENV)-oldest
MINUTES ?= 5
DIST ?= dist

ifeq ($(OS),Windows_NT)
PYTHON ?= python
BIN := $(VENV)/Scripts
# Visual Studio's compiler also where another one is found first.
SETTINGS := --config-settings=setup-args=--vsenv
else
PYTHON ?= python3
BIN := $(VENV)/bin
endif

PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Requirements stand in pyproject.toml only.
LIST := $(BIN)/python tools/requirements.py
# Builds find meson, ninja and cython of the environment first. All paths stay relative, or are
# quoted by the shell: the folder of a checkout may have spaces in its name.
ON_PATH := PATH="$$(cd "$(BIN)" && pwd):$$PATH"
# One process per core; each leaves the others theirs.
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal
# The share of Hypothesis's examples that a test tries: few where everybody waits, else all.
FEW := COLUMNIST_EXAMPLES=$${COLUMNIST_EXAMPLES:-0.2}
ALL := COLUMNIST_EXAMPLES=$${COLUMNIST_EXAMPLES:-1.0}
# Any file or folder that appears, changes or disappears under src rebuilds the package.
SOURCES := pyproject.toml meson.build README.md $(shell find src -name __pycache__ -prune -o -print)

# Targets share one environment and one build folder; compiler and tests use all cores by themselves.
.NOTPARALLEL:
.PHONY: help demo test test-rest test-all oldest soak lint format types docs linkcheck \
	bench bench-peers bench-subset fresh reproduce dist wheel wheels system clean
.DELETE_ON_ERROR:

help:
	@echo "make demo       certified selection on a bundled data set"
	@echo "make test       tests, docstrings and README (PYTEST_ARGS=... to choose)"
	@echo "make test-rest  only what make test leaves out; make test-all is everything, thoroughly"
	@echo "make oldest     the tests with the oldest versions that pyproject.toml allows"
	@echo "make soak       random hostile problems against enumeration (MINUTES=5)"
	@echo "make lint       style checks (make format repairs what it can)"
	@echo "make types      type checks"
	@echo "make docs       HTML documentation in docs/_build/html, its links checked"
	@echo "make bench      benchmarks (make bench-peers compares with other programs)"
	@echo "make fresh      stored results that are older than the code they measure"
	@echo "make reproduce  compute the published tables again (REPRODUCE_ARGS=... to choose)"
	@echo "make dist       source archive and wheel in dist"
	@echo "make wheel      a wheel that travels, tried in an environment without a compiler"
	@echo "make system     browser, npm and R for tests and documentation (Debian, as root)"
	@echo "make clean      remove everything that was generated"

demo: $(VENV)/.extra-cli $(VENV)/.package
	$(BIN)/columnist demo

test: $(VENV)/.extra-test $(VENV)/.package
	$(FEW) $(PYTEST) -m "not slow" $(PYTEST_ARGS)

test-rest: $(VENV)/.extra-test $(VENV)/.package
	$(ALL) $(PYTEST) -m slow $(PYTEST_ARGS)

test-all: $(VENV)/.extra-test $(VENV)/.package
	$(ALL) $(PYTEST) $(PYTEST_ARGS)

# The bounds of pyproject.toml become the versions of a second environment.
oldest: $(OLDEST)/constraints.txt
	PIP_CONSTRAINT=$< $(MAKE) VENV=$(OLDEST) test

$(OLDEST)/constraints.txt: pyproject.toml tools/requirements.py
	@mkdir -p $(OLDEST)
	$(PYTHON) tools/requirements.py --oldest > $@

soak: $(VENV)/.extra-test $(VENV)/.package
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.soak --minutes $(MINUTES) $(SOAK_ARGS)

lint: $(VENV)/.tools-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml

format: $(VENV)/.tools-lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The sources, with the packages they use in sight.
types: $(VENV)/.tools-types $(VENV)/.extra-test
	$(BIN)/python -m mypy

docs: $(VENV)/.extra-docs $(VENV)/.package
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html
	$(BIN)/python docs/check_links.py docs/_build/html

# Whether the links to elsewhere answer; needs a network.
linkcheck: $(VENV)/.extra-docs $(VENV)/.package
	$(BIN)/python -m sphinx -b linkcheck docs docs/_build/linkcheck

bench: $(VENV)/.extra-test $(VENV)/.package
	$(BIN)/python benchmarks/run.py $(BENCH_ARGS)

# Every program in an environment of its own; what cannot be had is a line in the table.
bench-peers: $(VENV)/.extra-test $(VENV)/.package
	$(BIN)/python benchmarks/against/environments.py $(PEERS)
	$(BIN)/python benchmarks/against/run.py --environments $(PEERS) $(PEERS_ARGS)

# Best subsets, with the same programs where they are there (SUBSET_ARGS="products --seconds 30"); a run
# that was cut off goes on with SUBSET_ARGS="--since COMMIT".
bench-subset: $(VENV)/.extra-test $(VENV)/.package
	$(BIN)/python benchmarks/subset/run.py --environments $(PEERS) $(SUBSET_ARGS)

# Stored results that are older than the code they measure; exits with 1 if there are some.
fresh: $(VENV)/.extra-test $(VENV)/.package
	$(BIN)/python benchmarks/fresh.py

# Exits with 1 if a figure differs from print without a stated reason. The stored results that the
# documentation shows are those of REPRODUCE_ARGS="all --out reproduction/results.json".
REPRODUCE_ARGS ?= all --quick
reproduce: $(VENV)/.extra-cli $(VENV)/.package
	$(BIN)/python -m reproduction $(REPRODUCE_ARGS)

# The wheel is built from the source archive, which shows that the archive is complete.
dist: $(VENV)/.build
	rm -rf $(DIST)
	$(ON_PATH) $(BIN)/python -m build --no-isolation --skip-dependency-check $(subst settings,setting,$(SETTINGS)) --outdir $(DIST) .

# For this Python and for every Linux with a C library as new as this one's.
wheel: $(VENV)/.tools-wheel dist
	$(ON_PATH) $(BIN)/python tools/wheel.py $(DIST)

# Wheels of this system for every supported Python, each tested; on Linux this needs Docker.
wheels: $(VENV)/.tools-wheels
	$(BIN)/python -m cibuildwheel --output-dir $(DIST)

# Tests that use a browser or R are skipped where these are missing, and fail if
# COLUMNIST_REQUIRE_TOOLS=1; this target only says what it could not install.
system:
	sh tools/system.sh

clean:
	rm -rf $(VENV) $(PEERS) $(OLDEST) build $(DIST) soak-failures docs/_build docs/auto_examples docs/generated
	rm -rf docs/sg_execution_times.rst .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +

$(VENV)/.created:
	$(PYTHON) -m venv $(VENV)
	@touch $@

# What a build needs is kept in the environment, so that rebuilds are incremental.
$(VENV)/.build: $(VENV)/.created pyproject.toml
	$(LIST) build > $@.txt
	$(PIP) install -r $@.txt
	@touch $@

# .tools-lint is a group of [dependency-groups], .extra-test what the extra [test] asks for.
$(VENV)/.tools-%: $(VENV)/.created pyproject.toml
	$(LIST) $* > $@.txt
	$(PIP) install -r $@.txt
	@touch $@

$(VENV)/.extra-%: $(VENV)/.created pyproject.toml
	$(LIST) $* > $@.txt
	$(PIP) install -r $@.txt
	@touch $@

# One install for all extras.
$(VENV)/.package: $(VENV)/.build $(SOURCES)
	$(ON_PATH) $(PIP) install --no-build-isolation $(SETTINGS) \
		--config-settings=build-dir=$(VENV)/meson .
	@touch $@
