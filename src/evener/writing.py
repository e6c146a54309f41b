"""Files that are either written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from evener.errors import InputError

_unfinished: set[str] = set()


@contextmanager
def atomic_write(path: str | Path) -> Iterator[IO[bytes]]:
    """Yield a binary file that takes the place of `path` when the block ends without error.

    The bytes go to a temporary file in the same folder, reach the disk, and are renamed: a
    kill at any moment leaves the old file or the new one. Raises InputError where the folder
    does not exist or cannot be written.
    """
    target = Path(path)
    if target.is_dir():
        raise InputError("is a folder; a file name is needed", file=target)
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot be written: {reason}", file=target) from error
    _unfinished.add(temporary)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        _take_usual_mode(temporary)
        Path(temporary).replace(target)
    finally:
        Path(temporary).unlink(missing_ok=True)
        _unfinished.discard(temporary)


def write_text(path: str | Path, text: str) -> None:
    """Write `text` as UTF-8, whole or not at all."""
    with atomic_write(path) as file:
        file.write(text.encode())


def discard_unfinished() -> None:
    """Remove the temporary files of writes under way: for a process about to be ended."""
    for temporary in list(_unfinished):
        Path(temporary).unlink(missing_ok=True)


def _take_usual_mode(temporary: str) -> None:
    # mkstemp makes files private; a plan is for the whole group that the umask allows.
    mask = os.umask(0)
    os.umask(mask)
    Path(temporary).chmod(0o666 & ~mask)
