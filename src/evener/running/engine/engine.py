"""Engine: a vertex program on one device, for a whole run or for some supersteps at a time."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakSet

import numpy as np
import numpy.typing as npt

from evener.errors import InputError
from evener.running.engine import generating
from evener.running.engine.atomics_kernels import (
    CONTROL_SIZE,
    DIRECTION,
    FAILED,
    MARKED,
    MOST_STEPS,
    SHARED,
    STEP,
    SYNC_SIZE,
)
from evener.running.engine.pool import ThreadPool
from evener.running.engine.program import VertexProgram
from evener.running.engine.step_counts import StepCounts
from evener.running.engine.work import ArcsOf, LocalSizes, Vertices, work_of
from evener.running.local_graphs import LocalArcs, LocalGraph

_checked: WeakSet[LocalGraph] = WeakSet()
Numbers = npt.NDArray[Any]
MOST = 1 << 40  # supersteps: no bound
# Which arcs a schedule reads; programs of direction "both" read all.
WAYS = {
    "dense": ("into",),
    "frontier": ("out", "into"),
    "bucket": ("out",),
    "union": ("out", "into"),
}
NO_WEIGHTS = np.empty(0, np.uint32)


@dataclass(frozen=True, eq=False)
class EngineRun:
    """The result of a run: the values of own vertices, in their order, and what the run cost.

    seconds: time of the supersteps, without compiling. edges: number of arcs read.
    """

    values: Numbers
    supersteps: int
    seconds: float
    edges: int


class Engine(StepCounts):
    """A program on one device's part of a graph; values and frontier persist between calls.

    values (n_local,): of own vertices and ghosts; if edges are divided, all copies count as own
    vertices (see LocalSizes). work: the schedule's arrays. control: the
    schedule's numbers; the template defines their indices. Raises InputError for parameters that
    the program does not have, for weights that it cannot use, for an inconsistent part, and, with
    file and line, for functions that do not compile.
    """

    def __init__(
        self,
        program: VertexProgram,
        local: LocalGraph,
        pool: ThreadPool,
        parameters: Mapping[str, float] | None = None,
    ) -> None:
        check_part(local)
        self.program, self.pool = program, pool
        self.parameters = program.given(parameters or {}) or (0,)
        self.out, self.into = arcs_for(program, local)
        is_directed, rows = self.out is not self.into, local.n_rows
        n_interior = rows if local.divides_edges else local.n_interior
        self.sizes = LocalSizes(local.n_global, rows, local.n_local, n_interior, is_directed)
        self.vertices = Vertices(local.kept_numbers, self._degrees_of(local))
        self.values = np.empty(local.n_local, program.dtype)
        self.work = work_of(program, self.sizes, self.into.ends.size, pool.threads)
        self.control = np.zeros(CONTROL_SIZE, np.int64)
        for place in (STEP, MOST_STEPS, DIRECTION):  # one by one: a list of places takes 2 us
            self.control[place] = -1
        self.control[SHARED] = int(local.k > 1)
        self._taken: tuple[Numbers, Numbers] | None = None
        self.sync = np.zeros(SYNC_SIZE, np.int64)
        self.kernels = generating.module_of(program)

    def _degrees_of(self, local: LocalGraph) -> Numbers:
        """Return the degrees.

        The array is empty if kernels compute degrees from offsets that they read anyway. This is
        the case if `out` has all arcs that leave vertices, and degrees of ghosts are not needed.
        """
        has_out = local.out is not None and self.out.ends is local.out.ends
        if local.k == 1:
            return local.kept_degrees if has_out or local.out is None else local.degrees
        if self.program.schedule == "dense" and has_out:
            degrees: Numbers = local.degrees[: local.n_rows]
            if int(self.out.offsets[-1]) == int(degrees.sum(dtype=np.int64)):
                return degrees[:0]
        return local.kept_degrees

    def compile(self) -> None:
        """Compile the kernels if necessary, without computing values."""
        try:
            self.kernels.run(0, 1, *self._arguments())  # the control says: no step at all
            is_far = self.control[SHARED] and self.work.links is None
            if is_far and self.program.schedule != "dense":
                self._compile_exchange()
        except Exception as error:
            if not generating.is_compile_error(error):
                raise
            weights = self.into.weights
            weight = weights.dtype.type(1) if weights.size else 1
            raise generating.compile_error(self.program, error, weight) from error

    def _compile_exchange(self) -> None:
        """Compile the kernels called between supersteps, by calling them for no vertex."""
        self.take_marked()
        self.deliver(np.empty(0, np.uint32), np.empty(0, self.program.dtype))
        if self.program.schedule == "frontier":
            sizes, self.sizes = self.sizes, LocalSizes(0, 0, 0, 0, self.sizes.is_directed)
            self.show(np.empty(0, np.uint8))
            self.see(np.empty(0, np.uint8))
            self.sizes = sizes

    def advance(self, most: int) -> None:
        """Compute up to `most` further supersteps; initial values first if there are none yet."""
        self.control[MOST_STEPS] = max(self.control[STEP], 0) + most
        self.pool.run(self.kernels.run, *self._arguments())
        if self.control[FAILED]:
            raise self.program.wrong_priority(int(self.control[FAILED]))

    def take_marked(self) -> tuple[Numbers, Numbers]:
        """Return local numbers and values of the ghosts that changed since the last call.

        The next call overwrites both arrays. The owners must get the values, by `deliver`, before
        the next superstep. Not for the dense schedule, which exchanges payloads before each
        superstep.
        """
        if self._taken is None:
            ghosts = self.sizes.n_ghosts
            self._taken = np.empty(ghosts, np.uint32), np.empty(ghosts, self.program.dtype)
        count = self.control[MARKED]
        places, sent = (array[:count] for array in self._taken)
        self.kernels.take_marked(self.values, self.work, self.control, places, sent)
        return places, sent

    def deliver(self, targets: Numbers, received: Numbers) -> None:
        """Join the results of take_marked on other devices, which applied them, with own vertices.

        targets (s,) uint32: their local numbers; received (s,): the values. Vertices that change
        are in the next frontier, and `has_ended` becomes False.
        """
        given = (self.sizes, self.vertices, self.out, targets, received, self.values, self.work)
        self.kernels.deliver(*given, self.control, self.parameters)

    @property
    def payloads(self) -> Numbers:
        """Payloads (n_local,), including ghosts, that the next superstep (dense schedule) reads."""
        payloads: Numbers = self.work.odd if self.supersteps % 2 else self.work.even
        return payloads

    @property
    def change(self) -> float:
        """Sum of the absolute changes in the last superstep of the dense schedule."""
        return float(self.work.changes[(self.supersteps - 1) & 1].sum())

    @property
    def shared_values(self) -> Numbers:
        """Values (n_local,); the caller must fill in those of ghosts before `see`."""
        return self.values

    def show(self, flags: Numbers) -> None:
        """Set flags (n_local,) uint8 of owned vertices: 1 for those in the frontier."""
        self.kernels.show(self.sizes, self.work, self.control, flags)

    def see(self, flags: Numbers) -> None:
        """Read from flags (n_local,) uint8, set by owners, which ghosts are in the frontier."""
        self.kernels.see(self.sizes, self.work, self.control, flags)

    def _arguments(self) -> tuple[Any, ...]:
        return (
            self.sync,
            self.sizes,
            self.vertices,
            self.out,
            self.into,
            self.values,
            self.work,
            self.control,
            self.parameters,
        )


def run_on(
    program: VertexProgram,
    local: LocalGraph,
    pool: ThreadPool | int = 1,
    most: int = MOST,
    **parameters: float,
) -> EngineRun:
    """Run a program on a part without ghosts, for up to `most` supersteps.

    pool: threads, or their number. Raises InputError as Engine does.
    """
    if isinstance(pool, int):
        with ThreadPool(pool) as own:
            return run_on(program, local, own, most, **parameters)
    engine = Engine(program, local, pool, parameters)
    engine.compile()
    began = time.perf_counter()
    engine.advance(most)
    seconds = time.perf_counter() - began
    return EngineRun(engine.values[: local.n_owned], engine.supersteps, seconds, engine.edges)


def arcs_for(program: VertexProgram, local: LocalGraph) -> tuple[ArcsOf, ArcsOf]:
    """Return the arcs out and in that the schedule reads.

    If it reads only one of these lists, both results are this list.
    """
    ways = WAYS[program.schedule] if program.direction == "out" else ("out", "into")
    found: dict[int, ArcsOf] = {}
    for way in ways:
        arcs = getattr(local, way)
        if arcs is None:
            hint = 'Distribute the graph with want="both".'
            raise InputError(f"{program.name} needs the arcs {way} of each vertex", hint=hint)
        found.setdefault(id(arcs), _as_program(program, arcs))
    out, into = (found[id(getattr(local, way))] for way in (ways[0], ways[-1]))
    return out, into


def _as_program(program: VertexProgram, arcs: LocalArcs) -> ArcsOf:
    """Return arcs with the weights that the program uses."""
    weights = arcs.weights
    if not program.is_weighted:
        return ArcsOf(arcs.offsets, arcs.ends, NO_WEIGHTS)
    if weights is None:
        return ArcsOf(arcs.offsets, arcs.ends, np.ones(arcs.ends.size, np.uint8))
    if weights.dtype.kind == "f" and not program.dtype.startswith("float"):
        raise InputError(
            f"{program.name} has values of {program.dtype}, but the arcs have weights "
            f"of {weights.dtype}: use dtype float64"
        )
    return ArcsOf(arcs.offsets, arcs.ends, weights)


def check_part(local: LocalGraph) -> None:
    """Raise InputError for a part whose arrays do not match; each part is checked only once."""
    if local in _checked:
        return
    fits = {
        "n_interior, n_owned and numbers": 0 <= local.n_interior <= local.n_owned <= local.n_local,
        "degrees": local.k == 1 or local.degrees.shape == local.numbers.shape,
        "ghost_starts": local.ghost_starts.shape == (local.k + 1,)
        and local.ghost_starts[-1] == local.n_ghosts,
        "rank": 0 <= local.rank < local.k,
    }
    for name in ("out", "into"):
        arcs = getattr(local, name)
        if arcs is not None and (name == "out" or arcs is not local.out):
            fits |= _arcs_fit(name, arcs, local)
    wrong = [name for name, is_right in fits.items() if not is_right]
    if wrong:
        raise InputError(
            f"the part of device {local.rank} is inconsistent: {wrong[0]}",
            hint="Make the parts with ev.distribute or ev.edge_shares.",
        )
    _checked.add(local)


def _arcs_fit(name: str, arcs: LocalArcs, local: LocalGraph) -> dict[str, bool]:
    """Return the checks of one list of arcs: their names, and whether they pass."""
    offsets, ends, weights = arcs
    size, count = offsets.size, ends.size
    whole = offsets.shape == (local.n_rows + 1,) and offsets[0] == 0 and offsets[-1] == count
    return {
        f"types of {name}": offsets.dtype.kind == "u" and ends.dtype == np.uint32,
        f"offsets of {name}": bool(whole and (size < 2 or (offsets[1:] >= offsets[:-1]).all())),
        f"ends of {name}": count == 0 or int(ends.max()) < local.n_local,
        f"weights of {name}": weights is None or weights.shape == ends.shape,
    }
