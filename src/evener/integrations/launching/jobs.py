"""RankJob and Launch: a program with the places of its ranks, and how to start it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from evener.integrations.launching.placing import RankPlace

HOSTS, RANKS, RANK_SCRIPT, SCRIPT, BATCH = "hosts", "ranks", "rank.sh", "launch.sh", "job.sbatch"


@dataclass(frozen=True)
class RankJob:
    """A program and the place of each of its ranks.

    program: the program and its arguments. folder: the folder of the launch's files, as written in
    the command. options: further options for the launcher, before the program.
    """

    places: tuple[RankPlace, ...]
    program: tuple[str, ...]
    folder: str = "."
    options: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """Number of ranks."""
        return len(self.places)

    def path(self, name: str) -> str:
        """Return the path of a launch file for use in a command."""
        path = str(PurePosixPath(self.folder, name))
        return f"./{path}" if path.startswith("-") else path  # a leading - would mean an option


@dataclass(frozen=True)
class Launch:
    """How a job is started.

    files: text by name; scripts are run by `sh`. command: starts the job. direct: the command that
    also waits for the job's end; empty if `command` itself waits.
    """

    files: dict[str, str]
    command: tuple[str, ...]
    direct: tuple[str, ...] = ()

    @property
    def to_wait(self) -> tuple[str, ...]:
        """The command that starts the job and waits for its end."""
        return self.direct or self.command


def with_script(files: dict[str, str], words: Sequence[str]) -> Launch:
    """Return the launch for a command; its files include a script with the same command."""
    script = f"#!/bin/sh\n# Made by `evener launch`.\nexec {shlex.join(words)}\n"
    return Launch({**files, SCRIPT: script}, tuple(words))


def commented(places: Sequence[RankPlace]) -> str:
    """Return a comment for each rank that names its device."""
    return "".join(f"# rank {place.rank}: {one_line(place.device)}\n" for place in places)


def one_line(name: str) -> str:
    """Return a name without characters that would end a comment."""
    return "".join(c if c.isprintable() else "?" for c in name)
