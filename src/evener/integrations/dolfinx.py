"""A plan in a DOLFINx program: a partitioner for create_mesh, and a check of the mesh.

    mesh = create_mesh(comm, cells, x, domain, partitioner=dolfinx.partitioner("mesh.plan"))
    dolfinx.check(mesh, "mesh.plan")

DOLFINx up to 0.11 calls a partitioner with the cells, from 0.12 on with their dual graph. This
partitioner accepts both. Rank r gets the block of the plan's device r; only rank 0 reads the plan,
and errors are raised on all ranks.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import IntVector, Part
from evener.errors import InputError, UsageError
from evener.integrations.blocks import BlocksLike, refuse_other_cut
from evener.integrations.packages import package
from evener.integrations.ranks import local_blocks, shared_blocks

GHOST_MODES = ("none", "shared_facet")


class _Call(NamedTuple):
    """The arguments from DOLFINx: cells on this rank, whether it wants ghosts, and the dual graph.

    graph(): an adjacency list of each cell's neighbours, by their global numbers.
    """

    cells: int
    ghosts: bool | None
    graph: Callable[[], Any]


def partitioner(
    plan: BlocksLike,
    ghost_mode: Any = None,
    *,
    file: str | Path | None = None,
    compare_cut: bool = True,
) -> Callable[..., Any]:
    """Return a partitioner for create_mesh that makes each rank own the cells of its block.

    create_mesh must get the cells of the planned file, in file order, rank after rank. plan: a
    Plan, its file, an export with `part`, or the block of each cell; None on ranks other than 0.
    ghost_mode, for DOLFINx 0.6 to 0.11: GhostMode.none or shared_facet, or these words as texts;
    None means "none". In other versions it is an option of create_mesh. file: the mesh file, to
    compare its SHA-256 with the plan's. compare_cut: whether to check that cells of different
    blocks share as many facets as the plan cuts edges, which detects a mesh with renumbered cells.
    When create_mesh calls the partitioner: raises UsageError if the number of ranks differs from
    the number of devices; InputError for a plan of points, of another file, or with another number
    or order of cells, for several types of cells, and for anything that is not a plan.
    """
    asked = None if ghost_mode is None else _ghosts(ghost_mode)

    def distribute(comm: Any, n_parts: int, *given: Any) -> Any:
        call = _understood(comm, given)
        blocks, first = local_blocks(plan, comm, call.cells, ranks=n_parts, file=file)
        ghosts = bool(_agreed(call.ghosts, asked))
        own = blocks.part[first : first + call.cells]
        beyond = np.empty((0, 2), np.int64)
        if ghosts or (compare_cut and blocks.cut is not None):
            beyond = _neighbours_elsewhere(call.graph(), own, blocks.part)
        if compare_cut:
            refuse_other_cut(blocks, comm.allreduce(len(beyond)) // 2, "the mesh")
        ranks = _destinations(own, beyond if ghosts else beyond[:0], blocks.part, n_parts)
        return package("dolfinx").cpp.graph.AdjacencyList_int32(*ranks)

    return distribute


def check(mesh: Any, plan: BlocksLike) -> int:
    """Return the number of cells that this rank owns, after comparing them with the plan.

    Compares `topology.original_cell_index` of the cells: their numbers in create_mesh's input.
    Raises InputError, on all ranks, if some rank has cells of another rank's block.
    """
    topology = mesh.topology
    cells = topology.index_map(topology.dim)
    blocks = shared_blocks(plan, mesh.comm, cells.size_global)
    origins = np.asarray(topology.original_cell_index)[: cells.size_local]
    wrong = mesh.comm.allreduce(int((blocks.part[origins] != mesh.comm.rank).sum()))
    if wrong:
        raise InputError(
            f"{wrong:,} of {cells.size_global:,} cells are on a rank other than the plan's",
            hint="Was the mesh made with partitioner=dolfinx.partitioner(plan)?",
        )
    return int(cells.size_local)


def _understood(comm: Any, given: tuple[Any, ...]) -> _Call:
    """Interpret the arguments after the number of parts, for any version.

    0.5: dimension, cells, ghost mode. 0.6 and 0.7: dimension, cells. 0.8: type of cells, cells. 0.9
    to 0.11: types of cells, an array of vertices for each type. From 0.12 on: dual graph, weights
    of cells and of edges, whether ghosts are wanted; for some time in 2026 without the weights.
    """
    kind, *rest = given
    if hasattr(kind, "num_nodes"):
        return _Call(kind.num_nodes, bool(rest[-1]), lambda: kind)
    cells, *mode = rest
    ghosts = _ghosts(mode[0]) if mode else None
    mesh = package("dolfinx").cpp.mesh
    if isinstance(kind, int):
        return _Call(cells.num_nodes, ghosts, lambda: mesh.build_dual_graph(comm, cells, kind))
    if hasattr(cells, "num_nodes"):
        return _Call(cells.num_nodes, ghosts, lambda: mesh.build_dual_graph(comm, kind, cells))
    if len(kind) != 1:
        raise InputError(
            f"the mesh has {len(kind)} types of cells, which DOLFINx numbers type by type",
            hint="A plan numbers cells in file order: split the mesh into meshes of one type.",
        )
    n = len(cells[0]) // mesh.cell_num_vertices(kind[0])
    return _Call(n, ghosts, lambda: _dual_graph(mesh, comm, kind, cells))


def _dual_graph(mesh: Any, comm: Any, kinds: Any, cells: Any) -> Any:
    """Call build_dual_graph; from 0.10 on it also takes the maximum number of cells per facet."""
    try:
        return mesh.build_dual_graph(comm, kinds, cells)
    except TypeError:
        return mesh.build_dual_graph(comm, kinds, cells, 2)


def _ghosts(mode: Any) -> bool:
    """Return whether cells beyond a shared facet are wanted as ghosts."""
    name = getattr(mode, "name", mode)
    if name not in GHOST_MODES:
        raise UsageError(
            f"the plan's partitioner has no ghost mode {name!r}",
            hint=f"Ghost modes: {', '.join(GHOST_MODES)}.",
        )
    return bool(name == GHOST_MODES[1])


def _agreed(told: bool | None, asked: bool | None) -> bool | None:
    """Return whether ghosts are wanted; UsageError if create_mesh and partitioner disagree."""
    if told is not None and asked is not None and told != asked:
        raise UsageError(
            f"ghost_mode is {GHOST_MODES[asked]} for the partitioner and {GHOST_MODES[told]} for "
            "create_mesh",
            hint="With this DOLFINx, set it only in create_mesh(..., ghost_mode=...).",
        )
    return asked if told is None else told


def _neighbours_elsewhere(graph: Any, own: Part, part: Part) -> IntVector:
    """Return distinct pairs: a cell of this rank's input, and its neighbour in another block."""
    neighbours = np.asarray(graph.array)
    cells = np.repeat(np.arange(own.size), np.diff(np.asarray(graph.offsets)))
    cut = part[neighbours] != own[cells]
    return np.unique(np.column_stack([cells[cut], neighbours[cut]]), axis=0)


def _destinations(
    own: Part, beyond: IntVector, part: Part, ranks: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return the ranks that get each cell, its owner first, and the offset of each cell's ranks."""
    copies = np.unique(beyond[:, 0] * ranks + part[beyond[:, 1]])
    counts = 1 + np.bincount(copies // ranks, minlength=own.size)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    to = np.empty(offsets[-1], np.int32)
    is_owner = np.zeros(to.size, np.bool_)
    is_owner[offsets[:-1]] = True
    to[is_owner] = own
    to[~is_owner] = copies % ranks
    return to, offsets.astype(np.int32)
