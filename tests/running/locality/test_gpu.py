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


@pytest.mark.slow
def test_the_benchmark_of_gpus_in_the_simulator(tmp_path):
    if importlib.util.find_spec("numba.cuda") is None:
        pytest.skip("numba-cuda is not installed")
    results, sections = tmp_path / "gpu.jsonl", ("copy", "spmv", "programs", "together")
    words = ROOT / "benchmarks" / "gpu.py", "--simulate", "-o", results, *sections
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=250,
                          check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in results.read_text().splitlines()]
    assert {line["section"] for line in lines if line["figure"] == "section"} == set(sections)
    assert {line["way"] for line in lines if line["figure"] == "spmv"} == set(ROWS)
    assert all(line["device"] == "simulator" for line in lines)
