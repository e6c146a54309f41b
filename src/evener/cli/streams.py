"""Wrap stdout and stderr while a command runs, so that failed writes become plain errors.

Writing to a closed or full stdout raises OutputError; to a pipe without a reader, ReaderGone. Text
that cannot be written to stderr is dropped: results go to stdout only, and the exit code still
reports failure.
"""

from __future__ import annotations

import codecs
import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Self, TextIO, cast

from evener.errors import EvenerError, OutputError
from evener.files.writing import is_of_disk

PLAINLY = "evener.plainly"  # name of the codec error handler below
# ASCII in place of the signs that Evener prints, for streams whose encoding lacks them.
SIGNS = {"µ": "u", "−": "-", "–": "-", "…": "...", "×": "x", "±": "+/-"}


def _plainly(error: UnicodeError) -> tuple[str, int]:
    """Return ASCII text in place of characters that a stream cannot encode.

    Characters in SIGNS have replacements; all others are escaped.
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    unknown = error.object[error.start : error.end]
    plain = [SIGNS.get(c) or c.encode("unicode_escape").decode() for c in unknown]
    return "".join(plain), error.end


codecs.register_error(PLAINLY, _plainly)


BROKEN_PIPE = 141  # what a shell says of a program that SIGPIPE ended: 128 + 13


class ReaderGone(Exception):  # noqa: N818 - not an error: `evener ... | head` is in order
    """The process that reads stdout has ended."""


@contextmanager
def watched_streams() -> Iterator[None]:
    """Context manager: replace sys.stdout and sys.stderr by the wrappers below."""
    _occupy_closed()
    before = sys.stdout, sys.stderr
    # A stream that was closed when Python began is None, whatever its type says.
    out = cast(TextIO | None, sys.stdout) or _Closed()
    err = cast(TextIO | None, sys.stderr) or io.StringIO()
    for stream in (out, err):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=PLAINLY)  # names of devices hold any characters
    try:
        sys.stdout, sys.stderr = cast(TextIO, Results(out)), cast(TextIO, Remarks(err))
        yield
    finally:
        sys.stdout, sys.stderr = before


@contextmanager
def stdout_for_data(taken: bool) -> Iterator[None]:
    """Context manager: if a file is written to stdout (taken), send all text to stderr."""
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
    """Wrapper of a text stream; subclasses change `write` and `flush`."""

    def __init__(self, stream: TextIO | _Closed) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def give_up(self) -> None:
        """Redirect the file to the null device, because Python flushes again when it exits."""
        with suppress(OSError, ValueError):  # closed, or without a file number
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
    """stdout: raises OutputError if it cannot be written, ReaderGone without a reader."""

    @property
    def buffer(self) -> Self:
        """Return the stream for bytes, which is this one."""
        return self

    def write(self, text: str | bytes) -> int:
        """Write text or bytes, in the order of the calls."""
        with self._explained():
            if isinstance(text, str):
                return self._stream.write(text)
            self._stream.flush()
            if not hasattr(self._stream, "buffer"):  # a notebook's stream takes text only
                return self._stream.write(text.decode(errors="backslashreplace"))
            return self._stream.buffer.write(text)

    def flush(self) -> None:
        """Write the buffered text or bytes."""
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
    """stdout while a file is written to it: text goes to another stream, bytes to stdout."""

    def __init__(self, stream: TextIO, text: TextIO) -> None:
        super().__init__(stream)
        self._text = text

    def write(self, text: str) -> int:
        """Write text to the other stream."""
        return self._text.write(text)

    def flush(self) -> None:
        """Write the buffered data of both streams."""
        self._text.flush()
        self._stream.flush()


class Remarks(_Stream):
    """stderr: drops text that cannot be written."""

    def write(self, text: str) -> int:
        """Write the text if that is possible."""
        with self._tried():
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Write the buffered text if that is possible."""
        with self._tried():
            self._stream.flush()

    @contextmanager
    def _tried(self) -> Iterator[None]:
        try:
            yield
        except OSError:
            self.give_up()


class _Closed(io.StringIO):
    """Replaces a stdout that was closed when the program began: writing raises OSError."""

    @property
    def buffer(self) -> Self:  # type: ignore[override]
        """Return the stream for bytes, which is this one."""
        return self

    def write(self, text: str | bytes) -> int:
        """Raise OSError for any text or bytes."""
        if text:
            raise OSError(errno.EBADF, "it is closed")
        return 0


def _occupy_closed() -> None:
    """Open the null device in place of each standard stream that is closed.

    Otherwise the next file opened would get the number of the closed stream, and a child process
    that prints would write into that file.
    """
    if None not in (sys.__stdin__, sys.__stdout__, sys.__stderr__):
        return
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)


def explained_disk(error: Exception) -> Exception:
    """Return an OutputError for an OSError of a full or broken disk; other errors unchanged."""
    if isinstance(error, EvenerError) or not is_of_disk(error):
        return error
    assert isinstance(error, OSError)
    what = "cannot be written" if error.filename else "a file cannot be written"
    return OutputError(
        f"{what}: {error.strerror or error}",
        file=error.filename,
        hint="Free disk space, also in the folder of temporary files (TMPDIR).",
    )
