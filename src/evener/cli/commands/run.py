"""`evener run`: run a graph application on a graph divided by a plan or a policy."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evener.cli.divisions import (
    Division,
    bytes_of_division,
    divisions_of,
    edge_division,
    refuse_with_plan,
)
from evener.cli.graph_options import (
    is_its_input,
    read_again,
    read_options_of,
    read_workload,
)
from evener.cli.ranks import answered, own_ranks
from evener.cli.run_options import RunOptions, add_run_options, run_options_from
from evener.cli.run_programs import Asked, asked_of, verified
from evener.cli.run_records import (
    records_asked,
    stood_in_for,
    write_records,
)
from evener.cli.run_summary import RunFound, say
from evener.cli.stream_runs import run_stream_program
from evener.cli.values import refuse_outputs
from evener.errors import UsageError
from evener.wording import ranges

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.graphs.directed import DirectedGraph
    from evener.graphs.graph import Graph
    from evener.plans.plan import Plan
    from evener.rebalancing.run_rebalancer import RunRebalancer
    from evener.running.apps.registry import App
    from evener.running.devices import Cuda
    from evener.running.engine.program import Solver, VertexProgram
    from evener.running.mpi_comm import MpiComm
    from evener.running.on_device import RunWatch
    from evener.running.slicing import RankParts


add_arguments = add_run_options


def run(args: argparse.Namespace, out: Output) -> int:
    """Run, and print each device's times; exit 5 if the values are found to be wrong."""
    options, comm = run_options_from(args), own_ranks()
    answer = run_stream_program if options.stream else _answer
    if comm is None:
        return answer(options, None, out)
    return answered(comm, lambda: answer(options, comm, out))


def _answer(options: RunOptions, comm: MpiComm | None, out: Output) -> int:
    from evener.running.devices import devices_of

    asked = asked_of(options)
    speaks = comm is None or comm.rank == 0
    if not speaks:
        out.is_json, out.is_quiet = False, True
    written = [*([] if options.output is None else [options.output]), *records_asked(options)]
    refuse_outputs(written, [options.plan, options.graph, options.machines.machine])
    devices = None if options.devices is None else devices_of(options.devices, comm)
    if options.emulate and (comm is not None or devices is not None):
        raise UsageError("--emulate does not work with --devices or under mpiexec")
    if (options.checkpoint or options.resume) and (options.emulate or options.plan is None):
        raise UsageError("--checkpoint and --resume need a plan, and do not work with --emulate")
    if options.rebalance and (options.emulate or options.plan is None):
        raise UsageError("--rebalance needs a plan, and does not work with --emulate")
    if options.locality != "off" and options.emulate:
        raise UsageError("--locality does not work with --emulate")
    graph, divisions = _divided(options, asked, comm, out)
    if comm is not None:
        _describe(comm, divisions[0].platform.names, options)
    if asked.app is not None and asked.app.program_for is not None:
        asked = replace(asked, program=asked.app.program_for(_whole(graph)))
    for division in divisions:
        _refuse_too_large(asked.program, graph, division, devices, options.emulate)
    played = [] if comm is not None else stood_in_for(options, divisions[0].platform)
    if played:
        out.note(
            f"note: threads of this computer stand in for {ranges(played)}: the measured seconds "
            "are not those of the plan's devices. --emulate predicts the devices' seconds, and "
            "mpiexec runs on the devices"
        )
    said = []
    for division in divisions:
        found = _run(asked, graph, division, comm, devices, (out, options), is_apart=bool(played))
        right = verified(asked, _whole(graph), found.run) if speaks and options.verify else None
        said.append(say(asked, division, found, right, out))
        if speaks and division is divisions[0]:
            said[0] |= _write(options, asked, graph, division, found, played, out)
    if written:
        out.say(f"Written: {', '.join(written)}")
    beside = {"beside": said[1:]} if options.plan is None else {}
    out.result({**said[0], "written": options.output, "records": records_asked(options), **beside})
    return 5 if any(one["verified"] is False for one in said) else 0


def _divided(
    options: RunOptions, asked: Asked, comm: MpiComm | None, out: Output
) -> tuple[Graph | DirectedGraph | RankParts, list[Division]]:
    """Return the graph, and its blocks: those of the plan, or blocks made for the machine.

    With a plan, each rank reads only its own part of the graph if possible.
    """
    if options.plan is None:
        graph = read_workload(options.graph, options.reading, out).graph
        return graph, divisions_of(graph, options, out)
    from evener.io.plans.kinds import EDGES, kind_in
    from evener.io.plans.plan import read_plan
    from evener.running.executing import refuse_on_edges

    refuse_with_plan(options)
    if kind_in(options.plan) == EDGES:
        refuse_on_edges(asked.program)
        whole, division = edge_division(options.plan, options, out, is_rank=comm is not None)
        return whole, [division]
    plan = read_plan(options.plan)
    division = Division(options.plan, plan.platform, plan.partition, is_made_here=False, plan=plan)
    if comm is not None:
        parts = read_by_ranks(options, plan, (asked.app, asked.program), comm, out)
        if parts is not None:
            return parts, [division]
    reading = read_again(options.graph, plan, options.reading, out, options.plan)
    plan.partition.checked_for(reading.graph.n)
    if not is_its_input(plan, reading.inputs):
        out.note(f"note: the plan was not made from {options.graph}")
    return reading.graph, [division]


def _whole(graph: Graph | DirectedGraph | RankParts) -> Graph | DirectedGraph:
    """Return the graph itself, which must be whole, not parts from `read_by_ranks`."""
    from evener.running.slicing import RankParts

    assert not isinstance(graph, RankParts)
    return graph


def _refuse_too_large(
    program: VertexProgram | Solver,
    graph: Graph | DirectedGraph | RankParts,
    division: Division,
    devices: list[list[int] | Cuda] | None,
    is_emulated: bool,
) -> None:
    """Raise InfeasibleError if a device's memory does not suffice for its part of the run.

    An emulated device allocates as much as a real one of its kind.
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
    if division.edges is not None:
        needed = bytes_of_division(division.edges, _whole(graph), program, cores)
    else:
        needed = bytes_of_program(graph, partition, program, cores=cores)
    refuse_too_large(program.name, platform, needed)


def _describe(comm: MpiComm, names: Sequence[str], options: RunOptions) -> None:
    """Set device names and a wait timeout on the ranks' communicator."""
    from evener.running.hybrid import names_of_processes

    hint = f"--resume {options.checkpoint} continues from the last checkpoint there."
    comm.describe(
        names_of_processes(comm, names), options.timeout, hint if options.checkpoint else ""
    )


def _watch(
    options: RunOptions,
    division: Division,
    tell: Callable[[int], None],
    adviser: RunRebalancer | None,
) -> RunWatch:
    """Return the hooks of a run: progress, timeout, checkpoints, resumption, rebalancing."""
    from pathlib import Path

    from evener.running.checkpoints import Checkpoints, read_checkpoint
    from evener.running.failures import Names
    from evener.running.moving import Rebalancing
    from evener.running.on_device import RunWatch

    kept = (
        None
        if options.checkpoint is None
        else Checkpoints(Path(options.checkpoint), *options.every)
    )
    resume = None if options.resume is None else read_checkpoint(options.resume)
    rebalancing = None if adviser is None else Rebalancing(adviser)
    names = Names(division.platform.names)
    return RunWatch(tell, options.timeout, names, kept, resume, rebalancing, options.locality)


def _adviser(
    options: RunOptions, graph: Graph | DirectedGraph | RankParts, division: Division
) -> RunRebalancer | None:
    """Return the object that decides when vertices move, or None without --rebalance."""
    from evener.rebalancing.run_rebalancer import RunRebalancer

    if not options.rebalance or division.plan is None:
        return None
    return RunRebalancer(division.plan, _whole(graph))


def _run(
    asked: Asked,
    graph: Graph | DirectedGraph | RankParts,
    division: Division,
    comm: MpiComm | None,
    devices: list[list[int] | Cuda] | None,
    said: tuple[Output, RunOptions],
    *,
    is_apart: bool,
) -> RunFound:
    from evener.running.emulated_run import VirtualMachine
    from evener.running.engine.engine import MOST
    from evener.running.executing import run_on_parts, run_program
    from evener.running.slicing import RankParts

    out, options = said
    blocks = division.partition if division.edges is None else division.edges.divided
    source = asked.parameters.get("source", 0)
    if "source" in asked.program.parameters and not 0 <= source < graph.n:
        raise UsageError(f"there is no vertex {source} among {graph.n:,}, counted from 0")
    with out.progress(f"Running {asked.program.name}") as progress:

        def tell(step: int) -> None:
            progress(f"superstep {step:,}", step / asked.most if asked.most < MOST else 0.0)

        how: dict[str, Any] = {"most": asked.most, "parameters": asked.parameters}
        if options.emulate:
            machine = VirtualMachine(division.platform)
            how["tell"] = tell
            emulated = machine.run(asked.program, _whole(graph), blocks, **how)
            return RunFound(emulated.run, emulated)
        adviser = _adviser(options, graph, division)
        watch = replace(_watch(options, division, tell, adviser), is_apart=is_apart)
        how |= {"comm": comm, "devices": devices, "watch": watch}
        if isinstance(graph, RankParts):
            found = run_on_parts(asked.program, graph, **how)
        else:
            found = run_program(asked.program, graph, blocks, **how)
        return RunFound(found, kept=watch.checkpoints, adviser=adviser)


def _write(
    options: RunOptions,
    asked: Asked,
    graph: Graph | DirectedGraph | RankParts,
    division: Division,
    found: RunFound,
    played: Sequence[str],
    out: Output,
) -> dict[str, Any]:
    """Write the requested files of a run; print and return advice on how to make it faster."""
    import numpy as np

    from evener.files.writing import atomic_write

    if options.output is not None:
        values = found.run.values
        with atomic_write(options.output) as file:
            np.save(file, values if asked.app is None else asked.app.result(values))
    if found.emulated is not None and not records_asked(options):
        return {}
    run = found.run if found.emulated is None else found.emulated.recorded()
    advice = write_records(options, asked.program, graph, division, run, played)
    out.say(f"{advice.sentence}: {advice.command}" if advice.command else advice.sentence)
    return {"advice": advice._asdict()}


def read_by_ranks(
    options: RunOptions,
    plan: Plan,
    run: tuple[App | None, VertexProgram | Solver],
    comm: MpiComm,
    out: Output,
) -> RankParts | None:
    """Return the parts of this rank's devices; None if each rank must read the whole file.

    run: the app (or None) and the program to run. A note says why the whole file is read.
    Collective. Raises InputError for an invalid file.
    """
    from evener.io.graphs.streams import WholeNeeded
    from evener.io.streaming import digest_of, open_stream
    from evener.running.hybrid import devices_of_process
    from evener.running.on_device import wanted_arcs
    from evener.running.slicing import read_parts

    app, program = run
    devices_of_process(comm, plan.partition.k)  # refuses more ranks than devices
    asked = read_options_of(plan, options.reading, str(options.plan))
    try:
        _refuse_to_divide(options, app)
        with out.progress(f"Reading {options.graph}") as progress:
            progress("pieces", 0.0)
            stream = open_stream(options.graph, plan.partition.n, asked)
            parts = read_parts(stream, plan.partition, comm, want=wanted_arcs(program))
    except WholeNeeded as reason:
        out.note(f"note: each rank reads all of {options.graph}: {reason}")
        return None
    for note in parts.notes:
        out.note(f"note: {note}")
    if plan.inputs and comm.rank == 0:
        name = stream.source.name
        if not is_its_input(plan, {name: digest_of(options.graph)}):
            out.note(f"note: the plan was not made from {options.graph}")
    return parts


def _refuse_to_divide(options: RunOptions, app: App | None) -> None:
    """Raise WholeNeeded if an option or the app needs the whole graph."""
    from evener.io.graphs.streams import WholeNeeded

    if options.verify:
        raise WholeNeeded("--verify compares with another algorithm on one computer")
    if options.checkpoint is not None or options.resume is not None:
        raise WholeNeeded("a checkpoint records its graph")
    if options.rebalance:
        raise WholeNeeded(
            "with --rebalance, vertices that change device take their arcs from the whole graph"
        )
    if app is not None and app.program_for is not None:
        raise WholeNeeded(f"the type of {app.program.name}'s values depends on all weights")
