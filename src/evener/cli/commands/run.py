"""`evener run`: run a graph application on the devices that a plan divides a graph among."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evener.cli.graph_options import (
    add_rereading_options,
    is_its_input,
    read_again,
    read_options_from,
)
from evener.cli.values import count, refuse_outputs

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.graphs.directed import DirectedGraph
    from evener.graphs.graph import Graph
    from evener.plans.plan import Plan
    from evener.running.apps.registry import App
    from evener.running.comm import Comm
    from evener.running.engine.program import VertexProgram
    from evener.running.executing import ProgramRun

SHOWN = 40  # devices in the table
# Set by the launchers of MPI (MPICH and Intel, Open MPI, Slurm's srun --mpi) for each rank.
RANKS_STATED = ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "PMIX_RANK")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("plan", metavar="PLAN", help="a plan file")
    parser.add_argument("graph", metavar="GRAPH", help="the file that the plan was made from")
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument("--app", metavar="NAME", help="pagerank, bfs, wcc, sssp")
    group.add_argument("--program", metavar="FILE.py", help="a vertex program of your own")
    parser.add_argument(
        "--iterations", type=count, metavar="N", help="supersteps at most (pagerank: 10)"
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
    parser.add_argument(
        "--devices",
        metavar="LIST",
        help="cores of each device, such as cpu:0-1,cpu:2 (default: a thread each, not bound)",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE.npy", help="a value for each vertex, in the file's order"
    )
    parser.add_argument(
        "--verify", action="store_true", help="check the values by another algorithm"
    )
    add_rereading_options(parser)


@dataclass(frozen=True)
class _Asked:
    """What is to be run: a program, the app that it is of or None, its parameters, supersteps."""

    program: VertexProgram
    app: App | None
    parameters: dict[str, float]
    most: int


def run(args: argparse.Namespace, out: Output) -> int:
    """Run, print what each device took; exit 5 where the values are found to be wrong."""
    from evener.io.plans.plan import read_plan
    from evener.running.devices import cores_of

    asked = _asked(args)
    comm = _ranks()
    speaks = comm is None or comm.rank == 0
    if not speaks:
        out.is_json, out.is_quiet = False, True
    if args.output is not None:
        refuse_outputs([args.output], [args.plan, args.graph])
    plan = read_plan(args.plan)
    cores = None if args.devices is None else cores_of(args.devices)
    reading = read_again(args.graph, plan, read_options_from(args), out, args.plan)
    plan.partition.checked_for(reading.graph.n)
    if not is_its_input(plan, reading.inputs):
        out.note(f"note: the plan was not made from {args.graph}")
    if asked.app is not None and asked.app.program_for is not None:
        asked = replace(asked, program=asked.app.program_for(reading.graph))
    found = _run(asked, reading.graph, plan, comm, cores, out)
    values = found.values if asked.app is None else asked.app.result(found.values)
    if speaks and args.output is not None:
        _write(args.output, values)
    right = _verified(asked, reading.graph, found) if speaks and args.verify else None
    _say(asked, plan, found, right, out, args.output)
    return 5 if right is False else 0


def _asked(args: argparse.Namespace) -> _Asked:
    """Return the program and its parameters. Raises UsageError for what it does not have."""
    from evener.errors import UsageError
    from evener.running.apps.registry import find_app
    from evener.running.engine.engine import MOST
    from evener.running.engine.program import VertexProgram

    app = None if args.app is None else find_app(args.app)
    program = VertexProgram.from_file(args.program) if app is None else app.program
    parameters = dict(_parameter(word) for word in args.set)
    if args.source is not None:
        parameters["source"] = args.source
    program.given(parameters)
    most = args.iterations or (None if app is None else app.iterations)
    if most is None and program.schedule == "dense" and program.halt is None:
        raise UsageError(
            f"{program.name} does not end by itself", hint="--iterations N says when it does."
        )
    return _Asked(program, app, parameters, most or MOST)


def _parameter(word: str) -> tuple[str, float]:
    from evener.errors import UsageError

    name, _, text = word.partition("=")
    try:
        value = float(text)
    except ValueError:
        raise UsageError(f"--set {word}: NAME=VALUE is needed, VALUE a number") from None
    return name, int(value) if value.is_integer() else value


def _ranks() -> Comm | None:
    """Return MPI's ranks where this process is one of several, or None."""
    if not any(name in os.environ for name in RANKS_STATED):
        return None
    from evener.running.comm import MpiComm

    comm = MpiComm()
    return comm if comm.size > 1 else None


def _run(
    asked: _Asked,
    graph: Graph | DirectedGraph,
    plan: Plan,
    comm: Comm | None,
    cores: list[list[int]] | None,
    out: Output,
) -> ProgramRun:
    from evener.errors import UsageError
    from evener.running.engine.engine import MOST
    from evener.running.executing import run_program

    source = asked.parameters.get("source", 0)
    if "source" in asked.program.parameters and not 0 <= source < graph.n:
        raise UsageError(f"there is no vertex {source} among {graph.n:,}, counted from 0")
    with out.progress(f"Running {asked.program.name}") as progress:

        def tell(step: int) -> None:
            progress(f"superstep {step:,}", step / asked.most if asked.most < MOST else 0.0)

        return run_program(
            asked.program, graph, plan.partition, comm=comm, cores=cores, most=asked.most,
            tell=tell, parameters=asked.parameters,
        )  # fmt: skip


def _write(path: str, values: Any) -> None:
    """Write values as .npy, whole or not at all."""
    import numpy as np

    from evener.files.writing import atomic_write

    with atomic_write(path) as file:
        np.save(file, values)


def _verified(asked: _Asked, graph: Graph | DirectedGraph, found: ProgramRun) -> bool:
    from evener.errors import UsageError

    if asked.app is None:
        raise UsageError("--verify knows the apps that are here, not programs of your own")
    given: Mapping[str, float] = {**asked.program.parameters, **asked.parameters}
    return asked.app.verify(graph, found.values, found.supersteps, given)


def _say(
    asked: _Asked, plan: Plan, found: ProgramRun, right: bool | None, out: Output, written: str
) -> None:
    """Print a row for each device and a summary, or the same as JSON."""
    from evener.wording import duration, plural

    names = plan.platform.names
    fields = ("computing", "packing", "waiting", "unpacking", "sent", "edges")
    sums = {name: found.of_devices(name).sum(axis=0) for name in fields}
    rows = [
        [names[i], *(duration(float(sums[name][i])) for name in fields[:4]),
         f"{sums['sent'][i] / 1e6:,.2f} MB", f"{sums['edges'][i]:,.0f}"]
        for i in range(len(found.steps))
    ]  # fmt: skip
    columns = ("device", "computing", "packing", "waiting", "unpacking", "sent", "arcs looked at")
    out.table(columns, rows, most=SHOWN, what="devices")
    steps, seconds = found.supersteps, found.seconds
    rate = "" if seconds <= 0 else f", {steps / seconds:,.0f} a second"
    arcs = "" if seconds <= 0 else f"; {found.edges / seconds / 1e6:,.1f} million arcs a second"
    out.say(
        f"{asked.program.name}: {plural(steps, 'superstep')} in {duration(seconds)}{rate}{arcs}."
    )
    if right is not None:
        out.say("Verified by another algorithm." if right else "WRONG, by another algorithm.")
    if written is not None:
        out.say(f"Written: {written}")
    per_device = [
        {"name": names[i], **{name: float(sums[name][i]) for name in fields}}
        for i in range(len(found.steps))
    ]
    out.result(
        {"program": asked.program.name, "seconds": seconds, "supersteps": steps,
         "edges": found.edges, "verified": right, "written": written, "devices": per_device}
    )  # fmt: skip
