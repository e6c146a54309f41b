"""Makes a candidate faster: its blocks swap devices, its vertices move to other blocks.

`DeviceSwaps` swaps blocks among identical devices. The search is that of
`evener.partitioning.mapping`; it assumes that the computing time of a block is the same on all
identical devices, so speed curves are not evaluated again.

`refinements` moves vertices to lower the makespan, repeatedly while that helps. `refine_seconds`
models what each device computes and exchanges, but not how long it waits for its partners and for
shared links. Therefore the waits of the last prediction are added to the devices' fixed seconds. If
no device is last because of its waits, one refinement is enough.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, Part
from evener.partitioning.initial.trees import Tree, device_tree
from evener.partitioning.makespan.refine_seconds import BlockLimits, refine_seconds
from evener.partitioning.mapping.blocks import nearby_of
from evener.partitioning.mapping.device_search import SwapSearch
from evener.partitioning.mapping.mapping_kernels import MappingProblem
from evener.planning.makespan.candidates import Candidate, CandidateMaker
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
            candidate.used.astype(np.float64), np.arange(own.size), np.ones(own.size),
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
