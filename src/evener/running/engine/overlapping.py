"""Dense supersteps in two halves, so that interior vertices are computed while messages flow.

Interior vertices have no arc from another device's: they need no message. Whether computing them
meanwhile saves time depends on how many they are and on whether messages move without help of the
processor, so it is tried: see OverlapChoice. Values do not depend on the choice: each vertex adds
the messages of its arcs in their order, and changes are summed by halves in both cases.
"""

from __future__ import annotations

import numpy as np

from evener.running.comm import Comm
from evener.running.engine.atomics_kernels import MOST_STEPS, STEP
from evener.running.engine.engine import Engine
from evener.running.engine.work import ARCS_OF_CHUNK, ArcsOf, DenseWork, Vertices

TRIALS = 3  # supersteps of each way that are timed, by turns, after a first one that is not
# Of a device's arcs, those that reach interior vertices: with fewer on all devices nothing is tried
# (Kronecker graphs have some 0.1, meshes 0.9 and more).
LEAST_INTERIOR = 0.25
LEAST_GAIN = 0.02  # of the time of a superstep, below which overlap is not worth two halves


class DenseRange:
    """Own vertices first to end - 1 of an engine with the dense schedule, computed alone."""

    def __init__(self, engine: Engine, first: int, end: int) -> None:
        self._engine = engine
        into = arcs_of_range(engine.into, first, end)
        out = into if engine.out is engine.into else arcs_of_range(engine.out, first, end)
        sizes = engine.sizes._replace(n_owned=end - first)
        vertices = Vertices(*(array[first:end] for array in engine.vertices))
        self._given = sizes, vertices, out, into, engine.values[first:end]
        even, odd, _ = engine.work
        chunks = (int(into.offsets[-1]) + 2 * (end - first)) // ARCS_OF_CHUNK + 1
        self._changes = np.zeros((2, chunks))
        self._work = (  # in even supersteps payloads are read from `even` by any number
            DenseWork(even, odd[first:end], self._changes),
            DenseWork(even[first:end], odd, self._changes),
        )

    def compute(self) -> float:
        """Compute these vertices in the superstep that is next; return the sum of their changes."""
        engine = self._engine
        step = int(engine.control[STEP])
        engine.control[MOST_STEPS] = step + 1
        given = *self._given, self._work[step & 1], engine.control, engine.parameters
        engine.pool.run(engine.kernels.run, engine.sync, *given)
        engine.control[STEP] = step
        return float(self._changes[step & 1].sum())


class DenseHalves:
    """A superstep of an engine with the dense schedule: first interior vertices, then the others.

    change: the sum of the absolute changes in the last superstep.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._interior = DenseRange(engine, 0, engine.sizes.n_interior)
        self._boundary = DenseRange(engine, engine.sizes.n_interior, engine.sizes.n_owned)
        self.change = 0.0

    def begin(self) -> None:
        """Compute interior vertices; ghosts' payloads may still be on their way."""
        self.change = self._interior.compute()

    def end(self) -> None:
        """Compute the others, and so end the superstep."""
        self.change += self._boundary.compute()
        self._engine.control[STEP] += 1


class OverlapChoice:
    """Whether supersteps overlap: by turns while it is tried, then as took less time.

    engine: None for devices that cannot. asked: True or False where nothing is to be tried. All
    devices make one together and choose alike.
    """

    def __init__(self, comm: Comm, engine: Engine | None, asked: bool | None = None) -> None:
        self._comm, self._asked = comm, asked
        share = 0.0 if engine is None else interior_share(engine)
        most = max(comm.allgather(share))
        self.is_possible = comm.size > 1 and most > 0 and (most >= LEAST_INTERIOR or bool(asked))
        self.halves = DenseHalves(engine) if engine is not None and self.is_possible else None
        self._seconds: list[float] = []  # of the supersteps that have been timed
        self._sums = engine is not None and engine.program.halt is not None
        self._choose(False if not self.is_possible else asked)

    @property
    def now(self) -> bool:
        """Whether the superstep that is next overlaps."""
        if self._chosen is not None:
            return self._chosen
        return len(self._seconds) % 2 == 1

    def note(self, seconds: float) -> None:
        """Take the seconds of a superstep; after the last of the trials all devices choose."""
        if self._chosen is not None:
            return
        self._seconds.append(seconds)
        if len(self._seconds) == 2 * TRIALS + 1:
            both = tuple(float(np.median(self._seconds[first::2])) for first in (1, 2))
            ways = zip(*self._comm.allgather(both), strict=True)
            overlapped, apart = (max(way) for way in ways)
            self._choose(overlapped < (1 - LEAST_GAIN) * apart)

    def _choose(self, chosen: bool | None) -> None:
        """Keep a choice; without overlap, halves only where changes are summed by them."""
        self._chosen = chosen
        if chosen is False and not self._sums:
            self.halves = None


def interior_share(engine: Engine) -> float:
    """Return which part of a device's arcs reach interior vertices; 0 where there are none."""
    offsets, sizes = engine.into.offsets, engine.sizes
    return int(offsets[sizes.n_interior]) / max(int(offsets[sizes.n_owned]), 1)


def arcs_of_range(arcs: ArcsOf, first: int, end: int) -> ArcsOf:
    """Return the arcs of vertices first to end - 1; nothing but later offsets is copied."""
    offsets = arcs.offsets[first : end + 1]
    a, b = int(offsets[0]), int(offsets[-1])
    weights = arcs.weights[a:b] if arcs.weights.size else arcs.weights
    return ArcsOf(offsets - offsets[0] if a else offsets, arcs.ends[a:b], weights)
