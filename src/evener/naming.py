"""Names in few words: runs of numbered devices as ranges; the name that was probably meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from evener.showing import printable

SHOWN = 6  # ranges that are named
NEAR = 0.5  # likeness from which a name may be meant, difflib's


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
