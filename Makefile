# What a person runs: make demo, make check, make test. Everything lives in .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Random graphs for all parts of partitioning, with slow tests; every kernel is reached from these
# and from FOLDERS; SMALL cases are for kernels that run as they stand, a hundred times slower.
RANDOM := tests/partitioning/test_fuzz.py tests/partitioning/test_seconds.py
FOLDERS := tests/filing tests/generating tests/mapping tests/partitioning tests/solving tests/test_*.py
SMALL := tests/filing tests/test_arrays_kernels.py tests/test_graphs.py tests/test_meshes.py \
	tests/test_metrics.py tests/test_metrics_seconds.py::test_as_the_slow_twin \
	tests/mapping/test_blocks.py::test_any_few_blocks tests/mapping/test_multisection.py \
	tests/mapping/test_swapping.py \
	$(patsubst %,tests/partitioning/test_%.py,bisection_fm grouping halving levels maxflow \
	packing propagation_draining propagation_leaps several_enforce splitting trees)
FAST := -m "not slow and not browser"
KERNELS := $(shell find src -name "*_kernels.py") $(wildcard src/evener/warming/*.py)

# Kept in __pycache__: the tests start hundreds of processes.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo check test test-fast test-bounds test-nojit fuzz format bench clean

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
	$(BIN)/pytest -n 2 $(FAST)

# All kernels with bounds checked, and on small cases without the compiler.
test-bounds: export NUMBA_BOUNDSCHECK = 1
test-bounds: export NUMBA_CACHE_DIR = $(CURDIR)/$(VENV)/checked
test-bounds: $(VENV)/.dev
	$(BIN)/pytest -n 2 --timeout 900 $(FAST) $(FOLDERS)
	$(BIN)/pytest -n 2 --timeout 900 $(RANDOM)

test-nojit: export NUMBA_DISABLE_JIT = 1
test-nojit: $(VENV)/.dev
	$(BIN)/pytest -n 2 --timeout 900 $(FAST) $(SMALL)
	$(BIN)/pytest -n 2 --timeout 900 $(RANDOM)

# Changed files of all kinds, read and used: make fuzz MINUTES=5; docs/security.md.
MINUTES ?= 60
fuzz: $(VENV)/.warm
	$(BIN)/python -m tests.fuzzing --minutes $(MINUTES)

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
