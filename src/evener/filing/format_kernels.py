"""Numbers into text: whole numbers to decimal digits, straight into a buffer.

The trick: the caller gives a buffer with room for the longest number everywhere; the kernel fills
its front and says how far. One pass, no strings.
"""

# mypy: ignore-errors
import numpy as np

from evener.jit_kernels import inner, njit

WIDTH = 20  # bytes of the longest 64-bit number with its sign, or with the blank after it

SPACE, NEWLINE, MINUS, ZERO = 32, 10, 45, 48


@inner()
def put(value, buffer, pos):
    """Write the number's digits at `pos`; returns the offset past them."""
    if value < 0:
        buffer[pos] = MINUS
        pos += 1
        value = -value
    length = 1
    rest = value // 10
    while rest > 0:
        length += 1
        rest //= 10
    for i in range(length):
        buffer[pos + length - 1 - i] = ZERO + value % 10
        value //= 10
    return pos + length


@njit(cache=True, nogil=True)
def put_lists(
    first, last, xadj, adjncy, base, with_degree, vwgt, n_weights, adjwgt, edge_first, buffer
):
    """A line for each vertex of [first, last): weights, perhaps the degree, then neighbours.

    vwgt (n * n_weights,) and adjwgt (2m or 0,) are int64; an edge's weight stands after its
    neighbour's number, before it if `edge_first`. Returns the bytes written.
    """
    pos = 0
    for v in range(first, last):
        blank = False
        for i in range(n_weights):
            if blank:
                buffer[pos] = SPACE
                pos += 1
            pos = put(vwgt[v * n_weights + i], buffer, pos)
            blank = True
        if with_degree:
            if blank:
                buffer[pos] = SPACE
                pos += 1
            pos = put(xadj[v + 1] - xadj[v], buffer, pos)
            blank = True
        for e in range(xadj[v], xadj[v + 1]):
            if blank:
                buffer[pos] = SPACE
                pos += 1
            blank = True
            if adjwgt.size > 0 and edge_first:
                pos = put(adjwgt[e], buffer, pos)
                buffer[pos] = SPACE
                pos += 1
            pos = put(np.int64(adjncy[e]) + base, buffer, pos)
            if adjwgt.size > 0 and not edge_first:
                buffer[pos] = SPACE
                pos = put(adjwgt[e], buffer, pos + 1)
        buffer[pos] = NEWLINE
        pos += 1
    return pos


@njit(cache=True, nogil=True)
def put_columns(columns, separator, buffer):
    """A line for each row of the (rows, c) int64 table; returns the bytes written."""
    pos = 0
    for i in range(columns.shape[0]):
        for j in range(columns.shape[1]):
            if j > 0:
                buffer[pos] = separator
                pos += 1
            pos = put(columns[i, j], buffer, pos)
        buffer[pos] = NEWLINE
        pos += 1
    return pos
