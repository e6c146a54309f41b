"""Reads the lines of edge lists and triplets; errors as in text_kernels.

Blanks are skipped and short numbers read in the loop itself, as in metis_kernels.
"""

# mypy: ignore-errors

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
    PERCENT,
    RETURN,
    SEMICOLON,
    SPACE,
    TAB,
    is_end,
    read_index,
    read_weight,
    skip_blanks,
    skip_line,
)
from evener.jit import njit


@njit(cache=True, nogil=True)
def read_pairs(data, pos, end, n_columns, matrix, u, v, w, where):
    """Read the lines of an edge list from `pos` to the line that ends at `end`.

    A line has two whole numbers, then a weight or, if `matrix` is set, values that are checked but
    not kept. where[1]: the number of lines. w is empty if no weight is kept. Blank lines, lines
    that begin with # or %, and a field that begins with a brace are skipped.
    """
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
                code, value, after = read_index(data, pos, end)
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
