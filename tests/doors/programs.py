"""Programs of others that tests of doors run: found, or the test is skipped with the reason."""

import importlib.util
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

SYSTEM_PYTHON = "/usr/bin/python3"


def program(name):
    """Return the path of a program; skip the test where there is none."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed: make test-doors installs what Debian has")
    return found


def package(name):
    """Skip the test where this Python has no package of the name."""
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed: make test-doors installs what PyPI has")


def system_python(name):
    """Return Debian's Python, if it can import the package; skip the test otherwise."""
    if not _system_has(name):
        pytest.skip(f"{SYSTEM_PYTHON} has no {name}: make test-doors installs what Debian has")
    return SYSTEM_PYTHON


@cache
def _system_has(name):
    if not Path(SYSTEM_PYTHON).exists():
        return False
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    command = [SYSTEM_PYTHON, "-c", f"import {name}"]
    return subprocess.run(command, env=clean, capture_output=True, check=False).returncode == 0
