"""RunOptions: what `evener run` is asked for, as its modules take it."""

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
    """Return supersteps or seconds between checkpoints: "100" or "30s"."""
    if text.endswith("s"):
        return None, positive_finite(text[:-1])
    found = count(text)
    if found < 1:
        raise argparse.ArgumentTypeError(f"{text} supersteps: at least 1 is needed")
    return found, None


@dataclass(frozen=True)
class RunOptions:
    """The options of `evener run`, by the names of the command line; None where not given.

    graph: with --stream the plan. set: parameters as NAME=VALUE. every: supersteps and seconds
    between checkpoints, of which one is given. machines: the machine that takes the place of a
    plan. reading: how the graph is read.
    """

    plan: str | None = option(
        "a plan file (or a machine, below)", "plan", metavar="PLAN", nargs="?"
    )
    graph: str = option("the file that the plan was made from", "graph", metavar="GRAPH", nargs="?")
    app: str | None = None
    program: str | None = None
    iterations: int | None = option(
        "supersteps at most (pagerank, spmv: 10)", type=count, metavar="N"
    )
    source: int | None = option(
        "the vertex where bfs and sssp start, from 0", type=int, metavar="V"
    )
    set: tuple[str, ...] = option(
        "a parameter of the program, such as damping=0.9", action="append", metavar="NAME=VALUE"
    )
    devices: str | None = option(
        "such as cpu:0-1,cpu:2,cuda:0: cores, GPUs (default: a thread each, not bound)",
        metavar="LIST",
    )
    output: str | None = option(
        "a value for each vertex, in the file's order", "-o", "--output", metavar="FILE.npy"
    )
    verify: bool = option("check the values by another algorithm", default=False)
    emulate: bool = option(
        "execute here, and say how long the machine, with arcs/s as speeds, would have taken",
        default=False,
    )
    timeout: float = option(
        f"how long a device waits for another before the run ends (default {TIMEOUT:.0f}), or a "
        f"filter has for an iteration (default {FILTER_TIMEOUT:.0f})",
        type=waiting,
        metavar="SECONDS",
    )
    checkpoint: str | None = option(
        "keep what is needed to continue in this folder", metavar="FOLDER"
    )
    every: tuple[int | None, float | None] = option(
        f"how often: after so many supersteps, or seconds (default {EVERY})",
        type=supersteps_or_seconds,
        metavar="N|Ts",
    )
    resume: str | None = option(
        "continue from the checkpoint there, with this plan's devices, also others or fewer",
        metavar="FOLDER",
    )
    rebalance: bool = option(
        "move vertices to other devices meanwhile, where that pays by the measured seconds",
        default=False,
    )
    locality: str = option(
        "let each device order its vertices so that less memory is read: on, before the run; auto, "
        "while it runs, if that is faster",
        default="off",
        choices=("off", "on", "auto"),
    )
    stream: bool = option(
        "run a stream program on the plan of `evener map`: --app jacobi, fft, radio, bitonic, "
        "image, or --program FILE.py",
        default=False,
    )
    calibrate: bool = option(
        "measure its filters here, and write its graph with their costs to -o FILE.toml",
        default=False,
    )
    cores: str | None = option(
        "with --calibrate: write the machine file of these cores, too, with what a byte that "
        "passes between two of them takes",
        metavar="FILE.toml",
    )
    report: str | None = option("write a page on where the time went", type=page, metavar="X.html")
    samples: str | None = option(
        "write measured speeds, for `evener plan --speeds FILE`", metavar="FILE"
    )
    trace: str | None = option("write a trace that Perfetto and Chrome open", metavar="FILE.json")
    family: str | None = option(
        "over machines first (DP), last (PD), C", choices=FAMILIES, group=POLICY
    )
    policies: str | None = option(
        "its policies, such as OH; with --family", metavar="P", group=POLICY
    )
    policy: str | None = option(
        "both in one word, such as DP-OH or C-PG", metavar="NAME", group=POLICY
    )
    ratio: str | None = option(
        "r, how much faster a GPU is; or paper: as it was fitted there; or a file of `evener "
        "measure pagerank --ratio`; of several kinds of machines one for each, as R,R",
        metavar="R",
        group=POLICY,
    )
    cpu_share: float | None = option(
        "part of the arcs for CPUs", type=float, metavar="A", group=POLICY
    )
    no_own: bool = option(
        "do not run a plan of ours beside the policy", default=False, group=POLICY
    )
    machines: MachineOptions = field(default_factory=MachineOptions)
    reading: ReadOptions = field(default_factory=ReadOptions)


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Add what is run, on what, and for how long, and what is written of it."""
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument(
        "--app", metavar="NAME", help="pagerank, bfs, wcc, sssp, kcore, triangles, spmv, cg, jacobi"
    )
    group.add_argument("--program", metavar="FILE.py", help="a vertex program of your own")
    add_machine_options(parser)
    add_options(parser, RunOptions)
    add_options(parser, ReadOptions, ["directed"])
    add_rereading_options(parser)


def run_options_from(args: argparse.Namespace) -> RunOptions:
    """Return the options given."""
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
    return options_from(
        args,
        RunOptions,
        plan=plan,
        graph=graph or "",
        set=tuple(args.set or ()),
        timeout=args.timeout or (FILTER_TIMEOUT if args.stream else TIMEOUT),
        every=args.every or supersteps_or_seconds(EVERY),
    )
