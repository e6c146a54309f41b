"""Measured: the speed of each device in a program's steps, and the possible gain of even blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.errors import InputError
from evener.platforms.models.samples import DeviceSpeeds
from evener.tuning.steps import Steps
from evener.tuning.traces import RankTrace

# Blocks count as even if the slowest device computes at most EVEN times as long as it would with
# even blocks, apart from the imbalance that the plan allows, or if the confidence interval of the
# gain begins below WORTH.
EVEN, WORTH = 1.01, 1.02
GROUPS = 8  # groups of consecutive steps, whose means give confidence intervals
T_95 = 2.36  # Student's t for a confidence of 95 % with 7 degrees of freedom
SHARED = 0.1  # share of the time from which on a device without a core is reported
IDLE = 0.3  # share of the time from which on waiting of all ranks is reported


@dataclass(frozen=True, eq=False)
class Measured:
    """A measured run of a program on the blocks of a plan.

    steps: the steps of the run. units (k,): number of units in each device's block. epsilon: the
    imbalance that the plan allows; blocks of another plan with the same epsilon may be as uneven.
    traces: of all ranks, by rank.
    """

    steps: Steps
    units: FloatArray
    epsilon: float
    traces: Sequence[RankTrace] = ()

    def __post_init__(self) -> None:
        if not (self.computing[self.units > 0] > 0).all():
            raise InputError("a rank with a block spent no time outside MPI: it was not measured")

    @cached_property
    def seconds(self) -> float:
        """Mean time of a step [s]."""
        return float(self.steps.seconds.mean())

    @cached_property
    def computing(self) -> FloatArray:
        """Mean time per step outside MPI, (k,) [s]."""
        return np.asarray(self.steps.computing.mean(axis=0))

    @property
    def waiting(self) -> FloatArray:
        """Mean time per step in MPI, (k,) [s]."""
        return np.asarray((self.steps.exchanging + self.steps.collective).mean(axis=0))

    @property
    def without_core(self) -> FloatArray:
        """Share of the time in which a rank was ready to run but had no core, (k,)."""
        return np.asarray(self.steps.delayed.mean(axis=0) / self.seconds)

    @property
    def half_widths(self) -> FloatArray:
        """Half widths of the confidence intervals of `computing`, (k,) [s]."""
        return _half_width(self.steps.computing)

    @property
    def speeds(self) -> FloatArray:
        """Units per second of computing, (k,); NaN for a device without a block."""
        return np.where(self.units > 0, self.units / np.maximum(self.computing, 1e-300), np.nan)

    @cached_property
    def gain(self) -> tuple[float, float, float]:
        """Speedup of the program that even blocks would give, and its confidence interval."""
        whole = self._gain(self.steps.seconds, self.steps.computing)
        groups = min(GROUPS, len(self.steps.seconds))
        pieces = [
            self._gain(seconds, computing)
            for seconds, computing in zip(
                np.array_split(self.steps.seconds, groups),
                np.array_split(self.steps.computing, groups),
                strict=True,
            )
        ]
        half = float(_half_width(np.array(pieces)[:, None])[0])
        return whole, whole - half, whole + half

    def _gain(self, seconds: FloatArray, computing: FloatArray) -> float:
        step, own = seconds.mean(), computing.mean(axis=0)
        return float(step / (step - own.max() + self._even(own)))

    def _even(self, computing: FloatArray) -> float:
        """Return the time per step outside MPI [s] with even blocks; computing (k,): measured."""
        busy = self.units > 0
        return float(self.units.sum() / (self.units[busy] / computing[busy]).sum())

    @property
    def excess(self) -> float:
        """Time that the slowest rank computes / time with even blocks, minus 1."""
        return float(self.computing.max()) / self._even(self.computing) - 1

    @property
    def is_even(self) -> bool:
        """Whether another plan would gain nothing beyond noise."""
        return self._is_balanced or self.gain[1] <= WORTH

    @property
    def _is_balanced(self) -> bool:
        return 1 + self.excess <= EVEN * (1 + self.epsilon)

    @property
    def left_out(self) -> tuple[int, float] | None:
        """The rank without which a step would take less time than with even blocks on all ranks.

        With the predicted seconds per step [s] without it; None if there is no such rank. Without a
        rank, the time in MPI is assumed to remain, unless only one rank is left.
        """
        busy = np.flatnonzero(self.units > 0)
        if busy.size < 2:
            return None
        rank = int(busy[np.argmin(self.speeds[busy])])
        in_mpi = self.seconds - float(self.computing.max())
        others = float(self.speeds[busy].sum() - self.speeds[rank])
        alone = float(self.units.sum()) / others + (in_mpi if busy.size > 2 else 0.0)
        even = self._even(self.computing) + in_mpi
        return (rank, alone) if alone * WORTH < even else None

    @property
    def reasons(self) -> list[str]:
        """Reasons why another plan would gain nothing, or less than the speeds suggest."""
        reasons = []
        if self._is_balanced:
            reasons.append(
                f"computing is even: the slowest rank computes {self.excess:.1%} longer than it "
                "would with even blocks"
            )
        elif self.is_even:
            reasons.append("the gain is within the noise of the measurement, or below 2 %")
        idle = float((self.waiting / self.seconds).min())
        if idle > IDLE:
            reasons.append(
                f"all ranks spend {idle:.0%} of the time or more in MPI: messages or shared cores "
                "limit the program, not the blocks"
            )
        if self.left_out is not None:
            rank, seconds = self.left_out
            reasons.append(
                f"rank {rank} is better left out: without it a step would take about "
                f"{seconds:.3g} s, less than with any block on it; plan without its device"
            )
        shared = np.flatnonzero(self.without_core > SHARED)
        if shared.size:
            reasons.append(
                f"{_named(shared)} ready to run without a core for up to "
                f"{self.without_core.max():.0%} of the time: other processes use the core, so the "
                "device seems slow"
            )
        return reasons


def _named(ranks: IntArray) -> str:
    if ranks.size == 1:
        return f"rank {ranks[0]} was"
    listed = ", ".join(map(str, ranks[:8])) + (", ..." if ranks.size > 8 else "")
    return f"ranks {listed} were"


def _half_width(values: FloatArray) -> FloatArray:
    """Return half widths (k,) of the confidence intervals of the means of values (s, k)."""
    groups = np.array(
        [part.mean(axis=0) for part in np.array_split(values, min(GROUPS, len(values)))]
    )
    if len(groups) < 2:
        return np.full(values.shape[1], np.inf)
    return np.asarray(T_95 * groups.std(axis=0, ddof=1) / np.sqrt(len(groups)))


def joined(older: list[DeviceSpeeds], newer: list[DeviceSpeeds]) -> list[DeviceSpeeds]:
    """Return the newer devices with the samples of both lists; at equal loads, the newer sample."""
    by_name = {device.name: device for device in older}
    found = []
    for device in newer:
        known = by_name[device.name].samples if device.name in by_name else ()
        samples = {sample.load: sample for sample in (*known, *device.samples)}
        found.append(DeviceSpeeds(device.name, tuple(samples[load] for load in sorted(samples))))
    return found
