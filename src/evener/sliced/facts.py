"""Facts of a graph in slices for sizes, contracts and lower bounds; vertices' work by workload.

Degrees, and weights if vertices have any, are counted in tables, as most graphs have few distinct
values; the figures then equal those of the graph in memory. Sums are made in the order of the
slices, so that they do not depend on the number of processes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from evener.arrays import FloatArray, IntVector, Part
from evener.errors import InputError
from evener.graphs.lists import BYTES_PER_EDGE, BYTES_PER_VERTEX
from evener.plans.workload import Workload
from evener.platforms.platform import Platform
from evener.running.comm import Comm
from evener.sizing.facts import HeldWork, LoadFacts, WorkFacts, heaviest, held_work, lightest
from evener.sliced.rows import NO_WEIGHTS, SameStructure, SlicedGraph, SliceRows

# Kinds of vertices of a slice of which each is kept: 64 tables of as many take 32 MiB. Of more,
# those are taken together whose bytes for a unit of work differ by less than one in 2^9.
MOST_KINDS, RATIO_BITS = 1 << 14, 9
COMMON = 1 << 16  # degrees below are counted, others sorted
MOST_WEIGHT = 2.0**62  # of all vertices: sums of whole weights are int64


class VertexBytes(NamedTuple):
    """The memory of a vertex, and of each of its adjacency entries [B]."""

    vertex: float = BYTES_PER_VERTEX
    entry: float = BYTES_PER_EDGE


VERTEX_BYTES = VertexBytes()


class VertexKinds(NamedTuple):
    """Vertices grouped into kinds by their work per byte; arrays (g,).

    work, n_bytes: total work and bytes of the kind; least, most: minimum and maximum bytes per unit
    of work in it.
    """

    work: FloatArray
    n_bytes: FloatArray
    least: FloatArray
    most: FloatArray


@dataclass(frozen=True, eq=False)
class SliceFacts:
    """Facts of one slice: the degrees (d,) that occur, ascending, and how many vertices have each.

    weight: sum of the vertex weights; heaviest, lightest: largest and smallest vertex weight;
    light: smallest weights of vertices that fit into every memory, at most one per device; heavy:
    largest weights, likewise; kinds: set if both memories and weights matter.
    """

    degrees: IntVector
    counts: IntVector
    weight: float
    heaviest: float
    lightest: float
    light: FloatArray
    heavy: FloatArray
    kinds: VertexKinds | None


@dataclass(frozen=True, eq=False)
class SlicedFacts:
    """Facts of a graph in slices, known before it is divided.

    load, work: for contracts and lower bounds, weighted by the workload. total_weight [units]: of
    the vertices as they were read; unit_weights: whether all weights are 1. skewness: standard
    deviation of the degrees / max(their mean, 1).
    """

    load: LoadFacts
    work: WorkFacts
    total_weight: float
    unit_weights: bool
    skewness: float


def sliced_facts(
    graph: SlicedGraph, platform: Platform, workload: Workload, size: VertexBytes
) -> SlicedFacts:
    """Return the facts of a graph in slices, the same on all processes. Collective.

    Reads every slice once. Raises InputError if the workload's work is zero.
    """
    fits = _entries_that_fit(platform, size)
    by_weight = not any(workload.shares)
    capped = bool(np.isfinite(platform.memories).any())
    own = [
        _slice_facts(graph.rows(i), size, fits, platform.k, kinds=by_weight and capped)
        for i in graph.own_slices
    ]
    return _joined(_of_all(graph.comm, own), graph, platform, workload, size)


def _of_all(comm: Comm, own: list[SliceFacts]) -> list[SliceFacts]:
    """Return the facts of all slices, in their order."""
    return [one for some in comm.allgather(own) for one in some]


def _entries_that_fit(platform: Platform, size: VertexBytes) -> float:
    """Return the maximum degree of a vertex that fits into every memory; negative: none fits."""
    least = float(platform.memories.min())
    if size.vertex > least:
        return -1.0
    return np.inf if size.entry == 0 else (least - size.vertex) / size.entry


def _slice_facts(
    rows: SliceRows, size: VertexBytes, fits: float, k: int, *, kinds: bool
) -> SliceFacts:
    degrees = np.diff(rows.xadj)
    occurring, counts = _table(degrees)
    weights = rows.vwgt
    if not weights.size:
        count = float(degrees.size)
        return SliceFacts(occurring, counts, count, 1.0, 1.0, np.empty(0), np.empty(0), None)
    found = None
    if kinds:
        found = _fewer(_kinds(weights, size.vertex + size.entry * degrees))
    n_bytes_fit = degrees <= fits
    return SliceFacts(
        occurring,
        counts,
        float(weights.sum()),
        float(weights.max()),
        float(weights.min()),
        lightest(weights[n_bytes_fit], k),
        heaviest(weights, k),
        found,
    )


def _table(degrees: IntVector) -> tuple[IntVector, IntVector]:
    """Return the distinct degrees, ascending, and the number of vertices of each."""
    common = np.bincount(degrees[degrees < COMMON])
    low = np.flatnonzero(common)
    high, times = np.unique(degrees[degrees >= COMMON], return_counts=True)
    return np.concatenate([low, high]), np.concatenate([common[low], times])


def _joined(
    slices: list[SliceFacts],
    graph: SlicedGraph,
    platform: Platform,
    workload: Workload,
    size: VertexBytes,
) -> SlicedFacts:
    degrees, which = np.unique(np.concatenate([one.degrees for one in slices]), return_inverse=True)
    counts = np.bincount(which, np.concatenate([one.counts for one in slices]), degrees.size)
    full = [one for one in slices if one.counts.size]
    total = float(sum(one.weight for one in full))
    if not total < MOST_WEIGHT:
        raise InputError("the vertex weights add up to 2^62 or more")
    unit = all(one.heaviest == one.lightest == 1.0 for one in full)
    mean = graph.arcs / graph.n
    deviation = float(np.sqrt((counts * (degrees - mean) ** 2).sum() / graph.n))
    n_bytes = np.asarray(size.vertex + size.entry * degrees, np.float64)
    total_bytes = graph.n * size.vertex + graph.arcs * size.entry
    smallest = float(n_bytes.min())
    if unit or any(workload.shares):
        scale = work_scale(graph, workload, total)
        each = np.ones(degrees.size) if scale is None else scale.of(degrees)
        work = counts * each
        load = float(work.sum())
        unit_work = bool((each == 1).all())
        fitting = n_bytes <= platform.memories.min()
        light = np.empty(0) if unit_work else _light(each[fitting], counts[fitting], platform.k)
        heavy = np.empty(0) if unit_work else -_light(-each, counts, platform.k)
        most, alike = float(each.max()), bool((each == each[0]).all())
        first = float(each[0])
        held = held_work(counts * n_bytes, work)
    else:
        load, unit_work = total, False
        light = lightest(np.concatenate([one.light for one in full]), platform.k)
        heavy = heaviest(np.concatenate([one.heavy for one in full]), platform.k)
        most = max(one.heaviest for one in full)
        first = min(one.lightest for one in full)
        alike = most == first
        kinds = [one.kinds or _plain(one, size) for one in full]
        held = _held(VertexKinds(*(np.concatenate(some) for some in zip(*kinds, strict=True))))
    capped = bool(np.isfinite(platform.memories).any())
    return SlicedFacts(
        LoadFacts(graph.n, load, unit_work, most, total_bytes, smallest, light, heavy),
        WorkFacts(load, first if alike else 0.0, held if capped else None),
        total,
        unit,
        deviation / max(mean, 1.0),
    )


def _light(each: FloatArray, counts: IntVector | FloatArray, count: int) -> FloatArray:
    """Return the `count` smallest weights; counts (d,) vertices have the weights `each` (d,)."""
    order = np.argsort(each, kind="stable")
    times = np.minimum(counts[order], count).astype(np.int64)
    return np.repeat(each[order], times)[:count]


# Work per byte, if vertex weights are the work.


def _kinds(work: FloatArray, n_bytes: FloatArray) -> VertexKinds:
    """Group vertices with equal work and equal bytes into kinds."""
    order = np.lexsort((n_bytes, work))
    work, n_bytes = work[order], n_bytes[order]
    new = np.ones(work.size, np.bool_)
    new[1:] = (work[1:] != work[:-1]) | (n_bytes[1:] != n_bytes[:-1])
    first = np.flatnonzero(new)
    times = np.diff(first, append=work.size)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(work[first] > 0, n_bytes[first] / work[first], np.inf)
    return VertexKinds(work[first] * times, n_bytes[first] * times, ratio, ratio)


def _plain(one: SliceFacts, size: VertexBytes) -> VertexKinds:
    """Return the kinds of a slice whose vertices all have weight 1."""
    n_bytes = np.asarray(size.vertex + size.entry * one.degrees, np.float64)
    return VertexKinds(one.counts.astype(np.float64), one.counts * n_bytes, n_bytes, n_bytes)


def _fewer(kinds: VertexKinds) -> VertexKinds:
    """Return the kinds; if there are more than MOST_KINDS, merge those of similar ratios."""
    if kinds.work.size <= MOST_KINDS:
        return kinds
    # The exponent and the first bits of the mantissa.
    similar = kinds.least.view(np.int64) >> (52 - RATIO_BITS)
    order = np.argsort(similar, kind="stable")
    starts = np.flatnonzero(np.diff(similar[order], prepend=similar[order[0]] - 1))
    return VertexKinds(
        np.add.reduceat(kinds.work[order], starts),
        np.add.reduceat(kinds.n_bytes[order], starts),
        np.minimum.reduceat(kinds.least[order], starts),
        np.maximum.reduceat(kinds.most[order], starts),
    )


def _held(kinds: VertexKinds) -> HeldWork:
    """Return the maximum work that fits into a given memory: vertices of most work per byte first.

    If the vertices of a kind differ, their curve of work over bytes is replaced by two segments
    above it, whose slopes are given by the least and the most bytes per unit of work.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        steep, flat = 1 / kinds.least, 1 / kinds.most
        corner = (kinds.work - kinds.n_bytes * flat) / (steep - flat)
    corner = np.where(steep > flat, np.clip(np.nan_to_num(corner), 0, kinds.n_bytes), 0.0)
    first = np.where(corner > 0, np.minimum(corner * steep, kinds.work), 0.0)
    return held_work(
        np.concatenate([corner, kinds.n_bytes - corner]),
        np.concatenate([first, kinds.work - first]),
    )


# Workloads that weigh vertices.


@dataclass(frozen=True)
class WorkScale:
    """The work of a vertex [units], given its degree: scale x (vertex + entry x degree)."""

    vertex: float
    entry: float
    scale: float

    def of(self, degrees: IntVector) -> FloatArray:
        """Return the work of vertices of these degrees."""
        return np.asarray((self.vertex + self.entry * degrees) * self.scale, np.float64)


def work_scale(graph: SlicedGraph, workload: Workload, total_weight: float) -> WorkScale | None:
    """Return the workload's work of a vertex by degree; None if the vertices' own weights count.

    Raises InputError if only edges have work and there are no edges.
    """
    vertex, entry = workload.shares
    if not (vertex or entry):
        return None
    total = vertex * graph.n + entry * graph.arcs
    if not total > 0:
        raise InputError(
            f"kernel {workload.name!r} has no work on a graph without edges",
            hint="Give it bytes_per_vertex or flops_per_vertex.",
        )
    return WorkScale(vertex, entry, total_weight / max(total, 1e-300))


class WorkRows(SameStructure):
    """A SlicedGraph like `graph`, but with the work of a workload as vertex weights."""

    def __init__(self, graph: SlicedGraph, scale: WorkScale) -> None:
        super().__init__(graph)
        self._scale = scale

    def rows(self, i: int) -> SliceRows:
        """Return the rows of slice i, with work as vertex weights."""
        rows = self._graph.rows(i)
        return rows._replace(vwgt=self._scale.of(np.diff(rows.xadj)))

    def weights(self, i: int) -> FloatArray:
        """Return the work (r,) of the vertices of slice i."""
        return self.rows(i).vwgt


def weighted_slices(graph: SlicedGraph, workload: Workload, total_weight: float) -> SlicedGraph:
    """Return the graph with work as vertex weights; the graph itself if its own weights count."""
    scale = work_scale(graph, workload, total_weight)
    return graph if scale is None else WorkRows(graph, scale)


class WeighedRows(SameStructure):
    """A SlicedGraph like `graph`, but with the given vertex weights (n_own,).

    Constructing it is collective. total, heaviest [units]: sum and maximum of all weights; sums are
    made slice by slice, so that they do not depend on the number of processes. size: bytes of a
    vertex.
    """

    def __init__(self, graph: SlicedGraph, weights: FloatArray, size: VertexBytes) -> None:
        super().__init__(graph)
        self.size = size
        self.all_weights = weights
        of_ranks = self.comm.allgather((float(weights.max(initial=0)), bool((weights == 1).all())))
        self.heaviest = max(heaviest for heaviest, _ in of_ranks)
        self._unit = all(unit for _, unit in of_ranks)
        self.total = self.summed(weights)

    def rows(self, i: int) -> SliceRows:
        """Return the rows of slice i, with the given weights."""
        return self._graph.rows(i)._replace(vwgt=self.weights(i))

    def weights(self, i: int) -> FloatArray:
        """Return the weights (r,) of the vertices of slice i, or (0,) if all are 1."""
        return NO_WEIGHTS if self._unit else self.all_weights[self.span(i)]

    def span(self, i: int) -> slice:
        """Return the range of slice i's vertices among the own vertices."""
        first, last = (self.ends[i : i + 2] - self.ends[self.own_slices.start]).tolist()
        return slice(first, last)

    def summed(self, values: FloatArray) -> float:
        """Return the sum of the values (n_own,) of all processes. Collective."""
        own = [float(values[self.span(i)].sum()) for i in self.own_slices]
        return sum(one for some in self.comm.allgather(own) for one in some)


def degrees_of(graph: SlicedGraph) -> Part:
    """Return the degree (n_own,) int32 of each own vertex; reads every slice once."""
    own = [np.diff(graph.rows(i).xadj).astype(np.int32) for i in graph.own_slices]
    return np.concatenate([np.empty(0, np.int32), *own])


def weights_of(graph: SlicedGraph) -> FloatArray:
    """Return the weights (n_own,) of own vertices, 1 if the graph has no weights."""
    ends: IntVector = np.diff(graph.ends)
    own = [(graph.weights(i), int(ends[i])) for i in graph.own_slices]
    return np.concatenate([NO_WEIGHTS, *(w if w.size else np.ones(n) for w, n in own)])
