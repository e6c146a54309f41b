"""Rows of cells that are done, kept on disk as they come, so that a long run can be interrupted.

runs.jsonl in the folder of results: first the settings, then a line for each cell. The same command
goes on from it. A line that was cut off is of a cell that is run again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from evener.errors import InputError
from evener.files.opening import read_bytes
from papers.findings import Row

NAME = "runs.jsonl"


class KeptRows:
    """Rows by cell.

    folder: where NAME is or is made, with the folder; None keeps nothing. settings: what rows
    depend on. Raises InputError where the file is of other settings, is none, or cannot be written.
    """

    def __init__(self, folder: str | Path | None, settings: Mapping[str, Any]) -> None:
        self._path = None if folder is None else Path(folder) / NAME
        self._known: dict[str, list[Row]] = {}
        if self._path is not None:
            self._open(json.loads(json.dumps(settings)))
        self.n_found = len(self._known)

    def rows(self, cell: str, run: Callable[[], Sequence[Row]]) -> list[Row]:
        """Return the rows of a cell, run if they are not known."""
        if cell not in self._known:
            self._known[cell] = list(run())
            self._append({"cell": cell, "rows": self._known[cell]})
        return self._known[cell]

    def _open(self, settings: dict[str, Any]) -> None:
        assert self._path is not None
        try:
            self._path.parent.mkdir(exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot be made: {error.strerror}", file=self._path.parent) from error
        if not self._path.exists():
            self._append({"settings": settings})
            return
        content = read_bytes(self._path)
        lines = content.splitlines(keepends=True)
        whole = [line for line in lines if line.endswith(b"\n")]
        parsed = [self._parsed(line, i) for i, line in enumerate(whole, 1)]
        if not parsed:  # the first line was cut off
            self._path.unlink()
            self._append({"settings": settings})
            return
        if parsed[0].get("settings") != settings:
            raise InputError(
                "is of other settings or another version of Evener", file=self._path, line=1,
                hint="Name another folder, or remove this file to begin anew.",
            )  # fmt: skip
        for i, line in enumerate(parsed[1:], 2):
            if not (isinstance(line.get("cell"), str) and isinstance(line.get("rows"), list)):
                raise InputError("has no cell and rows", file=self._path, line=i)
            self._known[line["cell"]] = line["rows"]
        if len(whole) < len(lines):
            os.truncate(self._path, sum(map(len, whole)))

    def _parsed(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            found = json.loads(line)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise InputError("is no journal of this command", file=self._path, line=number)
        return found

    def _append(self, line: Mapping[str, Any]) -> None:
        if self._path is None:
            return
        try:
            with self._path.open("ab") as file:
                file.write(json.dumps(line).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}", file=self._path) from error
