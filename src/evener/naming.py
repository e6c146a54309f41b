"""Names in few words: runs of numbered devices as ranges; the name that was probably meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

SHOWN = 6  # ranges that are named
NEAR = 0.5  # likeness from which a name may be meant, difflib's
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


def ranges(names: Sequence[str], shown: int = SHOWN) -> str:
    """Return "gpu0, cpu0..cpu3 and 2 more" for names, those that differ by a number together."""
    stems: dict[str, list[str]] = {}
    for name in names:
        stems.setdefault(_split(name)[0], []).append(name)
    parts: list[list[str]] = []
    for own in stems.values():
        for name in sorted(own, key=lambda name: _split(name)[1] or 0):
            if parts and _follows(parts[-1][-1], name):
                parts[-1].append(name)
            else:
                parts.append([name])
    words = [word for part in parts[:shown] for word in _run(part)]
    rest = sum(len(part) for part in parts[shown:])
    if rest:
        return f"{', '.join(words)} and {rest:,} more"
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _follows(before: str, name: str) -> bool:
    (a, i), (b, j) = _split(before), _split(name)
    return a == b and i is not None and j is not None and j == i + 1


def _split(name: str) -> tuple[str, int | None]:
    match = re.fullmatch(r"(.*?)(\d{1,15})", name)
    return (name, None) if match is None else (match[1], int(match[2]))


def _run(part: list[str]) -> list[str]:
    """Two are two; more are a range."""
    names = [printable(name) for name in part]
    return names if len(names) <= 2 else [f"{names[0]}..{names[-1]}"]


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most like one that is unknown; None where none is."""
    lower = {one.lower(): one for one in reversed(list(known))}
    near = get_close_matches(name.lower(), lower, 1, NEAR)
    return lower[near[0]] if near else None


def meant(name: str, known: Iterable[str]) -> str:
    """Return "; did you mean NAME?" for an unknown name, or nothing."""
    near = nearest(name, known)
    return f"; did you mean {near}?" if near else ""
