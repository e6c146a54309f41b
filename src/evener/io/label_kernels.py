"""Parses edge lists of names; numbers the distinct names in the order of their appearance.

Names are not copied: a hash table with linear probing holds where each first stands in the text,
and names of equal hashes are compared byte by byte.
"""

# mypy: ignore-errors

import numpy as np

from evener.io.number_kernels import (
    BRACE,
    COLUMNS,
    HASH,
    NEWLINE,
    OK,
    PERCENT,
    QUOTE,
    RETURN,
    SPACE,
    TAB,
    read_weight,
    skip_line,
    skip_white,
)
from evener.jit import inner, njit


@njit(cache=True, nogil=True)
def read_named_pairs(data, pos, separator, n_columns, table, first, last, u, v, w, where):
    """Read lines of two names and perhaps a weight; separator 0 is any run of blanks.

    table (a power of two, more than twice the names,) starts as -1; first, last receive the
    bytes of each name; where[1] the number of lines, where[2] that of names.
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
    """(first byte, past the last, where the next begins) of the field at `pos`."""
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
    """Whether the byte ends a field; with separator 0 every blank does."""
    if separator != 0:
        return c == separator
    return c == SPACE or c == TAB or c == RETURN


@inner()
def number_of(data, start, stop, names, table, first, last):
    """Number of the name, `names` where it is new."""
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
