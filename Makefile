# What a person runs: make demo, make check, make test. Everything lives in .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CHECKED := tests/partitioning/test_fuzz.py tests/partitioning/test_seconds.py
KERNELS := $(shell find src -name "*_kernels.py") $(wildcard src/evener/warming/*.py)

# Kept in __pycache__: the tests start hundreds of processes.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo check test test-fast test-bounds test-nojit format bench clean

demo: $(VENV)/.core
	@$(BIN)/python examples/demo.py demo

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: $(VENV)/.warm
	$(BIN)/pytest -n 2

test-fast: $(VENV)/.warm
	$(BIN)/pytest -n 2 -m "not slow and not browser"

# Compiled parts on small random graphs, with bounds checked and without the compiler.
test-bounds: $(VENV)/.dev
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(VENV)/checked $(BIN)/pytest -n 2 --timeout 900 $(CHECKED)

test-nojit: $(VENV)/.dev
	NUMBA_DISABLE_JIT=1 $(BIN)/pytest -n 2 --timeout 900 $(CHECKED)

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/partitioners.py --small -o benchmarks/data/small.jsonl
	$(BIN)/python benchmarks/reading.py

$(VENV)/.core: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Evener needs Python 3.11 or newer; try make PYTHON=python3.12")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/.dev: pyproject.toml $(VENV)/.core
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

# All kernels compiled once, side by side: the tests' processes would compile many of them twice.
$(VENV)/.warm: $(VENV)/.dev $(KERNELS)
	$(BIN)/evener warm
	touch $@

clean:
	rm -rf $(VENV) demo build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
