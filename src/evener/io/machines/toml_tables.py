"""Checks the tables of TOML files and converts their values; errors state the line.

Each check of a value returns the converted value, or None if it is wrong. Numbers with a unit are
converted in decimal arithmetic, so that writing and reading a float restores it exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Context, Decimal, InvalidOperation, Overflow
from pathlib import Path
from typing import Any

from evener.errors import InputError
from evener.files.opening import named
from evener.io.machines.toml_syntax import TomlLines
from evener.wording import nearest

# 40 digits, twice a float's: conversions are rounded once, when the result becomes a float.
CONTEXT = Context(prec=40, Emin=-999999, Emax=999999, traps=[InvalidOperation, Overflow])
MOST_INDEX = 2**53
_MICRO, _GIGA = Decimal("1e-6"), Decimal("1e9")


def exact(text: str) -> Decimal | float:
    """Parse a TOML float without rounding; numbers beyond all floats become infinity or zero."""
    text = text.replace("_", "")  # TOML's digit separators
    rounded = float(text)
    if rounded == 0 or not math.isfinite(rounded):
        try:
            value = CONTEXT.create_decimal(text)
        except ArithmeticError:
            return rounded
        return value if value.is_finite() else rounded
    return CONTEXT.create_decimal(text)


def beta_of(gb_per_s: Decimal) -> float:
    """Convert a bandwidth [GB/s] to beta [s/B]."""
    return float(CONTEXT.divide(Decimal(1), CONTEXT.multiply(gb_per_s, _GIGA)))


def text_or_empty(value: Any) -> str | None:
    """Accept any text."""
    return value if isinstance(value, str) else None


def text(value: Any) -> str | None:
    """Accept a text that is not empty."""
    return value if isinstance(value, str) and value else None


def place(value: Any) -> str | None:
    """Accept a place such as site/node, without empty parts."""
    fine = isinstance(value, str) and all(part.strip() for part in value.split("/"))
    return value if fine else None


def real(value: Any) -> float | None:
    """Accept a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def positive(value: Any) -> float | None:
    """Accept a number above zero."""
    number = real(value)
    return number if number is not None and number > 0 else None


def not_negative(value: Any) -> float | None:
    """Accept a number not below zero."""
    number = real(value)
    return number if number is not None and number >= 0 else None


def memory_gib(value: Any) -> float | None:
    """Accept a number of GiB that is above zero and finite in bytes."""
    number = positive(value)
    return number if number is not None and 0 < number * 2.0**30 < math.inf else None


def count_up_to(most: int) -> Callable[[Any], int | None]:
    """Return a check that accepts a whole number from 1 to `most`."""

    def count(value: Any) -> int | None:
        number = index(value)
        return number if number is not None and 1 <= number <= most else None

    return count


def seconds(value: Any) -> float | None:
    """Convert microseconds, not below zero, to seconds."""
    number = not_negative(value)
    return None if number is None else float(CONTEXT.multiply(_as_decimal(value), _MICRO))


def seconds_per_byte(value: Any) -> float | None:
    """Convert GB/s above zero, or inf, to beta [s/B]."""
    if isinstance(value, float) and value == math.inf:
        return 0.0
    if isinstance(value, bool) or not isinstance(value, int | Decimal) or value <= 0:
        return None
    if isinstance(value, int) and value >= 10**400:
        return None
    beta = beta_of(_as_decimal(value))
    return beta if math.isfinite(beta) else None


def _as_decimal(value: Decimal | float) -> Decimal:
    return value if isinstance(value, Decimal) else CONTEXT.create_decimal(value)


def index(value: Any) -> int | None:
    """Accept a whole number from 0 to 2^53, which a double represents exactly."""
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return value if is_whole and 0 <= value <= MOST_INDEX else None


def numbers(value: Any) -> dict[str, float] | None:
    """Accept a table of finite numbers."""
    if not isinstance(value, dict):
        return None
    found = {key: real(entry) for key, entry in value.items()}
    return None if None in found.values() else found  # type: ignore[return-value]


def pair(value: Any) -> tuple[str, str] | None:
    """Accept a list of two different texts."""
    fine = isinstance(value, Sequence) and len(value) == 2 and all(text(end) for end in value)
    return (value[0], value[1]) if fine and value[0] != value[1] else None


def texts(value: Any) -> tuple[str, ...] | None:
    """Accept a text that is not empty, or a list of such texts that is not empty."""
    some = [value] if isinstance(value, str) else value
    fine = isinstance(some, list) and bool(some) and all(text(one) for one in some)
    return tuple(some) if fine else None


def counts(value: Any) -> tuple[int, ...] | None:
    """Accept a list of whole numbers above zero, not empty."""
    if not isinstance(value, list) or not value or not all(index(one) for one in value):
        return None
    return tuple(value)


def flag(value: Any) -> bool | None:
    """Accept true or false."""
    return value if isinstance(value, bool) else None


def a_list(value: Any) -> list[Any] | None:
    """Accept any list."""
    return value if isinstance(value, list) else None


def as_given(value: Any) -> Any:
    """Accept a non-empty text or list, or a whole number; its content is checked later."""
    fine = text(value) or index(value) is not None or (isinstance(value, list) and value)
    return value if fine else None


# Other names that people use for a key; misspelt keys are found by similarity.
_MEANT = {"latency": "alpha_us", "bandwidth": "GB_per_s", "beta": "GB_per_s", "ram": "memory_GiB",
          "type": "kind", "place": "at", "node": "at", "id": "name", "n": "count",
          "hostname": "host", "cpus": "cores", "core": "cores", "gpus": "gpu"}  # fmt: skip

Check = Callable[[Any], Any]  # value -> converted value, or None if it is wrong
Spec = Mapping[str, tuple[Check, str, bool]]  # key -> (check, what is expected, required)


class TableError(Exception):
    """An error in the index-th table of a kind, at a key if one is known."""

    def __init__(
        self, message: str, kind: str, index: int, key: str = "", hint: str | None = None
    ) -> None:
        super().__init__(message)
        self.message, self.kind, self.index, self.key, self.hint = message, kind, index, key, hint

    def line_in(self, lines: TomlLines) -> int | None:
        """Return the line of the error in the file's text."""
        if not self.kind:
            return lines.top(self.key) if self.key else None
        if self.key:
            return lines.key(self.kind, self.index, self.key)
        return lines.table(self.kind, self.index)


@contextmanager
def placed(path: str | Path, text: str) -> Iterator[None]:
    """Context manager: turn a TableError into an InputError with the file and the line."""
    try:
        yield
    except TableError as error:
        line = error.line_in(TomlLines(text))
        raise InputError(error.message, file=named(path), line=line, hint=error.hint) from error


def listed(data: Mapping[str, Any], kind: str, spec: Spec) -> list[dict[str, Any]]:
    """Return the tables of a kind, each checked and converted by `checked`."""
    value = data.get(kind, [])
    if not isinstance(value, list) or not all(isinstance(table, dict) for table in value):
        raise TableError(f"{kind} must be a list of tables, written as [[{kind}]]", kind, 0)
    return [checked(table, spec, kind, index) for index, table in enumerate(value)]


def checked(table: Mapping[str, Any], spec: Spec, kind: str, index: int) -> dict[str, Any]:
    """Return the table's values, converted; TableError for unknown, missing or wrong ones."""
    if not isinstance(table, Mapping):
        raise TableError(f"must be a table, not {shown(table)}", kind, index)
    refuse_unknown(table, spec, kind, index)
    result = {}
    for key, (check, wanted, required) in spec.items():
        if key not in table:
            if required:
                raise TableError(f"{titled(table, kind)} has no {key}", kind, index)
            continue
        value = check(table[key])
        if value is None:
            message = f"{key} of {titled(table, kind)} must be {wanted}, not {shown(table[key])}"
            raise TableError(message, kind, index, _culprit(key, table[key]))
        result[key] = value
    return result


def refuse_unknown(table: Mapping[str, Any], allowed: Iterable[str], kind: str, index: int) -> None:
    """Raise TableError for a key that is not allowed, suggesting the most likely key."""
    known = list(allowed)
    for key in table:
        if key in known:
            continue
        said = _MEANT.get(key.lower())
        guess = said if said in known else nearest(key, known)
        where = f" in {titled(table, kind)}" if kind else ""
        question = f"; did you mean {guess}?" if guess else ""
        message = f"unknown key {shown(key)}{where}{question}"
        raise TableError(message, kind, index, key, hint=f"Keys here: {', '.join(known)}.")


def titled(table: Mapping[str, Any], kind: str) -> str:
    """Name a table: device 'gpu'."""
    name = table.get("name")
    return f"{kind} {shown(name)}" if isinstance(name, str) else f"a {kind}"


def shown(value: Any) -> str:
    """Return a value in TOML notation, shortened."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and abs(value) >= 10**30:
        return "a number of more than 30 digits"
    text = str(value) if isinstance(value, Decimal | float) else repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _culprit(key: str, value: Any) -> str:
    """Return the name of the wrong capability, or `key` if the table has other contents."""
    if key == "capabilities" and isinstance(value, dict):
        return next((name for name, entry in value.items() if real(entry) is None), key)
    return key
