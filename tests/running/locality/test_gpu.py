"""Staged kernels on CUDA devices: simulated ones, and kernels compiled for real ones."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evener.measuring.devices import cuda_devices

ROOT = Path(__file__).parents[3]


def run(module, **variables):
    """Run one of the modules beside this file in a process of its own: what it writes."""
    done = subprocess.run(
        [sys.executable, "-m", f"{__package__}.{module}"], env=os.environ | variables, cwd=ROOT,
        text=True, capture_output=True, timeout=250, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_in_the_simulator():
    if importlib.util.find_spec("numba.cuda") is None:
        pytest.skip("numba-cuda is not installed")
    assert run("cuda_staged", NUMBA_ENABLE_CUDASIM="1") == "all as on the CPU\n"


@pytest.mark.gpu
def test_on_a_gpu():
    if not cuda_devices():
        pytest.skip("no CUDA device here")
    assert run("cuda_staged") == "all as on the CPU\n"


@pytest.mark.slow
def test_kernels_compile_to_ptx():
    """For devices of compute capability 7.5 and 8.0; no device is needed, NVIDIA's compiler is."""
    said = run("staged_ptx", NUMBA_ENABLE_CUDASIM="0")
    if said.startswith("no compiler"):
        pytest.skip(said)
    assert said.splitlines()[-1] == "all compiled"
