"""Partitioners that [LDHT]_ compares with, and that only its reproduction calls.

Once they are entered in evener.partitioning.tools, all that takes a tool's name finds them.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from evener.graphs.graph import Graph
from evener.partitioning.external.children import Outcome
from evener.partitioning.requests import Request
from evener.partitioning.tools import TOOLS, WITHOUT_EDGES, Tool, in_child
from papers.children import let_children_import_papers
from papers.ldht import metis_refinement, zoltan


def _georef_metis(graph: Graph, request: Request) -> Outcome:
    """Balanced k-means, then METIS's k-way refinement of its blocks."""
    let_children_import_papers()
    placed = TOOLS["kmeans"].run(graph, request)
    part = placed.part.astype("int32", copy=False)
    refined = in_child(
        graph, request, tool="georef-metis", module=metis_refinement.__name__, threads=1, part=part
    )
    return replace(
        refined,
        cpu_seconds=placed.cpu_seconds + refined.cpu_seconds,
        version=f"{placed.version}, {refined.version}",
        start=("k-means", part),
    )


def _zoltan(name: str) -> Tool:
    run = partial(in_child, tool=name, module=zoltan.__name__, threads=1, by_place=True)

    def divide(graph: Graph, request: Request) -> Outcome:
        let_children_import_papers()
        outcome = run(graph, request)
        return replace(outcome, notes=(*outcome.notes, WITHOUT_EDGES))

    return Tool(
        name, "external", divide, objectives=("cut",), needs_coordinates=True,
        missing=zoltan.missing,
    )  # fmt: skip


OWN = (
    Tool(
        "georef-metis", "multilevel", _georef_metis, objectives=("cut",), needs_coordinates=True,
        missing=metis_refinement.missing,
    ),
    *map(_zoltan, zoltan.METHODS),
)  # fmt: skip


def enter_tools() -> None:
    """Enter the tools in the registry."""
    TOOLS.update((tool.name, tool) for tool in OWN)
