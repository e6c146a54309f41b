"""Private temporary folders; those that killed processes left are removed at the next start.

A folder belongs to the process that holds the lock on the file `owner` in it. The system releases
the lock when that process ends, however it ends, also on another computer that shares the folder;
so a folder whose lock is free has no owner.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from evener.files.writing import refusal

PREFIX = "evener-private-"
_LOCK = "owner"
_held: dict[Path, int] = {}


@contextmanager
def private_folder(where: str | Path | None = None) -> Iterator[Path]:
    """Yield an empty folder of ours, removed afterwards, in `where` or the temporary directory.

    First removes what ended processes of this user have left there. Raises OutputError where
    the disk is full, InputError where the folder cannot be made.
    """
    place = Path(tempfile.gettempdir() if where is None else where)
    remove_abandoned(place)
    try:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=place))
        _hold(folder)
    except OSError as error:
        raise refusal(error, place) from error
    try:
        yield folder
    finally:
        _remove(folder)


def remove_abandoned(place: Path) -> int:
    """Remove this user's private folders in `place` that have no owner; return how many."""
    removed = 0
    try:
        entries = [entry for entry in os.scandir(place) if entry.name.startswith(PREFIX)]
    except OSError:  # whoever writes there will be told
        return 0
    for entry in entries:
        with suppress(OSError):  # gone meanwhile, or in the hands of its owner
            if not entry.is_dir(follow_symlinks=False) or not _is_own(entry):
                continue
            lock = _locked(Path(entry.path) / _LOCK)
            if lock is not None:
                shutil.rmtree(entry.path, ignore_errors=True)
                os.close(lock)
                removed += 1
    return removed


def discard_folders() -> None:
    """Remove the folders in use: for a process about to be ended."""
    for folder in list(_held):
        _remove(folder)


def _is_own(entry: os.DirEntry[str]) -> bool:
    return not hasattr(os, "getuid") or entry.stat(follow_symlinks=False).st_uid == os.getuid()


def _hold(folder: Path) -> None:
    """Lock the folder; the lock has its name only when it is held, so that none is free by then."""
    early = folder / f"{_LOCK}.new"
    early.touch()
    lock = _locked(early)
    if lock is not None:
        _held[folder] = lock
        early.rename(folder / _LOCK)


def _locked(file: Path) -> int | None:
    """Return the open file, locked; None where this system has no locks. Raises OSError if held."""
    try:
        import fcntl
    except ImportError:
        return None
    number = os.open(file, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(number)
        raise
    return number


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    lock = _held.pop(folder, None)
    if lock is not None:
        os.close(lock)
