"""Limits on the further weights of vertices that have several: memory beside work, or phases."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evener.arrays import FloatArray
from evener.errors import InfeasibleError, UsageError
from evener.graphs.graph import Graph
from evener.plans.partition import Further
from evener.platforms.platform import Platform
from evener.sizing.memory_capped import Sizes
from evener.sizing.rounding import limits

SHARES = ("speed", "memory", "equal")


def checked_shares(shares: Sequence[str], count: int) -> tuple[str, ...]:
    """Return what each of `count` weights follows: as given, or "speed" where none is.

    Raises UsageError for another number of them, for what none can follow, and where the first
    does not follow speed: it is the work that seconds are predicted from.
    """
    if not shares:
        return ("speed",) * count
    for name in shares:
        if name not in SHARES:
            known = ", ".join(SHARES)
            raise UsageError(f"weights cannot be shared by {name!r}", hint=f"There are: {known}.")
    if len(shares) != count:
        weights = "weight" if count == 1 else "weights"
        raise UsageError(
            f"{len(shares)} shares ({','.join(shares)}) for {count} {weights} a vertex",
            hint="Give one for each weight, in their order.",
        )
    if shares[0] != "speed":
        raise UsageError(
            f"the first weight cannot be shared by {shares[0]}: it is the work that speeds are for",
            hint="Put the weight that is work first.",
        )
    return tuple(shares)


def further_limits(
    graph: Graph, platform: Platform, epsilon: float, constraint: int, by: str, sizes: Sizes
) -> Further:
    """Return the limits (1 -+ epsilon) of each device's block on weight number `constraint`.

    Weights of 0 and 1 have sums that are whole numbers: limits are those of `limits`. By "speed",
    devices get what they get of the first weight, also where memory limits that. Raises
    InfeasibleError where the weight of all vertices is 0, or more than a number holds;
    UsageError where it shall follow memory and a device has none stated.
    """
    weights = graph.weights(constraint)
    with np.errstate(over="ignore"):
        load = float(weights.sum(dtype=np.float64))
    if not 0 < load < np.inf:
        raise InfeasibleError(
            f"the vertex weights number {constraint} add up to {load:g}: there is no load to divide"
        )
    share = _shares(platform, by, sizes)
    targets = load * (share / share.sum())
    whole = bool(((weights == 0) | (weights == 1)).all())
    low, high = limits(targets, epsilon, np.full(platform.k, np.inf), whole=whole)
    return Further(targets, low, high, by)


def _shares(platform: Platform, by: str, sizes: Sizes) -> FloatArray:
    if by == "speed":
        return sizes.targets
    if by == "equal":
        return np.ones(platform.k)
    for memories in (platform.memories, platform.memory_units):
        if np.isfinite(memories).all():
            return np.asarray(memories / memories.max(), np.float64)
    unknown = ~(np.isfinite(platform.memories) | np.isfinite(platform.memory_units))
    name = platform.names[int(np.argmax(unknown))]
    raise UsageError(
        f"a weight is to be shared by memory, but the memory of device {name!r} is not stated"
        if unknown.any()
        else "a weight is to be shared by memory, but some memories are in bytes, others in units",
        hint="Give memory_GiB for every device in the machine file.",
    )
