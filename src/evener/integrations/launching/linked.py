"""Finds the MPI that a program is linked with: with another launcher, each rank runs by itself."""

from __future__ import annotations

import re
import shutil
import subprocess

from evener.errors import UsageError
from evener.integrations.launching.launchers import MPICH, OPENMPI, Launcher

# Shared libraries: Open MPI's, and MPICH's, whose number 12 is also used by its descendants.
_LIBRARIES = (
    (OPENMPI, re.compile(r"\blibmpi\.so\.(?:20|40)\b|\blibopen-(?:rte|pal)\b")),
    (MPICH, re.compile(r"\blibmpi\.so\.12\b|\blibmpich\b")),
)
_SECONDS = 20.0


def refuse_other_mpi(program: str, launcher: Launcher) -> None:
    """Raise UsageError if a program is linked with another MPI than the launcher's.

    Scripts and statically linked programs cannot be checked, nor any program if there is no `ldd`.
    """
    path, kind = shutil.which(program), None
    if path is not None and launcher.is_found and launcher.kind in (OPENMPI, MPICH):
        kind = _linked_with(path)
    if kind not in (None, launcher.kind):
        raise UsageError(
            f"{program} is linked with {kind}, and {launcher.path} is of {launcher.kind}: "
            "each rank would run as a single process",
            hint=f"--with {kind} finds the right launcher.",
        )


def _linked_with(path: str) -> str | None:
    try:
        said = subprocess.run(
            ["ldd", path], capture_output=True, text=True, errors="replace",
            stdin=subprocess.DEVNULL, timeout=_SECONDS, check=False,
        ).stdout  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = [kind for kind, libraries in _LIBRARIES if libraries.search(said)]
    return found[0] if len(found) == 1 else None
