"""k-core: the core number of each vertex of an undirected graph.

A vertex has core number k if k is the largest number for which the vertex is in a subgraph whose
vertices all have k or more neighbours in it. Each device removes its vertices by ascending degree;
with several devices, each then lowers its estimates by those of its ghosts, until no estimate
changes on any device [MPM13]_. Core numbers do not depend on devices and threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.errors import InputError
from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.running.apps import kcore_kernels as kernels
from evener.running.comm import Comm
from evener.running.engine.atomics_kernels import SYNC_SIZE
from evener.running.engine.pool import ThreadPool
from evener.running.engine.program import Solver
from evener.running.engine.recording import DeviceRun, StepRecorder
from evener.running.local_graphs import LocalGraph

MOST = 1 << 40  # supersteps: no bound


def cores(
    comm: Comm,
    local: LocalGraph,
    pool: ThreadPool,
    tell: Callable[[int], None] | None = None,
    *,
    most: int = MOST,
) -> DeviceRun:
    """Return core numbers (m,) int32 of one device's vertices. Collective.

    If `most` supersteps are too few, they are upper bounds. Raises InputError for directed graphs.
    """
    if local.out is None or local.out is not local.into:
        raise InputError(
            "core numbers are defined for undirected graphs only",
            hint="Read the graph without --directed.",
        )
    estimates = _Estimates(local, pool)
    steps = StepRecorder(comm, local, tell)
    steps.begin()
    for step in range(most):
        if step:
            steps.exchange(estimates.values)
        before = estimates.sum_of_boundary()
        with steps.timed("computing"):
            steps.now.edges = estimates.fall() if step else estimates.peel()
        has_changed = estimates.sum_of_boundary() < before  # none ever rises
        is_last = comm.size == 1 or (step > 0 and not any(steps.gathered(has_changed)))
        steps.end(local.n_ghosts if step else 0)
        if is_last:
            break
    return steps.result(estimates.values[: local.n_owned])


class _Estimates:
    """values (n_local,) int32: at first degrees, then estimates never below the core numbers."""

    def __init__(self, local: LocalGraph, pool: ThreadPool) -> None:
        assert local.out is not None
        self.local, self.pool, self.arcs = local, pool, local.out
        self.values: npt.NDArray[np.int32] = local.degrees.astype(np.int32)
        self._flags = np.zeros(local.n_owned, np.int32)
        self._following = np.empty(local.n_owned, np.uint32)
        pool.prepare(kernels.peel, *self._peeled())
        if local.k > 1:
            pool.prepare(kernels.lower, *self._lowered(0), np.zeros(1, np.int64))

    def sum_of_boundary(self) -> int:
        """Return the sum of the estimates of own vertices that are ghosts of other devices."""
        own = self.values[self.local.n_interior : self.local.n_owned]
        return int(own.sum(dtype=np.int64))

    def peel(self) -> int:
        """Set estimates to the core numbers that result if ghosts are never removed.

        Returns the number of arcs read.
        """
        self.pool.run(kernels.peel, *self._peeled())
        self._flags[:] = 0
        return self.arcs.ends.size

    def fall(self) -> int:
        """Lower estimates as far as lower estimates of ghosts require.

        Returns the number of arcs read.
        """
        largest = int(self.values[: self.local.n_owned].max(initial=0))
        looked_at = np.zeros(self.pool.threads, np.int64)
        self.pool.run(kernels.lower, *self._lowered(largest), looked_at)
        return int(looked_at.sum())

    def _peeled(self) -> tuple[Any, ...]:
        """Return the arguments of `peel`; flags are used as scratch for the vertices left."""
        sync, left = np.zeros(SYNC_SIZE, np.int64), self._flags.view(np.uint32)
        arcs, own = self.arcs, self.local.n_owned
        return sync, arcs.offsets, arcs.ends, own, left, self._following, self.values

    def _lowered(self, largest: int) -> tuple[Any, ...]:
        """Return the arguments of `lower` except the last; largest: the largest estimate."""
        arcs, local = self.arcs, self.local
        bounds = np.array([local.n_interior, local.n_owned, local.n_owned])
        tallies = np.zeros((self.pool.threads, largest + 1), np.int32)
        stacks = self._flags, self._following
        return arcs.offsets, arcs.ends, bounds, *stacks, self.values, tallies


def _bytes_of_cores(n_owned: int, n_local: int, _: int, __: bool) -> int:
    """Return the bytes of estimates, flags and links."""
    return 4 * (n_local + 2 * n_owned) + 8 * SYNC_SIZE


KCORE = Solver("kcore", cores, _bytes_of_cores, exchanged="i4")


def verify(graph: Graph | DirectedGraph, values: npt.NDArray[Any]) -> bool:
    """Return whether removing vertices in rounds gives the same core numbers.

    values (n,): by vertex number. In each round, NumPy removes all vertices with at most k
    neighbours at once; k grows when there are none.
    """
    arcs = graph.arcs_out()
    degrees = np.diff(arcs.xadj)
    core, is_left = np.zeros(degrees.size, np.int64), np.ones(degrees.size, bool)
    k = 0
    while is_left.any():
        k = max(k, int(degrees[is_left].min()))
        found = np.flatnonzero(is_left & (degrees <= k))
        while found.size:
            core[found], is_left[found] = k, False
            lengths = np.diff(arcs.xadj)[found]
            ends = np.cumsum(lengths)
            places = np.arange(ends[-1]) + np.repeat(arcs.xadj[found] - (ends - lengths), lengths)
            met, times = np.unique(arcs.adjncy[places], return_counts=True)
            degrees[met] -= times
            found = met[is_left[met] & (degrees[met] <= k)]
    return bool(np.array_equal(np.asarray(values), core))
