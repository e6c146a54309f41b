"""Runs a program of another Python on ranks of the MPI that it uses, as a user's solver runs."""

import os
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from tests.integrations.programs import SYSTEM_PYTHON

SOURCE = Path(__file__).parents[2] / "src"
LONGEST = 120  # seconds after which ranks wait for each other for ever


class Place(NamedTuple):
    """A Python that has solvers, the mpirun of their MPI, and what they need in the environment."""

    python: str
    mpirun: str
    more: Mapping[str, str]
    whence: str


# PETSc 3.18, DOLFINx 0.5 and Open MPI, which refuses root and more ranks than cores by itself.
DEBIAN = Place(
    SYSTEM_PYTHON,
    "/usr/bin/mpirun",  # mpirun on the path may be another MPI's
    {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
    },
    "Debian",
)
# PETSc 3.25, DOLFINx 0.11 and MPICH: the wheel dolfinx-solver-real, in an environment of its own.
WHEELS_IN = Path(sys.prefix) / "dolfinx"
WHEELS = Place(
    str(WHEELS_IN / "bin" / "python"),
    str(WHEELS_IN / "bin" / "mpirun"),
    {"LD_LIBRARY_PATH": str(WHEELS_IN / "lib")},
    "PyPI",
)


def needs(place, *packages):
    """Skip the test where a place has no mpirun, or not all of these packages."""
    for what in ("", *packages):
        if not _has(place, what):
            missing = f"{place.python} has no {what}" if what else f"there is no {place.mpirun}"
            pytest.skip(f"{missing}: make test-integrations installs what {place.whence} has")


@cache
def _has_all(python, mpirun, environment, what):
    if not (Path(mpirun).exists() and Path(python).exists()):
        return False
    command = [python, "-c", f"import {what}" if what else ""]
    return subprocess.run(command, env=dict(environment), capture_output=True,
                          check=False).returncode == 0  # fmt: skip


def _has(place, what):
    """Whether a place has mpirun, and the package `what` unless that is empty."""
    return _has_all(place.python, place.mpirun, tuple(environment(place).items()), what)


def text_refused(place, mesh, error):
    """How a mesh is refused as a plan: text is read only by a Python that has Numba."""
    return ("InputError", error) if _has(place, "numba") else ("ToolError", f"{mesh} is not a plan")


def environment(place):
    """The place's, with Evener's source on Python's path, and nothing of this Python's."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    path = os.pathsep.join([str(Path(place.mpirun).parent), kept["PATH"]])
    threads = {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(SOURCE)}
    return kept | threads | dict(place.more) | {"PATH": path}


def run_on_ranks(place, n, program, *words, cwd):
    """Run a Python program on n ranks; what it printed, and its exit code."""
    command = [place.mpirun, "-n", str(n), place.python, str(program), *map(str, words)]
    return subprocess.run(command, cwd=cwd, env=environment(place), capture_output=True, text=True,
                          timeout=LONGEST, check=False)  # fmt: skip


def results_of(place, n, program, *words, cwd):
    """What each of n ranks saved to `rank<r>.npz` in the folder, as a list of dicts."""
    done = run_on_ranks(place, n, program, *words, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    found = []
    for rank in range(n):
        with np.load(Path(cwd) / f"rank{rank}.npz") as file:
            found.append(dict(file))
    return found
