"""Swaps of blocks among devices alike, for a lower predicted makespan.

The search is that of `evener.partitioning.mapping`, which is told that a block computes equally
long
on all devices like its own: no speed curve is read again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, Part
from evener.partitioning.initial.trees import Tree, device_tree
from evener.partitioning.mapping.cost_kernels import MappingProblem
from evener.partitioning.mapping.costs import nearby_of
from evener.partitioning.mapping.search import SwapSearch
from evener.planning.makespan.candidates import Candidate
from evener.planning.makespan.problem import MakespanProblem

MAX_DEVICES = 512  # devices: tables of all pairs are then below 10 MB


@dataclass(frozen=True, eq=False)
class DeviceSwaps:
    """Which devices of a problem are alike, and what their links cost."""

    problem: MakespanProblem

    @cached_property
    def alike(self) -> npt.NDArray[np.int64]:
        """(k,) equal numbers for devices of one speed, memory, fixed cost and the same limits."""
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
        """Which devices are near each other, for machines too large to try every swap."""
        return device_tree(self.problem.platform)

    @cached_property
    def kinds(self) -> tuple[npt.NDArray[np.int32], FloatArray, FloatArray]:
        """(k, k) kind of link of every pair, and alpha [s] and per_value [s] of each kind."""
        costs = self.problem.costs
        pairs = np.stack([costs.alpha.ravel(), costs.per_value.ravel()], axis=1)
        found, number = np.unique(pairs, axis=0, return_inverse=True)
        kind = number.reshape(costs.alpha.shape).astype(np.int32)
        return kind, found[:, 0].copy(), found[:, 1].copy()

    def swapped(self, candidate: Candidate) -> Part | None:
        """Return the candidate's blocks (n,) after the best swaps found, None where none helps."""
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
        """Return the mapping's input: a block weighs its seconds and its device's kind."""
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
