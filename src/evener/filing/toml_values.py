"""Values of a TOML file: each check returns what it is converted to, or None where it is wrong.

Numbers with a unit are converted in decimal arithmetic, so that every float comes back to the bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Context, Decimal, InvalidOperation, Overflow
from typing import Any

# Twice a float's digits: conversions in it round once, on the way back to a float.
CONTEXT = Context(prec=40, Emin=-999999, Emax=999999, traps=[InvalidOperation, Overflow])
_MICRO, _GIGA = Decimal("1e-6"), Decimal("1e9")


def exact(text: str) -> Decimal | float:
    """Parse a TOML float without rounding it; what no float reaches becomes infinity or zero."""
    text = text.replace("_", "")  # which separate digits, and which create_decimal takes for none
    rounded = float(text)
    if rounded == 0 or not math.isfinite(rounded):
        try:
            value = CONTEXT.create_decimal(text)
        except ArithmeticError:
            return rounded
        return value if value.is_finite() else rounded
    return CONTEXT.create_decimal(text)


def beta_of(gb_per_s: Decimal) -> float:
    """Return beta [s/B] of a bandwidth [GB/s]."""
    return float(CONTEXT.divide(Decimal(1), CONTEXT.multiply(gb_per_s, _GIGA)))


def text_or_empty(value: Any) -> str | None:
    """Accept any text."""
    return value if isinstance(value, str) else None


def text(value: Any) -> str | None:
    """Accept a text that is not empty."""
    return value if isinstance(value, str) and value else None


def place(value: Any) -> str | None:
    """Accept a place such as site/node, no part of it empty."""
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
    """Return what accepts a whole number from 1 to `most`."""

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
    """Accept a whole number not below zero."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


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


def flag(value: Any) -> bool | None:
    """Accept true or false."""
    return value if isinstance(value, bool) else None


def a_list(value: Any) -> list[Any] | None:
    """Accept any list."""
    return value if isinstance(value, list) else None
