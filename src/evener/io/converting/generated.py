"""Writes the graphs of `evener generate` as binary CSR while generating them, at any size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evener.files.steps import LoggedSteps
from evener.files.writing import refusal, refuse_unwritable
from evener.graphs.generating.checks import random_source
from evener.graphs.generating.grid import check_shape
from evener.graphs.generating.random_graphs import (
    check_rgg,
    check_shares,
    drawn,
    rmat_ends,
    rmat_labels,
)
from evener.io.converting import grid_kernels as kernels
from evener.io.converting.buckets import RowBuckets, Spool
from evener.io.converting.convert import MEMORY, Progress, folder_of
from evener.io.converting.geometric import GeometricGraph
from evener.io.converting.pairs import ListsWriter
from evener.io.csr.csr_writer import csr_written
from evener.io.csr.layout import CsrLayout

ROWS = 2**18  # rows of a grid written at a time
EDGES = 2**20  # edges drawn at a time
_DRAWING = 0.7  # share of the time for drawing edges
_POINTS = 0.2  # share of the time for drawing points


class Working(NamedTuple):
    """How a graph is written: memory [B], and a function called with (step, fraction)."""

    memory: int = MEMORY
    progress: Progress | None = None


USUAL = Working()


def grid_to_csr(
    target: str | Path,
    shape: Sequence[int],
    *,
    triangulated: bool = False,
    work: Working = USUAL,
) -> tuple[int, int]:
    """Write the graph that `grid` returns; return the numbers of vertices and edges."""
    n = check_shape(shape, triangulated=triangulated)
    refuse_unwritable(target)
    tell = _told(work, "writing a grid")
    sides = (1, *shape)[-3:]
    edges = sum(n // side * (side - 1) for side in shape)
    if triangulated:
        edges += (shape[0] - 1) * (shape[1] - 1)
    layout = CsrLayout(n, 2 * edges, dimension=len(shape))
    with csr_written(target, layout) as writer:
        writer.reserve()
        xadj, adjncy, arcs = np.empty(ROWS + 1, np.int64), np.empty(8 * ROWS, np.int32), 0
        for first in range(0, n, ROWS):
            tell(f"writing rows, {first:,} of {n:,}", first / n)
            last = min(first + ROWS, n)
            part = xadj[: last - first + 1]
            kernels.grid_rows(first, *sides, triangulated, part, adjncy)
            writer.put("adjncy", arcs, adjncy[: int(part[-1])])
            part += arcs
            writer.put("xadj", first, part)
            arcs = int(part[-1])
            places = np.stack(np.unravel_index(np.arange(first, last), tuple(shape)), axis=1)
            writer.put("coords", first * len(shape), places.astype(np.float64).ravel())
    tell("done", 1.0)
    return n, edges


def rmat_to_csr(
    target: str | Path,
    scale: int,
    seed: int,
    edge_factor: int = 16,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
    *,
    work: Working = USUAL,
) -> tuple[int, int]:
    """Write the graph that `rmat` returns; return the numbers of vertices and edges.

    Needs 12 bytes per vertex in addition to the memory of `work`, and temporarily 16 bytes per edge
    of disk space in addition to the file. Raises OutputError if the disk is full.
    """
    n, count = drawn(scale, edge_factor)
    check_shares(a, b, c)
    refuse_unwritable(target)
    tell = _told(work, "writing an R-MAT graph")
    tell("numbering vertices", 0.0)
    label = rmat_labels(scale, count, seed)
    rng = random_source(seed)
    try:
        with Spool(folder_of(Path(target))) as spool:
            buckets = RowBuckets(n, 2 * count, spool, memory=work.memory)
            for first in range(0, count, EDGES):
                step = f"pass 1 of 2: drawing edges, {first:,} of {count:,}"
                tell(step, _DRAWING * first / count)
                u, v = rmat_ends(scale, min(EDGES, count - first), rng, (a, b, c))
                buckets.add(label[u], label[v])
            del label
            with csr_written(target, CsrLayout(n, buckets.arcs // 2 * 2)) as writer:
                lists = ListsWriter(writer, spool)
                for part in buckets.lists():
                    step = f"pass 2 of 2: sorting rows, {part.first:,} of {n:,}"
                    tell(step, _DRAWING + (1 - _DRAWING) * part.first / n)
                    lists.put(part)
                lists.finish()
    except OSError as error:
        raise refusal(error, target) from error
    tell("done", 1.0)
    return n, lists.arcs // 2


def rgg_to_csr(
    target: str | Path,
    n: int,
    seed: int,
    dim: int = 2,
    degree: float = 12.0,
    *,
    work: Working = USUAL,
) -> tuple[int, int]:
    """Write the graph that `rgg` returns; return the numbers of vertices and edges.

    The points are temporarily stored in the target's folder, 8 bytes per coordinate. Raises
    OutputError if the disk is full.
    """
    check_rgg(n, dim, degree)
    refuse_unwritable(target)
    tell = _told(work, "writing a random geometric graph")
    tell("pass 1 of 2: drawing points", 0.0)
    try:
        with Spool(folder_of(Path(target))) as spool:
            graph = GeometricGraph(n, seed, dim, degree, spool, work.memory)
            some = CsrLayout(n, 2, dimension=dim)  # the number of arcs is known only later
            with csr_written(target, some) as writer:
                lists = ListsWriter(writer, spool)
                for part in graph.lists():
                    step = f"pass 2 of 2: finding neighbours, {part.first:,} of {n:,}"
                    tell(step, _POINTS + (1 - _POINTS) * part.first / n)
                    lists.put(part)
                lists.finish()
                start = 0
                for points in graph.points():
                    writer.put("coords", start, points.ravel())
                    start += points.size
    except OSError as error:
        raise refusal(error, target) from error
    tell("done", 1.0)
    return n, lists.arcs // 2


def _told(work: Working, what: str) -> Progress:
    return work.progress or LoggedSteps(what)


# For each family of `evener generate`: the function that writes its graphs while generating.
GENERATED: dict[str, Callable[..., tuple[int, int]]] = {
    "grid": grid_to_csr,
    "rmat": rmat_to_csr,
    "rgg": rgg_to_csr,
}
