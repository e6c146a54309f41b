"""Runs a program of the system's Python on ranks of Open MPI, as a user's solver runs."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.doors.programs import SYSTEM_PYTHON, system_python

MPIRUN = "/usr/bin/mpirun"  # of Debian: mpiexec on the path may be another MPI's
SOURCE = Path(__file__).parents[2] / "src"
LONGEST = 120  # seconds after which ranks wait for each other for ever
ROOT_MAY_RUN = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}


def needs(*packages):
    """Skip the test where Debian's Open MPI or one of these packages of its Python is absent."""
    if not Path(MPIRUN).exists():
        pytest.skip(f"{MPIRUN} is not installed: make test-doors installs what Debian has")
    for package in packages:
        system_python(package)


def environment():
    """The system's, with Evener's source on Python's path, and nothing of this Python's."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    path = os.pathsep.join(["/usr/bin", kept["PATH"]])
    threads = {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(SOURCE)}
    return kept | ROOT_MAY_RUN | threads | {"PATH": path}


def run_on_ranks(n, program, *words, cwd):
    """Run a Python program on n ranks; what it printed, and its exit code."""
    command = [MPIRUN, "-n", str(n), SYSTEM_PYTHON, str(program), *map(str, words)]
    return subprocess.run(command, cwd=cwd, env=environment(), capture_output=True, text=True,
                          timeout=LONGEST, check=False)  # fmt: skip


def results_of(n, program, *words, cwd):
    """What each of n ranks saved to `rank<r>.npz` in the folder, as a list of dicts."""
    done = run_on_ranks(n, program, *words, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    found = []
    for rank in range(n):
        with np.load(Path(cwd) / f"rank{rank}.npz") as file:
            found.append(dict(file))
    return found
