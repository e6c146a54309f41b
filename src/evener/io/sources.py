"""Source: an input file's bytes, unpacked, with its name and digest.

gzip, xz, zstd and bzip2 are recognised by content and unpacked within limits.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt

from evener.errors import InputError
from evener.files.opening import (
    ANY_SIZE,
    RATIO_NAME,
    STDIN,
    is_stdin,
    limit,
    read_bytes,
    too_large,
    unpacked_limit,
)

PACKINGS = (".zst", ".gz", ".xz", ".bz2")
_PIECE = 2**22  # bytes of unpacked content per piece
# Packed bytes given to a decompressor at a time: four bytes of zstd can hold a block of 128 KiB, so
# that larger pieces would unpack to too much at once.
_BITE = 512
# Memory [B] that a decompressor may use for its dictionary: `xz -9` needs 65 MiB, `zstd --long`
# 128 MiB.
_XZ_MEMORY, _ZSTD_WINDOW = 256 * 2**20, 128 * 2**20
# Bytes 4 to 9 of a bzip2 file: the mark of a block, or of the end where the file is empty.
_BZIP2 = (b"1AY&SY", b"\x17rE8P\x90")
_HEAD = 4096  # bytes that are used to recognise formats


def without_packing(path: str | Path) -> Path:
    """Return the path without a compression suffix such as .gz."""
    path = Path(path)
    return path.with_suffix("") if path.suffix in PACKINGS else path


def is_packed(head: bytes) -> bool:
    """Return whether a file is compressed, judging by its first bytes (at least ten)."""
    return _unpacking(head, b"", io.BytesIO) is not None


def unpacked(raw: bytes, path: Path) -> bytes:
    """Return the unpacked content of `raw`, the file at `path`; `raw` itself if it is not packed.

    Raises InputError if the file is damaged, or if its content is empty or exceeds the limits.
    """
    pieces = _unpacking(raw[:10], raw, lambda: io.BytesIO(raw))
    if pieces is None:
        return raw
    out = io.BytesIO()
    try:
        out.writelines(_limited(pieces, len(raw), unpacked_limit(len(raw)), path))
    except MemoryError as error:
        raise InputError("needs more memory than is available", file=path) from error
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
        hint=f"If this is intended, unpack it first, or set {RATIO_NAME} to allow more.",
    )


def unpacked_pieces(file: IO[bytes], path: Path) -> Iterator[bytes] | None:
    """Return an iterator over the unpacked content of an open file; None if it is not packed.

    At most one piece is in memory at a time. The iterator raises InputError as `unpacked` does,
    except for empty content; its size limit is the limit for files that are read piece by piece.
    """
    head, size = file.read(10), file.seek(0, os.SEEK_END)
    file.seek(0)
    pieces = _unpacking(head, _Ranges(file, size), lambda: file)
    if pieces is None:
        return None
    return _limited(pieces, size, unpacked_limit(size, most=ANY_SIZE), path)


def _limited(pieces: Iterator[bytes], packed: int, allowed: int, path: Path) -> Iterator[bytes]:
    total = 0
    try:
        for piece in pieces:
            total += len(piece)
            if total > allowed:
                raise _too_far(packed, allowed, path)
            yield piece
    except (EOFError, OSError, zlib.error, lzma.LZMAError, _Damaged) as error:
        raise InputError(f"cannot be unpacked: {error}", file=path) from error


class _Ranges:
    """Gives access to ranges of a file by slicing, as if the file were bytes in memory."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        self._file, self._size = file, size

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, wanted: slice) -> bytes:
        self._file.seek(wanted.start)
        return self._file.read(wanted.stop - wanted.start)


def _unpacking(
    head: bytes, raw: bytes | _Ranges, opened: Callable[[], IO[bytes]]
) -> Iterator[bytes] | None:
    """Return an iterator over the unpacked content of a file that begins with `head`, or None."""
    if head.startswith(b"\x1f\x8b"):
        return _read_on(gzip.GzipFile(fileobj=opened()))
    if head.startswith(b"\xfd7zXZ\x00"):
        return _xz(raw)
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        return _zstd(raw)
    if head.startswith(b"BZh") and head[4:10] in _BZIP2:
        return _read_on(bz2.BZ2File(opened()))
    return None


def _read_on(file: gzip.GzipFile | bz2.BZ2File) -> Iterator[bytes]:
    while piece := file.read(_PIECE):
        yield piece


class _Damaged(Exception):  # noqa: N818
    """A packed stream is invalid or truncated."""


def _xz(raw: bytes | _Ranges) -> Iterator[bytes]:
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
        while raw[position : position + 4] == b"\0\0\0\0":  # padding between streams
            position += 4


def _zstd(raw: bytes | _Ranges) -> Iterator[bytes]:
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


@dataclass(frozen=True, eq=False)
class Source:
    """An input file, or the folder of a mesh, at `path`.

    name: the file's name without a compression suffix. data: its unpacked content; empty for a
    folder, which only some formats use. sha256: the digest of the file on disk (for a folder, of
    its files; of a PyFR mesh, of its mesh-uuid). notes: readers add a message for anything unusual.
    beside: digests of further files that readers open, by name; there are none for standard input,
    which is called <stdin>.
    """

    path: Path
    name: str
    data: bytes = field(repr=False)
    sha256: str
    folder: bool = False
    notes: list[str] = field(default_factory=list)
    beside: dict[str, str] = field(default_factory=dict)

    def identify(self, text: str) -> None:
        """Replace the digest by that of `text`: a solver may later add data to the file itself."""
        object.__setattr__(self, "sha256", hashlib.sha256(text.encode()).hexdigest())

    @property
    def suffix(self) -> str:
        """Last suffix of the unpacked name, in lower case."""
        return Path(self.name).suffix.lower()

    @property
    def head(self) -> bytes:
        """The first 4 KiB of the data, from which formats are recognised."""
        return self.data[:_HEAD]

    @property
    def extent(self) -> int:
        """Size of the data [B], which limits the counts that headers may declare."""
        return len(self.data)

    @cached_property
    def is_text(self) -> bool:
        """Whether the data looks like text: there is no zero byte in the head."""
        return b"\0" not in self.head

    @property
    def is_xml(self) -> bool:
        """Whether the data begins like XML."""
        return self.head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<")

    @cached_property
    def array(self) -> npt.NDArray[np.uint8]:
        """The data as a read-only array of bytes, for kernels."""
        return np.frombuffer(self.data, np.uint8)

    def line_at(self, offset: int) -> int:
        """Return the number, from 1, of the line that contains the byte at `offset`."""
        return self.data.count(b"\n", 0, max(0, offset)) + 1

    def error(
        self,
        message: str,
        *,
        offset: int | None = None,
        line: int | None = None,
        hint: str | None = None,
    ) -> InputError:
        """Return an InputError that names this file, and the line if an offset or line is given."""
        if offset is not None:
            line = self.line_at(offset)
        return InputError(message, file=self.path, line=line, hint=hint)

    def open_beside(self, name: str) -> Source | None:
        """Open the file `name` in the same folder, packed or not; None if it does not exist."""
        if self.path == STDIN:
            return None
        folder = self.path if self.folder else self.path.parent
        path = find_file(folder / name)
        if path is None:
            return None
        source = open_source(path)
        self.beside[path.name] = source.sha256
        return source


def find_file(path: Path) -> Path | None:
    """Return the first existing file of `path` and `path` plus a packing suffix, or None."""
    if not path.name:
        return None
    for candidate in (path, *(path.with_name(path.name + packing) for packing in PACKINGS)):
        if _is_file(candidate):
            return candidate
    return None


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that no file can have
        return False


def open_source(path: str | Path, *, folders: bool = True) -> Source:
    """Read and unpack the file at `path` (`-`: standard input), or open a mesh folder.

    folders: whether `path` may be a folder. Raises InputError if the file is missing, unreadable,
    not a regular file, empty, damaged or too large, or if its size grows beyond the limits when it
    is unpacked.
    """
    if is_stdin(path):
        path, raw = STDIN, read_bytes(path)
    else:
        path = Path(path)
        if folders and _is_folder(path):
            return _open_folder(path)
        raw = read_bytes(path)
    if not raw:
        raise InputError("is empty", file=path)
    data = unpacked(raw, path)
    if data.isspace():
        raise InputError("contains only white space", file=path)
    return Source(path, without_packing(path).name, data, hashlib.sha256(raw).hexdigest())


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):  # a name that no folder can have
        return False


def _open_folder(path: Path) -> Source:
    """Open an OpenFOAM mesh: `path` is the mesh's folder, or the case that contains it."""
    for inner in (path, path / "polyMesh", path / "constant" / "polyMesh"):
        if find_file(inner / "faces") is not None:
            digest = hashlib.sha256()
            for file in sorted(entry for entry in inner.iterdir() if entry.is_file()):
                content = hashlib.sha256(read_bytes(file)).digest()
                digest.update(file.name.encode("utf-8", "surrogateescape") + b"\0" + content)
            return Source(inner, _case_of(inner), b"", digest.hexdigest(), folder=True)
    hint = (
        "Evener reads OpenFOAM's folders polyMesh and cases that contain one; blockMesh makes "
        "such a folder."
    )
    raise InputError("is a folder without a mesh", file=path, hint=hint)


def _case_of(folder: Path) -> str:
    """Return the name of the case or region to which an OpenFOAM mesh's folder belongs."""
    places = [folder.resolve(), *folder.resolve().parents]
    return next((p.name for p in places if p.name not in ("", "polyMesh", "constant")), folder.name)
