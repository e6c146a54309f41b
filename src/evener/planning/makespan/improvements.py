"""Makes a candidate faster: blocks swap devices, vertices and clusters move to other blocks.

`DeviceSwaps` swaps blocks among identical devices. The search is that of
`evener.partitioning.mapping`; it assumes that the computing time of a block is the same on all
identical devices, so speed curves are not evaluated again.

`refinements` moves vertices to lower the makespan, repeatedly while that helps. `refine_seconds`
models what each device computes and exchanges, but not how long it waits for its partners and for
shared links. Therefore the waits of the last prediction are added to the devices' fixed seconds. If
no device is last because of its waits, one refinement is enough.

`refined` does this. Where exchanges cost much, it first moves clusters of vertices: single vertices
cannot leave a border together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, Part
from evener.partitioning.initial.trees import Tree, device_tree
from evener.partitioning.levels.levels import Hierarchy, finest, shrink_all
from evener.partitioning.makespan.gain_state import Prices
from evener.partitioning.makespan.refine_seconds import (
    BlockLimits,
    faces_of,
    refine_by,
    refine_seconds,
)
from evener.partitioning.makespan.seconds_kernels import Bounds
from evener.partitioning.mapping.blocks import nearby_of
from evener.partitioning.mapping.device_search import SwapSearch
from evener.partitioning.mapping.mapping_kernels import MappingProblem
from evener.planning.makespan.candidates import Candidate, CandidateMaker
from evener.planning.makespan.coarse_search import COARSE_EFFORT, values_of
from evener.planning.makespan.problem import MakespanProblem, SearchEffort

MAX_DEVICES = 512  # devices: tables of all pairs are then below 10 MB


@dataclass(frozen=True, eq=False)
class DeviceSwaps:
    """Groups of identical devices of a problem, and what their links cost."""

    problem: MakespanProblem

    @cached_property
    def alike(self) -> npt.NDArray[np.int64]:
        """Numbers (k,), equal for devices with equal speed, memory, fixed cost and limits."""
        numbers: dict[tuple[object, ...], int] = {}
        return np.array(
            [
                numbers.setdefault(
                    (
                        d.speed if d.curve is None else id(d.curve), d.curve is None, d.memory,
                        d.memory_units, d.fixed_seconds, self.problem.low[b], self.problem.high[b],
                    ),
                    len(numbers),
                )
                for b, d in enumerate(self.problem.platform.devices)
            ],
            np.int64,
        )  # fmt: skip

    @cached_property
    def tree(self) -> Tree:
        """Tree of devices that are near each other, for machines too large to try every swap."""
        return device_tree(self.problem.platform)

    @cached_property
    def kinds(self) -> tuple[npt.NDArray[np.int32], FloatArray, FloatArray]:
        """The kind of link of every pair (k, k), and alpha [s] and per_value [s] of each kind."""
        costs = self.problem.costs
        pairs = np.stack([costs.alpha.ravel(), costs.per_value.ravel()], axis=1)
        found, number = np.unique(pairs, axis=0, return_inverse=True)
        kind = number.reshape(costs.alpha.shape).astype(np.int32)
        return kind, found[:, 0].copy(), found[:, 1].copy()

    def swapped(self, candidate: Candidate) -> Part | None:
        """Return the candidate's blocks (n,) after the best swaps found; None if no swap helps."""
        k = self.problem.platform.k
        if np.unique(self.alike).size == k or k > MAX_DEVICES or candidate.used.sum() < 3:
            return None
        mapping = self._mapping_problem(candidate)
        search = SwapSearch(mapping, nearby_of(mapping, self.tree, self.alike), self.alike)
        device = search.sooner(np.arange(k))
        if (device == np.arange(k)).all():
            return None
        return device.astype(np.int32)[candidate.part]

    def _mapping_problem(self, candidate: Candidate) -> MappingProblem:
        """Return the input of SwapSearch; each block stays on devices of its group (`alike`)."""
        quotient, prediction = candidate.quotient, candidate.prediction
        kind, alpha, per_value = self.kinds
        own = prediction.compute + prediction.fixed
        alike = self.alike.astype(np.float64)
        nothing, anything = np.full(own.size, -np.inf), np.full(own.size, np.inf)
        values = (quotient.sent + quotient.received).astype(np.float64)
        return MappingProblem(
            quotient.starts, quotient.other, values, np.stack([own, alike], axis=1),
            candidate.used.astype(np.float64), np.ones(own.size),
            np.stack([nothing, alike], axis=1), np.stack([anything, alike], axis=1),
            np.full(own.size, np.inf), np.empty((0, own.size), np.int64), kind, alpha, per_value,
            np.zeros(alpha.size),
        )  # fmt: skip


# Least gain of a refinement over the makespan: one that gains less, or would gain less if no
# device waited for another, is the last.
# Plans with other values, 2026-11: docs/results/README.md, Seconds.
MIN_GAIN = 0.005


def refinements(
    first: Candidate, maker: CandidateMaker, effort: SearchEffort, seed: int, threads: int
) -> list[Candidate]:
    """Refine a candidate of several devices repeatedly; return one candidate per refinement."""
    one, waits, tried = first, np.zeros(first.used.size), list[Candidate]()
    for turn in range(1 + effort.more_refinements):
        waits = 0.5 * (waits + _unknown_waits(one, effort))
        times = f" {turn + 1} times" if turn else ""
        name = f"{first.name}, refined{times}"
        now = _refined(name, one, waits, maker, effort, seed=seed + turn, threads=threads)
        if now is None:
            break
        tried.append(now)
        gain = 1 - now.seconds / one.seconds
        if gain <= MIN_GAIN or not _late_by_waiting(now, effort):
            break
        one = now
    return tried


def _refined(
    name: str,
    one: Candidate,
    waits: FloatArray,
    maker: CandidateMaker,
    effort: SearchEffort,
    *,
    seed: int,
    threads: int,
) -> Candidate | None:
    """Refine the candidate once; waits (k,) [s] are added to its devices' fixed seconds."""
    problem = maker.problem
    contract = problem.contract(one.loads)
    costs = replace(problem.costs, fixed=problem.costs.fixed + waits)
    if effort.more_refinements:  # waits for shared links are among `waits`
        costs = replace(costs, shared_per_value=np.empty(0))
    part, _ = refine_seconds(
        problem.weighted, one.part, problem.work, costs,
        limits=BlockLimits(contract.low, contract.high, contract.caps, problem.fixed), seed=seed,
        threads=threads, effort=effort.refine_effort,
    )  # fmt: skip
    return maker.make(name, part, one.loads)


def _unknown_waits(one: Candidate, effort: SearchEffort) -> FloatArray:
    """Return the waits that refinement does not model (k,) [s].

    These are waits for partners; and for shared links if the candidate is refined more than once:
    then the last prediction is more exact than refinement's own estimate for shared links.
    """
    held_up = one.prediction.contention if effort.more_refinements else 0.0
    return np.asarray(one.prediction.delay + held_up)


def _late_by_waiting(one: Candidate, effort: SearchEffort) -> bool:
    """Return whether the makespan would be lower if no device waited."""
    without = float((one.prediction.ends - _unknown_waits(one, effort)).max())
    return without <= one.seconds * (1 - MIN_GAIN)


# Share of its time that the slowest device exchanges, from which on clusters of vertices move, too.
COSTLY = 0.15


def refined(
    first: Candidate, maker: CandidateMaker, effort: SearchEffort, seed: int, threads: int
) -> list[Candidate]:
    """Refine a candidate of several devices; where exchanges cost much, by clusters first."""
    moved = None
    if moves_clusters(first, effort):
        moved = refined_by_clusters(first, maker, seed, threads)
    if moved is None:
        return refinements(first, maker, effort, seed, threads)
    return [moved, *refinements(moved, maker, effort, seed, threads)]


def moves_clusters(one: Candidate, effort: SearchEffort) -> bool:
    """Return whether clusters of vertices move in a refinement of the candidate."""
    last = one.prediction.bottleneck
    exchanged = float(one.prediction.communicate[last])
    return effort.by_clusters and exchanged >= COSTLY * one.seconds


# Mean vertices of a cluster, one after the other. On Delaunay graphs of 2^20 vertices and four GPUs
# with cores, 16 and 6 brought plans 12 to 17 % slower than those in memory to 3 % faster ones on
# all of three seeds; 8 or 6 alone on one and two.
IN_CLUSTER = (16.0, 6.0)
SHRINK_BY = 3.0  # mean vertices of the level before that a cluster may weigh


def refined_by_clusters(
    one: Candidate, maker: CandidateMaker, seed: int, threads: int
) -> Candidate | None:
    """Refine the candidate's blocks by moving whole clusters, large ones first.

    None if a block would become empty, or if limits cannot be satisfied.
    """
    found: Candidate | None = one
    for vertices in IN_CLUSTER:
        if found is None:
            break
        found = _by_clusters(found, maker, vertices, seed, threads)
    return found


def _by_clusters(
    one: Candidate, maker: CandidateMaker, vertices: float, seed: int, threads: int
) -> Candidate | None:
    """Refine the candidate by moving clusters of about this number of vertices."""
    problem = maker.problem
    clusters = _clusters(problem, one, vertices, threads)
    level, costs = clusters.coarsest, problem.costs
    # A coarse edge weighs its faces.
    faces = problem.workload.of_faces
    values = 1.0 if faces else values_of(level, clusters.part, one.quotient)
    prices = Prices(
        replace(
            costs,
            per_value=values * costs.per_value,
            shared_per_value=values * costs.shared_per_value,
        )
    )
    contract = problem.contract(one.loads)
    n_bytes = np.zeros(level.n)
    if np.isfinite(contract.caps).any():
        cluster = clusters.on_finest(np.arange(level.n, dtype=np.int32), threads)
        np.add.at(n_bytes, cluster, problem.graph.vertex_bytes())
    bounds = Bounds(level.vwgt, level.vwgt, n_bytes, contract.low, contract.high, contract.caps)
    part, _ = refine_by(COARSE_EFFORT, level, clusters.part, bounds, prices, seed, threads)
    name = f"{one.name}, by clusters of {vertices:g}"
    return maker.make(name, clusters.on_finest(part, threads), one.loads)


def _clusters(problem: MakespanProblem, one: Candidate, vertices: float, threads: int) -> Hierarchy:
    """Coarsen the problem's graph inside the candidate's blocks."""
    graph = problem.weighted
    work = None if graph.vwgt is None else problem.work
    level = finest(graph, np.arange(graph.n), work, faces_of(graph, problem.costs), threads)
    if problem.fixed is not None:
        level.fixed = np.flatnonzero(problem.fixed)
    mean = float(level.free_weights.sum()) / max(level.n_free, 1)
    return shrink_all(level, one.part, np.array([vertices * mean]), 1, SHRINK_BY, threads)
