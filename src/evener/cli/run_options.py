"""RunOptions: what `evener run` is asked for, as its modules take it."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, fields

from evener.cli.graph_options import ReadOptions, read_options_from
from evener.cli.machines import MachineOptions, machine_options_from
from evener.cli.values import count, positive_finite, waiting
from evener.errors import UsageError

TIMEOUT = 600.0  # [s] that of evener.running.failures
FILTER_TIMEOUT = 60.0  # [s] that of evener.running.streams.executing
EVERY = "60s"  # between checkpoints


@dataclass(frozen=True)
class RunOptions:
    """The options of `evener run`, by the names of the command line; None where not given.

    graph: with --stream the plan. set: parameters as NAME=VALUE. every: supersteps and seconds
    between checkpoints, of which one is given. machines: the machine that takes the place of a
    plan. reading: how the graph is read.
    """

    plan: str | None
    graph: str
    app: str | None
    program: str | None
    iterations: int | None
    source: int | None
    set: tuple[str, ...]
    devices: str | None
    output: str | None
    verify: bool
    emulate: bool
    timeout: float
    report: str | None
    samples: str | None
    trace: str | None
    checkpoint: str | None
    every: tuple[int | None, float | None]
    resume: str | None
    rebalance: bool
    locality: str
    coords: str | None
    weights: str | None
    machine: str | None
    k: int | None
    speeds: str | None
    family: str | None
    policies: str | None
    policy: str | None
    ratio: str | None
    cpu_share: float | None
    no_own: bool
    stream: bool
    calibrate: bool
    cores: str | None
    machines: MachineOptions
    reading: ReadOptions


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Add what is run, on what, and for how long; divisions and records add theirs."""
    parser.add_argument("plan", metavar="PLAN", nargs="?", help="a plan file (or a machine, below)")
    parser.add_argument(
        "graph", metavar="GRAPH", nargs="?", help="the file that the plan was made from"
    )
    _add_program(parser)
    _add_devices(parser)
    _add_survival(parser)
    _add_stream(parser)


def _add_stream(parser: argparse.ArgumentParser) -> None:
    """Add what runs stream programs."""
    parser.add_argument(
        "--stream",
        action="store_true",
        help="run a stream program on the plan of `evener map`: --app jacobi, fft, radio, bitonic, "
        "image, or --program FILE.py",
    )
    parser.add_argument(
        "--calibrate",
        action="store_true",
        help="measure its filters here, and write its graph with their costs to -o FILE.toml",
    )
    parser.add_argument(
        "--cores",
        metavar="FILE.toml",
        help="with --calibrate: write the machine file of these cores, too, with what a byte that "
        "passes between two of them takes",
    )


def _add_program(parser: argparse.ArgumentParser) -> None:
    """Add what is run, and how long."""
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument(
        "--app", metavar="NAME", help="pagerank, bfs, wcc, sssp, kcore, triangles, spmv, cg, jacobi"
    )
    group.add_argument("--program", metavar="FILE.py", help="a vertex program of your own")
    parser.add_argument(
        "--iterations", type=count, metavar="N", help="supersteps at most (pagerank, spmv: 10)"
    )
    parser.add_argument(
        "--source", type=int, metavar="V", help="the vertex where bfs and sssp start, from 0"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter of the program, such as damping=0.9",
    )


def _add_devices(parser: argparse.ArgumentParser) -> None:
    """Add on what it is run, and what becomes of the values."""
    parser.add_argument(
        "--devices",
        metavar="LIST",
        help="such as cpu:0-1,cpu:2,cuda:0: cores, GPUs (default: a thread each, not bound)",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE.npy", help="a value for each vertex, in the file's order"
    )
    parser.add_argument(
        "--verify", action="store_true", help="check the values by another algorithm"
    )
    parser.add_argument(
        "--emulate",
        action="store_true",
        help="execute here, and say how long the machine, with arcs/s as speeds, would have taken",
    )


def _add_survival(parser: argparse.ArgumentParser) -> None:
    """Add what is done about devices that fail, and those that slow down."""
    parser.add_argument(
        "--timeout",
        type=waiting,
        metavar="SECONDS",
        help=f"how long a device waits for another before the run ends (default {TIMEOUT:.0f}), "
        f"or a filter has for an iteration (default {FILTER_TIMEOUT:.0f})",
    )
    parser.add_argument(
        "--checkpoint", metavar="FOLDER", help="keep what is needed to continue in this folder"
    )
    parser.add_argument(
        "--every",
        type=_every,
        metavar="N|Ts",
        help=f"how often: after so many supersteps, or seconds (default {EVERY})",
    )
    parser.add_argument(
        "--resume",
        metavar="FOLDER",
        help="continue from the checkpoint there, with this plan's devices, also others or fewer",
    )
    parser.add_argument(
        "--rebalance",
        action="store_true",
        help="move vertices to other devices meanwhile, where that pays by the measured seconds",
    )
    parser.add_argument(
        "--locality",
        choices=("off", "on", "auto"),
        default="off",
        help="let each device order its vertices so that less memory is read: on, before the run; "
        "auto, while it runs, if that is faster",
    )


def _every(text: str) -> tuple[int | None, float | None]:
    """Return supersteps or seconds between checkpoints: "100" or "30s"."""
    if text.endswith("s"):
        return None, positive_finite(text[:-1])
    found = count(text)
    if found < 1:
        raise argparse.ArgumentTypeError(f"{text} supersteps: at least 1 is needed")
    return found, None


def run_options_from(args: argparse.Namespace) -> RunOptions:
    """Return the options given."""
    made = ("set", "machines", "reading", "plan", "graph", "timeout")
    own = {key.name: getattr(args, key.name) for key in fields(RunOptions) if key.name not in made}
    # Of one file, the graph is named: a plan is not needed where a machine is given.
    plan, graph = (args.plan, args.graph) if args.graph is not None else (None, args.plan)
    if args.calibrate and not args.stream:
        raise UsageError("--calibrate measures the filters of --stream")
    if args.cores is not None and not args.calibrate:
        raise UsageError("--cores is where --calibrate writes the machine file")
    if graph is None and not args.calibrate:
        raise UsageError("GRAPH is required" if not args.stream else "PLAN is required")
    if args.every is not None and args.checkpoint is None:
        raise UsageError("--every says how often to write the --checkpoint; none is asked for")
    own["every"] = args.every or _every(EVERY)
    return RunOptions(
        **own,
        plan=plan,
        graph=graph or "",
        timeout=args.timeout or (FILTER_TIMEOUT if args.stream else TIMEOUT),
        set=tuple(args.set),
        machines=machine_options_from(args),
        reading=read_options_from(args),
    )
