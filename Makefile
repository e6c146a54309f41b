# What a person runs: make demo, make check, make test. Everything lives in .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Random graphs for all parts of partitioning, with slow tests; every kernel is reached from these
# and from FOLDERS; SMALL cases are for kernels that run as they stand, a hundred times slower.
RANDOM := tests/partitioning/test_fuzz.py tests/partitioning/makespan/test_refine_seconds.py
FOLDERS := tests/graphs tests/platforms tests/plans tests/io tests/partitioning tests/planning \
	tests/streams \
	tests/files tests/test_*.py
SMALL := tests/io tests/test_arrays_kernels.py tests/graphs/test_graph.py tests/graphs/test_mesh.py \
	tests/streams/test_annealing.py tests/streams/test_placing.py \
	tests/plans/test_metrics.py tests/plans/test_exchange_costs.py::test_as_the_slow_twin \
	tests/partitioning/mapping/test_blocks.py::test_any_few_blocks \
	tests/partitioning/mapping/test_device_search.py \
	tests/partitioning/mapping/test_mapping_kernels.py \
	tests/partitioning/initial/test_bisection.py tests/partitioning/initial/test_trees.py \
	tests/partitioning/initial/test_halving_kernels.py \
	tests/partitioning/refinement/test_fm.py::test_what_touches_is_summed_over_edges \
	tests/partitioning/refinement/test_fm.py::test_groups_are_those_of_a_table \
	tests/partitioning/refinement/test_fm.py::test_groups_share_out_all_seeds \
	tests/partitioning/refinement/test_fm.py::test_shuffles_are_permutations_that_the_seed_decides \
	tests/partitioning/refinement/test_maxflow_kernels.py \
	tests/partitioning/levels/test_levels.py tests/partitioning/repair/test_packing.py \
	tests/partitioning/label_propagation/test_draining_kernels.py \
	tests/partitioning/label_propagation/test_move_kernels.py \
	tests/partitioning/multiconstraint/test_enforce_several.py
FAST := -m "not slow and not browser"
KERNELS := $(shell find src -name "*_kernels.py") $(wildcard src/evener/cli/precompile/*.py)

# Kept in __pycache__: the tests start hundreds of processes.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo wheel check test test-papers test-integrations test-fast test-bounds test-nojit test-gpu fuzz format bench bench-all papers site clean

demo: $(VENV)/.core
	@$(BIN)/python examples/demo.py demo

# Wheels with compiled kernels, one for each of these that is found, and one for any Python; each is
# tried in a fresh environment. Environments and packs stay in build/wheels.
PYTHONS ?= python3.11 python3.12 python3.13
wheel:
	$(PYTHON) packaging/wheels.py --pythons $(PYTHONS)

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell src papers tests benchmarks examples packaging docs README.md CHANGELOG.md CONTRIBUTING.md

test: $(VENV)/.warm
	$(BIN)/pytest -n 2

# Reproductions of papers, which are not in the package.
test-papers: $(VENV)/.warm
	$(BIN)/pytest -n 2 papers

# Without slow tests, and with a quarter of the examples of property tests.
test-fast: export EVENER_EXAMPLES = quick
test-fast: $(VENV)/.warm
	$(BIN)/pytest -n 2 $(FAST)

# Other people's programs, which read what Evener exports: Debian's need root to be installed; tests
# of what is absent are skipped, and say so.
DEBIAN := openfoam python3-petsc4py python3-dolfinx openmpi-bin hwloc slurmctld slurmd slurm-client \
	munge g++ gfortran ocl-icd-libopencl1
# PyPI has DOLFINx and PETSc of 2026 as a wheel for newer Pythons, which gets an environment of its own;
# so does VTK, of which nothing else is needed, and PyFR with an MPI and an OpenCL of PyPI.
NEWER := python3.12 python3.13 $(wildcard $(HOME)/.pyenv/versions/3.1[23]*/bin/python3)
test-integrations: $(VENV)/.warm
	-test "$$(id -u)" != 0 || DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
		--no-install-recommends $(DEBIAN) >/dev/null
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[integrations]'
	-test -x $(VENV)/dolfinx/bin/python || for python in $(NEWER); do \
		$$python -c "" 2>/dev/null && $$python -m venv $(VENV)/dolfinx && \
		$(VENV)/dolfinx/bin/pip install --quiet --disable-pip-version-check dolfinx-solver-real \
		-e . && break; done
	-test -x $(VENV)/vtk/bin/python || { $(PYTHON) -m venv $(VENV)/vtk && \
		$(VENV)/vtk/bin/pip install --quiet --disable-pip-version-check --no-deps vtk numpy; }
	-test -x $(VENV)/pyfr/bin/pyfr || { $(PYTHON) -m venv $(VENV)/pyfr && \
		$(VENV)/pyfr/bin/pip install --quiet --disable-pip-version-check pyfr==3.1 mpich \
		pocl-binary-distribution==3.0; }
	$(BIN)/pytest -n 2 -m integrations -rs tests/integrations

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

# New examples for all property tests, then changed files of all kinds, read and used (see
# docs/security.md): make fuzz MINUTES=5 SEED=3. Both print how to run again what they found.
MINUTES ?= 60
SEED ?= $(shell date +%s)
fuzz: $(VENV)/.warm
	$(BIN)/pytest -n 2 -m hypothesis --hypothesis-profile fuzz --hypothesis-seed $(SEED)
	$(BIN)/python -m tests.fuzzing --minutes $(MINUTES) --seed $(SEED)

# On a computer with a GPU of NVIDIA: all tests of GPU code there, and what it takes.
test-gpu: $(VENV)/.core
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[cuda13]' cupy-cuda13x
	$(BIN)/python benchmarks/gpu.py

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/partitioners.py --small
	$(BIN)/python benchmarks/reading.py

# Every benchmark on little input: do they still run.
bench-all: $(VENV)/.warm
	$(BIN)/python benchmarks/all_small.py

# The papers' experiments, smaller, with every rival that PyPI has, in build/papers: half an hour of a
# core. After an interruption hmap and ldht go on.
papers: $(VENV)/.core
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[mtkahypar]'
	mkdir -p build/papers
	for paper in cla14 guo16 spac hmap ldht; do \
		$(BIN)/python -m papers.$$paper --fast -o build/papers/$$paper || exit 1; done

# Python compiles modules when they are imported; pip would compile all of SciPy's, most of which are not.
$(VENV)/.core: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Evener needs Python 3.11 or newer; try make PYTHON=python3.12")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --no-compile --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/.dev: pyproject.toml $(VENV)/.core
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

# All kernels compiled once, side by side: the tests' processes would compile many of them twice. The
# pack is found by other checkouts and environments of the same sources, Python and Numba.
PACKS := $(if $(XDG_CACHE_HOME),$(XDG_CACHE_HOME),$(HOME)/.cache)/evener
$(VENV)/.warm: $(VENV)/.dev $(KERNELS)
	mkdir -p $(PACKS)
	$(BIN)/evener warm --pack $(PACKS)
	touch $@

# The documentation as a site, in build/site: every link is checked, and a warning is an error.
site: export NO_MKDOCS_2_WARNING = 1
site: $(VENV)/.core
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[site]'
	$(BIN)/mkdocs build --quiet --strict

clean:
	rm -rf $(VENV) demo build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
