"""Reads whole numbers in Fortran's fixed columns; errors as in text_kernels."""

# mypy: ignore-errors

import numpy as np

from evener.io.number_kernels import (
    MINUS,
    NEWLINE,
    NOT_A_NUMBER,
    OK,
    OVERFLOW,
    RETURN,
    SPACE,
    TOO_FEW,
    TOO_LONG,
    skip_blanks,
)
from evener.jit import njit


@njit(cache=True, nogil=True)
def read_fixed(data, pos, per_line, width, numbers, where):
    """Fill `numbers`, `per_line` fields of `width` bytes a line; where[1]: the offset behind."""
    count = 0
    while count < numbers.size:
        where[0] = pos
        if pos >= data.size:
            where[1] = count
            return TOO_FEW
        for _ in range(per_line):
            if count >= numbers.size:
                break
            value = np.int64(0)
            digits = 0
            negative = False
            stop = min(pos + width, data.size)
            for i in range(pos, stop):
                c = data[i]
                where[0] = i
                if c == NEWLINE or c == RETURN:
                    stop = i
                    break
                if c == MINUS and digits == 0 and not negative:
                    negative = True
                elif 48 <= c <= 57:
                    if digits >= 18:
                        return OVERFLOW
                    value = value * 10 + np.int64(c) - 48
                    digits += 1
                elif c != SPACE or digits > 0 or negative:
                    return NOT_A_NUMBER
            if digits == 0:
                return NOT_A_NUMBER
            numbers[count] = -value if negative else value
            count += 1
            pos = stop
        rest = skip_blanks(data, pos)
        where[0] = rest
        if rest < data.size and data[rest] != NEWLINE:
            return TOO_LONG
        pos = min(rest + 1, data.size)
    where[1] = pos
    return OK
