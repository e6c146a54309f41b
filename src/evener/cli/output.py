"""What a command says: tables and sentences for people, one JSON object for machines."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from evener.errors import EvenerError


class Output:
    """Writes results to stdout and everything else to stderr, as --json and --quiet ask."""

    def __init__(self, *, json: bool = False, quiet: bool = False) -> None:
        self.is_json = json
        self.is_quiet = quiet

    def say(self, text: str) -> None:
        """Print a line for people; nothing with --json or --quiet."""
        if not (self.is_json or self.is_quiet):
            print(text)  # noqa: T201

    def note(self, text: str) -> None:
        """Print a remark to stderr; nothing with --quiet."""
        if not self.is_quiet:
            print(text, file=sys.stderr)  # noqa: T201

    def result(self, value: Mapping[str, Any]) -> None:
        """Print the one JSON object; nothing without --json."""
        if self.is_json:
            print(json.dumps(value, default=_plain, allow_nan=False))  # noqa: T201

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[Any]], title: str = "") -> None:
        """Print a table; numbers to the right. Nothing with --json or --quiet."""
        if self.is_json or self.is_quiet:
            return
        from rich.console import Console
        from rich.table import Table

        table = Table(title=title or None, title_justify="left", box=None, pad_edge=False)
        for i, column in enumerate(columns):
            numeric = all(not isinstance(row[i], str) for row in rows) or i > 0
            table.add_column(column, justify="right" if numeric else "left", no_wrap=True)
        for row in rows:
            table.add_row(*[cell if isinstance(cell, str) else f"{cell:,}" for cell in row])
        width = None if sys.stdout.isatty() else 120
        Console(file=sys.stdout, width=width, highlight=False).print(table)

    @contextmanager
    def progress(self, what: str) -> Iterator[Progress]:
        """Show a bar with the time left from one second on, where stderr is a terminal."""
        bar = Progress(what, shown=sys.stderr.isatty() and not (self.is_quiet or self.is_json))
        try:
            yield bar
        finally:
            bar.close()

    def error(self, error: EvenerError) -> None:
        """Print one to three lines: what, where, what to do."""
        print(f"evener: {error}", file=sys.stderr)  # noqa: T201

    def unexpected(self, error: BaseException) -> None:
        """Print what a bug looks like from outside."""
        name = type(error).__name__
        print(  # noqa: T201
            f"evener: unexpected {name}: {error}\nThis is a bug in evener. --debug shows where.",
            file=sys.stderr,
        )


class Progress:
    """A bar of named steps; call it with (step, fraction of the whole done)."""

    def __init__(self, what: str, *, shown: bool) -> None:
        import time

        self._what, self._shown, self._start = what, shown, time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __call__(self, step: str, fraction: float) -> None:
        """Say that `step` begins, `fraction` of all the work being done."""
        if not self._shown:
            return
        import time

        if self._bar is None:
            if time.monotonic() - self._start < 1.0 and fraction < 0.02:
                return
            self._open()
        self._bar.update(self._task, completed=fraction, description=f"{self._what}: {step}")

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _open(self) -> None:
        from rich import progress
        from rich.console import Console

        self._bar = progress.Progress(
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.TimeElapsedColumn(),
            progress.TextColumn("left"),
            progress.TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task(self._what, total=1.0)
        self._bar.start()


def _plain(value: Any) -> Any:
    """Turn NumPy values into JSON's."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no JSON form")
