"""Finds the installed MPI launcher, and the MPI that a program is linked with.

The launcher is recognised by what it prints on --version. If a program is linked with another MPI
than the launcher's, each rank would run by itself.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath

from evener.errors import ToolError, UsageError, one_of

OPENMPI, MPICH, SLURM, PLAIN = "openmpi", "mpich", "slurm", "hostfile"
KINDS = (OPENMPI, MPICH, SLURM, PLAIN)
PROGRAMS = {
    OPENMPI: ("mpirun", "mpiexec", "mpirun.openmpi", "mpiexec.openmpi", "orterun", "prterun"),
    MPICH: ("mpiexec", "mpirun", "mpiexec.hydra", "mpiexec.mpich", "mpirun.mpich"),
    SLURM: ("srun",),
}
_VERSION = r"(\d+)\.(\d+)(?:\.(\d+))?"
_SAYS = (
    (OPENMPI, re.compile(rf"\((?:Open MPI|OpenRTE)\)\s+{_VERSION}")),
    (MPICH, re.compile(rf"HYDRA build details:\s+Version:\s+{_VERSION}")),
    (SLURM, re.compile(rf"^slurm\S*\s+{_VERSION}", re.MULTILINE)),
)
_OTHER = re.compile(r"Intel\(R\) MPI|MVAPICH|Platform MPI|PALS")
_SECONDS = 20.0  # a program that prints no version within this time is not a launcher


def is_launcher(word: str) -> bool:
    """Whether a command's first word is the name, or a path, of a known launcher."""
    return PurePath(word).name in {name for names in PROGRAMS.values() for name in names}


@dataclass(frozen=True)
class Launcher:
    """A program that starts ranks. version: three numbers, or empty if it was not found."""

    kind: str
    path: str
    version: tuple[int, ...] = ()

    @property
    def is_found(self) -> bool:
        """Whether the program is on this computer."""
        return bool(self.version)


def launcher_of(kind: str | None = None, program: str | None = None) -> Launcher:
    """Return the launcher of a kind, or the first one found; its version is empty if not found.

    kind: one of KINDS, or None: the kind of the first `mpirun` or `mpiexec` in PATH, else Slurm.
    program: the launcher to use, a path or a name. Raises UsageError for an unknown kind, or a
    program of another kind; ToolError if the program is not a known launcher, or if no kind is
    given and none is found.
    """
    if kind is not None:
        one_of("launcher", kind, KINDS)
    if program is not None:
        return _asked(kind, program)
    if kind is not None:
        names = PROGRAMS.get(kind, ("",))
        return next(_found(kind), Launcher(kind, names[0]))
    for one in (OPENMPI, SLURM):  # mpirun and mpiexec, whichever comes first; then srun
        for path in _paths(PROGRAMS[one][:2]):
            printed = _printed_by(path)
            if (launcher := _launcher_in(path, printed)) is not None:
                return launcher
            if found := _OTHER.search(printed):
                raise _unknown(path, found[0])
    raise ToolError(
        "there is no mpirun, mpiexec or srun in PATH",
        hint="Choose what starts the ranks: --with openmpi, mpich, slurm or hostfile.",
    )


def _asked(kind: str | None, program: str) -> Launcher:
    path = shutil.which(program)
    if path is None:
        raise ToolError(f"there is no program {program!r}", hint="Give its path.")
    printed = _printed_by(path)
    launcher = _launcher_in(path, printed)
    if launcher is None:
        raise _unknown(path, printed.strip().split("\n")[0][:80] or "nothing")
    if kind not in (None, launcher.kind):
        raise UsageError(f"{path} belongs to {launcher.kind}, not to {kind}")
    return launcher


def _unknown(path: str, printed: str) -> ToolError:
    return ToolError(
        f"{path} belongs neither to Open MPI, MPICH nor Slurm: it prints {printed!r}",
        hint="--with hostfile writes a plain hostfile, for any launcher.",
    )


def _found(kind: str) -> Iterator[Launcher]:
    """Yield the launchers of a kind, name after name, each in the order of PATH."""
    for path in _paths(PROGRAMS.get(kind, ())):
        launcher = _launcher_in(path, _printed_by(path))
        if launcher is not None and launcher.kind == kind:
            yield launcher


def _paths(names: tuple[str, ...]) -> Iterator[str]:
    """Yield the programs with these names in PATH, name after name, each program once."""
    seen = set()
    for name in names:
        for folder in os.get_exec_path():
            path = shutil.which(name, path=folder)
            real = None if path is None else os.path.realpath(path)
            if path is not None and real not in seen:
                seen.add(real)
                yield path


def _printed_by(path: str) -> str:
    """Return what a program prints on --version; "" if it fails."""
    return "".join(_output_of([path, "--version"], _SECONDS))


def _output_of(words: list[str], seconds: float) -> tuple[str, str]:
    """Return what a command prints on stdout and stderr; nothing if it fails or takes longer."""
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL,
            timeout=seconds, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return "", ""
    return done.stdout, done.stderr


def _launcher_in(path: str, printed: str) -> Launcher | None:
    for kind, pattern in _SAYS:
        if found := pattern.search(printed):
            return Launcher(kind, path, tuple(int(part or 0) for part in found.groups()))
    return None


# Shared libraries: Open MPI's, and MPICH's, whose number 12 is also used by its descendants.
_LIBRARIES = (
    (OPENMPI, re.compile(r"\blibmpi\.so\.(?:20|40)\b|\blibopen-(?:rte|pal)\b")),
    (MPICH, re.compile(r"\blibmpi\.so\.12\b|\blibmpich\b")),
)
_LINKED_SECONDS = 20.0


def refuse_other_mpi(program: str, launcher: Launcher) -> None:
    """Raise UsageError if a program is linked with another MPI than the launcher's.

    Scripts and statically linked programs cannot be checked, nor any program if there is no `ldd`.
    """
    path, kind = shutil.which(program), None
    if path is not None and launcher.is_found and launcher.kind in (OPENMPI, MPICH):
        kind = _linked_with(path)
    if kind not in (None, launcher.kind):
        raise UsageError(
            f"{program} is linked with {kind}, but {launcher.path} belongs to {launcher.kind}: "
            "each rank would run as a single process",
            hint=f"--with {kind} finds the right launcher.",
        )


def _linked_with(path: str) -> str | None:
    printed, _ = _output_of(["ldd", path], _LINKED_SECONDS)
    found = [kind for kind, libraries in _LIBRARIES if libraries.search(printed)]
    return found[0] if len(found) == 1 else None
