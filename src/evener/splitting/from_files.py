"""Assigns the edges of a file to blocks in a few passes, without storing all edges in memory.

One pass surveys the file. Then each method reads it once, except `2ps` and `hep` (up to three
times) and `stream` (up to four times). Blocks satisfy both limits of their contract: no block
exceeds its high, and the last edges of the stream are reserved for blocks below their lows. Memory:
one bit per vertex and block, up to 48 bytes per vertex, and a piece of the file; `stream` and `hep`
also store edges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from evener.arrays import BoolArray, FloatArray, IntArray, IntVector, Part
from evener.errors import InputError
from evener.io.graphs.edge_pieces import EdgePieces, Survey
from evener.plans.edge_partition import EdgeMetrics, EdgePartition
from evener.plans.partition import Contract
from evener.splitting import clustering_kernels as clustering
from evener.splitting import expanding_kernels, placing_kernels
from evener.splitting.buffering import Stream, buffer_size, homes_of_stream, sample_of_stream
from evener.splitting.expanding import (
    HUB_RATIO,
    NO_BLOCK,
    hold_placed,
    region_of,
    rooms_of,
    rooms_within,
)
from evener.splitting.streaming import RULES, clusters_of, empty_blocks, hash_table, homes_of


@dataclass(frozen=True)
class Streaming:
    """A run that assigns the edges of a file to blocks.

    part (m,) int32: filled with the blocks of the edges. blocks: updated with every edge. size:
    number of edges in the buffer of `stream`. memory [B]: limit for the edges that `hep` stores;
    None for no limit.
    """

    source: EdgePieces
    survey: Survey
    contract: Contract
    blocks: placing_kernels.FilledBlocks
    part: Part
    seed: int
    size: int
    memory: float | None = None

    def pieces(
        self, *, is_first: bool = True
    ) -> Iterator[tuple[IntArray, IntArray, FloatArray, Part]]:
        """Yield for each piece of the file its tails, heads, work, and its section of `part`.

        is_first: no edge has a block yet, so the section is set to -1.
        """
        for first, tails, heads in self.source.read():
            now = self.part[first : first + tails.size]
            if is_first:
                now[:] = NO_BLOCK
            yield tails, heads, np.ones(tails.size), now

    def ends(self) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield the tails and heads of each piece of the file."""
        return ((tails, heads) for _, tails, heads in self.source.read())


def split_pieces(
    source: EdgePieces,
    survey: Survey,
    contract: Contract,
    method: str,
    part: Part,
    *,
    seed: int = 7,
    size: int | None = None,
    memory: float | None = None,
) -> tuple[EdgeMetrics, tuple[str, ...]]:
    """Fill part (m,) with the blocks of a file's edges; return their metrics, and notes.

    method: a key of STREAMS. size: number of edges in the buffer of `stream`; None: `buffer_size`.
    memory [B]: limit for the edges that `hep` stores; None: no limit.
    """
    blocks = empty_blocks(survey.n, contract, m=survey.m)
    wanted = buffer_size(survey.m) if size is None else size
    run = Streaming(source, survey, contract, blocks, part, seed, wanted, memory)
    notes = STREAMS[method](run)
    return _metrics(blocks.held, blocks.loads), notes or ()


def metrics_of_pieces(source: EdgePieces, survey: Survey, partition: EdgePartition) -> EdgeMetrics:
    """Return the metrics of any edge partition of a file, by one pass over the file.

    Memory: one bit per vertex and block. Raises InputError for a partition of another number of
    edges.
    """
    k, part = partition.k, partition.part
    if partition.m != survey.m:
        raise InputError(
            f"the partition has {partition.m:,} entries, but there are {survey.m:,} edges"
        )
    held = np.zeros((survey.n, (k + 63) // 64), np.uint64)
    for first, tails, heads in source.read():
        placing_kernels.hold_ends(tails, heads, part[first : first + tails.size], held)
    return _metrics(held, np.bincount(part, minlength=k).astype(np.float64))


def _metrics(held: npt.NDArray[np.uint64], loads: FloatArray) -> EdgeMetrics:
    """Return the metrics from the blocks of each vertex and the number of edges per block.

    held (n, words): the blocks of each vertex, as bits. loads (k,): edges per block.
    """
    vertices = np.zeros(loads.size, np.int64)
    touched = int(placing_kernels.count_held(held, vertices))
    copies = int(vertices.sum()) - touched
    edges = np.rint(loads).astype(np.int64)
    return EdgeMetrics(copies, 1 + copies / max(touched, 1), loads, vertices, edges)


def _scored(run: Streaming, *, by: str) -> None:
    rule = RULES[by]
    for tails, heads, work, part in run.pieces():
        placing_kernels.place_by_score(
            tails, heads, work, rule.by_degree, rule.balance, run.blocks, part
        )


def _hashed(run: Streaming) -> None:
    table = hash_table(run.contract.targets)
    for tails, heads, work, part in run.pieces():
        placing_kernels.place_by_hash(
            tails, heads, work, run.survey.degrees, table, run.blocks, part
        )


def _in_order(run: Streaming) -> None:
    ends = np.cumsum(rooms_within(run.contract, run.survey.m))
    first = 0
    for tails, heads, work, part in run.pieces():
        part[:] = np.searchsorted(ends, np.arange(first, first + part.size), "right")
        hold_placed(run.blocks, tails, heads, work, part)
        first += part.size


def _at_random(run: Streaming) -> None:
    """Draw each edge's block at random in proportion to the edges that blocks still take."""
    rng = np.random.default_rng(run.seed)
    rooms = rooms_within(run.contract, run.survey.m).astype(np.int64)
    for tails, heads, work, part in run.pieces():
        taken = rng.multivariate_hypergeometric(rooms, part.size, method="marginals")
        rooms -= taken
        part[:] = rng.permutation(np.repeat(np.arange(rooms.size), taken))
        hold_placed(run.blocks, tails, heads, work, part)


def _two_phase(run: Streaming) -> None:
    """Assign edges by 2PS: find clusters, assign edges inside blocks, then edges between blocks.

    The last pass also tries again to assign edges inside blocks.
    """
    degrees, m = run.survey.degrees, run.survey.m
    clusters, _ = clusters_of(run.ends, degrees, m, run.contract.k)
    homes, volumes = homes_of(clusters, run.contract.targets), clusters.volumes[clusters.of]
    for tails, heads, work, part in run.pieces():
        clustering.place_inside(tails, heads, work, homes, run.blocks, part)
    none, all_left = np.zeros((2, run.contract.k)), np.array([float(m)])
    again = run.blocks._replace(loads=none[0], full=none[1], left=all_left)
    for tails, heads, work, part in run.pieces():
        clustering.place_inside(tails, heads, work, homes, again, part)
        clustering.place_between(tails, heads, work, homes, degrees, volumes, run.blocks, part)


def _buffered(run: Streaming) -> tuple[str, ...]:
    m = run.survey.m
    homes = homes_of_stream(run.ends, run.survey.degrees, m, run.contract.targets, run.size)
    rooms = rooms_within(run.contract, m)
    stream = Stream(m, rooms, run.blocks, run.size, is_window=homes is not None)
    if homes is None:
        run.part[:] = NO_BLOCK
        sample = sample_of_stream(run.ends, run.survey.degrees, m, run.size, run.seed)
        stream.begin(sample, None, run.part)
        del sample
    else:
        for tails, heads, work, part in run.pieces():
            clustering.place_inside(tails, heads, work, homes, run.blocks, part)
    for tails, heads, work, _ in run.pieces(is_first=False):
        stream.add(tails, heads, work, run.part)
    stream.finish(run.part)
    return stream.said()


def _hybrid(run: Streaming) -> None:
    """Assign edges by HEP: expand blocks over the edges in memory, then assign edges of hubs."""
    source, survey, part = run.source, run.survey, run.part
    hubs = survey.degrees > hub_degree(source, survey, run.memory)
    tails, heads, edges = _in_memory(source, hubs)
    found, work = np.full(edges.size, NO_BLOCK, np.int32), np.ones(edges.size)
    region = region_of(tails, heads, found, np.full(survey.n, NO_BLOCK, np.int32), hubs)
    expanding_kernels.expand(region, 0, work, rooms_of(run.contract.targets, edges.size), 0, found)
    part[:] = NO_BLOCK
    part[edges] = found
    hold_placed(run.blocks, tails, heads, work, found)
    run.blocks.left[0] -= edges.size
    del region, tails, heads, edges, found
    rule = RULES["hdrf"]
    for first, tails, heads in source.read():
        now = part[first : first + tails.size]
        placing_kernels.place_by_score(
            tails, heads, np.ones(tails.size), rule.by_degree, rule.balance, run.blocks, now
        )


# Methods by name; each function returns notes, or None.
STREAMS: dict[str, Callable[[Streaming], tuple[str, ...] | None]] = {
    "stream": _buffered,
    "hep": _hybrid,
    "2ps": _two_phase,
    "hdrf": partial(_scored, by="hdrf"),
    "greedy": partial(_scored, by="greedy"),
    "dbh": _hashed,
    "random": _at_random,
    "order": _in_order,
}


# An edge in memory: ends, number, block, work, and its two entries in the lists by vertex.
BYTES_PER_EDGE = 8 + 8 + 4 + 8 + 16
LARGEST_POWER = 63


def hub_degree(source: EdgePieces, survey: Survey, memory: float | None) -> float:
    """Return the degree above which vertices are hubs.

    It is chosen such that the edges with an end that is not a hub fit into `memory` [B]. None: no
    limit, and the degree is HUB_RATIO times the mean.
    """
    touched = max(int(np.count_nonzero(survey.degrees)), 1)
    if memory is None:
        return HUB_RATIO * 2 * survey.m / touched
    # Count edges by the least power of two that is not below the lower degree of their ends.
    counts, powers = np.zeros(LARGEST_POWER + 1, np.int64), _powers(survey.degrees)
    for _, tails, heads in source.read():
        lower = np.minimum(powers[tails], powers[heads])
        counts += np.bincount(lower, minlength=counts.size)
    fit = np.flatnonzero(np.cumsum(counts) * BYTES_PER_EDGE <= memory)
    return float(2 ** int(fit[-1])) if fit.size else 0.0


def _in_memory(source: EdgePieces, hubs: BoolArray) -> tuple[IntArray, IntArray, IntVector]:
    """Return tails, heads and numbers of the edges that have an end which is not a hub."""
    pieces: list[tuple[IntArray, IntArray, IntVector]] = []
    for first, tails, heads in source.read():
        kept = np.flatnonzero(~(hubs[tails] & hubs[heads]))
        pieces.append((tails[kept], heads[kept], first + kept))
    by_end = list(zip(*pieces, strict=True))
    return np.concatenate(by_end[0]), np.concatenate(by_end[1]), np.concatenate(by_end[2])


def _powers(degrees: IntVector) -> IntVector:
    """Return for each degree (n,) the least e such that 2^e is not below it."""
    return np.ceil(np.log2(np.maximum(degrees, 1))).astype(np.int64)
