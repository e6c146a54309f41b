"""Options of `evener launch`."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import dataclass

from evener.errors import UsageError


@dataclass(frozen=True)
class LaunchOptions:
    """What is to be started, by which launcher, and where its files go.

    machine: a plan or a machine file. program: its words. mpirun: the launcher's program and its
    options, or nothing. ranks: the number that a plan must have; None: any.
    """

    machine: str
    program: tuple[str, ...]
    launcher: str | None
    mpirun: tuple[str, ...]
    hosts: str | None
    ranks: int | None
    output: str | None
    force: bool
    runs: bool


def add_launch_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `evener launch`; the program's words come after `--`."""
    from evener.integrations.launching.launchers import KINDS

    parser.add_argument("machine", metavar="PLAN", help="a plan; or a machine file")
    parser.set_defaults(program=[])
    parser.add_argument("--run", action="store_true", help="run it; its exit code is handed on")
    parser.add_argument(
        "--with", dest="launcher", choices=KINDS, metavar="LAUNCHER",
        help=f"{', '.join(KINDS)} (default: what mpirun says that it is)",
    )  # fmt: skip
    parser.add_argument(
        "--mpirun", default="", metavar="WORDS",
        help="this mpirun, mpiexec or srun, and options of it, as 'srun --mpi=pmix'",
    )  # fmt: skip
    parser.add_argument("--hosts", metavar="FILE", help="a hostfile: no other hosts are used")
    parser.add_argument(
        "--ranks", type=int, metavar="K", help="refuse a plan for another number of devices"
    )
    parser.add_argument("-o", "--output", metavar="FOLDER", help="write the files there")
    parser.add_argument("--force", action="store_true", help="replace files that are there")


def launch_options_from(args: argparse.Namespace) -> LaunchOptions:
    """Return the options. Raises UsageError without a program, and for an open quotation."""
    if not args.program:
        raise UsageError(
            "no program is given", hint="Write it last: evener launch X.plan -- ./solver ARGUMENTS"
        )
    try:
        mpirun = tuple(shlex.split(args.mpirun))
    except ValueError as error:
        raise UsageError(f"--mpirun {args.mpirun!r}: {error}") from error
    return LaunchOptions(
        args.machine, tuple(args.program), args.launcher, mpirun, args.hosts, args.ranks,
        args.output, args.force, args.run,
    )  # fmt: skip
