"""Compiles waits.c, which is preloaded into the ranks, with the compiler of the ranks' MPI."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from evener.errors import ToolError
from evener.integrations.launching.launchers import Launcher
from evener.machine_code.packs import users_folder

SOURCE, CALLS = (Path(__file__).with_name(name) for name in ("waits.c", "counted_calls.h"))
FLAGS = ("-O2", "-shared", "-fPIC")
_SECONDS = 60.0
_INSTALL = (
    "Debian: apt install gcc, and libopenmpi-dev or libmpich-dev; a cluster: load its MPI module."
)


def shim_for(launcher: Launcher) -> Path:
    """Return the library to preload into the ranks of a launcher, compiled unless it is there.

    The compiler is the mpicc beside the launcher, else the one in PATH. The cache's file name holds
    a digest of the source, the compiler and its options. Raises ToolError without a compiler, and
    where compiling fails.
    """
    compiler = _compiler(launcher)
    options = _ran([compiler, "-show"]).stdout
    said = "\n".join([SOURCE.read_text(), CALLS.read_text(), compiler, options, *FLAGS])
    folder = users_folder() or Path(tempfile.gettempdir())
    made = folder / "tune" / f"waits-{hashlib.sha256(said.encode()).hexdigest()[:16]}.so"
    if made.is_file():
        return made
    made.parent.mkdir(parents=True, exist_ok=True)
    file, name = tempfile.mkstemp(suffix=".so", dir=made.parent)
    os.close(file)
    try:
        done = _ran([compiler, *FLAGS, "-o", name, str(SOURCE), "-ldl"])
        if done.returncode:
            reason = done.stderr.strip().split("\n")[0][:200] or f"exit code {done.returncode}"
            raise ToolError(f"{compiler} cannot compile {SOURCE.name}: {reason}", hint=_INSTALL)
        os.replace(name, made)  # noqa: PTH105 - another process may have been faster
    finally:
        Path(name).unlink(missing_ok=True)
    return made


def _compiler(launcher: Launcher) -> str:
    """Return the path of mpicc."""
    beside = Path(launcher.path).with_name("mpicc")
    if beside.is_file():
        return str(beside)
    if (found := shutil.which("mpicc")) is not None:
        return found
    raise ToolError(
        "measuring an MPI program needs its C compiler mpicc, which is not in PATH", hint=_INSTALL
    )


def _ran(words: list[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            words, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL,
            timeout=_SECONDS, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ToolError(f"{words[0]} does not work: {error}", hint=_INSTALL) from error
