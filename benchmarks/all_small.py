"""Runs every script of this folder on little input, to see that none has rotted.

    python benchmarks/all_small.py [NAME ...]

A line each: seconds, and the end of what it said where it failed. What is measured goes to
benchmarks/data/small. Scripts whose programs or inputs are not here are left out, with the reason.
"""

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
import time
from ctypes.util import find_library
from pathlib import Path

HERE = Path(__file__).parent
TAIL = 800  # characters of the error of a script that fails
# What is needed beside Evener: a library, a Python module, or a variable of the environment.
NEEDS = {
    "constraints": "libmetis",
    "halos": "mpi4py",
    "larger_ranks": "mpi4py",
    "measured": "mpi4py",
    "rebalancing_live": "mpi4py",
    "truth": "mpi4py",
    "real_inputs": "EVENER_DATA",
    "running": "mpi4py",
    "solvers": "mpif90.openmpi",
}
SIMGRID = ("/usr/bin/python3", "-c", "import simgrid")


def scripts():
    """Names of the scripts that measure: those that take --small."""
    named = sorted(path.stem for path in HERE.glob("*.py"))
    texts = {name: (HERE / f"{name}.py").read_text() for name in named if name != "all_small"}
    return [name for name, text in texts.items() if takes_small(text)]


def takes_small(text):
    return "__name__ ==" in text and any(
        word in text for word in ("parser(__doc__", "arguments(__doc__", '"--small"')
    )


def missing(name):
    """Why a script cannot run here, or None."""
    need = NEEDS.get(name, "")
    if need.isupper():
        return None if os.environ.get(need) else f"needs the folder {need}"
    if need.startswith("mpif90"):
        return None if shutil.which(need) else f"needs {need}"
    if need.startswith("lib"):
        return None if find_library(need.removeprefix("lib")) else f"needs {need}"
    if (
        name.startswith("simulated")
        and subprocess.run(SIMGRID, capture_output=True, check=False).returncode
    ):
        return "needs Debian's python3-simgrid"
    return f"needs {need}" if need and importlib.util.find_spec(need) is None else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="these alone")
    failed, began = [], time.monotonic()
    for name in parser.parse_args().names or scripts():
        if reason := missing(name):
            print(f"{name:18s} left out: {reason}", flush=True)
            continue
        start = time.monotonic()
        command = [sys.executable, str(HERE / f"{name}.py"), "--small"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        said = "" if done.returncode == 0 else f"failed:\n{done.stderr[-TAIL:]}"
        failed += [name] if said else []
        print(f"{name:18s} {time.monotonic() - start:5.1f} s {said}", flush=True)
    print(f"{'all':18s} {time.monotonic() - began:5.1f} s, {len(failed)} failed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
