"""Reads METIS lists without weights and comments; io.graphs.lists_kernels reads all others."""

# mypy: ignore-errors
import numpy as np

from evener.io.number_kernels import NEWLINE, RETURN, SPACE, TAB
from evener.jit import njit

READ, ODD = 0, 1
_DIGITS = 10  # of a number below 2^31


@njit(cache=True, nogil=True, counted=False)
def read_plain(data, pos, n, first, xadj, adjncy, where):
    """Read the lists of the vertices from `first` on, from the offset `pos` on.

    data ends with a line end. Reads until the text or xadj ends; where = (lines read, offset after
    them). Returns ODD if a list contains anything but ascending neighbours in range: then it is of
    another kind, or wrong.
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
