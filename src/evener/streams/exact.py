"""The shortest period of all mappings, from a mixed-integer program (HiGHS, through SciPy)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from evener.arrays import FloatArray, IntArray, Part
from evener.errors import InfeasibleError, UsageError
from evener.streams.bounds import bounds_of
from evener.streams.period import StreamProblem, seconds_of, work_of

MOST_VARIABLES = 200_000  # largest number of edges x processors^2; larger programs are refused
GAP = 1e-6


@dataclass(frozen=True, eq=False)
class ExactMapping:
    """The best mapping found (n,), its period [s], and a lower bound on all periods [s].

    part: None if no mapping was found within the time limit. proven: whether the mapping is
    optimal.
    """

    part: Part | None
    period: float
    bound: float
    proven: bool


def exact(problem: StreamProblem, seconds: float = 60.0) -> ExactMapping:
    """Return the mapping with the shortest period. seconds: time limit.

    The variables are: which filter is on which processor, and which two processors each edge joins.
    Raises UsageError for readings whose loads are not sums of such variables ("transit", overlap),
    and if there are too many variables.
    """
    if problem.reading.route == "transit" or problem.reading.overlap:
        raise UsageError("the exact method does not work with the readings transit and overlap")
    n, k, edges = problem.n, problem.k, _edges(problem)
    if len(edges[0]) * k * k > MOST_VARIABLES:
        raise UsageError(
            f"{len(edges[0]):,} edges and {k:,} processors are too many for the exact method",
            hint="It solves up to some 12 filters on 4 processors. Use --method ours.",
        )
    work = work_of(problem, np.arange(n))
    scale = max(bounds_of(problem).best, 1e-300)
    matrix, low, high = _constraints(problem, edges, work / scale, scale)
    count = matrix.shape[1]
    goal = np.zeros(count)
    goal[-1] = 1.0
    whole = np.zeros(count)
    whole[: n * k] = 1
    most = np.ones(count)
    most[: n * k] = np.isfinite(work).ravel()
    most[-1] = np.inf
    answer = milp(
        goal,
        constraints=LinearConstraint(matrix, low, high),
        integrality=whole,
        bounds=Bounds(np.zeros(count), most),
        options={"time_limit": seconds, "mip_rel_gap": GAP},
    )
    bound = 0.0 if answer.mip_dual_bound is None else float(answer.mip_dual_bound) * scale
    if answer.x is None:
        if answer.status == 2:
            raise InfeasibleError("no mapping gives every filter a processor that can run it")
        return ExactMapping(None, np.inf, bound, proven=False)
    part = answer.x[: n * k].reshape(n, k).argmax(axis=1).astype(np.int32)
    return ExactMapping(part, seconds_of(problem, part), bound, answer.status == 0)


def _edges(problem: StreamProblem) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Return the ends u < v of each edge, and the bytes for which their two processors pay."""
    filters = problem.filters
    tails = np.repeat(np.arange(problem.n), np.diff(filters.offsets))
    once = tails < filters.ends
    return tails[once], filters.ends[once], filters.here[once], filters.there[once]


def _constraints(problem: StreamProblem, edges, work: FloatArray, scale: float):  # type: ignore[no-untyped-def]
    """Return the constraint matrix, and the lower and upper limits of its rows.

    The columns are (filter, processor), then (edge, processor, processor), then the period.
    """
    n, k, (u, v, here, there) = problem.n, problem.k, edges
    m, cost = len(u), problem.machine.cost / scale
    placed = np.arange(n * k).reshape(n, k)
    joined = n * k + np.arange(m * k * k).reshape(m, k, k)
    period = n * k + m * k * k
    rows, columns, values = [], [], []

    def add(row, column, value) -> None:  # type: ignore[no-untyped-def]
        row, column, value = np.broadcast_arrays(row, column, value)
        rows.append(row.ravel())
        columns.append(column.ravel())
        values.append(value.ravel())

    add(np.arange(n)[:, None], placed, 1.0)  # each filter is on one processor
    begin = n
    for ends, axes in ((u, (0, 1, 2)), (v, (0, 2, 1))):  # an edge's pair is that of its ends
        row = begin + np.arange(m * k).reshape(m, k)
        add(row[:, :, None], joined.transpose(axes), 1.0)
        add(row, placed[ends], -1.0)
        begin += m * k
    loads = begin + np.arange(k)
    add(loads[None, :], placed, np.where(np.isfinite(work), work, 0.0))
    apart = np.where(np.eye(k, dtype=bool), 0.0, cost)
    add(loads[None, :, None], joined, here[:, None, None] * apart[None])
    add(loads[None, None, :], joined, there[:, None, None] * apart[None])
    add(loads, period, -1.0)
    shape = (begin + k, period + 1)
    entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    low = np.concatenate([np.ones(n), np.zeros(2 * m * k), np.full(k, -np.inf)])
    high = np.concatenate([np.ones(n), np.zeros(2 * m * k), np.zeros(k)])
    return coo_array(entries, shape).tocsr(), low, high
