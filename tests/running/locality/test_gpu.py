"""Products and interactions on CUDA devices: simulated ones, and kernels compiled for real ones."""

import importlib.util
import json
import subprocess
import sys

import pytest

from tests.running import cuda_runs
from tests.running.cuda_runs import ROOT

ROWS = "by_rows", "by_runs", "by_parts"


@pytest.mark.slow
def test_in_the_simulator():
    cuda_runs.in_the_simulator("tests.running.locality.cuda_staged")


@pytest.mark.gpu
def test_on_a_gpu():
    cuda_runs.on_a_gpu("tests.running.locality.cuda_staged")


@pytest.mark.slow
def test_kernels_compile_to_ptx():
    cuda_runs.compiled("tests.running.locality.staged_ptx")


FIRST_INPUTS = """
import itertools, sys
sys.path.insert(0, {folder!r})
import gpu

def first_of(made):
    return lambda *given: itertools.islice(made(*given), 1)

gpu.graphs, gpu.matrices = first_of(gpu.graphs), first_of(gpu.matrices)
gpu.__file__ = __file__  # of the processes for the sections
gpu.main()
"""


@pytest.mark.slow
def test_the_benchmark_of_gpus_in_the_simulator(tmp_path):
    """On the first of its graphs and matrices."""
    if importlib.util.find_spec("numba.cuda") is None:
        pytest.skip("numba-cuda is not installed")
    results, sections = tmp_path / "gpu.jsonl", ("copy", "spmv", "programs", "together")
    script = tmp_path / "first_inputs.py"
    script.write_text(FIRST_INPUTS.format(folder=str(ROOT / "benchmarks")))
    done = subprocess.run([sys.executable, script, "--simulate", "-o", results, *sections],
                          capture_output=True, text=True, timeout=250, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in results.read_text().splitlines()]
    assert {line["section"] for line in lines if line["figure"] == "section"} == set(sections)
    assert {line["way"] for line in lines if line["figure"] == "spmv"} == set(ROWS)
    assert all(line["device"] == "simulator" for line in lines)
