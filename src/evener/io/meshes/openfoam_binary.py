"""OpenFOAM's binary lists: a count as text, then the entries as in memory."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.io.sources import Source

_ARCH = re.compile(rb'\barch\s+"\s*(LSB|MSB);\s*label=(32|64);\s*scalar=(32|64)\s*"')
_COUNT = re.compile(rb"\s*(\d{1,15})\s*")
_CLASS = re.compile(rb"\bclass\s+(\w+)")
_COMMENT = re.compile(rb"/\*.*?\*/|//[^\n]*|\s+", re.DOTALL)
_TEXT_OF_IT = "Convert it to text with foamFormatConvert."


@dataclass(frozen=True, eq=False)
class BinaryFile:
    """A file of OpenFOAM's class `kind`, with one or two lists; the first begins at `start`.

    label, scalar: the types of its integers and floating-point numbers.
    """

    source: Source
    kind: str
    start: int
    label: np.dtype[Any]
    scalar: np.dtype[Any]

    def points(self) -> npt.NDArray[np.float64]:
        """Return the coordinates (p, 3)."""
        values, place = self._list(self.start, self.scalar, 3)
        self._refuse_more(place)
        return values.reshape(-1, 3).astype(np.float64)

    def labels(self) -> npt.NDArray[np.int64]:
        """Return the integers (m,)."""
        values, place = self._list(self.start, self.label, 1)
        self._refuse_more(place)
        return values.astype(np.int64)

    def faces(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the offsets (f + 1,) and the corners of the faces, from two consecutive lists."""
        if self.kind != "faceCompactList":
            message = f"is a binary {self.kind}; Evener reads binary faces from a faceCompactList"
            raise self.source.error(message, hint=_TEXT_OF_IT)
        offsets, place = self._list(self.start, self.label, 1)
        corners, place = self._list(place, self.label, 1)
        self._refuse_more(place)
        return offsets.astype(np.int64), corners.astype(np.int64)

    def _list(self, place: int, dtype: np.dtype[Any], width: int) -> tuple[npt.NDArray[Any], int]:
        """Return the list whose count is at `place`, flat, and the offset after it."""
        data = self.source.data
        count = _COUNT.match(data, place)
        if count is None:
            raise self.source.error("has no list where one must begin")
        first, n = count.end() + 1, int(count[1]) * width
        opened = data[first - 1 : first] == b"("
        if n == 0:
            closed = data[first : first + 1] == b")"
            return np.zeros(0, dtype), first + 1 if opened and closed else count.end()
        last = first + n * dtype.itemsize
        if not opened or data[last : last + 1] != b")":
            message = f"its list of {int(count[1]):,} entries does not end where it should"
            raise self.source.error(message, hint=_TEXT_OF_IT)
        return np.frombuffer(data, dtype, n, first), last + 1

    def _refuse_more(self, place: int) -> None:
        if _COMMENT.sub(b"", self.source.data[place:]):
            raise self.source.error("continues after its list")


def binary_file(source: Source, header: bytes, start: int) -> BinaryFile:
    """Return the file with these header entries, whose lists begin at `start`.

    Without an entry `arch`, as in older versions, numbers are assumed to have the usual types.
    """
    arch = _ARCH.search(header)
    order, label, scalar = (b"LSB", b"32", b"64") if arch is None else arch.groups()
    sign = ">" if order == b"MSB" else "<"
    kind = _CLASS.search(header)
    return BinaryFile(
        source,
        "list" if kind is None else kind[1].decode(),
        start,
        np.dtype(f"{sign}i{int(label) // 8}"),
        np.dtype(f"{sign}f{int(scalar) // 8}"),
    )
