"""Scotch graph files, version 0: a stream of numbers; each vertex has its degree and neighbours.

Header: 0; the numbers of vertices and of arcs (twice the edges); the base of the numbering and
three digits: 1.. vertex labels, .1. edge loads, ..1 vertex loads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from evener.arrays import IntArray
from evener.errors import InputError
from evener.graphs.graph import Graph
from evener.io import text
from evener.io.sources import Source


def recognises(source: Source) -> bool:
    """Return whether the first lines are 0, then two counts, then a base and three digits."""
    if not source.is_text or source.suffix in {".grf", ".src"}:
        return source.is_text
    try:
        numbers, flags, _, _ = _header(source)
    except InputError:
        return False
    return numbers[0] == 0 and numbers[2] % 2 == 0 and not set(flags) - {"0", "1"}


def read(source: Source) -> Graph:
    """Return the graph; labels, or numbers counted from 1, become Graph.labels."""
    from evener.io.graphs import lists_kernels as kernels
    from evener.io.number_kernels import OK

    (version, n, arcs, base), flags, offset, body = _header(source)
    _check(source, version, n, arcs, base, flags, offset, len(source.data) - body)
    has_labels, has_edge_weights, has_weights = (digit == "1" for digit in flags)
    xadj, adjncy = np.empty(n + 1, np.int64), np.empty(arcs, np.int64)
    labels = np.empty(n if has_labels else 0, np.int64)
    vwgt = np.empty(n if has_weights else 0)
    adjwgt = np.empty(arcs if has_edge_weights else 0)
    place = text.new_place()
    code = kernels.read_scotch(
        source.array, body, n, has_labels, has_weights, has_edge_weights, xadj, adjncy, labels,
        vwgt, adjwgt, place,
    )  # fmt: skip
    if code != OK:
        text.refuse(source, code, place, promised=f"{n:,} vertices and {arcs:,} arcs")
    arrays: dict[str, Any] = {"xadj": xadj}
    if has_labels:
        arrays["adjncy"], arrays["labels"] = _numbers_of(source, adjncy, labels), labels
    else:
        arrays["adjncy"] = _from_base(source, xadj, adjncy, base)
        if base:
            arrays["labels"] = np.arange(base, base + n)
            source.notes.append(f"Vertices are numbered from {base}; labels store the numbers.")
    if has_weights:
        arrays["vwgt"] = text.weights_of(vwgt, place)
    if has_edge_weights:
        arrays["adjwgt"] = text.weights_of(adjwgt, place)
    return text.make_graph(source, arrays, base=0 if has_labels else base)


def _header(source: Source) -> tuple[tuple[int, int, int, int], str, int, int]:
    """Return (version, n, arcs, base), the flags, and the offsets of counts and first vertex."""
    fields: list[bytes] = []
    offset = body = 0
    for at, line in text.lines(source):
        if len(fields) == 1:
            offset = at
        fields += line.split()
        body = text.after_line(source, at)
        if len(fields) >= 5:
            break
    if len(fields) != 5 or len(fields[4]) > 3:
        raise source.error("the header must be 0, two counts, a base and three digits", line=1)
    numbers = text.integers_of(source, offset, b" ".join(fields), "the header's numbers")
    return (
        (numbers[0], numbers[1], numbers[2], numbers[3]),
        fields[4].decode().zfill(3),
        offset,
        body,
    )


def _check(
    source: Source, version: int, n: int, arcs: int, base: int, flags: str, offset: int, room: int
) -> None:
    """Raise InputError for an impossible header, before memory is reserved."""
    if version != 0:
        raise source.error(f"has version {version}; Evener reads version 0", line=1)
    if set(flags) - {"0", "1"}:
        raise source.error(f"each flag must be 0 or 1, not {flags}", offset=offset)
    if base not in (0, 1):
        raise source.error(f"the base must be 0 or 1, not {base}", offset=offset)
    text.check_vertices(source, n, offset)
    if arcs < 0 or arcs % 2:
        raise source.error(f"the number of arcs must be even, not {arcs}", offset=offset)
    if 2 * (n + arcs) > room + text.SLACK:
        raise source.error(
            f"the header declares {n:,} vertices and {arcs:,} arcs, too many for its size",
            offset=offset,
        )


def _from_base(
    source: Source, xadj: IntArray, adjncy: npt.NDArray[np.int64], base: int
) -> npt.NDArray[np.int64]:
    n = xadj.size - 1
    if adjncy.size and (adjncy.min() < base or adjncy.max() >= base + n):
        bad = int(np.argmax((adjncy < base) | (adjncy >= base + n)))
        v = int(np.searchsorted(xadj, bad, side="right")) - 1 + base
        raise source.error(
            f"vertex {v} has the neighbour {adjncy[bad]}: "
            f"vertices are numbered {base} to {base + n - 1}"
        )
    return adjncy - base


def _numbers_of(
    source: Source, adjncy: npt.NDArray[np.int64], labels: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Replace the neighbours' labels by their vertex numbers."""
    order = np.argsort(labels, kind="stable")
    ordered = labels[order]
    if (np.diff(ordered) == 0).any():
        twice = ordered[int(np.argmax(np.diff(ordered) == 0))]
        raise source.error(f"two vertices have the label {twice}")
    position = np.minimum(np.searchsorted(ordered, adjncy), labels.size - 1)
    missing = ordered[position] != adjncy
    if missing.any():
        raise source.error(f"no vertex has the label {adjncy[int(np.argmax(missing))]}")
    return order[position].astype(np.int64)


def write(graph: Graph) -> tuple[bytes, list[str]]:
    """Return the file's text; raise InputError for several weights or fractions."""
    if graph.n_constraints > 1:
        raise InputError(
            f"the format stores one weight per vertex, not {graph.n_constraints}",
            hint="--constraint I chooses a weight.",
        )
    flags = f"0{int(graph.adjwgt is not None and graph.m > 0)}{int(graph.vwgt is not None)}"
    base = graph.first_label if graph.first_label in (0, 1) else None
    left_out = [] if base is not None else ["Vertex labels are not written; vertices are numbered."]
    header = f"0\n{graph.n} {graph.adjncy.size}\n{base or 0} {flags}\n"
    body = text.lists_text(graph, base=base or 0, with_degree=True, edge_first=True)
    return header.encode() + body, left_out
