"""Converts METIS files to binary CSR: writes the lists, in vertex order, as they are read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntVector
from evener.graphs import graph_kernels
from evener.io import text
from evener.io.converting import lists_kernels as plain
from evener.io.converting.blocks import TextBlock, TextBlocks, window_of
from evener.io.converting.vertices import VertexData
from evener.io.csr import csr_kernels
from evener.io.csr.csr_writer import CsrWriter
from evener.io.csr.layout import FRACTIONAL, CsrLayout
from evener.io.graphs import lists_kernels
from evener.io.graphs.metis import MetisHeader, wrong_count
from evener.io.graphs.streams import Window
from evener.io.number_kernels import FEWER_EDGES, OK

ROWS = 2**19  # max. lines read at a time
MOST_WEIGHT = 2.0**62


class _Lists(NamedTuple):
    """Lists of vertices; text: the text they were read from if they may be unsorted, else None."""

    xadj: IntVector
    adjncy: npt.NDArray[np.int32]
    adjwgt: FloatArray
    vwgt: FloatArray
    text: Window | None


def layout_of(head: MetisHeader) -> CsrLayout:
    """Return the layout of the file's graph, with weights of type FRACTIONAL."""
    return CsrLayout(
        head.n,
        2 * head.m,
        adjwgt=FRACTIONAL if head.has_edge_weights else 0,
        vwgt=FRACTIONAL if head.n_weights else 0,
        constraints=head.n_weights,
    )


class ListsConverter:
    """Writes the lists of a METIS file as they are read; can be used once.

    source: the first lines. vertices: vertex data from separate files, which override the weights
    in the lists.
    """

    def __init__(self, source: Window, head: MetisHeader, vertices: VertexData) -> None:
        self._source, self._head, self._vertices = source, head, vertices
        self._keeps = head.n_weights > 0 and vertices.weights is None
        self._row = self._arcs = 0
        self._signature = 0
        self._fractional = False
        self._total = np.zeros(2)  # sums of the edges' and the vertices' weights
        self._is_plain = not (head.has_sizes or head.n_weights or head.has_edge_weights)
        self._xadj = np.empty(ROWS + 1, np.int64)
        self._adjncy = np.empty(0, np.int32)

    def write(self, blocks: TextBlocks, writer: CsrWriter) -> None:
        """Write xadj, adjncy and the weights. Raises InputError if the graph is not valid."""
        head = self._head
        for block in blocks.blocks(head.body):
            for lists in self._read(block):
                self._put(writer, lists)
        if self._row < head.n:
            raise self._source.error(
                f"the header declares {head.n:,} vertices, but {self._row:,} lines follow",
                offset=head.offset,
            )
        if self._arcs != 2 * head.m:
            raise wrong_count(self._source, head, self._arcs)
        if self._signature % 2**64:
            raise self._source.error(
                "an edge is listed at only one of its ends, or has different weights at its ends",
                hint=f"evener info {self._source.path} names the edge, if the file fits in memory.",
            )
        writer.put("xadj", head.n, np.array([self._arcs]))
        if not self._fractional:
            if head.has_edge_weights:
                writer.make_whole("adjwgt")
            if self._keeps:
                writer.make_whole("vwgt")

    def _read(self, block: TextBlock) -> Iterator[_Lists]:
        """Yield the lists of a block; a fast parser handles blocks without weights and comments."""
        data, at = block.text, 0
        if self._adjncy.size < data.size // 2 + 1:
            self._adjncy = np.empty(data.size // 2 + 1, np.int32)
        where = np.zeros(4, np.int64)
        while at < data.size:
            rows = min(ROWS, self._head.n - self._row)
            xadj = self._xadj[: rows + 1]
            if (
                not self._is_plain
                or rows == 0
                or data[-1] != 10
                or plain.read_plain(data, at, self._head.n, self._row, xadj, self._adjncy, where)
                != plain.READ
            ):
                yield self._read_any(TextBlock(data[at:], block.start + at))
                return
            count, none = int(where[0]), np.empty(0)
            at = int(where[1])
            xadj = xadj[: count + 1]
            adjncy = self._adjncy[: int(xadj[-1])]
            yield _Lists(xadj, adjncy, none, none, None)

    def _read_any(self, block: TextBlock) -> _Lists:
        """Return the lists of a block that may have weights, comments and errors."""
        head, window = self._head, window_of(self._source, block)
        data = window.data
        lines = data.count(b"\n") + (not data.endswith(b"\n"))
        lines -= data.count(b"\n%") + data.startswith(b"%")
        rows, most = min(lines, head.n - self._row), len(data) // 2 + 1
        xadj, adjncy = np.empty(rows + 1, np.int64), np.empty(most, np.int32)
        adjwgt = np.empty(most if head.has_edge_weights else 0)
        vwgt, place = np.empty(rows * head.n_weights), text.new_place()
        code = lists_kernels.read_metis(
            window.array, 0, head.n, self._row, int(head.has_sizes), head.n_weights,
            head.has_edge_weights, xadj, adjncy, vwgt, adjwgt, place,
        )  # fmt: skip
        if code not in (OK, FEWER_EDGES):
            text.refuse(window, code, place, n=head.n, promised=head.promise)
        self._fractional = self._fractional or bool(place[3])
        count = int(xadj[-1])
        return _Lists(xadj, adjncy[:count], adjwgt[:count] if adjwgt.size else adjwgt, vwgt, window)

    def _put(self, writer: CsrWriter, lists: _Lists) -> None:
        """Sort the lists and write them."""
        head, rows, count = self._head, lists.xadj.size - 1, lists.adjncy.size
        if self._arcs + count > 2 * head.m:
            raise self._source.error(
                f"there are more neighbours than the header declares: {head.promise}",
                offset=head.offset,
            )
        weights = lists.adjwgt
        if lists.text is not None:
            weights = self._sort(lists, lists.text)
        self._signature += int(
            csr_kernels.signature(self._row, lists.xadj, lists.adjncy, weights.view(np.uint64))
        )
        writer.put("adjncy", self._arcs, lists.adjncy)
        if head.has_edge_weights:
            writer.put("adjwgt", self._arcs, weights)
        if self._keeps:
            vwgt = self._vertices.chosen(lists.vwgt.reshape(rows, head.n_weights)).ravel()
            writer.put("vwgt", self._row * writer.layout.constraints, vwgt)
        self._total += [weights.sum(), lists.vwgt.sum()]
        for name, total in zip(("adjwgt", "vwgt"), self._total, strict=True):
            if not total < MOST_WEIGHT:
                raise self._source.error(f"{name} add up to more than 2^62")
        writer.put("xadj", self._row, lists.xadj[:-1] + self._arcs)
        self._row += rows
        self._arcs += count

    def _sort(self, lists: _Lists, window: Window) -> FloatArray:
        """Sort lists in place; return the sorted weights. Raises InputError for duplicates."""
        order = np.empty(lists.adjncy.size if lists.adjwgt.size else 0, np.int64)
        where = np.zeros(2, np.int64)
        graph_kernels.sort_lists(lists.xadj, lists.adjncy, order)
        if graph_kernels.check_duplicates(lists.xadj, lists.adjncy, where) != graph_kernels.OK:
            v, u = int(where[0]), int(where[1])
            raise window.error(
                f"vertex {v + self._row + 1} lists its neighbour {u + 1} more than once",
                offset=int(lists_kernels.line_of_vertex(window.array, 0, v)),
                hint="List each neighbour once; add up the weights of repeated edges.",
            )
        return lists.adjwgt[order] if order.size else lists.adjwgt
