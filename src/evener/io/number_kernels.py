"""Reads a whole number, a real number or a weight from text; never reads beyond its end.

Whole numbers are checked for overflow while their digits are added up. Real numbers are rounded to
the nearest double, as by Python's `float`, except that digits after the 19th are cut off: the error
is below 0.51 units in the last place.
"""

# mypy: ignore-errors

import numpy as np

from evener.io.decimal_kernels import KEPT_DIGITS, nearest_double
from evener.jit import inner, njit

OK = 0
NOT_A_NUMBER = 1  # where: offset
OVERFLOW = 2  # where: offset
OUT_OF_RANGE = 3  # where: offset, the number
NEGATIVE = 4  # where: offset
NOT_FINITE = 5  # where: offset
TOO_MANY = 6  # where: offset
TOO_FEW = 7  # where: offset, the number found
COLUMNS = 8  # where: offset, number of columns found
LOOP = 9  # where: offset, the number
TOO_LONG = 10  # where: offset
FEWER_EDGES = 11  # where: offset, the number of adjacency entries found

NEWLINE, RETURN, SPACE, TAB = 10, 13, 32, 9
PERCENT, HASH, QUOTE, BRACE = 37, 35, 34, 123
COMMA, SEMICOLON, BAR = 44, 59, 124
PLUS, MINUS, POINT = 43, 45, 46

# The bytes of numbers, including Fortran's exponent D and the letters of nan and inf.
IN_NUMBER = np.zeros(256, np.bool_)
IN_NUMBER[np.frombuffer(b"0123456789+-.eEdDnNaAiIfF", np.uint8)] = True

_WHOLE = 2**53  # up to here a double holds every whole number
_LARGEST_WHOLE = 2**62  # largest weight; int64 holds it and what it is rounded to
_LARGEST_EXPONENT = 10**15  # larger exponents count as this, as they would overflow int64


@inner()
def is_end(c):
    """Return whether the byte may follow a number."""
    return (
        c == SPACE
        or c == NEWLINE
        or c == TAB
        or c == RETURN
        or c == COMMA
        or c == SEMICOLON
        or c == BAR
    )


@inner()
def skip_blanks(data, pos):
    """Return the offset of the next byte that is not a space, tab or carriage return."""
    while pos < data.size:
        c = data[pos]
        if c != SPACE and c != TAB and c != RETURN:
            break
        pos += 1
    return pos


@inner()
def skip_separator(data, pos):
    """Return the offset of the line's next field: after blanks and at most one of , ; |."""
    pos = skip_blanks(data, pos)
    if pos < data.size:
        c = data[pos]
        if c == COMMA or c == SEMICOLON or c == BAR:
            pos = skip_blanks(data, pos + 1)
    return pos


@inner()
def skip_white(data, pos):
    """Return the offset of the next byte that is not white space."""
    while pos < data.size:
        c = data[pos]
        if c != SPACE and c != NEWLINE and c != TAB and c != RETURN:
            break
        pos += 1
    return pos


@inner()
def skip_line(data, pos):
    """Return the offset after the line's end."""
    while pos < data.size and data[pos] != NEWLINE:
        pos += 1
    return min(pos + 1, data.size)


@inner()
def skip_field(data, pos):
    """Return the offset after the field that begins at `pos`."""
    while pos < data.size and not is_end(data[pos]):
        pos += 1
    return pos


@inner()
def read_integer(data, pos):
    """Return (code, value, offset after it) of the whole number at `pos`."""
    end = data.size
    negative = False
    if pos < end and (data[pos] == MINUS or data[pos] == PLUS):
        negative = data[pos] == MINUS
        pos += 1
    first = pos
    value = np.int64(0)
    while pos < end:
        digit = np.int64(data[pos]) - 48
        if digit < 0 or digit > 9:
            break
        if value >= 922337203685477580 and (value > 922337203685477580 or digit > 7):
            return OVERFLOW, value, pos
        value = value * 10 + digit
        pos += 1
    if pos == first or (pos < end and not is_end(data[pos])):
        return NOT_A_NUMBER, value, pos
    return OK, -value if negative else value, pos


@njit(cache=True, nogil=True, inline="always")
def read_index(data, pos, end):
    """Return the same as read_integer; faster for plain digits before `end`."""
    value, after = np.int64(0), pos
    while after < end:
        digit = np.int64(data[after]) - 48
        if digit < 0 or digit > 9:
            break
        value = value * 10 + digit
        after += 1
    code = OK
    if after == pos or after - pos > 18 or (after < end and data[after] > SPACE):
        code, value, after = read_integer(data, pos)
    return code, value, after


@inner()
def read_real(data, pos):
    """Return (code, value, offset after it) of the real number at `pos`; D may mark an exponent."""
    end = data.size
    start = pos
    negative = False
    if pos < end and (data[pos] == MINUS or data[pos] == PLUS):
        negative = data[pos] == MINUS
        pos += 1
    mantissa = np.uint64(0)  # the first digits from one that is not zero on
    kept, digits, exponent = 0, 0, 0
    fraction = False  # behind the point
    while pos < end:
        c = data[pos]
        if c == POINT and not fraction:
            fraction = True
            pos += 1
            continue
        digit = np.int64(c) - 48
        if digit < 0 or digit > 9:
            break
        digits += 1
        if kept < KEPT_DIGITS:
            mantissa = mantissa * np.uint64(10) + np.uint64(digit)
            if mantissa > 0:
                kept += 1
            if fraction:
                exponent -= 1
        elif not fraction:
            exponent += 1
        pos += 1
    if digits == 0:
        stop = skip_field(data, pos)
        return NOT_FINITE if names_no_number(data, pos, stop) else NOT_A_NUMBER, 0.0, start
    if pos < end and (data[pos] | 32 == 101 or data[pos] | 32 == 100):
        pos += 1
        minus = pos < end and data[pos] == MINUS
        if pos < end and (data[pos] == MINUS or data[pos] == PLUS):
            pos += 1
        begin = pos
        power = 0
        while pos < end and 48 <= data[pos] <= 57:
            power = min(power * 10 + np.int64(data[pos]) - 48, _LARGEST_EXPONENT)
            pos += 1
        if pos == begin:
            return NOT_A_NUMBER, 0.0, start
        exponent += -power if minus else power
    if pos < end and not is_end(data[pos]):
        return NOT_A_NUMBER, 0.0, start
    value = nearest_double(mantissa, exponent)
    if value == np.inf:
        return NOT_FINITE, value, start
    return OK, -value if negative else value, pos


@inner()
def names_no_number(data, pos, stop):
    """Return whether the field spells nan, inf or infinity."""
    if stop - pos != 3 and stop - pos != 8:
        return False
    a, b, c = data[pos] | 32, data[pos + 1] | 32, data[pos + 2] | 32
    return (a == 110 and b == 97 and c == 110) or (a == 105 and b == 110 and c == 102)


@inner()
def read_weight(data, pos, where):
    """Return (code, value, offset after it) of a number >= 0; sets where[3] if it is not whole.

    Whole numbers above 2^53 are accepted if a double holds them exactly.
    """
    code, whole, after = read_integer(data, pos)
    if code == OK:
        if whole < 0:
            return NEGATIVE, 0.0, pos
        weight = float(whole)
        if whole > _WHOLE and (whole > _LARGEST_WHOLE or np.int64(weight) != whole):
            return OVERFLOW, 0.0, pos
        return OK, weight, after
    code, value, after = read_real(data, pos)
    if code == OK and value < 0:
        return NEGATIVE, value, pos
    where[3] = 1
    return code, value, after
