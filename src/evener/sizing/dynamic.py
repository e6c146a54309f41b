"""DPA, the dynamic partitioning algorithm: it finds sizes by measuring, without speed models.

DPA measures the times at the current sizes and stops if they differ by at most epsilon. Otherwise
it adds the measurements to partial models, solves these for new sizes, and repeats ([Cla14]_, 4.3).
There are two ways to use it: run a benchmark before the program starts (`measured_sizes`), or pass
the times of the program's own iterations to `Dynamic.observe`. Beyond [Cla14]_: oscillation is
damped; the returned sizes are the best measured ones; and if a device failed at a load, its later
loads are always smaller.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray, as_array, as_integers
from evener.errors import InfeasibleError, InputError
from evener.platforms.models.fitting import Constant, SpeedModel, fit_model
from evener.platforms.models.samples import Sample
from evener.sizing.problems import make_problem
from evener.sizing.rounding import between
from evener.sizing.solving import SpeedSizes, solve_sizes

BALANCED = "balanced"
MIN_GAIN = 0.05  # gain that the models must predict for another step, as a fraction of epsilon
PATIENCE = 3  # steps get longer after this many improving ones in a row: near a cliff they are tiny
MAX_STEPS = 40  # default for the largest number of observations
KIND = {"gpa": "shaped", "npa": "akima"}  # kind of partial model for a method; else piecewise


class Observed(NamedTuple):
    """Whole sizes (k,) and the seconds (k,) measured for them; infinity where a device failed."""

    sizes: IntArray
    seconds: FloatArray

    @property
    def makespan(self) -> float:
        """Time until the last device is done [s]."""
        return float(np.max(self.seconds, where=self.sizes > 0, initial=0.0))

    @property
    def spread(self) -> float:
        """Largest time / smallest time - 1, over the devices with a load above zero."""
        seconds = self.seconds[self.sizes > 0]
        if seconds.size < 2:
            return 0.0
        return float(seconds.max() / seconds.min() - 1) if np.isfinite(seconds).all() else np.inf


@dataclass(eq=False)
class Dynamic:
    """Search for balanced sizes of n units on k devices by measuring (see the module's docstring).

    epsilon: the times are balanced if their spread is at most this. method: the method of
    `solve_sizes` that is used with the partial models. low, high: limits [units]. max_steps: the
    largest number of observations. samples: measurements of earlier runs, one sequence per device.
    start (k,): the first sizes; by default computed from the samples if every device has some, else
    equal sizes.

    Measure the times at `sizes`, pass them to `observe`, and repeat with the sizes that it returns,
    until it returns None. Then `outcome` says why the search ended, and `best` is the best
    observation.
    """

    n: int
    k: int
    epsilon: float = 0.05
    method: str = "auto"
    low: npt.ArrayLike | None = None
    high: npt.ArrayLike | None = None
    max_steps: int = MAX_STEPS
    samples: Sequence[Sequence[Sample]] | None = None
    start: npt.ArrayLike | None = None
    history: list[Observed] = field(default_factory=list, init=False)
    outcome: str = field(default="", init=False)

    def __post_init__(self) -> None:
        if not self.epsilon > 0:
            raise InputError(f"epsilon must be above zero, not {self.epsilon}")
        if self.k < 1 or self.max_steps < 1:
            raise InputError("there must be at least one device and one step")
        problem = make_problem([Constant(1.0)] * self.k, self.n, self.low, self.high)
        self._low, self._high = problem.low, problem.high
        given = self.samples or [()] * self.k
        if len(given) != self.k:
            raise InputError(f"there are samples of {len(given)} devices, but {self.k} devices")
        self._samples = [list(known) for known in given]
        self._part = 1.0  # step length: 1 goes from the best sizes to those the models propose
        self._gains = 0  # number of steps in a row that improved the makespan
        self._seen: set[bytes] = set()
        self._failed: set[int] = set()  # devices that failed at some load
        self._sizes = self._first()

    @property
    def sizes(self) -> IntArray:
        """The sizes (k,) int64 [units] to measure next."""
        return self._sizes.copy()

    @property
    def best(self) -> Observed:
        """The observation of least makespan; if several are equal, the latest of them."""
        if not self.history:
            raise InputError("nothing has been observed yet")
        return min(reversed(self.history), key=lambda seen: seen.makespan)

    @property
    def converged(self) -> bool:
        """Whether balanced sizes were found; `best` may be unbalanced sizes with less makespan."""
        return self.outcome == BALANCED

    def run(self, measure: Callable[[IntArray], npt.ArrayLike]) -> Dynamic:
        """Search to the end, calling `measure` at each step as in `measured_sizes`; return self."""
        sizes: IntArray | None = self.sizes
        while sizes is not None:
            sizes = self.observe(measure(sizes))
        return self

    def known(self) -> tuple[tuple[Sample, ...], ...]:
        """Return all samples of each device: those passed at the start and those observed."""
        return tuple(tuple(samples) for samples in self._samples)

    def observe(self, seconds: npt.ArrayLike, done: npt.ArrayLike | None = None) -> IntArray | None:
        """Record the times (k,) [s] measured at `sizes`; return the next sizes, or None if done."""
        if self.outcome:
            raise InputError(f"this search has ended: {self.outcome}")
        sizes = self._sizes if done is None else self._done(done)
        seen = Observed(sizes, _checked(seconds, sizes))
        improved = not self.history or seen.makespan < self.best.makespan
        self.history.append(seen)
        self._seen |= {self._sizes.tobytes(), sizes.tobytes()}
        self._learn(seen)
        self._step_on(improved)
        following = None
        if seen.spread <= self.epsilon:
            self.outcome = BALANCED
        elif len(self.history) >= self.max_steps:
            self.outcome = f"not balanced after {self.max_steps} steps"
        elif (following := self._proposed()) is None:
            self.outcome = "no better sizes are known"
        if following is not None:
            self._sizes = following
        return following

    def _done(self, given: npt.ArrayLike) -> IntArray:
        sizes = as_integers(given, "done")
        if sizes.shape != (self.k,) or sizes.min() < 0 or int(sizes.sum()) != self.n:
            raise InputError(f"measured sizes must be {self.k} whole numbers that sum to n")
        return sizes

    def _step_on(self, improved: bool) -> None:
        """Halve the step if the last one did not improve; double it after several that improved."""
        self._gains = self._gains + 1 if improved else 0
        if not improved:
            self._part = min(self._part, 1.0) / 2
        elif self._gains <= PATIENCE:
            self._part = 1.0
        else:
            self._part *= 2

    def _learn(self, seen: Observed) -> None:
        for i in np.flatnonzero(seen.sizes > 0).tolist():
            load, seconds = int(seen.sizes[i]), float(seen.seconds[i])
            if np.isfinite(seconds):
                self._samples[i].append(Sample(float(load), seconds))
                continue
            self._failed.add(i)
            self._high[i] = min(int(self._high[i]), load - 1)
            if self._high[i] < self._low[i] or int(self._high.sum()) < self.n:
                raise InfeasibleError(
                    f"device {i} cannot do {load:,} units, and the loads that all devices can do "
                    f"no longer sum to {self.n:,}"
                )

    def _first(self) -> IntArray:
        if self.start is not None:
            sizes = as_integers(self.start, "start")
            fits = sizes.shape == (self.k,) and (sizes >= self._low).all()
            if not (fits and (sizes <= self._high).all() and int(sizes.sum()) == self.n):
                raise InputError("start must contain whole sizes within the limits that sum to n")
            return sizes
        if all(self._samples):
            return self._solved().sizes
        even = [Constant(1.0)] * self.k
        return solve_sizes(even, self.n, "constant", self._low, self._high).sizes

    def _solved(self) -> SpeedSizes:
        """Return the sizes by the partial models.

        A device that was never measured at one unit gets at least one unit, if the limits allow.
        """
        models = [self._model(samples) for samples in self._samples]
        low = np.maximum(self._low, [min(s.load for s in known) > 1 if known else True
                                     for known in self._samples])  # fmt: skip
        high = self._safe_high()
        low = np.minimum(low, high)
        if int(low.sum()) > self.n:
            low = self._low
        return solve_sizes(models, self.n, self.method, low, high)

    def _safe_high(self) -> IntArray:
        """Return the upper limits (k,).

        For a device that failed, the limit is midway between the largest load that it completed
        and the load at which it failed, if the limits then still sum to n or more.
        """
        high = self._high.copy()
        for i, samples in enumerate(self._samples):
            if i in self._failed:
                done = max((int(s.load) for s in samples), default=0)
                high[i] = max(min((done + int(high[i])) // 2, int(high[i])), int(self._low[i]))
        return high if int(high.sum()) >= self.n else self._high

    def _model(self, samples: Sequence[Sample]) -> SpeedModel:
        if not samples:  # the device only failed: assume the lowest speed measured on the others
            known = [s.speed for others in self._samples for s in others]
            return Constant(min(known, default=1.0))
        if self.method == "constant":  # redefined by every measurement ([Cla14]_, 4.3.1)
            return Constant(samples[-1].speed)
        return fit_model(samples, KIND.get(self.method, "piecewise"))

    def _proposed(self) -> IntArray | None:
        """Return the next sizes to measure, or None if the models predict no gain.

        They are the sizes that the models propose. If these were measured already, or the last step
        was no improvement, they lie between the best sizes and those proposed.
        """
        solved, best = self._solved(), self.best.sizes
        target = solved.sizes
        if not np.isfinite(self.best.makespan):
            return target
        if solved.makespan > self.best.makespan * (1 - MIN_GAIN * self.epsilon):
            return None
        part = self._part
        while True:
            sizes = between(best, target, part, self._low, self._high)
            if sizes.tobytes() not in self._seen:
                return sizes
            if (sizes == best).all():
                return None
            part /= 2


def measured_sizes(
    measure: Callable[[IntArray], npt.ArrayLike], n: int, k: int, **options: Any
) -> Dynamic:
    """Run a Dynamic search to its end, calling `measure` at each step, and return it.

    measure(sizes) returns the seconds (k,) for whole sizes (k,), infinity for devices that failed.
    options: keyword arguments of Dynamic. The sizes to use are `best.sizes` of the result.
    """
    return Dynamic(n, k, **options).run(measure)


def _checked(seconds: npt.ArrayLike, sizes: IntArray) -> FloatArray:
    times = as_array(seconds, "seconds")
    if times.shape != sizes.shape or times.dtype.kind not in "iuf":
        raise InputError(f"seconds must be {sizes.size} numbers, one per device")
    times = np.where(sizes > 0, times, 0.0).astype(np.float64)
    wrong = (sizes > 0) & ~(times > 0)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise InputError(f"device {i} cannot have done {sizes[i]:,} units in {times[i]} s")
    return times
