"""Sets of whole numbers as bitmaps, and the rank of a number in its set."""

# mypy: ignore-errors
import numpy as np

from evener.jit import inner, njit

_ODD, _PAIRS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
_FOURS, _ONES = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)


@inner()
def bits_in(word):
    """Return the number of bits of a uint64 that are set."""
    word = word - ((word >> np.uint64(1)) & _ODD)
    word = (word & _PAIRS) + ((word >> np.uint64(2)) & _PAIRS)
    word = (word + (word >> np.uint64(4))) & _FOURS
    return np.int64((word * _ONES) >> np.uint64(56))


@njit(cache=True, nogil=True, counted=False)
def mark(ends, low, bits):
    """Set the bits of the numbers `ends`; bit 0 stands for the number `low`."""
    for i in range(ends.size):
        place = ends[i] - low
        bits[place >> 6] |= np.uint64(1) << np.uint64(place & 63)


@njit(cache=True, nogil=True, counted=False)
def rank(bits, ranks):
    """Fill ranks with the number of set bits before each word; return the total number."""
    count = np.int64(0)
    for i in range(bits.size):
        ranks[i] = count
        count += bits_in(bits[i])
    return count


@njit(cache=True, nogil=True, counted=False)
def vertices(ends, low, bits, ranks, found):
    """Set found[i] to the rank of ends[i] among the numbers whose bits are set."""
    for i in range(ends.size):
        place = ends[i] - low
        below = (np.uint64(1) << np.uint64(place & 63)) - np.uint64(1)
        found[i] = ranks[place >> 6] + bits_in(bits[place >> 6] & below)
