"""Reads the plain lists of METIS files: neither weights nor comments, which others read."""

# mypy: ignore-errors
import numpy as np

from evener.io.number_kernels import NEWLINE, RETURN, SPACE, TAB
from evener.jit import njit

READ, ODD = 0, 1
_DIGITS = 10  # of a number below 2^31


@njit(cache=True, nogil=True, counted=False)
def read_plain(data, pos, n, first, xadj, adjncy, where):
    """Read lines from the offset `pos` on, those of the vertices from `first` on.

    data ends with a line's end. As many lines are read as there are, or xadj has offsets for, less
    one; where = (lines, offset behind them). ODD: something else than ascending neighbours in range
    is met: another kind of lists, or a mistake.
    """
    end = data.size
    row, edge, rows = 0, 0, xadj.size - 1
    xadj[0] = 0
    while row < rows and pos < end:
        own = first + row
        before = np.int64(-1)
        while True:
            c = np.int64(data[pos])
            digit = np.uint64(c - 48)
            if digit < 10:
                begin = pos
                value = np.int64(digit)
                pos += 1
                digit = np.uint64(np.int64(data[pos]) - 48)
                while digit < 10:
                    value = value * 10 + np.int64(digit)
                    pos += 1
                    digit = np.uint64(np.int64(data[pos]) - 48)
                u = value - 1
                if pos - begin > _DIGITS or u <= before or u >= n or u == own:
                    return ODD
                before = u
                adjncy[edge] = u
                edge += 1
                c = np.int64(data[pos])
            if c == NEWLINE:
                pos += 1
                break
            if c != SPACE and c != TAB and c != RETURN:
                return ODD
            pos += 1
        row += 1
        xadj[row] = edge
    where[0], where[1] = row, pos
    return READ
