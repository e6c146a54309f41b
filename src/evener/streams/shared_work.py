"""Least period of computing if filters can be divided arbitrarily: the dual of a linear program.

Searches weights of processors with the sum 1 that maximise sum_i min_p weight_p x seconds(i, p).
Any such weights give a lower bound. Equal processors have equal weights, so they form one kind. If
there are many filters, weights are computed on a sample of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.streams.period import StreamProblem, work_of

HEAVIEST, OTHERS = 256, 768  # filters in the sample: those with most work, others at equal steps
SHARPNESS = (0.1, 0.02, 0.004)  # excess over the least cost that counts as equal, per round
STEPS = 25  # of L-BFGS, per round
ROWS = 2_000_000  # table entries computed at once


class Kinds(NamedTuple):
    """Kinds of equal processors: the kind of each processor (k,); one member and size of each."""

    of: IntArray
    first: IntArray
    counts: IntArray


def kinds_of(problem: StreamProblem) -> Kinds:
    """Return the kinds of processors; those of a kind run the same filters in the same time."""
    processors = problem.processors
    able = np.column_stack([processors.rate, processors.width, problem.groups[1].T])
    _, first, of, counts = np.unique(
        able, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    return Kinds(of.ravel(), first, counts)


def shared_value(
    problem: StreamProblem, kinds: Kinds, least: FloatArray
) -> tuple[float, FloatArray]:
    """Return the bound [s], and the logarithms of the kinds' weights.

    least (n,): the result of least_work.
    """
    order = np.argsort(-least, kind="stable")[: np.count_nonzero(least)]
    importance = np.ones(order.size)
    sample = order
    if order.size > HEAVIEST + OTHERS:
        steps = np.linspace(HEAVIEST, order.size - 1, OTHERS).astype(np.int64)
        sample = np.concatenate([order[:HEAVIEST], order[steps]])
        importance = np.ones(sample.size)
        importance[HEAVIEST:] = (order.size - HEAVIEST) / OTHERS
    work = work_of(problem, sample)[:, kinds.first]
    start = -np.log(np.minimum(work, 1e300)).mean(axis=0)
    costs = work[None]
    weights = best_weights(costs, kinds.counts, start[None], importance, SHARPNESS, STEPS)[0]
    total, rows = 0.0, max(ROWS // kinds.first.size, 1)
    for begin in range(0, problem.n, rows):
        some = np.arange(begin, min(begin + rows, problem.n))
        table = work_of(problem, some)[None][:, :, kinds.first]
        total += shared_by(weights[None], kinds.counts, table)
    return total, weights


def shared_by(logs: FloatArray, counts: IntArray, costs: FloatArray) -> float:
    """Return the bound for weights with logarithms logs (f, kinds) and costs (f, n, kinds)."""
    weights = np.exp(logs - logs.max())
    weights /= (weights * counts).sum()
    return float(np.einsum("ft,fnt->nt", weights, costs).min(axis=1).sum())


def best_weights(
    costs: FloatArray,
    counts: IntArray,
    start: FloatArray,
    importance: FloatArray,
    sharpness: tuple[float, ...],
    steps: int,
) -> FloatArray:
    """Return (f, kinds) logarithms of weights w that give a large bound, up to a common factor.

    The bound is sum_i importance_i x min_p sum_f w[f, p] x costs[f, i, p], where the weights of all
    processors, counts (kinds,) of each kind, have the sum 1. costs (f, n, kinds): at least one is
    above zero for each filter; infinite if a filter cannot run on a kind. The minimum is smoothed
    less and less: by each of `sharpness`, with `steps` steps of L-BFGS each.
    """
    from scipy.optimize import minimize

    shape = start.shape
    finite = np.where(np.isfinite(costs), costs, 0.0)

    def lost(logs: FloatArray, blur: float) -> tuple[float, FloatArray]:
        weights = np.exp(logs.reshape(shape) - logs.max())
        with np.errstate(divide="ignore", invalid="ignore"):
            cost = np.where(np.isfinite(costs[0]), np.einsum("ft,fnt->nt", weights, finite), np.inf)
            log = np.log(cost)
            least = log.min(axis=1, keepdims=True)
            near = np.exp((least - log) / blur)
        sums = near.sum(axis=1, keepdims=True)
        smooth = importance * (np.exp(least) * sums**-blur)[:, 0]
        total, used = smooth.sum(), (counts * weights).sum()
        share = np.where(cost > 0, smooth[:, None] * near / sums / np.maximum(cost, 1e-300), 0.0)
        slope = np.einsum("nt,fnt->ft", share, finite) * weights / total
        return float(np.log(used) - np.log(total)), (counts * weights / used - slope).ravel()

    logs = start.ravel()
    for blur in sharpness:
        options = {"maxiter": steps}
        logs = minimize(lost, logs, (blur,), jac=True, method="L-BFGS-B", options=options).x
    return np.asarray(logs.reshape(shape))
