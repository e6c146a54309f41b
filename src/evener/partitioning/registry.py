"""Every partitioner by name, with what it can do; whoever cannot do what is asked refuses.

`partition_with` calls one and checks what comes back; `choose_tool` is `auto`. Whatever the
tool, lower bounds and memory are the business of `enforce`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, as_numbers
from evener.errors import InfeasibleError, ToolError, UsageError
from evener.graphs import Graph
from evener.partitioning.external.children import Outcome, run_in_child
from evener.partitioning.trees import Tree, as_tree
from evener.partitions import Contract, Further
from evener.sizing.rounding import limits

PRESETS = ("fast", "default", "strong")
OBJECTIVES = ("cut", "total_volume", "max_volume")
ALL_THREADS = 4096
WITHOUT_EDGES = "made from coordinates alone: edges and their weights are not looked at"

Blocks = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Request:
    """What is asked of a partitioner.

    targets (k,) float64 [units], read as proportions; a block whose target is 0 stays empty.
    epsilon: how far a block may be above its target, relative. low, high (k,) [units]: the
    contract, for tools that keep to both limits; where None, epsilon on both sides. further: the
    same for the further weights of vertices that have several; where empty, targets are theirs
    too. tree
    (depth, k): which devices sit together, as in `trees`; None where that is not known.
    time_limit [s] of wall time for tools that run in a child process, or None.
    """

    targets: FloatArray
    epsilon: float = 0.03
    seed: int = 7
    threads: int = 1
    objective: str = "cut"
    preset: str = "default"
    time_limit: float | None = 600.0
    low: FloatArray | None = None
    high: FloatArray | None = None
    tree: Tree | None = None
    further: tuple[Further, ...] = ()

    def __post_init__(self) -> None:
        targets = as_numbers(self.targets, "targets")
        object.__setattr__(self, "targets", targets)
        if targets.size == 0 or targets.min() < 0 or not targets.sum() > 0:
            raise UsageError("targets must not be negative, and one must be above zero")
        if not 0 <= self.epsilon < np.inf:
            raise UsageError(f"epsilon must not be negative, and is {self.epsilon}")
        if self.seed < 0 or self.threads < 1:
            raise UsageError("the seed must not be negative, and threads must be one or more")
        if self.time_limit is not None and not self.time_limit > 0:
            raise UsageError(f"the time limit must be above zero, and is {self.time_limit} s")
        if self.tree is not None:
            object.__setattr__(self, "tree", as_tree(self.tree, targets.size))
        _one_of("preset", self.preset, PRESETS)
        _one_of("objective", self.objective, OBJECTIVES)

    @property
    def k(self) -> int:
        """Number of blocks."""
        return int(self.targets.size)

    def of_blocks(self, used: npt.NDArray[np.int64]) -> Request:
        """Return the request for these blocks alone."""
        low = None if self.low is None else self.low[used]
        high = None if self.high is None else self.high[used]
        tree = None if self.tree is None else self.tree[:, used]
        further = tuple(
            replace(one, targets=one.targets[used], low=one.low[used], high=one.high[used])
            for one in self.further
        )
        return replace(
            self, targets=self.targets[used], low=low, high=high, tree=tree, further=further
        )

    def contract(self, graph: Graph) -> Contract:
        """Return what is asked as a contract for `graph`, with limits on all its weights."""
        none = np.full(self.k, np.inf)

        def around(i: int) -> Further:
            weights = graph.weights(i)
            targets = self.targets * (float(weights.sum()) / self.targets.sum())
            whole = bool(((weights == 0) | (weights == 1)).all())
            return Further(targets, *limits(targets, self.epsilon, none, whole=whole))

        first, count = around(0), graph.n_constraints
        further = self.further or tuple(around(i) for i in range(1, count))
        if self.low is not None and self.high is not None:
            return Contract(first.targets, self.low, self.high, further=further)
        return Contract(first.targets, first.low, first.high, further=further)


@dataclass(frozen=True)
class Result:
    """part (n,) int32, the block of every vertex; who made it, at what CPU time [s]; remarks.

    start: how the blocks began that it refined, in a word, and those blocks (n,), if it tells.
    """

    part: npt.NDArray[np.int32]
    tool: str
    version: str
    cpu_seconds: float
    notes: tuple[str, ...] = ()
    start: tuple[str, npt.NDArray[np.int32]] | None = None


@dataclass(frozen=True)
class Several:
    """What a tool does where vertices have several weights: its objectives, what is missing for
    it (None where nothing is), and the call.
    """

    objectives: tuple[str, ...]
    missing: Callable[[], str | None]
    run: Callable[[Graph, Request], Outcome]


@dataclass(frozen=True)
class Tool:
    """A partitioner and what it can do.

    family: "multilevel", "geometric" or "external"; `targets`: blocks of unequal targets;
    `lower_bounds`: keeps blocks from being too light; `threads` at most; `seeds`: whether the
    seed matters; `edge_weights`: whether the cut counts them (geometric tools look at no edge at
    all, and their notes say so); `same_at_any_threads`: whether their number changes nothing but
    the time; `real_weights`: whether real weights are used as they are (others get whole numbers,
    scaled by us). `missing()`: None where the tool can be called, else how to get it. `run`
    divides the graph, unchecked. `several`: the same for several weights per vertex, None where
    the tool takes one only.
    """

    name: str
    family: str
    targets: bool
    lower_bounds: bool
    objectives: tuple[str, ...]
    needs_coordinates: bool
    threads: int
    seeds: bool
    edge_weights: bool
    real_weights: bool
    same_at_any_threads: bool
    missing: Callable[[], str | None]
    run: Callable[[Graph, Request], Outcome]
    several: Several | None = None

    def available(self) -> str | None:
        """Return None where the tool can be called, else the reason and how to get it."""
        how = self.missing()
        return None if how is None else f"{self.name} is not installed: {how}"


def partition_with(name: str, graph: Graph, request: Request) -> Result:
    """Divide the graph with the tool `name`, or with one chosen for it by `auto`.

    Raises UsageError where the tool is unknown, absent or cannot do what is asked, naming those
    that can; InfeasibleError where more blocks than vertices are to be non-empty; ToolError where
    the tool fails or returns nonsense. Empty blocks and broken tolerances are not its business.
    """
    chosen, why = choose_tool(graph, request) if name == "auto" else (name, None)
    tool = find_tool(chosen)
    refusal = _refusal(tool, graph, request)
    if refusal is not None:
        raise UsageError(refusal, hint=_who_can(graph, request))
    used = np.flatnonzero(request.targets > 0)
    if used.size > graph.n:
        raise InfeasibleError(f"{used.size} blocks cannot be made of {graph.n} vertices")
    if used.size == 1:
        outcome = Outcome(np.zeros(graph.n, np.int32), 0.0, "", ("one block takes everything",))
    else:
        run = tool.run if graph.n_constraints == 1 or tool.several is None else tool.several.run
        outcome = run(graph, request.of_blocks(used))
    part = used[_checked(outcome.part, graph.n, used.size, chosen)].astype(np.int32)
    notes = outcome.notes if why is None else (f"{chosen} chosen: {why}", *outcome.notes)
    start = None
    if outcome.start is not None:
        start = outcome.start[0], used[outcome.start[1]].astype(np.int32)
    return Result(part, chosen, outcome.version, outcome.cpu_seconds, notes, start)


def choose_tool(graph: Graph, request: Request) -> tuple[str, str]:
    """Return the tool that `auto` takes for this graph and request, and the reason why.

    Our own; where that cannot do what is asked, the first that is installed and can. Raises
    UsageError where none can.
    """
    without = _refusal(TOOLS["evener"], graph, request)
    if without is None:
        where = "on every weight" if graph.n_constraints > 1 else "by every block"
        return "evener", f"short borders, and both limits kept {where}"
    for name in AUTO_ORDER:
        if _refusal(TOOLS[name], graph, request) is None:
            return name, f"the next that can, as {without}"
    raise UsageError(f"no partitioner can do this: {without}", hint=_way_out(graph))


def find_tool(name: str) -> Tool:
    """Return the tool of this name; raises UsageError where there is none."""
    if name not in TOOLS:
        known = ", ".join(TOOLS)
        raise UsageError(f"there is no partitioner {name!r}", hint=f"There are: {known}, auto.")
    return TOOLS[name]


def _refusal(tool: Tool, graph: Graph, request: Request) -> str | None:
    """Return why the tool cannot honour the request, or None."""
    unequal = bool(np.ptp(request.targets[request.targets > 0]) > 0)
    reasons = (
        (tool.available() is not None, tool.available()),
        (unequal and not tool.targets, f"{tool.name} cannot do unequal targets"),
        (
            request.objective not in tool.objectives,
            f"{tool.name} cannot minimise {request.objective}; it does {_list(tool.objectives)}",
        ),
        (
            tool.needs_coordinates and graph.coords is None,
            f"{tool.name} needs coordinates, and the graph has none",
        ),
    )
    found = next((why for holds, why in reasons if holds), None)
    return found or (_refusal_of_several(tool, graph, request) if graph.n_constraints > 1 else None)


def _refusal_of_several(tool: Tool, graph: Graph, request: Request) -> str | None:
    several, asked = tool.several, request.objective
    if several is None:
        return f"{tool.name} balances 1 weight per vertex, not {graph.n_constraints}"
    if asked not in several.objectives:
        able = _list(several.objectives)
        return f"{tool.name} cannot minimise {asked} with several weights; it does {able}"
    lacking = several.missing()
    return lacking and f"{tool.name} cannot balance several weights: {lacking}"


def _who_can(graph: Graph, request: Request) -> str:
    able = [name for name, tool in TOOLS.items() if _refusal(tool, graph, request) is None]
    return f"These can: {', '.join(able)}." if able else _way_out(graph)


def _way_out(graph: Graph) -> str:
    if graph.n_constraints > 1:
        return "--constraint I takes one of the weights, from 0 (`constraint=I` of `read`)."
    absent = [reason for tool in TOOLS.values() if (reason := tool.available()) is not None]
    return "; ".join(absent) if absent else "No partitioner can, and all of them are installed."


def _checked(part: npt.NDArray[np.generic], n: int, k: int, tool: str) -> npt.NDArray[np.int64]:
    """Refuse what is not a block number for every vertex."""
    if part.shape != (n,) or part.dtype.kind not in "iu":
        raise ToolError(f"{tool} returned {part.shape} {part.dtype} for {n} vertices")
    blocks = part.astype(np.int64)
    if n and (blocks.min() < 0 or blocks.max() >= k):
        raise ToolError(f"{tool} returned blocks {blocks.min()} to {blocks.max()} for {k} of them")
    return blocks


def _one_of(what: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise UsageError(f"there is no {what} {value!r}", hint=f"There are: {', '.join(choices)}.")


def _list(words: tuple[str, ...]) -> str:
    return " and ".join(words)


def _package(module: str, how: str) -> Callable[[], str | None]:
    return lambda: None if find_spec(module) else how


def _scotch_library() -> str | None:
    from evener.partitioning.external.scotch import library

    return None if library() is not None else "apt install libscotch-7.0 (or brew install scotch)"


def _libmetis() -> str | None:
    from evener.partitioning.external.metis_library import missing

    return missing()


def _foreign(graph: Graph, request: Request, *, tool: str, module: str) -> Outcome:
    """Run one of `evener.partitioning.external` in a child process."""
    from evener.partitioning.external.jobs import Job

    several = graph.n_constraints > 1
    job = Job(
        tool,
        graph.xadj,
        graph.adjncy,
        graph.vwgt,
        graph.adjwgt,
        request.contract(graph).table("targets") if several else request.targets,
        request.epsilon,
        request.seed,
        min(request.threads, TOOLS[tool].threads),
        request.objective,
        request.preset,
    )
    return run_in_child(job, f"evener.partitioning.external.{module}", request.time_limit)


def _ours(graph: Graph, request: Request, *, function: str) -> Outcome:
    """Run one of `evener.partitioning.geometric` in this process."""
    from importlib.metadata import version

    from evener.partitioning import geometric

    weights = np.asarray(graph.weights(), np.float64)
    targets = request.targets * (weights.sum() / request.targets.sum())
    divide = getattr(geometric, function)
    # Compiling or loading the kernels is no more the call's than others' imports are theirs.
    points = np.asarray(graph.coords)
    divide(points[:2], weights[:2], np.ones(2))
    start = time.thread_time()
    part = divide(points, weights, targets)
    seconds = time.thread_time() - start
    return Outcome(part, seconds, f"evener {version('evener')}", (WITHOUT_EDGES,))


def _multilevel(graph: Graph, request: Request) -> Outcome:
    """Run our own multilevel partitioner in this process."""
    from evener.partitioning.tries import best_blocks

    starts: list[Blocks] = []
    outcome = _with_both_limits(partial(best_blocks, starts=starts), graph, request)
    return replace(outcome, start=("placed", starts[0])) if starts else outcome


def _several(graph: Graph, request: Request) -> Outcome:
    """Run our own partitioner for several weights per vertex, in this process."""
    from importlib.metadata import version

    from evener.partitioning.several import several_blocks

    start = time.process_time()
    part = several_blocks(
        graph, request.contract(graph), preset=request.preset, seed=request.seed,
        threads=request.threads,
    )  # fmt: skip
    return Outcome(part, time.process_time() - start, f"evener {version('evener')}", ())


def _hierarchical(graph: Graph, request: Request) -> Outcome:
    """Run our own partitioner along the machine's tree, in this process."""
    from evener.partitioning.hierarchical import hierarchical_blocks
    from evener.partitioning.trees import simplest

    tree = simplest(np.zeros((0, request.k), np.int64) if request.tree is None else request.tree)
    outcome = _with_both_limits(partial(hierarchical_blocks, tree=tree), graph, request)
    how = "the machine's devices all sit side by side: nothing to go along"
    if len(tree):
        groups = [int(row.max()) + 1 for row in tree]
        how = f"divided along the machine: {' > '.join(f'{g:,}' for g in [*groups, request.k])}"
    return replace(outcome, notes=(*outcome.notes, how))


def _georef(graph: Graph, request: Request) -> Outcome:
    """Run Geographer-R in this process."""
    from evener.partitioning.georef import georef_blocks

    def divide(graph: Graph, contract: Contract, *, objective: str, **more: Any) -> Blocks:
        del objective  # it is the cut: others are refused before
        return georef_blocks(graph, contract, **more)

    return _with_both_limits(divide, graph, request)


def _kmeans(graph: Graph, request: Request) -> Outcome:
    """Run balanced k-means alone in this process."""
    from evener.partitioning.kmeans import kmeans_blocks

    def divide(graph: Graph, contract: Contract, *, threads: int, **_: Any) -> Blocks:
        weights = None if graph.is_unit else graph.weights()
        return kmeans_blocks(np.asarray(graph.coords), weights, contract.targets, threads=threads)

    return replace(_with_both_limits(divide, graph, request), notes=(WITHOUT_EDGES,))


def _with_both_limits(divide: Callable[..., Blocks], graph: Graph, request: Request) -> Outcome:
    from importlib.metadata import version

    targets = request.targets * (graph.total_weight / request.targets.sum())
    low, high = request.low, request.high
    if low is None or high is None:
        none = np.full(targets.size, np.inf)
        low, high = limits(targets, request.epsilon, none, whole=graph.is_unit)
    start = time.process_time()
    part = divide(
        graph, Contract(targets, low, high), preset=request.preset, objective=request.objective,
        seed=request.seed, threads=request.threads,
    )  # fmt: skip
    return Outcome(part, time.process_time() - start, f"evener {version('evener')}", ())


def _external(
    name: str,
    module: str,
    missing: Callable[[], str | None],
    *,
    objectives: tuple[str, ...] = ("cut",),
    threads: int = 1,
    several: Several | None = None,
) -> Tool:
    return Tool(
        name,
        family="external",
        targets=True,
        lower_bounds=False,
        objectives=objectives,
        needs_coordinates=False,
        threads=threads,
        seeds=True,
        edge_weights=True,
        real_weights=False,
        same_at_any_threads=threads == 1,
        missing=missing,
        run=partial(_foreign, tool=name, module=module),
        several=several,
    )


def _own(
    name: str,
    run: Callable[[Graph, Request], Outcome],
    *,
    objectives: tuple[str, ...] = OBJECTIVES,
    needs_coordinates: bool = False,
    several: Several | None = None,
) -> Tool:
    return Tool(
        name,
        family="multilevel",
        targets=True,
        lower_bounds=True,
        objectives=objectives,
        needs_coordinates=needs_coordinates,
        threads=ALL_THREADS,
        seeds=True,
        edge_weights=True,
        real_weights=True,
        same_at_any_threads=True,
        missing=lambda: None,
        run=run,
        several=several,
    )


def _geometric(
    name: str, run: Callable[[Graph, Request], Outcome] | None = None, *, threads: int = 1
) -> Tool:
    return Tool(
        name,
        family="geometric",
        targets=True,
        lower_bounds=True,
        objectives=("cut",),
        needs_coordinates=True,
        threads=threads,
        seeds=False,
        edge_weights=False,
        real_weights=True,
        same_at_any_threads=True,
        missing=lambda: None,
        run=run or partial(_ours, function=f"{name}_blocks"),
    )


_pymetis = _package("pymetis", "pip install pymetis")
_kaminpar = _package("kaminpar", "pip install kaminpar")
_metis_library = partial(_foreign, module="metis_library")
_mtkahypar = _package("mtkahypar", "pip install mtkahypar")

# Family by family: `evener compare` lists them so.
TOOLS: dict[str, Tool] = {
    "evener": _own("evener", _multilevel, several=Several(("cut",), lambda: None, _several)),
    "hierarchical": _own("hierarchical", _hierarchical),
    "georef": _own("georef", _georef, objectives=OBJECTIVES[:1], needs_coordinates=True),
    "kmeans": _geometric("kmeans", _kmeans, threads=ALL_THREADS),
    "rcb": _geometric("rcb"),
    "rib": _geometric("rib"),
    "hilbert": _geometric("hilbert"),
    "metis": _external(
        "metis",
        "metis",
        _pymetis,
        objectives=OBJECTIVES[:2],
        several=Several(OBJECTIVES[:2], _libmetis, partial(_metis_library, tool="metis")),
    ),
    "metis-recursive": _external(
        "metis-recursive",
        "metis",
        _pymetis,
        several=Several(("cut",), _libmetis, partial(_metis_library, tool="metis-recursive")),
    ),
    "scotch": _external("scotch", "scotch", _scotch_library),
    "kaminpar": _external("kaminpar", "kaminpar", _kaminpar, threads=ALL_THREADS),
    "mtkahypar": _external(
        "mtkahypar", "mtkahypar", _mtkahypar, objectives=OBJECTIVES[:2], threads=ALL_THREADS
    ),
}

# Where ours cannot, whatever can.
AUTO_ORDER = ("metis", "scotch", "mtkahypar", "kaminpar", "rcb")
