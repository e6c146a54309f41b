"""GatherEngine: a vertex program of the dense schedule on one device's share of the edges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evener.running.edge_shares import EdgeShare
from evener.running.engine import generating
from evener.running.engine.atomics_kernels import CONTROL_SIZE, MOST_STEPS, STEP, SYNC_SIZE
from evener.running.engine.checking import check_part
from evener.running.engine.engine import arcs_for
from evener.running.engine.gathering_kernels import VERTICES_OF_CHUNK
from evener.running.engine.pool import ThreadPool
from evener.running.engine.program import VertexProgram
from evener.running.engine.step_counts import StepCounts
from evener.running.engine.work import ARCS_OF_CHUNK, LocalSizes, Vertices

Numbers = npt.NDArray[Any]
GATHERING = generating.CPU.with_templates({"dense": "gathering_kernels"})


class GatherWork(NamedTuple):
    """What copies of vertices send, (n_local,), and what arrived for them, (n_local,).

    changes: of each chunk of vertices. chunks: of arcs.
    """

    payloads: Numbers
    sums: Numbers
    changes: Numbers
    chunks: int


class GatherEngine(StepCounts):
    """A program on one device's edges; it keeps values between supersteps.

    values, payloads, sums (n_local,): of masters, then of mirrors. A superstep is `gather`, then
    sums of mirrors combined with those of their masters, `apply`, then payloads of masters copied
    to their mirrors. Raises InputError as Engine does.
    """

    def __init__(
        self,
        program: VertexProgram,
        share: EdgeShare,
        pool: ThreadPool,
        parameters: Mapping[str, float] | None = None,
    ) -> None:
        local = share.computed
        check_part(local)
        self.program, self.pool = program, pool
        self.parameters = program.given(parameters or {}) or (0,)
        self._arcs = arcs_for(program, local)
        out, into = self._arcs
        self._sizes = LocalSizes(
            local.n_global, local.n_owned, local.n_local, local.n_interior, out is not into
        )
        self._masters = self._sizes._replace(n_owned=share.n_masters)
        self._vertices = Vertices(local.numbers, local.degrees)
        n, dtype = local.n_local, program.dtype
        self.values = np.empty(n, dtype)
        chunks = (into.ends.size + 2 * n) // ARCS_OF_CHUNK + 1
        changes = np.zeros(n // int(VERTICES_OF_CHUNK) + 1)
        self._work = GatherWork(np.empty(n, dtype), np.empty(n, dtype), changes, chunks)
        self.control = np.zeros(CONTROL_SIZE, np.int64)
        self.control[[STEP, MOST_STEPS]] = -1
        self._sync = np.zeros(SYNC_SIZE, np.int64)
        self._kernels = generating.module_of(program, GATHERING)

    @property
    def payloads(self) -> Numbers:
        """(n_local,) What the copies of vertices send in the next superstep."""
        return self._work.payloads

    @property
    def sums(self) -> Numbers:
        """(n_local,) What arrived for the copies of vertices in the last `gather`."""
        return self._work.sums

    @property
    def change(self) -> float:
        """Sum of the absolute changes of the masters' values in the last `apply`."""
        return float(self._work.changes.sum())

    def compile(self) -> None:
        """Compile the kernels unless they are; no vertex gets a value. Raises InputError."""
        try:
            self._kernels.gather(0, 1, *self._gathering())  # the control says: nothing to do
            self._kernels.apply(0, 1, *self._applying(self._masters))
        except Exception as error:
            if not generating.is_compile_error(error):
                raise
            weights = self._arcs[1].weights
            weight = weights.dtype.type(1) if weights.size else 1
            raise generating.compile_error(self.program, error, weight) from error

    def begin(self) -> None:
        """Make the first values and payloads of all copies, which need no exchange for that."""
        self.control[MOST_STEPS] = 0
        self.pool.run(self._kernels.apply, *self._applying(self._sizes))
        self._work.changes[:] = 0.0
        self.control[STEP] = 0

    def gather(self) -> None:
        """Set `sums` of all copies to what arrives along this device's arcs."""
        self.pool.run(self._kernels.gather, *self._gathering())

    def apply(self) -> None:
        """Make new values and payloads of the masters from `sums`; this ends a superstep."""
        self.pool.run(self._kernels.apply, *self._applying(self._masters))
        self.control[STEP] += 1

    def _gathering(self) -> tuple[Any, ...]:
        return (self._sync, self._sizes, *self._arcs, self._work, self.control, self.parameters)

    def _applying(self, sizes: LocalSizes) -> tuple[Any, ...]:
        given = self._vertices, self.values, self._work, self.control, self.parameters
        return (self._sync, sizes, *given)
