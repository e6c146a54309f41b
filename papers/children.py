"""Lets child processes import papers."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = str(Path(__file__).parents[1])


def let_children_import_papers() -> None:
    """Put the root of the repository on the path of processes started from now on.

    Evener starts its children so that they look for modules neither in the current folder nor
    beside a script; a checkout is not installed.
    """
    known = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    if ROOT not in known:
        os.environ["PYTHONPATH"] = os.pathsep.join([*known, ROOT])
