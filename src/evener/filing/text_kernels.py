"""Tables of real numbers; and how all parsers of text say where they stumbled.

A parser stops at the first thing that is wrong and returns a code of number_kernels; `where` then
holds the byte offset, the number meant and a count, of which the driver (`text.py`) makes a line
number and a sentence. where[3] is set where a weight was no whole number.
"""

# mypy: ignore-errors

from evener.filing.number_kernels import (
    COLUMNS,
    HASH,
    NEWLINE,
    OK,
    PERCENT,
    TOO_LONG,
    read_real,
    skip_line,
    skip_separator,
    skip_white,
)
from evener.jit_kernels import njit


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
