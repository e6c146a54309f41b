"""Halo: which rows a rank owns, which ghosts it needs beside them, and what it sends to whom.

A ghost is a copy of a vertex that another rank owns. Local numbers: the owned ones from 0 on by
rising global number, behind them the ghosts, those of one owner together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.arrays import IntArray
from evener.errors import InputError
from evener.partitions import Partition

IntVector = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Halo:
    """What one rank has of a matrix whose rows and columns are the vertices.

    owned (m,), ghosts (h,): global numbers. sends: rank -> local numbers of what it is sent, in
    the order in which it keeps them; receives: rank -> range of the ghosts that it sends.
    """

    owned: IntVector
    ghosts: IntVector
    sends: Mapping[int, IntVector]
    receives: Mapping[int, tuple[int, int]]

    @property
    def size(self) -> int:
        """How many values a rank keeps of a vector: of owned vertices and of ghosts."""
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
    """For each rank that needs some of `owned`: which, by rising number."""
    to, which = rows[mine], np.searchsorted(owned, indices[mine])
    return {int(q): np.unique(which[to == q]).astype(np.int64) for q in np.unique(to)}
