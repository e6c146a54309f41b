"""HeldData: the interface between a Rebalancer and a graph held by one process or by many ranks.

RankRecorder: decisions that rank 0 takes and logs, and that all ranks carry out. Ranks may run on
processors that round differently, and would decide differently by themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, Part, as_numbers
from evener.errors import InputError
from evener.plans.partition import Partition
from evener.plans.workload import WEIGHTS, Workload, workload_from_dict
from evener.platforms.platform import Platform
from evener.platforms.with_curves import models_of
from evener.rebalancing.decider import (
    MAX_TIME,
    ONE_ITERATION,
    Decision,
    IterationSpan,
    LoadState,
    Proposal,
    Propose,
    checked_times,
)
from evener.rebalancing.decision_log import Recorder
from evener.rebalancing.proposals import usual_per_byte
from evener.running.comm import Comm
from evener.sliced.gathering import agreed

MOST_ITERATIONS = 1e15  # numbers of iterations up to this one are counted exactly

Times = Sequence[float | None] | FloatArray


class Observation(NamedTuple):
    """The unchecked arguments of `Rebalancer.observe`."""

    times: Times
    work: npt.ArrayLike | None
    numbers: npt.ArrayLike | None
    iterations: float
    left: float | None
    seconds: float | None


class AgreedObservation(NamedTuple):
    """The checked arguments of `Rebalancer.observe`, combined from all processes.

    times (k,) [s]: NaN if unknown. work: vertex weights for HeldData.reweigh, or None.
    """

    times: FloatArray
    work: FloatArray | None
    span: IterationSpan


class Offers(NamedTuple):
    """Possible moves, and the reasons why others could not be made."""

    proposals: list[Proposal]
    refused: list[str]


class CarriedOut(NamedTuple):
    """The result of a move.

    part, int32: the new devices of this process's vertices. vertices, n_bytes [B]: how many
    vertices of the whole graph moved, and their bytes. state: the state after the move.
    """

    part: Part
    vertices: int
    n_bytes: float
    state: LoadState


class HeldData(Protocol):
    """A graph with its current partition and work.

    All processes that hold a part of the graph must call the methods together.
    """

    n: int
    platform: Platform
    partition: Partition

    def together(self) -> AbstractContextManager[None]:
        """Context manager: if this process raises an exception, raise it on waiting processes."""

    def recorder(self, make: Callable[[], Recorder]) -> Recorder | RankRecorder:
        """Return the object that takes and logs decisions.

        make: returns the Recorder; only the process that decides calls it.
        """

    def observed(self, given: Observation) -> AgreedObservation:
        """Check the arguments of all processes and return them combined.

        Raises InputError on all processes if the arguments of any are wrong.
        """

    def state(self) -> LoadState:
        """Return the LoadState of the current partition, computed with the plan's models."""

    def reweigh(self, work: FloatArray) -> None:
        """Replace the vertex weights."""

    def propose(self, slowness: FloatArray, loads: FloatArray) -> Offers:
        """Return the partitions that data could move to.

        slowness (k,): of the devices now. loads (k,): target loads [units].
        """

    def carry_out(self, index: int) -> CarriedOut:
        """Apply the proposal `index` of the last `propose`: it becomes the current partition."""

    def agreed_seconds(self, seconds: float) -> float:
        """Return the seconds of a move, combined from the times of all processes."""


def checked_span(iterations: float, left: float | None, seconds: float | None) -> IterationSpan:
    """Return the IterationSpan of these values. Raises InputError for invalid ones."""
    if not 0 < iterations <= MOST_ITERATIONS:
        raise InputError(f"the number of iterations must be above zero, not {iterations}")
    if left is not None and not 0 <= left <= MOST_ITERATIONS:
        raise InputError(f"the number of iterations left must not be negative, not {left}")
    if seconds is not None and not 0 <= seconds < MAX_TIME:
        raise InputError(f"the seconds of an iteration must not be negative, not {seconds}")
    known = [float("inf") if one is None else float(one) for one in (left, seconds)]
    return IterationSpan(float(iterations), *known)


def checked_observation(given: Observation, k: int) -> tuple[FloatArray, IterationSpan]:
    """Return the times (k,) [s] and the span of one process's observation.

    Raises InputError for invalid ones.
    """
    span = checked_span(given.iterations, given.left, given.seconds)
    return checked_times(given.times, k), span


def checked_work(work: npt.ArrayLike, n: int) -> FloatArray:
    """Return `work` as vertex weights (n,).

    Raises InputError for a wrong number of weights and for negative ones.
    """
    weights = as_numbers(work, "work")
    if weights.size != n:
        raise InputError(f"there are {weights.size:,} weights for {n:,} vertices")
    if weights.min(initial=0) < 0:
        raise InputError("work must not be negative, and at least one vertex must have work")
    return weights


def state_of_loads(
    loads: FloatArray,
    compute: FloatArray,
    other: FloatArray,
    total: tuple[float, float],
    platform: Platform,
) -> LoadState:
    """Return the LoadState of blocks with these loads (k,) [units].

    compute, other (k,) [s]: see LoadState, whose other entries follow from the platform. total:
    work [units] and bytes [B] of the whole graph.
    """
    work, n_bytes = total
    even = work / platform.k
    idle = [float(model.speed(even)) for model in models_of(platform)]
    density = n_bytes / work
    return LoadState(
        loads=loads,
        compute=compute,
        other=other,
        idle_rates=np.array(idle),
        high=np.minimum(platform.high_units, platform.memories / density),
        per_unit=usual_per_byte(platform) * density,
    )


def workload_in(options: Mapping[str, object]) -> Workload:
    """Return the Workload stated in a plan's options, or the default one."""
    given = options.get("workload")
    if given is None or isinstance(given, Workload):
        return given or WEIGHTS
    return workload_from_dict(given)


class RankRecorder:
    """Gives all ranks access to the Recorder of rank 0; attributes are equal on all ranks.

    make: returns the Recorder; only rank 0 calls it, but its exceptions are raised on all ranks.
    """

    def __init__(self, comm: Comm, make: Callable[[], Recorder]) -> None:
        self._comm = comm
        self._recorder = agreed(comm, lambda: make() if comm.rank == 0 else None)
        self.moves, self.observations = 0, 0
        self.last: Decision | None = None
        self.rebuild_seconds = self._told_rebuild()

    def decide(
        self,
        times: FloatArray,
        propose: Propose,
        changed: LoadState | None = None,
        refused: Sequence[str] = (),
        span: IterationSpan = ONE_ITERATION,
    ) -> Decision:
        """Like Recorder.decide, but rank 0 decides for all ranks; all ranks call `propose`."""
        comm, recorder = self._comm, self._recorder
        message: Any = None
        if recorder is not None:

            def asked(slowness: FloatArray, loads: FloatArray) -> Any:
                comm.bcast((slowness, loads))
                return propose(slowness, loads)

            message = comm.bcast(recorder.decide(times, asked, changed, refused, span))
        else:
            while not isinstance(message := comm.bcast(None), Decision):
                propose(*message)
        decision: Decision = message
        self.last = decision
        self.observations += 1
        return decision

    def carry_out(self, state: LoadState) -> None:
        """Record that the move decided last was carried out; `state` is the state after it."""
        agreed(self._comm, lambda: self._at_root(lambda root: root.carry_out(state)))
        self.moves += 1

    def moved(self, seconds: float) -> None:
        """Record the total seconds that the last move took."""
        agreed(self._comm, lambda: self._at_root(lambda root: root.moved(seconds)))
        self.rebuild_seconds = self._told_rebuild()

    def close(self) -> None:
        """Close the log."""
        self._at_root(Recorder.close)

    def _at_root(self, call: Callable[[Recorder], None]) -> None:
        if self._recorder is not None:
            call(self._recorder)

    def _told_rebuild(self) -> float:
        recorder = self._recorder
        return self._comm.bcast(0.0 if recorder is None else recorder.rebuild_seconds)
