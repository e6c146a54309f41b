"""ev.plan: for a graph in memory, in a file, or with rows on the ranks of an MPI program.

`evener plan` chooses between the three by itself (cli/commands/plan.py). Files and rows on ranks
come together in plan_slices; all three in evener.plans.counts and, for least seconds, in
makespan/search.py.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Protocol, Unpack, cast, overload

import numpy as np

from evener.arrays import Part
from evener.errors import UsageError
from evener.graphs.graph import Graph
from evener.io.accept import GraphLike, PlatformLike, as_platform
from evener.planning import in_memory
from evener.planning.options import PlanKeywords, PlanOptions, options_with
from evener.planning.plan_file import FileRequest, plan_file
from evener.planning.plan_slices import SlicedOrigin, plan_slices
from evener.planning.steps import Progress
from evener.plans.partition import Partition
from evener.plans.plan import Plan
from evener.plans.rank_plan import RankPlan
from evener.plans.workload import Workload
from evener.platforms.platform import Platform
from evener.running.comm import Comm
from evener.sliced.distributed import DistributedGraph
from evener.sliced.facts import VertexBytes, WeighedRows
from evener.sliced.gathering import agreed, raised_everywhere


class PlanWords(PlanKeywords, total=False):
    """Any fields of PlanOptions; and memory [B], the limit within which a file is divided."""

    memory: int | None


class Communicator(Protocol):
    """An mpi4py communicator."""

    def Get_rank(self) -> int:  # noqa: N802 - its name
        """Return this rank's number."""


@overload
def plan(
    graph: GraphLike,
    platform: PlatformLike,
    options: PlanOptions | None = ...,
    *,
    comm: None = ...,
    inputs: Mapping[str, str] | None = ...,
    reading: Mapping[str, Any] | None = ...,
    notes: tuple[str, ...] = ...,
    progress: Progress | None = ...,
    **keywords: Unpack[PlanWords],
) -> Plan: ...


@overload
def plan(
    graph: DistributedGraph,
    platform: PlatformLike,
    options: PlanOptions | None = ...,
    *,
    comm: Communicator | Comm | None = ...,
    inputs: Mapping[str, str] | None = ...,
    reading: Mapping[str, Any] | None = ...,
    notes: tuple[str, ...] = ...,
    progress: Progress | None = ...,
    **keywords: Unpack[PlanWords],
) -> RankPlan: ...


@overload
def plan(
    graph: str | Path,
    platform: PlatformLike,
    options: PlanOptions | None = ...,
    *,
    comm: Communicator | Comm,
    inputs: Mapping[str, str] | None = ...,
    reading: Mapping[str, Any] | None = ...,
    notes: tuple[str, ...] = ...,
    progress: Progress | None = ...,
    **keywords: Unpack[PlanWords],
) -> RankPlan: ...


def plan(
    graph: GraphLike | DistributedGraph,
    platform: PlatformLike,
    options: PlanOptions | None = None,
    *,
    comm: Communicator | Comm | None = None,
    inputs: Mapping[str, str] | None = None,
    reading: Mapping[str, Any] | None = None,
    notes: tuple[str, ...] = (),
    progress: Progress | None = None,
    **keywords: Unpack[PlanWords],
) -> Plan | RankPlan:
    """Divide `graph` over the devices of `platform`; every block is certified against its device.

    graph: a file's name, what `read` returns, a Graph, a Mesh, a SciPy sparse matrix, a networkx
    graph or a meshio mesh. platform: a machine file's name or tables, a Platform, a number of equal
    devices, a list of speeds or of Devices. keywords: fields of PlanOptions, which replace those of
    `options`. Returns a Plan.

    With the keyword memory [B], the graph must be a file's name. The file is read and divided slice
    by slice, and the process uses no more memory than this, libraries included. If it is too
    little, UsageError states the minimum.

    On the ranks of an MPI program (collective): pass a DistributedGraph; or a file's name and an
    mpi4py communicator `comm`, then each rank reads a part of the file. Returns a RankPlan on each
    rank, with the same blocks for any number of ranks.

    inputs (file name -> SHA-256) and reading (how the graph was read) are stored in the plan; if
    `graph` is a file's name, they are determined here. progress: called with (step, fraction).
    Raises InfeasibleError if the graph does not fit, NotFoundError if no blocks that satisfy their
    contract are found, UsageError if the tool does not support the options, ToolError if it fails.
    The same arguments give the same plan, whatever the number of threads and the time limit, except
    by external tools whose result depends on their threads.
    """
    memory = keywords.pop("memory", None)
    chosen = cast(PlanKeywords, keywords)
    if memory is not None:
        if comm is not None or not isinstance(graph, str | Path):
            raise UsageError("memory limits apply only to a file name without a communicator")
        request = FileRequest(
            Path(graph), memory, recorded=reading or {}, notes=notes, inputs=inputs
        )
        settled = options_with(options, chosen)
        return plan_file(request, as_platform(platform), settled, progress)
    if comm is None and not isinstance(graph, DistributedGraph):
        return in_memory.plan(
            graph, platform, options, inputs=inputs, reading=reading, notes=notes,
            progress=progress, **chosen,
        )  # fmt: skip
    if not isinstance(graph, DistributedGraph):
        if not isinstance(graph, str | Path):
            raise UsageError(
                "with a communicator, the graph must be a DistributedGraph or a file name",
                hint="ev.DistributedGraph.from_local(comm, xadj, adjncy) makes a graph of the "
                "rows on each rank.",
            )
        graph = DistributedGraph.from_file(comm, graph)
    origin = SlicedOrigin(inputs or graph.inputs, reading, None, (*graph.notes, *notes))
    with graph.failing_together():
        machine, settled = agreed(
            graph.comm, lambda: (as_platform(platform), options_with(options, chosen))
        )
    return plan_on_ranks(graph, machine, settled, origin, progress)


def plan_on_ranks(
    graph: DistributedGraph,
    platform: Platform,
    options: PlanOptions,
    origin: SlicedOrigin | None = None,
    progress: Progress | None = None,
) -> RankPlan:
    """Return each rank's part of a plan for a graph whose rows are distributed over ranks.

    Collective. An error of one rank is raised on all. Raises UsageError if ranks pass different
    machines or options.
    """
    with graph.failing_together():
        refuse_different(graph.comm, platform, options)
        return _planned(graph, platform, options, origin, progress)


def _planned(
    graph: DistributedGraph,
    platform: Platform,
    options: PlanOptions,
    origin: SlicedOrigin | None,
    progress: Progress | None,
) -> RankPlan:
    size = VertexBytes(graph.bytes_per_vertex, graph.bytes_per_edge)
    found = plan_slices(graph, platform, options, size=size, origin=origin, progress=progress)
    own: Part = graph.back(found.blocks)
    used = platform if found.plan is None else found.plan.platform
    used = graph.comm.bcast(used)
    return RankPlan(own, used, found.judged, found.plan, graph.sent)


@overload
def replan(old: Plan, graph: Graph, platform: Platform, workload: Workload) -> Partition: ...


@overload
def replan(old: RankPlan, graph: WeighedRows, platform: Platform, workload: Workload) -> Part: ...


def replan(
    old: Plan | RankPlan, graph: Graph | WeighedRows, platform: Platform, workload: Workload
) -> Partition | Part:
    """Return a new partition under the options of the old plan, for the present work and speeds.

    Pass this function as `replan` to a Rebalancer, which cannot import it: rebalancing imports
    nothing from planning. graph: with the present work as its weights; platform: with the present
    speeds; workload: what an iteration sends. For rows in slices (collective), returns the blocks
    (n_own,) int32 of this rank's vertices. Raises the errors of `plan`.
    """
    if isinstance(old, Plan):
        assert isinstance(graph, Graph)
        options = in_memory.options_of(old.options, workload)
        return in_memory.plan(graph, platform, options).partition
    assert isinstance(graph, WeighedRows)
    recorded = graph.comm.bcast(None if old.plan is None else old.plan.options)
    assert recorded is not None
    options = in_memory.options_of(recorded, workload)
    return plan_slices(graph, platform, options, size=graph.size).blocks


NOT_COMPARED = (
    "threads",
    "time_limit",
)  # options that do not change the blocks of Evener's partitioner


def refuse_different(comm: Comm, platform: Platform, options: PlanOptions) -> None:
    """Raise UsageError on all ranks if a rank passes another machine or option than rank 0.

    Collective.
    """
    digest = hashlib.sha256(repr(_plain(platform)).encode()).hexdigest()
    names = [one.name for one in fields(options) if one.name not in NOT_COMPARED]
    own = {name: repr(_plain(getattr(options, name))) for name in names}
    everyone = comm.allgather((digest, own))
    machine, first = everyone[0]
    with raised_everywhere():
        for rank, (other, chosen) in enumerate(everyone):
            if other != machine:
                _refuse(f"rank {rank} and rank 0 pass different machines")
            for name, value in chosen.items():
                if value != first[name]:
                    _refuse(
                        f"rank {rank} passes {name}={value}, but rank 0 passes {name}={first[name]}"
                    )


def _refuse(what: str) -> None:
    raise UsageError(what, hint="All ranks must pass the same machine and the same options.")


def _plain(value: Any) -> Any:
    """Return a value as nested tuples of numbers and texts; equal values have equal reprs."""
    if is_dataclass(value):
        held = [(one.name, _plain(getattr(value, one.name))) for one in fields(value)]
        return (type(value).__name__, *held)
    if isinstance(value, Mapping):
        return tuple((key, _plain(held)) for key, held in value.items())
    if isinstance(value, list | tuple):
        return tuple(_plain(one) for one in value)
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return value
