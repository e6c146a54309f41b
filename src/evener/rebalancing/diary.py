"""The file of decisions: JSON lines, the first one what all began with, then one a decision."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

from evener.errors import InputError
from evener.rebalancing.states import Line, State, state_of

VERSION = 1


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

    def _failed(self, error: OSError) -> InputError:
        reason = error.strerror or str(error)
        return InputError(f"cannot be written: {reason}", file=self._path)


class Decisions(NamedTuple):
    """A file of decisions: its head, the state it began with, and all lines after the head.

    cut: whether a last line was cut off, which is left out.
    """

    head: Line
    state: State
    lines: list[Line]
    cut: bool = False

    @property
    def names(self) -> list[str]:
        """The devices' names."""
        return [str(name) for name in self.head["names"]]


def is_decisions(path: str | Path) -> bool:
    """Whether a file begins as a file of decisions does."""
    try:
        with Path(path).open("rb") as file:
            return file.read(14) == b'{"decisions": '
    except OSError:
        return False


def read_decisions(path: str | Path) -> Decisions:
    """Return what a file of decisions holds; a last line that was cut off is left out.

    Raises InputError with the line where the file is none.
    """
    try:
        text = Path(path).read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot be read: {reason}", file=path) from error
    *whole, rest = text.split(b"\n")
    rows = [_line(row, path, i) for i, row in enumerate(whole, start=1)]
    if not rows or rows[0].get("decisions") != VERSION:
        raise InputError(
            f"is no file of decisions of version {VERSION}",
            file=path,
            hint="Rebalancer(..., log=FILE) writes one.",
        )
    head, lines = rows[0], rows[1:]
    try:
        state = state_of(head["state"])
        float(head["rebuild"]), float(head["noise_floor"])
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"its head lacks {error}", file=path, line=1) from error
    if not isinstance(head.get("names"), list) or len(head["names"]) != state.k:
        raise InputError("its head names other devices than it has", file=path, line=1)
    for i, line in enumerate(lines, start=2):
        _check(line, state.k, path, i)
    return Decisions(head, state, lines, bool(rest))


def _line(row: bytes, path: str | Path, number: int) -> Line:
    try:
        line = json.loads(row)
    except ValueError as error:
        raise InputError(f"is no JSON: {error}", file=path, line=number) from error
    if not isinstance(line, dict):
        raise InputError("is no table", file=path, line=number)
    return line


def _check(line: Line, k: int, path: str | Path, number: int) -> None:
    fine = _is_number(line["took"]) if "took" in line else _is_decision(line, k)
    if not fine:
        raise InputError("is neither a decision nor what a move took", file=path, line=number)


def _is_decision(line: Line, k: int) -> bool:
    times, decided = line.get("times"), line.get("decided")
    if not (isinstance(times, list) and len(times) == k and isinstance(decided, dict)):
        return False
    if not all(t is None or (_is_number(t) and t >= 0) for t in times):
        return False
    if not _is_state(line.get("state"), k):
        return False
    if not all(_is_number(decided.get(key)) for key in ("now", "saving", "regret", "cost")):
        return False
    choice, proposals = decided.get("choice"), line.get("proposals")
    if choice is None or decided.get("move") is None:
        return choice is None and decided.get("move") is None
    return (
        isinstance(choice, int)
        and isinstance(proposals, list)
        and 0 <= choice < len(proposals)
        and isinstance(proposals[choice], dict)
        and _is_number(proposals[choice].get("moved"))
    )


def _is_state(state: Any, k: int) -> bool:
    """Whether it is what holds from a line on, or None: as before."""
    if state is None:
        return True
    try:
        return isinstance(state, dict) and state_of(state).k == k
    except InputError:
        return False


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
