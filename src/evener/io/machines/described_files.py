"""Writes machine files of described computers; a comment marks each guessed value."""

from __future__ import annotations

import re
from pathlib import Path

from evener.files.writing import write_text
from evener.io.machines.platforms import platform_to_toml, runs_of
from evener.platforms.described import Described
from evener.wording import printable

GUESSED = "  # guessed"
_KEY = re.compile(r"(\w+) = ")
_WIDEST = 98  # max. characters per line of the head


def described_to_toml(described: Described) -> str:
    """Return the text of a machine file: remarks first, "# guessed" after guessed values."""
    runs = runs_of(described.platform.devices)
    levels = iter(level.name for level in described.platform.levels)
    devices = iter(run[0].name for run, _, _ in runs)
    lines, marks = [f"# {line}" for line in _head(described)], frozenset[str]()
    for line in platform_to_toml(described.platform).split("\n"):
        if line == "[[level]]":
            marks = described.guessed.get(f"level {next(levels)}", frozenset())
        elif line == "[[device]]":
            marks = described.guessed.get(next(devices), frozenset())
        key = _KEY.match(line)
        lines.append(line + GUESSED if key and key[1] in marks else line)
    return "\n".join(lines)


def write_described(path: str | Path, described: Described) -> None:
    """Write the machine file of described computers, whole or not at all."""
    write_text(path, described_to_toml(described))


def _head(described: Described) -> list[str]:
    """Return the remarks as lines of limited width; continuation lines are indented."""
    lines = []
    for remark in described.remarks:
        line, *words = printable(remark).split(" ")
        for word in words:
            if len(line) + len(word) >= _WIDEST:
                lines.append(line)
                line = " "
            line = f"{line} {word}"
        lines.append(line)
    return lines
