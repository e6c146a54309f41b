"""Tables of a TOML file, checked against what they may hold; mistakes are said with their line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

from evener.errors import InputError
from evener.filing.toml_lines import TomlLines
from evener.filing.toml_values import real
from evener.naming import nearest
from evener.opening import named

# What people write for a key; the rest is found by likeness.
_MEANT = {"latency": "alpha_us", "bandwidth": "GB_per_s", "beta": "GB_per_s", "ram": "memory_GiB",
          "type": "kind", "place": "at", "node": "at", "id": "name", "n": "count"}  # fmt: skip

Check = Callable[[Any], Any]  # a value converted, or None where it is none
Spec = Mapping[str, tuple[Check, str, bool]]  # by key: check, what is wanted, whether needed


class TableError(Exception):
    """A mistake in the index-th table of a kind, at a key where one is known."""

    def __init__(
        self, message: str, kind: str, index: int, key: str = "", hint: str | None = None
    ) -> None:
        super().__init__(message)
        self.message, self.kind, self.index, self.key, self.hint = message, kind, index, key, hint

    def line_in(self, lines: TomlLines) -> int | None:
        """Line of the mistake in the file's text."""
        if not self.kind:
            return lines.top(self.key) if self.key else None
        if self.key:
            return lines.key(self.kind, self.index, self.key)
        return lines.table(self.kind, self.index)


@contextmanager
def placed(path: str | Path, text: str) -> Iterator[None]:
    """Turn a TableError into an InputError that names the file, and the line of its text."""
    try:
        yield
    except TableError as error:
        line = error.line_in(TomlLines(text))
        raise InputError(error.message, file=named(path), line=line, hint=error.hint) from error


def listed(data: Mapping[str, Any], kind: str, spec: Spec) -> list[dict[str, Any]]:
    """Return the checked tables of a kind."""
    value = data.get(kind, [])
    if not isinstance(value, list) or not all(isinstance(table, dict) for table in value):
        raise TableError(f"{kind} must be a list of tables: write [[{kind}]]", kind, 0)
    return [checked(table, spec, kind, index) for index, table in enumerate(value)]


def checked(table: Mapping[str, Any], spec: Spec, kind: str, index: int) -> dict[str, Any]:
    """Return the table's values, converted; refuse unknown, missing and wrong ones."""
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
    """Raise TableError for a key that is not allowed, with the one meant."""
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
    """Write a value as TOML has it, short."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and abs(value) >= 10**30:
        return "a number of more than 30 digits"
    text = str(value) if isinstance(value, Decimal | float) else repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _culprit(key: str, value: Any) -> str:
    """The capability that is wrong rather than the table of them."""
    if key == "capabilities" and isinstance(value, dict):
        return next((name for name, entry in value.items() if real(entry) is None), key)
    return key
