"""Private temporary folders; folders of killed processes are removed at the next start."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from evener.files.abandoned import FOLDER_PREFIX, LOCK, locked, remove_abandoned
from evener.files.writing import refusal

_held: dict[Path, int] = {}


@contextmanager
def private_folder(where: str | Path | None = None) -> Iterator[Path]:
    """Yield an empty private folder in `where` or the temporary directory, removed afterwards.

    First removes folders that ended processes of this user left there. Raises OutputError if the
    disk is full, InputError if the folder cannot be created.
    """
    place = Path(tempfile.gettempdir() if where is None else where)
    remove_abandoned(place)
    try:
        folder = Path(tempfile.mkdtemp(prefix=FOLDER_PREFIX, dir=place))
        _hold(folder)
    except OSError as error:
        raise refusal(error, place) from error
    try:
        yield folder
    finally:
        _remove(folder)


def discard_folders() -> None:
    """Remove the folders in use; for a process that is about to be ended."""
    for folder in list(_held):
        _remove(folder)


def _hold(folder: Path) -> None:
    """Lock the folder. The lock file gets its final name only once it is locked.

    Otherwise other processes could see it unlocked.
    """
    early = folder / f"{LOCK}.new"
    early.touch()
    lock = locked(early)
    if lock is not None:
        _held[folder] = lock
        early.rename(folder / LOCK)


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    lock = _held.pop(folder, None)
    if lock is not None:
        os.close(lock)
