"""What the ranks of a program observe, compared with each other and put together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from evener.arrays import FloatArray
from evener.errors import InputError
from evener.rebalancing.decider import MAX_TIME, IterationSpan
from evener.rebalancing.held_data import Observation, checked_observation
from evener.running.comm import Comm
from evener.sliced.gathering import agreed, raised_everywhere


class _Told(NamedTuple):
    """What a rank tells the others; has: whether it passes work and numbers, None: either way."""

    times: FloatArray
    span: IterationSpan
    has: tuple[bool | None, bool | None]


def agreed_observation(
    comm: Comm, given: Observation, names: Sequence[str], rows: int
) -> tuple[FloatArray, IterationSpan, bool]:
    """Return the times (k,) of all devices and the span, put together of those of all ranks.

    And whether they pass work.

    names (k,): of the devices; rows: of this rank, of which work is asked where there are any.
    Raises InputError on all ranks where one passes what is no observation, or where they differ.
    """

    def own() -> _Told:
        times, span = checked_observation(given, len(names))
        has_work = given.work is not None if rows or given.numbers is not None else None
        return _Told(times, span, (has_work, given.numbers is not None))

    told = comm.allgather(agreed(comm, own))
    with raised_everywhere():
        times, span = _joined(told, names)
    return times, span, any(one.has[0] for one in told)


def _joined(told: Sequence[_Told], names: Sequence[str]) -> tuple[FloatArray, IterationSpan]:
    for place, name in enumerate(("work", "numbers")):
        by = {one.has[place]: rank for rank, one in reversed(list(enumerate(told)))}
        if True in by and False in by:
            raise InputError(
                f"rank {by[True]} passes {name}, rank {by[False]} does not",
                hint="Either all ranks pass them, or none.",
            )
    first = told[0].span
    for rank, (_, span, _) in enumerate(told):
        if (span.iterations, span.left) != (first.iterations, first.left):
            raise InputError(
                f"rank {rank}: times are means of {span.iterations:g} iterations and {span.left:g} "
                f"are left, by rank 0 {first.iterations:g} and {first.left:g}"
            )
    seconds = [one.span.seconds for one in told if np.isfinite(one.span.seconds)]
    return _times(told, names), first._replace(seconds=max(seconds, default=np.inf))


def _times(told: Sequence[_Told], names: Sequence[str]) -> FloatArray:
    """Return the time of each device that some rank knows, NaN of others."""
    times = np.full(len(names), np.nan)
    by = np.full(len(names), -1)
    for rank, one in enumerate(told):
        known = np.isfinite(one.times)
        differ = np.flatnonzero(known & (by >= 0) & (one.times != times))
        if differ.size:
            b = int(differ[0])
            raise InputError(
                f"rank {rank}: {names[b]} took {one.times[b]:.6g} s, but {times[b]:.6g} s by rank "
                f"{by[b]}",
                hint="A rank passes the times of its own devices, and None for others; or all "
                "pass the same.",
            )
        times[known], by[known] = one.times[known], rank
    return times


def longest(comm: Comm, seconds: float) -> float:
    """Return the most seconds that a rank has measured; NaN where one is no time."""
    own = agreed(comm, lambda: float(seconds))
    told = np.array(comm.allgather(own))
    return float(told.max()) if ((told >= 0) & (told < MAX_TIME)).all() else np.nan
