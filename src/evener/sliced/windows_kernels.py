"""Kernels that make the graphs of windows: consecutive vertices that are refined together."""

# mypy: ignore-errors

from __future__ import annotations

from evener.jit import njit


@njit(cache=True, nogil=True)
def end_of_window(of, first, most):
    """Return the end of a window of at most `most` single vertices, and their number."""
    count = 0
    for v in range(first, of.size):
        if of[v] < 0:
            if count == most:
                return v, count
            count += 1
    return of.size, count


@njit(cache=True, nogil=True)
def number_window(of, blocks, first, last, part):
    """Number the single vertices of [first, last), and store their blocks in part."""
    count = 0
    for v in range(first, last):
        if of[v] < 0:
            of[v] = ~count
            part[count] = blocks[v]
            count += 1


@njit(cache=True, nogil=True)
def count_window(rows, of, first, last):
    """Count the single vertices of [first, last) among rows, and their adjacency entries."""
    begin, end = max(first - rows.first, 0), min(last - rows.first, rows.xadj.size - 1)
    count, entries = 0, 0
    for i in range(begin, end):
        if of[rows.first + i] < 0:
            count += 1
            entries += rows.xadj[i + 1] - rows.xadj[i]
    return count, entries


@njit(cache=True, nogil=True)
def list_window(rows, of, blocks, whole_part, first, last, k, degrees, entries, weights, vwgt):
    """List the edges of the single vertices of [first, last) in rows; return the number of entries.

    An entry is k + number for a single vertex of the window, else a block. Several edges to a block
    are several entries; an edge inside the window is only in the list of the vertex with the lower
    number. weights and vwgt: as in rows; empty arrays remain empty.
    """
    begin, end = max(first - rows.first, 0), min(last - rows.first, rows.xadj.size - 1)
    count, used = 0, 0
    for i in range(begin, end):
        v = rows.first + i
        if of[v] >= 0:
            continue
        start = used
        for e in range(rows.xadj[i], rows.xadj[i + 1]):
            u = rows.adjncy[e]
            c = of[u]
            if c < 0 and first <= u < last:
                if ~c < ~of[v]:
                    continue
                entries[used] = k + ~c
            else:
                entries[used] = whole_part[c] if c >= 0 else blocks[u]
            if weights.size > 0:
                weights[used] = rows.adjwgt[e]
            used += 1
        degrees[count] = used - start
        if vwgt.size > 0:
            vwgt[count] = rows.vwgt[i]
        count += 1
    return used


@njit(cache=True, nogil=True)
def put_window(of, blocks, first, last, part):
    """Set the blocks of the single vertices of [first, last) to those in part."""
    at = 0
    for v in range(first, last):
        if of[v] < 0:
            blocks[v] = part[at]
            at += 1
