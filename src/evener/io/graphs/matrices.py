"""Makes the graph of a square matrix: the pattern of A + A^T without the diagonal."""

from __future__ import annotations

import numpy as np

from evener.arrays import IntArray
from evener.graphs.graph import Graph
from evener.io import text
from evener.io.sources import Source


def check_square(source: Source, rows: int, columns: int, offset: int | None = None) -> None:
    """Raise InputError for a rectangular matrix; its rows and columns are not the same vertices."""
    if rows != columns:
        coordinates = "Are these coordinates? --coords FILE gives them to a graph."
        product = "A A^T or A^T A, whichever the computation uses, would be one."
        raise source.error(
            f"is a rectangular matrix, {rows:,} x {columns:,}: only a square one is a graph",
            offset=offset,
            hint=coordinates if columns in (2, 3) else product,
        )
    text.check_vertices(source, rows, offset)


def graph_of_pattern(
    source: Source, n: int, rows: IntArray, columns: IntArray, *, halved: bool
) -> Graph:
    """Return the graph of A + A^T; add notes on what was left out or merged.

    halved: the file holds one triangle of a symmetric, skew or hermitian matrix.
    """
    graph = Graph.from_edges(n, rows, columns)
    diagonal = int(np.count_nonzero(rows == columns))
    other = rows.size - diagonal
    entries = diagonal + (2 * other if halved else other)
    note = f"A matrix of {entries:,} entries: its values are not used"
    if diagonal:
        note += f", the {diagonal:,} on the diagonal are left out"
    source.notes.append(note + ".")
    if 2 * graph.m > entries - diagonal:
        added = 2 * graph.m - (entries - diagonal)
        source.notes.append(
            f"Its pattern is not symmetric: that of A + A^T is taken ({added:,} entries added)."
        )
    return graph
