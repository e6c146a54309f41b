"""Describes the computers of a hostfile: mpiexec starts a process on each, which describes it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from evener.errors import EvenerError, InputError, ToolError, UsageError
from evener.files.temporary import private_folder
from evener.io.machines.platform_dicts import platform_from_dict
from evener.measuring.machine_hosts import DESCRIBE, MARK, MEASURE
from evener.platforms.described import Described

CHILD = "evener.measuring.machine_hosts"
SECONDS = 900.0  # all computers may take: measuring takes half a minute, starting a few seconds
MOST_LINES = 3  # of what a launcher that failed has said
# What starts one process on each computer, bound to no core: it is to see all that it may use.
COMMANDS = {
    "openmpi": ("--hostfile", "{hosts}", "--map-by", "ppr:1:node", "--bind-to", "none"),
    "mpich": ("-f", "{hosts}", "-ppn", "1", "-bind-to", "none"),
    "slurm": ("--nodelist", "{list}", "--ntasks-per-node=1", "--cpu-bind=none"),
}


class Starter(NamedTuple):
    """What starts the processes: "openmpi", "mpich" or "slurm", and the program."""

    kind: str
    path: str


class Answer(NamedTuple):
    """The machine as described, and what is to be said of it."""

    found: Described
    notes: tuple[str, ...]


def described_hosts(starter: Starter, hosts: Sequence[str], per: str, *, measures: bool) -> Answer:
    """Return the machine of these computers, each described by a process of its own there.

    Evener and mpi4py must be installed on each, under the same path. Raises UsageError where two
    hosts are one computer, ToolError where the processes cannot be started, or do not answer.
    """
    if starter.kind not in COMMANDS:
        raise UsageError(f"processes cannot be started by {starter.kind}")
    with private_folder() as folder:
        listed = Path(folder) / "hosts"
        listed.write_text("".join(f"{host}\n" for host in hosts))
        said = _run(_command(starter, listed, hosts, per, measures=measures))
    return _answer(said)


def _command(
    starter: Starter, listed: Path, hosts: Sequence[str], per: str, *, measures: bool
) -> list[str]:
    options = [word.format(hosts=listed, list=",".join(hosts)) for word in COMMANDS[starter.kind]]
    action = MEASURE if measures else DESCRIBE
    child = [sys.executable, "-m", CHILD, per, action, *hosts]
    return [starter.path, *options, "-n", str(len(hosts)), *child]


def _run(command: Sequence[str]) -> str:
    """Return what the processes print. Raises the error that they report, or ToolError."""
    name = Path(command[0]).name
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False,
            stdin=subprocess.DEVNULL, timeout=SECONDS,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise ToolError(f"{name}: the computers gave no answer in {SECONDS:g} s") from error
    except OSError as error:
        raise ToolError(f"{name} cannot be run: {error.strerror or error}") from error
    for line in done.stderr.splitlines():
        if MARK in line:
            raise _reported(line.partition(MARK)[2])
    if done.returncode or MARK not in done.stdout:
        said = (done.stderr + done.stdout).splitlines()
        lines = [line.strip() for line in said if re.search(r"\w", line)]
        raise ToolError(
            f"{name} ended with {done.returncode}: {' / '.join(lines[:MOST_LINES])}",
            hint="Can it start a program on each host? Evener must be there, too, with an mpi4py "
            "of the launcher's MPI.",
        )
    return done.stdout


def _reported(text: str) -> EvenerError:
    """Return the error that a process reported."""
    try:
        code, message, hint = json.loads(text)
    except ValueError:
        return ToolError(f"a process failed: {text[:200]}")
    kinds = {2: UsageError, 3: InputError}
    return kinds.get(code, ToolError)(str(message), hint=hint and str(hint))


def _answer(said: str) -> Answer:
    text = next(line for line in said.splitlines() if MARK in line).partition(MARK)[2]
    try:
        data: dict[str, Any] = json.loads(text)
        guessed = {name: frozenset(keys) for name, keys in data["guessed"].items()}
        found = Described(
            platform_from_dict(data["platform"]), guessed, tuple(map(str, data["sources"]))
        )
        return Answer(found, tuple(map(str, data["notes"])))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ToolError(f"the computers' answer cannot be read: {error}") from error
