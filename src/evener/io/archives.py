"""Reads NumPy archives (.npz) with bounded memory; writes equal arrays as equal bytes.

A small file must not make Evener reserve much memory: members must be stored or deflated (deflate
shrinks data to a thousandth at most), the size of arrays is limited in proportion to their packed
size, and headers must agree with the content before memory is reserved. Pickled objects are
refused.
"""

from __future__ import annotations

import io
import math
import struct
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from evener.errors import EvenerError, InputError
from evener.files.opening import RATIO, RATIO_NAME, open_input, unpacked_limit
from evener.files.writing import FIXED_DATE

Arrays = dict[str, npt.NDArray[Any]]
ALWAYS_ALLOWED = 64 * 2**20  # bytes of an array that are allowed at any compression ratio
_HEADER = 2**16  # headers of arrays of numbers or texts are shorter
_PIECE = 2**22
_DAMAGED_ZIP = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    struct.error,
    ValueError,
    OverflowError,
    OSError,
    EOFError,
    RuntimeError,  # encrypted
    NotImplementedError,  # of a later version of the zip format
)
_DAMAGED_NPY = (
    ValueError,
    TypeError,
    OverflowError,
    SyntaxError,
    EOFError,
    OSError,
    RecursionError,
    MemoryError,
    tokenize.TokenError,
)


def write_arrays(file: IO[bytes], arrays: Mapping[str, npt.NDArray[Any]], level: int) -> None:
    """Write the arrays, deflated at this level; store arrays that deflate would shrink too far.

    `read_arrays` refuses arrays that shrink too far. level 0: all arrays are stored, and written
    without a copy in memory.
    """
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            member = zipfile.ZipInfo(f"{name}.npy", FIXED_DATE)
            member.create_system = 3  # the same bytes on every system
            if level == 0:
                with archive.open(member, "w", force_zip64=True) as stored:
                    np.lib.format.write_array(stored, array, allow_pickle=False)
                continue
            # Written in pieces, so that a large array is not copied in memory. Not made contiguous,
            # because that would turn a 0-dimensional array into a 1-dimensional one.
            counted = _Counted()
            np.lib.format.write_array(counted, array, allow_pickle=False)
            member.file_size = counted.length
            member.compress_type = _packing(array, counted.length, level)
            member._compresslevel = level  # type: ignore[attr-defined]  # noqa: SLF001
            with archive.open(member, "w") as packed:
                np.lib.format.write_array(packed, array, allow_pickle=False)


def _packing(array: npt.NDArray[Any], length: int, level: int) -> int:
    """Return the zipfile method for an array: stored if deflating would shrink it too far."""
    if length <= ALWAYS_ALLOWED:
        return zipfile.ZIP_DEFLATED
    counted = _Counted(zlib.compressobj(level), math.ceil(length / RATIO))
    try:
        np.lib.format.write_array(counted, array, allow_pickle=False)
        counted.end()
    except _EnoughError:
        return zipfile.ZIP_DEFLATED
    return zipfile.ZIP_STORED


class _EnoughError(Exception):
    """The number of bytes that _Counted waits for has been reached."""


class _Counted:
    """A file that discards its data and counts the bytes, packed or not.

    It raises _EnoughError once there are `enough` bytes.
    """

    def __init__(self, packer: Any = None, enough: float = math.inf) -> None:
        self.length, self._packer, self._enough = 0, packer, enough

    def write(self, data: bytes) -> int:
        """Count these bytes."""
        self._add(data if self._packer is None else self._packer.compress(data))
        return len(data)

    def end(self) -> None:
        """Count the bytes that the packer still buffers."""
        self._add(self._packer.flush())

    def _add(self, data: bytes) -> None:
        self.length += len(data)
        if self.length >= self._enough:
            raise _EnoughError


def names_in(content: bytes) -> set[str]:
    """Return the names of the arrays in an archive. Raises InputError if it is damaged."""
    with _opened(content) as archive:
        return set(_names(archive.namelist()))


def read_arrays(content: bytes, wanted: Collection[str]) -> Arrays:
    """Return the wanted arrays that the archive contains.

    Raises InputError if the archive is damaged, or if an array occurs twice, uses another
    compression method, or is larger than allowed.
    """
    with _opened(content) as archive:
        names = _names(archive.namelist())
        if twice := {name for name in names if name in wanted and names.count(name) > 1}:
            raise InputError(f"contains {min(twice)} twice")
        try:
            return {name: _member(archive, name) for name in names if name in wanted}
        except InputError:
            raise
        except _DAMAGED_ZIP as error:
            raise InputError(f"is a damaged archive ({short(error)})") from error


@contextmanager
def damage_refused(path: str | Path, what: str, hint: str = "") -> Iterator[None]:
    """Context manager: turn errors of damaged content into an InputError that names the file.

    what: what the file should be, such as "a plan file". hint: added to an InputError that has no
    hint.
    """
    try:
        yield
    except EvenerError as error:
        error.file = error.file or str(path)
        if isinstance(error, InputError):
            error.hint = error.hint or hint
        raise
    except (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError,
            ValueError) as error:  # fmt: skip
        raise InputError(
            f"is not {what}, or is damaged ({type(error).__name__}: {error})", file=path, hint=hint
        ) from error


class Header(NamedTuple):
    """What the header of an array declares."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


class ArrayFile:
    """An archive on disk whose arrays are read one at a time, or in pieces; a context manager.

    The constructor and all methods raise InputError if the archive is damaged.
    """

    def __init__(self, path: str | Path) -> None:
        self._file = open_input(path)
        try:
            self._archive = zipfile.ZipFile(self._file)
        except _DAMAGED_ZIP as error:
            self._file.close()
            raise InputError(f"is a damaged archive ({short(error)})", file=path) from error
        self.names = set(_names(self._archive.namelist()))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._archive.close()
        self._file.close()

    def header(self, name: str) -> Header:
        """Return the shape and type of an array."""
        with self._opened(name) as file:
            shape, dtype, _ = _described(file.read(_HEADER), name)
        return Header(shape, dtype)

    def read(self, name: str) -> npt.NDArray[Any]:
        """Return an array, with the checks of `read_arrays`."""
        try:
            return _member(self._archive, name)
        except _DAMAGED_ZIP as error:
            raise InputError(f"is a damaged archive ({short(error)})") from error

    def pieces(self, name: str, start: int, size: int) -> Iterator[npt.NDArray[Any]]:
        """Yield pieces of `size` entries of a one-dimensional array from entry `start` on."""
        with self._opened(name) as file:
            shape, dtype, at = _described(file.read(_HEADER), name)
            file.seek(at + start * dtype.itemsize)
            for first in range(start, shape[0], size):
                count = min(size, shape[0] - first)
                try:
                    data = file.read(count * dtype.itemsize)
                except _DAMAGED_ZIP as error:
                    raise InputError(f"is a damaged archive ({short(error)})") from error
                if len(data) < count * dtype.itemsize:
                    raise InputError(f"{name} does not contain what its header declares")
                yield np.frombuffer(data, dtype)

    def _opened(self, name: str) -> IO[bytes]:
        try:
            return self._archive.open(f"{name}.npy")
        except _DAMAGED_ZIP as error:
            raise InputError(f"is a damaged archive ({short(error)})") from error


def array_of(content: bytes, name: str) -> npt.NDArray[Any]:
    """Return the array of one .npy file. Raises InputError if it is damaged."""
    shape, dtype, start = _described(content[:_HEADER], name)
    if _size(shape, dtype) > len(content) - start:
        raise InputError(f"{name} does not contain what its header declares")
    return _array(content, name)


def short(error: BaseException) -> str:
    """Return the first line of a library's error message, or the error's type if it has none."""
    return str(error).split("\n")[0][:100] or type(error).__name__


def _opened(content: bytes) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(io.BytesIO(content))
    except _DAMAGED_ZIP as error:
        raise InputError(f"is a damaged archive ({short(error)})") from error


def _names(members: Iterable[str]) -> list[str]:
    return [name.removesuffix(".npy") for name in members if name.endswith(".npy")]


def _member(archive: zipfile.ZipFile, name: str) -> npt.NDArray[Any]:
    """Read one array, checking its size before memory is reserved for it."""
    member = archive.getinfo(f"{name}.npy")
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise InputError(
            f"{name} is compressed by an unsupported method",
            hint="Use numpy.savez or numpy.savez_compressed.",
        )
    allowed = unpacked_limit(member.compress_size, ALWAYS_ALLOWED)
    if member.file_size > allowed:
        raise InputError(
            f"{name} grows beyond {allowed:,} bytes when unpacked, from {member.compress_size:,}",
            hint=f"If this is intended, set {RATIO_NAME} to allow more.",
        )
    with archive.open(member) as file:
        head = file.read(_HEADER)
        shape, dtype, start = _described(head, name)
        if _size(shape, dtype) != member.file_size - start:
            raise InputError(f"{name} does not contain what its header declares")
        pieces = [head]
        # Read to the last byte, where zipfile compares the checksum.
        while piece := file.read(_PIECE):
            pieces.append(piece)
    return _array(b"".join(pieces), name)


def _described(head: bytes, name: str) -> tuple[tuple[int, ...], np.dtype[Any], int]:
    """Return the shape and dtype that a header declares, and where the header ends.

    Raises InputError if the header is damaged or the array does not hold plain values.
    """
    file = io.BytesIO(head)
    try:
        version = np.lib.format.read_magic(file)
        if version not in ((1, 0), (2, 0)):
            raise InputError(f"{name} has .npy version {version}, which Evener does not read")
        first = version == (1, 0)
        parse = (
            np.lib.format.read_array_header_1_0 if first else np.lib.format.read_array_header_2_0
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of headers written by Python 2: they are read
            shape, _, dtype = parse(file)
    except _DAMAGED_NPY as error:
        raise InputError(f"{name} has a damaged .npy header ({short(error)})") from error
    if dtype.hasobject or dtype.itemsize == 0 or min(shape, default=0) < 0:
        raise InputError(f"{name} holds {dtype}, which is not an array of numbers or text")
    return shape, dtype, file.tell()


def _size(shape: tuple[int, ...], dtype: np.dtype[Any]) -> int:
    size = dtype.itemsize
    for extent in shape:
        size *= extent
    return size


def _array(content: bytes, name: str) -> npt.NDArray[Any]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            array: npt.NDArray[Any] = np.lib.format.read_array(
                io.BytesIO(content), allow_pickle=False
            )
    except _DAMAGED_NPY as error:
        raise InputError(f"{name} is damaged ({short(error)})") from error
    if array.dtype.kind == "U" and not _is_text(array):
        raise InputError(f"{name} contains invalid text")
    return array


def _is_text(array: npt.NDArray[np.str_]) -> bool:
    """Return whether all code points in an array of text are valid, which NumPy does not check."""
    codes = np.atleast_1d(array).ravel().view(f"{array.dtype.str[0]}u4")
    return not bool(((codes > 0x10FFFF) | ((codes >= 0xD800) & (codes <= 0xDFFF))).any())
