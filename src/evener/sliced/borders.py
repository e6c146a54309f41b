"""Borders refined vertex by vertex: groups of blocks, each group by itself.

Vertices of clusters near a border are taken singly, other clusters whole. The graph of a group has
those of its blocks; edges that leave the group are left out, as they are cut whatever happens in
it. So no process holds more than the blocks of a group, and ranks refine groups side by side. Every
turn has other groups: blocks that were together once are kept together no longer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import BoolArray, FloatArray, IntVector, Part
from evener.graphs.graph import Graph
from evener.partitioning.refine import refined_blocks, repaired, scored
from evener.partitioning.registry import partition_with
from evener.partitioning.requests import Request
from evener.plans.partition import Contract
from evener.sliced import borders_kernels as kernels
from evener.sliced.narrow import narrow
from evener.sliced.rows import Known, SlicedGraph

GROUPS_DIFFER_BY = 0.3  # share by which a group may have more of the borders than another
SEED = 7


Near = npt.NDArray[np.int8]


def near_clusters(coarse: Graph, part: Part, hops: int) -> Near:
    """Return (c,) 0 for clusters more than `hops` edges from those at a border of `part` (c,)."""
    near = np.empty(coarse.n, np.int8)
    kernels.mark_near(coarse.xadj, coarse.adjncy, part, hops, near)
    return near


class SingleRows(NamedTuple):
    """Rows of single vertices of a process.

    which (r,) int32: of which one each row is. xadj, adjncy, adjwgt and vwgt: as of SliceRows.
    """

    which: Part
    xadj: npt.NDArray[np.int64]
    adjncy: npt.NDArray[np.int32]
    adjwgt: FloatArray
    vwgt: FloatArray


@dataclass(eq=False)
class BlockBorders:
    """What is refined: whole clusters and single vertices with their blocks.

    of (n_local,) int32: as borders_kernels says. coarse: the graph of all clusters. whole_part (c,)
    int32: the blocks of whole clusters, k for others. vertices (s,) int32: the single vertices of
    this process and its ghosts, ascending, with their blocks (s,) int32; the first n_own are the
    process's own. weights (k,): of the blocks of the graph. kept: the rows of all own single
    vertices; None: they are read for each group anew.
    """

    graph: SlicedGraph
    coarse: Graph
    of: Part
    whole_part: Part
    vertices: Part
    blocks: Part
    n_own: int
    weights: FloatArray
    kept: SingleRows | None = None

    @classmethod
    def found(
        cls, graph: SlicedGraph, of: Part, coarse: Graph, part: Part, k: int, near: Near
    ) -> BlockBorders:
        """Take the vertices of clusters that are near borders singly.

        part (c,) int32: the blocks of clusters; near (c,): as of `near_clusters`. of (n_local,) is
        written over.
        """
        count = int(kernels.count_single(of, near))
        vertices, blocks = np.empty(count, np.int32), np.empty(count, np.int32)
        kernels.number_singles(of, near, part, vertices, blocks)
        whole_part = np.where(near == 0, part, k).astype(np.int32)
        weights = np.bincount(part, coarse.weights(), k).astype(np.float64)
        n_own = int(np.searchsorted(vertices, graph.n_own))
        return cls(graph, coarse, of, whole_part, vertices, blocks, n_own, weights)

    def keep(self) -> None:
        """Read the rows of all own single vertices, and keep them."""
        self.kept = _joined(list(self._pieces(np.empty(0, np.int64), kernels.ALL)))

    def rows_of(self, group_of: IntVector, group: int) -> SingleRows:
        """Return rows of own single vertices, among them all of the group."""
        return self.kept or _joined(list(self._pieces(group_of, group)))

    def all_rows(self) -> Iterator[SingleRows]:
        """Yield the rows of all own single vertices, in pieces."""
        if self.kept is not None:
            return iter([self.kept])
        return self._pieces(np.empty(0, np.int64), kernels.ALL)

    def _pieces(self, group_of: IntVector, group: int) -> Iterator[SingleRows]:
        """Yield the rows of a group's own single vertices slice by slice."""
        wanted = self.of, self.blocks, group_of, group
        for i in self.graph.own_slices:
            rows = self.graph.rows(i)
            count, entries = kernels.count_entries(rows, *wanted)
            taken = SingleRows(
                np.empty(count, np.int32),
                np.zeros(count + 1, np.int64),
                np.empty(entries, np.int32),
                np.empty(entries if rows.adjwgt.size else 0),
                np.empty(count if rows.vwgt.size else 0),
            )
            kernels.take_rows(rows, *wanted, taken)
            yield taken

    def filled(self, values: Part, most: int) -> None:
        """Set the values of ghosts in `values` (s,) int32 to those that their owners have.

        most: no value is larger, or negative.
        """
        spread = np.zeros(self.graph.n_local, np.min_scalar_type(most))
        single = np.zeros(self.graph.n_local, np.bool_)
        spread[self.vertices], single[self.vertices] = values, True
        self.graph.fill(spread, Known(single))
        values[self.n_own :] = spread[self.vertices[self.n_own :]]

    def all_blocks(self) -> Part:
        """Return the blocks (n_own,) of the process's vertices, in the memory of `of`."""
        n = self.graph.n_own
        kernels.write_blocks(self.of, self.whole_part, self.blocks, 0, n, self.of)
        return self.of[:n]


def _joined(pieces: list[SingleRows]) -> SingleRows:
    """Return the rows of all pieces as one; the list is emptied."""
    lists: list[list[npt.NDArray[Any]]] = [[one] for one in _NO_ROWS]
    begin = 0
    for piece in pieces:
        piece.xadj[:] += begin
        begin = int(piece.xadj[-1])
        arrays: tuple[npt.NDArray[Any], ...] = (piece.which, piece.xadj[1:], *piece[2:])
        for listed, array in zip(lists, arrays, strict=True):
            listed.append(array)
    pieces.clear()
    return SingleRows(*(np.concatenate(lists.pop(0)) for _ in SingleRows._fields))


_NO_ROWS = SingleRows(
    np.empty(0, np.int32), np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0), np.empty(0)
)


class BorderEffort(NamedTuple):
    """How borders are refined: options of `refined_blocks`."""

    preset: str = "default"
    objective: str = "cut"
    seed: int = 7
    method: str = "rounded"


def refine_borders(
    borders: BlockBorders, contract: Contract, n_groups: int, turns: int, effort: BorderEffort
) -> None:
    """Refine the blocks in place, `turns` times in other groups. All processes call.

    Diffusion rounds the blocks in the first turn; later ones only refine.
    """
    together = np.zeros((contract.k, contract.k), np.bool_)
    for turn in range(turns):
        group_of = _groups(borders, n_groups, together, turn)
        together |= group_of[:, None] == group_of[None, :]
        now = effort if turn == 0 else effort._replace(method="refined", seed=effort.seed + turn)
        _refine_groups(borders, contract, np.append(group_of, -1), n_groups, now)


def _groups(borders: BlockBorders, n_groups: int, together: BoolArray, turn: int) -> IntVector:
    """Return the group (k,) of every block: blocks with long borders together."""
    k = borders.weights.size
    if n_groups == 1:
        return np.zeros(k, np.int64)
    lengths = _border_lengths(borders)
    work = np.maximum(lengths.sum(axis=1), 1)
    lengths[together] = np.minimum(lengths[together], 1)
    rows, columns = np.nonzero(lengths)
    graph = Graph(np.searchsorted(rows, np.arange(k + 1)), columns, work, lengths[rows, columns])
    request = Request(np.ones(n_groups), GROUPS_DIFFER_BY, seed=SEED + turn)
    return partition_with("evener", graph, request).part.astype(np.int64)


def _border_lengths(borders: BlockBorders) -> npt.NDArray[np.int64]:
    """Return (k, k) how many edges of single vertices there are between blocks."""
    k = borders.weights.size
    counts = np.zeros((k + 1, k + 1), np.int64)
    for rows in borders.all_rows():
        kernels.count_borders(rows, borders.of, borders.blocks, borders.whole_part, counts)
    counts = counts[:k, :k]
    found = np.sum(borders.graph.comm.allgather(narrow(counts)), axis=0, dtype=np.int64)
    return np.asarray(np.maximum(found, found.T), np.int64)


class GroupRows(NamedTuple):
    """What a process tells of its single vertices in a group.

    degrees, blocks (v,) int32; entries (e,) int32: their lists, one after another; weights (e,) and
    vwgt (v,) float64, or (0,) where all are 1. In types as short as numbers allow after `narrow`.
    """

    degrees: Part
    blocks: Part
    entries: Part
    weights: FloatArray
    vwgt: FloatArray

    def narrow(self) -> GroupRows:
        """Return the same in fewer bytes."""
        degrees, blocks, entries, weights, vwgt = (narrow(one) for one in self._arrays())
        return GroupRows(degrees, blocks, entries, weights, vwgt)

    def wide(self) -> GroupRows:
        """Return the same in the types above."""
        degrees, blocks, entries = (one.astype(np.int32, copy=False) for one in self[:3])
        weights, vwgt = (one.astype(np.float64, copy=False) for one in self[3:])
        return GroupRows(degrees, blocks, entries, weights, vwgt)

    def _arrays(self) -> list[npt.NDArray[Any]]:
        return list(self)


def _refine_groups(
    borders: BlockBorders,
    contract: Contract,
    group_of: IntVector,
    n_groups: int,
    effort: BorderEffort,
) -> None:
    """Refine each group at one of the processes, as many side by side as there are of these."""
    comm, n_own = borders.graph.comm, borders.n_own
    own_groups = group_of[borders.blocks[:n_own]]
    counts = np.array(comm.allgather(np.bincount(own_groups, minlength=n_groups)))
    firsts = np.cumsum(counts, axis=0) - counts
    number = np.empty(borders.vertices.size, np.int32)
    kernels.number_in_groups(n_own, borders.blocks, group_of, firsts[comm.rank].copy(), number)
    borders.filled(number, int(counts.sum(axis=0).max(initial=0)))
    for begin in range(0, n_groups, comm.size):
        now = range(begin, min(begin + comm.size, n_groups))
        told = [group_rows(borders, number, group_of, own_groups, g) for g in now]
        if comm.size > 1:
            told = [one.narrow() for one in told]
        got = comm.exchange(told + [NOTHING_TOLD] * (comm.size - len(told)))
        whole, singles = NO_BLOCKS, [NO_BLOCKS] * comm.size
        if comm.rank < len(now):
            group = now[comm.rank]
            got = [one.wide() for one in got]
            whole, blocks = _refined(borders, contract, group_of, group, got, effort)
            singles = np.split(narrow(blocks), np.cumsum(counts[:-1, group]))
        del got
        for group, of_whole in zip(now, comm.allgather(narrow(whole)), strict=False):
            borders.whole_part[group_of[borders.whole_part] == group] = of_whole
        for group, of_singles in zip(now, comm.exchange(singles), strict=False):
            borders.blocks[:n_own][own_groups == group] = of_singles
    borders.filled(borders.blocks, contract.k)


NO_BLOCKS = np.empty(0, np.int32)
NOTHING_TOLD = GroupRows(NO_BLOCKS, NO_BLOCKS, NO_BLOCKS, np.empty(0), np.empty(0))


def group_rows(
    borders: BlockBorders, number: Part, group_of: IntVector, own_groups: IntVector, group: int
) -> GroupRows:
    """Return what the process tells of a group. number (s,): of single vertices in their groups.

    group_of (k + 1,): of blocks, -1 last; own_groups (n_own,): of the process's single vertices.
    """
    rows = borders.rows_of(group_of, group)
    inside = own_groups == group
    degrees, entries = np.empty(rows.which.size, np.int32), np.empty(rows.adjncy.size, np.int32)
    weights = np.empty(rows.adjwgt.size)
    count, used = kernels.list_rows(
        rows, borders.of, borders.blocks, number, borders.whole_part, group_of, group, degrees,
        entries, weights,
    )  # fmt: skip
    return GroupRows(
        degrees[:count].copy(),
        borders.blocks[: borders.n_own][inside],
        entries[:used].copy(),
        weights[:used].copy(),
        rows.vwgt[inside[rows.which]] if rows.vwgt.size else rows.vwgt,
    )


def _refined(
    borders: BlockBorders,
    contract: Contract,
    group_of: IntVector,
    group: int,
    got: list[GroupRows],
    effort: BorderEffort,
) -> tuple[Part, Part]:
    """Return the blocks of a group's whole clusters, by number, and of its single vertices."""
    members = np.flatnonzero(group_of[borders.whole_part] == group)
    blocks = np.flatnonzero(group_of[:-1] == group)
    part = np.concatenate([borders.whole_part[members], *(one.blocks for one in got)])
    if blocks.size < 2:
        return part[: members.size], part[members.size :]
    graph = group_graph(borders, members, got)
    place = np.zeros(contract.k, np.int32)
    place[blocks] = np.arange(blocks.size)
    own = Contract(contract.targets[blocks], contract.low[blocks], contract.high[blocks])
    found = blocks[_better(graph, place[part], own, effort)].astype(np.int32)
    return found[: members.size], found[members.size :]


def _better(graph: Graph, part: Part, contract: Contract, effort: BorderEffort) -> Part:
    """Return refined blocks (n,) if they are better and no less balanced, else those given."""
    given = scored(graph, part, contract, effort.objective)
    blocks = refined_blocks(graph, part, contract, **effort._asdict())
    found = scored(graph, blocks, contract, effort.objective)
    if not found.as_balanced_as(given):
        found = repaired(found, graph, contract, effort.objective)
    return found.part if found.as_balanced_as(given) and found.better_than(given) else part


def group_graph(borders: BlockBorders, members: IntVector, got: list[GroupRows]) -> Graph:
    """Return the graph of whole clusters `members` (w,), then of the single vertices told."""
    coarse = borders.coarse
    here = np.full(coarse.n, kernels.NOT_HERE, np.int32)
    here[members] = np.arange(members.size)
    degrees, entries, weights = (np.concatenate([one[field] for one in got]) for field in (0, 2, 3))
    coarse_adjwgt = coarse.adjwgt
    assert coarse_adjwgt is not None  # contracted graphs have them
    edges = coarse.xadj, coarse.adjncy, coarse_adjwgt
    joined: FloatArray = np.empty(entries.size, coarse_adjwgt.dtype)
    used = kernels.join_entries(degrees, entries, weights, here, members.size, joined)
    entries, joined = entries[:used], joined[:used]
    xadj = np.zeros(members.size + degrees.size + 1, np.int64)
    kernels.count_degrees(edges, members, here, degrees, entries, xadj)
    adjncy = np.empty(int(xadj[-1]), np.int32)
    adjwgt: FloatArray = np.empty(adjncy.size, joined.dtype)
    kernels.write_lists(edges, members, here, degrees, entries, joined, xadj, adjncy, adjwgt)
    vwgt: FloatArray = np.concatenate(
        [coarse.weights()[members].astype(np.float64)]
        + [one.vwgt if one.vwgt.size else np.ones(one.degrees.size) for one in got]
    )
    return Graph.trusted(xadj, adjncy, vwgt, adjwgt)
