"""Binary CSR files, `.ecsr`: arrays as in memory, for graphs that are read by ranges of rows.

evener.io.csr has the layout, and the reader of ranges.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evener.arrays import NumberArray
from evener.errors import InputError
from evener.graphs.graph import Graph
from evener.io.csr.csr_file import CsrFile
from evener.io.csr.layout import FRACTIONAL, HEADER, MAGIC, WHOLE, CsrLayout
from evener.io.graphs.streams import ArcPiece, ArcStream, Tally, Window, both_ways
from evener.io.sources import Source


def recognises(source: Source) -> bool:
    """Return whether the file begins with the signature of binary CSR files."""
    return source.data.startswith(MAGIC)


def read(source: Source) -> Graph:
    """Return the graph in the file."""
    try:
        layout = CsrLayout.unpacked(source.data[:HEADER], len(source.data))
    except InputError as error:
        raise source.error(error.message) from error
    arrays: dict[str, Any] = {}
    for name, section in layout.sections.items():
        if section.length or (name == "adjwgt" and layout.adjwgt) or name == "adjncy":
            found = np.frombuffer(source.data, section.dtype, section.length, section.offset)
            arrays[name] = found.astype(section.dtype.newbyteorder("="))  # a copy, aligned
    if layout.constraints > 1:
        arrays["vwgt"] = arrays["vwgt"].reshape(layout.n, layout.constraints)
    if layout.dimension:
        arrays["coords"] = arrays["coords"].reshape(layout.n, layout.dimension)
    return Graph(
        **arrays, bytes_per_vertex=layout.bytes_per_vertex, bytes_per_edge=layout.bytes_per_edge
    )


def write(graph: Graph) -> tuple[bytes, list[str]]:
    """Return the file content; only labels that are not whole numbers are left out."""
    notes = []
    labels = graph.labels
    if labels is not None and labels.dtype.kind not in "iu":
        notes.append("This format does not store vertex labels that are not whole numbers.")
        labels = None
    layout = layout_of(graph, labelled=labels is not None)
    arrays = {
        "xadj": graph.xadj,
        "adjncy": graph.adjncy,
        "adjwgt": graph.adjwgt,
        "vwgt": graph.vwgt,
        "coords": graph.coords,
        "labels": labels,
    }
    out = bytearray(layout.size)
    out[:HEADER] = layout.packed()
    for name, section in layout.sections.items():
        if section.length:
            out[section.offset : section.end] = (
                np.asarray(arrays[name]).astype(section.dtype).tobytes()
            )
    return bytes(out), notes


def layout_of(graph: Graph, *, labelled: bool) -> CsrLayout:
    """Return the layout of a graph's file. Raises InputError for too many vertices, or for none."""
    layout = CsrLayout(
        graph.n,
        int(graph.adjncy.size),
        _type_of(graph.adjwgt),
        _type_of(graph.vwgt),
        0 if graph.vwgt is None else graph.n_constraints,
        0 if graph.coords is None else graph.coords.shape[1],
        WHOLE if labelled else 0,
        graph.bytes_per_vertex,
        graph.bytes_per_edge,
    )
    layout.check()
    return layout


def stream(head: Window, *, directed: bool) -> CsrStream:
    """Return the file's arcs as a stream of pieces. Raises InputError."""
    with CsrFile(head.path) as file:
        layout = file.layout
        ranges = list(file.ranges())
    made = CsrStream(
        head,
        layout.n,
        directed,
        repeats="refused",
        weighted=layout.adjwgt != 0,
        fractional=layout.adjwgt == FRACTIONAL,
        vertices_weigh=layout.vwgt != 0,
        n_pieces=len(ranges),
        ranges=ranges,
    )
    if directed:
        made.notes.append(both_ways(layout.arcs // 2))
    return made


@dataclass
class CsrStream(ArcStream):
    """A binary CSR file in pieces; each piece is a range of rows."""

    ranges: list[tuple[int, int]] = field(default_factory=list)

    def read(self, first: int, last: int) -> Iterator[tuple[ArcPiece, Tally]]:
        """Yield the arcs of pieces first to last - 1."""
        with CsrFile(self.source.path) as file:
            for begin, end in self.ranges[first:last]:
                rows = file.rows(begin, end)
                tails = np.repeat(np.arange(begin, end, dtype=np.int32), np.diff(rows.xadj))
                weights = None if rows.adjwgt is None else rows.adjwgt.copy()
                yield ArcPiece(tails, rows.adjncy.copy(), weights), Tally(tails.size)


def _type_of(weights: NumberArray | None) -> int:
    if weights is None:
        return 0
    return WHOLE if weights.dtype.kind == "i" else FRACTIONAL
