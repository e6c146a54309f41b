"""Writes several files: all or none, and existing files only if they may be replaced."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from evener.errors import InputError, UsageError
from evener.files.writing import atomic_write, is_stdout, refusal, written_aside


def refuse_existing(paths: Iterable[str | Path], *, force: bool) -> None:
    """Raise UsageError if files exist, unless `force` allows replacing them.

    Devices, pipes and stdout hold nothing that could be lost. A folder with the name always raises
    InputError.
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
        raise UsageError(f"{there[0]} already exists{more}", hint="--force replaces what exists.")


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
