"""What a machine file's tables may hold, and what is said when they hold something else."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Context, Decimal, InvalidOperation, Overflow
from difflib import get_close_matches
from typing import Any

from evener.filing.toml_lines import TomlLines
from evener.platforms import MAX_DEVICES

# Twice a float's digits: conversions in it round once, on the way back to a float.
CONTEXT = Context(prec=40, Emin=-999999, Emax=999999, traps=[InvalidOperation, Overflow])
_MICRO, _GIGA = Decimal("1e-6"), Decimal("1e9")

# What people write for a key; the rest is found by likeness.
_MEANT = {"latency": "alpha_us", "bandwidth": "GB_per_s", "beta": "GB_per_s", "ram": "memory_GiB",
          "type": "kind", "place": "at", "node": "at", "id": "name", "n": "count"}  # fmt: skip

Check = Callable[[Any], Any]


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


def exact(text: str) -> Decimal | float:
    """Parse a TOML float without rounding it; what no float reaches becomes infinity or zero."""
    rounded = float(text)
    if rounded == 0 or not math.isfinite(rounded):
        try:
            value = CONTEXT.create_decimal(text)
        except ArithmeticError:
            return rounded
        return value if value.is_finite() else rounded
    return CONTEXT.create_decimal(text)


def listed(
    data: Mapping[str, Any], kind: str, spec: Mapping[str, tuple[Check, str, bool]]
) -> list[dict[str, Any]]:
    """Return the checked tables of a kind."""
    value = data.get(kind, [])
    if not isinstance(value, list) or not all(isinstance(table, dict) for table in value):
        raise TableError(f"{kind} must be a list of tables: write [[{kind}]]", kind, 0)
    return [checked(table, spec, kind, index) for index, table in enumerate(value)]


def checked(
    table: Mapping[str, Any], spec: Mapping[str, tuple[Check, str, bool]], kind: str, index: int
) -> dict[str, Any]:
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
        lower = {name.lower(): name for name in known}
        near = get_close_matches(key.lower(), lower, 1, 0.5)
        meant = _MEANT.get(key.lower())
        guess = meant if meant in known else (lower[near[0]] if near else None)
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


def beta_of(gb_per_s: Decimal) -> float:
    """Return beta [s/B] of a bandwidth [GB/s]."""
    return float(CONTEXT.divide(Decimal(1), CONTEXT.multiply(gb_per_s, _GIGA)))


def text_or_empty(value: Any) -> str | None:
    """Accept any text."""
    return value if isinstance(value, str) else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _place(value: Any) -> str | None:
    fine = isinstance(value, str) and all(part.strip() for part in value.split("/"))
    return value if fine else None


def _real(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _positive(value: Any) -> float | None:
    number = _real(value)
    return number if number is not None and number > 0 else None


def not_negative(value: Any) -> float | None:
    """Accept a number not below zero."""
    number = _real(value)
    return number if number is not None and number >= 0 else None


def _memory_gib(value: Any) -> float | None:
    number = _positive(value)
    return number if number is not None and 0 < number * 2.0**30 < math.inf else None


def _count(value: Any) -> int | None:
    fine = isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MAX_DEVICES
    return value if fine else None


def _seconds(value: Any) -> float | None:
    number = not_negative(value)
    return None if number is None else float(CONTEXT.multiply(_as_decimal(value), _MICRO))


def _seconds_per_byte(value: Any) -> float | None:
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


def _index(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _numbers(value: Any) -> dict[str, float] | None:
    if not isinstance(value, dict):
        return None
    numbers = {key: _real(entry) for key, entry in value.items()}
    return None if None in numbers.values() else numbers  # type: ignore[return-value]


def _pair(value: Any) -> tuple[str, str] | None:
    fine = isinstance(value, Sequence) and len(value) == 2 and all(_text(end) for end in value)
    return (value[0], value[1]) if fine and value[0] != value[1] else None


def flag(value: Any) -> bool | None:
    """Accept true or false."""
    return value if isinstance(value, bool) else None


def _list(value: Any) -> list[Any] | None:
    return value if isinstance(value, list) else None


def _culprit(key: str, value: Any) -> str:
    """The capability that is wrong rather than the table of them."""
    if key == "capabilities" and isinstance(value, dict):
        return next((name for name, entry in value.items() if _real(entry) is None), key)
    return key


_ABOVE_ZERO = "a number above zero"
_NAME = (_text, "a text that is not empty", True)
_AT = (_place, 'a place such as "site/node"', False)
_KIND = (_text, 'a text such as "cpu" or "cuda"', False)
_CAPABILITIES = (_numbers, "a table of numbers", False)
_COUNT = (_count, f"a whole number from 1 to {MAX_DEVICES:,}", False)
_UNITS = (_positive, _ABOVE_ZERO, False)
_BETWEEN = (_pair, 'two different places, as ["n0", "n1"]', True)
_COST = (not_negative, "a number not below zero", False)

_OWN = dict.fromkeys(("fixed_seconds", "cost_per_hour", "watts", "idle_watts"), _COST)
_SHARED = {"shared": (flag, "true or false", False)}

_CURVE = (_index, "a whole number, which of the curves", False)

_LINK_KEYS = {
    "alpha_us": (_seconds, "a number not below zero", False),
    "GB_per_s": (_seconds_per_byte, f"{_ABOVE_ZERO}, or inf", False),
}
DEVICE = {
    "name": _NAME,
    "count": _COUNT,
    "at": _AT,
    "kind": _KIND,
    "speed": (_positive, _ABOVE_ZERO, True),
    "memory_GiB": (_memory_gib, _ABOVE_ZERO, False),
    "memory_units": _UNITS,
    **_OWN,
    "capabilities": _CAPABILITIES,
}
LEVEL = {"name": _NAME, **_LINK_KEYS, **_SHARED}
LINK = {"between": _BETWEEN, **_LINK_KEYS, **_SHARED}

_COSTS = {"alpha_s": _COST, "beta_s_per_byte": _COST}
PLATFORM_DICT = {
    "name": (text_or_empty, "a text", False),
    "devices": (_list, "a list", True),
    "levels": (_list, "a list", False),
    "links": (_list, "a list", False),
    "curves": (_list, "a list", False),
}
DEVICE_DICT = {
    "name": _NAME,
    "kind": _KIND,
    "speed": (_positive, _ABOVE_ZERO, True),
    "memory_bytes": _UNITS,
    "memory_units": _UNITS,
    "at": _AT,
    **_OWN,
    "capabilities": _CAPABILITIES,
    "curve": _CURVE,
}
LEVEL_DICT = {"name": _NAME, **_COSTS, **_SHARED}
LINK_DICT = {"between": _BETWEEN, **_COSTS, **_SHARED}
