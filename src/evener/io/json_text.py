"""JSON of files: texts in it are ones that can be written again."""

from __future__ import annotations

import json
import math
import re
from typing import Any

# The half of a pair of UTF-16, which no encoding of text has a form for.
_HALF = re.compile(r"\\u[dD][89a-fA-F]")


def loads(content: str | bytes, *, finite: bool = False) -> Any:
    """Return what JSON text holds.

    Raises ValueError (JSONDecodeError with its line) for what is no JSON, is nested too deeply, has
    a text with half a character or, where they are to be finite, a number that is not.
    """
    # Python reads NaN and Infinity, which JSON has not, and 1e999 as infinity.
    checks: dict[str, Any] = {"parse_constant": _refused, "parse_float": _finite} if finite else {}
    try:
        data = json.loads(content, **checks)
        text = content if isinstance(content, str) else content.decode("utf-8", "replace")
        if _HALF.search(text) is not None:
            json.dumps(data, ensure_ascii=False).encode()
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    except UnicodeEncodeError as error:
        raise ValueError("a text with half a character") from error
    return data


def _refused(word: str) -> float:
    raise ValueError(f"{word} is no number of JSON")


def _finite(word: str) -> float:
    value = float(word)
    return value if math.isfinite(value) else _refused(word[:30])
