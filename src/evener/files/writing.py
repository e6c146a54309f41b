"""Writes files whole or not at all; also writes to stdout.

Of several files, all or none are written; existing files are replaced only if the caller allows it.
"""

from __future__ import annotations

import errno
import io
import logging
import os
import secrets
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

from evener.errors import EvenerError, InputError, OutputError, UsageError
from evener.files.abandoned import FILE_PREFIX, locked, remove_abandoned_once

LOG = logging.getLogger(__name__)
FIXED_DATE = (1980, 1, 1, 0, 0, 0)  # of archive members, so that equal contents give equal bytes
STDOUT = "/dev/stdout"
_STDOUT_TOO = (STDOUT, "/dev/fd/1", "/proc/self/fd/1")
# Faults of a disk, not of a name: only another disk would help.
_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG, errno.EROFS, errno.ESTALE)
ZEROS = 1 << 20  # bytes written at a time if the file system cannot reserve space
_unfinished: set[str] = set()


@contextmanager
def atomic_write(path: str | Path) -> Iterator[IO[bytes]]:
    """Yield a binary file that replaces `path` when the with-block ends without error.

    The bytes go to a temporary file in the same folder, are flushed to the disk, and the file is
    renamed: if the process is killed at any moment, either the old or the new file remains. A
    symbolic link is kept, and its target is replaced; devices and pipes, which cannot be replaced,
    are written to directly, and stdout gets all bytes at the end. Raises InputError if the folder
    does not exist or is not writable, OutputError if the disk is full, read only or broken.
    """
    if is_stdout(path):
        content = io.BytesIO()
        yield content
        _to_stdout(content.getvalue())
        return
    if "\0" in str(path):
        raise InputError(f"{str(path)!r} cannot be written: its name contains a zero byte")
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
        raise  # the reader of stdout has closed the pipe: not a fault of the file
    except OSError as error:
        raise refusal(error, path) from error


def is_stdout(path: str | Path) -> bool:
    """Return whether `path` is this process's stdout."""
    return str(path) in _STDOUT_TOO


def refusal(
    error: OSError,
    path: str | Path | None,
    what: str = "cannot be written",
    *,
    hint: str | None = None,
) -> EvenerError:
    """Return the error to raise if writing `path` failed: OutputError for a fault of the disk.

    hint: further information, such as the data that was saved.
    """
    message = f"{what}: {error.strerror or error}"
    if not is_of_disk(error):
        return InputError(message, file=path, hint=hint)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        hint = " ".join(filter(None, [hint, "Free disk space, or write to another disk."]))
    return OutputError(message, file=path, hint=hint)


def is_of_disk(error: BaseException) -> bool:
    """Return whether an error means that a disk is full, read only or broken."""
    return isinstance(error, OSError) and error.errno in _DISK


def take_room(file: IO[bytes], n_bytes: int) -> None:
    """Set a file's length and reserve its disk space, before it is mapped into memory.

    If a mapped file has no disk space, a write does not fail with an error: the system kills the
    process (SIGBUS). Raises OSError if the disk is full, or does not allow files of this size.
    """
    if hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(file.fileno(), 0, n_bytes)
        except OSError as error:
            if is_of_disk(error):
                raise
        else:
            return
    file.seek(0)  # the file system cannot reserve space
    for start in range(0, n_bytes, ZEROS):
        file.write(bytes(min(ZEROS, n_bytes - start)))
    file.flush()


def refuse_binary(path: str | Path) -> None:
    """Raise UsageError if `path` is a terminal, which would display the bytes."""
    if is_stdout(path) and sys.stdout.isatty():
        raise UsageError(
            "the output is binary, but stdout is a terminal",
            hint="Redirect it to a file or a pipe.",
        )


def _to_stdout(content: bytes) -> None:
    if not _is_text(content):
        refuse_binary(STDOUT)
    sys.stdout.buffer.write(content)
    sys.stdout.flush()


def _is_text(content: bytes) -> bool:
    try:
        return "\0" not in content.decode()
    except UnicodeDecodeError:
        return False


def refuse_unwritable(path: str | Path) -> None:
    """Raise InputError if a file at `path` could not be written; called before long work."""
    if is_stdout(path):
        return
    target = Path(path)
    folder = target.parent
    if target.is_dir():
        raise InputError("is a folder; a file name is needed", file=path)
    if not folder.is_dir():
        raise InputError(f"cannot be written: folder {folder} does not exist", file=path)
    if not target.exists() and not os.access(folder, os.W_OK | os.X_OK):
        if hasattr(os, "statvfs") and os.statvfs(folder).f_flag & os.ST_RDONLY:
            raise OutputError("cannot be written: Read-only file system", file=path)
        raise InputError("cannot be written: Permission denied", file=path)


def write_text(path: str | Path, text: str) -> None:
    """Write `text` as UTF-8, whole or not at all. Raises InputError if it cannot be encoded."""
    try:
        content = text.encode()
    except UnicodeEncodeError as error:
        message = "cannot be written: the text contains a name that UTF-8 cannot encode"
        raise InputError(message, file=path) from error
    with atomic_write(path) as file:
        file.write(content)


def discard_unfinished() -> None:
    """Remove the temporary files of unfinished writes; for a process that is about to be ended."""
    for temporary in list(_unfinished):
        Path(temporary).unlink(missing_ok=True)


@contextmanager
def written_aside(target: Path) -> Iterator[Path]:
    """Yield an empty file next to `target`, which is removed afterwards unless it was renamed.

    `discard_unfinished` removes it, too; if this process is killed, the next process that writes to
    the folder removes it. Raises OSError if the file cannot be created.
    """
    remove_abandoned_once(target.parent)
    # A short name that does not contain the target's name, which may have the maximum length.
    temporary = target.with_name(f"{FILE_PREFIX}{secrets.token_hex(8)}")
    _unfinished.add(str(temporary))
    lock = None
    try:
        lock = _made(temporary)
        yield temporary
    finally:
        if lock is not None:
            os.close(lock)
        # It may be gone: renamed, never made, or its folder made unreadable meanwhile.
        with suppress(OSError):
            temporary.unlink()
        _unfinished.discard(str(temporary))


def _made(temporary: Path) -> int | None:
    """Create an empty file and return its locked descriptor; None if there are no locks.

    The file gets its final name only once it is locked, so other processes never see it unlocked.
    """
    early = temporary.with_name(f"{temporary.name}.new")
    os.close(os.open(early, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    lock = None
    with suppress(OSError):  # other processes cannot lock it there either, so they do not remove it
        lock = locked(early)
    try:
        early.rename(temporary)
    except BaseException:
        early.unlink(missing_ok=True)
        if lock is not None:
            os.close(lock)
        raise
    return lock


@contextmanager
def _renamed_to(target: Path) -> Iterator[IO[bytes]]:
    with written_aside(target) as temporary:
        with temporary.open("r+b") as file:  # writers of large files read their output again
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
        LOG.debug("wrote %s", target)


def refuse_existing(paths: Iterable[str | Path], *, force: bool) -> None:
    """Raise UsageError if files exist, unless `force` allows replacing them.

    Devices, pipes and stdout hold nothing that could be lost. A folder at one of the paths always
    raises InputError.
    """
    there = []
    for path in map(Path, paths):
        if is_stdout(path):
            continue
        if path.is_dir():
            raise InputError("is a folder; a file name is needed", file=path)
        if path.is_symlink() or path.is_file():
            there.append(path)
    if there and not force:
        more = f", and {len(there) - 1:,} more files" if len(there) > 1 else ""
        raise UsageError(
            f"{there[0]} already exists{more}", hint="--force replaces existing files."
        )


def write_together(
    folder: str | Path, files: Mapping[str, Iterable[bytes]], *, force: bool = False
) -> list[Path]:
    """Write `files`, pieces of bytes by path relative to `folder`; return their full paths.

    Creates folders as needed. Every file is first written under a temporary name; when all are
    complete, they are renamed in the given order. An error leaves no new file or folder behind. If
    the process is killed between two renames, some of the files exist, each complete. Raises
    UsageError if a file exists and `force` is false, InputError and OutputError as in
    `atomic_write`.
    """
    paths = [Path(folder, name) for name in files]
    refuse_existing(paths, force=force)
    if len(paths) == 1 and (is_stdout(paths[0]) or paths[0].parent.is_dir()):
        with atomic_write(paths[0]) as file:
            file.writelines(*files.values())
        return paths
    with ExitStack() as stack:
        aside = []
        for path, pieces in zip(paths, files.values(), strict=True):
            stack.enter_context(_folders_for(path))
            aside.append(stack.enter_context(_written(path, pieces)))
        _rename(aside, paths)
    return paths


@contextmanager
def _folders_for(path: Path) -> Iterator[None]:
    """Create the folders that `path` needs; after an error in the block, remove empty ones."""
    missing = [parent for parent in path.parents if not parent.exists()]
    try:
        for parent in reversed(missing):
            parent.mkdir(exist_ok=True)
        yield
    except BaseException as error:
        for parent in missing:
            with suppress(OSError):
                parent.rmdir()
        if isinstance(error, OSError):
            raise refusal(error, path) from error
        raise


@contextmanager
def _written(path: Path, pieces: Iterable[bytes]) -> Iterator[Path]:
    """Write `pieces` to a temporary file next to `path`, and yield it; remove it unless renamed."""
    try:
        with written_aside(Path(os.path.realpath(path))) as temporary:
            with temporary.open("r+b") as file:
                file.writelines(pieces)
                file.flush()
                os.fsync(file.fileno())
            yield temporary
    except OSError as error:
        raise refusal(error, path) from error


def _rename(aside: list[Path], paths: list[Path]) -> None:
    """Rename all files; if a rename fails, remove the new files that were already renamed."""
    new: list[Path] = []
    try:
        for temporary, path in zip(aside, paths, strict=True):
            was_there = path.exists()
            temporary.replace(os.path.realpath(path))
            if not was_there:
                new.append(path)
    except BaseException:
        for path in new:
            path.unlink(missing_ok=True)
        raise
