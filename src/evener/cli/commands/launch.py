"""`evener launch`: start the ranks of an MPI program on the devices of their blocks."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from evener.cli.kinds.vertices import idle_devices
from evener.cli.machines import MAX_ROWS, plan_in, platform_in
from evener.cli.options import add_options, option, options_from
from evener.errors import UsageError
from evener.integrations.launching.launchers import KINDS

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.integrations.launching.jobs import Launch, RankJob
    from evener.integrations.launching.launchers import Launcher
    from evener.integrations.launching.placing import RankPlace


@dataclass(frozen=True)
class LaunchOptions:
    """Options of `evener launch`.

    machine: a plan or a machine file. program: the program and its arguments. mpirun: the launcher
        and its options; empty: the default. ranks: required number of devices of a plan; None: any.
    """

    machine: str = option("a plan file of any kind, or a machine file", "machine", metavar="PLAN")
    program: tuple[str, ...] = ()
    run: bool = option("run the program, and return its exit code", default=False)
    launcher: str | None = option(
        f"{', '.join(KINDS)} (default: as mpirun identifies itself)",
        "--with",
        choices=KINDS,
        metavar="LAUNCHER",
    )
    mpirun: tuple[str, ...] = option(
        "the mpirun, mpiexec or srun to use, with its options, such as `'srun --mpi=pmix'` "
        "(default: the first in PATH)",
        default="",
        metavar="WORDS",
    )
    hosts: str | None = option(
        "a hostfile; devices on other hosts, or more of them than slots, are refused",
        metavar="FILE",
    )
    ranks: int | None = option(
        "number of ranks; a plan for another number of devices is refused", type=int, metavar="K"
    )
    output: str | None = option(
        "write the files to this folder (default: print)", "-o", "--output", metavar="FOLDER"
    )
    force: bool = option("replace existing files", default=False)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options; the program's words come after `--`."""
    add_options(parser, LaunchOptions)
    parser.set_defaults(program=[])


def launch_options_from(args: argparse.Namespace) -> LaunchOptions:
    """Return the options. Raises UsageError without a program, and for an unclosed quotation."""
    if not args.program:
        raise UsageError(
            "no program is given", hint="Write it last: evener launch X.plan -- ./solver ARGUMENTS"
        )
    try:
        mpirun = tuple(shlex.split(args.mpirun))
    except ValueError as error:
        raise UsageError(f"--mpirun {args.mpirun!r}: {error}") from error
    return options_from(args, LaunchOptions, program=tuple(args.program), mpirun=mpirun)


class Prepared(NamedTuple):
    """A job, its launcher, the launch command, and the files that are written for the user."""

    job: RankJob
    launcher: Launcher
    launch: Launch
    kept: list[Path]


def run(args: argparse.Namespace, out: Output) -> int:
    """Print, write or run the launch command; with --run, return the program's exit code."""
    from evener.files.temporary import private_folder
    from evener.integrations.launching.placing import oddities

    options = launch_options_from(args)
    places = _places(options, out)
    for oddity in oddities(places):
        out.note(f"note: {oddity}")
    if options.run and options.output is None:
        with private_folder() as folder:
            return _run(_prepared(options, places, folder), out)
    prepared = _prepared(options, places)
    if options.run:
        return _run(prepared, out)
    out.result(_facts(prepared))
    _say(prepared, out)
    return 0


def launch_words(options: LaunchOptions, folder: Path, out: Output) -> tuple[str, ...]:
    """Return the command that starts the ranks and waits for them; its files are in `folder`."""
    return _prepared(options, _places(options, out), folder).launch.to_wait


def _places(options: LaunchOptions, out: Output) -> list[RankPlace]:
    """Return the location of each rank, checked against hosts, cores and the program."""
    from evener.integrations.launching import launch, placing
    from evener.running.launching import n_ranks

    if n_ranks() > 1:
        raise UsageError(
            f"this command starts the ranks itself, but {n_ranks():,} ranks run it",
            hint="Run it without mpirun, mpiexec or srun.",
        )
    from evener.plans.plan import Plan

    plan = plan_in(options.machine)
    platform = platform_in(options.machine) if plan is None else plan.platform
    if isinstance(plan, Plan) and (idle := idle_devices(plan)) is not None:
        out.note(idle)
    if options.ranks not in (None, platform.k):
        raise UsageError(
            f"--ranks is {options.ranks:,}, but {options.machine} is for {platform.k:,} devices",
            hint="Each device has one rank: make a plan for that many devices.",
        )
    places = placing.places_of(platform)
    if options.hosts is not None:
        from evener.io.machines.hostfile import read_hostfile

        placing.refuse_other_hosts(places, read_hostfile(options.hosts), options.hosts)
    placing.refuse_missing_cores(places)
    launch.refuse_missing_program(options.program, places)
    return places


def _prepared(
    options: LaunchOptions, places: list[RankPlace], private: Path | None = None
) -> Prepared:
    """Return the launch; its files are written to the requested folder, or to a private one."""
    from evener.integrations.launching.jobs import RankJob
    from evener.integrations.launching.launch import launch_of, needs_shared_folder
    from evener.integrations.launching.launchers import refuse_other_mpi

    launcher = _launcher(options)
    refuse_other_mpi(options.program[0], launcher)
    folder = private or options.output
    job = RankJob(tuple(places), options.program, str(folder or "."), options.mpirun[1:])
    launch = launch_of(job, launcher)
    if private is not None and needs_shared_folder(launch, places):
        raise UsageError(
            "ranks on other computers must read a file that is written for the launch",
            hint="Give a folder that all of them share: -o FOLDER.",
        )
    kept: list[Path] = []
    if folder is not None:
        from evener.files.writing import write_together

        contents = {name: [text.encode()] for name, text in launch.files.items()}
        kept = write_together(folder, contents, force=options.force)
    return Prepared(job, launcher, launch, [] if private else kept)


def _launcher(options: LaunchOptions) -> Launcher:
    """Return the launcher; raise an error if it is to be run but cannot be."""
    from evener.integrations.launching.launchers import PLAIN, launcher_of

    if options.run and options.launcher == PLAIN:
        raise UsageError(
            "--run needs a launcher; a plain hostfile has none",
            hint="Leave out --run, or choose --with openmpi, mpich or slurm.",
        )
    launcher = launcher_of(options.launcher, options.mpirun[0] if options.mpirun else None)
    if options.run and not launcher.is_found:
        raise UsageError(
            f"there is no {launcher.path} of {launcher.kind} in PATH",
            hint="Give its path by --mpirun, or leave out --run.",
        )
    return launcher


def _run(prepared: Prepared, out: Output) -> int:
    """Run the job; its output goes to stderr if stdout is for JSON."""
    from evener.integrations.launching.running import run_to_end

    words = prepared.launch.to_wait
    out.note(f"running: {shlex.join(words)}")
    code = run_to_end(words, stdout_to_stderr=out.is_json)
    out.result({**_facts(prepared), "exit_code": code})
    return code


def _facts(prepared: Prepared) -> dict[str, Any]:
    """Return the result for --json."""
    job, launcher, launch, kept = prepared
    return {
        "launcher": launcher.kind,
        "version": ".".join(map(str, launcher.version)),
        "ranks": [
            {"rank": p.rank, "device": p.device, "host": p.host, "cores": p.cores, "gpu": p.gpu}
            for p in job.places
        ],
        "command": launch.command,
        "files": launch.files,
        "written": [str(path) for path in kept],
    }


def _say(prepared: Prepared, out: Output) -> None:
    from evener.platforms.homes import cores_text

    job, _, launch, kept = prepared
    rows = [
        [p.rank, p.device, p.host, cores_text(p.cores) or "any", "" if p.gpu is None else p.gpu]
        for p in job.places
    ]
    out.table(["rank", "device", "host", "cores", "gpu"], rows, most=MAX_ROWS, what="ranks")
    if kept:
        out.say(f"Written: {', '.join(map(str, kept))}. The command:")
    else:
        for name, text in launch.files.items():
            out.say(f"\n--- {name}\n{text.rstrip()}", verbatim=True)
        out.say("\n-o FOLDER writes these files. The command:")
    out.say(shlex.join(launch.command), verbatim=True)
