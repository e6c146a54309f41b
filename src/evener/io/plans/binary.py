"""Binary partition files, for programs in C, C++ or Fortran; docs/formats.md has the details.

All numbers are little-endian: 8 bytes "EVNRPART", uint32 version, uint32 k, uint64 n, then n int32,
the block of each vertex; then for each device the uint32 length of its name, and the name in UTF-8.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from evener.arrays import Part
from evener.io.sources import Source

MAGIC = b"EVNRPART"
VERSION = 1
_HEAD = struct.Struct("<8sIIQ")
_LENGTH = struct.Struct("<I")


def binary(part: Part, devices: Sequence[str] | None) -> Iterator[bytes]:
    """Yield the file of `part` (n,) and the device names of its blocks, empty if not known."""
    names = [""] * (int(part.max()) + 1) if devices is None else devices
    yield _HEAD.pack(MAGIC, VERSION, len(names), part.size)
    yield part.astype("<i4").tobytes()
    for name in names:
        encoded = name.encode("utf-8", "replace")
        yield _LENGTH.pack(len(encoded)) + encoded


def blocks_of(source: Source) -> npt.NDArray[np.int64]:
    """Return the blocks (n,) in a file that begins with MAGIC.

    Raises InputError for another version, for a file that is too short or too long, and for blocks
    outside 0 to k - 1.
    """
    if len(source.data) < _HEAD.size:
        raise source.error("ends within its header of 24 bytes")
    _, version, k, n = _HEAD.unpack_from(source.data)
    if version != VERSION:
        hint = f"This Evener reads version {VERSION}."
        raise source.error(f"has version {version}, which is unknown", hint=hint)
    rest = len(source.data) - _HEAD.size
    if n > rest // 4:
        raise source.error(f"declares {n:,} vertices, but ends after {rest // 4:,}")
    blocks = np.frombuffer(source.data, "<i4", n, _HEAD.size).astype(np.int64)
    bad = np.flatnonzero((blocks < 0) | (blocks >= k))
    if bad.size:
        message = f"vertex {bad[0]} has block {blocks[bad[0]]}, but there are {k:,} blocks"
        raise source.error(message)
    _check_names(source, k, _HEAD.size + 4 * n)
    return blocks


def _check_names(source: Source, k: int, place: int) -> None:
    """Raise InputError unless k names fill the file exactly from `place` to its end."""
    size = len(source.data)
    for device in range(k):
        if place + _LENGTH.size <= size:
            place += _LENGTH.size + _LENGTH.unpack_from(source.data, place)[0]
        else:
            place = size + 1
        if place > size:
            raise source.error(f"ends within the name of device {device} of {k:,}")
    if place < size:
        raise source.error(f"continues after the last name for {size - place:,} bytes")
