"""What is written where a terminal or a file cannot hold our signs: plain ones in their place."""

from __future__ import annotations

import codecs

PLAINLY = "evener.plainly"  # the name by which streams find the handler
SIGNS = {"µ": "u", "−": "-", "–": "-", "…": "...", "×": "x", "±": "+/-"}


def _plainly(error: UnicodeError) -> tuple[str, int]:
    """Return a plain sign for each of ours, and an escape for anything else."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    unknown = error.object[error.start : error.end]
    plain = [SIGNS.get(c) or c.encode("unicode_escape").decode() for c in unknown]
    return "".join(plain), error.end


codecs.register_error(PLAINLY, _plainly)
