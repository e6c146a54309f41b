"""Blocks on the ranks of a program: rank 0 reads and checks them for all ranks.

All ranks get the blocks or the same error. Communicators are those of mpi4py, which this module
does not import.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from evener.errors import EvenerError, InputError, ToolError, UsageError
from evener.integrations.blocks import BlocksLike, RankBlocks, another_file, blocks_of
from evener.io.sources import open_source
from evener.wording import plural


def shared_blocks(
    plan: BlocksLike,
    comm: Any,
    n: int | None = None,
    *,
    cells: bool = True,
    ranks: int | None = None,
    file: str | Path | None = None,
) -> RankBlocks:
    """Return the blocks on all ranks; only rank 0 reads. Collective over comm, of mpi4py.

    n: number of cells or rows in the program. cells: whether they are a mesh's cells. ranks: number
    of ranks of the program; None: the size of comm. file: the file that the program reads, which
    must be the planned one (SHA-256). Raises, on all ranks, the errors of `blocks_of`; InputError
    for a plan of another number of vertices, of another file, or of a mesh's points; UsageError if
    the numbers of ranks and devices differ.
    """
    found: RankBlocks | EvenerError
    if comm.rank == 0:
        try:
            found = blocks_of(plan, n)
            _refuse_others(found, n, cells=cells)
            _refuse_other_ranks(found, ranks or comm.size)
            if file is not None:
                _refuse_other_file(found, file)
        except EvenerError as error:
            found = error
        except Exception as error:  # otherwise the other ranks would wait
            found = ToolError(f"rank 0 cannot read the plan ({type(error).__name__}: {error})")
    else:
        found = RankBlocks(np.empty(0, np.int32))
    return _on_all(found, comm)


def _on_all(found: RankBlocks | EvenerError, comm: Any) -> RankBlocks:
    """Return rank 0's blocks on all ranks, or raise its error on all of them."""
    if isinstance(found, EvenerError):
        raise comm.bcast(found)
    about = comm.bcast((replace(found, part=np.empty(0, np.int32)), found.part.size))
    if isinstance(about, EvenerError):
        raise about
    known: RankBlocks = about[0]
    n: int = about[1]
    part = np.ascontiguousarray(found.part) if comm.rank == 0 else np.empty(n, np.int32)
    comm.Bcast(part)
    return replace(known, part=part)


def local_blocks(
    plan: BlocksLike,
    comm: Any,
    count: int,
    *,
    ranks: int | None = None,
    file: str | Path | None = None,
) -> tuple[RankBlocks, int]:
    """Return the blocks, and the number of this rank's first cell.

    count: number of cells that the program holds on this rank, in file order, rank after rank.
    Raises the errors of `shared_blocks`.
    """
    counts = comm.allgather(int(count))
    blocks = shared_blocks(plan, comm, sum(counts), ranks=ranks, file=file)
    return blocks, sum(counts[: comm.rank])


def _refuse_others(blocks: RankBlocks, n: int | None, *, cells: bool) -> None:
    """Raise InputError for a plan of another number of vertices, or of points instead of cells."""
    if cells and blocks.by != "cells":
        raise InputError(
            "the plan divides points of its mesh, but the program distributes cells",
            hint="Plan it with `--by cells`, which is the default.",
        )
    if n is not None and blocks.part.size != n:
        raise InputError(
            f"the plan divides {blocks.part.size:,} vertices, but the program has {n:,} cells or "
            "rows",
            hint="Plan the mesh or matrix that the program reads.",
        )


def _refuse_other_ranks(blocks: RankBlocks, ranks: int) -> None:
    """Raise UsageError if there are not as many ranks as devices, or too few for the blocks."""
    if blocks.k is not None and blocks.k != ranks:
        raise UsageError(
            f"the plan is for {plural(blocks.k, 'device')}, but the program runs on "
            f"{plural(ranks, 'rank')}",
            hint=f"Start it with `mpirun -n {blocks.k}`: rank r is the plan's device r.",
        )
    most = int(blocks.part.max(initial=0))
    if most >= ranks:
        raise UsageError(
            f"the highest block is {most}, but the program runs on {plural(ranks, 'rank')}",
            hint=f"Start it with `mpirun -n {most + 1}`: rank r takes block r.",
        )


def _refuse_other_file(blocks: RankBlocks, file: str | Path) -> None:
    """Raise InputError unless a file, and other planned files next to it, are the plan's."""
    if not blocks.inputs:
        raise InputError(
            f"the plan does not record its input file, so {file} cannot be compared",
            hint="A plan file that `evener plan` makes from a mesh file records its SHA-256.",
        )
    sha256 = open_source(file).sha256
    beside = {name: known for name, known in blocks.inputs.items() if known != sha256}
    if len(beside) == len(blocks.inputs):
        raise another_file(blocks, file)
    for name, known in beside.items():
        path = Path(file).parent / name
        if path.exists() and open_source(path).sha256 != known:
            raise another_file(blocks, path)
