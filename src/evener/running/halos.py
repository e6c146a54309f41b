"""The halo of a rank: the rows it owns, the ghosts it needs, and what it sends to which rank.

A ghost is a copy of a vertex that another rank owns. Local numbers: the owned ones from 0 on by
rising global number, behind them the ghosts, those of one owner together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.arrays import IntArray, IntVector
from evener.errors import InputError
from evener.plans.partition import Partition


@dataclass(frozen=True, eq=False)
class Halo:
    """The part of one rank of a matrix whose rows and columns are the vertices.

    owned (m,), ghosts (h,): global numbers. sends: other rank -> local numbers of the values
    sent to it, in the order of its ghosts; receives: other rank -> range of the ghosts from it.
    """

    owned: IntVector
    ghosts: IntVector
    sends: Mapping[int, IntVector]
    receives: Mapping[int, tuple[int, int]]

    @property
    def size(self) -> int:
        """Number of values of a vector that the rank keeps: owned and ghosts."""
        return int(self.owned.size + self.ghosts.size)


def halo_of(indptr: IntArray, indices: IntArray, partition: Partition, rank: int) -> Halo:
    """Return the halo of block `rank` of a matrix in CSR, whose pattern need not be symmetric.

    A rank needs the columns in which its rows have entries. Raises InputError for a partition of
    another number of vertices, and for a rank beyond its blocks.
    """
    part = partition.checked_for(len(indptr) - 1).part
    if not 0 <= rank < partition.k:
        raise InputError(f"rank {rank} has no block: there are {partition.k}")
    rows = np.repeat(part, np.diff(indptr))  # the block of each entry's row
    columns = part[indices]
    crossing = rows != columns
    needed = np.unique(indices[crossing & (rows == rank)]).astype(np.int64)
    ghosts = needed[np.argsort(part[needed], kind="stable")]
    owners, starts, counts = np.unique(part[ghosts], return_index=True, return_counts=True)
    owned = np.flatnonzero(part == rank)
    return Halo(
        owned,
        ghosts,
        _sends(indices, rows, crossing & (columns == rank), owned),
        {int(q): (int(a), int(a + c)) for q, a, c in zip(owners, starts, counts, strict=True)},
    )


def local_rows(A: Any, halo: Halo) -> Any:  # noqa: N803 - matrices have capital letters
    """Return a rank's rows (m, m + h) of a SciPy matrix (n, n) in CSR, columns by local numbers."""
    from scipy.sparse import csr_array

    rows = A[halo.owned]
    place = np.zeros(A.shape[1], np.int32)
    place[halo.owned] = np.arange(halo.owned.size)
    place[halo.ghosts] = halo.owned.size + np.arange(halo.ghosts.size)
    shape = halo.owned.size, halo.size
    indices, indptr = place[rows.indices], rows.indptr.astype(np.int32)
    return csr_array((rows.data, indices, indptr), shape=shape)


def _sends(
    indices: IntArray, rows: IntArray, mine: npt.NDArray[np.bool_], owned: IntVector
) -> dict[int, IntVector]:
    """Return for each other rank which of `owned` it needs, by rising number."""
    to, which = rows[mine], np.searchsorted(owned, indices[mine])
    return {int(q): np.unique(which[to == q]).astype(np.int64) for q in np.unique(to)}
