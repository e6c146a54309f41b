"""contract_for: the contract (target, low, high, memory) of every block of a graph."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evener.arrays import FloatArray
from evener.errors import InfeasibleError, UsageError
from evener.graphs.graph import Graph
from evener.io.accept import GraphLike, PlatformLike, as_graph, as_platform
from evener.plans.costs import MAX_PAIRED
from evener.plans.partition import RELATIVE_SLACK, Contract, Further
from evener.plans.workload import WEIGHTS, Workload
from evener.platforms.platform import Platform
from evener.sizing.bounds import lower_bound
from evener.sizing.curved import curved_sizes
from evener.sizing.facts import LoadFacts, facts_of
from evener.sizing.memory_capped import Sizes, target_sizes, unit_capacities
from evener.sizing.rounding import limits
from evener.wording import memory

SHARES = ("speed", "memory", "equal")  # what the targets of a vertex weight are proportional to


def contract_for(
    graph: GraphLike,
    platform: PlatformLike,
    epsilon: float = 0.03,
    constraint: int | None = None,
    shares: Sequence[str] = (),
    method: str = "auto",
) -> tuple[Contract, Sizes]:
    """Return the contract of the blocks of `graph`, and the sizes from which it was made.

    graph, platform: like the arguments of `plan`. method: a method of `solve_sizes`, for devices
    with speed curves. constraint: index of the vertex weight to divide, if vertices have several;
    None: divide all weights, with the sizes computed from the first. shares: for each weight, what
    its targets are proportional to: "speed" (required for the first weight), "memory" or "equal";
    if empty, "speed" for all.

    The targets assume that the bytes of a weighted graph are spread evenly over its weight; the
    caps in bytes limit the bytes that a block really contains. Every block gets at least one
    vertex, however small its target; the lows of other blocks are reduced if necessary. If vertices
    have weights, the i-th smallest high is at least the weight of the i-th lightest vertex, which
    may be above (1 + epsilon) x target. Vertices heavier than every high are assigned to the
    largest blocks, one vertex per block, and the highs of these blocks are the weights of these
    vertices.

    Raises InfeasibleError for more devices than vertices and for too little memory, UsageError for
    unknown shares, and for a method if no device has a speed curve.
    """
    graph, platform = as_graph(graph), as_platform(platform)
    among = range(graph.n_constraints) if constraint is None else (constraint,)
    chosen = checked_shares(shares, len(among))
    facts = facts_of(graph, platform, among[0])
    contract, sizes = contract_of_facts(facts, platform, epsilon, method)
    further = tuple(
        further_limits(graph, platform, epsilon, i, by, sizes)
        for i, by in zip(among[1:], chosen[1:], strict=True)
    )
    return replace(contract, further=further), sizes


def contract_of_facts(
    facts: LoadFacts, platform: Platform, epsilon: float = 0.03, method: str = "auto"
) -> tuple[Contract, Sizes]:
    """Like contract_for, but from the LoadFacts of a graph instead of the graph."""
    if platform.k > facts.n:
        raise InfeasibleError(
            f"there are {platform.k:,} devices but only {facts.n:,} vertices: a block would be "
            "empty",
            hint="Use fewer devices or a larger graph.",
        )
    if facts.load <= 0:
        raise InfeasibleError("all vertices have weight zero, so there is no load to divide")
    load, unit, density = facts.load, facts.unit, facts.total_bytes / facts.load
    if platform.has_curves:
        heaviest = 0.0 if unit else facts.heaviest
        sizes = curved_sizes(platform, load, epsilon=epsilon, unit=unit, bytes_per_unit=density,
                             heaviest=heaviest, method=method)  # fmt: skip
    elif method != "auto":
        raise UsageError(f"sizing by {method} needs speed curves, but no device has one")
    else:
        sizes = target_sizes(platform, load, epsilon=epsilon, unit=unit, bytes_per_unit=density)
    if unit:
        _refuse_too_small(facts.smallest, platform, sizes)
        sizes = _none_empty(sizes, facts.n)
    else:
        sizes = _room_for_one(_room_for_heavy(sizes, facts, platform, epsilon), facts, platform)
    return Contract(sizes.targets, sizes.low, sizes.high, platform.memories), sizes


def seconds_differ(platform: Platform) -> bool:
    """Return whether links between devices are known and there are 2 to MAX_PAIRED devices."""
    return platform.has_links and 1 < platform.k <= MAX_PAIRED


def contract_for_seconds(
    graph: Graph, platform: Platform, workload: Workload = WEIGHTS
) -> Contract:
    """Return the contract of a plan that minimises seconds.

    It limits memory, low_units and high_units, and permits unused devices; the evaluation adds the
    makespan. Its targets are for information only: the sizes that would be best without
    communication. graph: the graph as read, not the result of Workload.weighted.
    """
    loads = lower_bound(graph, platform, workload).loads
    return seconds_contract(loads, graph.total_weight, platform)


def seconds_contract(loads: FloatArray, total_weight: float, platform: Platform) -> Contract:
    """Like contract_for_seconds, but from the graph's total weight [units] instead of the graph.

    loads (k,) [units]: the loads of the lower bound, which become the targets.
    """
    most = np.minimum(unit_capacities(platform, 0.0), total_weight)
    low = np.minimum(platform.low_units, most)
    return Contract(loads, low, most, platform.memories, may_be_unused=True)


def _refuse_too_small(smallest: float, platform: Platform, sizes: Sizes) -> None:
    """Raise InfeasibleError if a device cannot hold one vertex, by its memory or high_units.

    smallest [B]: bytes of the vertex that needs least memory.
    """
    small = (sizes.high < 1) & ((platform.memories < smallest) | (platform.high_units < 1))
    if small.any():
        b = int(np.argmax(small))
        device = platform.devices[b]
        has = (
            f"{memory(device.memory)}, but the smallest vertex needs {memory(smallest)}"
            if device.memory is not None and device.memory < smallest
            else f"{platform.high_units[b]:,.6g} units, but a vertex has 1"
        )
        raise InfeasibleError(
            f"device {device.name!r} cannot hold a single vertex: it has {has}",
            hint="Leave the device out of the machine, or check its memory.",
        )


def _none_empty(sizes: Sizes, n: int) -> Sizes:
    """Return `sizes` with at least one vertex per block.

    These vertices are taken from the devices that finish last.
    """
    high = np.maximum(sizes.high, 1.0)
    low = _lowered(np.maximum(sizes.low, 1.0), n)
    counts = np.maximum(sizes.sizes, 1)
    latest = [(-counts[b] / sizes.speeds[b], b) for b in np.flatnonzero(counts > low).tolist()]
    heapq.heapify(latest)
    for _ in range(int(counts.sum() - n)):
        _, b = latest[0]
        counts[b] -= 1
        if counts[b] > low[b]:
            heapq.heapreplace(latest, (-counts[b] / sizes.speeds[b], b))
        else:
            heapq.heappop(latest)
    return replace(sizes, sizes=counts, low=low, high=high)


def _room_for_heavy(sizes: Sizes, facts: LoadFacts, platform: Platform, epsilon: float) -> Sizes:
    """Return `sizes` with limits such that each vertex heavier than every high fits into a block.

    The largest highs become the weights of these vertices, as far as high_units allow. Each low of
    the other blocks becomes at most (1 - epsilon) x its share of the remaining load, minus the
    weight of the next heaviest vertex.
    """
    count = int((facts.heavy > sizes.high.max() * (1 + RELATIVE_SLACK)).sum())
    if not count:
        return sizes
    order = np.argsort(-sizes.high, kind="stable")
    own, others = order[:count], order[count:]
    high, low = sizes.high.copy(), sizes.low.copy()
    high[own] = np.minimum(facts.heavy[:count], np.maximum(high[own], platform.high_units[own]))
    if others.size:
        left = max(facts.load - float(facts.heavy[:count].sum()), 0.0)
        share = left * sizes.targets[others] / sizes.targets[others].sum()
        next_heaviest = float(facts.heavy[count]) if facts.heavy.size > count else 0.0
        low[others] = np.minimum(low[others], np.maximum(share * (1 - epsilon) - next_heaviest, 0))
    low[own] = np.minimum(low[own], high[own])
    vertices = "a vertex weighs" if count == 1 else f"{count:,} vertices weigh each"
    note = f"{vertices} more than its block's limit, so this block is above its target"
    return replace(sizes, low=low, high=high, notes=(*sizes.notes, note))


def _room_for_one(sizes: Sizes, facts: LoadFacts, platform: Platform) -> Sizes:
    """Return `sizes` with the i-th smallest high raised to the weight of the i-th lightest vertex.

    Every block can then hold at least one vertex. Only vertices that fit into every memory are
    considered, and highs stay at most high_units. Lows are reduced if they would otherwise sum to
    more than the load.
    """
    needs = np.zeros(platform.k)
    order = np.argsort(sizes.high, kind="stable")[: facts.light.size]
    needs[order] = facts.light
    high = np.maximum(sizes.high, np.minimum(needs, platform.high_units))
    if (high == sizes.high).all():
        return sizes
    low, least = sizes.low, np.minimum(needs, high)
    spare = np.maximum(low - least, 0)
    over = float(np.maximum(low, least).sum() - facts.load)
    if over > 0 and spare.any():
        low = low - spare * min(1.0, over / spare.sum())
    return replace(sizes, low=low, high=high)


def _lowered(low: FloatArray, n: int) -> FloatArray:
    """Return lows that sum to at most n; each is reduced in proportion to its excess over 1."""
    low = low.copy()
    over = low.sum() - n
    while over > 0:
        # Each round takes at least one unit.
        spare = low - 1
        shave = np.floor(spare * min(1.0, over / spare.sum()))
        if shave.sum() == 0:
            shave[np.argsort(-spare, kind="stable")[: int(over)]] = 1
        low -= shave
        over = low.sum() - n
    return low


# If vertices have several weights: limits on the second and later ones.


def checked_shares(shares: Sequence[str], count: int) -> tuple[str, ...]:
    """Return the checked `shares` of `count` vertex weights, or all "speed" if `shares` is empty.

    Raises UsageError if there are not `count` shares, if a share is unknown, or if the first is not
    "speed": the first weight is the work from which seconds are predicted.
    """
    if not shares:
        return ("speed",) * count
    for name in shares:
        if name not in SHARES:
            known = ", ".join(SHARES)
            raise UsageError(f"weights cannot be divided by {name!r}", hint=f"There are: {known}.")
    if len(shares) != count:
        weights = "weight" if count == 1 else "weights"
        raise UsageError(
            f"there are {len(shares)} shares ({','.join(shares)}) for {count} {weights} per vertex",
            hint="Give one share per weight, in the order of the weights.",
        )
    if shares[0] != "speed":
        raise UsageError(
            f"the first weight must be divided by speed, not {shares[0]}: it is the work to which "
            f"speeds refer",
            hint="Put the weight that is the work first.",
        )
    return tuple(shares)


def further_limits(
    graph: Graph, platform: Platform, epsilon: float, constraint: int, by: str, sizes: Sizes
) -> Further:
    """Return the limits (1 -+ epsilon) x target of each block for the vertex weight `constraint`.

    If all weights are 0 or 1, the whole-number rule of `limits` applies. by: "speed" (the same
    shares as for the first weight), "memory" or "equal". Raises InfeasibleError if the weights sum
    to 0 or overflow, and UsageError if `by` is "memory" and the memory of a device is not stated
    or some memories are in bytes and others in units.
    """
    weights = graph.weights(constraint)
    with np.errstate(over="ignore"):
        load = float(weights.sum(dtype=np.float64))
    if not 0 < load < np.inf:
        raise InfeasibleError(
            f"vertex weights {constraint} add up to {load:g}, so there is no load to divide"
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
        f"dividing a weight by memory needs the memory of device {name!r}, which is not stated"
        if unknown.any()
        else (
            "dividing a weight by memory needs memories in one unit, but some are in bytes and "
            "others in units"
        ),
        hint="Give memory_GiB for every device in the machine file.",
    )


def limits_within_memory(
    contract: Contract, density: FloatArray, margin: float, heaviest: float = 0.0
) -> Contract:
    """Return limits on weights that keep blocks of this density (k,) [B/unit] within their memory.

    margin: fraction of a memory that is left free; it is reduced if all blocks together could
    otherwise not hold the load. Low limits are unchanged. Targets are as near to the contract's as
    the limits allow. heaviest: maximum weight of a vertex. A block's low and high limits differ by
    at least `heaviest`, if those of the contract do; between closer limits there may be no possible
    sum of weights.
    """
    load, low, high = float(contract.targets.sum()), contract.low, contract.high
    with np.errstate(divide="ignore", over="ignore"):
        fitting = np.where(density > 0, contract.caps / density, np.inf)
    for free in (margin, margin / 2, margin / 4, 0.0):
        most = np.maximum(np.minimum(high, fitting * (1 - free)), np.minimum(low + heaviest, high))
        middle = np.where(most < high, np.minimum(contract.targets, (low + most) / 2), np.inf)
        targets = np.minimum(contract.targets, middle)
        room = most - targets
        short = load - float(targets.sum())
        if short <= float(room.sum()):
            more = room * (short / room.sum()) if short > 0 else np.zeros(contract.k)
            return Contract(targets + more, low, most, contract.caps)
    return Contract(contract.targets, low, high, contract.caps)
