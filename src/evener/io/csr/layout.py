"""CsrLayout: the header of a binary CSR file, and the offsets of its arrays.

docs/formats.md shows the header as a C struct. All numbers are little-endian.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from evener.errors import InputError
from evener.graphs.lists import BYTES_PER_EDGE, BYTES_PER_VERTEX

# Like PNG's: not text, bit 7 set, line ends that a transfer in text mode would change.
MAGIC = b"\x89ECSR\r\n\x1a"
VERSION = 1
HEADER = 192  # bytes
ALIGNMENT = 64  # bytes: a cache line, a vector register
MOST_VERTICES = 2**31 - 1  # vertex numbers are int32
MOST_CONSTRAINTS = 2**16
WHOLE, FRACTIONAL = 1, 2  # types of weights; 0: there are none
TYPES = {WHOLE: np.dtype("<i8"), FRACTIONAL: np.dtype("<f8")}

# magic, version, header's bytes; n, arcs; bytes of a vertex's number, types of edge and vertex
# weights, weights of a vertex, dimension, type of labels; bytes of a vertex and an edge; offsets
# of xadj, adjncy, adjwgt, vwgt, coords, labels; length of the file
_FIELDS = struct.Struct("<8s2I2q6I2d7q")
_CHECKED = HEADER - 4  # bytes before the header's CRC-32


class Section(NamedTuple):
    """An array in the file: its offset, the type of its numbers, and their count (0: no array)."""

    offset: int
    dtype: np.dtype[np.generic]
    length: int

    @property
    def end(self) -> int:
        """Offset of the first byte after the array."""
        return self.offset + self.length * self.dtype.itemsize


@dataclass(frozen=True)
class CsrLayout:
    """The contents of a binary CSR file: counts and types, which determine the place of each array.

    n: vertices. arcs: adjacency entries, two for each edge. adjwgt, vwgt: the type of the edges'
    and the vertices' weights, WHOLE or FRACTIONAL, or 0 for none; constraints: weights per vertex,
    0 if there are none. dimension: of the coordinates, or 0. labels: WHOLE if vertices have labels,
    or 0. bytes_per_vertex, bytes_per_edge [B]: as in Graph.
    """

    n: int
    arcs: int
    adjwgt: int = 0
    vwgt: int = 0
    constraints: int = 0
    dimension: int = 0
    labels: int = 0
    bytes_per_vertex: float = BYTES_PER_VERTEX
    bytes_per_edge: float = BYTES_PER_EDGE

    @cached_property
    def sections(self) -> dict[str, Section]:
        """The arrays by name, in file order; a missing array has offset 0."""
        found, at = {}, HEADER
        for name, dtype, count in (
            ("xadj", TYPES[WHOLE], self.n + 1),
            ("adjncy", np.dtype("<i4"), self.arcs),
            ("adjwgt", TYPES.get(self.adjwgt), self.arcs),
            ("vwgt", TYPES.get(self.vwgt), self.n * self.constraints),
            ("coords", TYPES[FRACTIONAL], self.n * self.dimension),
            ("labels", TYPES.get(self.labels), self.n),
        ):
            if dtype is None or count == 0:
                found[name] = Section(0, dtype or TYPES[WHOLE], 0)
                continue
            found[name] = Section(at, dtype, count)
            at = -(-found[name].end // ALIGNMENT) * ALIGNMENT
        return found

    @property
    def size(self) -> int:
        """Size of the file [B], without a gap after the last array."""
        return max(section.end for section in self.sections.values())

    def packed(self) -> bytes:
        """Return the header."""
        offsets = [section.offset for section in self.sections.values()]
        text = _FIELDS.pack(
            MAGIC, VERSION, HEADER, self.n, self.arcs, 4, self.adjwgt, self.vwgt,
            self.constraints, self.dimension, self.labels, self.bytes_per_vertex,
            self.bytes_per_edge, *offsets, self.size,
        ).ljust(_CHECKED, b"\0")  # fmt: skip
        return text + struct.pack("<I", zlib.crc32(text))

    @classmethod
    def unpacked(cls, header: bytes, size: int) -> CsrLayout:
        """Return the layout of a file of `size` bytes that begins with `header`.

        Raises InputError if the header is damaged or inconsistent, or if the file has another
        length.
        """
        if len(header) < HEADER:
            raise InputError("is cut short: it ends within its header")
        if header[:8] != MAGIC:
            raise InputError("is not a binary CSR file: it begins with other bytes")
        _, version, length, n, arcs, width, *kinds = _FIELDS.unpack_from(header)
        if version != VERSION:
            raise InputError(f"has version {version}; this Evener reads version {VERSION}")
        if struct.unpack_from("<I", header, _CHECKED)[0] != zlib.crc32(header[:_CHECKED]):
            raise InputError("has a damaged header: its checksum differs")
        adjwgt, vwgt, constraints, dimension, labels, *sizes = kinds[:7]
        layout = cls(n, arcs, adjwgt, vwgt, constraints, dimension, labels, *sizes)
        layout.check()
        if length != HEADER or width != 4 or layout.packed() != header[:HEADER]:
            raise InputError("has a header with inconsistent entries")
        if size < layout.size:
            raise InputError(
                f"is cut short: {size:,} of the {layout.size:,} bytes that its header declares"
            )
        if size > layout.size:
            raise InputError(f"has {size:,} bytes, but its header declares {layout.size:,}")
        return layout

    def check(self) -> None:
        """Raise InputError if the counts or types are impossible for a graph."""
        if not 1 <= self.n <= MOST_VERTICES:
            raise InputError(
                f"a binary CSR file holds 1 to {MOST_VERTICES:,} vertices, not {self.n:,}"
            )
        most = min(self.n * (self.n - 1), 2**56)
        if not 0 <= self.arcs <= most or self.arcs % 2:
            raise InputError(f"{self.n:,} vertices cannot have {self.arcs:,} adjacency entries")
        known = (0, WHOLE, FRACTIONAL)
        if self.adjwgt not in known or self.vwgt not in known or self.labels not in (0, WHOLE):
            raise InputError("has weights of an unknown type")
        if not 0 <= self.constraints <= MOST_CONSTRAINTS or bool(self.vwgt) != bool(
            self.constraints
        ):
            raise InputError(f"cannot have {self.constraints:,} weights a vertex")
        if self.dimension not in (0, 2, 3):
            raise InputError(f"coordinates must have 2 or 3 dimensions, not {self.dimension:,}")
        for name in ("bytes_per_vertex", "bytes_per_edge"):
            if not 0 <= getattr(self, name) < np.inf:
                raise InputError(f"{name} must be finite and not negative")
