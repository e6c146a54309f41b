"""HeldData: the interface between a Rebalancer and a graph held by one process or by many ranks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

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
    IterationSpan,
    LoadState,
    Proposal,
    checked_times,
)
from evener.rebalancing.decision_log import Recorder
from evener.rebalancing.proposals import usual_per_byte
from evener.rebalancing.rank_recorder import RankRecorder

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
        """Make the proposal with this index of the last `propose` the current partition."""

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
