"""Checks whether a plan fits the mesh that a program holds: same number and order of cells."""

from __future__ import annotations

import numpy as np

from evener.errors import InputError
from evener.graphs.mesh import Mesh
from evener.integrations.blocks import BlocksLike, RankBlocks, blocks_of


def blocks_of_cells(plan: BlocksLike, n: int, what: str) -> RankBlocks:
    """Return the blocks of n cells. Raises InputError for another number, or a plan of points.

    what: name of the mesh in errors.
    """
    blocks = blocks_of(plan, n)
    if blocks.by != "cells":
        hint = "Plan it with `--by cells`, which is the default."
        raise InputError(
            f"the plan divides the points of its mesh, not the cells of {what}", hint=hint
        )
    if blocks.part.size != n:
        raise InputError(
            f"the plan divides {blocks.part.size:,} cells, but {what} has {n:,}",
            hint="Plan the file that the program reads.",
        )
    return blocks


def n_devices(blocks: RankBlocks) -> int:
    """Return the number of devices, or of blocks if only blocks are known."""
    return blocks.k if blocks.k is not None else int(blocks.part.max(initial=0)) + 1


def refuse_other_order(blocks: RankBlocks, mesh: Mesh, what: str, hint: str) -> None:
    """Raise InputError if a mesh has another number of facets between blocks than the plan.

    mesh: as the program holds it, with as many cells as the plan; what: its name in errors. If the
    plan has no count, because only blocks are known, nothing is compared.
    """
    if blocks.cut is None:
        return
    found = facets_between(blocks, mesh)
    if found != blocks.cut:
        raise InputError(
            f"{what} has {found:,} facets between the plan's blocks, the plan {blocks.cut:,.0f}: "
            "its cells stand in another order than those that were planned",
            hint=hint,
        )


def facets_between(blocks: RankBlocks, mesh: Mesh) -> int:
    """Return the number of pairs of neighbouring cells in different blocks."""
    graph = mesh.dual_graph()
    owner = np.repeat(blocks.part, np.diff(graph.xadj))
    return int(np.count_nonzero(owner != blocks.part[graph.adjncy])) // 2
