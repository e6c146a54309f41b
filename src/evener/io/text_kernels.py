"""Parses tables and lines of numbers, and writes whole numbers as text.

All parsers of text report errors in one way: a parser stops at the first error and returns a code
of number_kernels; `where` (4,) then holds the error's byte offset, a number and a count, from which
text.refuse makes a line number and a sentence. where[3] is set if a weight is not a whole number.

Writers fill a buffer with space for the longest possible numbers, and return the number of bytes
used.
"""

# mypy: ignore-errors

import numpy as np

from evener.io.number_kernels import (
    COLUMNS,
    HASH,
    MINUS,
    NEWLINE,
    NOT_A_NUMBER,
    OK,
    OVERFLOW,
    PERCENT,
    RETURN,
    SPACE,
    TAB,
    TOO_FEW,
    TOO_LONG,
    read_real,
    skip_blanks,
    skip_line,
    skip_separator,
    skip_white,
)
from evener.jit import inner, njit


@njit(cache=True, nogil=True)
def read_table(data, pos, n_columns, table, where):
    """Read lines of `n_columns` real numbers each into the flat `table`; where[1]: rows read."""
    count = 0
    while True:
        pos = skip_white(data, pos)
        if pos < data.size and (data[pos] == PERCENT or data[pos] == HASH):
            pos = skip_line(data, pos)
            continue
        where[0], where[1] = pos, count
        if pos >= data.size:
            return OK
        found = 0
        while pos < data.size and data[pos] != NEWLINE:
            where[0] = pos
            if found == n_columns:
                where[1] = found + 1
                return COLUMNS
            if count * n_columns + found >= table.size:
                return TOO_LONG
            code, value, pos = read_real(data, pos)
            if code != OK:
                return code
            table[count * n_columns + found] = value
            found += 1
            pos = skip_separator(data, pos)
        if found != n_columns:
            where[1] = found
            return COLUMNS
        count += 1


@njit(cache=True, nogil=True)
def read_fixed(data, pos, per_line, width, numbers, where):
    """Fill `numbers` from Fortran's fixed columns; where[1]: the offset after them.

    per_line, width: number of fields per line, and bytes of each field.
    """
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


@njit(cache=True, nogil=True)
def scan_rows(data, pos, comment, values, first, place, where):
    """Read all numbers of data[pos:], and the offset of each line with numbers.

    comment: the byte after which the rest of a line is ignored; 0: none. Line i holds
    values[first[i]:first[i + 1]] and begins at place[i]; first has one entry more than there are
    lines. where = (offset of the first text that is not a number, numbers found, rows found).
    """
    end = data.size
    found, rows = 0, 0
    in_row = False
    while True:
        pos = skip_blanks(data, pos)
        if pos >= end:
            break
        c = data[pos]
        if c == NEWLINE:
            in_row = False
            pos += 1
            continue
        if comment != 0 and c == comment:
            pos = skip_line(data, pos)
            in_row = False
            continue
        if not in_row:
            first[rows] = found
            place[rows] = pos
            rows += 1
            in_row = True
        code, value, after = read_real(data, pos)
        where[0] = pos
        if code != OK:
            return code
        if after == pos:
            return 1
        values[found] = value
        found += 1
        pos = after
    first[rows] = found
    where[1], where[2] = found, rows
    return OK


@njit(cache=True, nogil=True)
def keep_lines(data, key, out):
    """Copy the lines that begin with the word `key`, a byte, without this word; blank all
    others."""
    pos = 0
    while pos < data.size:
        first = skip_blanks(data, pos)
        after = first + 1
        keep = after < data.size and data[first] == key
        keep = keep and (data[after] == SPACE or data[after] == TAB)
        while pos < data.size and data[pos] != NEWLINE:
            out[pos] = data[pos] if keep and pos > first else SPACE
            pos += 1
        if pos < data.size:
            out[pos] = NEWLINE
            pos += 1


@njit(cache=True, nogil=True)
def walk_lists(values, first, skipped):
    """Find the entries of lists: each is `skipped` numbers to ignore, a length, then the entries.

    first has one entry more than there are lists. Returns the number of the first wrong list, or
    -1.
    """
    at = 0
    for i in range(first.size - 1):
        at += skipped
        if at >= values.size or not (0 <= values[at] <= values.size - at - 1):
            return i
        first[i] = at + 1
        at += 1 + int(values[at])
    first[first.size - 1] = at
    return -1


WIDTH = 20  # bytes of the longest 64-bit number with its sign, or with the blank after it

ZERO = 48


@inner()
def put(value, buffer, pos):
    """Write the number's digits at `pos`; return the offset after them."""
    if value < 0:
        buffer[pos] = MINUS
        pos += 1
        value = -value
    length = 1
    rest = value // 10
    while rest > 0:
        length += 1
        rest //= 10
    for i in range(length):
        buffer[pos + length - 1 - i] = ZERO + value % 10
        value //= 10
    return pos + length


@njit(cache=True, nogil=True)
def put_lists(
    first, last, xadj, adjncy, base, with_degree, vwgt, n_weights, adjwgt, edge_first, buffer
):
    """Write a line for each vertex of [first, last): weights, perhaps the degree, neighbours.

    vwgt (n * n_weights,) and adjwgt (2m or 0,) are int64; an edge's weight follows the neighbour's
    number or, if `edge_first`, precedes it. Returns the number of bytes written.
    """
    pos = 0
    for v in range(first, last):
        blank = False
        for i in range(n_weights):
            if blank:
                buffer[pos] = SPACE
                pos += 1
            pos = put(vwgt[v * n_weights + i], buffer, pos)
            blank = True
        if with_degree:
            if blank:
                buffer[pos] = SPACE
                pos += 1
            pos = put(xadj[v + 1] - xadj[v], buffer, pos)
            blank = True
        for e in range(xadj[v], xadj[v + 1]):
            if blank:
                buffer[pos] = SPACE
                pos += 1
            blank = True
            if adjwgt.size > 0 and edge_first:
                pos = put(adjwgt[e], buffer, pos)
                buffer[pos] = SPACE
                pos += 1
            pos = put(np.int64(adjncy[e]) + base, buffer, pos)
            if adjwgt.size > 0 and not edge_first:
                buffer[pos] = SPACE
                pos = put(adjwgt[e], buffer, pos + 1)
        buffer[pos] = NEWLINE
        pos += 1
    return pos


@njit(cache=True, nogil=True)
def put_columns(columns, separator, buffer):
    """Write a line for each row of the (rows, c) int64 table; return the number of bytes."""
    pos = 0
    for i in range(columns.shape[0]):
        for j in range(columns.shape[1]):
            if j > 0:
                buffer[pos] = separator
                pos += 1
            pos = put(columns[i, j], buffer, pos)
        buffer[pos] = NEWLINE
        pos += 1
    return pos
