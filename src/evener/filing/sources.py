"""A file to be read: its bytes, unpacked, with its name and digest."""

from __future__ import annotations

import gzip
import hashlib
import io
import lzma
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from evener.errors import InputError

PACKINGS = (".zst", ".gz", ".xz")
# Text of graphs shrinks to a tenth, of the most regular grids to a hundredth: what grows further,
# beyond a size that does no harm, is no such file.
_ALWAYS_ALLOWED = 32 * 2**20
_GROWTH = 200
_HEAD = 4096


@dataclass(frozen=True, eq=False)
class Source:
    """What lies at `path`.

    name is the file's name without the suffix of its packing; data its unpacked content; sha256
    the digest of the file as it lies on disk (of its files, for a folder). A folder, which only
    some formats are, has no data. Readers say what is odd in `notes`; `beside` collects the
    digests of further files they open, by name.
    """

    path: Path
    name: str
    data: bytes = field(repr=False)
    sha256: str
    folder: bool = False
    notes: list[str] = field(default_factory=list)
    beside: dict[str, str] = field(default_factory=dict)

    @property
    def suffix(self) -> str:
        """Last suffix of the unpacked name, in lower case."""
        return Path(self.name).suffix.lower()

    @property
    def head(self) -> bytes:
        """First 4 KiB."""
        return self.data[:_HEAD]

    @cached_property
    def is_text(self) -> bool:
        """Whether the head has no zero byte."""
        return b"\0" not in self.head

    @cached_property
    def array(self) -> npt.NDArray[np.uint8]:
        """The data as a read-only array of bytes, for kernels."""
        return np.frombuffer(self.data, np.uint8)

    def line_at(self, offset: int) -> int:
        """Number of the line, from 1, that holds the byte at `offset`."""
        return self.data.count(b"\n", 0, max(0, offset)) + 1

    def error(
        self,
        message: str,
        *,
        offset: int | None = None,
        line: int | None = None,
        hint: str | None = None,
    ) -> InputError:
        """Return the InputError that names this file, and the line if told an offset or line."""
        if offset is not None:
            line = self.line_at(offset)
        # What is quoted from the file may hold anything; a terminal is to be spared it.
        message = "".join(c if c.isprintable() else "?" for c in message)
        return InputError(message, file=self.path, line=line, hint=hint)

    def open_beside(self, name: str) -> Source | None:
        """Open the file `name` in the same folder, packed or not; None where there is none."""
        folder = self.path if self.folder else self.path.parent
        path = find_file(folder / name)
        if path is None:
            return None
        source = open_source(path)
        self.beside[path.name] = source.sha256
        return source


def find_file(path: Path) -> Path | None:
    """Return `path`, or `path` with a packing's suffix, whichever is a file."""
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


def open_source(path: str | Path) -> Source:
    """Read and unpack the file at `path`, or recognise a folder that is a mesh.

    Raises InputError for what is missing, unreadable, empty, damaged, or grows out of all
    proportion when unpacked.
    """
    path = Path(path)
    try:
        if path.is_dir():
            return _open_folder(path)
        if path.exists() and not path.is_file():
            raise InputError("is not a file", file=path)
        raw = path.read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot be read: {reason}", file=path) from error
    except ValueError as error:
        raise InputError(f"{str(path)!r} cannot be read: {error}") from error
    except MemoryError as error:
        raise InputError("needs more memory than there is", file=path) from error
    if not raw:
        raise InputError("is empty", file=path)
    data = _unpack(raw, path)
    if data.isspace():
        raise InputError("holds nothing but white space", file=path)
    name = path.name
    for packing in PACKINGS:
        name = name.removesuffix(packing)
    return Source(path, name, data, hashlib.sha256(raw).hexdigest())


def _open_folder(path: Path) -> Source:
    """Open an OpenFOAM mesh: the folder itself, or the one a case keeps it in."""
    for inner in (path, path / "polyMesh", path / "constant" / "polyMesh"):
        if find_file(inner / "faces") is not None:
            digest = hashlib.sha256()
            for file in sorted(entry for entry in inner.iterdir() if entry.is_file()):
                digest.update(
                    file.name.encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest()
                )
            return Source(inner, _case_of(inner), b"", digest.hexdigest(), folder=True)
    hint = "The folders read are OpenFOAM's polyMesh and cases that hold one."
    raise InputError("is a folder without a mesh in it", file=path, hint=hint)


def _case_of(folder: Path) -> str:
    """Return the name of the case, or its region, that an OpenFOAM mesh's folder belongs to."""
    places = [folder.resolve(), *folder.resolve().parents]
    return next((p.name for p in places if p.name not in ("", "polyMesh", "constant")), folder.name)


def _unpack(raw: bytes, path: Path) -> bytes:
    pieces = _pieces(raw)
    if pieces is None:
        return raw
    limit = max(_ALWAYS_ALLOWED, _GROWTH * len(raw))
    out = io.BytesIO()
    try:
        for piece in pieces:
            out.write(piece)
            if out.tell() > limit:
                raise InputError(
                    f"grows beyond {limit:,} bytes when unpacked, from {len(raw):,}",
                    file=path,
                    hint="If it is no mistake, unpack it first.",
                )
    except (EOFError, OSError, zlib.error, lzma.LZMAError, _Damaged) as error:
        raise InputError(f"cannot be unpacked: {error}", file=path) from error
    data = out.getvalue()
    if not data:
        raise InputError("is empty when unpacked", file=path)
    return data


def _pieces(raw: bytes) -> Iterator[bytes] | None:
    """Yield the unpacked content in pieces of bounded size; None where nothing is packed."""
    if raw.startswith(b"\x1f\x8b"):
        return _read_on(gzip.GzipFile(fileobj=io.BytesIO(raw)))
    if raw.startswith(b"\xfd7zXZ\x00"):
        return _read_on(lzma.LZMAFile(io.BytesIO(raw), format=lzma.FORMAT_XZ))
    if raw.startswith(b"\x28\xb5\x2f\xfd"):
        return _zstd(raw)
    return None


def _read_on(file: gzip.GzipFile | lzma.LZMAFile) -> Iterator[bytes]:
    while piece := file.read(2**22):
        yield piece


class _Damaged(Exception):  # noqa: N818
    """A zstd stream that is wrong or ends early."""


def _zstd(raw: bytes) -> Iterator[bytes]:
    import zstandard

    # A block of 128 KiB can stand in four bytes: small bites keep each piece small.
    step = 4096
    position = 0
    try:
        while position < len(raw):
            frame = zstandard.ZstdDecompressor().decompressobj()
            while not frame.eof:
                if position >= len(raw):
                    raise _Damaged("it ends early")
                bite = raw[position : position + step]
                position += len(bite)
                yield frame.decompress(bite)
            position -= len(frame.unused_data)
    except zstandard.ZstdError as error:
        raise _Damaged(str(error)) from error
