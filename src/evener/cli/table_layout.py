"""Lay out tables for a terminal of any width, without cutting any text.

If a table is too wide, cells of words are broken into lines; then the columns are divided into
several tables, each with the first column; in very narrow terminals every row becomes a heading and
a list of names and values.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TextIO

from evener.wording import printable

MIN_WIDTH = 20  # columns that any terminal is assumed to have
USUAL_WIDTH = 80  # columns of a terminal that does not report them

_UNIT = r"(?:[mµun]?s|%|B|[KMGT]iB|[kMGT]?B/s|GB/s|[kMGT] units/s|[kMGT]|units/s|units|/s|W|J)"
# A number with its sign and unit, or any other word.
_ATOM = re.compile(rf"(?:[<>~] )?\S*\d\S* {_UNIT}(?=[\s,;:.)]|$)[,;:.)]*|\S+")


def terminal_width(stream: TextIO) -> int | None:
    """Return a terminal's width in columns, or that in $COLUMNS; None for another stream."""
    if not stream.isatty():
        return None
    said = os.environ.get("COLUMNS", "")
    if said.isascii() and said.isdigit() and int(said[:6]) > 0:
        return max(int(said[:6]), MIN_WIDTH)
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError, AttributeError):  # a stream that only says it is a terminal
        columns = 0
    return max(columns or USUAL_WIDTH, MIN_WIDTH)


def width_of(text: str) -> int:
    """Return the number of terminal columns of a text; East Asian characters take two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def atoms(text: str) -> list[str]:
    """Return the parts of a text that must not be broken: words, and numbers with their units."""
    return _ATOM.findall(text)


def wrapped(text: str, width: int, hang: int = 0) -> list[str]:
    """Return a line broken into lines of at most `width` columns, between words if possible.

    hang: additional indentation of all lines but the first.
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
    """Yield the parts of a word, each at most `width` columns."""
    part = ""
    for character in word:
        if part and width_of(part + character) > width:
            yield part
            part = ""
        part += character
    yield part


GAP = 2  # blanks between columns
MAX_TABLES = 3  # into which one is divided; beyond, rows are stacked
MIN_WORDS = 14  # min. width of a column of words that is broken into lines


class TableLine(NamedTuple):
    """A line of a table, and whether it is a heading."""

    text: str
    is_heading: bool = False


@dataclass(frozen=True)
class TableColumn:
    """A column as text. has_words: cells may be broken into lines, and are aligned left."""

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
        """Width at which only the title is broken, between words."""
        return max(self.content, _longest(self.title))

    @property
    def narrowest(self) -> int:
        """Minimum width at which the column is legible."""
        if not self.has_words:
            return self.unbroken
        words = max(map(_longest, [self.title, *self.cells]), default=0)
        return min(self.unbroken, max(words, MIN_WORDS))


def table_lines(
    titles: Sequence[str], rows: Sequence[Sequence[Any]], width: int | None
) -> list[TableLine]:
    """Return the lines of a table at most `width` columns wide; None: as wide as needed."""
    columns = _columns(titles, rows)
    if width is None:
        return _table(columns, [column.widest for column in columns])
    if widths := _widths(columns, width):
        return _table(columns, widths)
    groups = _groups(columns, width)
    if groups is None or len(groups) > MAX_TABLES:
        return _stacked(columns, width)
    lines: list[TableLine] = []
    for group in groups:
        lines += [*([TableLine("")] if lines else []), *_table(group, _widths(group, width) or [])]
    return lines


def shown(cell: Any) -> str:
    """Return a cell as text: numbers with commas, unprintable characters escaped."""
    return printable(cell if isinstance(cell, str) else f"{cell:,}")


def _columns(titles: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[TableColumn]:
    columns = []
    for i, title in enumerate(titles):
        cells = [shown(row[i]) for row in rows]
        filled = [cell for cell in cells if cell]
        words = all(isinstance(row[i], str) for row in rows) and (
            i == 0 or (bool(filled) and all(cell[0].isalpha() or cell[0] == "." for cell in filled))
        )
        columns.append(TableColumn(title, cells, words))
    return columns


def _longest(text: str) -> int:
    """Return the width of the widest part that is not broken."""
    return max(map(width_of, atoms(text)), default=0)


def _room(widths: Sequence[int]) -> int:
    """Return the width of a table with columns of these widths."""
    return sum(widths) + GAP * (len(widths) - 1)


def _widths(columns: Sequence[TableColumn], width: int) -> list[int] | None:
    """Return the columns' widths in a table of `width`, with few broken cells; None: too narrow.

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
        # Widen the column that lacks most, one character at a time.
        left = width - _room(widths)
        while left > 0:
            lacking = [b - a for a, b in zip(widths, wider, strict=True)]
            most = lacking.index(max(lacking))
            if lacking[most] <= 0:
                break
            widths[most] += 1
            left -= 1
    return widths


def _groups(columns: list[TableColumn], width: int) -> list[list[TableColumn]] | None:
    """Return groups of columns that fit, each with column 0; None if two columns do not fit."""
    first, *others = columns
    groups = [[first]]
    for column in others:
        if len(groups[-1]) > 1 and _widths([*groups[-1], column], width) is None:
            groups.append([first])
        groups[-1].append(column)
        if _widths(groups[-1], width) is None:
            return None
    return groups


def _table(columns: Sequence[TableColumn], widths: Sequence[int]) -> list[TableLine]:
    """Return the lines of a table whose columns have these widths."""
    lines = [TableLine(text, is_heading=True) for text in _row(columns, widths, None)]
    for i in range(len(columns[0].cells) if columns else 0):
        lines += [TableLine(text) for text in _row(columns, widths, i)]
    return lines


def _row(columns: Sequence[TableColumn], widths: Sequence[int], i: int | None) -> list[str]:
    """Return the lines of row i, or of the titles (None), which are aligned at the bottom."""
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


def _stacked(columns: list[TableColumn], width: int) -> list[TableLine]:
    """Return each row as its first cell and, below it, a list of names and values."""
    first, *others = columns
    lines = []
    for i, cell in enumerate(first.cells):
        named = f"{first.title} {cell}" if first.title else cell
        lines += [TableLine(text, is_heading=True) for text in wrapped(named, width, 2)]
        pairs = [
            f"{column.title} {column.cells[i]}".strip() for column in others if column.cells[i]
        ]
        lines += [TableLine(text) for text in _flowing(pairs, width)]
    return lines


def _flowing(pairs: Sequence[str], width: int) -> list[str]:
    """Return pairs in lines, indented by two; too long pairs are broken."""
    lines: list[str] = []
    for pair in pairs:
        if lines and width_of(lines[-1]) + 3 + width_of(pair) <= width:
            lines[-1] += "   " + pair
        else:
            lines += wrapped("  " + pair, width, 2)
    return lines
