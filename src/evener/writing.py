"""Files that are either written whole or not at all."""

from __future__ import annotations

import logging
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from evener.errors import InputError

LOG = logging.getLogger(__name__)
FIXED_DATE = (1980, 1, 1, 0, 0, 0)  # of members of archives: equal contents, equal bytes

_unfinished: set[str] = set()


@contextmanager
def atomic_write(path: str | Path) -> Iterator[IO[bytes]]:
    """Yield a binary file that takes the place of `path` when the block ends without error.

    The bytes go to a temporary file in the same folder, reach the disk, and are renamed: a
    kill at any moment leaves the old file or the new one. A symbolic link stays one, and what it
    leads to is replaced; a device or a pipe, which cannot be replaced, is written to. Raises
    InputError where the folder does not exist, cannot be written, or has no room.
    """
    if "\0" in str(path):
        raise InputError(f"{str(path)!r} cannot be written: its name holds a zero byte")
    try:
        target = Path(os.path.realpath(path))
        special = target.exists() and not target.is_file()
        if target.is_dir():
            raise InputError("is a folder; a file name is needed", file=path)
        if special:
            with target.open("wb") as file:
                yield file
            return
        with _renamed_to(target) as file:
            yield file
    except BrokenPipeError:
        raise  # whoever reads has enough: no fault of the file
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot be written: {reason}", file=path) from error


def refuse_unwritable(path: str | Path) -> None:
    """Raise InputError where a file at `path` could not be written: before long work, not after."""
    target = Path(path)
    folder = target.parent
    if target.is_dir():
        raise InputError("is a folder; a file name is needed", file=path)
    if not folder.is_dir():
        raise InputError(f"cannot be written: there is no folder {folder}", file=path)
    if not target.exists() and not os.access(folder, os.W_OK | os.X_OK):
        raise InputError("cannot be written: Permission denied", file=path)


def write_text(path: str | Path, text: str) -> None:
    """Write `text` as UTF-8, whole or not at all. Raises InputError where UTF-8 cannot write it."""
    try:
        content = text.encode()
    except UnicodeEncodeError as error:
        message = "cannot be written: a name in it holds what UTF-8 has no form for"
        raise InputError(message, file=path) from error
    with atomic_write(path) as file:
        file.write(content)


def discard_unfinished() -> None:
    """Remove the temporary files of writes under way: for a process about to be ended."""
    for temporary in list(_unfinished):
        Path(temporary).unlink(missing_ok=True)


@contextmanager
def _renamed_to(target: Path) -> Iterator[IO[bytes]]:
    # Short, and not from the name, which may be as long as names can be.
    temporary = target.with_name(f".evener-{secrets.token_hex(8)}")
    _unfinished.add(str(temporary))
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
        LOG.debug("wrote %s", target)
    finally:
        # It may be gone: renamed, never made, or its folder made unreadable meanwhile.
        with suppress(OSError):
            temporary.unlink()
        _unfinished.discard(str(temporary))
