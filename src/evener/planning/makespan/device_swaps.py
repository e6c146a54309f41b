"""Blocks that change places among devices alike: the predicted makespan, and nothing else.

`evener.partitioning.mapping` searches; here it is told that a block takes as long on every device
like its own, whatever the shape of their speed curve.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, Part
from evener.partitioning.initial.trees import Tree, device_tree
from evener.partitioning.mapping.cost_kernels import Scene
from evener.partitioning.mapping.costs import nearby_of
from evener.partitioning.mapping.search import Search
from evener.planning.makespan.task import Candidate, Task

MOST_PLACED = 512  # devices of which pairs are tabulated


@dataclass(frozen=True, eq=False)
class Places:
    """What does not change from one candidate to the next: who is like whom, and the links."""

    task: Task

    @cached_property
    def alike(self) -> npt.NDArray[np.int64]:
        """(k,) equal numbers for devices of one speed, memory and fixed cost."""
        numbers: dict[tuple[object, ...], int] = {}
        return np.array(
            [
                numbers.setdefault(
                    (
                        d.speed if d.curve is None else id(d.curve), d.curve is None, d.memory,
                        d.memory_units, d.fixed_seconds, self.task.low[b], self.task.high[b],
                    ),
                    len(numbers),
                )
                for b, d in enumerate(self.task.platform.devices)
            ],
            np.int64,
        )  # fmt: skip

    @cached_property
    def tree(self) -> Tree:
        """Which devices sit together; only where there are too many to try every swap."""
        return device_tree(self.task.platform)

    @cached_property
    def kinds(self) -> tuple[npt.NDArray[np.int32], FloatArray, FloatArray]:
        """(k, k) kind of link of every pair, and alpha [s] and per_value [s] of each kind."""
        costs = self.task.costs
        pairs = np.stack([costs.alpha.ravel(), costs.per_value.ravel()], axis=1)
        found, number = np.unique(pairs, axis=0, return_inverse=True)
        kind = number.reshape(costs.alpha.shape).astype(np.int32)
        return kind, found[:, 0].copy(), found[:, 1].copy()

    def placed(self, candidate: Candidate) -> Part | None:
        """Return the blocks on other devices alike, or None where no swap helps."""
        k = self.task.platform.k
        if np.unique(self.alike).size == k or k > MOST_PLACED or candidate.used.sum() < 3:
            return None
        scene = self._scene(candidate)
        search = Search(scene, nearby_of(scene, self.tree, self.alike), self.alike)
        device = search.sooner(np.arange(k))
        if (device == np.arange(k)).all():
            return None
        return device.astype(np.int32)[candidate.part]

    def _scene(self, candidate: Candidate) -> Scene:
        """Blocks weigh what they compute, in seconds, and are of the kind of their device."""
        between, prediction = candidate.between, candidate.prediction
        kind, alpha, per_value = self.kinds
        own = prediction.compute + prediction.fixed
        alike = self.alike.astype(np.float64)
        nothing, anything = np.full(own.size, -np.inf), np.full(own.size, np.inf)
        values = (between.sent + between.received).astype(np.float64)
        return Scene(
            between.starts, between.other, values, np.stack([own, alike], axis=1),
            candidate.used.astype(np.float64), np.arange(own.size), np.ones(own.size),
            np.stack([nothing, alike], axis=1), np.stack([anything, alike], axis=1),
            np.full(own.size, np.inf), np.empty((0, own.size), np.int64), kind, alpha, per_value,
            np.zeros(alpha.size),
        )  # fmt: skip
