"""Types of option values: shares, counts, names of reports; checks of output files."""

from __future__ import annotations

import argparse
import math
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from evener.errors import UsageError
from evener.wording import SIZES, bytes_of

LEAST_MEMORY = 2**20  # [B] that --memory may be: less is a number without its unit
LONGEST_WAIT = 1e9  # [s]
MAX_COUNT = 2**53  # a float64 holds every whole number up to this


def share(text: str) -> float:
    """Return a fraction of one; "3%" and "3 %" are 0.03."""
    number, percent = text.strip(), text.strip().endswith("%")
    try:
        value = float(number.removesuffix("%"))
    except ValueError:
        value = math.nan
    if math.isnan(value):
        raise argparse.ArgumentTypeError(f"{text!r} is not a share, such as 0.03 or 3%")
    return value / 100 if percent else value


def share_below_one(text: str) -> float:
    """Return a fraction in [0, 1)."""
    value = share(text)
    if not 0 <= value < 1:
        more = f"; for {value:g} % write {value:g}%" if 1 <= value < 100 else ""
        raise argparse.ArgumentTypeError(f"{text} does not lie in [0, 1){more}")
    return value


def count(text: str) -> int:
    """Return an integer, written such as 500, 2_000_000 or 1e5."""
    try:
        exact = int(text)
    except ValueError:
        try:
            number = float(text)
        except ValueError:
            number = 0.5
        if abs(number) > MAX_COUNT:
            raise argparse.ArgumentTypeError(f"{text!r} is above 2^53") from None
        if math.isnan(number) or number != int(number):
            raise argparse.ArgumentTypeError(
                f"{text!r} is not a whole number, such as 500 or 1e5"
            ) from None
        exact = int(number)
    return exact


def seed(text: str) -> int:
    """Return a seed: a non-negative integer of 64 bits."""
    value = int(text) if re.fullmatch(r"\d{1,19}", text, re.ASCII) else -1
    if not 0 <= value < 2**63:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a seed: a whole number from 0 to 2^63 - 1"
        )
    return value


def size_in_bytes(text: str) -> int:
    """Return a positive size in bytes, parsed by `bytes_of`."""
    size = bytes_of(text)
    if size is None and not text.strip().startswith("-"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a size, such as {SIZES}")
    if size is None or size < 1:
        raise argparse.ArgumentTypeError(f"a size must be above zero, not {text!r}")
    return size


def positive_finite(text: str) -> float:
    """Return a finite number above zero."""
    value = positive(text)
    if value == math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not finite")
    return value


def positive(text: str) -> float:
    """Return a number above zero, or infinity."""
    value = not_negative(text)
    if value == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not above zero")
    return value


def not_negative(text: str) -> float:
    """Return a non-negative number, or infinity."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not value >= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number, zero or above")
    return value


def sides(text: str) -> list[int]:
    """Return the integers of a shape such as 4x2x12; [] for any other text."""
    try:
        return [count(word) for word in text.lower().split("x")]
    except argparse.ArgumentTypeError:
        return []


def bytes_per_value(text: str) -> float:
    """Return a number of bytes from 0 to 1e18."""
    value = float(text)
    if not 0 <= value <= 1e18:
        raise argparse.ArgumentTypeError(f"{text} does not lie between 0 and 1e18")
    return value


# Suffixes that are not of an HTML page; any other name is taken.
_NOT_PAGES = (
    *(".pdf", ".png", ".svg", ".jpg", ".jpeg", ".gif", ".eps", ".ps", ".md", ".rst", ".txt"),
    *(".tex", ".doc", ".docx", ".odt", ".json", ".csv", ".xlsx", ".ipynb"),
)


def page(text: str) -> str:
    """Return the name of a report; refuse suffixes of files other than HTML pages."""
    if text.lower().endswith(_NOT_PAGES):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a name for a report: use .html, which browsers print as PDF"
        )
    return text


def waiting(text: str) -> float:
    """Return a timeout in seconds, above zero and at most 30 years, the system's limit."""
    value = positive_finite(text)
    if value > LONGEST_WAIT:
        raise argparse.ArgumentTypeError(f"{text!r} seconds are more than 30 years")
    return value


def refuse_outputs(outputs: Sequence[str | Path], inputs: Iterable[str | Path | None]) -> None:
    """Raise an error if an output cannot be written, or equals an input or another output.

    Raises InputError for a file that cannot be written, UsageError for a name given twice.
    """
    from evener.files.writing import refuse_unwritable

    given = [Path(one) for one in inputs if one is not None and Path(one).exists()]
    for output in map(Path, outputs):
        refuse_unwritable(output)
        if output.exists() and any(output.samefile(one) for one in given):
            raise UsageError(f"{output} is also an input; give the output another name")
    for i, name in enumerate(outputs):
        if any(os.path.realpath(name) == os.path.realpath(one) for one in outputs[:i]):
            raise UsageError(
                f"two outputs have the name {name}", hint="Give each output its own name."
            )


def refuse_picture(output: str, inputs: Iterable[str | Path | None]) -> None:
    """Raise UsageError unless a picture is .png or .svg; raise the errors of `refuse_outputs`."""
    from evener.reporting.plots import checked_kind

    checked_kind(output)
    refuse_outputs([output], inputs)
