"""The two streams of a command: what cannot be written becomes an error that says so.

Where stdout is closed or full, writing raises OutputError; where its reader has gone, ReaderGone.
Where stderr is, remarks are lost and only the exit code tells: a remark is no result.
"""

from __future__ import annotations

import argparse
import codecs
import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Self, TextIO, cast

from evener.errors import EvenerError, OutputError, UsageError
from evener.files.writing import STDOUT, is_of_disk, is_stdout

# What is written where a terminal or a file cannot hold our signs: plain ones in their place.

PLAINLY = "evener.plainly"  # the name by which streams find the handler
SIGNS = {"µ": "u", "−": "-", "–": "-", "…": "...", "×": "x", "±": "+/-"}


def _plainly(error: UnicodeError) -> tuple[str, int]:
    """Return a plain sign for each of ours, and an escape for anything else."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    unknown = error.object[error.start : error.end]
    plain = [SIGNS.get(c) or c.encode("unicode_escape").decode() for c in unknown]
    return "".join(plain), error.end


codecs.register_error(PLAINLY, _plainly)


BROKEN_PIPE = 141  # what a shell says of a program that SIGPIPE ended: 128 + 13


class ReaderGone(Exception):  # noqa: N818 - no error: whoever read stdout has enough
    """The reader of stdout has ended."""


@contextmanager
def watched_streams() -> Iterator[None]:
    """Stand between the command and its streams, closed ones included, while it runs."""
    _occupy_closed()
    before = sys.stdout, sys.stderr
    # A stream that was closed when Python began is None, whatever its type says.
    out = cast(TextIO | None, sys.stdout) or _Closed()
    err = cast(TextIO | None, sys.stderr) or io.StringIO()
    for stream in (out, err):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=PLAINLY)  # a device may have any name
    try:
        sys.stdout, sys.stderr = cast(TextIO, Results(out)), cast(TextIO, Remarks(err))
        yield
    finally:
        sys.stdout, sys.stderr = before


@contextmanager
def stdout_for_data(taken: bool) -> Iterator[None]:
    """Where a file's bytes are to go to stdout, let all text go to stderr meanwhile."""
    if not taken:
        yield
        return
    before = sys.stdout
    try:
        sys.stdout = cast(TextIO, TextAside(before, sys.stderr))
        yield
    finally:
        sys.stdout = before


class _Stream:
    """A text stream like the one it stands before, but for what `write` and `flush` do."""

    def __init__(self, stream: TextIO | _Closed) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def give_up(self) -> None:
        """Let what is still to be written go nowhere: at its end, Python would try again."""
        with suppress(OSError, ValueError):  # it is closed, or no file
            number = self._stream.fileno()
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, number)
            os.close(nowhere)

    def writelines(self, lines: list[str]) -> None:
        """Write every line."""
        for line in lines:
            self.write(line)

    def write(self, text: str) -> int:
        """Write the text."""
        return self._stream.write(text)


class Results(_Stream):
    """stdout: raises OutputError where it cannot be written, ReaderGone where nobody reads."""

    @property
    def buffer(self) -> Self:
        """What takes bytes."""
        return self

    def write(self, text: str | bytes) -> int:
        """Write text, or bytes behind what text there is."""
        with self._explained():
            if isinstance(text, str):
                return self._stream.write(text)
            self._stream.flush()
            if not hasattr(self._stream, "buffer"):  # a notebook's, which takes text alone
                return self._stream.write(text.decode(errors="backslashreplace"))
            return self._stream.buffer.write(text)

    def flush(self) -> None:
        """Write what was held back."""
        with self._explained():
            self._stream.flush()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError as error:
            self.give_up()
            raise ReaderGone from error
        except OSError as error:
            self.give_up()
            reason = error.strerror or str(error)
            raise OutputError(f"stdout cannot be written: {reason}") from error


class TextAside(_Stream):
    """stdout while data goes there: its text goes to another stream, its bytes do not."""

    def __init__(self, stream: TextIO, text: TextIO) -> None:
        super().__init__(stream)
        self._text = text

    def write(self, text: str) -> int:
        """Write to the other stream."""
        return self._text.write(text)

    def flush(self) -> None:
        """Write what was held back, of both."""
        self._text.flush()
        self._stream.flush()


class Remarks(_Stream):
    """stderr: what cannot be written is left out; the exit code tells all the same."""

    def write(self, text: str) -> int:
        """Write the text if that is possible."""
        with self._tried():
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Write what was held back if that is possible."""
        with self._tried():
            self._stream.flush()

    @contextmanager
    def _tried(self) -> Iterator[None]:
        try:
            yield
        except OSError:
            self.give_up()


class _Closed(io.StringIO):
    """In place of a stdout that was closed when the program began: nothing can be written."""

    @property
    def buffer(self) -> Self:  # type: ignore[override]
        """What refuses bytes."""
        return self

    def write(self, text: str | bytes) -> int:
        """Refuse what there is."""
        if text:
            raise OSError(errno.EBADF, "it is closed")
        return 0


def _occupy_closed() -> None:
    """Open the null device where a standard stream is closed: the next file would be in its place.

    What a child process or a library prints would be written into that file.
    """
    if None not in (sys.__stdin__, sys.__stdout__, sys.__stderr__):
        return
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)


# Where a command's files go: `-` is stdout, which then holds nothing else.

# Names under which commands keep the files they are to write.
_OUTPUTS = ("output", "target", "report", "picture", "plot")


def takes_stdout(args: argparse.Namespace) -> bool:
    """Whether a file is to be written to stdout; its name in `args` becomes /dev/stdout.

    Raises UsageError where something else is to go there, too.
    """
    taken = False
    for name in _OUTPUTS:
        given = getattr(args, name, None)
        if not isinstance(given, str) or not (given == "-" or is_stdout(given)):
            continue
        if taken or args.json:
            other = "--json" if args.json else "another file"
            raise UsageError(
                f"stdout cannot take {given} and {other}", hint="Write one of them to a file."
            )
        setattr(args, name, STDOUT)
        taken = True
    return taken


def explained_disk(error: Exception) -> Exception:
    """Return an error of a disk as one that names the file, where Python knows it."""
    if isinstance(error, EvenerError) or not is_of_disk(error):
        return error
    assert isinstance(error, OSError)
    what = "cannot be written" if error.filename else "a file cannot be written"
    return OutputError(
        f"{what}: {error.strerror or error}",
        file=error.filename,
        hint="Make room on the disk, also where temporary files lie (TMPDIR).",
    )
