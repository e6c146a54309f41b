"""Opens input files: regular files and standard input (`-`), up to a size that users may raise.

Every file that a user names is opened here. Devices and pipes are refused: a device may never end,
and reading a pipe without a writer never returns.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import weakref
from pathlib import Path
from typing import IO, Any

from evener.errors import InputError, UsageError
from evener.wording import bytes_of

LIMIT_NAME, RATIO_NAME = "EVENER_MAX_INPUT", "EVENER_MAX_RATIO"
MOST = 16 * 2**30  # max. bytes of a file, unless its kind has its own limit
ANY_SIZE = 2**62  # max. bytes of a file that is read piece by piece
MOST_STDIN = 2**30  # max. bytes of standard input, whose size is not known in advance
# Max. ratio of unpacked to packed size for files above a harmless size: graphs in text shrink to a
# tenth, those of the most regular grids to a hundredth.
RATIO = 200.0
ALWAYS_ALLOWED = 32 * 2**20
STDIN = Path("<stdin>")  # its name in errors

_STDIN_NAMES = {"-", str(STDIN), "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}
_KINDS = (
    (stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a device"),
)  # fmt: skip
_PIECE = 2**22
_FLAGS = os.O_RDONLY | sum(
    getattr(os, f"O_{name}", 0) for name in ("NONBLOCK", "CLOEXEC", "BINARY")
)
# Standard input can be read only once; its content is kept for further calls.
_held: weakref.WeakKeyDictionary[Any, bytes] = weakref.WeakKeyDictionary()


def is_stdin(path: str | Path) -> bool:
    """Return whether a file name means standard input: `-` or /dev/stdin."""
    return str(path) in _STDIN_NAMES


def is_there(path: str | Path) -> bool:
    """Return whether the file exists or is standard input; False for impossible names."""
    return is_stdin(path) or os.path.exists(path)  # noqa: PTH110 - Path.exists refuses some


def named(path: str | Path) -> Path:
    """Return the file name to use in errors: `<stdin>` for standard input."""
    return STDIN if is_stdin(path) else Path(path)


def limit(most: int = MOST) -> int:
    """Return the maximum size of an input [B]: EVENER_MAX_INPUT if set, else `most`.

    Raises UsageError if EVENER_MAX_INPUT is not a size.
    """
    text = os.environ.get(LIMIT_NAME)
    if text is None:
        return most
    size = bytes_of(text)
    if not size:
        raise UsageError(
            f"{LIMIT_NAME} must be a number of bytes above zero, not {text!r}",
            hint="For example 500000000, 64MiB or 32GiB.",
        )
    return size


def unpacked_limit(packed: int, always: int = ALWAYS_ALLOWED, most: int = MOST) -> int:
    """Return the maximum unpacked size [B] of a file with this packed size [B].

    It is RATIO times `packed`, or the ratio that EVENER_MAX_RATIO sets. always: size that is
    allowed at any ratio; most: as in `limit`. Raises UsageError if EVENER_MAX_RATIO is not a number
    of at least 1.
    """
    text = os.environ.get(RATIO_NAME)
    ratio = RATIO
    if text is not None:
        if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text, re.ASCII) is None or float(text) < 1:
            raise UsageError(f"{RATIO_NAME} must be a number >= 1, not {text!r}")
        ratio = float(text)
    return min(limit(most), max(always, int(ratio * packed)))


def read_bytes(path: str | Path, most: int = MOST) -> bytes:
    """Return the content of the file at `path`, or of standard input if `path` is `-`.

    Raises InputError if the file is missing, unreadable, not a regular file, or longer than
    `limit(most)`.
    """
    if is_stdin(path):
        return _standard_input(most)
    with open_input(path, most) as file:
        try:
            return _read(file, os.fstat(file.fileno()).st_size, path, limit(most))
        except OSError as error:
            reason = error.strerror or str(error)
            raise InputError(f"cannot be read: {reason}", file=path) from error


def open_input(path: str | Path, most: int = MOST) -> IO[bytes]:
    """Open a regular file for reading, after checking that its size is at most `limit(most)`.

    For files that are read piece by piece; standard input is not accepted. Raises InputError.
    """
    allowed = limit(most)
    try:
        # Checked before opening, because opening alone affects some devices, and again once open,
        # because the file may have been replaced. Neither check blocks.
        _refuse_special(os.stat(path).st_mode, path)  # noqa: PTH116
        number = os.open(path, _FLAGS)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", file=path) from error
    except ValueError as error:  # a zero byte in the name
        raise InputError(f"{str(path)!r} cannot be read: {error}") from error
    file = os.fdopen(number, "rb")
    try:
        _refuse(os.fstat(number), path, allowed)
    except InputError:
        file.close()
        raise
    return file


def too_large(path: str | Path, allowed: int, size: int | None = None) -> InputError:
    """Return the error for an input that is longer than allowed."""
    what = "is longer than" if size is None else f"contains {size:,} bytes, more than"
    return InputError(
        f"{what} the {amount(allowed)} allowed",
        file=named(path),
        hint=f"To allow more, set {LIMIT_NAME} in the environment, such as to {doubled(allowed)}.",
    )


def amount(size: int) -> str:
    """Return a limit in the largest unit in which it is a whole number."""
    for bits, unit in ((40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size % 2**bits == 0:
            return f"{size >> bits:,} {unit}"
    return f"{size:,} bytes"


def doubled(size: int) -> str:
    """Return twice the limit, in the notation of the environment variable."""
    return amount(2 * size).replace(" ", "").replace(",", "").removesuffix("bytes")


def _refuse(found: os.stat_result, path: str | Path, allowed: int) -> None:
    _refuse_special(found.st_mode, path)
    if found.st_size > allowed:
        raise too_large(path, allowed, found.st_size)


def _refuse_special(mode: int, path: str | Path) -> None:
    if stat.S_ISREG(mode):
        return
    kind = next((name for test, name in _KINDS if test(mode)), "something else")
    hint = "Evener reads regular files, and standard input if the name is -: `... | evener ... -`."
    raise InputError(f"is {kind}, not a file", file=path, hint=hint)


def _standard_input(most: int) -> bytes:
    stream = sys.stdin
    file: IO[bytes] | None = getattr(stream, "buffer", None)
    if file is None or file.closed:
        raise InputError("is closed", file=STDIN)
    if stream not in _held:
        if _is_endless(file):
            raise InputError("is a device; a file or a pipe is needed", file=STDIN)
        try:
            _held[stream] = _read(file, 0, STDIN, limit(min(most, MOST_STDIN)))
        except OSError as error:
            reason = error.strerror or str(error)
            raise InputError(f"cannot be read: {reason}", file=STDIN) from error
    return _held[stream]


def _is_endless(file: IO[bytes]) -> bool:
    """Return whether standard input is a device such as /dev/zero, but not a terminal."""
    try:
        return stat.S_ISCHR(os.fstat(file.fileno()).st_mode) and not file.isatty()
    except OSError:  # a file in memory has no descriptor
        return False


def _read(file: IO[bytes], size: int, path: str | Path, allowed: int) -> bytes:
    """Read to the end: first `size` bytes at once, then bytes that were appended meanwhile."""
    try:
        first = file.read(size + 1) or b""
        if len(first) <= size:
            return first
        pieces, total = [first], len(first)
        while total <= allowed and (piece := file.read(min(_PIECE, allowed + 1 - total))):
            pieces.append(piece)
            total += len(piece)
        if total > allowed:
            raise too_large(path, allowed)
        return b"".join(pieces)
    except MemoryError as error:
        raise InputError("needs more memory than is available", file=path) from error


FileState = tuple[int, int, int]  # bytes, time of the last change [ns], inode


def state_of(path: str | Path) -> FileState:
    """Return values that change if a file is written to or replaced: size, time, inode.

    Raises InputError if the file does not exist.
    """
    try:
        found = Path(path).stat()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", file=path) from error
    return found.st_size, found.st_mtime_ns, found.st_ino
