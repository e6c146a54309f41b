"""Tables as lines: one table where it fits, else narrower columns, else several, else rows stacked.

Nothing is left out or cut: columns of words become narrower and their cells longer; where that is
not enough, the first column is repeated in front of each group of the others; in very narrow
terminals every row is a heading and a list of names and values.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TextIO

# Lines no wider than a terminal, broken between words; a number stays beside its unit.

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


GAP = 2  # blanks between columns
MOST_TABLES = 3  # that one is divided into; beyond, rows are stacked
NARROWEST = 14  # columns that a column of words keeps, if it has as many


class Line(NamedTuple):
    """A line of a table; whether it is of headings."""

    text: str
    is_heading: bool = False


@dataclass(frozen=True)
class Column:
    """A column as it is shown. has_words: it may be broken into lines; such stand to the left."""

    title: str
    cells: list[str]
    has_words: bool

    @property
    def content(self) -> int:
        """Width of the widest cell."""
        return max(map(width_of, self.cells), default=0)

    @property
    def widest(self) -> int:
        """Width at which nothing is broken."""
        return max(self.content, width_of(self.title))

    @property
    def unbroken(self) -> int:
        """Width at which the title is broken between words, and nothing else is."""
        return max(self.content, _longest(self.title))

    @property
    def narrowest(self) -> int:
        """Width below which the column is not read well any more."""
        if not self.has_words:
            return self.unbroken
        words = max(map(_longest, [self.title, *self.cells]), default=0)
        return min(self.unbroken, max(words, NARROWEST))


def table_lines(
    titles: Sequence[str], rows: Sequence[Sequence[Any]], width: int | None
) -> list[Line]:
    """Return a table's lines, at most `width` columns wide; one table, where that is None."""
    columns = _columns(titles, rows)
    if width is None:
        return _table(columns, [column.widest for column in columns])
    if widths := _widths(columns, width):
        return _table(columns, widths)
    groups = _groups(columns, width)
    if groups is None or len(groups) > MOST_TABLES:
        return _stacked(columns, width)
    lines: list[Line] = []
    for group in groups:
        lines += [*([Line("")] if lines else []), *_table(group, _widths(group, width) or [])]
    return lines


def shown(cell: Any) -> str:
    """Return a cell as text: what does not print escaped, numbers with commas."""
    text = cell if isinstance(cell, str) else f"{cell:,}"
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _columns(titles: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[Column]:
    columns = []
    for i, title in enumerate(titles):
        cells = [shown(row[i]) for row in rows]
        told = [cell for cell in cells if cell]
        words = all(isinstance(row[i], str) for row in rows) and (
            i == 0 or (bool(told) and all(cell[0].isalpha() or cell[0] == "." for cell in told))
        )
        columns.append(Column(title, cells, words))
    return columns


def _longest(text: str) -> int:
    """Width of the widest part that stays whole."""
    return max(map(width_of, atoms(text)), default=0)


def _room(widths: Sequence[int]) -> int:
    """Width of a table of such columns."""
    return sum(widths) + GAP * (len(widths) - 1)


def _widths(columns: Sequence[Column], width: int) -> list[int] | None:
    """Return columns' widths in a table of `width`, as little broken as can be; None: too narrow.

    Titles are broken before cells are.
    """
    stages = [
        [column.narrowest for column in columns],
        [column.unbroken for column in columns],
        [column.widest for column in columns],
    ]
    fitting = [stage for stage in stages if _room(stage) <= width]
    if not fitting:
        return None
    widths = list(fitting[-1])
    for wider in stages[len(fitting) :][:1]:
        # What is left goes to those that are broken most, a column of text at a time.
        left = width - _room(widths)
        while left > 0:
            lacking = [b - a for a, b in zip(widths, wider, strict=True)]
            most = lacking.index(max(lacking))
            if lacking[most] <= 0:
                break
            widths[most] += 1
            left -= 1
    return widths


def _groups(columns: list[Column], width: int) -> list[list[Column]] | None:
    """Return columns as groups that fit, each begun by the first; None where two do not fit."""
    first, *others = columns
    groups = [[first]]
    for column in others:
        if len(groups[-1]) > 1 and _widths([*groups[-1], column], width) is None:
            groups.append([first])
        groups[-1].append(column)
        if _widths(groups[-1], width) is None:
            return None
    return groups


def _table(columns: Sequence[Column], widths: Sequence[int]) -> list[Line]:
    """Return the lines of a table whose columns have these widths."""
    lines = [Line(text, is_heading=True) for text in _row(columns, widths, None)]
    for i in range(len(columns[0].cells) if columns else 0):
        lines += [Line(text) for text in _row(columns, widths, i)]
    return lines


def _row(columns: Sequence[Column], widths: Sequence[int], i: int | None) -> list[str]:
    """Return the lines of row i, or of the titles, which end at the bottom."""
    pairs = list(zip(columns, widths, strict=True))
    texts = [column.title if i is None else column.cells[i] for column in columns]
    cells = [wrapped(text, w) for text, w in zip(texts, widths, strict=True)]
    deep = max(map(len, cells), default=1)
    missing = [[""] * (deep - len(cell)) for cell in cells]
    full = [
        gap + cell if i is None else cell + gap for cell, gap in zip(cells, missing, strict=True)
    ]
    lines = []
    for at in range(deep):
        parts = [
            _padded(cell[at], w, to_the_left=column.has_words)
            for cell, (column, w) in zip(full, pairs, strict=True)
        ]
        lines.append((" " * GAP).join(parts).rstrip())
    return lines


def _padded(text: str, width: int, *, to_the_left: bool) -> str:
    blanks = " " * (width - width_of(text))
    return text + blanks if to_the_left else blanks + text


def _stacked(columns: list[Column], width: int) -> list[Line]:
    """Return each row as its first cell and, below it, names and values that flow over lines."""
    first, *others = columns
    lines = []
    for i, cell in enumerate(first.cells):
        named = f"{first.title} {cell}" if first.title else cell
        lines += [Line(text, is_heading=True) for text in wrapped(named, width, 2)]
        pairs = [
            f"{column.title} {column.cells[i]}".strip() for column in others if column.cells[i]
        ]
        lines += [Line(text) for text in _flowing(pairs, width)]
    return lines


def _flowing(pairs: Sequence[str], width: int) -> list[str]:
    """Return lines of pairs, indented by two; one that is wider than a line is broken."""
    lines: list[str] = []
    for pair in pairs:
        if lines and width_of(lines[-1]) + 3 + width_of(pair) <= width:
            lines[-1] += "   " + pair
        else:
            lines += wrapped("  " + pair, width, 2)
    return lines
