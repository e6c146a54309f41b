"""OpenFOAM's lists in binary: a count as text, then the entries as they lie in memory."""

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
    """A file of `kind`, a class of OpenFOAM's: one list or two, the first from `start` on.

    label, scalar: the types of whole numbers and of reals in it.
    """

    source: Source
    kind: str
    start: int
    label: np.dtype[Any]
    scalar: np.dtype[Any]

    def points(self) -> npt.NDArray[np.float64]:
        """(p, 3) coordinates."""
        values, place = self._list(self.start, self.scalar, 3)
        self._refuse_more(place)
        return values.reshape(-1, 3).astype(np.float64)

    def labels(self) -> npt.NDArray[np.int64]:
        """(m,) whole numbers."""
        values, place = self._list(self.start, self.label, 1)
        self._refuse_more(place)
        return values.astype(np.int64)

    def faces(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """(f + 1,) offsets of the faces and their corners: a list of each, one after the other."""
        if self.kind != "faceCompactList":
            message = f"is a binary {self.kind}; Evener reads binary faces from a faceCompactList"
            raise self.source.error(message, hint=_TEXT_OF_IT)
        offsets, place = self._list(self.start, self.label, 1)
        corners, place = self._list(place, self.label, 1)
        self._refuse_more(place)
        return offsets.astype(np.int64), corners.astype(np.int64)

    def _list(self, place: int, dtype: np.dtype[Any], width: int) -> tuple[npt.NDArray[Any], int]:
        """Return the list whose count stands at `place`, flat, and the place after it."""
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
    """Return the file whose header's entries are `header`, and whose lists begin at `start`.

    Without an entry `arch`, as older versions write it, numbers are taken for the usual ones.
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
