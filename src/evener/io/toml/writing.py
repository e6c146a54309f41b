"""Values as TOML has them."""

from __future__ import annotations

import json
import re


def toml_number(value: float) -> str:
    """Return a float with all its digits; a whole number as people write it."""
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)


def toml_text(value: str) -> str:
    """Return a text, quoted."""
    # JSON's escapes are TOML's, but for DEL. What is not seen as itself is escaped as well; the
    # halves of a pair, which TOML has no escapes for, are left to whoever writes the text.
    quoted = json.dumps(value, ensure_ascii=False)
    return "".join(c if c.isprintable() or _is_half(c) else _escaped(c) for c in quoted)


def _is_half(character: str) -> bool:
    return "\ud800" <= character <= "\udfff"


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def toml_key(key: str) -> str:
    """Return a key, quoted where it has to be."""
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else toml_text(key)
