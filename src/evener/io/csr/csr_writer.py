"""CsrWriter: writes a binary CSR file, one range of rows at a time."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from evener.files.writing import atomic_write, is_stdout
from evener.io.csr.layout import FRACTIONAL, WHOLE, CsrLayout

PIECE = 2**18  # numbers that are copied or converted at a time


class CsrWriter:
    """A file with a layout, whose arrays may be filled in any order.

    Before an array is written, n and the sizes of all arrays before it must be known.
    """

    def __init__(self, file: IO[bytes], layout: CsrLayout) -> None:
        self._file = file
        self.layout = layout

    def put(self, name: str, start: int, values: npt.NDArray[Any]) -> None:
        """Write numbers into the array `name`, from index `start` on."""
        section = self.layout.sections[name]
        self._file.seek(section.offset + start * section.dtype.itemsize)
        self._file.write(np.ascontiguousarray(values, section.dtype).data)

    def make_whole(self, name: str) -> None:
        """Convert weights from float64 to int64 in the file; all must be whole numbers."""
        section = self.layout.sections[name]
        for start in range(0, section.length, PIECE):
            self._file.seek(section.offset + start * 8)
            content = self._file.read(8 * min(PIECE, section.length - start))
            values = np.frombuffer(content, "<f8").astype("<i8")
            self._file.seek(section.offset + start * 8)
            self._file.write(values.data)
        self.layout = replace(self.layout, **{name: WHOLE})

    def finish(self) -> None:
        """Write the header, and truncate the file after its arrays."""
        self.layout.check()
        self._file.truncate(self.layout.size)
        self._file.seek(0)
        self._file.write(self.layout.packed())

    def reserve(self) -> None:
        """Reserve disk space for the whole file. Raises OSError if there is too little.

        If the file system cannot reserve space, the file grows as it is written.
        """
        if not hasattr(os, "posix_fallocate"):
            return
        with suppress(AttributeError, ValueError):  # a file in memory has no descriptor
            try:
                os.posix_fallocate(self._file.fileno(), 0, self.layout.size)
            except OSError as error:
                if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                    raise


@contextmanager
def csr_written(path: str | Path, layout: CsrLayout) -> Iterator[CsrWriter]:
    """Yield a writer; its file replaces `path` if the with-block ends without error.

    Raises the same errors as `atomic_write`.
    """
    with atomic_write(path) as file:
        writer = CsrWriter(file, layout)
        yield writer
        writer.finish()


def can_be_filled(path: str | Path) -> bool:
    """Return whether the file can be written in any order; devices and pipes cannot."""
    target = Path(path)
    return is_stdout(path) or target.is_file() or not target.exists()


def type_of(fractional: bool) -> int:
    """Return the weight type of a layout: FRACTIONAL or WHOLE."""
    return FRACTIONAL if fractional else WHOLE
