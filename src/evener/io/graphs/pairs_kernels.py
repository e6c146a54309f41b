"""Reads the lines of edge lists and matrix entries: two numbers or names, and further values.

Errors are reported as in text_kernels. read_pairs uses no reference counting, as in lists_kernels.
"""

# mypy: ignore-errors

import numpy as np

from evener.io.number_kernels import (
    BAR,
    BRACE,
    COLUMNS,
    COMMA,
    HASH,
    IN_NUMBER,
    NEWLINE,
    NOT_A_NUMBER,
    OK,
    OUT_OF_RANGE,
    PERCENT,
    QUOTE,
    RETURN,
    SEMICOLON,
    SPACE,
    TAB,
    TOO_LONG,
    is_end,
    read_index,
    read_real,
    read_weight,
    skip_blanks,
    skip_line,
    skip_white,
)
from evener.jit import inner, njit

EDGES, TRIPLETS, ENTRIES = 0, 1, 2  # forms of lines that read_pairs knows


@njit(cache=True, nogil=True, inline="always")
def past_blanks(data, pos, end):
    """Return the offset of the next byte that is not a space, tab or carriage return."""
    while pos < end and (data[pos] == SPACE or data[pos] == TAB or data[pos] == RETURN):
        pos += 1
    return pos


@njit(cache=True, nogil=True, inline="always")
def next_field(data, pos, end, marks):
    """Return the offset of the line's next field; if `marks` is not None, skip one of , ; | too."""
    while pos < end and (data[pos] == SPACE or data[pos] == TAB or data[pos] == RETURN):
        pos += 1
    if marks is not None:
        if pos < end and (data[pos] == COMMA or data[pos] == SEMICOLON or data[pos] == BAR):
            pos = skip_blanks(data, pos + 1)
    return pos


@njit(cache=True, nogil=True, inline="always")
def past_number(data, pos, end):
    """Return the offset after the bytes from `pos` on that can belong to a number."""
    while pos < end and IN_NUMBER[data[pos]]:
        pos += 1
    return pos


@njit(cache=True, nogil=True, inline="always")
def read_value(data, pos, form, keeps, where):
    """Return (code, value, offset after it) of the value at `pos`.

    If `form` is EDGES, the value is a weight. keeps: whether values of a matrix are used; if not,
    only their bytes are checked.
    """
    code, value, after = OK, 0.0, pos
    if form == EDGES:
        code, value, after = read_weight(data, pos, where)
    elif keeps:
        code, value, after = read_real(data, pos)
    else:
        after = past_number(data, pos, data.size)
        code = OK if after > pos else NOT_A_NUMBER
    return code, value, after


@njit(cache=True, nogil=True, counted=False)
def read_pairs(data, pos, end, n_columns, form, marks, limits, u, v, w, where):
    """Read lines of two whole numbers and n_columns - 2 values, from `pos` to the line end `end`.

    limits: the lowest number, and the highest first and second number of a line. Values are stored
    in w; if w is empty, they are only checked. If `form` is EDGES, values are weights >= 0; else
    they may be any numbers. If it is ENTRIES (Matrix Market), rows and columns count from 1. Lines
    that begin with % are skipped. marks: None for Matrix Market: only blanks separate fields; True:
    , ; | separate fields, too; # begins a comment, and text from { on is ignored. where[1]: number
    of lines.
    """
    lowest, highest_u, highest_v = limits
    first, checked_alone, count = int(form == ENTRIES), form != EDGES and w.size == 0, 0
    while True:
        while pos < end and (
            data[pos] == NEWLINE or data[pos] == SPACE or data[pos] == TAB or data[pos] == RETURN
        ):
            pos += 1
        if pos < end and (data[pos] == PERCENT or (marks is not None and data[pos] == HASH)):
            pos = skip_line(data, pos)
            continue
        where[0], where[1] = pos, count
        if pos >= end:
            return OK
        if count >= u.size:
            return TOO_LONG
        code, value, pos = read_index(data, pos, end)
        if code != OK:
            return code
        if value < lowest or value > highest_u:
            where[1] = value
            return OUT_OF_RANGE
        u[count] = value - first
        pos = next_field(data, pos, end, marks)
        if pos >= end or data[pos] == NEWLINE:
            where[1] = 1
            return COLUMNS
        where[0] = pos
        code, value, after = read_index(data, pos, end)
        if code != OK:
            return code
        if value < lowest or value > highest_v:
            where[1] = value
            return OUT_OF_RANGE
        v[count] = value - first
        pos, found = next_field(data, after, end, marks), 2
        # A loop of its own for what most matrices hold takes less time.
        while checked_alone and pos < end and data[pos] != NEWLINE:
            after = past_number(data, pos, end)
            if after == pos or (after < end and data[after] > SPACE):
                break
            found += 1
            pos = past_blanks(data, after, end)
        while pos < end and data[pos] != NEWLINE:
            where[0] = pos
            if marks is not None and data[pos] == BRACE:
                while pos < end and data[pos] != NEWLINE:
                    pos += 1
                break
            code, value, after = read_value(data, pos, form, w.size > 0, where)
            if code == OK and after < end and data[after] > SPACE:
                code = OK if marks is not None and is_end(data[after]) else NOT_A_NUMBER
            if code != OK:
                return code
            if w.size > 0:
                w[count] = value
            pos = next_field(data, after, end, marks)
            found += 1
        if found != n_columns:
            where[1] = found
            return COLUMNS
        count += 1


@njit(cache=True, nogil=True)
def read_named_pairs(data, pos, separator, n_columns, table, first, last, u, v, w, where):
    """Read lines of two names and an optional weight; separator 0 means any run of blanks.

    Distinct names are numbered in order of appearance, without copies: a hash table with linear
    probing stores the number of each name, and names of equal length in a slot are compared byte by
    byte. table (a power of two, more than twice the names) begins filled with -1; first, last get
    the offsets of each name's first byte and of its end. where[1]: number of lines; where[2]:
    number of names.
    """
    count, names = 0, 0
    while True:
        pos = skip_white(data, pos)
        if pos < data.size and (data[pos] == PERCENT or data[pos] == HASH):
            pos = skip_line(data, pos)
            continue
        where[0] = pos
        if pos >= data.size:
            where[1], where[2] = count, names
            return OK
        found = 0
        while pos < data.size and data[pos] != NEWLINE:
            where[0] = pos
            if found == 2 and data[pos] == BRACE:
                while pos < data.size and data[pos] != NEWLINE:
                    pos += 1
                break
            start, stop, pos = field(data, pos, separator)
            if found < 2:
                if start == stop:
                    where[1] = found
                    return COLUMNS
                name = number_of(data, start, stop, names, table, first, last)
                names = max(names, name + 1)
                if found == 0:
                    u[count] = name
                else:
                    v[count] = name
            elif found < n_columns:
                code, weight, _ = read_weight(data[:stop], start, where)
                if code != OK:
                    where[0] = start
                    return code
                w[count] = weight
            found += 1
        if found != n_columns:
            where[1] = found
            return COLUMNS
        count += 1


@njit(cache=True, nogil=True)
def field(data, pos, separator):
    """Return (offset of the field at `pos`, offset of its end, offset of the next field)."""
    end = data.size
    if data[pos] == QUOTE:
        start = pos + 1
        stop = start
        while stop < end and data[stop] != QUOTE and data[stop] != NEWLINE:
            stop += 1
        pos = min(stop + 1, end) if stop < end and data[stop] == QUOTE else stop
    else:
        start = pos
        while pos < end and data[pos] != NEWLINE and not is_separator(data[pos], separator):
            pos += 1
        stop = pos
        while stop > start and (data[stop - 1] == SPACE or data[stop - 1] == RETURN):
            stop -= 1
    passed = False
    while pos < end and data[pos] != NEWLINE:
        c = data[pos]
        if separator != 0 and c == separator and not passed:
            passed = True
        elif c != SPACE and c != RETURN and not (c == TAB and separator != TAB):
            break
        pos += 1
    return start, stop, pos


@inner()
def is_separator(c, separator):
    """Return whether the byte ends a field; if separator is 0, any blank does."""
    if separator != 0:
        return c == separator
    return c == SPACE or c == TAB or c == RETURN


@inner()
def number_of(data, start, stop, names, table, first, last):
    """Return the number of the name; a new name gets the number `names`."""
    h = np.uint64(14695981039346656037)
    for i in range(start, stop):
        h = (h ^ np.uint64(data[i])) * np.uint64(1099511628211)
    h ^= h >> np.uint64(29)
    slot = np.int64(h & np.uint64(table.size - 1))
    while table[slot] >= 0:
        name = table[slot]
        if last[name] - first[name] == stop - start:
            same = True
            for i in range(stop - start):
                if data[first[name] + i] != data[start + i]:
                    same = False
                    break
            if same:
                return name
        slot = (slot + 1) & (table.size - 1)
    table[slot] = names
    first[names], last[names] = start, stop
    return names
