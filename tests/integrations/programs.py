"""Programs of others that these tests run: found, or the test is skipped with the reason."""

import importlib.util
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

SYSTEM_PYTHON = "/usr/bin/python3"


def program(name):
    """Return the path of a program; skip the test where there is none."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed: make test-integrations installs it")
    return found


def package(name):
    """Skip the test where this Python has no package of the name."""
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed: make test-integrations installs what PyPI has")


def system_python(name):
    """Return Debian's Python, if it can import the package; skip the test otherwise."""
    if not _can_import(SYSTEM_PYTHON, name):
        pytest.skip(f"{SYSTEM_PYTHON} has no {name}: make test-integrations installs it")
    return SYSTEM_PYTHON


def python_beside(name, module):
    """Return the Python of the environment `name` beside ours, if it can import the module."""
    python = Path(sys.prefix) / name / "bin" / "python"
    if not _can_import(str(python), module):
        pytest.skip(f"{python} has no {module}: make test-integrations installs what PyPI has")
    return python


@cache
def _can_import(python, name):
    if not Path(python).exists():
        return False
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    command = [python, "-c", f"import {name}"]
    return subprocess.run(command, env=clean, capture_output=True, check=False).returncode == 0
