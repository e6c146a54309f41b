"""Orders a device's vertices so that vertices used one after another are near each other in memory.

Vertices are in the order of breadth-first searches, as in [CM69]_. If some have far more neighbours
than others, they are sorted by descending degree, equal degrees in breadth-first order, so that the
values read most often share few cache lines. The arcs of a vertex are sorted by the new numbers of
their ends. What a program computes does not depend on the order, except for rounding.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from evener.running.local_graphs import LocalArcs, LocalGraph, LocalNumbers
from evener.running.locality import ordering_kernels as kernels

LINE_SHIFT = 3  # a cache line of 64 bytes holds 2^3 values of 8 bytes
WINDOWS, WINDOW = 64, 4096  # parts of the arcs that are looked at, and arcs of each
# Cache lines per arc above which an order may be bad, and what a new order must make of it at most;
# between those of ordered and of shuffled graphs (benchmarks/locality.py, `lines`).
BAD_LINES, WORTH = 0.3, 0.75
# Largest degree, relative to the mean, above which vertices go by falling degree. Meshes and
# matrices of finite elements stay below it.
HUB_RATIO = 16
# An array (1,) uint8: once another thread sets it, what is being made ends at once, unfinished.
Stop: TypeAlias = npt.NDArray[np.uint8]
NEVER: Stop = np.zeros(1, np.uint8)
MOST_DEGREE = np.uint16(0xFFFF)  # degrees from here on count as equal


def lines_per_arc(arcs: LocalArcs, n_local: int) -> float:
    """Return the number of cache lines of values read per arc, in windows of arcs; 0 without arcs.

    Near 1: each arc reads its own line. Arcs of a mesh in a good order read less than 0.1 lines.
    """
    ends = arcs.ends
    if ends.size == 0:
        return 0.0
    window = min(WINDOW, ends.size)
    windows = min(WINDOWS, -(-ends.size // window))
    seen = np.zeros((n_local >> LINE_SHIFT) + 1, np.int32)
    return float(kernels.count_lines(ends, windows, window, LINE_SHIFT, seen)) / (windows * window)


def lines_read(local: LocalGraph) -> float:
    """Return lines_per_arc of a device's part."""
    return lines_per_arc(_arcs_of(local), local.n_local)


def n_arcs(local: LocalGraph) -> int:
    """Return the number of arcs in all lists of a device's part, which would be reordered."""
    lists = (local.out,) if local.into is local.out else (local.out, local.into)
    return sum(arcs.ends.size for arcs in lists if arcs is not None)


def is_bad_order(local: LocalGraph) -> bool:
    """Return whether another order of the vertices may read clearly less memory."""
    return lines_read(local) > BAD_LINES


def locality_order(local: LocalGraph, stop: Stop = NEVER) -> LocalNumbers:
    """Return the own vertices of a device in the order in which to store them, (m,) uint32.

    Interior vertices come before boundary ones, as in any LocalGraph. stop: see Stop.
    """
    offsets, ends, _ = _arcs_of(local)
    m = local.n_owned
    order, position = np.zeros(m, np.uint32), np.full(m, kernels.UNSEEN)
    kernels.breadth_first(offsets, ends, stop, order, position)
    degrees = np.diff(offsets)[order]
    if m and degrees.max() > HUB_RATIO * degrees.mean():
        falling = MOST_DEGREE - np.minimum(degrees, MOST_DEGREE).astype(np.uint16)
        order = order[np.argsort(falling, kind="stable")]
    return np.concatenate([order[order < local.n_interior], order[order >= local.n_interior]])


class RenumberedGraph(LocalGraph):
    """A LocalGraph whose own vertices are in any order, so that it always stores `numbers`."""

    def __post_init__(self) -> None:
        """Keep all arrays."""


def renumbered(local: LocalGraph, order: LocalNumbers, stop: Stop = NEVER) -> LocalGraph:
    """Return the same part with its own vertices in another order and sorted rows.

    order (m,): own vertices by their present local numbers, interior ones first. Ghosts keep their
    numbers. stop: see Stop; if it stops, the part itself is returned.
    """
    m, is_undirected = local.n_owned, local.out is local.into
    numbers = np.arange(local.n_local, dtype=np.uint32)
    numbers[order] = np.arange(m, dtype=np.uint32)
    out: LocalArcs | None
    into: LocalArcs | None
    if is_undirected and local.n_local == m and local.out is not None:
        out = into = _mirrored(local.out, order, numbers, stop)
    else:
        out = _renumbered_arcs(local.out, order, numbers, stop)
        into = out if is_undirected else _renumbered_arcs(local.into, order, numbers, stop)
    if stop[0]:
        return local
    held, degrees = local.numbers, local.degrees
    return RenumberedGraph(
        local.rank, local.k, local.n_global, local.n_interior, m,
        numbers=np.concatenate([held[order], held[m:]]),
        ghost_starts=local.ghost_starts,
        degrees=np.concatenate([degrees[order], degrees[m:]]),
        out=out,
        into=into,
        sends={q: numbers[sent] for q, sent in local.sends.items()},
    )  # fmt: skip


def _mirrored(arcs: LocalArcs, order: LocalNumbers, numbers: LocalNumbers, stop: Stop) -> LocalArcs:
    """Return arcs, listed at both ends, in a new order: each one is listed at its other end."""
    offsets = np.zeros_like(arcs.offsets)
    np.cumsum(np.diff(arcs.offsets)[order], out=offsets[1:])
    return _transposed(arcs, order, offsets, offsets[:-1][numbers], stop)


def _renumbered_arcs(
    arcs: LocalArcs | None, order: LocalNumbers, numbers: LocalNumbers, stop: Stop
) -> LocalArcs | None:
    """Return arcs of any kind in a new order, by transposing their lists twice."""
    if arcs is None:
        return None
    counts = np.bincount(arcs.ends, minlength=numbers.size)
    new_counts = np.empty_like(counts)
    new_counts[numbers] = counts
    by_end = np.zeros(numbers.size + 1, arcs.offsets.dtype)
    np.cumsum(new_counts, out=by_end[1:])
    there = _transposed(arcs, order, by_end, by_end[:-1][numbers], stop)
    offsets = np.zeros_like(arcs.offsets)
    np.cumsum(np.diff(arcs.offsets)[order], out=offsets[1:])
    rising = np.arange(numbers.size, dtype=np.uint32)
    return _transposed(there, rising, offsets, offsets[:-1], stop)


def _transposed(
    arcs: LocalArcs,
    order: LocalNumbers,
    offsets: npt.NDArray[Any],
    slots: npt.NDArray[Any],
    stop: Stop,
) -> LocalArcs:
    """Return the arcs listed at their other ends.

    offsets: where the new lists begin; that of vertex v begins at slots[v]. order: the rows in the
    order in which they are read; row order[i] becomes number i.
    """
    weights = arcs.weights
    wide = np.empty(0, np.uint64) if weights is None else _as_bits(weights)
    heads, there = np.empty_like(arcs.ends), np.empty_like(wide)
    begins = slots.astype(np.uint64)
    kernels.transpose(arcs.offsets, arcs.ends, wide, order, stop, begins, heads, there)
    return LocalArcs(offsets, heads, None if weights is None else _from_bits(there, weights.dtype))


def _as_bits(weights: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """Return numbers of 4 or 8 bytes as 8 bytes each, so that one kernel suffices."""
    if weights.itemsize == 4:
        return weights.view(np.uint32).astype(np.uint64)
    return weights.view(np.uint64)


def _from_bits(bits: npt.NDArray[np.uint64], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return the numbers that were passed to _as_bits."""
    return (bits.astype(np.uint32) if dtype.itemsize == 4 else bits).view(dtype)


def _arcs_of(local: LocalGraph) -> LocalArcs:
    """Return the arcs for judging the part's order: those into its vertices if it has them."""
    arcs = local.into if local.into is not None else local.out
    assert arcs is not None
    return arcs
