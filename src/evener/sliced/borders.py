"""Refines borders vertex by vertex, separately in each of several groups of blocks.

Only clusters near a border are split into single vertices. The graph of a group contains the
clusters and vertices of its blocks, without edges that leave the group: these stay cut whatever
happens inside it. So no process needs memory for more than the blocks of one group, and ranks
refine different groups at the same time. Each turn forms other groups: if two blocks have already
shared a group, their common border hardly counts any more.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import NO_VERTICES, BoolArray, FloatArray, IntVector, Part
from evener.graphs.graph import Graph
from evener.partitioning.refine import RefineOptions, refined_blocks, repaired, scored
from evener.partitioning.registry import partition_with
from evener.partitioning.requests import Request
from evener.plans.partition import Contract
from evener.sliced import borders_kernels as kernels
from evener.sliced.gathering import narrow
from evener.sliced.memory import BorderMemory, group_bytes
from evener.sliced.rows import Known, SlicedGraph

STEPWISE = 0.8  # of the groups that the largest one asks for: of more, it is smaller by more
GROUPS_DIFFER_BY = 0.3  # share by which a group may have more of the borders than another
SEED = 7


Near = npt.NDArray[np.int8]


def near_clusters(coarse: Graph, part: Part, hops: int) -> Near:
    """Return int8 flags (c,): 0 for clusters farther than `hops` edges from border clusters."""
    near = np.empty(coarse.n, np.int8)
    kernels.mark_near(coarse.xadj, coarse.adjncy, part, hops, near)
    return near


class SingleRows(NamedTuple):
    """Rows of some of a process's single vertices.

    which (r,) int32: the vertex of each row. xadj, adjncy, adjwgt and vwgt: as in SliceRows.
    """

    which: Part
    xadj: npt.NDArray[np.int64]
    adjncy: npt.NDArray[np.int32]
    adjwgt: FloatArray
    vwgt: FloatArray


BlockNumbers = npt.NDArray[Any]


def block_type(k: int) -> np.dtype[Any]:
    """Return the smallest integer type used to store a block below k for every vertex."""
    if k <= 1 << 8:
        return np.dtype(np.uint8)
    return np.dtype(np.uint16 if k <= 1 << 16 else np.int32)


@dataclass(eq=False)
class BlockBorders:
    """Whole clusters and single vertices, with their blocks: the input of refinement.

    of (n_local,) int32: see borders_kernels. coarse: the graph of all clusters. whole_part (c,)
    int32: the block of each whole cluster, k for other clusters. blocks (n_local,): the block of
    each single vertex, in the type `block_type`. n_own: number of single vertices of this process.
    weights (k,): weights of the blocks of the whole graph. kept: the rows of all own single
    vertices; None: rows are read again for each group.
    """

    graph: SlicedGraph
    coarse: Graph
    of: Part
    whole_part: Part
    blocks: BlockNumbers
    n_own: int
    weights: FloatArray
    kept: SingleRows | None = None

    @classmethod
    def found(
        cls, graph: SlicedGraph, of: Part, coarse: Graph, part: Part, k: int, near: Near
    ) -> BlockBorders:
        """Return the borders, with the clusters near them split into single vertices.

        part (c,) int32: the block of each cluster; near (c,): see `near_clusters`. of (n_local,) is
        overwritten.
        """
        count = int(kernels.count_single(of[: graph.n_own], near))
        blocks = np.zeros(of.size, block_type(k))
        kernels.take_singly(of, near, part, blocks)
        whole_part = np.where(near == 0, part, np.int32(k)).astype(np.int32, copy=False)
        weights = np.bincount(part, coarse.weights(), k).astype(np.float64)
        return cls(graph, coarse, of, whole_part, blocks, count, weights)

    @property
    def k(self) -> int:
        """Number of blocks."""
        return int(self.weights.size)

    def keep(self) -> None:
        """Read the rows of all own single vertices, and store them."""
        self.kept = _joined(list(self._pieces(_NO_GROUPS, kernels.ALL, self.graph.own_slices)))

    def rows_of(self, group_of: IntVector, group: int) -> Iterator[SingleRows]:
        """Yield, in pieces, rows of own single vertices that include all vertices of the group."""
        if self.kept is not None:
            return iter([self.kept])
        has = [i for i in self.graph.own_slices if (group_of[self._in_slice(i) > 0] == group).any()]
        return self._pieces(group_of, group, has)

    def all_rows(self) -> Iterator[SingleRows]:
        """Yield, in pieces, the rows of all own single vertices."""
        if self.kept is not None:
            return iter([self.kept])
        return self._pieces(_NO_GROUPS, kernels.ALL, self.graph.own_slices)

    def singles(self) -> IntVector:
        """Return the number of own single vertices in each block, (k + 1,)."""
        counts = np.zeros(self.k + 1, np.int64)
        kernels.count_blocks(self.of, self.blocks, 0, self.graph.n_own, counts)
        return counts

    def _in_slice(self, i: int) -> IntVector:
        """Return the number of single vertices of own slice i in each block, (k + 1,)."""
        ends = self.graph.ends
        first, last = (ends[i : i + 2] - ends[self.graph.own_slices.start]).tolist()
        counts = np.zeros(self.k + 1, np.int64)
        kernels.count_blocks(self.of, self.blocks, first, last, counts)
        return counts

    def _pieces(
        self, group_of: IntVector, group: int, slices: Sequence[int]
    ) -> Iterator[SingleRows]:
        """Yield, for each of these slices, the rows of the group's own single vertices."""
        wanted = self.of, self.blocks, group_of, group
        for i in slices:
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

    def fill_blocks(self) -> None:
        """Copy the blocks of single vertices from their owners to ghosts."""
        if self.of.size > self.graph.n_own:
            self.graph.fill(self.blocks, Known(self.of < 0))

    def fill_numbers(self, most: int) -> None:
        """Copy the numbers of single vertices from their owners to ghosts.

        most: upper limit of the numbers.
        """
        n_own = self.graph.n_own
        if self.of.size == n_own:
            return
        single = self.of < 0
        numbers = np.where(single, ~self.of, 0).astype(np.min_scalar_type(most))
        self.graph.fill(numbers, Known(single))
        ghosts = np.flatnonzero(single[n_own:]) + n_own
        self.of[ghosts] = ~numbers[ghosts].astype(np.int32)

    def all_blocks(self) -> Part:
        """Return the blocks (n_own,) of the process's vertices; overwrites `of`."""
        own = self.of[: self.graph.n_own]
        kernels.write_blocks(own, self.whole_part, self.blocks, own)
        return own


def _joined(pieces: list[SingleRows]) -> SingleRows:
    """Concatenate the rows of all pieces; the list is emptied."""
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
_NO_GROUPS: IntVector = np.empty(0, np.int64)


def refine_borders(
    borders: BlockBorders,
    contract: Contract,
    within: BorderMemory,
    turns: int,
    effort: RefineOptions,
) -> BoolArray:
    """Refine the blocks in place, `turns` times, each time in other groups. Collective.

    The first turn uses diffusion; later turns only refine. Returns flags (k,): whether memory
    sufficed for the block's group in at least one turn; other blocks are unchanged.
    """
    together = np.zeros((contract.k, contract.k), np.bool_)
    refined = np.zeros(contract.k, np.bool_)
    for turn in range(turns):
        groups = _groups(borders, within, together, turn)
        together |= groups.of[:, None] == groups.of[None, :]
        refined |= groups.fits[groups.of]
        now = effort if turn == 0 else effort._replace(method="refined", seed=effort.seed + turn)
        _refine_groups(borders, contract, groups, now)
    return refined


class BlockGroups(NamedTuple):
    """The groups of blocks.

    of (k,) int64: the group of each block. fits (groups,): whether memory suffices for the group.
    """

    of: IntVector
    fits: BoolArray

    @property
    def of_blocks(self) -> IntVector:
        """The group of each block (k + 1,), and -1 for number k, which means "no block"."""
        return np.append(self.of, -1)


def _groups(
    borders: BlockBorders, within: BorderMemory, together: BoolArray, turn: int
) -> BlockGroups:
    """Return groups in which blocks share long borders; more groups are made if memory is short."""
    k, groups = borders.k, within.groups
    if groups == 1 and not math.isfinite(within.room):
        return BlockGroups(np.zeros(k, np.int64), np.ones(1, np.bool_))
    lengths, entries = _border_lengths(borders)
    sizes = _group_sizes(borders, entries, within.falling)
    work = np.maximum(lengths.sum(axis=1), 1)
    lengths[together] = np.minimum(lengths[together], 1)
    rows, columns = np.nonzero(lengths)
    graph = Graph(np.searchsorted(rows, np.arange(k + 1)), columns, work, lengths[rows, columns])
    most = max(k // 2, 1)
    while True:
        of = np.zeros(k, np.int64)
        if groups > 1:
            request = Request(np.ones(groups), GROUPS_DIFFER_BY, seed=SEED + turn)
            of = partition_with("evener", graph, request).part.astype(np.int64)
        largest = np.bincount(of, sizes, groups)
        if largest.max() <= within.room or groups >= most:
            return BlockGroups(of, largest <= within.room)
        groups = min(max(groups + 1, int(groups * largest.max() / within.room * STEPWISE)), most)


def _border_lengths(borders: BlockBorders) -> tuple[npt.NDArray[np.int64], IntVector]:
    """Return the lengths of borders between blocks and the number of entries of each block.

    Lengths (k, k): edges of single vertices between two blocks, of all processes. Entries (k,):
    adjacency entries of this process's single vertices.
    """
    k = borders.k
    counts = np.zeros((k + 1, k + 1), np.int64)
    entries = np.zeros(k, np.int64)
    for rows in borders.all_rows():
        kernels.count_borders(rows, borders.of, borders.blocks, borders.whole_part, counts, entries)
    counts = counts[:k, :k]
    found = np.sum(borders.graph.comm.allgather(narrow(counts)), axis=0, dtype=np.int64)
    return np.asarray(np.maximum(found, found.T), np.int64), entries


def _group_sizes(borders: BlockBorders, entries: IntVector, falling: float) -> FloatArray:
    """Return the memory (k,) [B] that each block adds to its group's graph, on a single process."""
    coarse, k = borders.coarse, borders.k
    whole = np.bincount(borders.whole_part, minlength=k + 1)[:k]
    arcs = np.bincount(borders.whole_part, coarse.degrees, k + 1)[:k]
    vertices = borders.singles()[:k] + whole
    each = zip(vertices.tolist(), (entries + arcs).tolist(), strict=True)
    return np.array([group_bytes(*one, falling) for one in each])


class GroupRows(NamedTuple):
    """The rows of a process's single vertices in a group, as sent to the process that refines it.

    degrees, blocks (v,) int32; entries (e,) int32: concatenated adjacency lists; weights (e,) and
    vwgt (v,) float64, or (0,) if all are 1. After `narrow`, each array has the smallest type that
    holds its numbers.
    """

    degrees: Part
    blocks: Part
    entries: Part
    weights: FloatArray
    vwgt: FloatArray

    def narrow(self) -> GroupRows:
        """Return the same rows in the smallest types that hold their numbers."""
        degrees, blocks, entries, weights, vwgt = (narrow(one) for one in self)
        return GroupRows(degrees, blocks, entries, weights, vwgt)

    def wide(self) -> GroupRows:
        """Return the same rows in the types listed above."""
        degrees, blocks, entries = (one.astype(np.int32, copy=False) for one in self[:3])
        weights, vwgt = (one.astype(np.float64, copy=False) for one in self[3:])
        return GroupRows(degrees, blocks, entries, weights, vwgt)


def _refine_groups(
    borders: BlockBorders,
    contract: Contract,
    groups: BlockGroups,
    effort: RefineOptions,
) -> None:
    """Refine each group on one process; as many groups at the same time as there are processes."""
    comm, n_own, group_of = borders.graph.comm, borders.graph.n_own, groups.of_blocks
    own = borders.of, borders.blocks, group_of
    counts = number_groups(borders, group_of, groups.fits.size)
    fitting = np.flatnonzero(groups.fits).tolist()
    for begin in range(0, len(fitting), comm.size):
        now = fitting[begin : begin + comm.size]
        got = _exchanged(borders, group_of, now)
        whole, singles = NO_BLOCKS, [NO_BLOCKS] * comm.size
        if comm.rank < len(now):
            group = now[comm.rank]
            whole, blocks = _refined(borders, contract, group_of, group, got, effort)
            singles = np.split(narrow(blocks), np.cumsum(counts[:-1, group]))
        del got
        for group, of_whole in zip(now, comm.allgather(narrow(whole)), strict=False):
            borders.whole_part[(group_of == group)[borders.whole_part]] = of_whole
        for group, of_singles in zip(now, comm.exchange(singles), strict=False):
            kernels.put_blocks(n_own, *own, group, of_singles.astype(np.int32, copy=False))
    borders.fill_blocks()


def number_groups(
    borders: BlockBorders, group_of: IntVector, n_groups: int
) -> npt.NDArray[np.int64]:
    """Number single vertices within their groups; return their counts (processes, groups).

    Collective. group_of (k + 1,): the group of each block, then -1.
    """
    graph, counts = borders.graph, np.zeros(n_groups, np.int64)
    np.add.at(counts, group_of[:-1], borders.singles()[:-1])
    of_ranks = np.array(graph.comm.allgather(counts))
    firsts = of_ranks[: graph.comm.rank].sum(axis=0)
    kernels.number_in_groups(graph.n_own, borders.of, borders.blocks, group_of, firsts)
    borders.fill_numbers(int(of_ranks.sum(axis=0).max(initial=0)))
    return of_ranks


def _exchanged(borders: BlockBorders, group_of: IntVector, now: list[int]) -> list[GroupRows]:
    """Send rows to the processes that refine the groups `now`; return the rows for this process."""
    comm = borders.graph.comm
    outgoing = [group_rows(borders, group_of, group) for group in now]
    if comm.size == 1:
        return outgoing
    outgoing = [one.narrow() for one in outgoing] + [NO_GROUP_ROWS] * (comm.size - len(outgoing))
    return [one.wide() for one in comm.exchange(outgoing)]


NO_BLOCKS = np.empty(0, np.int32)
NO_GROUP_ROWS = GroupRows(NO_BLOCKS, NO_BLOCKS, NO_BLOCKS, np.empty(0), np.empty(0))


def group_rows(borders: BlockBorders, group_of: IntVector, group: int) -> GroupRows:
    """Return this process's rows of a group, whose single vertices have been numbered.

    group_of (k + 1,): the group of each block, then -1.
    """
    listed = [_listed(borders, rows, group_of, group) for rows in borders.rows_of(group_of, group)]
    if not listed:
        return NO_GROUP_ROWS
    fields: list[list[npt.NDArray[Any]]] = [list(some) for some in zip(*listed, strict=True)]
    listed.clear()
    return GroupRows(*(joined(fields.pop(0)) for _ in range(len(fields))))


def joined(arrays: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Concatenate the arrays; a single array is returned as it is, without a copy."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _listed(borders: BlockBorders, rows: SingleRows, group_of: IntVector, group: int) -> GroupRows:
    """Select the rows that belong to the group; return them as other processes need them."""
    blocks = borders.blocks[rows.which]
    inside = (group_of == group)[blocks]
    degrees, entries = np.empty(rows.which.size, np.int32), np.empty(rows.adjncy.size, np.int32)
    weights = np.empty(rows.adjwgt.size)
    count, used = kernels.list_rows(
        rows, borders.of, borders.blocks, borders.whole_part, group_of, group, degrees, entries,
        weights,
    )  # fmt: skip
    return GroupRows(
        degrees[:count].copy(),
        blocks[inside].astype(np.int32),
        entries[:used].copy(),
        weights[:used].copy(),
        rows.vwgt[inside] if rows.vwgt.size else rows.vwgt,
    )


def _refined(
    borders: BlockBorders,
    contract: Contract,
    group_of: IntVector,
    group: int,
    got: list[GroupRows],
    effort: RefineOptions,
) -> tuple[Part, Part]:
    """Return refined blocks of a group's whole clusters, by number, and of its single vertices.

    `got` is emptied, so that memory never holds both `got` and the graph made of it.
    """
    members = np.flatnonzero((group_of == group)[borders.whole_part])
    blocks = np.flatnonzero(group_of[:-1] == group)
    part = np.concatenate([borders.whole_part[members], *(one.blocks for one in got)])
    if blocks.size < 2:
        return part[: members.size], part[members.size :]
    graph = group_graph(borders, members, got)
    place = np.zeros(contract.k, np.int32)
    place[blocks] = np.arange(blocks.size)
    own = Contract(contract.targets[blocks], contract.low[blocks], contract.high[blocks])
    found = blocks[better_blocks(graph, place[part], own, effort)].astype(np.int32)
    return found[: members.size], found[members.size :]


def better_blocks(
    graph: Graph,
    part: Part,
    contract: Contract,
    effort: RefineOptions,
    fixed: IntVector = NO_VERTICES,
) -> Part:
    """Return refined blocks (n,) if they are better and no less balanced; else the given blocks.

    fixed: vertices that must stay in their blocks, ascending.
    """
    given = scored(graph, part, contract, effort.objective)
    blocks = refined_blocks(graph, part, contract, effort, fixed)
    found = scored(graph, blocks, contract, effort.objective)
    if not found.as_balanced_as(given):
        found = repaired(found, graph, contract, effort.objective, fixed)
    return found.part if found.as_balanced_as(given) and found.better_than(given) else part


def group_graph(borders: BlockBorders, members: IntVector, got: list[GroupRows]) -> Graph:
    """Return the graph of the whole clusters `members` (w,), then the single vertices in `got`.

    `got` is emptied, and its lists may be overwritten.
    """
    coarse = borders.coarse
    here = np.full(coarse.n, kernels.NOT_HERE, np.int32)
    here[members] = np.arange(members.size)
    degrees, entries, weights = (joined([one[field] for one in got]) for field in (0, 2, 3))
    vwgt: FloatArray = np.concatenate(
        [coarse.weights()[members].astype(np.float64)]
        + [one.vwgt if one.vwgt.size else np.ones(one.degrees.size) for one in got]
    )
    got.clear()
    coarse_adjwgt = coarse.adjwgt
    assert coarse_adjwgt is not None  # contracted graphs have them
    edges = coarse.xadj, coarse.adjncy, coarse_adjwgt
    sums: FloatArray = np.empty(entries.size, coarse_adjwgt.dtype)
    used = kernels.join_entries(degrees, entries, weights, here, members.size, sums)
    entries, sums = entries[:used], sums[:used]
    xadj = np.zeros(members.size + degrees.size + 1, np.int64)
    kernels.count_degrees(edges, members, here, degrees, entries, xadj)
    adjncy = np.empty(int(xadj[-1]), np.int32)
    adjwgt: FloatArray = np.empty(adjncy.size, sums.dtype)
    kernels.write_lists(edges, members, here, degrees, entries, sums, xadj, adjncy, adjwgt)
    return Graph.trusted(xadj, adjncy, vwgt, adjwgt)
