"""The parsers of every text format: one pass over the bytes, no Python loop.

A parser stops at the first thing that is wrong and returns a code; `where` then holds the byte
offset, the number meant and a count, of which the driver (`text.py`) makes a line number and a
sentence. where[3] is set where a weight was no whole number.

In the innermost loops blanks are skipped and short numbers read on the spot: a call that is handed
an array counts a reference up and down, which costs more than the number it would read.
"""

# mypy: ignore-errors
# ruff: noqa: PLR0911 (a parser leaves where it stumbles)
import numpy as np
from numba import njit

from evener.filing.number_kernels import (
    BAR,
    BRACE,
    COLUMNS,
    COMMA,
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
    RETURN,
    SEMICOLON,
    SPACE,
    TAB,
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


# Bytes that numbers are made of, Fortran's D and what spells nan and inf with them.
IN_NUMBER = np.zeros(256, np.bool_)
IN_NUMBER[np.frombuffer(b"0123456789+-.eEdDnNaAiIfF", np.uint8)] = True


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
            while pos < end and (data[pos] == SPACE or data[pos] == TAB or data[pos] == RETURN):
                pos += 1
            if pos >= end:
                break
            if data[pos] == NEWLINE:
                pos += 1
                break
            where[0] = pos
            u, after = np.int64(0), pos
            while after < end:
                digit = np.int64(data[after]) - 48
                if digit < 0 or digit > 9:
                    break
                u = u * 10 + digit
                after += 1
            if after == pos or after - pos > 18 or (after < end and data[after] > SPACE):
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
    end = data.size
    count = 0
    while True:
        while pos < end and (
            data[pos] == NEWLINE or data[pos] == SPACE or data[pos] == TAB or data[pos] == RETURN
        ):
            pos += 1
        if pos < end and data[pos] == PERCENT:
            pos = skip_line(data, pos)
            continue
        where[0], where[1] = pos, count
        if pos >= end:
            break
        if count >= rows.size:
            return TOO_LONG
        value, after = np.int64(0), pos
        while after < end:
            digit = np.int64(data[after]) - 48
            if digit < 0 or digit > 9:
                break
            value = value * 10 + digit
            after += 1
        if after == pos or after - pos > 18 or (after < end and data[after] > SPACE):
            code, value, after = read_integer(data, pos)
            if code != OK:
                return code
        if value < 1 or value > n_rows:
            where[1] = value
            return OUT_OF_RANGE
        rows[count] = value - 1
        pos = after
        while pos < end and (data[pos] == SPACE or data[pos] == TAB or data[pos] == RETURN):
            pos += 1
        where[0] = pos
        value, after = np.int64(0), pos
        while after < end:
            digit = np.int64(data[after]) - 48
            if digit < 0 or digit > 9:
                break
            value = value * 10 + digit
            after += 1
        if after == pos or after - pos > 18 or (after < end and data[after] > SPACE):
            code, value, after = read_integer(data, pos)
            if code != OK:
                return code
        if value < 1 or value > n_columns:
            where[1] = value
            return OUT_OF_RANGE
        columns[count] = value - 1
        pos = after
        while pos < end and (data[pos] == SPACE or data[pos] == TAB or data[pos] == RETURN):
            pos += 1
        for i in range(n_values):
            if pos >= end or data[pos] == NEWLINE:
                where[0], where[1] = min(pos, end - 1), 2 + i
                return COLUMNS
            after = pos
            while after < end and IN_NUMBER[data[after]]:
                after += 1
            if after == pos or (after < end and data[after] > SPACE):
                where[0] = pos
                return NOT_A_NUMBER
            pos = after
            while pos < end and (data[pos] == SPACE or data[pos] == TAB or data[pos] == RETURN):
                pos += 1
        if pos < end and data[pos] != NEWLINE:
            where[0], where[1] = pos, 3 + n_values
            return COLUMNS
        count += 1
    return OK if count == rows.size else TOO_FEW


@njit(cache=True, nogil=True)
def read_pairs(data, pos, n_columns, matrix, u, v, w, where):
    """Lines of an edge list: two whole numbers, then a weight or (a matrix's) ignored values.

    Returns the number of lines in where[1]. w is empty where there is no weight to keep. Lines
    that are blank or begin with # or % are skipped; so is what begins with a brace.
    """
    end = data.size
    count = 0
    while True:
        while pos < end and (
            data[pos] == NEWLINE or data[pos] == SPACE or data[pos] == TAB or data[pos] == RETURN
        ):
            pos += 1
        if pos < end and (data[pos] == PERCENT or data[pos] == HASH):
            pos = skip_line(data, pos)
            continue
        where[0] = pos
        if pos >= end:
            where[1] = count
            return OK
        found = 0
        while pos < end and data[pos] != NEWLINE:
            where[0] = pos
            if found < 2:
                value, after = np.int64(0), pos
                while after < end:
                    digit = np.int64(data[after]) - 48
                    if digit < 0 or digit > 9:
                        break
                    value = value * 10 + digit
                    after += 1
                if after == pos or after - pos > 18 or (after < end and data[after] > SPACE):
                    code, value, after = read_integer(data, pos)
                    if code != OK:
                        return code
                if found == 0:
                    u[count] = value
                else:
                    v[count] = value
                pos = after
            elif data[pos] == BRACE:
                while pos < end and data[pos] != NEWLINE:
                    pos += 1
                break
            elif matrix:
                after = pos
                while after < end and IN_NUMBER[data[after]]:
                    after += 1
                if after == pos or (after < end and not is_end(data[after])):
                    return NOT_A_NUMBER
                pos = after
            else:
                code, weight, pos = read_weight(data, pos, where)
                if code != OK:
                    return code
                if w.size > 0:
                    w[count] = weight
            found += 1
            while pos < end and (data[pos] == SPACE or data[pos] == TAB or data[pos] == RETURN):
                pos += 1
            if pos < end and (data[pos] == COMMA or data[pos] == SEMICOLON or data[pos] == BAR):
                pos = skip_blanks(data, pos + 1)
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
