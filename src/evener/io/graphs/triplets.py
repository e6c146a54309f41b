"""Matrices as bare triplets: `row column [value]` a line, no header, from 0 or from 1 (CSparse)."""

from __future__ import annotations

from evener.errors import InputError
from evener.graphs.graph import Graph
from evener.io import text
from evener.io.graphs.matrices import graph_of_pattern
from evener.io.graphs.pairs import layout_of, read_pairs
from evener.io.sources import Source


def recognises(source: Source) -> bool:
    """Return whether suffix and lines fit; the lines alone might be an edge list's."""
    if source.suffix not in {".triplet", ".triplets", ".tri", ".ijv", ".mtx"} or not source.is_text:
        return False
    layout = layout_of(source)
    return layout is not None and layout.numbered and 2 <= layout.n_columns <= 4


def read(source: Source) -> Graph:
    """Return the graph of A + A^T; the largest index says how many rows there are."""
    layout = layout_of(source)
    if layout is None or not 2 <= layout.n_columns <= 4:
        raise source.error("the lines must be `row column [value]`")
    try:
        pairs = read_pairs(source, layout, matrix=True)
    except InputError as error:
        if source.suffix != ".mtx":
            raise
        hint = "It was read as bare triplets: Matrix Market files begin with %%MatrixMarket."
        raise InputError(error.message, file=error.file, line=error.line, hint=hint) from error
    smallest = int(min(pairs.u.min(), pairs.v.min()))
    if smallest < 0:
        raise source.error(f"the index {smallest} must not be negative")
    base = min(smallest, 1)
    n = int(max(pairs.u.max(), pairs.v.max())) + 1 - base
    text.check_vertices(source, n)
    source.notes.append(f"Bare triplets, taken as counted from {base}: {n:,} rows.")
    return graph_of_pattern(source, n, pairs.u - base, pairs.v - base, halved=False)
