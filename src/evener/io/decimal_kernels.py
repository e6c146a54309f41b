"""Computes the double nearest to a decimal number of any length: the one of Python's `float`.

Up to 19 digits fit in 64 bits. They are multiplied by 128 bits of a power of five, which suffices
to round the product correctly (Eisel and Lemire [Lem21]_, [ML23]_). Of a longer number the first 19
digits are rounded, as they are and increased by one. If the two results differ, the whole number is
compared with the middle between them in integers of 3,200 bits.
"""

# mypy: ignore-errors

import numpy as np

from evener.jit import inner, njit

SMALLEST_POWER, LARGEST_POWER = -342, 308  # of ten; 19 digits times others give 0 or infinity
KEPT_DIGITS = 19  # decimal digits that 64 bits hold whatever they are

_POINT = 46
_EXACT_WHOLE = np.uint64(2**53)
_EXACT_TENS = np.array([10.0**k for k in range(23)])  # the powers of ten that doubles hold

# A middle between two doubles has at most 767 significant digits: of the digits behind them it only
# matters whether all are zero.
_COMPARED_DIGITS = 770
_AT_ONCE = 9  # digits added to a long integer in one step
# 32-bit words for the longest integers compared: 10^770, and 2^54 5^1094 2^19.
_WORDS = 100
# The powers of 2, 5 and 10 below 2^32, by which long integers are multiplied.
_POWERS_OF_TWO = np.array([2**k for k in range(32)], np.uint64)
_POWERS_OF_FIVE = np.array([5**k for k in range(14)], np.uint64)
_POWERS_OF_TEN = np.array([10**k for k in range(_AT_ONCE + 1)], np.uint64)

_ONE, _TWO, _THREE, _HALF_WORD = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(32)
_TOP, _WORD = np.uint64(63), np.uint64(0xFFFFFFFF)
_FRACTION_BITS = np.uint64(52)
_HIDDEN_BIT = np.uint64(2**52)
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
    """Return (bits, certain) of the double nearest to digits (uint64) times ten to the power.

    certain: the double is also the nearest to every number up to digits + 1 times that power, if
    digits >= 10^18. It may be False although this holds.
    """
    if digits == 0 or power < SMALLEST_POWER:
        return np.uint64(0), False
    if power > LARGEST_POWER:
        return _INFINITE, False
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
            return np.uint64(0), False
        mantissa >>= np.uint64(1 - exponent)
        return (mantissa + (mantissa & _ONE)) >> _ONE, False
    # Bits are rounded up from half on. From 10^18 on there are at most four leading zeros, so
    # that digits + 1 add at most 2^4 and a carry to `high`.
    half = _ONE << shift
    rest = high & (half + half - _ONE)
    certain = rest > half or rest + np.uint64(17) < half
    if rest == half and low <= _ONE and -4 <= power <= 23 and mantissa & _THREE == _ONE:
        mantissa -= _ONE  # halfway between two: the even one
    mantissa = (mantissa + (mantissa & _ONE)) >> _ONE
    # The hidden bit adds one to the exponent; rounding up may add another.
    bits = (np.uint64(exponent - 1) << _FRACTION_BITS) + mantissa
    return min(bits, _INFINITE), certain


@inner()
def double_of(bits):
    """Return the double whose bits are those of a uint64."""
    return np.uint64(bits).view(np.float64)


@inner()
def nearest_double(digits, power):
    """Return (value, certain) of the double nearest to digits (uint64) times ten to the power."""
    if digits <= _EXACT_WHOLE and -22 <= power <= 22:  # both are exact: one rounding
        value = np.float64(digits)
        return value * _EXACT_TENS[power] if power >= 0 else value / _EXACT_TENS[-power], False
    bits, certain = nearest_bits(digits, power)
    return double_of(bits), certain


@inner()
def nearest_of_many(data, first, stop, digits, power):
    """Return the double nearest to a number of more digits than `digits` holds.

    data[first:stop] are the number's digits, a point among them perhaps; `digits` are KEPT_DIGITS
    of them, from the first that is not zero, in units of 10^power.
    """
    bits, _ = nearest_bits(digits, power)
    above, _ = nearest_bits(digits + _ONE, power)
    if bits != above:
        order = compare_with_middle(data, first, stop, power, bits)
        if order > 0 or (order == 0 and bits & _ONE == _ONE):
            bits = above
    return double_of(bits)


@njit(cache=True, nogil=True, counted=True)  # parsers that count nothing call it
def compare_with_middle(data, first, stop, power, bits):
    """Return -1, 0 or 1: the number is below, at or above the middle between two doubles.

    data, first, stop, power: as for nearest_of_many; bits: the lower of the two doubles.
    """
    number, middle = np.zeros(_WORDS, np.uint64), np.zeros(_WORDS, np.uint64)
    taken = put_digits(data, first, stop, number)
    exponent, fraction = np.int64(bits >> _FRACTION_BITS), bits & (_HIDDEN_BIT - _ONE)
    if exponent > 0:
        fraction |= _HIDDEN_BIT
        exponent -= 1
    multiply_add(middle, _ONE, _TWO * fraction + _ONE)
    tens, twos = power + KEPT_DIGITS - taken, exponent - 1075
    scale(number if tens > 0 else middle, _POWERS_OF_FIVE, abs(tens))
    scale(number if tens > twos else middle, _POWERS_OF_TWO, abs(tens - twos))
    for i in range(_WORDS - 1, -1, -1):
        if number[i] != middle[i]:
            return 1 if number[i] > middle[i] else -1
    return 0


@inner()
def put_digits(data, first, stop, number):
    """Add the digits of data[first:stop] to a long integer that is 0; returns how many."""
    taken, waiting, value = 0, 0, np.uint64(0)
    for i in range(first, stop):
        if data[i] == _POINT:
            continue
        digit = np.uint64(data[i]) - np.uint64(48)
        if taken == 0 and digit == 0:
            continue
        if taken == _COMPARED_DIGITS:  # one more digit says that others than zeros follow
            if digit == 0:
                continue
            digit = _ONE
        value = value * np.uint64(10) + digit
        taken += 1
        waiting += 1
        if waiting == _AT_ONCE:
            multiply_add(number, _POWERS_OF_TEN[waiting], value)
            waiting, value = 0, np.uint64(0)
        if taken > _COMPARED_DIGITS:
            break
    multiply_add(number, _POWERS_OF_TEN[waiting], value)
    return taken


@inner()
def scale(words, powers, exponent):
    """Multiply a long integer by the base of the powers, so many times."""
    while exponent > 0:
        step = min(exponent, powers.size - 1)
        multiply_add(words, powers[step], np.uint64(0))
        exponent -= step


@inner()
def multiply_add(words, factor, term):
    """Multiply a long integer of 32-bit words, lowest first, in place, and add a term."""
    carry = term
    for i in range(words.size):
        carry += words[i] * factor
        words[i] = carry & _WORD
        carry >>= _HALF_WORD
