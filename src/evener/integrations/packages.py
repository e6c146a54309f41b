"""Imports another program's package when it is needed; if it is missing, says how to install it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from evener.errors import ToolError

DEBIAN = {"petsc4py": "python3-petsc4py", "mpi4py": "python3-mpi4py", "dolfinx": "python3-dolfinx"}


def package(name: str) -> Any:
    """Return a module of another program, such as "petsc4py.PETSc"; ToolError if it is missing."""
    try:
        return import_module(name)
    except (ImportError, OSError) as error:  # OSError: a required library is missing
        top = name.partition(".")[0]
        hint = "Install it with `pip install 'evener[integrations]'`."
        if top in DEBIAN:
            hint = f"On Debian: `apt-get install {DEBIAN[top]}`, for /usr/bin/python3."
        raise ToolError(f"this Python cannot import {name} ({error})", hint=hint) from error
