"""Lines no wider than a terminal, broken between words; a number stays beside its unit."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import TextIO

LEAST = 20  # columns that are always taken to be there
USUAL = 80  # columns of a terminal that does not say how many it has

_UNIT = r"(?:[mµun]?s|%|B|[KMGT]iB|[kMGT]?B/s|GB/s|[kMGT] units/s|[kMGT]|units/s|units|/s|W|J)"
# A word, or a number with what stands before it and its unit; a plain word may be anything.
_ATOM = re.compile(rf"(?:[<>~] )?\S*\d\S* {_UNIT}(?=[\s,;:.)]|$)[,;:.)]*|\S+")


def terminal_width(stream: TextIO) -> int | None:
    """Return the columns of the terminal that the stream is; None where it is none.

    COLUMNS says otherwise, where it is set.
    """
    if not stream.isatty():
        return None
    said = os.environ.get("COLUMNS", "")
    if said.isascii() and said.isdigit() and int(said[:6]) > 0:
        return max(int(said[:6]), LEAST)
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError, AttributeError):  # a stream that only says it is a terminal
        columns = 0
    return max(columns or USUAL, LEAST)


def width_of(text: str) -> int:
    """Return the columns that a text takes; characters of East Asia take two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def atoms(text: str) -> list[str]:
    """Return the parts of a text that stay whole: words, and numbers with their units."""
    return _ATOM.findall(text)


def wrapped(text: str, width: int, hang: int = 0) -> list[str]:
    """Return the lines of one, each at most `width` columns, as it is where it fits.

    hang: by how much further than the first the lines after it begin. A word wider than a line is
    broken; what is narrower is not.
    """
    if width_of(text) <= width:
        return [text]
    indent = text[: len(text) - len(text.lstrip(" "))][: width // 2]
    further = indent + " " * min(hang, max(width // 2 - len(indent), 0))
    lines, line, end = [], indent, len(text) - len(text.lstrip(" "))
    for found in _ATOM.finditer(text):
        atom, gap = found[0], text[end : found.start()]
        end = found.end()
        if line.strip() and width_of(line + gap + atom) > width:
            lines.append(line)
            line, gap = further, ""
        parts = list(_pieces(atom, max(width - width_of(line + gap), 1)))
        line += gap + parts[0]
        for part in parts[1:]:
            lines.append(line)
            line = further + part
    return [*lines, line]


def _pieces(word: str, width: int) -> Iterator[str]:
    """Yield a word in parts of at most so many columns."""
    part = ""
    for character in word:
        if part and width_of(part + character) > width:
            yield part
            part = ""
        part += character
    yield part
