"""The file of decisions: JSON lines, the first one what all began with, then one a decision."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

from evener.errors import EvenerError, InputError
from evener.filing.json_reading import loads
from evener.opening import is_stdin, open_input, read_bytes
from evener.rebalancing.diary_checks import is_amount, is_decision, is_head
from evener.rebalancing.states import Line, State, state_of
from evener.writing import refusal

VERSION = 1
_BEGIN = b'{"decisions": '


class Diary:
    """Writes each line at once; a program that is killed leaves all its decisions but the last.

    Raises InputError where the file cannot be written.
    """

    def __init__(self, path: str | Path | None, head: Mapping[str, Any]) -> None:
        self._path, self._file = path, None
        if path is not None:
            self._file = self._opened(Path(path))
            self.add({"decisions": VERSION, **head})

    def add(self, line: Line) -> None:
        """Write one line."""
        if self._file is None:
            return
        try:
            self._file.write(json.dumps(line, allow_nan=False) + "\n")
            self._file.flush()
        except OSError as error:
            raise self._failed(error) from error

    def close(self) -> None:
        """Close the file; what follows is not written."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _opened(self, path: Path) -> IO[str]:
        try:
            return path.open("w", encoding="utf-8")
        except OSError as error:
            raise self._failed(error) from error

    def _failed(self, error: OSError) -> EvenerError:
        return refusal(error, self._path)


class Decisions(NamedTuple):
    """A file of decisions: its head, the state it began with, and all lines after the head.

    cut: whether a last line was cut off, which is left out. path: of the file.
    """

    head: Line
    state: State
    lines: list[Line]
    cut: bool = False
    path: str = ""

    @property
    def names(self) -> list[str]:
        """The devices' names."""
        return [str(name) for name in self.head["names"]]


def is_decisions(path: str | Path) -> bool:
    """Whether a file begins as a file of decisions does."""
    try:
        if is_stdin(path):
            return read_bytes(path).startswith(_BEGIN)
        with open_input(path) as file:
            return file.read(len(_BEGIN)) == _BEGIN
    except (InputError, OSError):
        return False


def read_decisions(path: str | Path) -> Decisions:
    """Return what a file of decisions holds; a last line that was cut off is left out.

    Raises InputError with the line where the file is none.
    """
    *whole, rest = read_bytes(path).split(b"\n")
    rows = [_line(row, path, i) for i, row in enumerate(whole, start=1)]
    if not rows or rows[0].get("decisions") != VERSION:
        raise InputError(
            f"is no file of decisions of version {VERSION}",
            file=path,
            hint="Rebalancer(..., log=FILE) writes one.",
        )
    head, lines = rows[0], rows[1:]
    if not is_head(head):
        raise InputError("its head is none that decisions begin with", file=path, line=1)
    k = len(head["names"])
    for number, line in enumerate(lines, start=2):
        if not (is_amount(line["took"]) if "took" in line else is_decision(line, k)):
            message = "is neither a decision nor what a move took"
            raise InputError(message, file=path, line=number)
    return Decisions(head, state_of(head["state"]), lines, bool(rest), str(path))


def _line(row: bytes, path: str | Path, number: int) -> Line:
    try:
        line = loads(row)
    except (RecursionError, ValueError) as error:
        raise InputError(f"is no JSON: {error}", file=path, line=number) from error
    if not isinstance(line, dict):
        raise InputError("is no table", file=path, line=number)
    return line
