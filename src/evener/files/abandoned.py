"""Finds and removes temporary files and folders that killed processes left behind.

Each belongs to the process that holds a lock: on the file itself, or on the file `owner` in the
folder. The system releases the lock when that process ends for any reason, also on another computer
that shares the disk; so if the lock is free, there is no owner. On systems without locks, nothing
is removed.
"""

from __future__ import annotations

import os
import re
import shutil
from contextlib import suppress
from pathlib import Path

FOLDER_PREFIX = "evener-private-"
FILE_PREFIX = ".evener-"
LOCK = "owner"  # name of the lock file in a folder
_FILE = re.compile(re.escape(FILE_PREFIX) + "[0-9a-f]{16}")
_swept: set[Path] = set()


def remove_abandoned(place: Path) -> int:
    """Remove this user's temporary files and folders in `place` that have no owner.

    Returns the number removed.
    """
    removed = 0
    try:
        entries = [entry for entry in os.scandir(place) if _is_temporary(entry.name)]
    except OSError:  # the next write there will report it
        return 0
    for entry in entries:
        with suppress(OSError):  # removed in the meantime, or in use
            removed += _removed(entry)
    return removed


def remove_abandoned_once(place: Path) -> None:
    """Like `remove_abandoned`, but only on the first call per folder, which may hold many files."""
    if place not in _swept:
        _swept.add(place)
        remove_abandoned(place)


def locked(file: Path) -> int | None:
    """Lock the file and return its descriptor; None if this system has no locks.

    Raises OSError if another process holds the lock.
    """
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


def _is_temporary(name: str) -> bool:
    return name.startswith(FOLDER_PREFIX) or _FILE.fullmatch(name) is not None


def _removed(entry: os.DirEntry[str]) -> bool:
    """Remove a file or folder that has no owner; return whether it was removed. Raises OSError."""
    is_folder = entry.name.startswith(FOLDER_PREFIX)
    is_kind = entry.is_dir if is_folder else entry.is_file
    if not is_kind(follow_symlinks=False) or not _is_own(entry):
        return False
    path = Path(entry.path)
    lock = locked(path / LOCK if is_folder else path)
    if lock is None:
        return False
    try:
        if is_folder:
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()
    finally:
        os.close(lock)
    return True


def _is_own(entry: os.DirEntry[str]) -> bool:
    return not hasattr(os, "getuid") or entry.stat(follow_symlinks=False).st_uid == os.getuid()
