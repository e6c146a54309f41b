"""Reads JSON, refusing values that could not be written again; writes JSON."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np

# An unpaired surrogate of UTF-16, which UTF-8 cannot encode.
_HALF = re.compile(r"\\u[dD][89a-fA-F]")


def loads(content: str | bytes, *, finite: bool = False) -> Any:
    """Return the value of a JSON text.

    Raises ValueError (JSONDecodeError with its line) for invalid JSON, for too deep nesting, for
    unpaired surrogates and, if `finite`, for numbers that are not finite.
    """
    # Python reads NaN and Infinity, which JSON lacks, and 1e999 as infinity.
    checks: dict[str, Any] = {"parse_constant": _refused, "parse_float": _finite} if finite else {}
    try:
        data = json.loads(content, **checks)
        text = content if isinstance(content, str) else content.decode("utf-8", "replace")
        if _HALF.search(text) is not None:
            json.dumps(data, ensure_ascii=False).encode()
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    except UnicodeEncodeError as error:
        raise ValueError("a text with an unpaired surrogate") from error
    return data


def _refused(word: str) -> float:
    raise ValueError(f"{word} is not a JSON number")


def _finite(word: str) -> float:
    value = float(word)
    return value if math.isfinite(value) else _refused(word[:30])


def dumps(value: Any) -> str:
    """Return a value as JSON text in lines; NumPy's numbers become Python's.

    Raises ValueError for numbers that are not finite, TypeError for values without a JSON form.
    """
    return json.dumps(value, indent=1, allow_nan=False, default=_plain)


def finite_or_none(value: float) -> float | None:
    """Return a number that JSON can hold: None if it is not finite."""
    return float(value) if math.isfinite(value) else None


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} has no JSON form")
