"""Numbers of things as options take them: 500, 1e5, 2_000_000."""

from __future__ import annotations

import argparse

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
        if not abs(number) <= MOST or number != int(number):
            raise argparse.ArgumentTypeError(
                f"{text!r} is no whole number, such as 500 or 1e5"
            ) from None
        exact = int(number)
    return exact
