"""GatherEngine: a vertex program of the dense schedule on one device's share of the edges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.running.edge_shares import EdgeShare
from evener.running.engine import generating
from evener.running.engine.atomics_kernels import MOST_STEPS, STEP
from evener.running.engine.engine import Engine
from evener.running.engine.gathering_kernels import VERTICES_OF_CHUNK
from evener.running.engine.pool import ThreadPool
from evener.running.engine.program import VertexProgram
from evener.running.engine.work import ARCS_OF_CHUNK, ArcsOf, Vertices

Numbers = npt.NDArray[Any]
GATHERING = generating.CPU.with_templates({"dense": "gathering_kernels"})


class DenseRange:
    """Own vertices first to end - 1 of an engine with the dense schedule, computed separately."""

    def __init__(self, engine: Engine, first: int, end: int) -> None:
        self._engine = engine
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

    def compute(self) -> float:
        """Compute these vertices in the next superstep; return the sum of their changes."""
        engine = self._engine
        step = int(engine.control[STEP])
        engine.control[MOST_STEPS] = step + 1
        given = *self._given, self._work[step & 1], engine.control, engine.parameters
        engine.pool.run(engine.kernels.run, engine.sync, *given)
        engine.control[STEP] = step
        return float(self._changes[step & 1].sum())


class GatherEngine:
    """A program on one device's edges; values persist between supersteps.

    In a superstep, `gather` is called, then `sums` of mirrors are combined with those of their
    masters, then `apply` is called, then `payloads` of masters are copied to their mirrors. Masters
    without mirrors are completely computed by `gather`. change: sum of the absolute changes of the
    masters' values in the last superstep. Raises InputError as Engine does.
    """

    def __init__(
        self,
        program: VertexProgram,
        share: EdgeShare,
        pool: ThreadPool,
        parameters: Mapping[str, float] | None = None,
    ) -> None:
        self.program, self.change = program, 0.0
        self._engine = engine = Engine(program, share.computed, pool, parameters)
        self._kernels = generating.module_of(program, GATHERING)
        first, n = share.n_interior, share.computed.n_local
        self._interior = DenseRange(engine, 0, first)
        self.sums: Numbers = np.empty(n, program.dtype)  # pages of interior ones stay untouched
        into = arcs_of_range(engine.into, first, n)
        out = into if engine.out is engine.into else arcs_of_range(engine.out, first, n)
        chunks = (into.ends.size + 2 * (n - first)) // ARCS_OF_CHUNK + 1
        self._gathered = engine.sizes._replace(n_owned=n - first), out, into
        self._summed = self.sums[first:], chunks
        masters = slice(first, share.n_masters)
        self._masters = masters
        count = share.n_masters - first
        local = share.computed
        self._changes = np.zeros(count // int(VERTICES_OF_CHUNK) + 1)
        vertices = Vertices(local.numbers[masters], local.degrees[masters])
        sizes = engine.sizes._replace(n_owned=count)
        self._applied = sizes, vertices, engine.values[masters], self.sums[masters]

    @property
    def values(self) -> Numbers:
        """Values (n_local,) of masters, then of mirrors; only those of masters are meaningful."""
        return self._engine.values

    @property
    def payloads(self) -> Numbers:
        """Payloads (n_local,) that the copies of vertices send in the next superstep."""
        return self._engine.payloads

    @property
    def parameters(self) -> tuple[float, ...]:
        """Values of the program's parameters."""
        return self._engine.parameters

    @property
    def edges(self) -> int:
        """Number of arcs read so far."""
        return self._engine.edges

    def compile(self) -> None:
        """Compile the kernels if necessary, without computing values. Raises InputError."""
        self._engine.compile()
        # The control says that there is nothing to do.
        self._kernels.gather(0, 1, self._engine.sync, *self._gathering())
        self._kernels.apply(0, 1, self._engine.sync, *self._applying())

    def begin(self) -> None:
        """Compute the initial values and payloads of all copies, which needs no exchange."""
        self._engine.advance(0)

    def continue_after(self, step: int) -> None:
        """Continue after this number of supersteps.

        The caller must set `payloads` to those that the next superstep reads.
        """
        self._engine.control[STEP] = step

    def gather(self) -> None:
        """Compute masters without mirrors.

        Sets `sums` of other vertices to what arrives here for them.
        """
        self.change = self._interior.compute()
        self._engine.pool.run(self._kernels.gather, self._engine.sync, *self._gathering())

    def apply(self) -> None:
        """Compute new values and payloads of the other masters from `sums`.

        This ends a superstep.
        """
        self._engine.pool.run(self._kernels.apply, self._engine.sync, *self._applying())
        self.change += float(self._changes.sum())
        self._engine.control[STEP] += 1

    def _gathering(self) -> tuple[Any, ...]:
        control, parameters = self._engine.control, self._engine.parameters
        return (*self._gathered, self.payloads, *self._summed, control, parameters)

    def _applying(self) -> tuple[Any, ...]:
        engine = self._engine
        then = engine.work.even if engine.supersteps % 2 else engine.work.odd
        given = then[self._masters], self._changes, engine.control, engine.parameters
        return (*self._applied, *given)


def arcs_of_range(arcs: ArcsOf, first: int, end: int) -> ArcsOf:
    """Return the arcs of vertices first to end - 1; copies only the offsets after `first`."""
    offsets = arcs.offsets[first : end + 1]
    a, b = int(offsets[0]), int(offsets[-1])
    weights = arcs.weights[a:b] if arcs.weights.size else arcs.weights
    return ArcsOf(offsets - offsets[0] if a else offsets, arcs.ends[a:b], weights)
