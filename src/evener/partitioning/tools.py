"""The table of all partitioners: what each can do, and how it is called.

To add a partitioner, write a function that takes a graph and a Request and returns an Outcome, and
add a Tool with this function to TOOLS. Evener's own partitioners run in this process; external ones
run in a child process, each called by a module of `external`. registry.py checks the results.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from evener.arrays import Part
from evener.errors import one_of
from evener.graphs.graph import Graph
from evener.machine_code.clock import cpu_seconds
from evener.partitioning.external.children import Outcome, run_in_child
from evener.partitioning.initial.trees import Tree
from evener.partitioning.requests import OBJECTIVES, Request
from evener.plans.partition import Contract

ALL_THREADS = 4096  # more than any machine has: the tool uses all threads of the request
EXTERNAL = "evener.partitioning.external"
WITHOUT_EDGES = "uses only coordinates, not edges or their weights"

Run = Callable[[Graph, Request], Outcome]
Missing = Callable[[], str | None]


@dataclass(frozen=True)
class SeveralWeights:
    """What a tool can do if vertices have several weights; see Tool for the fields."""

    run: Run
    objectives: tuple[str, ...] = ("cut",)
    missing: Missing = lambda: None


@dataclass(frozen=True)
class Tool:
    """A partitioner and what it can do.

    family: "multilevel", "geometric" or "external". run: divides a graph; its result is not
    checked yet. objectives: those that it can minimise. targets: whether blocks may have unequal
    targets. same_at_any_threads: whether the result is independent of the number of threads.
    along_tree: whether it divides along the machine's tree, which is useless for machines without
    levels. missing: returns None if the tool can be called, else how to install it. several: what
    it can do for several weights per vertex, or None if it takes only one.
    """

    name: str
    family: str
    run: Run
    objectives: tuple[str, ...] = OBJECTIVES
    needs_coordinates: bool = False
    targets: bool = True
    same_at_any_threads: bool = True
    along_tree: bool = False
    missing: Missing = lambda: None
    several: SeveralWeights | None = None

    def available(self) -> str | None:
        """Return None if the tool can be called, else a message that says how to install it."""
        how = self.missing()
        return None if how is None else f"{self.name} is not installed: {how}"


def find_tool(name: str) -> Tool:
    """Return the tool with this name. Raises UsageError for an unknown name."""
    return TOOLS[one_of("partitioner", name, TOOLS)]


# Evener's own partitioners.


def _multilevel(graph: Graph, request: Request) -> Outcome:
    from evener.partitioning.portfolio import best_blocks

    began = cpu_seconds()
    found = best_blocks(
        graph, request.contract(graph), preset=request.preset, objective=request.objective,
        seed=request.seed, threads=request.threads,
    )  # fmt: skip
    outcome = Outcome(found.part, cpu_seconds() - began, _own_version())
    return outcome if found.start is None else replace(outcome, start=("placed", found.start))


def _multiconstraint(graph: Graph, request: Request) -> Outcome:
    from evener.partitioning.multiconstraint.multiconstraint import several_blocks

    return _timed(_for_the_cut(several_blocks), graph, request)


def _hierarchical(graph: Graph, request: Request) -> Outcome:
    from evener.partitioning.hierarchical import hierarchical_blocks

    tree, how = _tree_of(request)
    outcome = _timed(partial(hierarchical_blocks, tree=tree), graph, request)
    return replace(outcome, notes=(*outcome.notes, how))


def _geohier(graph: Graph, request: Request) -> Outcome:
    from evener.partitioning.hierarchical import geohier_blocks

    tree, how = _tree_of(request)

    def divide(graph: Graph, contract: Contract, *, threads: int, **_: Any) -> Part:
        return geohier_blocks(graph, contract, tree, threads=threads)

    return replace(_timed(divide, graph, request), notes=(WITHOUT_EDGES, how))


def _tree_of(request: Request) -> tuple[Tree, str]:
    """Return the simplified tree of the request, and a note on its levels for the user."""
    from evener.partitioning.initial.trees import simplest

    tree = simplest(np.zeros((0, request.k), np.int64) if request.tree is None else request.tree)
    how = "all devices are at one place, so the machine has no levels to divide along"
    if len(tree):
        groups = [int(row.max()) + 1 for row in tree]
        how = (
            "follows the levels of the machine: "
            f"{' > '.join(f'{g:,}' for g in [*groups, request.k])}"
        )
    return tree, how


def _georef(graph: Graph, request: Request) -> Outcome:
    from evener.partitioning.geographer import georef_blocks

    return _timed(_for_the_cut(georef_blocks), graph, request)


def _kmeans(graph: Graph, request: Request) -> Outcome:
    from evener.partitioning.initial.kmeans import kmeans_blocks

    def divide(graph: Graph, contract: Contract, *, threads: int, **_: Any) -> Part:
        weights = None if graph.is_unit else graph.weights()
        return kmeans_blocks(np.asarray(graph.coords), weights, contract.targets, threads=threads)

    return replace(_timed(divide, graph, request), notes=(WITHOUT_EDGES,))


def _for_the_cut(divide: Callable[..., Part]) -> Callable[..., Part]:
    """Return `divide` with an ignored argument `objective`.

    The objective is always the cut, as requests with other objectives were rejected before.
    """

    def without(graph: Graph, contract: Contract, *, objective: str, **options: Any) -> Part:
        del objective
        return divide(graph, contract, **options)

    return without


def _timed(divide: Callable[..., Part], graph: Graph, request: Request) -> Outcome:
    """Call `divide` with the request's contract and options; return blocks and CPU time."""
    contract = request.contract(graph)
    start = cpu_seconds()
    part = divide(
        graph, contract, preset=request.preset, objective=request.objective, seed=request.seed,
        threads=request.threads,
    )  # fmt: skip
    return Outcome(part, cpu_seconds() - start, _own_version())


def _from_coordinates(
    graph: Graph, request: Request, *, function: str, module: str = "geometric"
) -> Outcome:
    """Divide the graph with `function` of `module` in the package `initial`."""
    made_by = import_module(f"evener.partitioning.initial.{module}")
    weights = np.asarray(graph.weights(), np.float64)
    targets = request.targets * (weights.sum() / request.targets.sum())
    divide = getattr(made_by, function)
    # Divide two points first, so that compiling or loading the kernels is not timed.
    points = np.asarray(graph.coords)
    divide(points[:2], weights[:2], np.ones(2))
    start = time.thread_time()
    part = divide(points, weights, targets)
    seconds = time.thread_time() - start
    return Outcome(part, seconds, _own_version(), (WITHOUT_EDGES,))


@cache
def _own_version() -> str:
    # Cached, as looking up the version takes milliseconds.
    from importlib.metadata import version

    return f"evener {version('evener')}"


def _geometric(name: str, run: Run | None = None, *, along_tree: bool = False) -> Tool:
    return Tool(
        name,
        "geometric",
        run or partial(_from_coordinates, function=f"{name}_blocks"),
        objectives=("cut",),
        needs_coordinates=True,
        along_tree=along_tree,
    )


# External partitioners.


def in_child(
    graph: Graph,
    request: Request,
    *,
    tool: str,
    module: str,
    threads: int,
    part: Part | None = None,
    by_place: bool = False,
) -> Outcome:
    """Call the tool in a child process, through a module.

    module: dotted name, usually of a module of `external`. threads: the largest number of threads
    that the tool uses. part: initial blocks, or None. by_place: pass coordinates instead of edges.
    """
    from evener.partitioning.external.jobs import Job

    several = graph.n_constraints > 1
    xadj, adjncy, adjwgt = graph.xadj, graph.adjncy, graph.adjwgt
    if by_place:
        xadj, adjncy, adjwgt = np.zeros_like(xadj), adjncy[:0], None
    job = Job(
        tool,
        xadj,
        adjncy,
        graph.vwgt,
        adjwgt,
        request.contract(graph).table("targets") if several else request.targets,
        request.epsilon,
        request.seed,
        min(request.threads, threads),
        request.objective,
        request.preset,
        part=part,
        points=np.asarray(graph.coords) if by_place else None,
    )
    return run_in_child(job, module, request.time_limit)


def _external(
    name: str,
    module: str,
    missing: Missing,
    *,
    objectives: tuple[str, ...] = ("cut",),
    threads: int = 1,
    several: SeveralWeights | None = None,
) -> Tool:
    return Tool(
        name,
        "external",
        partial(in_child, tool=name, module=f"{EXTERNAL}.{module}", threads=threads),
        objectives=objectives,
        same_at_any_threads=threads == 1,
        missing=missing,
        several=several,
    )


def _package(module: str) -> Missing:
    # The result is stored if found: searching sys.path takes longer than some partitions.
    found: list[bool] = []

    def missing() -> str | None:
        if not found and find_spec(module):
            found.append(True)
        return None if found else f"pip install {module}"

    return missing


def _scotch_library() -> str | None:
    from evener.partitioning.external.scotch import library

    return None if library() is not None else "apt install libscotch-7.0 (or brew install scotch)"


def _metis_library() -> str | None:
    from evener.partitioning.external.metis import missing

    return missing()


def _metis(name: str, objectives: tuple[str, ...]) -> Tool:
    # pymetis takes one weight per vertex; the library itself takes several.
    run = partial(in_child, tool=name, module=f"{EXTERNAL}.metis", threads=1)
    several = SeveralWeights(run, objectives, _metis_library)
    return _external(name, "metis", _package("pymetis"), objectives=objectives, several=several)


# In the order in which `evener compare` lists them, family by family.
TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool("evener", "multilevel", _multilevel, several=SeveralWeights(_multiconstraint)),
        Tool("hierarchical", "multilevel", _hierarchical, along_tree=True),
        Tool("georef", "multilevel", _georef, objectives=("cut",), needs_coordinates=True),
        _geometric("kmeans", _kmeans),
        _geometric("geohier", _geohier, along_tree=True),
        _geometric("mj", partial(_from_coordinates, function="mj_blocks", module="multijagged")),
        _geometric("rcb"),
        _geometric("rib"),
        _geometric("hilbert"),
        _metis("metis", ("cut", "total_volume")),
        _metis("metis-recursive", ("cut",)),
        _external("scotch", "scotch", _scotch_library),
        _external("kaminpar", "kaminpar", _package("kaminpar"), threads=ALL_THREADS),
        _external(
            "mtkahypar", "mtkahypar", _package("mtkahypar"),
            objectives=("cut", "total_volume"), threads=ALL_THREADS,
        ),
    )
}  # fmt: skip

# The partitioners of graphs in slices other than Evener's own (evener.sliced.tools): name -> passes
# over the edges.
SLICED_TOOLS = {"ldg": 1, "fennel": 1, "reldg": 5, "refennel": 5, "curve": 0}
