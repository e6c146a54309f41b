"""RunOptions: the options of `evener run`, for its modules."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field

from evener.cli.graph_options import ReadOptions, add_rereading_options
from evener.cli.machines import MachineOptions, add_machine_options
from evener.cli.options import add_options, option, options_from
from evener.cli.values import count, page, positive_finite, waiting
from evener.errors import UsageError

TIMEOUT = 600.0  # [s] that of evener.running.failures
FILTER_TIMEOUT = 60.0  # [s] that of evener.running.streams.executing
EVERY = "60s"  # between checkpoints
FAMILIES = ("DP", "PD", "C")
POLICY = "policy (without PLAN)"


def supersteps_or_seconds(text: str) -> tuple[int | None, float | None]:
    """Parse the interval between checkpoints, in supersteps or seconds: "100" or "30s"."""
    if text.endswith("s"):
        return None, positive_finite(text[:-1])
    found = count(text)
    if found < 1:
        raise argparse.ArgumentTypeError(
            f"{text} is not a number of supersteps: at least 1 is needed"
        )
    return found, None


@dataclass(frozen=True)
class RunOptions:
    """The options of `evener run`, named as on the command line; None if not given.

    graph: a graph file; with --stream, the plan. set: parameters as NAME=VALUE. every: supersteps
    or seconds between checkpoints, the other being None. machines: the machine if there is no plan.
    reading: how the graph is read.
    """

    plan: str | None = option(
        "a plan of vertices, edges or a stream graph; without a plan, give the machine by options",
        "plan",
        metavar="PLAN",
        nargs="?",
    )
    graph: str = option("the file that the plan was made from", "graph", metavar="GRAPH", nargs="?")
    app: str | None = None
    program: str | None = None
    iterations: int | None = option(
        "maximum number of supersteps; pagerank and spmv: 10, other programs: until the program "
        "ends",
        type=count,
        metavar="N",
    )
    source: int | None = option(
        "the vertex where bfs and sssp start, counted from 0 (default 0)", type=int, metavar="V"
    )
    set: tuple[str, ...] = option(
        "a parameter of the program, such as damping=0.9; may be repeated",
        action="append",
        metavar="NAME=VALUE",
    )
    devices: str | None = option(
        "cores or GPU of each device, such as cpu:0-1,cpu:2,cuda:0 (default: a thread for "
        "each device, not bound to a core)",
        metavar="LIST",
    )
    output: str | None = option(
        "write a value for each vertex, in the file's order; bfs: -1 where not reached",
        "-o",
        "--output",
        metavar="FILE.npy",
    )
    verify: bool = option(
        "check the values by another algorithm; exit code 5 if they are wrong", default=False
    )
    emulate: bool = option(
        "run here, and predict the time on the given machine (speeds in arcs/s)",
        default=False,
    )
    timeout: float = option(
        f"end the run when a device has waited this long for another (default {TIMEOUT:.0f}), "
        f"or a filter has taken this long for an iteration (default {FILTER_TIMEOUT:.0f})",
        type=waiting,
        metavar="SECONDS",
    )
    checkpoint: str | None = option(
        "write checkpoints to this folder, which is new or contains earlier checkpoints",
        metavar="FOLDER",
    )
    every: tuple[int | None, float | None] = option(
        f"write a checkpoint every N supersteps or T seconds (default {EVERY})",
        type=supersteps_or_seconds,
        metavar="N|Ts",
    )
    resume: str | None = option(
        "continue from the checkpoint in this folder; the plan may have other or fewer devices",
        metavar="FOLDER",
    )
    rebalance: bool = option(
        "during the run, move vertices to other devices if, by the measured seconds, this saves "
        "time",
        default=False,
    )
    locality: str = option(
        "reorder the vertices of each device so that it reads less memory: before the run "
        "(on), or during the run if that is faster (auto) (default off)",
        default="off",
        choices=("off", "on", "auto"),
    )
    stream: bool = option(
        "run a stream program on the plan of `evener map`: --app NAME is jacobi, fft, radio, "
        "bitonic, image, or --program FILE.py",
        default=False,
    )
    calibrate: bool = option(
        "with --stream: measure the filters here, and write the stream graph with their "
        "costs to -o FILE.toml",
        default=False,
    )
    cores: str | None = option(
        "with --calibrate: also write a machine file of these cores, with the transfer time per "
        "byte between two cores",
        metavar="FILE.toml",
    )
    report: str | None = option(
        "write a page that shows where the time went", type=page, metavar="X.html"
    )
    samples: str | None = option(
        "write each device's load and seconds of a superstep, for `evener plan --speeds FILE`",
        metavar="FILE",
    )
    trace: str | None = option("write a trace for Perfetto and Chrome", metavar="FILE.json")
    family: str | None = option(
        "family of policies: machines first (DP), CPUs and GPUs first (PD), or all devices at once "
        "(C)",
        choices=FAMILIES,
        group=POLICY,
    )
    policies: str | None = option("policies of --family, such as OH", metavar="P", group=POLICY)
    policy: str | None = option(
        "family and policies in one word, such as DP-OH or C-PG", metavar="NAME", group=POLICY
    )
    ratio: str | None = option(
        "r, how many times as fast a GPU is as a CPU: a number, paper (the fit of the "
        "paper), or a file of `evener measure pagerank --ratio`; R,R for several kinds of "
        "machines (default: by the machine's speeds)",
        metavar="R",
        group=POLICY,
    )
    cpu_share: float | None = option(
        "fraction of the arcs for CPUs (default: balances by r, or more if the GPUs' memories "
        "require it)",
        type=float,
        metavar="A",
        group=POLICY,
    )
    no_own: bool = option(
        "do not run Evener's own plan for comparison", default=False, group=POLICY
    )
    machines: MachineOptions = field(default_factory=MachineOptions)
    reading: ReadOptions = field(default_factory=ReadOptions)


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Add options for the program, its input, its duration, and its outputs."""
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument(
        "--app",
        metavar="NAME",
        help="application: pagerank, bfs, wcc, sssp, kcore, triangles, spmv, cg, jacobi",
    )
    group.add_argument("--program", metavar="FILE.py", help="a vertex program of your own")
    add_machine_options(parser)
    add_options(parser, RunOptions)
    add_options(parser, ReadOptions, ["directed"])
    add_rereading_options(parser)


def run_options_from(args: argparse.Namespace) -> RunOptions:
    """Return the given options."""
    # A single file is the graph: if a machine is given, no plan is needed.
    plan, graph = (args.plan, args.graph) if args.graph is not None else (None, args.plan)
    if args.calibrate and not args.stream:
        raise UsageError("--calibrate works with --stream only")
    if args.cores is not None and not args.calibrate:
        raise UsageError("--cores works with --calibrate only")
    if graph is None and not args.calibrate:
        raise UsageError("GRAPH is required" if not args.stream else "PLAN is required")
    if args.every is not None and args.checkpoint is None:
        raise UsageError("--every works with --checkpoint only")
    return options_from(
        args,
        RunOptions,
        plan=plan,
        graph=graph or "",
        set=tuple(args.set or ()),
        timeout=args.timeout or (FILTER_TIMEOUT if args.stream else TIMEOUT),
        every=args.every or supersteps_or_seconds(EVERY),
    )
