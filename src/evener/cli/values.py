"""Values as options take them: shares such as 0.03 or 3%, names of pages."""

from __future__ import annotations

import argparse
import math

# What a page is not, though one may wish it were; any other name is taken.
OTHERS = (
    *(".pdf", ".png", ".svg", ".jpg", ".jpeg", ".gif", ".eps", ".ps", ".md", ".rst", ".txt"),
    *(".tex", ".doc", ".docx", ".odt", ".json", ".csv", ".xlsx", ".ipynb"),
)


def share(text: str) -> float:
    """Return the share of one that an option says; "3%" and "3 %" are 0.03."""
    number, percent = text.strip(), text.strip().endswith("%")
    try:
        value = float(number.removesuffix("%"))
    except ValueError:
        value = math.nan
    if math.isnan(value):
        raise argparse.ArgumentTypeError(f"{text!r} is no share, such as 0.03 or 3%")
    return value / 100 if percent else value


def share_below_one(text: str) -> float:
    """Return a share that is neither below zero nor one or more."""
    value = share(text)
    if not 0 <= value < 1:
        more = f"; for {value:g} % write {value:g}%" if 1 <= value < 100 else ""
        raise argparse.ArgumentTypeError(f"{text} does not lie in [0, 1){more}")
    return value


def page(text: str) -> str:
    """Return the name of a page, which is HTML whatever its name says."""
    if text.lower().endswith(OTHERS):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not the name of a page: reports are .html, which browsers print as PDF"
        )
    return text


# Numbers of things as options take them: 500, 1e5, 2_000_000.

MOST = 2**53  # what a float64 still counts


def count(text: str) -> int:
    """Return the whole number that an option says; 1e5 is one."""
    try:
        exact = int(text)
    except ValueError:
        try:
            number = float(text)
        except ValueError:
            number = 0.5
        if abs(number) > MOST:
            raise argparse.ArgumentTypeError(f"{text!r} lies beyond 2^53") from None
        if math.isnan(number) or number != int(number):
            raise argparse.ArgumentTypeError(
                f"{text!r} is no whole number, such as 500 or 1e5"
            ) from None
        exact = int(number)
    return exact
