"""HeldData: what a Rebalancer asks of a graph's data, held by one process or by many ranks."""

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

MOST_ITERATIONS = 1e15  # that are counted exactly

Times = Sequence[float | None] | FloatArray


class Observation(NamedTuple):
    """The arguments of `observe`, unchecked."""

    times: Times
    work: npt.ArrayLike | None
    numbers: npt.ArrayLike | None
    iterations: float
    left: float | None
    seconds: float | None


class AgreedObservation(NamedTuple):
    """The arguments of `observe`, checked: times (k,) [s], NaN where unknown; work as HeldData
    takes it."""

    times: FloatArray
    work: FloatArray | None
    span: IterationSpan


class Offers(NamedTuple):
    """Possible moves, and the reasons why others could not be made."""

    proposals: list[Proposal]
    refused: list[str]


class CarriedOut(NamedTuple):
    """part int32: the devices of this process's vertices from now on; how many vertices of the
    graph, and bytes [B], have moved; the state after that.
    """

    part: Part
    vertices: int
    n_bytes: float
    state: LoadState


class HeldData(Protocol):
    """A graph with its present partition and work; all processes that hold some of it call."""

    n: int
    platform: Platform
    partition: Partition

    def together(self) -> AbstractContextManager[None]:
        """End the waits of other processes if this process raises within."""

    def recorder(self, make: Callable[[], Recorder]) -> Recorder | RankRecorder:
        """Return what decides, and logs it; make: the Recorder of the process that does."""

    def observed(self, given: Observation) -> AgreedObservation:
        """Return what all processes were given. Raises InputError at all where some was wrong."""

    def state(self) -> LoadState:
        """Return the state of an iteration with the present partition, by the plan's models."""

    def reweigh(self, work: FloatArray) -> None:
        """Take other weights of the vertices."""

    def propose(self, slowness: FloatArray, loads: FloatArray) -> Offers:
        """Return what could be moved to for devices so slow (k,), and loads (k,) to aim at."""

    def carry_out(self, index: int) -> CarriedOut:
        """Take the latest proposal of this number for the present partition."""

    def agreed_seconds(self, seconds: float) -> float:
        """Return how long a move took, from the times of all processes."""


def checked_span(iterations: float, left: float | None, seconds: float | None) -> IterationSpan:
    """Return the checked span. Raises InputError for invalid numbers of iterations and seconds."""
    if not 0 < iterations <= MOST_ITERATIONS:
        raise InputError(f"the number of iterations must be above zero, not {iterations}")
    if left is not None and not 0 <= left <= MOST_ITERATIONS:
        raise InputError(f"the number of iterations left must not be negative, not {left}")
    if seconds is not None and not 0 <= seconds < MAX_TIME:
        raise InputError(f"the seconds of an iteration must not be negative, not {seconds}")
    known = [float("inf") if one is None else float(one) for one in (left, seconds)]
    return IterationSpan(float(iterations), *known)


def checked_observation(given: Observation, k: int) -> tuple[FloatArray, IterationSpan]:
    """Return times (k,) and the span of one process's observation; InputError for wrong ones."""
    span = checked_span(given.iterations, given.left, given.seconds)
    return checked_times(given.times, k), span


def checked_work(work: npt.ArrayLike, n: int) -> FloatArray:
    """Return weights (n,) of vertices; InputError for a wrong number of them and negative ones."""
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
    """Return the state of blocks of these loads (k,) [units], with what follows from the platform.

    compute, other (k,) [s]; total: work [units] and bytes [B] of the whole graph.
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
    """Return the workload among a plan's options."""
    given = options.get("workload")
    if given is None or isinstance(given, Workload):
        return given or WEIGHTS
    return workload_from_dict(given)
