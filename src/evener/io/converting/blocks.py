"""TextBlocks: reads a text file in blocks of whole lines, unpacking it on the fly."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
import numpy.typing as npt

from evener.errors import InputError
from evener.files.opening import ANY_SIZE, open_input
from evener.io.graphs.streams import HEAD, Window
from evener.io.sources import Source, unpacked_pieces, without_packing

BLOCK = 2**23  # bytes: the buffer has few enough pages for the TLB
LEAST_BLOCK = 2**16  # bytes
LONGEST = 2**31  # bytes of a line
# Peak memory [B] per byte of a block: the text, its copy, and the data parsed from it and sorted.
# Measured on short lines, which have most numbers per byte: 6 to 14, and 19 on METIS's lines "1".
A_BYTE = 20
# The same for a buffer that has grown for a long line, such as a hub in a METIS file.
A_LONG_BYTE = 6


class TextBlock(NamedTuple):
    """Whole lines of a text, in a buffer that the next block overwrites.

    text (b,) uint8; start: offset of its first byte in the unpacked text.
    """

    text: npt.NDArray[np.uint8]
    start: int


@dataclass(frozen=True, eq=False)
class TextWindow(Window):
    """A part of a text, possibly packed, in the form that readers of whole files accept."""

    def line_at(self, offset: int) -> int:
        """Return the file's line number, from 1, for the byte at `offset` of this window."""
        before, left = 0, self.start
        for block in TextBlocks(self.path).blocks(0):
            taken = block.text[: max(0, left - block.start)]
            before += int(np.count_nonzero(taken == 10))
            if block.start + block.text.size >= left:
                break
        return before + Source.line_at(self, offset)


class TextBlocks:
    """A text file, packed or not, whose lines are read in blocks.

    size: bytes on disk. told: called with the fraction of `size` read so far. memory [B]: limit for
    blocks and the data parsed from them; None: unlimited. Raises InputError if the file cannot be
    read, is not a regular file, or has a line that does not fit in the memory.
    """

    def __init__(self, path: str | Path, block: int = BLOCK, memory: int | None = None) -> None:
        self.path = Path(path)
        self.told: Callable[[float], None] | None = None
        self._block, self._longest = block, LONGEST
        if memory is not None:
            self._block = min(block, max(LEAST_BLOCK, memory // A_BYTE))
            self._longest = min(LONGEST, max(LEAST_BLOCK, memory // A_LONG_BYTE))
        with open_input(self.path, ANY_SIZE) as file:
            self.size = os.fstat(file.fileno()).st_size
            self.packed = unpacked_pieces(file, self.path) is not None
        self.name = without_packing(self.path).name

    def head(self) -> Window:
        """Return the first lines, HEAD bytes of them. Raises InputError for an empty file."""
        data = b""
        for block in TextBlocks(self.path, block=HEAD).blocks(0):
            data = block.text.tobytes()
            break
        if not data:
            raise InputError("is empty", file=self.path)
        # The length of a packed text is not known: assume the largest allowed.
        whole = ANY_SIZE if self.packed else self.size
        return TextWindow(self.path, self.name, data, "", whole=whole)

    def blocks(self, start: int) -> Iterator[TextBlock]:
        """Yield the lines from offset `start` of the text on; a line must begin there."""
        with open_input(self.path, ANY_SIZE) as file:
            before = os.fstat(file.fileno())
            yield from self._cut(_filler(file, self.path), start, file)
            after = os.fstat(file.fileno())
            if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
                raise InputError("was changed while it was read", file=self.path)

    def _cut(self, fill: Fill, start: int, file: IO[bytes]) -> Iterator[TextBlock]:
        buffer = np.empty(self._block, np.uint8)
        at = held = 0  # offset in the text of the buffer's first byte; bytes held
        while True:
            while held < buffer.size and (got := fill(buffer[held:].data)):
                held += got
            ended = held < buffer.size
            lines = held if ended else _last_line_end(buffer, held)
            begin = min(max(start - at, 0), lines)
            if lines > begin:
                if self.told is not None:
                    self.told(min(1.0, file.tell() / max(self.size, 1)))
                text = buffer[begin:lines]
                text.flags.writeable = False  # like the readers' arrays of bytes
                yield TextBlock(text, at + begin)
            if ended:
                return
            buffer[: held - lines] = buffer[lines:held]
            at, held = at + lines, held - lines
            if held == buffer.size:
                if held >= LONGEST:
                    raise InputError("has a line that is too long", file=self.path)
                if 2 * held > self._longest:
                    raise InputError(
                        f"has a line longer than {held:,} bytes, too long for the memory limit",
                        file=self.path,
                        hint="A larger --memory allows longer lines.",
                    )
                buffer = np.concatenate([buffer, np.empty_like(buffer)])


def window_of(source: Source, block: TextBlock) -> TextWindow:
    """Copy a block of the text of `source` into a window that readers of whole files accept."""
    return TextWindow(source.path, source.name, block.text.tobytes(), "", start=block.start)


Fill = Callable[[memoryview], int]


def _last_line_end(buffer: npt.NDArray[np.uint8], held: int) -> int:
    """Return the offset after the last newline, or 0."""
    step = 2**16
    for stop in range(held, 0, -step):
        first = max(0, stop - step)
        found = np.flatnonzero(buffer[first:stop] == 10)
        if found.size:
            return first + int(found[-1]) + 1
    return 0


def _filler(file: IO[bytes], path: Path) -> Fill:
    """Return a function that reads the next bytes into a view and returns their number.

    It returns 0 at the end of the file.
    """
    pieces = unpacked_pieces(file, path)
    if pieces is None:
        file.seek(0)

        def read(view: memoryview) -> int:
            try:
                return file.readinto(view) or 0  # type: ignore[attr-defined]
            except OSError as error:
                raise InputError(f"cannot be read: {error.strerror or error}", file=path) from error

        return read
    rest = b""

    def unpack(view: memoryview) -> int:
        nonlocal rest
        while not rest:
            piece = next(pieces, None)
            if piece is None:
                return 0
            rest = piece
        taken = rest[: len(view)]
        view[: len(taken)] = taken
        rest = rest[len(taken) :]
        return len(taken)

    return unpack
