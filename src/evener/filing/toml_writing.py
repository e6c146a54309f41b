"""Values as TOML has them."""

from __future__ import annotations

import json
import re


def toml_number(value: float) -> str:
    """Return a float with all its digits; a whole number as people write it."""
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)


def toml_text(value: str) -> str:
    """Return a text, quoted."""
    # JSON's escapes are TOML's, but for DEL.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_key(key: str) -> str:
    """Return a key, quoted where it has to be."""
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else toml_text(key)
