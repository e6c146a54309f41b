"""Modules run in processes of their own, for tests of CUDA devices: simulated ones, real ones."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evener.measuring.this_computer import gpus_here

ROOT = Path(__file__).parents[2]


def said_by(module, **variables):
    """Run one of the modules of the tests: what it writes. variables: of its environment."""
    done = subprocess.run(
        [sys.executable, "-m", module], env=os.environ | variables, cwd=ROOT,
        text=True, capture_output=True, timeout=250, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def in_the_simulator(module):
    """Assert that a module finds all as on the CPU where Numba plays a device."""
    if importlib.util.find_spec("numba.cuda") is None:
        pytest.skip("numba-cuda is not installed")
    assert said_by(module, NUMBA_ENABLE_CUDASIM="1") == "all as on the CPU\n"


def on_a_gpu(module):
    """Assert that a module finds all as on the CPU on the device that is here, if one is."""
    if not gpus_here():
        pytest.skip("no CUDA device here")
    assert said_by(module) == "all as on the CPU\n"


def compiled(module):
    """Assert that a module compiles kernels to PTX, for compute capability 7.5 and 8.0.

    No device is needed, NVIDIA's compiler is.
    """
    said = said_by(module, NUMBA_ENABLE_CUDASIM="0")
    if said.startswith("no compiler"):
        pytest.skip(said)
    assert said.splitlines()[-1] == "all compiled"
