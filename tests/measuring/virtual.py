"""Devices that compute on a clock of their own: nothing waits, everything repeats."""

import numpy as np

from evener.measuring.outcomes import Gap, Point
from evener.platforms.models.samples import Sample


class Clock:
    """A clock that only its kernel moves."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Virtual:
    """A kernel that takes seconds_of(d) times what `noise` draws, on a virtual clock."""

    def __init__(self, clock, seconds_of, noise=lambda: 1.0):
        self.clock, self.seconds_of, self.noise = clock, seconds_of, noise
        self.d = None
        self.calls = []

    def complexity(self, d):
        return 2.0 * d

    def initialize(self, d):
        self.calls.append("initialize")
        self.d = d

    def execute(self):
        self.calls.append("execute")
        self.clock.now += self.seconds_of(self.d) * self.noise()

    def finalize(self):
        self.calls.append("finalize")
        self.d = None


class EmulatedBench:
    """Devices of given speed models, noise as of a real machine; memory ends at `capacity`."""

    def __init__(self, models, *, noise=0.0, seed=0, names=None):
        self.models, self.noise = models, noise
        self.rng = np.random.default_rng(seed)
        self.names = names or [f"d{i}" for i in range(len(models))]
        self.asked = []

    def measure(self, loads):
        self.asked.append(list(loads))
        pairs = zip(self.models, loads, strict=True)
        return [None if load is None else self.one(model, load) for model, load in pairs]

    def one(self, model, load):
        if load > model.capacity:
            return Gap(load, "memory", "out of memory")
        seconds = float(model.time(load))
        times = seconds * (1 + self.noise * self.rng.standard_normal(5)).clip(0.2)
        return Point(Sample(load, times.mean(), 2.8 * times.std(ddof=1) / 5**0.5, 5))
