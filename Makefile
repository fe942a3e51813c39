# Two commands on a fresh machine: `make demo` and `make test`.
# Every target sets up what it needs in .venv, and repeats cost little.

PYTHON ?= python3
VENV ?= .venv
PEERS ?= $(VENV)-peers

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Any file or folder that appears, changes or disappears under src rebuilds the package.
SOURCES := pyproject.toml meson.build README.md $(shell find src -name __pycache__ -prune -o -print)

.PHONY: help demo test soak lint format docs linkcheck bench bench-peers dist clean
.DELETE_ON_ERROR:

help:
	@echo "make demo    certified selection on a bundled data set"
	@echo "make test    tests, docstrings and README"
	@echo "make soak    random hostile problems against enumeration (MINUTES=5)"
	@echo "make lint    style checks (make format repairs what it can)"
	@echo "make docs    HTML documentation in docs/_build/html, its links checked"
	@echo "make bench   benchmarks (make bench-peers compares with other programs)"
	@echo "make dist    source archive and wheel in dist"
	@echo "make clean   remove everything that was generated"

demo: $(VENV)/.columnist-cli
	$(BIN)/columnist demo

# One process per core; each leaves the others theirs.
test: $(VENV)/.columnist-test
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal $(PYTEST_ARGS)

# Random hostile problems, checked by enumeration in extended precision; MINUTES says how long.
MINUTES ?= 5
soak: $(VENV)/.columnist-test
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.soak --minutes $(MINUTES) $(SOAK_ARGS)

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell

format: $(VENV)/.lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.columnist-docs
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html
	$(BIN)/python docs/check_links.py docs/_build/html

# Whether the links to elsewhere answer; needs a network.
linkcheck: $(VENV)/.columnist-docs
	$(BIN)/python -m sphinx -b linkcheck docs docs/_build/linkcheck

bench: $(VENV)/.columnist-test
	$(BIN)/python benchmarks/run.py $(BENCH_ARGS)

# Every program in an environment of its own; what cannot be had is a line in the table.
bench-peers: $(VENV)/.columnist-test
	$(BIN)/python benchmarks/against/environments.py $(PEERS)
	$(BIN)/python benchmarks/against/run.py --environments $(PEERS) $(PEERS_ARGS)

# The wheel is built from the source archive, which shows that the archive is complete.
dist: $(VENV)/.build
	rm -rf dist
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m build --no-isolation --skip-dependency-check --outdir dist .

clean:
	rm -rf $(VENV) $(PEERS) build dist docs/_build docs/auto_examples docs/generated docs/sg_execution_times.rst
	rm -rf .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +

$(VENV)/.created:
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.lint: $(VENV)/.created
	$(PIP) install "ruff>=0.6" "codespell>=2.3"
	@touch $@

# What pyproject.toml asks of a build, kept in the environment so that rebuilds are incremental.
$(VENV)/.build: $(VENV)/.created pyproject.toml
	$(PIP) install "meson-python>=0.18" "meson>=1.4" ninja "Cython>=3.1" "numpy>=2.0" "scipy>=1.13" "build>=1.2"
	@touch $@

# One stamp per set of extras: .columnist-test is the package with its [test] extra.
$(VENV)/.columnist-%: $(VENV)/.build $(SOURCES)
	PATH="$(abspath $(BIN)):$$PATH" $(PIP) install --no-build-isolation \
		--config-settings=build-dir=$(abspath $(VENV))/meson ".[$*]"
	@touch $@
