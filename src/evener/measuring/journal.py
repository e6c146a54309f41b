"""The journal of a measurement, which stores every outcome on disk as soon as it is known.

It is a file of JSON lines next to the file of results: first the settings, then one outcome per
line. After an interruption, the same command continues from it. Loads with an incomplete line are
measured again. Loads that failed are, too, because the kernel may have been repaired meanwhile,
unless they did not fit in memory.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from evener.errors import EvenerError, InputError
from evener.files.opening import read_bytes
from evener.files.writing import refusal
from evener.measuring.outcomes import Gap, Outcome, Point
from evener.platforms.models.samples import Sample
from evener.running.comm import Comm

VERSION = 1  # of the journal's format


class Journal:
    """Outcomes by device and load, initially those of an interrupted run.

    path: None: outcomes are only in memory. settings: must be equal for outcomes to be reused.
    Raises InputError if the file belongs to another measurement, is not a journal, or cannot be
    written; OutputError if the disk is full.
    """

    def __init__(self, path: str | Path | None, settings: Mapping[str, Any]) -> None:
        self._path = None if path is None else Path(path)
        self._file: IO[bytes] | None = None
        self._head: dict[str, Any] = {}
        self._known: dict[tuple[str, int], Outcome] = {}
        if self._path is not None:
            self._open(json.loads(json.dumps(settings)))
        self.n_found = self._n_written = len(self._known)

    @property
    def has_points(self) -> bool:
        """Whether any load was measured."""
        return any(isinstance(outcome, Point) for outcome in self._known.values())

    @property
    def kept(self) -> str | None:
        """A hint for errors: how many outcomes the file contains; None if it contains none."""
        if not self._n_written:
            return None
        return (
            f"{self._path} contains {self._n_written:,} outcomes; repeat the command to continue."
        )

    def get(self, device: str, load: int) -> Outcome | None:
        """Return the outcome of a load, or None if it was not measured."""
        return self._known.get((device, load))

    def add(self, device: str, outcome: Outcome) -> None:
        """Add an outcome; it is on disk when this returns."""
        self._known[device, round(outcome.load)] = outcome
        kind = "point" if isinstance(outcome, Point) else "gap"
        self._write({"device": device, kind: asdict(outcome)})

    def share(self, comm: Comm) -> None:
        """Replace the outcomes of every rank by those of rank 0, which reads the file."""
        self._known = comm.bcast(self._known)

    def aside(self, name: str) -> Aside:
        """Return a named part of the journal, with separate outcomes for devices and loads."""
        return Aside(self, name)

    def close(self, *, discard: bool = False) -> None:
        """Close the file; discard: remove it, because the results have been written."""
        if self._file is not None:
            with suppress(OSError):  # an error of a full disk was raised when the line was written
                self._file.close()
            self._file = None
            if discard and self._path is not None:
                self._path.unlink(missing_ok=True)

    def _open(self, settings: Mapping[str, Any]) -> None:
        """Read an existing file up to its last complete line; `add` creates a new file."""
        assert self._path is not None
        self._head = {"journal": VERSION, "settings": settings}
        try:
            text = read_bytes(self._path) if self._path.exists() else b""
            whole = text[: text.rfind(b"\n") + 1]
            if whole:
                self._read(whole, settings)
                self._file = _locked(self._path.open("r+b"), self._path)
                self._file.truncate(len(whole))
                self._file.seek(len(whole))
        except OSError as error:
            raise self._refused(error) from error

    def _read(self, text: bytes, settings: Mapping[str, Any]) -> None:
        for number, line in enumerate(text.splitlines(), start=1):
            try:
                entry = json.loads(line)
                if number == 1:
                    found = dict(entry["settings"])
                else:
                    self._take_in(entry["device"], _outcome(entry))
            except (
                ArithmeticError, KeyError, TypeError, ValueError, RecursionError, InputError
            ) as error:  # fmt: skip
                raise InputError(
                    f"not a journal of measurements: {type(error).__name__}: {error}",
                    file=self._path,
                    line=number,
                    hint="Remove the file to measure everything again.",
                ) from error
            if number == 1:
                self._compare(found, settings)

    def _take_in(self, device: str, outcome: Outcome) -> None:
        """Store an outcome unless its load is to be tried again; later lines replace earlier."""
        key = device, round(outcome.load)
        self._known.pop(key, None)
        if isinstance(outcome, Point) or outcome.kind == "memory":
            self._known[key] = outcome

    def _compare(self, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
        differ = [key for key in wanted if found.get(key) != wanted[key]]
        if differ:
            key = differ[0]
            raise InputError(
                f"the journal belongs to another measurement: {key} was {found.get(key)!r}, "
                f"now it is {wanted[key]!r}",
                file=self._path,
                hint="Repeat that command to finish it, remove the file, or write to another file.",
            )

    def _write(self, entry: Mapping[str, Any]) -> None:
        if self._path is None:
            return
        try:
            if self._file is None:
                self._file = _locked(self._path.open("ab"), self._path)
                self._file.truncate(0)
                self._file.write(json.dumps(self._head).encode() + b"\n")
            self._file.write(json.dumps(entry).encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise self._refused(error) from error
        self._n_written += 1

    def _refused(self, error: OSError) -> EvenerError:
        return refusal(error, self._path, "the journal cannot be written", hint=self.kept)


def _locked(file: IO[bytes], path: Path) -> IO[bytes]:
    """Return the file, locked until closed. Raises InputError if another process locked it."""
    try:
        import fcntl
    except ImportError:  # not available on this system
        return file
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise InputError("another process is writing this journal", file=path) from None
    return file


class Aside:
    """A part of a journal for outcomes under other conditions, such as measuring alone."""

    def __init__(self, journal: Journal, name: str) -> None:
        self._journal, self._name = journal, name

    def get(self, device: str, load: int) -> Outcome | None:
        """Return the outcome of a load, or None if it was not measured."""
        return self._journal.get(f"{device} {self._name}", load)

    def add(self, device: str, outcome: Outcome) -> None:
        """Add an outcome; it is on disk when this returns."""
        self._journal.add(f"{device} {self._name}", outcome)


def _outcome(entry: Mapping[str, Any]) -> Outcome:
    if "gap" in entry:
        return Gap(**entry["gap"])
    point = entry["point"]
    return Point(**{**point, "sample": Sample(**point["sample"])})
