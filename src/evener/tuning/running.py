"""Runs a launcher's command with waits.c preloaded into the ranks, and reads their traces.

waits.c is compiled at its first use, by the C compiler of the ranks' MPI.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from evener.errors import InputError, ToolError
from evener.files.writing import refusal
from evener.integrations.launching.launchers import MPICH, OPENMPI, Launcher, launcher_of
from evener.integrations.launching.running import run_to_end
from evener.machine_code.packs import users_folder
from evener.tuning.traces import RankTrace, read_traces

SOURCE, CALLS = (Path(__file__).with_name(name) for name in ("waits.c", "counted_calls.h"))
FLAGS = ("-O2", "-shared", "-fPIC")
_COMPILING = 60.0  # [s]
_INSTALL = (
    "Debian: apt install gcc, and libopenmpi-dev or libmpich-dev; a cluster: load its MPI module."
)
_LINES = 5  # lines of the program's output that an error shows


class MeasuredRun(NamedTuple):
    """The traces of all ranks, and the launcher's exit code, or None if the time limit ended it."""

    traces: list[RankTrace]
    exit_code: int | None


def run_measured(
    words: Sequence[str], ranks: int, folder: Path, seconds: float | None = None
) -> MeasuredRun:
    """Run a command such as `mpirun -n 4 solver`, and return the traces of its ranks.

    ranks: expected number of ranks. folder: an empty folder, which all computers of ranks must
    share. seconds: time limit, after which the program gets SIGTERM. Raises ToolError if the
    command does not begin with a known launcher, and if no rank wrote a trace; InputError if the
    number of ranks differs.
    """
    log = folder / "output.log"
    code: int | None = None
    with suppress(subprocess.TimeoutExpired):
        code = run_to_end(preloaded(words, folder), output=log, seconds=seconds)
    traces = read_traces(folder)
    if not traces:
        raise ToolError(_nothing(code, log), hint=_WHY_NOTHING)
    if traces[0].size != ranks:
        raise InputError(
            f"the program has {traces[0].size:,} ranks, and the plan {ranks:,} devices",
            hint=f"Start {ranks:,} ranks: rank r computes block r.",
        )
    if len(traces) < ranks:
        missing = sorted(set(range(ranks)) - {trace.rank for trace in traces})
        raise ToolError(
            f"{len(missing):,} of {ranks:,} ranks were not measured, first rank {missing[0]}",
            hint="Ranks on other computers need a shared folder: give one by --folder.",
        )
    return MeasuredRun(traces, code)


def preloaded(words: Sequence[str], folder: Path) -> list[str]:
    """Return a launcher's command, changed so that its ranks write traces to the folder."""
    launcher = launcher_of(program=words[0])
    preload = {"LD_PRELOAD": str(shim_for(launcher, folder)), "EVENER_TUNE": str(folder)}
    if own := os.environ.get("LD_PRELOAD"):
        preload["LD_PRELOAD"] += f":{own}"
    return _with(preload, words, launcher.kind)


_WHY_NOTHING = (
    "Perhaps the program does not use MPI, is linked statically, uses another MPI than the "
    "launcher's, or ended before MPI_Init."
)


def _nothing(code: int | None, log: Path) -> str:
    """Return the error message for a program without any measured rank."""
    lines = log.read_text(errors="replace").strip().split("\n")[-_LINES:] if log.exists() else []
    ended = "" if not code else f"; the launcher ended with exit code {code}"
    printed = f"; its last output: {' / '.join(lines)}" if any(lines) else ""
    return f"no rank was measured{ended}{printed}"


def _with(variables: dict[str, str], words: Sequence[str], kind: str) -> list[str]:
    """Return the command, changed so that its ranks get the environment variables."""
    pairs = [f"{key}={value}" for key, value in variables.items()]
    if kind == OPENMPI:  # for each program, if one command starts several
        options = [word for pair in pairs for word in ("-x", pair)]
        made = [words[0], *options]
        for word in words[1:]:
            made += [word, *options] if word == ":" else [word]
        return made
    if kind == MPICH:
        options = [word for key, value in variables.items() for word in ("-genv", key, value)]
        return [words[0], *options, *words[1:]]
    return [words[0], f"--export=ALL,{','.join(pairs)}", *words[1:]]


def shim_for(launcher: Launcher, private: Path) -> Path:
    """Return the library to preload into the ranks of a launcher; compile it if it is not cached.

    private: folder for the library of a user without a cache folder. The compiler is the mpicc in
    the launcher's folder, otherwise the one in PATH. The cached file's name contains a digest of
    the source, the compiler and its options. Raises ToolError if there is no compiler, and if
    compiling fails.
    """
    compiler = _compiler(launcher)
    options = _ran([compiler, "-show"]).stdout
    text = "\n".join([SOURCE.read_text(), CALLS.read_text(), compiler, options, *FLAGS])
    folder = (users_folder() or private) / "tune"
    made = folder / f"waits-{hashlib.sha256(text.encode()).hexdigest()[:16]}.so"
    if made.is_file():
        return made
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file, name = tempfile.mkstemp(suffix=".so", dir=folder)
    except OSError as error:
        raise refusal(error, folder) from error
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
    of_launcher = Path(launcher.path).with_name("mpicc")
    if of_launcher.is_file():
        return str(of_launcher)
    if (in_path := shutil.which("mpicc")) is not None:
        return in_path
    raise ToolError(
        "measuring an MPI program needs mpicc of its MPI, which is not in PATH", hint=_INSTALL
    )


def _ran(words: list[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            words, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL,
            timeout=_COMPILING, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ToolError(f"{words[0]} does not work: {error}", hint=_INSTALL) from error
