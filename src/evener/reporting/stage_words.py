"""The steps of a search in plain words, for readers who have not seen the search."""

from __future__ import annotations

import re

# What a step is called where it is recorded, and in words; in the order they are looked for.
WORDS = (
    (r"^chosen: ", ""),
    (r"^plain plan", "minimum-cut plan"),
    (r"^METIS with speeds", "METIS, sizes by speed alone"),
    (r"^one device$", "all on one device"),
    (r"^1 devices?, ", "one device, "),
    (r"\bslabs\b", "strips side by side"),
    (r"\bsketched\b", "planned on a coarser graph"),
    (r", sizes 1\b", ", sizes adjusted once"),
    (r", sizes 2\b", ", sizes adjusted twice"),
    (r", sizes (\d+)", r", sizes adjusted \1 times"),
    (r", placed\b", ", moved to better devices"),
    (r", mapped\b", ", moved to better devices"),
    (r", refined\b", ", refined for time"),
    (r" \((\d+)\)", r", attempt \1"),
)


def in_words(name: str) -> str:
    """Return the name of a step in plain words; names that are not known stay as they are."""
    for pattern, words in WORDS:
        name = re.sub(pattern, words, name)
    return name
