"""No unclear turns of phrase in the package's code and in the pages."""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# What is written instead stands beside each; docstrings, comments, messages and pages are searched.
FORBIDDEN = {
    r"\bthat (?:is|are) none\b": "unknown, invalid",
    r"\b(?:somebody|nobody|anybody)\b": "name who: another tool, no device, any block",
    r"\bwish(?:es)?\b": "proposed move",
    r"\bmade whole\b": "projected to the full graph",
    r"\bwithout end\b": "timed out after 60 s",
    r"\b(?:to|too little to) reckon\b": "compute, predict",
    r"\bwhere (?:it|that|they) lies?\b": "in another folder",
    r"\bin (?:its|their) turn\b": "name the order",
    r"\bas (?:it|they) came\b": "before repair",
    r"\btalks? to whom\b": "exchange between blocks",
    r"\btold (?:nothing|of|the|what)\b": "measured, recorded, given",
    r"\bto and fro\b": "back and forth",
    r"\bmanners\b": "common options",
    r"\bthe house(?:'s)?\b": "Evener's",
}
SOURCE = ROOT / "src" / "evener"
READ = [
    path
    for path in (
        ROOT / "README.md",
        *sorted((ROOT / "docs").rglob("*.md")),
        *sorted(SOURCE.rglob("*")),
    )
    if path.suffix in (".py", ".md", ".j2", ".js", ".css")
]


@cache
def text_of(path):
    return path.read_text()


@cache
def lowered(path):
    return text_of(path).lower()


def found(turn, path):
    """Return the lines of a file that hold a turn of phrase."""
    text = text_of(path)
    if not re.search(turn, lowered(path)):
        return []
    return [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for number, line in enumerate(text.splitlines(), start=1)
        if re.search(turn, line, re.IGNORECASE)
    ]


@pytest.mark.parametrize("turn", FORBIDDEN)
def test_no_forbidden_turn_of_phrase(turn):
    lines = [line for path in READ for line in found(turn, path)]
    assert lines == [], f"write: {FORBIDDEN[turn]}"
