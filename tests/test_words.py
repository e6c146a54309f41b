"""Turns of phrase that a reader cannot complete without the author, kept out of code and pages."""

import re
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
READ = [
    *sorted((ROOT / "src" / "evener" / "cli").glob("*.py")),
    *sorted((ROOT / "src" / "evener" / "cli" / "commands").glob("*.py")),
    *sorted((ROOT / "src" / "evener" / "reporting").rglob("*.*")),
    *(ROOT / "src" / "evener" / name for name in ("__init__.py", "errors.py", "wording.py")),
    ROOT / "README.md",
    *(ROOT / "docs" / f"{name}.md" for name in ("README", "cli", "concepts", "glossary", "python")),
]


@pytest.mark.parametrize("turn", FORBIDDEN)
def test_no_forbidden_turn_of_phrase(turn):
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in READ
        if path.suffix in (".py", ".md", ".j2", ".js", ".css")
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if re.search(turn, line, re.IGNORECASE)
    ]
    assert found == [], f"write: {FORBIDDEN[turn]}"
