"""Models of any shape as tables: the time of every whole load, or of every multiple of a step."""

from __future__ import annotations

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.sizing.problems import Problem
from evener.sizing.segments import Runs, joined


class Table:
    """Times (k, n + 1) [s] of the loads 0 to n; infinity outside the limits. See `Segments`.

    With a step above 1 the problem is one of whole steps: its column j stands for the load of
    `j x step` units, brought within `limits` [units], a pair of (k,).
    """

    def __init__(
        self, problem: Problem, step: int = 1, limits: tuple[IntArray, IntArray] | None = None
    ) -> None:
        self.problem = problem
        count = np.arange(problem.n + 1)
        self.seconds = np.empty((problem.k, problem.n + 1))
        for i, model in enumerate(problem.models):
            load = count * step
            if limits is not None:
                load = np.clip(load, limits[0][i], limits[1][i])
            inside = (count >= problem.low[i]) & (count <= problem.high[i])
            row = model.time(np.where(inside, load, 0).astype(np.float64))
            row = np.where(load > 0, row + problem.fixed[i], 0.0)
            self.seconds[i] = np.where(inside, row, np.inf)

    def times(self, sizes: IntArray) -> FloatArray:
        """(k,) seconds of whole sizes [s]."""
        return np.asarray(self.seconds[np.arange(self.problem.k), sizes])

    def bounds(self) -> tuple[float, float]:
        """Seconds before which hardly any sizes are done, and by which all are [s]."""
        return 0.0, float(np.max(self.seconds, where=np.isfinite(self.seconds), initial=0.0))

    def needed(self) -> float:
        """Seconds that a device takes in any case for the least it must do [s]."""
        return float(self.seconds.min(axis=1).max())

    def largest(self, seconds: float) -> IntArray:
        """(k,) the largest load each device does by then, or else its lower limit."""
        done = self.seconds[:, ::-1] <= seconds
        last = self.problem.n - np.argmax(done, axis=1)
        return np.where(done.any(axis=1), last, self.problem.low)

    def runs(self, seconds: float) -> Runs:
        """All loads done by then."""
        device, load = np.nonzero(self.seconds <= seconds)
        return joined(device, load, load)

    def next_time(self, seconds: float) -> float:
        """The least time above `seconds` that any load takes [s]; infinity if none does."""
        return float(np.min(self.seconds, where=self.seconds > seconds, initial=np.inf))
