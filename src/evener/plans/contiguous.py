"""Order vertices so that each block's vertices are contiguous, as row-wise libraries need."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import IntVector, as_integers
from evener.errors import InputError


class Contiguous(NamedTuple):
    """Vertices in block order: block b has order[offsets[b] : offsets[b + 1]], ascending.

    order (n,) int64: the vertex at each position. offsets (k + 1,) int64.
    """

    order: IntVector
    offsets: IntVector

    @property
    def places(self) -> IntVector:
        """Position of each vertex in the order, (n,): the inverse permutation."""
        found = np.empty_like(self.order)
        found[self.order] = np.arange(self.order.size)
        return found


def contiguous(part: npt.ArrayLike, k: int) -> Contiguous:
    """Return the vertices of k blocks in contiguous order; part (n,) is the block of each vertex.

    Raises InputError for blocks outside 0 to k - 1.
    """
    blocks = as_integers(part, "part")
    if blocks.size and not (blocks.min() >= 0 and blocks.max() < k):
        raise InputError(f"part contains blocks outside 0 to {k - 1}")
    offsets = np.zeros(k + 1, np.int64)
    np.cumsum(np.bincount(blocks, minlength=k), out=offsets[1:])
    return Contiguous(np.argsort(blocks, kind="stable").astype(np.int64), offsets)
