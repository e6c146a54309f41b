"""Content of packed files: gzip, xz, zstd and bzip2, unpacked within limits."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Iterator
from pathlib import Path

from evener.errors import InputError
from evener.opening import RATIO_NAME, limit, too_large, unpacked_limit

PACKINGS = (".zst", ".gz", ".xz", ".bz2")
_PIECE = 2**22
# What is fed at a time. A block of 128 KiB can stand in four bytes of zstd: small bites keep its
# pieces small, and what is copied between streams, of which a file may hold thousands.
_BITE = 512
# What unpacking itself may take, whatever a file asks for: a dictionary of what came before.
# `xz -9` needs 65 MiB, `zstd --long` 128 MiB.
_XZ_MEMORY, _ZSTD_WINDOW = 256 * 2**20, 128 * 2**20
_BZIP2 = (b"1AY&SY", b"\x17rE8P\x90")  # pi, and its root where there is nothing: no text begins so


def unpacked(raw: bytes, path: Path) -> bytes:
    """Return what `raw`, the file at `path`, holds; raw itself where nothing is packed.

    Raises InputError for what is damaged, empty, or grows beyond the limits.
    """
    pieces = _pieces(raw)
    if pieces is None:
        return raw
    allowed = unpacked_limit(len(raw))
    out = io.BytesIO()
    try:
        for piece in pieces:
            out.write(piece)
            if out.tell() > allowed:
                raise _too_far(len(raw), allowed, path)
    except (EOFError, OSError, zlib.error, lzma.LZMAError, _Damaged) as error:
        raise InputError(f"cannot be unpacked: {error}", file=path) from error
    except MemoryError as error:
        raise InputError("needs more memory than there is", file=path) from error
    data = out.getvalue()
    if not data:
        raise InputError("is empty when unpacked", file=path)
    return data


def _too_far(packed: int, allowed: int, path: Path) -> InputError:
    if allowed == limit():
        return too_large(path, allowed)
    return InputError(
        f"grows beyond {allowed:,} bytes when unpacked, from {packed:,}",
        file=path,
        hint=f"If it is no mistake, unpack it first, or set {RATIO_NAME} to allow more.",
    )


def _pieces(raw: bytes) -> Iterator[bytes] | None:
    """Yield the unpacked content in pieces of bounded size; None where nothing is packed."""
    if raw.startswith(b"\x1f\x8b"):
        return _read_on(gzip.GzipFile(fileobj=io.BytesIO(raw)))
    if raw.startswith(b"\xfd7zXZ\x00"):
        return _xz(raw)
    if raw.startswith(b"\x28\xb5\x2f\xfd"):
        return _zstd(raw)
    if raw.startswith(b"BZh") and raw[4:10] in _BZIP2:
        return _read_on(bz2.BZ2File(io.BytesIO(raw)))
    return None


def _read_on(file: gzip.GzipFile | bz2.BZ2File) -> Iterator[bytes]:
    while piece := file.read(_PIECE):
        yield piece


class _Damaged(Exception):  # noqa: N818
    """A stream that is wrong or ends early."""


def _xz(raw: bytes) -> Iterator[bytes]:
    position = 0
    while position < len(raw):
        stream = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)
        while not stream.eof:
            bite = b""
            if stream.needs_input:
                if position >= len(raw):
                    raise _Damaged("it ends early")
                bite = raw[position : position + _BITE]
                position += len(bite)
            yield stream.decompress(bite, _PIECE)
        position -= len(stream.unused_data)
        while raw[position : position + 4] == b"\0\0\0\0":  # which may follow a stream
            position += 4


def _zstd(raw: bytes) -> Iterator[bytes]:
    import zstandard

    position = 0
    try:
        while position < len(raw):
            frame = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW).decompressobj()
            while not frame.eof:
                if position >= len(raw):
                    raise _Damaged("it ends early")
                bite = raw[position : position + _BITE]
                position += len(bite)
                yield frame.decompress(bite)
            position -= len(frame.unused_data)
    except zstandard.ZstdError as error:
        raise _Damaged(str(error)) from error
