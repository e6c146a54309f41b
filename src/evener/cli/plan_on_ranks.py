"""`mpiexec -n P evener plan`: the ranks read a graph's rows and divide it together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from evener.errors import InputError, UsageError
from evener.files.opening import is_stdin

if TYPE_CHECKING:
    from evener.cli.graph_options import ReadOptions
    from evener.cli.output import Output
    from evener.files.opening import FileState
    from evener.planning.options import PlanOptions
    from evener.plans.rank_plan import RankPlan
    from evener.platforms.platform import Platform
    from evener.running.mpi_comm import MpiComm


# Options that only one process supports, and hints on alternatives.
ALONE = {
    "--memory": "Ranks share the graph: with more ranks, each holds less. Or run without mpiexec.",
    "--report": "Run `evener report X.plan` afterwards.",
    "--versus": "Use `evener compare` for other tools, `evener evaluate` for the plan.",
    "--cut": "Leave it out to divide vertices, or run without mpiexec.",
}


class RankWords(NamedTuple):
    """The options of a plan on ranks.

    alone: options that only one process supports, None if not given.
    """

    graph: str
    output: Path
    reading: ReadOptions
    options: PlanOptions
    alone: dict[str, Any]

    def check(self) -> None:
        """Raise UsageError for options that ranks do not support."""
        if is_stdin(self.graph):
            raise UsageError("ranks read a graph together, so it must be a file, not stdin")
        for name, value in self.alone.items():
            if value is not None:
                raise UsageError(f"{name} does not work on the ranks of mpiexec", hint=ALONE[name])


def planned_on_ranks(words: RankWords, platform: Platform, comm: MpiComm, out: Output) -> RankPlan:
    """Return each rank's part of a plan for the graph in a file. Collective."""
    from evener.files.opening import state_of
    from evener.planning.plan import plan_on_ranks
    from evener.planning.plan_slices import SlicedOrigin
    from evener.running.failures import Names
    from evener.sliced.distributed import PATIENCE, DistributedGraph
    from evener.sliced.gathering import agreed

    comm.describe(Names(), PATIENCE)
    path, reading = words.graph, words.reading
    given = {name: value for name, value in reading.given().items() if (name, value) != USUAL}
    before = agreed(comm, lambda: state_of(path))
    with out.progress(f"Reading {path} on {comm.size} ranks") as progress:
        progress("reading", 0.1)
        try:
            graph = DistributedGraph.from_file(comm, path, **given)
        except InputError as error:  # about rows, which are identified by rank and vertex
            error.file = error.file or path
            raise
    for note in graph.notes:
        out.note(f"note: {note}")
    if graph.comm.allgather(bool(graph.inputs))[0] is False:
        graph.inputs = agreed(graph.comm, lambda: _digest(path, before, comm.rank))
    origin = SlicedOrigin(graph.inputs, reading.recorded(), None, graph.notes)
    with out.progress("Planning") as progress:
        found = plan_on_ranks(graph, platform, words.options, origin, progress)
    _say_sent(found, comm, out)
    return found


USUAL = "by", "cells"  # the default of reading


def _say_sent(found: RankPlan, comm: MpiComm, out: Output) -> None:
    from evener.wording import memory

    sent = comm.allgather(found.sent)
    out.say(f"{comm.size} ranks sent each other {memory(sum(sent))}")


def _digest(path: str, before: FileState, rank: int) -> dict[str, str]:
    """Return, at rank 0, the SHA-256 of a file if it has not changed; nothing on other ranks."""
    from evener.files.opening import ANY_SIZE, state_of
    from evener.io.streaming import digest_of

    if rank:
        return {}
    found = {Path(path).name: digest_of(path, ANY_SIZE)}
    if state_of(path) != before:
        raise InputError("was changed while it was read", file=path)
    return found
