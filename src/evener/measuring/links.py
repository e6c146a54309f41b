"""Links: what a message costs, alpha [s] + beta [s/B] x bytes, fitted to ping-pong.

A round trip is a kernel like any other whose load is bytes, so that it is repeated until it is
known well enough. One-to-many sends to several at once and waits for all.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evener.errors import NotFoundError
from evener.measuring.benchmark import Clock, benchmark
from evener.measuring.kernels import Kernel
from evener.measuring.outcomes import Point, Precision
from evener.measuring.statistics import student
from evener.platforms.models.samples import Sample
from evener.platforms.platform import Link

SIZES = (8, 512, 4096, 32_768, 262_144, 1_048_576, 4_194_304)  # bytes
# A message is short: whatever else runs on the cores shows in many of the repetitions.
PRECISION = Precision(
    precision=0.05, repetitions=200, seconds=0.5, shortest=2e-4, least=0.02, outliers=0.5
)


@dataclass(frozen=True)
class FittedLink:
    """A link and how sure it is.

    alpha_half, beta_half [s], [s/B]: half widths of the confidence intervals; infinite where two
    samples leave nothing to judge by. samples: load in bytes, seconds one way.
    """

    link: Link
    alpha_half: float
    beta_half: float
    samples: tuple[Sample, ...]

    @property
    def GB_per_s(self) -> float:  # noqa: N802
        """Bandwidth; infinite where no byte costs anything."""
        return 1e-9 / self.link.beta if self.link.beta else math.inf


def fit_link(samples: Sequence[Sample], confidence: float = 0.95) -> FittedLink:
    """Fit alpha + beta x bytes to seconds, relative errors weighing alike; neither is negative.

    Raises NotFoundError for fewer than two sizes.
    """
    if len({sample.load for sample in samples}) < 2:
        raise NotFoundError("a link is fitted to two sizes of messages at least")
    size = np.array([sample.load for sample in samples])
    seconds = np.array([sample.seconds for sample in samples])
    rows = np.column_stack([1 / seconds, size / seconds])
    scale = rows.max(axis=0)  # alpha and beta differ by ten orders of magnitude
    free = [0, 1]
    solved = np.linalg.lstsq(rows / scale, np.ones(size.size), rcond=None)[0]
    if (solved < 0).any():
        free = [int(solved.argmax())]
        solved = np.zeros(2)
        solved[free] = np.linalg.lstsq(rows[:, free] / scale[free], np.ones(size.size), rcond=None)[
            0
        ]
    rest = 1 - rows / scale @ solved
    halves = np.zeros(2)
    halves[free] = _half_widths(rows[:, free] / scale[free], rest, confidence)
    alpha, beta = (float(x) for x in solved / scale)
    alpha_half, beta_half = (float(x) for x in halves / scale)
    return FittedLink(Link(alpha, beta), alpha_half, beta_half, tuple(samples))


def _half_widths(
    rows: np.typing.NDArray[np.float64], rest: np.typing.NDArray[np.float64], confidence: float
) -> np.typing.NDArray[np.float64]:
    freedom = rest.size - rows.shape[1]
    if freedom < 1:
        return np.full(rows.shape[1], np.inf)
    spread = float(rest @ rest) / freedom * np.linalg.inv(rows.T @ rows)
    widths: np.typing.NDArray[np.float64] = student(confidence, freedom) * np.sqrt(np.diag(spread))
    return widths


def measure_link(
    round_trip: Kernel,
    sizes: Sequence[int] = SIZES,
    precision: Precision = PRECISION,
    *,
    clock: Clock = time.perf_counter,
) -> FittedLink:
    """Time round trips of messages of these sizes [B]; half of one is one way.

    Sizes that fail are left out. Raises NotFoundError where fewer than two are left.
    """
    samples = []
    for size in sizes:
        outcome = benchmark(round_trip, size, precision, clock=clock)
        if isinstance(outcome, Point):
            whole = outcome.sample
            samples.append(
                Sample(whole.load, whole.seconds / 2, whole.half_width / 2, whole.repetitions)
            )
    return fit_link(samples, precision.confidence)
