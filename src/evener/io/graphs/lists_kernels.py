"""Reads the adjacency lists of METIS and Scotch files in one pass; reports errors like
text_kernels.

Reference counting is off: it would take longer than reading the numbers.
"""

# mypy: ignore-errors
# ruff: noqa: PLR0911 (a parser leaves where it stumbles)

import numpy as np

from evener.io.number_kernels import (
    COLUMNS,
    FEWER_EDGES,
    LOOP,
    NEGATIVE,
    NEWLINE,
    OK,
    OUT_OF_RANGE,
    PERCENT,
    RETURN,
    SPACE,
    TAB,
    TOO_FEW,
    TOO_LONG,
    TOO_MANY,
    read_index,
    read_integer,
    read_weight,
    skip_blanks,
    skip_line,
    skip_white,
)
from evener.jit import inner, njit


@njit(cache=True, nogil=True, counted=False)
def read_metis(
    data, pos, n, first, n_sizes, n_weights, has_edge_weights, xadj, adjncy, vwgt, adjwgt, where
):
    """Read the lists of METIS's vertices from `first` on, as many as fit in xadj.

    n: number of vertices of the graph. A % begins a comment; a blank line is a vertex without
    edges. vwgt (rows * n_weights,) and adjwgt (arcs or 0,) are float64; adjncy (arcs,) has the
    expected number of entries.
    """
    end = data.size
    edge = 0
    xadj[0] = 0
    for v in range(xadj.size - 1):
        where[2] = v
        while pos < end and data[pos] == PERCENT:
            pos = skip_line(data, pos)
        if pos >= end:
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
            code, u, after = read_index(data, pos, end)
            if code != OK:
                return code
            if u < 1 or u > n:
                where[1] = u
                return OUT_OF_RANGE
            if u == v + first + 1:
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
    where[0], where[1] = text_behind(data, pos), edge
    if where[0] < end:
        return TOO_LONG
    return OK if edge == adjncy.size else FEWER_EDGES


@inner()
def text_behind(data, pos):
    """Return the offset of the first text after the lists that is not a comment, or data.size."""
    while True:
        while pos < data.size and data[pos] == PERCENT:
            pos = skip_line(data, pos)
        before = pos
        pos = skip_white(data, pos)
        if pos >= data.size or data[pos] != PERCENT or before == pos:
            return pos


@njit(cache=True, nogil=True)
def line_of_vertex(data, pos, v):
    """Return the offset of the line of vertex v in a METIS file whose vertices begin at `pos`."""
    for _ in range(v + 1):
        while pos < data.size and data[pos] == PERCENT:
            pos = skip_line(data, pos)
        start = pos
        pos = skip_line(data, pos)
    return start


@njit(cache=True, nogil=True, counted=False)
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
    """Read the vertices: [label] [load] degree, then [load] and number of each neighbour.

    Line ends count as blanks. labels, vwgt (n or 0,), adjncy (2m,),
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
