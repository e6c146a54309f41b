"""Evener: splits one data-parallel computation over unequal devices so that all finish together.

    import evener as ev

    plan = ev.plan("mesh.su2", "machine.toml", epsilon=0.02)
    print(plan.verdict())

__init__.pyi lists the public names; each is imported when it is first used (PEP 562).
"""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

_IMPORT = re.compile(r"^from (\S+) import (\w+) as", re.MULTILINE)
_STUB = Path(__file__).with_suffix(".pyi").read_text()
_HOME = {name: home for home, name in _IMPORT.findall(_STUB)}
del _HOME["metrics"]  # a module that the documentation has users import from here

__all__ = sorted(_HOME)  # noqa: PLE0605 - type checkers read the stub


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("evener")
    if name == "metrics":
        return import_module("evener.plans.metrics")
    if name not in _HOME:
        raise AttributeError(f"module 'evener' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
