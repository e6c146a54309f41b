"""Reads the entries of Matrix Market files; errors as in text_kernels.

Blanks are skipped and short numbers read in the loop itself, as in metis_kernels.
"""

# mypy: ignore-errors

from evener.io.number_kernels import (
    COLUMNS,
    IN_NUMBER,
    NEWLINE,
    NOT_A_NUMBER,
    OK,
    OUT_OF_RANGE,
    PERCENT,
    RETURN,
    SPACE,
    TAB,
    TOO_FEW,
    TOO_LONG,
    read_index,
    skip_line,
)
from evener.jit import njit


@njit(cache=True, nogil=True)
def read_entries(data, pos, end, n_rows, n_columns, n_values, rows, columns, where):
    """Read the entries of a coordinate file from `pos` to the line that ends at `end`.

    Indices count from 0 in rows, columns. Values are checked, not kept. where[1]: entries read.
    """
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
        code, value, after = read_index(data, pos, end)
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
        code, value, after = read_index(data, pos, end)
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
