"""Steps of a program: found from its collective calls, with the activity of each rank in them.

All ranks of a program make the same collective calls in the same order. Calls of one kind (function
and bytes) mark steps if they recur regularly: a step begins at every n-th of them. Of all such
kinds, this module uses the kind with the longest steps; in a solver with inner iterations, this is
the time step. Numbers of calls are compared, not times, so that noise does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.errors import InputError
from evener.tuning.traces import RankTrace
from evener.wording import plural

FUNCTIONS = (
    "", "Barrier", "Bcast", "Reduce", "Allreduce", "Scan", "Exscan", "Reduce_scatter_block",
    "Reduce_scatter", "Allgather", "Gather", "Scatter", "Alltoall", "Allgatherv", "Gatherv",
    "Scatterv", "Alltoallv", "Alltoallw", "Ibarrier", "Iallreduce", "Ibcast", "Neighbor_alltoall",
    "Neighbor_alltoallv", "Neighbor_allgather", "Neighbor_allgatherv",
)  # fmt: skip
ALLREDUCE = FUNCTIONS.index("Allreduce")
FEWEST = 8  # least number of steps
LONGEST = 64  # most marks per step
UNEXPLAINED = 0.25  # share of the variance of gaps up to which they count as periodic
PIECES = 20  # number of pieces of the time if no steps are recognised
START, END = 0.25, 0.95  # shares of the run between which it is examined
LONG = 2.5  # multiple of the median above which a step is omitted: it may write output, for example


@dataclass(frozen=True, eq=False)
class Steps:
    """The steady steps of a run.

    mark: the call at which steps begin; None: no steps were recognised, and the run is cut into
    pieces of equal time. found: number of steps in the whole run. left_out: number of steps of the
    steady part that were omitted because they took far longer than the others. Arrays (s, k), for
    each steady step and rank: seconds: duration [s]; computing: time outside MPI [s]; exchanging,
    collective [s]: time in MPI; delayed [s]: time ready to run without a core; sent [bytes].
    """

    mark: str | None
    found: int
    left_out: int
    seconds: FloatArray
    computing: FloatArray
    exchanging: FloatArray
    collective: FloatArray
    delayed: FloatArray
    sent: FloatArray


def steps_of(traces: Sequence[RankTrace], every: int | None = None) -> Steps:
    """Return the steady steps of a run; traces: of all ranks.

    every: a step begins at every `every`-th call of Allreduce; None: steps are recognised. Raises
    InputError if the program ended too soon, or made too few such calls.
    """
    first = max(trace.first for trace in traces)
    marks = [_Marks.of(trace, first) for trace in traces]
    count = min(one.kind.size for one in marks)
    kinds = marks[0].kind[:count]
    if every is not None:
        places = np.flatnonzero(kinds >> 40 == ALLREDUCE)[::every]
        mark: str | None = f"every {every:,} calls of Allreduce"
        if places.size < FEWEST + 1:
            raise InputError(
                f"the ranks called Allreduce {np.count_nonzero(kinds >> 40 == ALLREDUCE):,} times, "
                f"too few for {FEWEST} steps of {every:,}",
                hint="Let the program run longer, or give a smaller --step-every.",
            )
    else:
        places, mark = _recognised(kinds, marks[0].at[:count])
    if mark is None:
        return _pieces(traces)
    at = np.column_stack([one.at[places] for one in marks])
    sums = np.stack([one.sums[places] for one in marks], axis=1)
    found = places.size - 1
    begin, end = int(START * found), max(found - 1, 1)
    return _steady(mark, found, at[begin : end + 1], sums[begin : end + 1])


@dataclass(frozen=True, eq=False)
class _Marks:
    """The collective calls of a rank, beginning with call number `first`."""

    kind: npt.NDArray[np.int64]
    at: FloatArray
    sums: FloatArray

    @classmethod
    def of(cls, trace: RankTrace, first: int) -> _Marks:
        chosen = np.flatnonzero(trace.kind)[first - trace.first :]
        return cls(trace.kind[chosen], trace.at[chosen], trace.sums[chosen])


def _recognised(
    kinds: npt.NDArray[np.int64], at: FloatArray
) -> tuple[npt.NDArray[np.int64], str | None]:
    """Return the calls at which steps begin, and the name of their mark, or None."""
    longest, best, mark = 0.0, np.empty(0, np.int64), None
    known, counts = np.unique(kinds, return_counts=True)
    for index in np.argsort(counts, kind="stable"):  # the rarest first, as its name is the simplest
        kind = known[index]
        if counts[index] <= FEWEST:
            continue
        places = np.flatnonzero(kinds == kind)
        gaps = np.log(np.diff(places))
        period = _period(gaps[int(START * gaps.size) : -int((1 - END) * gaps.size) or None])
        begins = places[::period] if period else places[:0]
        if begins.size <= FEWEST or at[begins[-1]] - at[begins[0]] < (at[-1] - at[0]) / 2:
            continue
        seconds = float(at[begins[-1]] - at[begins[0]]) / (begins.size - 1)
        if seconds > 1.02 * longest:
            times = "each" if period == 1 else f"every {period:,} calls of"
            name = f"{FUNCTIONS[int(kind) >> 40]} of {plural(int(kind) & (2**40 - 1), 'byte')}"
            longest, best, mark = seconds, begins, f"{times} {name}"
    return best, mark


def _period(gaps: FloatArray) -> int:
    """Return the number of gaps after which the gaps repeat, or 0 if they do not.

    gaps: logarithms of the numbers of calls between calls of one kind, in the steady part only, as
    setting up a program makes other calls.
    """
    variance = gaps.var()
    if variance < 1e-12:
        return 1
    most = min(LONGEST, gaps.size // FEWEST)
    unlike = np.array([
        np.mean((gaps[lag:] - gaps[:-lag]) ** 2) / (2 * variance) for lag in range(1, most + 1)
    ])  # fmt: skip
    if unlike.size == 0 or unlike.min() > UNEXPLAINED:
        return 0
    return int(np.flatnonzero(unlike <= 1.25 * unlike.min() + 0.02)[0]) + 1


def _pieces(traces: Sequence[RankTrace]) -> Steps:
    """Return equal pieces of the run's time instead of steps."""
    end = min(trace.seconds for trace in traces)
    begin = max(START * end, *(float(trace.at[0]) if trace.at.size else end for trace in traces))
    if not 0 < begin < END * end:
        raise InputError(
            f"the ranks called MPI for {end:.3g} s only: too short to be measured",
            hint="Let the program run longer.",
        )
    cuts = np.linspace(begin, END * end, PIECES + 1)
    at = np.repeat(cuts[:, None], len(traces), axis=1)
    sums = np.stack([
        np.column_stack([np.interp(cuts, trace.at, column) for column in trace.sums.T])
        for trace in traces
    ], axis=1)  # fmt: skip
    return _steady(None, PIECES, at, sums)


def _steady(mark: str | None, found: int, at: FloatArray, sums: FloatArray) -> Steps:
    """Return the differences of at (s + 1, k) and sums (s + 1, k, 4), without long steps."""
    seconds, parts = np.diff(at, axis=0), np.diff(sums, axis=0)
    lengths = np.median(seconds, axis=1)
    usual = lengths <= LONG * np.median(lengths)
    seconds, parts = seconds[usual], parts[usual]
    exchanging, collective, delayed, sent = np.moveaxis(parts, 2, 0)
    computing = np.maximum(seconds - exchanging - collective, 0)
    left_out = int(usual.size - np.count_nonzero(usual))
    return Steps(mark, found, left_out, seconds, computing, exchanging, collective, delayed, sent)
