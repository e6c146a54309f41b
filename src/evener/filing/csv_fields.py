"""Names as fields of CSV that no spreadsheet takes for a formula."""

from __future__ import annotations

import re

from evener.showing import without_marks

# What a field begins with that spreadsheets compute.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?", re.ASCII)


def as_text(name: str) -> str:
    """Return a name with an apostrophe before it where it would be computed.

    Numbers are left as they are; control characters and marks that turn text round are escaped,
    but for line ends.
    """
    text = without_marks(name)
    return f"'{text}" if name.startswith(_FORMULA) and not _NUMBER.fullmatch(name) else text


def quoted(name: str) -> str:
    """Return the field of a name, in quotes where it needs them."""
    text = as_text(name)
    special = bool(set(text) & set(',;"\r\n')) or text != text.strip()
    return '"' + text.replace('"', '""') + '"' if special else text
