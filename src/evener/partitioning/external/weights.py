"""Real weights as the whole numbers that tools want, without anybody scaling by hand."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evener.partitioning.external.jobs import Job

# Rounding the smallest weight to a whole number of half a million moves it by 1e-6 at most.
FINEST = 5e5
# Totals a tool can hold with room for its own sums: doubles are exact to 2^53; a 32-bit signed
# integer ends at 2^31 - 1, and blocks may be epsilon above their targets.
LIMIT_64 = 2**52
LIMIT_32 = 2**30


class Whole(NamedTuple):
    """Whole weights int64, the factor they were multiplied by, and a remark if they are coarse."""

    values: npt.NDArray[np.int64]
    scale: float
    note: str | None


def whole_weights(values: npt.NDArray[Any], limit: int, *, least: int = 0) -> Whole:
    """Return non-negative weights as whole numbers whose total is at most about `limit`.

    Whole numbers within the limit are kept. Others are multiplied so that the smallest positive
    one is rounded by 1e-6 of itself at most, or less finely where the limit forbids it, which
    `note` then tells. `least` is the smallest whole number that a positive weight may become.
    """
    total = float(values.sum(dtype=np.float64)) if values.size else 0.0
    rounded = values if values.dtype.kind in "iu" else np.rint(values)
    if total <= limit and (rounded is values or bool((rounded == values).all())):
        return Whole(rounded.astype(np.int64), 1.0, None)
    smallest = float(values[values > 0].min())
    scale = min(FINEST / smallest, limit / total)
    whole = np.rint(values * scale).astype(np.int64)
    if least:
        np.maximum(whole, least, out=whole, where=values > 0)
    if scale * smallest >= FINEST * (1 - 1e-12):
        return Whole(whole, scale, None)
    step = f"weights are rounded to multiples of {1 / scale:.3g} for it"
    return Whole(whole, scale, step)


def vertex_weights(job: Job, limit: int) -> Whole:
    """Return (n,) whole vertex weights of the job; ones where it has none."""
    if job.vwgt is None:
        return Whole(np.ones(job.n, np.int64), 1.0, None)
    return whole_weights(job.vwgt, limit)


def edge_weights(job: Job, limit: int) -> Whole:
    """Return (2m,) whole edge weights of the job, positive; ones where it has none."""
    if job.adjwgt is None:
        return Whole(np.ones(job.adjncy.size, np.int64), 1.0, None)
    return whole_weights(job.adjwgt, limit, least=1)


def heaviest_blocks(job: Job, total: int) -> npt.NDArray[np.int64]:
    """Return (k,) the most each block may weigh, for whole vertex weights that add up to `total`.

    (1 + epsilon) times the target rounded down, but never less than the target rounded up: a
    block of a target of 3 units could otherwise hold neither 3.09 nor more than 3.
    """
    targets = job.targets * (total / job.targets.sum())
    slop = 1e-9 * targets  # targets such as 96.00000000000001 are 96
    highest = np.floor((1 + job.epsilon) * targets + slop)
    return np.asarray(np.maximum(highest, np.ceil(targets - slop)), np.int64)


def remarks(*weights: Whole) -> tuple[str, ...]:
    """Return the distinct notes of several roundings."""
    return tuple(dict.fromkeys(w.note for w in weights if w.note is not None))
