"""A plan in a Firedrake program: which cells of a mesh each rank gets.

    mesh = Mesh("mesh.msh", distribution_parameters={"partition": firedrake.partition("mesh.plan")})

Firedrake passes the pair to PETSc's shell partitioner, as `evener.integrations.petsc` does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evener.integrations.blocks import BlocksLike
from evener.integrations.packages import package
from evener.integrations.ranks import shared_blocks
from evener.plans.contiguous import contiguous

if TYPE_CHECKING:
    from pathlib import Path


def partition(
    plan: BlocksLike, comm: Any = None, *, n: int | None = None, file: str | Path | None = None
) -> tuple[Any, Any]:
    """Return (sizes, points): the number of cells of each rank, and the cells, rank after rank.

    On rank 0, which holds the mesh while it is read, both are arrays of PETSc's integers; other
    ranks get (None, None). comm: the mesh's communicator, of mpi4py; all ranks if None. n: the
    number of cells, to be checked, or None; file: the mesh file, to compare its SHA-256 with the
    plan's. Raises, on all ranks, UsageError if the numbers of ranks and devices differ; InputError
    for a plan of points, of another file, or with another number of cells, and for anything that is
    not a plan.
    """
    comm = package("mpi4py.MPI").COMM_WORLD if comm is None else comm
    blocks = shared_blocks(plan, comm, n, file=file)
    if comm.rank:
        return None, None
    integers = package("petsc4py.PETSc").IntType
    cells = contiguous(blocks.part, comm.size)
    return np.diff(cells.offsets).astype(integers), cells.order.astype(integers)
