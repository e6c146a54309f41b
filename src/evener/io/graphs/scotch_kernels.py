"""Reads the stream of numbers of Scotch graph files; errors as in text_kernels."""

# mypy: ignore-errors
# ruff: noqa: PLR0911 (a parser leaves where it stumbles)
import numpy as np

from evener.io.number_kernels import (
    FEWER_EDGES,
    NEGATIVE,
    OK,
    TOO_FEW,
    TOO_LONG,
    TOO_MANY,
    read_integer,
    read_weight,
    skip_white,
)
from evener.jit import njit


@njit(cache=True, nogil=True)
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
