"""Calls any partitioner by name, after a check that it can satisfy the request.

`partition_with` calls a tool of `tools.TOOLS` and checks its result; `choose_tool` returns the tool
that "auto" selects. Limits of blocks are not checked here: `enforce` makes any result satisfy them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.errors import InfeasibleError, ToolError, UsageError
from evener.graphs.graph import Graph
from evener.io.accept import GraphLike, as_graph
from evener.partitioning.external.children import Outcome
from evener.partitioning.requests import Request
from evener.partitioning.tools import TOOLS, Tool, find_tool
from evener.wording import brief

# The tools that "auto" tries, in this order, if Evener's own partitioner cannot do the request.
AUTO_ORDER = ("metis", "scotch", "mtkahypar", "kaminpar", "rcb")


@dataclass(frozen=True)
class Result:
    """The checked result of a tool.

    part (n,) int32: the block of every vertex. tool, version: the tool that was called.
    cpu_seconds: CPU time of the call. notes: sentences for the user. start: a word for the method
    that made the initial blocks, and these blocks (n,); None if the tool does not report them.
    """

    part: npt.NDArray[np.int32]
    tool: str
    version: str
    cpu_seconds: float
    notes: tuple[str, ...] = ()
    start: tuple[str, npt.NDArray[np.int32]] | None = None

    def __repr__(self) -> str:
        return brief(self)


def partition_with(name: str, graph: GraphLike, request: Request) -> Result:
    """Divide the graph with the tool `name`; "auto" chooses a tool for this graph and request.

    graph: like the argument of `plan`. Blocks may be empty or violate their limits: see `enforce`.
    Raises UsageError if the tool is unknown, not installed, or cannot satisfy the request (the
    message names those that can); InfeasibleError if there are more blocks with targets above zero
    than vertices; ToolError if the tool fails or does not return a block for every vertex.
    """
    graph = as_graph(graph)
    if graph.together is not None:
        raise UsageError(
            "partitioners do not support groups of vertices that share a block",
            hint="`plan` and `compare` join the groups of graph.together before they partition.",
        )
    chosen, why = choose_tool(graph, request) if name == "auto" else (name, None)
    tool = find_tool(chosen)
    refusal = _refusal(tool, graph, request)
    if refusal is not None:
        raise UsageError(refusal, hint=_who_can(graph, request))
    used = np.flatnonzero(request.targets > 0)
    if used.size > graph.n:
        raise InfeasibleError(f"there are {used.size:,} blocks but only {graph.n:,} vertices")
    if used.size == 1:
        outcome = Outcome(np.zeros(graph.n, np.int32), 0.0, "", ("there is only one block",))
    else:
        run = tool.run if graph.n_constraints == 1 or tool.several is None else tool.several.run
        outcome = run(graph, request.of_blocks(used))
    part = _checked(outcome.part, graph.n, used.size, chosen)
    start = outcome.start
    if used.size < request.k:
        part = used[part].astype(np.int32)
        start = start and (start[0], used[start[1]].astype(np.int32))
    notes = outcome.notes if why is None else (f"Partitioner: {chosen} ({why})", *outcome.notes)
    return Result(part, chosen, outcome.version, outcome.cpu_seconds, notes, start)


def choose_tool(graph: Graph, request: Request) -> tuple[str, str]:
    """Return the tool that "auto" selects for this graph and request, and the reason.

    It is Evener's own partitioner if that can satisfy the request, else the first tool of
    AUTO_ORDER that is installed and can. Raises UsageError if no tool can.
    """
    without = _refusal(TOOLS["evener"], graph, request)
    if without is None:
        where = " on every weight" if graph.n_constraints > 1 else ""
        return "evener", f"minimises the {request.objective.replace('_', ' ')} within limits{where}"
    for name in AUTO_ORDER:
        if _refusal(TOOLS[name], graph, request) is None:
            return name, f"as {without}"
    raise UsageError(f"no partitioner can do this: {without}", hint=_way_out(graph))


def _refusal(tool: Tool, graph: Graph, request: Request) -> str | None:
    """Return the reason why the tool cannot satisfy the request, or None if it can."""
    unequal = bool(np.ptp(request.targets[request.targets > 0]) > 0)
    reasons = (
        (tool.available() is not None, tool.available()),
        (unequal and not tool.targets, f"{tool.name} cannot make blocks of unequal targets"),
        (
            request.objective not in tool.objectives,
            f"{tool.name} minimises {_list(tool.objectives)}, not {request.objective}",
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
        return f"{tool.name} balances one weight per vertex, not {graph.n_constraints}"
    if asked not in several.objectives:
        able = _list(several.objectives)
        return f"{tool.name} minimises {able} with several weights, not {asked}"
    lacking = several.missing()
    return lacking and f"{tool.name} cannot balance several weights: {lacking}"


def _who_can(graph: Graph, request: Request) -> str:
    able = [name for name, tool in TOOLS.items() if _refusal(tool, graph, request) is None]
    return f"These can: {', '.join(able)}." if able else _way_out(graph)


def _way_out(graph: Graph) -> str:
    if graph.n_constraints > 1:
        return "--constraint I selects one weight, counted from 0 (`constraint=I` of `read`)."
    absent = [reason for tool in TOOLS.values() if (reason := tool.available()) is not None]
    return "; ".join(absent) if absent else "All are installed, but none can do this."


def _checked(part: npt.NDArray[Any], n: int, k: int, tool: str) -> npt.NDArray[np.int32]:
    """Return the blocks as int32; raise ToolError unless all lie from 0 to k - 1."""
    if part.shape != (n,) or part.dtype.kind not in "iu":
        raise ToolError(f"{tool} returned {part.shape} {part.dtype} for {n} vertices")
    if n and (part.min() < 0 or part.max() >= k):
        raise ToolError(
            f"{tool} returned block numbers {part.min()} to {part.max()} for {k} blocks"
        )
    return part.astype(np.int32, copy=False)


def _list(words: tuple[str, ...]) -> str:
    return " and ".join(words)
