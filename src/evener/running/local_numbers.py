"""Local numbers of the vertices whose values one rank sends to another: a range, or an array."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evener.arrays import IntArray, as_integers

Numbers: TypeAlias = slice | npt.NDArray[np.intp]


def numbers_of(given: tuple[int, int] | IntArray) -> Numbers:
    """Return local numbers as a slice if they are consecutive, otherwise as an array.

    given: first and end of a range, or the numbers.
    """
    if isinstance(given, tuple) and len(given) == 2:
        return slice(int(given[0]), max(int(given[0]), int(given[1])))
    numbers = as_integers(given, "local numbers").astype(np.intp)
    first, end = (int(numbers[0]), int(numbers[-1]) + 1) if numbers.size else (0, -1)
    if end - first == numbers.size and (np.diff(numbers) == 1).all():
        return slice(first, end)
    return numbers


def count_of(numbers: Numbers | None) -> int:
    """Return the number of local numbers; 0 for None."""
    if numbers is None:
        return 0
    return numbers.stop - numbers.start if isinstance(numbers, slice) else int(numbers.size)


def are_within(numbers: Numbers, first: int, end: int) -> bool:
    """Return whether all numbers are in the range from `first` to `end`, without `end`."""
    if isinstance(numbers, slice):
        return bool(numbers.start == numbers.stop or first <= numbers.start <= numbers.stop <= end)
    return bool(not numbers.size or (numbers.min() >= first and numbers.max() < end))
