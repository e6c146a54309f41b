"""split_matrix: the rows of a sparse matrix for each device, as SciPy's csr_arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from evener.arrays import IntVector
from evener.errors import InputError
from evener.integrations.blocks import BlocksLike, blocks_of, n_devices
from evener.plans.contiguous import contiguous
from evener.wording import brief

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False)
class RowBlock:
    """The rows of a matrix that belong to one device.

    rows (r,) int64: their numbers in the matrix, ascending. matrix (r, n): these rows, a csr_array
    with the columns of the whole matrix. `local` has only the columns in use; see `columns`.
    """

    rows: IntVector
    matrix: csr_array

    def __repr__(self) -> str:
        return brief(self)

    @cached_property
    def columns(self) -> IntVector:
        """The columns in use, (c,) int64: the device's own rows, then the halo, each ascending.

        If the matrix is square, the device's own columns are listed even if they have no entry:
        block.local @ x[block.columns] is (matrix @ x)[block.rows].
        """
        used = np.unique(self.matrix.indices)
        own = self.rows[self.rows < self.matrix.shape[1]]
        halo = np.setdiff1d(used, own, assume_unique=True)
        return np.concatenate([own, halo]).astype(np.int64)

    @property
    def halo(self) -> IntVector:
        """The columns in use that are rows of other devices, (h,) int64."""
        return self.columns[np.count_nonzero(self.rows < self.matrix.shape[1]) :]

    @cached_property
    def local(self) -> csr_array:
        """The same entries, with columns numbered as in `columns`, (r, c)."""
        from scipy.sparse import csr_array

        place = np.empty(self.matrix.shape[1], np.int64)
        place[self.columns] = np.arange(self.columns.size)
        shape = (self.rows.size, self.columns.size)
        arrays = (self.matrix.data, place[self.matrix.indices], self.matrix.indptr)
        local = csr_array(arrays, shape=shape, copy=True)
        local.sort_indices()
        return local


def split_matrix(matrix: Any, plan: BlocksLike) -> list[RowBlock]:
    """Return the rows of `matrix` for each device of a plan, in the plan's order.

    matrix: a SciPy sparse matrix or array, or a dense array, with a row for each vertex of the
    plan; repeated entries are added, all other entries stay, including zeros. plan: a Plan, its
    file, a Partition or the block of each row. A device without rows has an empty block. Raises
    InputError for another number of rows, and for anything that is not a matrix.
    """
    from scipy.sparse import csr_array

    try:
        whole = csr_array(matrix)
    except (TypeError, ValueError) as error:
        raise InputError(f"a {type(matrix).__name__} is not a matrix: {error}") from error
    if whole.ndim != 2:
        raise InputError(f"a matrix has 2 dimensions, not {whole.ndim}")
    n = int(whole.shape[0])
    blocks = blocks_of(plan, n)
    if blocks.part.size != n:
        raise InputError(
            f"the plan divides {blocks.part.size:,} vertices, but the matrix has {n:,} rows"
        )
    rows = contiguous(blocks.part, n_devices(blocks))
    ends = rows.offsets.tolist()
    return [_block(whole, rows.order[a:b]) for a, b in pairwise(ends)]


def _block(whole: csr_array, rows: IntVector) -> RowBlock:
    """Return some rows, with repeated entries added; copies, so the matrix is unchanged."""
    matrix = whole[rows]
    matrix.sum_duplicates()
    return RowBlock(rows, matrix)
