"""Finds an edge listed at only one end, or with two weights, in a file of any size.

Makes two passes over the rows. First, a hash of each edge selects a bucket, to which the edge's
arcs add terms that cancel if the edge is symmetric. Then the arcs of one bucket whose sum is not 0
are held in memory and compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import IntVector

BUCKET_BITS = 16  # so 15,000 of 10^9 arcs are held in memory
Words = npt.NDArray[np.uint64]


class SomeArcs(NamedTuple):
    """Arcs (a,) from `tail` to `head`, with weights."""

    tail: IntVector
    head: IntVector
    weight: npt.NDArray[np.float64]

    @property
    def edge(self) -> Words:
        """A number (a,) that is the same for both arcs of an edge."""
        low, high = np.minimum(self.tail, self.head), np.maximum(self.tail, self.head)
        return (low.astype(np.uint64) << np.uint64(32)) | high.astype(np.uint64)

    def taken(self, which: npt.NDArray[np.bool_]) -> SomeArcs:
        """Return the selected arcs."""
        return SomeArcs(self.tail[which], self.head[which], self.weight[which])


def asymmetric_edge(pieces: Callable[[], Iterable[SomeArcs]]) -> str:
    """Describe an edge that is not symmetric, with vertices counted from 0; "" if there is none.

    pieces: called twice; yields all arcs of the graph, some at a time.
    """
    sums = np.zeros(1 << BUCKET_BITS, np.uint64)
    for arcs in pieces():
        edge = arcs.edge
        bits = (arcs.weight + 0.0).view(np.uint64)  # -0.0 is 0.0
        word = _mixed(edge + _mixed(bits))
        down = arcs.tail > arcs.head
        word[down] = np.uint64(0) - word[down]
        np.add.at(sums, _bucket(edge), word)
    wrong = np.flatnonzero(sums)
    if not wrong.size:
        return ""
    found = [arcs.taken(_bucket(arcs.edge) == wrong[0]) for arcs in pieces()]
    return _difference(SomeArcs(*(np.concatenate(some) for some in zip(*found, strict=True))))


def _mixed(words: Words) -> Words:
    """Return hashes of 64-bit words: splitmix64's finaliser, as in csr_kernels."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def _bucket(edge: Words) -> IntVector:
    return (_mixed(edge) >> np.uint64(64 - BUCKET_BITS)).astype(np.int64)


def _difference(arcs: SomeArcs) -> str:
    """Describe the first edge that lacks an arc or whose arcs have different weights."""
    seen: dict[tuple[int, int], float] = dict(
        zip(zip(arcs.tail.tolist(), arcs.head.tolist(), strict=True), arcs.weight.tolist(),
            strict=True)
    )  # fmt: skip
    for (v, u), weight in sorted(seen.items()):
        other = seen.get((u, v))
        if other is None:
            return f"vertex {v} lists neighbour {u}, but vertex {u} does not list {v}"
        if other != weight:
            return (
                f"the edge between {v} and {u} has weight {weight:g} in the list of {v} and "
                f"{other:g} in that of {u}"
            )
    return ""
