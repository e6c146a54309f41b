"""The parsers of every text format: one pass over the bytes, no Python loop.

A parser stops at the first thing that is wrong and returns a code; `where` then holds the byte
offset, the number meant and a count, of which the driver (`text.py`) makes a line number and a
sentence. where[3] is set where a weight was no whole number.
"""

# mypy: ignore-errors
# ruff: noqa: PLR0911, PLR1714 (a parser leaves where it stumbles)
import numpy as np
from numba import njit

from evener.filing.number_kernels import (
    BRACE,
    COLUMNS,
    FEWER_EDGES,
    HASH,
    LOOP,
    MINUS,
    NEGATIVE,
    NEWLINE,
    NOT_A_NUMBER,
    OK,
    OUT_OF_RANGE,
    OVERFLOW,
    PERCENT,
    PLUS,
    POINT,
    RETURN,
    SPACE,
    TOO_FEW,
    TOO_LONG,
    TOO_MANY,
    is_end,
    read_integer,
    read_real,
    read_weight,
    skip_blanks,
    skip_line,
    skip_separator,
    skip_white,
)

__all__ = [
    "COLUMNS",
    "FEWER_EDGES",
    "LOOP",
    "NEGATIVE",
    "NOT_A_NUMBER",
    "OK",
    "OUT_OF_RANGE",
    "TOO_FEW",
    "TOO_LONG",
    "TOO_MANY",
    "line_of_vertex",
    "read_entries",
    "read_fixed",
    "read_metis",
    "read_pairs",
    "read_scotch",
    "read_table",
]


@njit(cache=True, nogil=True)
def read_metis(
    data, pos, n, n_sizes, n_weights, has_edge_weights, xadj, adjncy, vwgt, adjwgt, where
):
    """The lines of a METIS file after its header; % begins a comment, a blank line is a vertex.

    vwgt (n * n_weights,) and adjwgt (2m or 0,) are float64; adjncy holds 2m entries.
    """
    end = data.size
    edge = 0
    xadj[0] = 0
    for v in range(n):
        where[2] = v
        while pos < end and data[pos] == PERCENT:
            pos = skip_line(data, pos)
        if pos >= end and (v < n - 1 or data[end - 1] != NEWLINE):
            where[0], where[1] = end, v
            return TOO_FEW
        for i in range(n_sizes + n_weights):
            pos = skip_blanks(data, pos)
            if pos >= end or data[pos] == NEWLINE:
                where[0] = min(pos, end - 1)
                return COLUMNS
            code, weight, after = read_weight(data, pos, where)
            if code != OK:
                where[0] = pos
                return code
            if i >= n_sizes:
                vwgt[v * n_weights + i - n_sizes] = weight
            pos = after
        while True:
            pos = skip_blanks(data, pos)
            if pos >= end:
                break
            if data[pos] == NEWLINE:
                pos += 1
                break
            where[0] = pos
            # What most numbers are, short and followed by a space, is read here.
            u = np.int64(0)
            after = pos
            while after < end and after - pos < 18:
                digit = np.int64(data[after]) - 48
                if digit < 0 or digit > 9:
                    break
                u = u * 10 + digit
                after += 1
            if after == pos or (after < end and data[after] > SPACE):
                code, u, after = read_integer(data, pos)
                if code != OK:
                    return code
            if u < 1 or u > n:
                where[1] = u
                return OUT_OF_RANGE
            if u == v + 1:
                where[1] = u
                return LOOP
            if edge >= adjncy.size:
                return TOO_MANY
            adjncy[edge] = u - 1
            pos = after
            if has_edge_weights:
                pos = skip_blanks(data, pos)
                if pos >= end or data[pos] == NEWLINE:
                    return COLUMNS
                code, weight, after = read_weight(data, pos, where)
                if code != OK:
                    where[0] = pos
                    return code
                adjwgt[edge] = weight
                pos = after
            edge += 1
        xadj[v + 1] = edge
    where[1] = edge
    while True:
        while pos < end and data[pos] == PERCENT:
            pos = skip_line(data, pos)
        before = pos
        pos = skip_white(data, pos)
        if pos >= end:
            break
        if data[pos] != PERCENT or before == pos:
            where[0] = pos
            return TOO_LONG
    return OK if edge == adjncy.size else FEWER_EDGES


@njit(cache=True, nogil=True)
def line_of_vertex(data, pos, v):
    """Offset of the line of vertex v in a METIS file whose vertices begin at `pos`."""
    for _ in range(v + 1):
        while pos < data.size and data[pos] == PERCENT:
            pos = skip_line(data, pos)
        start = pos
        pos = skip_line(data, pos)
    return start


@njit(cache=True, nogil=True)
def read_scotch(
    data,
    pos,
    n,
    has_labels,
    has_weights,
    has_edge_weights,
    xadj,
    adjncy,
    labels,
    vwgt,
    adjwgt,
    where,
):
    """The vertices of a Scotch file: [label] [load] degree, then each neighbour's [load] number.

    A stream of numbers: lines mean nothing. labels, vwgt (n or 0,), adjncy (2m,),
    adjwgt (2m or 0,).
    """
    edge = 0
    xadj[0] = 0
    for v in range(n):
        where[2] = v
        degree = np.int64(0)
        for field in range(3):
            if (field == 0 and not has_labels) or (field == 1 and not has_weights):
                continue
            pos = skip_white(data, pos)
            where[0] = pos
            if pos >= data.size:
                where[1] = v
                return TOO_FEW
            if field == 1:
                code, weight, pos = read_weight(data, pos, where)
                if code != OK:
                    return code
                vwgt[v] = weight
                continue
            code, value, pos = read_integer(data, pos)
            if code != OK:
                return code
            if field == 0:
                labels[v] = value
            else:
                degree = value
        if degree < 0:
            return NEGATIVE
        if degree > adjncy.size - edge:
            return TOO_MANY
        for _ in range(degree):
            if has_edge_weights:
                pos = skip_white(data, pos)
                where[0] = pos
                if pos >= data.size:
                    where[1] = v
                    return TOO_FEW
                code, weight, pos = read_weight(data, pos, where)
                if code != OK:
                    return code
                adjwgt[edge] = weight
            pos = skip_white(data, pos)
            where[0] = pos
            if pos >= data.size:
                where[1] = v
                return TOO_FEW
            code, value, pos = read_integer(data, pos)
            if code != OK:
                return code
            adjncy[edge] = value
            edge += 1
        xadj[v + 1] = edge
    pos = skip_white(data, pos)
    where[0], where[1] = pos, edge
    if pos < data.size:
        return TOO_LONG
    return OK if edge == adjncy.size else FEWER_EDGES


@njit(cache=True, nogil=True)
def read_entries(data, pos, n_rows, n_columns, n_values, rows, columns, where):
    """The entries of a coordinate Matrix Market file, indices from 0; values are only looked at."""
    count = 0
    while True:
        pos = skip_white(data, pos)
        if pos < data.size and data[pos] == PERCENT:
            pos = skip_line(data, pos)
            continue
        where[0], where[1] = pos, count
        if pos >= data.size:
            break
        if count >= rows.size:
            return TOO_LONG
        for side in range(2):
            where[0] = pos
            code, index, pos = read_integer(data, pos)
            if code != OK:
                return code
            if index < 1 or index > (n_rows if side == 0 else n_columns):
                where[1] = index
                return OUT_OF_RANGE
            if side == 0:
                rows[count] = index - 1
            else:
                columns[count] = index - 1
            pos = skip_blanks(data, pos)
        for i in range(n_values):
            if pos >= data.size or data[pos] == NEWLINE:
                where[0], where[1] = min(pos, data.size - 1), 2 + i
                return COLUMNS
            after = skip_value(data, pos)
            if after == pos or (after < data.size and not is_end(data[after])):
                where[0] = pos
                return NOT_A_NUMBER
            pos = skip_blanks(data, after)
        if pos < data.size and data[pos] != NEWLINE:
            where[0], where[1] = pos, 3 + n_values
            return COLUMNS
        count += 1
    return OK if count == rows.size else TOO_FEW


@njit(cache=True, nogil=True)
def skip_value(data, pos):
    """Offset past what is made of a number's characters, nan and inf included."""
    while pos < data.size:
        c = data[pos]
        if not (48 <= c <= 57 or c == MINUS or c == PLUS or c == POINT):
            small = c | 32
            # d e: exponents; a n, f i n: nan, inf
            if small != 97 and not 100 <= small <= 102 and small != 105 and small != 110:
                break
        pos += 1
    return pos


@njit(cache=True, nogil=True)
def read_pairs(data, pos, n_columns, matrix, u, v, w, where):
    """Lines of an edge list: two whole numbers, then a weight or (a matrix's) ignored values.

    Returns the number of lines in where[1]. w is empty where there is no weight to keep. Lines
    that are blank or begin with # or % are skipped; so is what begins with a brace.
    """
    count = 0
    while True:
        pos = skip_white(data, pos)
        if pos < data.size and (data[pos] == PERCENT or data[pos] == HASH):
            pos = skip_line(data, pos)
            continue
        where[0] = pos
        if pos >= data.size:
            where[1] = count
            return OK
        found = 0
        while pos < data.size and data[pos] != NEWLINE:
            where[0] = pos
            if found < 2:
                code, index, pos = read_integer(data, pos)
                if code != OK:
                    return code
                if found == 0:
                    u[count] = index
                else:
                    v[count] = index
            elif data[pos] == BRACE:
                while pos < data.size and data[pos] != NEWLINE:
                    pos += 1
                break
            elif matrix:
                after = skip_value(data, pos)
                if after == pos or (after < data.size and not is_end(data[after])):
                    return NOT_A_NUMBER
                pos = after
            else:
                code, weight, pos = read_weight(data, pos, where)
                if code != OK:
                    return code
                if w.size > 0:
                    w[count] = weight
            found += 1
            pos = skip_separator(data, pos)
        if found != n_columns:
            where[1] = found
            return COLUMNS
        count += 1


@njit(cache=True, nogil=True)
def read_table(data, pos, n_columns, table, where):
    """Lines of `n_columns` real numbers each into the flat `table`; rows found in where[1]."""
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
    """Whole numbers in Fortran's fixed columns, `per_line` of `width` each; where[1] = offset."""
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
