"""Graph files that the ranks of a run read together, so that none of them holds the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evener.cli.graph_options import is_its_input, read_options_of
from evener.cli.run_options import RunOptions

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.plans.plan import Plan
    from evener.running.apps.registry import App
    from evener.running.engine.program import VertexProgram
    from evener.running.engine.solver import Solver
    from evener.running.mpi_comm import MpiComm
    from evener.running.slicing import RankParts


def read_by_ranks(
    options: RunOptions,
    plan: Plan,
    run: tuple[App | None, VertexProgram | Solver],
    comm: MpiComm,
    out: Output,
) -> RankParts | None:
    """Return the parts of this rank's devices; None where each rank must read the whole file.

    run: the app, if it is one, and its program. A note says why the whole file is read. All ranks
    call. Raises InputError for what is wrong in the file.
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
    """Raise WholeNeeded where something else than the run needs the graph."""
    from evener.io.graphs.streams import WholeNeeded

    if options.verify:
        raise WholeNeeded("--verify compares with another algorithm on one computer")
    if options.checkpoint is not None or options.resume is not None:
        raise WholeNeeded("a checkpoint records its graph")
    if options.rebalance:
        raise WholeNeeded("vertices that change device take their arcs from it")
    if app is not None and app.program_for is not None:
        raise WholeNeeded(f"the type of {app.program.name}'s values depends on all weights")
