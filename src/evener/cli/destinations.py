"""Checks, before any work, the names of files that a command is to write."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

from evener.errors import UsageError

# Suffixes that are not of an HTML page; any other name is taken.
_NOT_PAGES = (
    *(".pdf", ".png", ".svg", ".jpg", ".jpeg", ".gif", ".eps", ".ps", ".md", ".rst", ".txt"),
    *(".tex", ".doc", ".docx", ".odt", ".json", ".csv", ".xlsx", ".ipynb"),
)


def page(text: str) -> str:
    """Return the name of a report; refuses suffixes of files other than HTML pages."""
    if text.lower().endswith(_NOT_PAGES):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not the name of a page: reports are .html, which browsers print as PDF"
        )
    return text


def refuse_outputs(outputs: Sequence[str | Path], inputs: Iterable[str | Path | None]) -> None:
    """Raise an error where an output cannot be written, or is one of the inputs.

    Raises InputError for a file that cannot be written, UsageError for one that is an input.
    """
    from evener.files.writing import refuse_unwritable

    given = [Path(one) for one in inputs if one is not None and Path(one).exists()]
    for output in map(Path, outputs):
        refuse_unwritable(output)
        if output.exists() and any(output.samefile(one) for one in given):
            raise UsageError(f"{output} is an input; the output needs a name of its own")


def refuse_picture(output: str, inputs: Iterable[str | Path | None]) -> None:
    """Raise UsageError for a picture that is not .png or .svg; as `refuse_outputs` besides."""
    from evener.reporting.plots import checked_kind

    checked_kind(output)
    refuse_outputs([output], inputs)
