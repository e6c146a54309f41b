"""Checks a job, and selects the launcher's module, which makes its files and command."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from evener.errors import InputError, UsageError
from evener.integrations.launching import mpich, openmpi, slurm
from evener.integrations.launching.jobs import HOSTS, RANK_SCRIPT, Launch, RankJob
from evener.integrations.launching.launchers import MPICH, OPENMPI, PLAIN, SLURM, Launcher
from evener.integrations.launching.placing import RankPlace, is_here
from evener.integrations.launching.rank_script import OF_ANY, wrapped


def plain_launch(job: RankJob, launcher: Launcher) -> Launch:  # noqa: ARG001 - of any launcher
    """Return a Launch: its file lists hosts by rank; its command is what each rank must run."""
    script, program = wrapped(job, OF_ANY, binds=True)
    return Launch({HOSTS: "".join(f"{place.host}\n" for place in job.places), **script}, program)


_LAUNCH: dict[str, Callable[[RankJob, Launcher], Launch]] = {
    OPENMPI: openmpi.launch,
    MPICH: mpich.launch,
    SLURM: slurm.launch,
    PLAIN: plain_launch,
}
_NUMBERS = ("-n", "-np", "--n", "--np", "-c", "--ntasks")


def launch_of(job: RankJob, launcher: Launcher) -> Launch:
    """Return the files and the command that start a job.

    Raises UsageError for launcher options that set the number of ranks, which is the number of
    devices.
    """
    for word in job.options:
        if word.split("=")[0] in _NUMBERS:
            raise UsageError(
                f"the launcher option {word} sets the number of ranks, but each of the {job.n:,} "
                "devices has one rank",
                hint="For another number of ranks, make a plan for that number of devices.",
            )
    return _LAUNCH[launcher.kind](job, launcher)


def refuse_missing_program(program: Sequence[str], places: Sequence[RankPlace]) -> None:
    """Raise InputError if a program does not exist, or cannot be run, on this computer.

    If no rank is on this computer, nothing is checked: the path may be right on the other
    computers.
    """
    name = program[0]
    if not any(is_here(place.host) for place in places):
        return
    if "/" not in name:
        if shutil.which(name) is None:
            there = Path(name).is_file()
            raise InputError(
                f"there is no program {name!r} in PATH",
                hint=f"Did you mean ./{name}?" if there else "Give its path.",
            )
        return
    if not Path(name).is_file():
        raise InputError("there is no such program", file=name)
    if not os.access(name, os.X_OK):
        raise InputError("is not executable", file=name, hint=f"chmod +x {name}")


def needs_shared_folder(launch: Launch, places: Sequence[RankPlace]) -> bool:
    """Return whether ranks on other computers need to read a file of the launch."""
    return RANK_SCRIPT in launch.files and not all(is_here(place.host) for place in places)
