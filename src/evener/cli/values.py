"""Types of option values: shares such as 0.03 or 3%, counts such as 500 or 1e5."""

from __future__ import annotations

import argparse
import math

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
    """Return a whole number, such as 500, 2_000_000 or 1e5."""
    try:
        exact = int(text)
    except ValueError:
        try:
            number = float(text)
        except ValueError:
            number = 0.5
        if abs(number) > MAX_COUNT:
            raise argparse.ArgumentTypeError(f"{text!r} lies beyond 2^53") from None
        if math.isnan(number) or number != int(number):
            raise argparse.ArgumentTypeError(
                f"{text!r} is not a whole number, such as 500 or 1e5"
            ) from None
        exact = int(number)
    return exact
