"""Reads the numbers of a mesh file, and on which lines they are, in one pass over the bytes."""

# mypy: ignore-errors

from evener.io.number_kernels import (
    NEWLINE,
    OK,
    SPACE,
    TAB,
    read_real,
    skip_blanks,
    skip_line,
)
from evener.jit import njit


@njit(cache=True, nogil=True)
def scan_rows(data, pos, comment, values, first, place, where):
    """All numbers of data[pos:]; of each line that has any, its first number and its offset.

    `comment` is the byte after which the rest of a line counts for nothing, 0 where there is
    none. where = (offset of what is no number, numbers found, rows found). first has an entry
    more than there are lines.
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
    """Copy the lines whose first word is the byte `key`, without it; blank all others."""
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
    """Where the entries of each list stand: `skipped` numbers, a length, so many entries...

    first has an entry more than there are lists. Returns the list that is wrong, or -1.
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
