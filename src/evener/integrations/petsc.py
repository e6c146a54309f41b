"""A plan in a PETSc program: the cells of a DMPlex, the rows of a Mat.

    dm.setPartitioner(petsc.partitioner("mesh.plan", dm))
    sf = dm.distribute()
    petsc.check(dm, sf, "mesh.plan")

    rows = petsc.rows("matrix.plan")
    B = A.createSubMatrix(rows.index_set, rows.index_set)

Rank r gets the block of the plan's device r. All functions except `files` are collective, only rank
0 reads the plan, and errors are raised on all ranks. `files` exports a plan for C, C++ and Fortran.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evener.arrays import IntVector, Part
from evener.errors import InputError, UsageError
from evener.integrations.blocks import BlocksLike, RankBlocks, refuse_other_cut
from evener.integrations.packages import package
from evener.integrations.ranks import local_blocks, shared_blocks
from evener.integrations.requests import ExportFiles, ExportRequest, one_file
from evener.plans.contiguous import contiguous

if TYPE_CHECKING:
    from petsc4py import PETSc

INDEX_SET = 1211218  # IS_FILE_CLASSID in petscis.h, by which ISLoad recognises its files


class RankRows(NamedTuple):
    """Rows sorted by block: rank r owns order[offsets[r] : offsets[r + 1]], in this order.

    order (n,): the number in the file of each row of the reordered matrix. offsets (k + 1,).
    index_set: an IS of the rows that this rank owns, by their numbers in the file.
    """

    order: IntVector
    offsets: IntVector
    index_set: PETSc.IS


class Checked(NamedTuple):
    """The result of `check`: numbers of this rank's cells, and of facets shared by two ranks.

    facets: over all ranks; None if the plan does not count them, or if the mesh has none (not
    interpolated).
    """

    cells: int
    facets: int | None


def partitioner(
    plan: BlocksLike, dm: PETSc.DMPlex, *, file: str | Path | None = None
) -> PETSc.Partitioner:
    """Return a partitioner, of type shell, that gives each rank the cells of its block.

    dm: the mesh before it is distributed, on rank 0 or a slice on each rank, with cells in the
    order of the planned file. plan: a Plan, its file, an export with `part`, or each cell's block;
    None on ranks other than 0. file: the mesh file, to compare its SHA-256 with the plan's. Raises
    UsageError if the numbers of ranks and devices differ; InputError for a plan of points, of
    another file, or with another number of cells, and for anything that is not a plan.
    """
    PETSc = package("petsc4py.PETSc")  # noqa: N806 - as PETSc's users call it
    start, end = dm.getHeightStratum(0)
    blocks, first = local_blocks(plan, _mpi4py(dm.comm), end - start, file=file)
    mine = contiguous(blocks.part[first : first + end - start], dm.comm.size)
    made = PETSc.Partitioner().create(dm.comm)
    made.setType(PETSc.Partitioner.Type.SHELL)
    sizes = np.diff(mine.offsets).astype(PETSc.IntType)
    made.setShellPartition(dm.comm.size, sizes, mine.order.astype(PETSc.IntType))
    return made


def check(
    dm: PETSc.DMPlex, sf: PETSc.SF | None, plan: BlocksLike, *, compare_cut: bool = True
) -> Checked:
    """Compare a distributed mesh with the plan; return the compared numbers.

    sf: the result of dm.distribute(), which is None if there is only one rank. Call this before
    dm.distributeOverlap(). The cells of each rank must be those of its block, and ranks must share
    as many facets as the plan cuts edges; they do not if PETSc read cells in another order than
    Evener. compare_cut: whether to compare the facets. Raises InputError if a comparison fails,
    UsageError for a mesh with overlap.
    """
    comm = _mpi4py(dm.comm)
    _refuse_overlap(dm, comm)
    cells = _in_the_file(sf, dm.getHeightStratum(0), comm)
    blocks = shared_blocks(plan, comm, comm.allreduce(cells.size))
    _refuse_other_cells(blocks, comm, cells)
    facets = _shared_facets(dm, comm) if compare_cut and blocks.cut is not None else None
    if facets is not None:
        refuse_other_cut(blocks, facets, "the DMPlex")
    return Checked(cells.size, facets)


def rows(
    plan: BlocksLike,
    comm: PETSc.Comm | None = None,
    *,
    n: int | None = None,
    block_size: int = 1,
) -> RankRows:
    """Return an order in which each rank's rows are contiguous, and an IS of this rank's rows.

    comm: PETSC.COMM_WORLD if None; as many ranks as devices. n: the number of rows, to be checked,
    or None. block_size: rows per vertex of the plan, such as three displacements, which are
    consecutive in the matrix. `A.createSubMatrix(index_set, index_set)` returns a copy of A,
    however A is distributed, with rows and columns in this order, on the plan's ranks. Raises
    UsageError if the numbers of ranks and devices differ, or n is not a multiple of block_size;
    InputError for anything that is not a plan, or a plan with another number of rows.
    """
    if block_size < 1:
        raise UsageError(f"block_size must be at least 1, not {block_size}")
    if n is not None and n % block_size:
        raise UsageError(f"{n:,} rows cannot be divided into blocks of {block_size}")
    PETSc = package("petsc4py.PETSc")  # noqa: N806
    comm = PETSc.COMM_WORLD if comm is None else comm
    vertices = None if n is None else n // block_size
    blocks = shared_blocks(plan, _mpi4py(comm), vertices, cells=False)
    order, offsets = contiguous(blocks.part, comm.size)
    mine = order[offsets[comm.rank] : offsets[comm.rank + 1]].astype(PETSc.IntType)
    index_set = PETSc.IS().createBlock(block_size, mine, comm=comm)
    of_each = np.arange(block_size)
    rows_in_order = (order[:, None] * block_size + of_each).ravel()
    return RankRows(rows_in_order, offsets * block_size, index_set)


def _refuse_overlap(dm: PETSc.DMPlex, comm: Any) -> None:
    """Raise UsageError on all ranks if some cells are copies of other ranks' cells."""
    if comm.allreduce(len(_leaves(dm.getPointSF(), dm.getHeightStratum(0))[0])):
        raise UsageError(
            "the mesh has overlap: some cells are on several ranks",
            hint="Call dm.distribute(), check, then dm.distributeOverlap(1).",
        )


def _leaves(sf: PETSc.SF, stratum: tuple[int, int]) -> tuple[IntVector, IntVector]:
    """Return the remote rank and number of each point of a stratum that is a leaf of the SF."""
    if sf.comm.size == 1:  # with one rank, the graph is never set
        return np.empty(0, np.int64), np.empty(0, np.int64)
    _, leaves, remote = sf.getGraph()
    places = np.asarray(remote, np.int64).reshape(-1, 2)
    at = np.arange(len(places)) if leaves is None else np.asarray(leaves)
    places = places[(at >= stratum[0]) & (at < stratum[1])]
    return places[:, 0], places[:, 1]


def _in_the_file(sf: PETSc.SF | None, cells: tuple[int, int], comm: Any) -> IntVector:
    """Return each cell's number before distribution, counted rank after rank."""
    if sf is None:  # with one rank, nothing is distributed
        return np.arange(cells[1] - cells[0])
    ranks, numbers = _leaves(sf, cells)
    counts = comm.allreduce(np.bincount(ranks, minlength=comm.size))
    firsts: IntVector = np.cumsum(counts) - counts
    return firsts[ranks] + numbers


def _refuse_other_cells(blocks: RankBlocks, comm: Any, cells: IntVector) -> None:
    """Raise InputError on all ranks if cells (numbers in the file) are not this rank's block."""
    wrong = int((blocks.part[cells] != comm.rank).sum())
    wrong = comm.allreduce(wrong)
    if wrong:
        raise InputError(
            f"{wrong:,} of {blocks.part.size:,} cells are on a rank other than the plan's",
            hint="Was dm.setPartitioner(petsc.partitioner(plan, dm)) called before distribute()?",
        )


def _shared_facets(dm: PETSc.DMPlex, comm: Any) -> int | None:
    """Return the number of facets shared by two ranks; None for a mesh without facets."""
    stratum = dm.getHeightStratum(1)
    has_facets = dm.getDepth() == dm.getDimension() and stratum[1] > stratum[0]
    if not comm.allreduce(int(has_facets)):
        return None
    # One of the two ranks that share a facet has a copy of it.
    return int(comm.allreduce(len(_leaves(dm.getPointSF(), stratum)[0])))


def _mpi4py(comm: PETSc.Comm) -> Any:
    package("mpi4py")
    return comm.tompi4py()


def files(request: ExportRequest) -> ExportFiles:
    """Return a binary file of two index sets: sizes of blocks; cells or rows, block after block."""
    return one_file(request.path, _index_sets(request.part, request.k))


def _index_sets(part: Part, k: int) -> Iterator[bytes]:
    order, offsets = contiguous(part, k)
    yield _index_set(np.diff(offsets))
    yield _index_set(order)


def _index_set(indices: IntVector) -> bytes:
    """Return an IS as PETSc with 32-bit integers writes it: all big-endian."""
    head = np.array([INDEX_SET, indices.size])
    return np.concatenate([head, indices]).astype(">i4").tobytes()
