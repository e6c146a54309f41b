"""Cuts, volumes and seconds of all partitioners on the cells of [LDHT]_'s figures and Table IV.

Blocks are judged as the tools left them. Targets are those of Algorithm 1; every tool may be 3 %
above them. CPU seconds are the tool's own, without the start of a process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from evener.errors import InfeasibleError, ToolError
from evener.graphs.graph import Graph
from evener.partitioning.initial.trees import device_tree
from evener.partitioning.registry import partition_with
from evener.partitioning.requests import Request
from evener.plans.metrics import block_weights, comm_volumes, edge_cut, imbalance, quotient
from evener.plans.partition import Partition
from evener.sizing.memory_capped import target_sizes
from papers.findings import Row
from papers.keeping import KeptRows
from papers.ldht.setup import (
    COMPETITORS,
    EPSILON,
    GRAPHS,
    STRONG,
    Competitor,
    PaperCell,
    PaperEffort,
    graph_of,
)
from papers.ldht.solving import emulated, equal_finish_sizes, on_two_cores

Tell = Callable[[str, float], None]
Rows = Sequence[Row]
SOLVED = "5"  # the figure whose cells have seconds per iteration
TABLE_IV = ("geoKM", "geoPMRef", "pmGraph", "zSFC", STRONG)  # those beside its rdg row
SLOWER = 4  # times that the second of two cores multiplies in place of once


class Graphs:
    """Graphs of cells, the last one kept: cells come graph by graph."""

    def __init__(self, folder: str | Path | None) -> None:
        self._folder = folder
        self._last: tuple[tuple[str, int], tuple[Graph, bool]] | None = None

    def get(self, name: str, n: int) -> tuple[Graph, bool]:
        """Return the graph, and whether it is the paper's own."""
        if self._last is None or self._last[0] != (name, n):
            self._last = None  # two do not fit where one does
            self._last = (name, n), graph_of(name, n, self._folder)
        return self._last[1]


def run_cells(
    cells: Sequence[PaperCell],
    competitors: Sequence[Competitor],
    kept: KeptRows,
    graphs: Graphs,
    tell: Tell,
) -> list[Row]:
    """Return a row for each cell and competitor. tell: with the part of the cells done."""
    rows: list[Row] = []
    for i, cell in enumerate(cells):
        tell(cell.key, i / len(cells))
        rows += kept.rows(cell.key, lambda cell=cell: run_cell(cell, competitors, graphs))  # type: ignore[misc]
    return rows


def run_cell(cell: PaperCell, competitors: Sequence[Competitor], graphs: Graphs) -> list[Row]:
    """Return the rows of a cell; one of a tool that fails has "failed" in place of figures."""
    graph, is_real = graphs.get(cell.graph, cell.n)
    platform = cell.machine.platform(graph.n)
    sizes = target_sizes(platform, graph.n, epsilon=EPSILON)
    about: dict[str, float | int | str] = {
        "figure": cell.figure, "graph": cell.graph, "dims": GRAPHS[cell.graph].dimensions,
        "real": int(is_real), "n": graph.n, "m": graph.m, **cell.machine.row(),
        "target_ratio": round(float(sizes.targets.max() / sizes.targets.min()), 4),
    }  # fmt: skip
    node = platform.places[-1]
    rows: list[Row] = []
    for one in competitors:
        request = Request(
            sizes.targets, EPSILON, preset=one.preset, tree=device_tree(platform), time_limit=None
        )
        own = about | {"tool": one.name, "by": str(one.tool)}
        try:
            made = partition_with(str(one.tool), graph, request)
        except (ToolError, InfeasibleError) as error:
            rows.append(own | {"failed": str(error)})
            continue
        partition = Partition(made.part, cell.machine.k)
        between = quotient(graph, partition)
        apart = node[between.block] != node[between.other]
        found = own | {
            "cut": edge_cut(between), "max_volume": int(comm_volumes(between).max()),
            "volume": int(between.sent.sum()), "far_volume": int(between.sent[apart].sum()),
            "cpu_s": max(round(made.cpu_seconds, 6), 1e-6),
            "worst": round(imbalance(block_weights(graph, partition), sizes.targets), 4),
        }  # fmt: skip
        if cell.figure == SOLVED:
            found |= emulated(graph, made.part, cell.machine)
        rows.append(found)
    return rows


def on_cores(effort: PaperEffort, graphs: Graphs) -> list[Row]:
    """Return seconds of SpMV and CG on two cores here, of which one is slowed, by competitor."""
    graph, _ = graphs.get("rdg_2d", effort.sizes["cores"])
    targets = np.array(equal_finish_sizes(graph.n, SLOWER))
    parts = {
        one.name: partition_with(
            str(one.tool), graph, Request(targets, EPSILON, preset=one.preset)
        ).part
        for one in effort.competitors
    }
    about: dict[str, float | int | str] = {"graph": "rdg_2d", "n": graph.n, "m": graph.m}
    cuts = {name: edge_cut(quotient(graph, Partition(part, 2))) for name, part in parts.items()}
    return [about | dict(row) | {"cut": cuts[str(row["tool"])]}
            for row in on_two_cores(graph, parts, SLOWER)]  # fmt: skip


def of_table_iv(effort: PaperEffort, kept: KeptRows, graphs: Graphs, tell: Tell) -> list[Row]:
    """Return the rows of Table IV's graph, with and without memory, of some tools."""
    chosen = [one for one in COMPETITORS if one.name in TABLE_IV and one.tool]
    return run_cells(effort.cells_of_table_iv(), chosen, kept, graphs, tell)
