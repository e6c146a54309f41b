"""Text as it is shown: without what moves a cursor or turns text round, quotations cut short."""

from __future__ import annotations

import re

QUOTED = 60  # characters of what is quoted
_MARKS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
# An apostrophe within a word or at its end opens nothing.
_QUOTATIONS = [re.compile(rf"(?<!\w)(b?{q})((?:\\.|[^{q}\\]){{{QUOTED + 1},}}){q}") for q in "'\"`"]


def printable(text: str, keep: str = "") -> str:
    """Return a text with escapes such as \\u202e for all that is not seen as itself.

    Those are control characters, which move a cursor or colour a terminal, the marks that turn
    text round so that it reads as another, and spaces of other widths. keep: characters left as
    they are, line ends for instance.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else _escaped(c) for c in text)


def without_marks(text: str) -> str:
    """Return a document with escapes for control characters and marks that turn text round.

    Line ends, tabs, and spaces of any width, which typesetting uses, are left as they are.
    """
    return _MARKS.sub(lambda found: _escaped(found[0]), text)


def shortened(text: str, most: int) -> str:
    """Return a text on one line, printable, with at most QUOTED characters of each quotation.

    Beyond `most` characters its end is cut off.
    """
    line = printable(text[: 50 * most].replace("\n", " "))
    if len(line) > QUOTED:
        for quotation in _QUOTATIONS:
            line = quotation.sub(_cut_quotation, line)
    return line if len(line) <= most else f"{line[: most - 3]}..."


def _cut_quotation(found: re.Match[str]) -> str:
    return f"{found[1]}{found[2][: QUOTED - 3]}...{found[1][-1]}"


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
