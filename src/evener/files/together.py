"""Writes several files: all of them or none, and none that exists unless it may be replaced."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from evener.errors import InputError, UsageError
from evener.files.writing import atomic_write, is_stdout, refusal, written_aside


def refuse_existing(paths: Iterable[str | Path], *, force: bool) -> None:
    """Raise UsageError where files exist, unless `force` allows to replace them.

    Devices, pipes and stdout hold nothing that could be lost. A folder of the name is refused in
    any case, with InputError.
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

    Folders are made as needed. Every file is first written under another name, and all are
    renamed, in the order given, when the last is complete: an error leaves no file and no folder
    behind. A kill between two renames leaves some of the files, each of them whole.

    Raises UsageError where a file exists and `force` is not given, InputError and OutputError as
    of `atomic_write`.
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
    """Make the folders that `path` needs; an error in the block removes those that are empty."""
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
    """Write `pieces` beside `path`, to a file that is removed unless it was renamed."""
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
    """Rename all files, or remove those that were new where one cannot be renamed."""
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
