"""Print results: sentences and tables, or one JSON object with --json.

--verbose prints every step with its time to stderr: the records of the logger `evener`. Python
programs enable the same by `logging.getLogger("evener")`.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, TextIO

from evener.cli.table_layout import table_lines, terminal_width, wrapped
from evener.errors import EvenerError
from evener.files.steps import name_of
from evener.wording import printable

LOG = logging.getLogger("evener")


class _Timed(logging.Formatter):
    """Formats a record with the seconds since the command began."""

    def __init__(self) -> None:
        super().__init__()
        self._began = time.time()

    def format(self, record: logging.LogRecord) -> str:
        return f"{max(record.created - self._began, 0):8.3f} s  {record.getMessage()}"


@contextmanager
def shown_steps(*, wanted: bool) -> Iterator[None]:
    """Context manager: print all of evener's log records to stderr, if wanted."""
    if not wanted:
        yield
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Timed())
    before = LOG.level
    LOG.addHandler(handler)
    LOG.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        LOG.removeHandler(handler)
        LOG.setLevel(before)


BAR = 12  # columns of a progress bar
SHOWN_AFTER = 1.0  # [s]: shorter work shows no bar


class Output:
    """Writes results to stdout and everything else to stderr, according to --json and --quiet."""

    def __init__(self, *, json: bool = False, quiet: bool = False, verbose: bool = False) -> None:
        self.is_json = json
        self.is_quiet = quiet
        self.is_verbose = verbose  # steps are logged as they begin, so there is no bar
        self._bar: Progress | None = None
        self._noted = set[str]()
        self._waits = self._waited = False

    @property
    def width(self) -> int | None:
        """Columns of the terminal; None if stdout is not a terminal."""
        return terminal_width(sys.stdout)

    def say(self, text: str, *, hang: int = 2, verbatim: bool = False) -> None:
        """Print text; print nothing with --json or --quiet.

        On a terminal long lines are broken between words, and continue indented by `hang`.
        verbatim: break no line, for drawings and texts to be copied.
        """
        if not self.is_silent:
            self.wait_for("")
            text = printable(text, "\n")
            print(text if verbatim else _broken(text, sys.stdout, hang))  # noqa: T201

    def note(self, text: str) -> None:
        """Print a note to stderr; print nothing with --quiet."""
        self._noted.add(text.removeprefix("note: "))
        if not self.is_quiet:
            self.wait_for("")
            print(_broken(printable(text, "\n"), sys.stderr), file=sys.stderr)  # noqa: T201

    def has_noted(self, text: str) -> bool:
        """Whether this note was already printed, so that a summary can omit it."""
        return text in self._noted

    def result(self, value: Mapping[str, Any]) -> None:
        """Print the one JSON object; print nothing without --json."""
        if self.is_json:
            print(json.dumps(value, default=_plain, allow_nan=False))  # noqa: T201

    @property
    def is_silent(self) -> bool:
        """Whether sentences and tables are not printed: with --json or --quiet."""
        return self.is_json or self.is_quiet

    def table(
        self,
        columns: Sequence[str],
        rows: Sequence[Sequence[Any]],
        *,
        most: int | None = None,
        what: str = "",
    ) -> None:
        """Print a table as wide as the terminal allows; print nothing with --json or --quiet.

        most: maximum number of rows; a last line states how many more of `what` there are.
        """
        if self.is_silent:
            return
        self.wait_for("")
        cut = list(rows[:most])
        if len(rows) > len(cut):
            more = f"... and {len(rows) - len(cut):,} more {what}".rstrip()
            cut.append([more, *[""] * (len(columns) - 1)])
        bold = sys.stdout.isatty() and _colours() is not None
        for line in table_lines(columns, cut, self.width):
            print(f"\x1b[1m{line.text}\x1b[0m" if bold and line.is_heading else line.text)  # noqa: T201

    @contextmanager
    def progress(self, what: str) -> Iterator[Progress]:
        """Show a bar with the remaining time, after one second, if stderr is a terminal."""
        self.wait_for("")
        shown = sys.stderr.isatty() and not (self.is_quiet or self.is_json or self.is_verbose)
        bar = Progress(what, shown=shown)
        self._bar = bar if shown else None
        LOG.info("%s", what)
        began = time.monotonic()
        try:
            yield bar
            LOG.info("%s: took %.3f s", what, time.monotonic() - began)
        finally:
            self._bar = None
            bar.close()

    def wait_for(self, text: str, seconds: float = 0.0, detail: str = "") -> None:
        """Show what the command waits for, next to the progress bar if there is one; "" removes it.

        seconds: waiting time so far; detail: progress, shown after the text. If stderr is not a
        terminal, the text is printed once, as a line. Nothing is shown with --quiet.
        """
        if self.is_quiet or self.is_verbose or not (text or self._waits):
            return
        whole = f"{text}, {detail}" if detail else text
        shown = f"{whole} ({seconds:.0f} s so far)" if text else ""
        if self._bar is not None:
            self._bar.wait_for(shown)
        elif sys.stderr.isatty():
            # Go back to the start of the line, and clear it.
            print(f"\r\x1b[K{shown}", end="", file=sys.stderr, flush=True)  # noqa: T201
        elif not self._waited:
            print(text, file=sys.stderr, flush=True)  # noqa: T201
        self._waits, self._waited = bool(text), True

    def trace(self, error: BaseException) -> None:
        """Print the traceback of an error."""
        import traceback

        traceback.print_exception(error, file=sys.stderr)

    def error(self, error: EvenerError) -> None:
        """Print an error in one to three lines: file, message, hint."""
        print(_broken(f"evener: {error}", sys.stderr), file=sys.stderr)  # noqa: T201

    def unexpected(self, error: BaseException) -> None:
        """Print an error that is a bug in Evener."""
        name = type(error).__name__
        print(  # noqa: T201
            f"evener: unexpected {name}: {error}\nThis is a bug in evener. --debug shows where.",
            file=sys.stderr,
        )


class Progress:
    """A bar of named steps, shown after one second; call it with (step, fraction done)."""

    def __init__(self, what: str, *, shown: bool) -> None:
        self._what, self._step, self._fraction, self._waits_for = printable(what), "", 0.0, ""
        self._bar: Any = None
        self._task: Any = None
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        if shown:
            # A timer, as a long step does not call in between.
            self._timer = threading.Timer(SHOWN_AFTER, self._open)
            self._timer.daemon = True
            self._timer.start()

    def __call__(self, step: str, fraction: float) -> None:
        """Show that `step` begins, when `fraction` of all the work is done.

        A step may be reported again with its progress, `a step, 3 MiB read`; it is logged once.
        """
        if name_of(step) != name_of(self._step):
            LOG.info("%s: %s", self._what, name_of(step))
        with self._lock:
            self._step, self._fraction = step, fraction
            self._update()

    def wait_for(self, text: str) -> None:
        """Show what the step waits for; "" removes it."""
        with self._lock:
            self._waits_for = text
            self._update()

    def close(self) -> None:
        """Remove the bar."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            if self._bar is not None:
                self._bar.stop()
                self._bar = None

    def _open(self) -> None:
        from rich import progress
        from rich.console import Console
        from rich.table import Column

        with self._lock:
            if self._timer is None:  # closed in the meantime
                return
            # The text comes last: of a narrow terminal it alone is cut, at its end.
            whole = Column(ratio=1, no_wrap=True, overflow="ellipsis")
            self._bar = progress.Progress(
                progress.BarColumn(BAR),
                progress.TimeElapsedColumn(),
                progress.TextColumn("left"),
                progress.TimeRemainingColumn(),
                progress.TextColumn("{task.description}", markup=False, table_column=whole),
                expand=True,
                console=Console(stderr=True, color_system=_colours()),
                transient=True,
            )
            self._task = self._bar.add_task(self._what, total=1.0)
            self._bar.start()
            self._update()

    def _update(self) -> None:
        if self._bar is not None:
            parts = [part for part in (self._step, self._waits_for) if part]
            text = f"{self._what}: {', '.join(parts)}" if parts else self._what
            self._bar.update(self._task, completed=self._fraction, description=text)


def _broken(text: str, stream: TextIO, hang: int = 2) -> str:
    """Return the text with long lines broken, if the stream is a terminal."""
    width = terminal_width(stream)
    if width is None:
        return text
    return "\n".join(part for line in text.split("\n") for part in wrapped(line, width, hang))


def _colours() -> Literal["auto"] | None:
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") in ("dumb", "unknown")
    return None if plain else "auto"


def _plain(value: Any) -> Any:
    """Convert a NumPy value to lists and numbers."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no JSON form")
