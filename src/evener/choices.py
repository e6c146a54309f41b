"""Names that one chooses among: whoever writes another is told which there are, and the nearest."""

from __future__ import annotations

from collections.abc import Iterable

from evener.errors import UsageError
from evener.naming import meant

SHOWN = 40  # characters of what was written instead


def one_of(what: str, value: object, choices: Iterable[str]) -> str:
    """Return `value`, one of the names; `what` they are is said where it is none (UsageError)."""
    known = list(choices)
    if isinstance(value, str) and value in known:
        return value
    hint = f"There are: {', '.join(known)}."
    raise UsageError(f"there is no {what} {shown(value)}{did_you_mean(value, known)}", hint=hint)


def did_you_mean(value: object, known: Iterable[str]) -> str:
    """Return "; did you mean X?" of the name nearest to what was written, or nothing."""
    return meant(value[:SHOWN], known) if isinstance(value, str) else ""


def shown(value: object) -> str:
    """Return a value in quotes as it can be printed: short, on one line."""
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
