"""`evener run`: run a graph application on the devices that a plan or a policy gives a graph."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

from evener.cli.divisions import (
    Division,
    add_policy_options,
    divisions_of,
    refuse_beside_plan,
)
from evener.cli.graph_options import (
    add_directed_option,
    add_rereading_options,
    is_its_input,
    read_again,
    read_workload,
)
from evener.cli.run_options import RunOptions, run_options_from
from evener.cli.run_records import add_record_options, records_asked, write_records
from evener.cli.values import count, positive_finite, refuse_outputs
from evener.errors import EvenerError, UsageError

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.graphs.directed import DirectedGraph
    from evener.graphs.graph import Graph
    from evener.running.apps.registry import App
    from evener.running.checkpoints import Checkpoints
    from evener.running.comm import MpiComm
    from evener.running.devices import Cuda
    from evener.running.emulated_run import EmulatedMachineRun
    from evener.running.engine.program import VertexProgram
    from evener.running.engine.solver import Solver
    from evener.running.executing import ProgramRun, RunWatch

SHOWN = 40  # devices in the table
# Columns of seconds; an emulated machine has the second of them for the third and the last.
TIMES = ("computing", "communicating", "packing", "waiting", "unpacking")
EMULATED_TIMES = ("computing", "communicating", "waiting")
TIMEOUT = 600.0  # [s] that of evener.running.failures
EVERY = "60s"
TURN = 0.1  # seconds that each rank leaves to those before it, to say what all may have to say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("plan", metavar="PLAN", nargs="?", help="a plan file (or a machine, below)")
    parser.add_argument("graph", metavar="GRAPH", help="the file that the plan was made from")
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument("--app", metavar="NAME", help="pagerank, bfs, wcc, sssp, cg, jacobi")
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
    parser.add_argument(
        "--timeout",
        type=positive_finite,
        default=TIMEOUT,
        metavar="SECONDS",
        help=f"how long a device waits for another before the run ends (default {TIMEOUT:.0f})",
    )
    add_record_options(parser)
    parser.add_argument(
        "--checkpoint", metavar="FOLDER", help="keep what is needed to continue in this folder"
    )
    parser.add_argument(
        "--every",
        type=_every,
        default=EVERY,
        metavar="N|Ts",
        help=f"how often: after so many supersteps, or seconds (default {EVERY})",
    )
    parser.add_argument(
        "--resume",
        metavar="FOLDER",
        help="continue from the checkpoint there, with this plan's devices, also others or fewer",
    )
    add_policy_options(parser)
    add_directed_option(parser)
    add_rereading_options(parser)


def _every(text: str) -> tuple[int | None, float | None]:
    """Return supersteps or seconds between checkpoints: "100" or "30s"."""
    if text.endswith("s"):
        return None, positive_finite(text[:-1])
    found = count(text)
    if found < 1:
        raise argparse.ArgumentTypeError(f"{text} supersteps: at least 1 is needed")
    return found, None


@dataclass(frozen=True)
class _Asked:
    """What is to be run: a program, the app that it is of or None, its parameters, supersteps."""

    program: VertexProgram | Solver
    app: App | None
    parameters: dict[str, float]
    most: int


def run(args: argparse.Namespace, out: Output) -> int:
    """Run, print what each device took; exit 5 where the values are found to be wrong."""
    options, comm = run_options_from(args), _ranks()
    if comm is None:
        return _answer(options, None, out)
    try:
        comm.watch()
        code = _answer(options, comm, out)
    except Exception as error:  # told and ended here: other ranks would wait for this one
        _end_all(comm, error)
    comm.end()
    return code


def _end_all(comm: MpiComm, error: Exception) -> NoReturn:
    """Say which rank failed, and why; end all ranks."""
    time.sleep(TURN * min(comm.rank, 10))
    names = comm.waits.names
    known = names.failed(comm.rank, error)
    who = f"{names.of(comm.rank)}: " if isinstance(error, EvenerError) else ""
    sys.stderr.write(f"evener: {who}{known}\n")
    comm.abort(known.exit_code)


def _answer(options: RunOptions, comm: MpiComm | None, out: Output) -> int:
    from evener.running.devices import devices_of

    asked = _asked(options)
    speaks = comm is None or comm.rank == 0
    if not speaks:
        out.is_json, out.is_quiet = False, True
    written = [*([] if options.output is None else [options.output]), *records_asked(options)]
    refuse_outputs(written, [options.plan, options.graph, options.machine])
    devices = None if options.devices is None else devices_of(options.devices, comm)
    if options.emulate and (comm is not None or devices is not None):
        raise UsageError("an emulated machine has neither ranks nor devices of this computer")
    if (options.checkpoint or options.resume) and (options.emulate or options.plan is None):
        raise UsageError("checkpoints are of runs of a plan on this computer, or under MPI")
    graph, divisions = _divided(options, out)
    if comm is not None:
        _describe(comm, divisions[0].platform.names, options)
    if asked.app is not None and asked.app.program_for is not None:
        asked = replace(asked, program=asked.app.program_for(graph))
    for division in divisions:
        _refuse_too_large(asked.program, graph, division, devices, options.emulate)
    said = []
    for division in divisions:
        found = _run(asked, graph, division, comm, devices, (out, options))
        right = _verified(asked, graph, found.run) if speaks and options.verify else None
        said.append(_say(asked, division, found, right, out))
        if speaks and division is divisions[0]:
            said[0] |= _write(options, asked, graph, division, found, out)
    if written:
        out.say(f"Written: {', '.join(written)}")
    beside = {"beside": said[1:]} if options.plan is None else {}
    out.result({**said[0], "written": options.output, "records": records_asked(options), **beside})
    return 5 if any(one["verified"] is False for one in said) else 0


def _divided(options: RunOptions, out: Output) -> tuple[Graph | DirectedGraph, list[Division]]:
    """Return the graph, and the blocks to be run: of the plan, or those made for the machine."""
    if options.plan is None:
        graph = read_workload(options.graph, options.reading, out).graph
        return graph, divisions_of(graph, options, out)
    from evener.io.plans.plan import read_plan

    refuse_beside_plan(options)
    plan = read_plan(options.plan)
    reading = read_again(options.graph, plan, options.reading, out, options.plan)
    plan.partition.checked_for(reading.graph.n)
    if not is_its_input(plan, reading.inputs):
        out.note(f"note: the plan was not made from {options.graph}")
    division = Division(options.plan, plan.platform, plan.partition, is_made_here=False, plan=plan)
    return reading.graph, [division]


def _refuse_too_large(
    program: VertexProgram | Solver,
    graph: Graph | DirectedGraph,
    division: Division,
    devices: list[list[int] | Cuda] | None,
    is_emulated: bool,
) -> None:
    """Raise InfeasibleError where a device's memory does not hold its part of the run.

    An emulated device allocates what one of its kind would.
    """
    import numpy as np

    from evener.cli.program_bytes import cores_in, cores_of_kinds, refuse_too_large
    from evener.running.fitting import bytes_of_program

    platform, partition = division.platform, division.partition
    if not np.isfinite(platform.memories).any() or (devices and len(devices) != platform.k):
        return
    cores = None if devices is None else cores_in(devices)
    if is_emulated:
        cores = cores_of_kinds(platform)
    needed = bytes_of_program(graph, partition, program, cores=cores)
    refuse_too_large(program.name, platform, needed)


@dataclass(frozen=True)
class _Found:
    """A run, the same on an emulated machine or None, and the checkpoints of it or None."""

    run: ProgramRun
    emulated: EmulatedMachineRun | None = None
    kept: Checkpoints | None = None

    @property
    def seconds(self) -> float:
        return self.run.seconds if self.emulated is None else self.emulated.seconds


def _describe(comm: MpiComm, names: Sequence[str], options: RunOptions) -> None:
    """Give ranks the names of their devices, and waits an end."""
    from evener.running.hybrid import names_of_processes

    hint = f"--resume {options.checkpoint} continues from the last checkpoint there."
    comm.describe(
        names_of_processes(comm, names), options.timeout, hint if options.checkpoint else ""
    )


def _watch(options: RunOptions, names: Sequence[str], tell: Callable[[int], None]) -> RunWatch:
    """Return what a run is to tell, to keep and to continue."""
    from pathlib import Path

    from evener.running.checkpoints import Checkpoints, read_checkpoint
    from evener.running.executing import RunWatch
    from evener.running.failures import Names

    kept = (
        None
        if options.checkpoint is None
        else Checkpoints(Path(options.checkpoint), *options.every)
    )
    resume = None if options.resume is None else read_checkpoint(options.resume)
    return RunWatch(tell, options.timeout, Names(names), kept, resume)


def _asked(options: RunOptions) -> _Asked:
    """Return the program and its parameters. Raises UsageError for what it does not have."""
    from evener.running.apps.registry import find_app
    from evener.running.engine.engine import MOST
    from evener.running.engine.program import VertexProgram

    app = None if options.app is None else find_app(options.app)
    program: VertexProgram | Solver = (
        VertexProgram.from_file(str(options.program)) if app is None else app.program
    )
    parameters = dict(_parameter(word) for word in options.set)
    if options.source is not None:
        parameters["source"] = options.source
    program.given(parameters)
    most = options.iterations or (None if app is None else app.iterations)
    if most is None and not program.ends_by_itself:
        raise UsageError(
            f"{program.name} does not end by itself", hint="--iterations N says when it does."
        )
    return _Asked(program, app, parameters, most or MOST)


def _parameter(word: str) -> tuple[str, float]:
    name, _, text = word.partition("=")
    try:
        value = float(text)
    except ValueError:
        raise UsageError(f"--set {word}: NAME=VALUE is needed, VALUE a number") from None
    return name, int(value) if value.is_integer() else value


def _ranks() -> MpiComm | None:
    """Return MPI's ranks where this process is one of several, or None."""
    from evener.running.launching import n_ranks, world

    return world() if n_ranks() > 1 else None


def _run(
    asked: _Asked,
    graph: Graph | DirectedGraph,
    division: Division,
    comm: MpiComm | None,
    devices: list[list[int] | Cuda] | None,
    said: tuple[Output, RunOptions],
) -> _Found:
    from evener.running.emulated_run import VirtualMachine
    from evener.running.engine.engine import MOST
    from evener.running.executing import run_program

    out, options = said
    source = asked.parameters.get("source", 0)
    if "source" in asked.program.parameters and not 0 <= source < graph.n:
        raise UsageError(f"there is no vertex {source} among {graph.n:,}, counted from 0")
    with out.progress(f"Running {asked.program.name}") as progress:

        def tell(step: int) -> None:
            progress(f"superstep {step:,}", step / asked.most if asked.most < MOST else 0.0)

        how: dict[str, Any] = {"most": asked.most, "parameters": asked.parameters}
        if options.emulate:
            machine = VirtualMachine(division.platform)
            emulated = machine.run(asked.program, graph, division.partition, tell=tell, **how)
            return _Found(emulated.run, emulated)
        watch = _watch(options, division.platform.names, tell)
        how |= {"comm": comm, "devices": devices, "watch": watch}
        found = run_program(asked.program, graph, division.partition, **how)
        return _Found(found, kept=watch.checkpoints)


def _write(
    options: RunOptions,
    asked: _Asked,
    graph: Graph | DirectedGraph,
    division: Division,
    found: _Found,
    out: Output,
) -> dict[str, Any]:
    """Write what is asked for of a run; print what would make it faster, and return it."""
    import numpy as np

    from evener.files.writing import atomic_write

    if options.output is not None:
        values = found.run.values
        with atomic_write(options.output) as file:
            np.save(file, values if asked.app is None else asked.app.result(values))
    if found.emulated is not None:
        return {}
    advice = write_records(options, asked.program, graph, division, found.run)
    out.say(f"{advice.sentence}: {advice.command}" if advice.command else advice.sentence)
    return {"advice": advice._asdict()}


def _verified(asked: _Asked, graph: Graph | DirectedGraph, found: ProgramRun) -> bool:

    if asked.app is None:
        raise UsageError("--verify knows the apps that are here, not programs of your own")
    given: Mapping[str, float] = {**asked.program.parameters, **asked.parameters}
    return asked.app.verify(graph, found.values, found.supersteps, given)


def _say(
    asked: _Asked, division: Division, found: _Found, right: bool | None, out: Output
) -> dict[str, Any]:
    """Print a row for each device and a summary; return the same for --json."""
    from evener.wording import duration, plural

    devices = _devices(division, found)
    times = [name for name in TIMES if name in devices[0]]
    n_bytes = division.n_bytes
    rows = [
        [device["name"], *(duration(device[name]) for name in times),
         f"{device['sent'] / 1e6:,.2f} MB", f"{device['edges']:,.0f}",
         *([] if n_bytes is None else [f"{n_bytes[i] / 1e6:,.2f} MB"])]
        for i, device in enumerate(devices)
    ]  # fmt: skip
    columns = ("device", *times, "sent", "arcs looked at")
    columns += () if n_bytes is None else ("needs",)
    out.table(columns, rows, most=SHOWN, what="devices")
    steps, seconds, run = found.run.supersteps - found.run.first, found.seconds, found.run
    rate = "" if seconds <= 0 else f", {steps / seconds:,.0f} a second"
    arcs = "" if seconds <= 0 else f"; {run.edges / seconds / 1e6:,.1f} million arcs a second"
    where = "" if found.emulated is None else " on the emulated machine"
    name = asked.program.name
    of = f"{name}, {division.name}" if division.is_made_here else name
    out.say(f"{of}: {plural(steps, 'superstep')} in {duration(seconds)}{where}{rate}{arcs}.")
    if run.first:
        out.say(f"Continued after {plural(run.first, 'superstep')}.")
    if found.kept is not None:
        spent = f" of {duration(seconds)}" if found.kept.written else ""
        written = plural(found.kept.written, "checkpoint")
        out.say(f"{written} written in {duration(found.kept.took)}{spent}.")
    if division.made is not None:
        out.say(division.said())
    if right is not None:
        out.say("Verified by another algorithm." if right else "WRONG, by another algorithm.")
    by: dict[str, Any] = {"by": division.to_dict()} if division.is_made_here else {}
    if found.kept is not None:
        by |= {"checkpoints": found.kept.written, "checkpoint_seconds": found.kept.took}
    if run.first:
        by |= {"continued_after": run.first}
    return {"program": name, "seconds": seconds, "supersteps": run.supersteps, "edges": run.edges,
            "verified": right, "devices": devices, **by}  # fmt: skip


def _devices(division: Division, found: _Found) -> list[dict[str, Any]]:
    """Return for each device its name, and sums over the supersteps by name."""
    sums: dict[str, Any] = {
        name: found.run.of_devices(name).sum(axis=0)
        for name in ("sent", "edges", *(() if found.emulated else TIMES[:1] + TIMES[2:]))
    }
    if found.emulated is not None:
        sums |= {name: getattr(found.emulated, name).sum(axis=0) for name in EMULATED_TIMES}
    return [
        {"name": name, **{key: float(values[i]) for key, values in sums.items()}}
        for i, name in enumerate(division.platform.names)
    ]
