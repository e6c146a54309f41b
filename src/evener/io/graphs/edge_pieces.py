"""EdgePieces: reads the edges of a file in pieces, repeatedly if needed, never all at once.

Accepts files of lines `u v`, with or without a weight, and `.npy` arrays (m, 2) of whole numbers.
Edges keep the file order; loops and repeated lines are ordinary edges. Vertices are the numbers
from 0 to the highest number that occurs.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import IntArray, IntVector
from evener.errors import InputError
from evener.io.graphs.edges import EdgeStream
from evener.io.graphs.pairs import layout_of, may_have_header
from evener.io.graphs.streams import WholeNeeded, head_of

ROWS = 2**19  # rows per piece of an array; a piece of text has about as many
MOST_VERTICES = 2**31 - 1
SPARSE = 64  # above this ratio of highest number to edges, numbers are taken as names


class EdgePiece(NamedTuple):
    """Consecutive edges: the number of the first edge, and both ends (p,) int32."""

    first: int
    tails: IntArray
    heads: IntArray


class Survey(NamedTuple):
    """The result of one pass over a file: edges, and degrees (n,) int64; a loop counts twice."""

    m: int
    degrees: IntVector

    @property
    def n(self) -> int:
        """Number of vertices: the highest vertex number plus one."""
        return int(self.degrees.size)


class EdgePieces:
    """The edges of a file. Raises InputError for a file that cannot be read in pieces."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._array: npt.NDArray[np.integer] | None = None
        self._lines: EdgeStream | None = None
        if self.path.suffix == ".npy":
            self._array = _mapped(self.path)
        else:
            self._lines = _lines_of(self.path)

    @property
    def weighted(self) -> bool:
        """Whether lines have a third column, which is not read."""
        return self._lines is not None and self._lines.weighted

    def read(self) -> Iterator[EdgePiece]:
        """Yield all pieces. Raises InputError for errors in them."""
        first = 0
        for ends in self._ends():
            low, high = (int(ends.min()), int(ends.max())) if ends.size else (0, 0)
            if low < 0 or high >= MOST_VERTICES:
                what = low if low < 0 else high
                raise InputError(f"names vertex {what}: numbers must be at least 0 and below "
                                 "2^31 - 1",
                                 file=str(self.path))  # fmt: skip
            tails, heads = (np.ascontiguousarray(end, np.int32) for end in ends)
            yield EdgePiece(first, tails, heads)
            first += tails.size

    def survey(self) -> Survey:
        """Count edges and degrees. Raises InputError as `read`, and for a file without edges."""
        degrees, m, n = np.zeros(2**16, np.int64), 0, 0
        for piece in self.read():
            if not piece.tails.size:
                continue
            m += piece.tails.size
            n = max(n, int(piece.tails.max()) + 1, int(piece.heads.max()) + 1)
            if n > SPARSE * max(m, ROWS):
                raise InputError(
                    f"names vertex {n - 1:,} after {m:,} edges: its numbers have wide gaps",
                    file=str(self.path),
                    hint="Without --stream Evener renumbers them.",
                )
            if n > degrees.size:
                grown = np.zeros(max(n, 2 * degrees.size), np.int64)
                grown[: degrees.size] = degrees
                degrees = grown
            _count(piece, degrees)
        if not m:
            raise InputError("contains no edges", file=str(self.path))
        return Survey(m, degrees[:n].copy())

    def _ends(self) -> Iterator[npt.NDArray[np.integer]]:
        if self._array is not None:
            for row in range(0, len(self._array), ROWS):
                yield self._array[row : row + ROWS].T
            return
        assert self._lines is not None
        for arcs, _ in self._lines.read(0, self._lines.n_pieces):
            yield np.stack([arcs.tails, arcs.heads])


def _count(piece: EdgePiece, degrees: IntVector) -> None:
    from evener.graphs.edge_list_kernels import count_ends

    count_ends(piece.tails, piece.heads, degrees)


def _mapped(path: Path) -> npt.NDArray[np.integer]:
    try:
        array = np.lib.format.open_memmap(path, mode="r")
    except (OSError, EOFError, ValueError) as error:
        raise InputError(f"is not an array that can be mapped: {error}", file=str(path)) from error
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise InputError(
            f"contains {array.dtype} of shape {array.shape}, not whole numbers of shape (m, 2)",
            file=str(path),
        )
    return np.asanyarray(array)


def _lines_of(path: Path) -> EdgeStream:
    try:
        head = head_of(path)
    except WholeNeeded as why:
        raise InputError(f"cannot be read in pieces: {why}", file=str(path)) from why
    layout = layout_of(head) if head.is_text else None
    if layout is None or not layout.numbered or layout.n_columns not in (2, 3):
        raise InputError(
            "cannot be read in pieces: its lines are not `u v` or `u v weight` with whole numbers",
            file=str(path),
            hint="--stream reads edge lists and .npy arrays (m, 2); split others without --stream.",
        )
    if may_have_header(head, layout):
        raise InputError(
            "cannot be read in pieces: its first line may be a header of counts",
            file=str(path),
            hint="Remove this line, or split the file without --stream.",
        )
    return EdgeStream(
        head, 0, True, weighted=layout.n_columns == 3, start=layout.start, layout=layout
    )
