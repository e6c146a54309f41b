"""Times a kernel at one load until the mean is known precisely (Algorithm 1 of [Cla14]_).

The result is the mean over repetitions with Student's confidence interval. Very short kernels are
executed several times between two readings of the clock. The first execution is not counted.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from evener.measuring.kernels import Kernel
from evener.measuring.outcomes import (
    MIN_REPETITIONS,
    Gap,
    Outcome,
    Point,
    Precision,
    Summary,
    summarised,
)
from evener.platforms.models.samples import Sample

Clock = Callable[[], float]
MOST_BATCHED = 1 << 17  # executions between two readings of the clock
EMPTY_CALLS = 1000
AT_ONCE_SAID = "the kernel returned at once: there is nothing to measure"
AT_ONCE = 5.0  # multiple of the time of calling an empty function


@dataclass(frozen=True)
class Company:
    """Callbacks that synchronise a benchmark with others and let a process watch it.

    start: returns when all others are prepared and warm, too. pulse: called before each timing, so
    that a watching process notices an execution that takes too long. linger: called with the
    outcome; as long as it returns True, the kernel is executed again and linger is called again.
    """

    start: Callable[[], None] = lambda: None
    pulse: Callable[[], None] = lambda: None
    linger: Callable[[Outcome], bool] = lambda outcome: False  # noqa: ARG005


def benchmark(
    kernel: Kernel,
    load: int,
    precision: Precision | None = None,
    *,
    clock: Clock = time.perf_counter,
    waited: Clock | None = None,
    company: Company | None = None,
) -> Outcome:
    """Measure `kernel` at `load` units; if that is impossible, return a Gap with the reason.

    clock: returns the time [s]. waited: returns how long other processes have used this process's
    core [s], see `waited_for_core`; None: not measured.
    """
    company = company or Company()
    outcome: Outcome | None = None
    try:
        outcome = _measured(
            kernel, load, precision or Precision(), clock, waited or _never, company
        )
        while company.linger(outcome):
            kernel.execute()
        kernel.finalize()
    except Exception as error:  # a user's kernel may raise anything
        # A failure after the measurement leaves its outcome valid.
        outcome = outcome or Gap(load, _kind_of(error), _said(error))
        company.linger(outcome)
        _give_back(kernel)
    return outcome


def waited_for_core() -> float:
    """Return how long this process was ready to run while others used its core, so far [s].

    The value comes from Linux's scheduler and applies to the first thread; on other systems it is
    0. Sleeping does not count.
    """
    try:
        with open("/proc/self/schedstat") as file:  # noqa: PTH123 - a look at a clock
            return int(file.read().split()[1]) * 1e-9
    except (OSError, ValueError, IndexError):  # not Linux, or a kernel built without it
        return 0.0


def _never() -> float:
    return 0.0


def _kind_of(error: Exception) -> str:
    return "memory" if is_lack_of_memory(error) else "raised"


def is_lack_of_memory(error: Exception) -> bool:
    """Return whether a computation failed for lack of memory, including a device's memory."""
    names = {cls.__name__ for cls in type(error).__mro__}
    short = isinstance(error, MemoryError) or "OutOfMemoryError" in names
    return short or "OUT_OF_MEMORY" in str(error)


def _said(error: Exception) -> str:
    text = str(error).strip()
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _measured(
    kernel: Kernel,
    load: int,
    precision: Precision,
    clock: Clock,
    waited: Clock,
    company: Company,
) -> Outcome:
    flops = float(kernel.complexity(load))
    if not 0 <= flops < math.inf:  # NaN is neither
        raise ValueError(
            f"complexity({load}) returned {flops}, which is not a number of operations"
        )
    kernel.initialize(load)
    company.pulse()
    batch = _batch(kernel, precision.shortest, clock)
    company.start()
    times: list[float] = []
    patience = precision.patience(load)
    began, waited_before, summary = clock(), waited(), None
    while not _enough(summary, len(times), precision, clock() - began, patience):
        company.pulse()
        seconds = _timed(kernel, batch, clock)
        if seconds == 0:
            return Gap(load, "at once", AT_ONCE_SAID)
        if not 0 < seconds < math.inf:  # NaN is neither
            return Gap(load, "clock", f"the clock counted {seconds} s for one execution")
        times.append(seconds)
        # Intervals are computed only now and then, because this takes longer than a short kernel.
        if len(times) < 10 or len(times) % 5 == 0:
            summary = summarised(times, precision.confidence, precision.outliers)
    share = 1 - min(max((waited() - waited_before) / (clock() - began), 0.0), 1.0)
    summary = summarised(times, precision.confidence, precision.outliers)
    if share * min(times) * batch <= AT_ONCE * _nothing(batch, clock):
        return Gap(load, "at once", AT_ONCE_SAID)
    return _point(load, summary, precision, flops, share)


def _enough(
    summary: Summary | None, done: int, precision: Precision, spent: float, patience: float
) -> bool:
    if summary is None or done >= precision.repetitions:
        return done >= precision.repetitions
    narrow = summary.half_width <= precision.precision * summary.mean
    known = narrow and summary.kept >= MIN_REPETITIONS and spent >= precision.least
    return known or spent >= precision.seconds or summary.mean > patience


def _point(load: int, summary: Summary, precision: Precision, flops: float, share: float) -> Point:
    # A single time has no interval, so its whole length is used as width.
    width = summary.half_width if math.isfinite(summary.half_width) else summary.mean
    return Point(
        Sample(float(load), summary.mean, width, summary.kept),
        summary.outliers,
        summary.drift,
        width <= precision.precision * summary.mean,
        flops,
        share,
        summary.mean > precision.patience(load),
    )


def _batch(kernel: Kernel, shortest: float, clock: Clock) -> int:
    """Warm the kernel up; return the number of executions that take `shortest` [s]."""
    seconds, batch = _timed(kernel, 1, clock), 1
    if not seconds < 10 * shortest:  # also if NaN, which the caller detects again
        return 1
    while batch < MOST_BATCHED:
        seconds = _timed(kernel, batch, clock) * batch
        if not 0 <= seconds < shortest:
            break
        grown = shortest / seconds if seconds > 0 else 16.0
        batch = min(math.ceil(batch * min(max(grown, 1.5), 16.0)), MOST_BATCHED)
    return batch


def _timed(kernel: Kernel, batch: int, clock: Clock) -> float:
    """Return the time per execution of `batch` executions in a row [s]."""
    execute = kernel.execute
    if batch == 1:
        begin = clock()
        execute()
        return clock() - begin
    begin = clock()
    for _ in itertools.repeat(None, batch):
        execute()
    return (clock() - begin) / batch


class _Nothing:
    """A kernel that does nothing."""

    def execute(self) -> None:
        """Do nothing."""


def _nothing(batch: int, clock: Clock) -> float:
    """Return the time of `batch` empty calls without disturbance [s]."""
    count = min(batch, EMPTY_CALLS)
    return min(_timed(_Nothing(), count, clock) for _ in range(5)) * batch  # type: ignore[arg-type]


def _give_back(kernel: Kernel) -> None:
    """Release the kernel's memory; ignore errors, as the first one has been reported."""
    with contextlib.suppress(Exception):
        kernel.finalize()
