"""What repr shows of an object that holds arrays: two lines with its counts, never the arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

WIDTH = 88  # columns of a line


def two_lines(name: str, first: Sequence[str], second: Sequence[str]) -> str:
    """Return `Name(first, first,` and below it `second, second)`."""
    return f"{name}({', '.join(first)},\n{' ' * (len(name) + 1)}{', '.join(second)})"


def counted(count: int, one: str, many: str = "") -> str:
    """Return "1 vertex", "4,012 vertices"."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def spread(values: npt.NDArray[Any]) -> str:
    """Return the least and the largest of numbers, "2 to 3", or the one that all are."""
    if values.size == 0:
        return "none"
    low, high = values.min(), values.max()
    least, most = number(low), number(high)
    return least if least == most else f"{least} to {most}"


def number(value: Any) -> str:
    """Return a number in few digits: "4,012", "0.125", "1.2e+09"."""
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, int | np.integer):
        if abs(int(value)) >= 10**15:
            return f"about 10^{len(str(abs(int(value)))) - 1}"
        return f"{int(value):,}"
    value = float(value)
    if value.is_integer() and abs(value) < 1e6:
        return f"{int(value):,}"
    return f"{value:.4g}"


def brief(thing: Any) -> str:
    """Return the fields of a dataclass in at most two lines; arrays by length and range."""
    name = type(thing).__name__
    shown = [
        f"{field.name}={_value(getattr(thing, field.name, None))}"
        for field in fields(thing)
        if field.repr
    ]
    indent = len(name) + 1
    lines = [name + "("]
    for i, item in enumerate(shown):
        text = item + (", " if i < len(shown) - 1 else ")")
        if len(lines[-1]) + len(text.rstrip()) > WIDTH and len(lines[-1]) > indent:
            if len(lines) == 2:
                lines[-1] += "...)"
                break
            lines.append(" " * indent)
        lines[-1] += text
    return "\n".join(line.rstrip() for line in lines)


def _value(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, int | float | np.number | np.bool_):
        return number(value)
    if isinstance(value, str):
        return repr(value if len(value) <= 30 else value[:30] + "...")
    if is_dataclass(value):
        return f"{type(value).__name__}(...)"
    if isinstance(value, Mapping | Sequence):
        return _collection(value)
    text = repr(value)
    return text if len(text) <= 40 and "\n" not in text else f"{type(value).__name__}(...)"


def _array(array: npt.NDArray[Any]) -> str:
    shape = " x ".join(f"{size:,}" for size in array.shape)
    if array.dtype.kind not in "biuf" or array.size == 0:
        return f"[{shape} {array.dtype}]"
    if array.dtype.kind == "b":
        return f"[{shape}: {int(array.sum()):,} True]"
    return f"[{shape}: {spread(array)}]"


def _collection(value: Mapping[Any, Any] | Sequence[Any]) -> str:
    opening, closing = "{}" if isinstance(value, Mapping) else "()"
    return f"{opening}{closing}" if not value else f"{opening}{len(value):,} entries{closing}"
