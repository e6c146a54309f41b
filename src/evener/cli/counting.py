"""Numbers of things as options take them: 500, 1e5, 2_000_000."""

from __future__ import annotations

import argparse
import math

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
