"""Every exception raised on purpose.

    EvenerError                 exit code   meaning
    |-- UsageError              2           the command or call is invalid
    |-- InputError              3           a file or an array is invalid
    |-- InfeasibleError         4           no solution exists
    |   |-- NotFoundError       4           no solution was found, but one may exist
    |   `-- MemoryShortError    4           the task needs more memory than allowed
    |-- ToolError               5           another program failed, crashed or ran out of time
    `-- OutputError             6           the disk is full, read only or broken, stdout is closed

A message says what is wrong; `file` and `line` say where; `hint` says what to do. Messages and
hints are one line of printable characters, of bounded length.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from evener.wording import meant, printable, shortened, without_part_of_escape

LONGEST = 400  # max. characters of a message, and of a hint
LONGEST_NAME = 300  # max. characters of a file's name; longer ones are cut in the middle


class EvenerError(Exception):
    """An error raised on purpose, with a message, a location, a hint and an exit code.

    is_everywhere: whether all ranks of a group are known to raise it.
    """

    exit_code = 1
    is_everywhere = False

    def __init__(
        self,
        message: str,
        *,
        file: str | Path | None = None,
        line: int | None = None,
        hint: str | None = None,
    ) -> None:
        self.message = shortened(message, LONGEST)
        super().__init__(self.message)
        self.file = None if file is None else str(file)
        self.line = line
        self.hint = None if hint is None else shortened(hint, LONGEST)

    @property
    def where(self) -> str:
        """The location as `file:line` or `file`, or an empty text."""
        if self.file is None:
            return ""
        name = printable(self.file)
        if len(name) > LONGEST_NAME:
            name = f"{name[: LONGEST_NAME // 3]}...{name[-LONGEST_NAME // 2 :]}"
        return name if self.line is None else f"{name}:{self.line}"

    def __str__(self) -> str:
        """One or two lines: location and message, then the hint."""
        head = f"{self.where}: {self.message}" if self.where else self.message
        return head if self.hint is None else f"{head}\n{self.hint}"


class UsageError(EvenerError):
    """The command or call is invalid: unknown tool, contradicting options."""

    exit_code = 2


class InputError(EvenerError):
    """A file or an array is invalid."""

    exit_code = 3


class InfeasibleError(EvenerError):
    """No solution exists; the message names the limit, and by how much it is exceeded."""

    exit_code = 4


class NotFoundError(InfeasibleError):
    """No solution was found, but one may exist (heavy vertices make it a bin-packing problem)."""


class MemoryShortError(InfeasibleError):
    """The task needs more memory than --memory allows: `needed` [B], including imported modules."""

    needed = 0.0


class ToolError(EvenerError):
    """Another program failed, crashed, ran out of time or returned nonsense."""

    exit_code = 5


class OutputError(EvenerError):
    """Output cannot be written: a disk is full, read only or broken, or stdout is closed."""

    exit_code = 6


SHOWN = 40  # max. characters of a value that `shown` quotes


def one_of(what: str, value: object, choices: Iterable[str]) -> str:
    """Return `value` if it is one of the choices.

    Otherwise raise UsageError that names all choices and the nearest.
    """
    known = list(choices)
    if isinstance(value, str) and value in known:
        return value
    hint = f"There are: {', '.join(known)}."
    raise UsageError(f"there is no {what} {shown(value)}{did_you_mean(value, known)}", hint=hint)


def did_you_mean(value: object, known: Iterable[str]) -> str:
    """Return "; did you mean X?" with the known name nearest to `value`, or an empty text."""
    return meant(value[:SHOWN], known) if isinstance(value, str) else ""


def shown(value: object) -> str:
    """Return a value's repr for an error message, cut to SHOWN characters."""
    text = repr(value)
    if len(text) <= SHOWN:
        return text
    closing = text[-1] if isinstance(value, str | bytes) else ""
    return f"{without_part_of_escape(text[:SHOWN])}...{closing}"
