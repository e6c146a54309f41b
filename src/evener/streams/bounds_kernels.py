"""The dual of: filters are divided at will, and the busiest processor is to be done early."""

# mypy: ignore-errors
import numpy as np

from evener.jit import njit
from evener.streams.period_kernels import seconds_of

STEP, SLOWER = 0.5, 0.3  # of weights: first step, and how much smaller steps become


@njit(cache=True, nogil=True, error_model="numpy")
def shared_work(filters, machine, weights, rounds):
    """Best of the bounds sum_i min_p weights[p] x seconds(i, p); weights (k,) add up to 1.

    Weights of processors that are busy in the minimum grow from round to round (multiplicative
    weights). Any such weights give a bound.
    """
    best = 0.0
    load = np.empty(weights.size)
    for turn in range(rounds):
        bound = 0.0
        load[:] = 0.0
        for i in range(filters.scalar.size):
            least, at, seconds = np.inf, 0, 0.0
            for p in range(weights.size):
                mine = seconds_of(filters, machine, i, p)
                if weights[p] * mine < least:
                    least, at, seconds = weights[p] * mine, p, mine
            bound += least
            load[at] += seconds
        best = max(best, bound)
        most = load.max()
        if most <= 0.0:
            return best
        total, step = 0.0, STEP / (1.0 + SLOWER * turn)
        for p in range(weights.size):
            weights[p] *= np.exp(step * (load[p] / most - 0.5))
            total += weights[p]
        for p in range(weights.size):
            weights[p] /= total
    return best
