"""Refines borders window by window: a window contains the single vertices of consecutive rows.

A window contains the single vertices of as many rows as memory allows. Meanwhile all other vertices
keep their blocks: one fixed vertex stands for the other vertices of each block. So all borders
inside a window are refined, whichever blocks they separate, and one turn reads all rows once,
however small the memory. Windows of consecutive turns are shifted by half a window. Near vertices
must have near numbers, as they have if clusters lie inside slices.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntVector, Part
from evener.graphs.graph import Graph
from evener.partitioning.refine import RefineOptions
from evener.plans.partition import Contract
from evener.sliced import borders_kernels
from evener.sliced import windows_kernels as kernels
from evener.sliced.borders import BlockBorders, GroupRows, better_blocks, joined

# Of corridors in which borders are cut anew, see Preset. What a block may gain or lose is more
# than a window has of it: with the preset's 3.2, nearly whole windows were cut. On 3-D grids of 8
# and 27 million vertices 0.5 takes half to three quarters of the time, for 0.0 and 0.3 % more cut.
REACH = 0.5


def refine_windows(
    borders: BlockBorders, contract: Contract, most: int, turns: int, effort: RefineOptions
) -> None:
    """Refine the blocks of a single process's borders in place, `turns` times, in shifted windows.

    most: maximum number of single vertices of a window.
    """
    for turn in range(turns):
        now = effort._replace(method="refined", seed=effort.seed + turn, reach=REACH)
        for first, last, count in _windows(borders, most, shifted=turn % 2 == 1):
            _refine_window(borders, contract, (first, last, count), now)


def _windows(borders: BlockBorders, most: int, *, shifted: bool) -> Iterator[tuple[int, int, int]]:
    """Yield the first row and the end of each window, and its number of single vertices."""
    first, room = 0, max(most // 2, 1) if shifted else most
    while first < borders.of.size:
        last, count = kernels.end_of_window(borders.of, first, room)
        if count:
            yield first, int(last), int(count)
        first, room = int(last), most


def _refine_window(
    borders: BlockBorders, contract: Contract, window: tuple[int, int, int], effort: RefineOptions
) -> None:
    first, last, count = window
    part = np.empty(count, np.int32)
    kernels.number_window(borders.of, borders.blocks, first, last, part)
    rows = _window_rows(borders, part, first, last)
    vwgt = rows.vwgt if rows.vwgt.size else np.ones(count)
    weights = borders.weights - np.bincount(part, vwgt, borders.k)
    has = np.zeros(borders.k, np.bool_)
    has[part] = True
    has[rows.entries[rows.entries < borders.k]] = True
    present = np.flatnonzero(has)
    if present.size > 1:
        own = Contract(contract.targets[present], contract.low[present], contract.high[present])
        place = np.cumsum(has, dtype=np.int32) - np.int32(1)
        along = np.concatenate([np.arange(present.size, dtype=np.int32), place[part]])
        got = [rows]
        del rows
        graph = _window_graph(got, place, weights[present], vwgt, borders)
        anchors = np.arange(present.size)
        found = better_blocks(graph, along, own, effort, anchors)[present.size :]
        part = present.astype(np.int32)[found]
    borders.weights = weights + np.bincount(part, vwgt, borders.k)
    kernels.put_window(borders.of, borders.blocks, first, last, part)


def _window_rows(borders: BlockBorders, part: Part, first: int, last: int) -> GroupRows:
    """Return the rows of the single vertices of a window; entries below k denote blocks."""
    graph = borders.graph
    within = range(
        int(np.searchsorted(graph.ends, first, "right")) - 1,
        int(np.searchsorted(graph.ends, last, "left")),
    )
    listed = []
    for i in within:
        rows = graph.rows(i)
        count, most = kernels.count_window(rows, borders.of, first, last)
        degrees, entries = np.empty(count, np.int32), np.empty(most, np.int32)
        weights = np.empty(most if rows.adjwgt.size else 0)
        vwgt = np.empty(count if rows.vwgt.size else 0)
        used = kernels.list_window(
            rows, borders.of, borders.blocks, borders.whole_part, first, last, borders.k,
            degrees, entries, weights, vwgt,
        )  # fmt: skip
        listed.append((degrees, entries[:used].copy(), weights[:used].copy(), vwgt))
    fields: list[list[npt.NDArray[Any]]] = [list(some) for some in zip(*listed, strict=True)]
    listed.clear()
    degrees, entries, weights, vwgt = (joined(fields.pop(0)) for _ in range(4))
    return GroupRows(degrees, part, entries, weights, vwgt)


def _window_graph(
    got: list[GroupRows],
    place: Part,
    weights: FloatArray,
    vwgt: FloatArray,
    borders: BlockBorders,
) -> Graph:
    """Return the graph of one fixed vertex for each block, then the single vertices.

    place (k,): the number of each block; weights (b,): each block's weight outside the window.
    `got` is emptied, and its lists are overwritten.
    """
    (rows,) = got
    got.clear()
    kind: type[np.float64 | np.int32] = np.float64 if borders.graph.edges_weigh else np.int32
    degrees, entries, b = rows.degrees, rows.entries, weights.size
    sums: npt.NDArray[Any] = np.empty(entries.size, kind)
    used = borders_kernels.join_entries(degrees, entries, rows.weights, place, b, sums)
    entries, sums = entries[:used], sums[:used]
    # There are no edges between blocks.
    members: IntVector = np.arange(b)
    none = np.zeros(borders.k + 1, np.int64), np.empty(0, np.int32), np.empty(0, kind)
    xadj = np.zeros(b + degrees.size + 1, np.int64)
    borders_kernels.count_degrees(none, members, place, degrees, entries, xadj)
    adjncy = np.empty(int(xadj[-1]), np.int32)
    adjwgt: npt.NDArray[Any] = np.empty(int(xadj[-1]), kind)
    borders_kernels.write_lists(none, members, place, degrees, entries, sums, xadj, adjncy, adjwgt)
    return Graph.trusted(xadj, adjncy, np.concatenate([weights, vwgt]), adjwgt)
