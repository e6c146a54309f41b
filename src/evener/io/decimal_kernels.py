"""Computes the double nearest to a decimal number of up to 19 digits, as Python's `float` does.

The digits fit in 64 bits. They are multiplied by 128 bits of a power of five, which suffices to
round the product correctly (Eisel and Lemire [Lem21]_, [ML23]_).
"""

# mypy: ignore-errors

import numpy as np

from evener.jit import inner

SMALLEST_POWER, LARGEST_POWER = -342, 308  # of ten; 19 digits times others give 0 or infinity
KEPT_DIGITS = 19  # decimal digits that 64 bits hold whatever they are

_EXACT_WHOLE = np.uint64(2**53)
_EXACT_TENS = np.array([10.0**k for k in range(23)])  # the powers of ten that doubles hold

_ONE, _THREE, _HALF_WORD = np.uint64(1), np.uint64(3), np.uint64(32)
_TOP, _WORD = np.uint64(63), np.uint64(0xFFFFFFFF)
_FRACTION_BITS = np.uint64(52)
_INFINITE = np.uint64(0x7FF << 52)


def _power_of_five(q):
    """Return the leading 128 bits of 5^q, rounded down; up if q < 0 and 5^-q fits in 64 bits."""
    five = 5 ** abs(q)
    size = five.bit_length()
    if q >= 0:
        return five >> (size - 128) if size > 128 else five << (128 - size)
    return (1 << (size + 127)) // five + (size <= 64)


_FIVES = [_power_of_five(q) for q in range(SMALLEST_POWER, LARGEST_POWER + 1)]
_FIVES_HIGH = np.array([five >> 64 for five in _FIVES], np.uint64)
_FIVES_LOW = np.array([five & (2**64 - 1) for five in _FIVES], np.uint64)


@inner()
def product(a, b):
    """Return the (high, low) halves of the 128-bit product of two uint64."""
    a_high, a_low = a >> _HALF_WORD, a & _WORD
    b_high, b_low = b >> _HALF_WORD, b & _WORD
    low = a_low * b_low
    middle = a_high * b_low + (low >> _HALF_WORD)
    other = a_low * b_high + (middle & _WORD)
    high = a_high * b_high + (middle >> _HALF_WORD) + (other >> _HALF_WORD)
    return high, (other << _HALF_WORD) | (low & _WORD)


@inner()
def leading_zeros(value):
    """Return the number of zero bits above the highest set bit of a positive uint64."""
    # From the exponent of a double, which rounding may have made one too large.
    half = np.float64(np.int64(value >> _ONE | _ONE))
    zeros = np.uint64(1085) - (half.view(np.uint64) >> _FRACTION_BITS)
    return zeros if (value << zeros) >> _TOP == _ONE else zeros + _ONE


@inner()
def nearest_bits(digits, power):
    """Return the bits of the double nearest to digits (uint64) times ten to the power."""
    if digits == 0 or power < SMALLEST_POWER:
        return np.uint64(0)
    if power > LARGEST_POWER:
        return _INFINITE
    zeros = leading_zeros(digits)
    shifted = digits << zeros
    index = power - SMALLEST_POWER
    high, low = product(shifted, _FIVES_HIGH[index])
    if high & np.uint64(511) == np.uint64(511):  # the lower half of the power may carry over
        more, _ = product(shifted, _FIVES_LOW[index])
        low += more
        if low < more:
            high += _ONE
    upper = high >> _TOP
    shift = upper + np.uint64(9)  # leaves 54 bits: one to round with
    mantissa = high >> shift
    # The floor of power * log2(5) + power, exact for all powers in the table [Lem21]_.
    exponent = ((217706 * power) >> 16) + 1086 + np.int64(upper) - np.int64(zeros)
    if exponent <= 0:  # below the normal doubles
        if exponent <= -63:
            return np.uint64(0)
        mantissa >>= np.uint64(1 - exponent)
        return (mantissa + (mantissa & _ONE)) >> _ONE
    half = _ONE << shift
    rest = high & (half + half - _ONE)
    if rest == half and low <= _ONE and -4 <= power <= 23 and mantissa & _THREE == _ONE:
        mantissa -= _ONE  # halfway between two: the even one
    mantissa = (mantissa + (mantissa & _ONE)) >> _ONE
    # The hidden bit adds one to the exponent; rounding up may add another.
    bits = (np.uint64(exponent - 1) << _FRACTION_BITS) + mantissa
    return min(bits, _INFINITE)


@inner()
def nearest_double(digits, power):
    """Return the double nearest to digits (uint64) times ten to the power."""
    if digits <= _EXACT_WHOLE and -22 <= power <= 22:  # both are exact: one rounding
        value = np.float64(digits)
        return value * _EXACT_TENS[power] if power >= 0 else value / _EXACT_TENS[-power]
    return np.uint64(nearest_bits(digits, power)).view(np.float64)
