"""A stable sort and a copy, which Numba compiles sooner than NumPy's functions; bits of words."""

# mypy: ignore-errors
import numpy as np

from evener.jit import inner

RUN = 32  # max. entries sorted by insertion
ONE = np.uint64(1)
# Masks and multiplier of the usual count of bits in parallel, which compiles to one instruction.
PAIRS, FOURS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
BYTES, SUMS = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)
# 2^64 over the golden ratio, made odd: the multiples of consecutive numbers are spread evenly.
SPREAD = np.uint64(0x9E3779B97F4A7C15)
# Multipliers of SplitMix64.
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@inner()
def insert_sorted(keys, origin, first, last):
    """Sort keys[first:last] by insertion; apply the same moves to `origin` unless it is empty."""
    keep = origin.size > 0
    for i in range(first + 1, last):
        key = keys[i]
        came_from = origin[i] if keep else 0
        j = i - 1
        while j >= first and keys[j] > key:
            keys[j + 1] = keys[j]
            if keep:
                origin[j + 1] = origin[j]
            j -= 1
        keys[j + 1] = key
        if keep:
            origin[j + 1] = came_from


@inner()
def sort_along(keys, origin):
    """Sort keys stably; apply the same moves to `origin` unless it is empty."""
    n = keys.size
    keep = origin.size > 0
    for first in range(0, n, RUN):
        insert_sorted(keys, origin, first, min(first + RUN, n))
    old, old_origin = np.empty(n, keys.dtype), np.empty(origin.size, origin.dtype)
    width = RUN
    while width < n:
        for i in range(n):
            old[i] = keys[i]
            if keep:
                old_origin[i] = origin[i]
        for first in range(0, n, 2 * width):
            middle, last = min(first + width, n), min(first + 2 * width, n)
            i, j = first, middle
            for to in range(first, last):
                if j >= last or (i < middle and old[i] <= old[j]):
                    taken = i
                    i += 1
                else:
                    taken = j
                    j += 1
                keys[to] = old[taken]
                if keep:
                    origin[to] = old_origin[taken]
        width *= 2


@inner()
def copy_to(values, target):
    """Copy all values to the beginning of `target`; the two do not overlap."""
    for i in range(values.size):
        target[i] = values[i]


@inner()
def count_bits(word):
    """Return the number of set bits of a uint64, as uint64."""
    word = word - ((word >> ONE) & PAIRS)
    word = (word & FOURS) + ((word >> np.uint64(2)) & FOURS)
    return (((word + (word >> np.uint64(4))) & BYTES) * SUMS) >> np.uint64(56)


@inner()
def lowest_bit(word):
    """Return the index of the lowest set bit of a uint64 that is not 0, as uint64.

    This compiles to one instruction, too.
    """
    return count_bits((word & (~word + ONE)) - ONE)


@inner()
def mixed(word):
    """Return 64 bits that depend on all bits of a uint64: SplitMix64's last steps."""
    word = (word ^ (word >> np.uint64(30))) * FIRST
    word = (word ^ (word >> np.uint64(27))) * SECOND
    return word ^ (word >> np.uint64(31))
