"""Writes values as TOML."""

from __future__ import annotations

import json
import re


def toml_number(value: float) -> str:
    """Return a float with all its digits; a whole number without a point."""
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)


def toml_text(value: str) -> str:
    """Return a text as a quoted TOML string."""
    # JSON's escapes are TOML's, except for DEL. Unprintable characters are escaped, too; unpaired
    # surrogates, which TOML cannot escape, stay, and make writing the file as UTF-8 fail.
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
