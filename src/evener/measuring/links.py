"""Measures links between cores, threads, ranks or GPUs: a message takes alpha + beta x bytes [s].

Round trips (pings.py) are timed as kernels whose load is a number of bytes. The link from the first
end to each other end is measured, then messages to all others at once.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial

import numpy as np

from evener.errors import NotFoundError, UsageError
from evener.measuring.benchmark import Clock, benchmark
from evener.measuring.campaign import Progress
from evener.measuring.kernels import Kernel
from evener.measuring.outcomes import Point, Precision, student
from evener.measuring.pings import ProcessPing, RankPing, ThreadPing, answer
from evener.platforms.models.samples import DeviceSpeeds, Sample
from evener.platforms.platform import Link
from evener.running.comm import Comm

SIZES = (8, 512, 4096, 32_768, 262_144, 1_048_576, 4_194_304)  # bytes
# Many short repetitions, half of which may be outliers: a message is so short that other programs
# on the cores disturb many of them.
PRECISION = Precision(
    precision=0.05, repetitions=200, seconds=0.5, shortest=2e-4, least=0.02, outliers=0.5
)


Opened = Callable[[], AbstractContextManager[Kernel]]


@dataclass(frozen=True)
class FittedLink:
    """A fitted link with its confidence intervals.

    alpha_half [s], beta_half [s/B]: half widths of the intervals; infinite for two samples, which
    leave no degree of freedom. samples: load in bytes, time of one way.
    """

    link: Link
    alpha_half: float
    beta_half: float
    samples: tuple[Sample, ...]

    @property
    def GB_per_s(self) -> float:  # noqa: N802
        """Bandwidth [10^9 B/s]; infinite if beta is zero."""
        return 1e-9 / self.link.beta if self.link.beta else math.inf


def fit_link(samples: Sequence[Sample], confidence: float = 0.95) -> FittedLink:
    """Fit alpha + beta x bytes to times by least squares of relative errors; alpha, beta >= 0.

    Raises NotFoundError for fewer than two sizes.
    """
    if len({sample.load for sample in samples}) < 2:
        raise NotFoundError("a link needs at least two sizes of messages")
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
    """Time round trips of messages of these sizes [B]; half of a round trip is one way.

    Sizes that fail are omitted. Raises NotFoundError if fewer than two remain.
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


@dataclass(frozen=True)
class NamedLink:
    """A measured link by name; `many`: number of ends to which messages were sent at once."""

    name: str
    fitted: FittedLink
    many: int = 1

    @property
    def speeds(self) -> DeviceSpeeds:
        """The link in a file of speeds: a unit is a byte; notes give alpha and bandwidth."""
        fitted = self.fitted
        figures = {
            "alpha_us": fitted.link.alpha * 1e6,
            "alpha_us_half_width": fitted.alpha_half * 1e6,
            "GB_per_s": fitted.GB_per_s,
        }
        known = {key: value for key, value in figures.items() if math.isfinite(value)}
        notes = {"kernel": "link", "unit": "byte", "ends": self.many, **known}
        return DeviceSpeeds(self.name, fitted.samples, notes=notes)


def measure_links(
    between: str,
    cpus: Sequence[int],
    comm: Comm,
    sizes: Sequence[int] = SIZES,
    progress: Progress = lambda step, fraction: None,  # noqa: ARG005
) -> list[NamedLink]:
    """Measure the links from the first end to each other end, then to all at once.

    Ends are cores, ranks or GPUs. between: "cores", "threads", "ranks" or "gpu". cpus: the cores at
    the ends, or the GPUs' indices
    for "gpu". comm: for "ranks"; ranks above 0 return an empty list. Raises UsageError for fewer
    than two ends, ToolError if a GPU does not exist.
    """
    if between == "ranks" and comm.rank > 0:
        answer(comm, max(sizes))
        return []
    opened = _opened(between, cpus, comm)
    found = []
    for i, (name, many, ping) in enumerate(opened):
        progress(name, i / len(opened))
        with ping() as kernel:
            found.append(NamedLink(name, measure_link(kernel, sizes, PRECISION), many))
    if between == "ranks":
        RankPing(comm, range(1, comm.size)).end()
    return found


def _opened(between: str, cpus: Sequence[int], comm: Comm) -> list[tuple[str, int, Opened]]:
    """Return, for each link, its name, the number of other ends, and a function that opens it."""
    if between == "threads":
        return [("threads", 1, lambda: nullcontext(ThreadPing()))]
    if between == "gpu":
        from evener.measuring.cuda import Ping

        return [(f"cuda{i}", 1, partial(_kernel, partial(Ping, i))) for i in cpus]
    if between == "ranks":
        here, others = "rank0", list(range(1, comm.size))
        names = [f"rank{rank}" for rank in others]
        single: list[Opened] = [partial(_kernel, partial(RankPing, comm, [r])) for r in others]
        every: Opened = partial(_kernel, partial(RankPing, comm, others))
    else:
        here, others = f"cpu{cpus[0]}", list(cpus[1:])
        names = [f"cpu{cpu}" for cpu in others]
        single = [partial(ProcessPing, (cpu,), cpus[0]) for cpu in others]
        every = partial(ProcessPing, tuple(others), cpus[0])
    if not others:
        raise UsageError(
            f"a link between {between} needs two of them",
            hint="Choose cores by --device cpu0,cpu1, or start ranks by mpiexec -n 2.",
        )
    pairs = [(f"{here}-{name}", 1, ping) for name, ping in zip(names, single, strict=True)]
    return pairs + ([(f"{here}-all", len(others), every)] if len(others) > 1 else [])


def _kernel(make: Callable[[], Kernel]) -> AbstractContextManager[Kernel]:
    return nullcontext(make())
