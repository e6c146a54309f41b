"""Checks of distributed rows: neighbours exist, are listed once each, and edges are symmetric."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from evener.arrays import IntVector
from evener.errors import InputError
from evener.graphs import graph_kernels
from evener.running.comm import Comm
from evener.sliced import distributed_kernels as kernels
from evener.sliced.dealing import Dealing, bounds_of
from evener.sliced.gathering import exchanged
from evener.sliced.given_rows import OwnRows, no_vertex
from evener.sliced.rows import N_SLICES, slice_ends


def check_entries(rows: OwnRows, n: int, dealing: Dealing) -> OwnRows:
    """Return the rows in ascending order. Raises InputError for loops, repeats, wrong numbers.

    dealing: used to name the rank that passed a wrong row.
    """
    where = np.zeros(2, np.int64)
    found = kernels.check_rows(rows.xadj, rows.adjncy, rows.first, n, where)
    if found == kernels.UNSORTED:
        rows = _sorted(rows)
        found = kernels.check_rows(rows.xadj, rows.adjncy, rows.first, n, where)
    if found == kernels.FINE:
        return rows
    row, entry = where.tolist()
    rank, vertex = dealing.holder_of(row), rows.first + row
    if found == kernels.OUT_OF_RANGE:
        raise no_vertex(rank, vertex, entry, n)
    if found == kernels.LOOP:
        raise InputError(f"rank {rank}: vertex {vertex} is its own neighbour")
    raise InputError(f"rank {rank}: vertex {vertex} has neighbour {entry} more than once")


def _sorted(rows: OwnRows) -> OwnRows:
    adjncy = rows.adjncy.copy()  # it may be the caller's
    order = np.empty(adjncy.size if rows.adjwgt.size else 0, np.int64)
    graph_kernels.sort_lists(rows.xadj, adjncy, order)
    return rows._replace(adjncy=adjncy, adjwgt=rows.adjwgt[order] if order.size else rows.adjwgt)


def check_symmetric(comm: Comm, rows: OwnRows, n: int, dealing: Dealing) -> None:
    """Raise InputError on all ranks unless every edge is listed at both ends, with one weight.

    Compares a sum over all arcs that is 0 for symmetric graphs; only if it differs is the edge
    searched for.
    """
    bits = (rows.adjwgt + 0.0).view(np.uint64)  # -0.0 is 0.0
    own = int(kernels.signature(rows.xadj, rows.adjncy, bits, rows.first))
    if sum(comm.allgather(own)) % 2**64:
        _name_asymmetric(comm, rows, n, dealing)


def _name_asymmetric(comm: Comm, rows: OwnRows, n: int, dealing: Dealing) -> NoReturn:
    """Raise InputError that names an asymmetric edge; slice by slice, to send few arcs at once."""
    ends, bounds = slice_ends(n), bounds_of(comm.size, n)
    error = None
    for i in range(N_SLICES):
        if ends[i] == ends[i + 1]:
            continue
        owner = int(np.searchsorted(bounds, ends[i], side="right")) - 1
        inside = np.flatnonzero((rows.adjncy >= ends[i]) & (rows.adjncy < ends[i + 1]))
        heads = rows.first + np.searchsorted(rows.xadj, inside, side="right") - 1
        counts = np.zeros(comm.size, np.int64)
        counts[owner] = inside.size
        weights = rows.adjwgt[inside] if rows.adjwgt.size else np.ones(inside.size)
        seen = [
            exchanged(comm, array, counts)[0]
            for array in (rows.adjncy[inside].astype(np.int64), heads.astype(np.int64), weights)
        ]
        if comm.rank == owner:
            error = _first_difference(rows, int(ends[i]), int(ends[i + 1]), seen, dealing)
        error = comm.bcast(error, owner)
        if error is not None:
            break
    found = InputError(
        error or "an edge is listed at only one of its ends, or with two weights",
        hint="List each edge in the rows of both its ends, with the same weight.",
    )
    found.is_everywhere = True
    raise found


def _first_difference(
    rows: OwnRows, first: int, last: int, seen: list[npt.NDArray[Any]], dealing: Dealing
) -> str | None:
    """Return the first error in rows first to last - 1 of the graph, or None.

    seen: the arcs of all ranks that end in these rows: the ends in the rows, the other ends,
    weights.
    """
    tails, heads, weights = _arcs(rows, first, last)
    all_tails = np.concatenate([tails, seen[0]])
    all_heads = np.concatenate([heads, seen[1]])
    all_weights = np.concatenate([weights, seen[2]])
    order = np.lexsort((np.arange(all_tails.size), all_heads, all_tails))
    t, h, w = all_tails[order], all_heads[order], all_weights[order]
    ours = order < tails.size
    paired = (t[1:] == t[:-1]) & (h[1:] == h[:-1])
    alone = ~(np.append(paired, False) | np.insert(paired, 0, False)) if t.size else paired
    differ = np.append(paired & (w[1:] != w[:-1]), False)[: t.size]
    wrong = np.flatnonzero(alone | differ)
    if not wrong.size:
        return None
    at = int(wrong[0])
    u, v = int(t[at]), int(h[at])
    rank = dealing.holder_of(u - rows.first)
    if differ[at]:
        return (
            f"rank {rank}: the edge between vertices {u} and {v} weighs {w[at]:g} in the row of "
            f"{u} but {w[at + 1]:g} in the row of {v}"
        )
    if ours[at]:
        return (
            f"rank {rank}: vertex {u} has neighbour {v}, but vertex {v} does not have neighbour {u}"
        )
    return f"rank {rank}: vertex {v} has neighbour {u}, but vertex {u} does not have neighbour {v}"


def _arcs(
    rows: OwnRows, first: int, last: int
) -> tuple[IntVector, IntVector, npt.NDArray[np.float64]]:
    """Return both ends and the weights of the arcs in the rows first to last - 1 of the graph."""
    offsets = rows.xadj[first - rows.first : last - rows.first + 1]
    begin, end = int(offsets[0]), int(offsets[-1])
    tails = np.repeat(np.arange(first, last), np.diff(offsets))
    weights = rows.adjwgt[begin:end] if rows.adjwgt.size else np.ones(end - begin)
    return tails, rows.adjncy[begin:end].astype(np.int64), weights
