"""GatherEngine: a vertex program of the dense schedule on one device's part of divided edges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.running.engine import generating
from evener.running.engine.atomics_kernels import MOST_STEPS, STEP
from evener.running.engine.engine import Engine
from evener.running.engine.gathering_kernels import VERTICES_OF_CHUNK
from evener.running.engine.pool import ThreadPool
from evener.running.engine.program import VertexProgram
from evener.running.engine.work import ARCS_OF_CHUNK, ArcsOf, Vertices
from evener.running.local_graphs import LocalGraph

Numbers = npt.NDArray[Any]
GATHERING = replace(generating.CPU, templates={"dense": "gathering_kernels"})


class DenseRange:
    """Own vertices first to end - 1 of an engine with the dense schedule, computed separately."""

    def __init__(self, engine: Engine, first: int, end: int) -> None:
        into = arcs_of_range(engine.into, first, end)
        out = into if engine.out is engine.into else arcs_of_range(engine.out, first, end)
        sizes = engine.sizes._replace(n_owned=end - first)
        vertices = Vertices(*(array[first:end] for array in engine.vertices))
        self._given = sizes, vertices, out, into, engine.values[first:end]
        work = engine.work
        chunks = (int(into.offsets[-1]) + 2 * (end - first)) // ARCS_OF_CHUNK + 1
        self._changes = np.zeros((2, chunks))
        self._work = (  # in even supersteps payloads are read from `even` by any number
            work._replace(odd=work.odd[first:end], changes=self._changes),
            work._replace(even=work.even[first:end], changes=self._changes),
        )

    def compute(self, engine: Engine) -> float:
        """Compute these vertices in the engine's next superstep; return the sum of their changes.

        The engine is not stored: it stores this object, and a cycle would keep its memory.
        """
        step = int(engine.control[STEP])
        engine.control[MOST_STEPS] = step + 1
        given = *self._given, self._work[step & 1], engine.control, engine.parameters
        engine.pool.run(engine.kernels.run, engine.sync, *given)
        engine.control[STEP] = step
        return float(self._changes[step & 1].sum())


class GatherEngine(Engine):
    """A program on one device's part of divided edges.

    In a superstep, `gather` is called, then `sums` of mirrors are combined with those of their
    masters, then `apply` is called, then `payloads` of masters are copied to their mirrors. Masters
    without mirrors are completely computed by `gather`. Only the values of masters are meaningful.
    """

    def __init__(
        self,
        program: VertexProgram,
        local: LocalGraph,
        pool: ThreadPool,
        parameters: Mapping[str, float] | None = None,
    ) -> None:
        super().__init__(program, local, pool, parameters)
        self._gathering_kernels = generating.module_of(program, GATHERING)
        first, n = local.n_interior, local.n_local
        self._interior = DenseRange(self, 0, first)
        self.sums: Numbers = np.empty(n, program.dtype)  # pages of interior ones stay untouched
        into = arcs_of_range(self.into, first, n)
        out = into if self.out is self.into else arcs_of_range(self.out, first, n)
        chunks = (into.ends.size + 2 * (n - first)) // ARCS_OF_CHUNK + 1
        self._gathered = self.sizes._replace(n_owned=n - first), out, into
        self._summed = self.sums[first:], chunks
        masters = self._masters = slice(first, local.n_owned)
        count = local.n_owned - first
        self._changes = np.zeros(count // int(VERTICES_OF_CHUNK) + 1)
        vertices = Vertices(local.numbers[masters], local.degrees[masters])
        sizes = self.sizes._replace(n_owned=count)
        self._applied = sizes, vertices, self.values[masters], self.sums[masters]
        self._change = 0.0

    @property
    def change(self) -> float:
        """Sum of the absolute changes of the masters' values in the last superstep."""
        return self._change

    def compile(self) -> None:
        """Compile the kernels if necessary, without computing values. Raises InputError."""
        super().compile()
        # The control says that there is nothing to do.
        self._gathering_kernels.gather(0, 1, self.sync, *self._gathering())
        self._gathering_kernels.apply(0, 1, self.sync, *self._applying())

    def gather(self) -> None:
        """Compute masters without mirrors.

        For other vertices, set `sums` to the combined messages along this device's arcs.
        """
        self._change = self._interior.compute(self)
        self.pool.run(self._gathering_kernels.gather, self.sync, *self._gathering())

    def apply(self) -> None:
        """Compute new values and payloads of the other masters from `sums`.

        This ends a superstep.
        """
        self.pool.run(self._gathering_kernels.apply, self.sync, *self._applying())
        self._change += float(self._changes.sum())
        self.control[STEP] += 1

    def _gathering(self) -> tuple[Any, ...]:
        given = *self._gathered, self.payloads, *self._summed
        return *given, self.control, self.parameters

    def _applying(self) -> tuple[Any, ...]:
        then = self.work.even if self.supersteps % 2 else self.work.odd
        given = then[self._masters], self._changes
        return *self._applied, *given, self.control, self.parameters


def arcs_of_range(arcs: ArcsOf, first: int, end: int) -> ArcsOf:
    """Return the arcs of vertices first to end - 1; copies only the offsets after `first`."""
    offsets = arcs.offsets[first : end + 1]
    a, b = int(offsets[0]), int(offsets[-1])
    weights = arcs.weights[a:b] if arcs.weights.size else arcs.weights
    return ArcsOf(offsets - offsets[0] if a else offsets, arcs.ends[a:b], weights)
