"""A balance where bisection over the time ends at a jump.

The largest loads that devices do by a time jump where time falls with load: past the top of a hump
a device does more by the same time. If the load falls into such a jump, a balance lies on the far
side of the hump: the load of that device slides down it, and the others take what they do by the
time that it then takes. Their sum is continuous, below the load at first and above it in the end.
"""

from __future__ import annotations

import numpy as np

from evener.arrays import FloatArray
from evener.sizing.problems import Problem

STEPS = 200  # halvings until neighbouring floats meet, from any two that occur
MOST_DEVICES = 64  # models asked one by one


def slid(problem: Problem) -> FloatArray | None:
    """Real shares (k,) that sum to n, in balance unless several devices jump; None for many."""
    if problem.k > MOST_DEVICES:
        return None
    early, late = 0.0, 1.0
    while _most(problem, late).sum() < problem.n:
        late *= 4
        if not np.isfinite(late):
            return None
    for _ in range(STEPS):
        middle = early + (late - early) / 2
        if not early < middle < late:
            break
        if _most(problem, middle).sum() < problem.n:
            early = middle
        else:
            late = middle
    before, after = _most(problem, early), _most(problem, late)
    device = int(np.argmax(after - before))
    low, high = float(before[device]), float(after[device])
    for _ in range(STEPS):
        middle = low + (high - low) / 2
        if not low < middle < high:
            break
        if _slid_to(problem, device, middle).sum() < problem.n:
            low = middle
        else:
            high = middle
    return _slid_to(problem, device, high)


def _slid_to(problem: Problem, device: int, load: float) -> FloatArray:
    """The shares of all where one device has this load."""
    seconds = float(problem.models[device].time(load)) + float(problem.fixed[device])
    shares = _most(problem, seconds)
    shares[device] = load
    return shares


def _most(problem: Problem, seconds: float) -> FloatArray:
    """(k,) what each does by a time, within its limits [units]."""
    left = np.maximum(seconds - problem.fixed, 0.0).tolist()
    most = [float(m.max_load(own)) for m, own in zip(problem.models, left, strict=True)]
    return np.asarray(np.clip(most, problem.low, problem.high))
