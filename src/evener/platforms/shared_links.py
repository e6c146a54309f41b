"""Links that several pairs of devices share, and which of them each message passes.

In a shared level, every child has one link to the level's switch, which all traffic of the child
passes. A shared connection carries every route over it. Messages in both directions share one
bandwidth.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.platforms.network import ROUTE_ENTRIES
from evener.platforms.platform import Platform


@dataclass(frozen=True, eq=False)
class SharedRoutes:
    """Pair i passes the shared links link[starts[i]:starts[i + 1]], the same in both directions.

    starts (pairs + 1,) int64; link (r,) int32; beta (s,) of the shared links [s/B].
    """

    starts: IntArray
    link: IntArray
    beta: FloatArray

    @property
    def pair(self) -> IntArray:
        """The pair of each entry of link, (r,)."""
        return np.repeat(np.arange(self.starts.size - 1), np.diff(self.starts))

    def seconds(self, n_bytes: FloatArray) -> FloatArray:
        """Return the time each shared link takes if each pair sends n_bytes (pairs,): (s,) [s]."""
        loads = np.bincount(self.link, n_bytes[self.pair], self.beta.size)
        return np.asarray(loads * self.beta, np.float64)


def shared_routes(platform: Platform, p: IntArray, q: IntArray) -> SharedRoutes:
    """Return which shared links the messages between devices p[i] and q[i] pass; O(pairs x hops).

    p, q (pairs,) numbers of devices.
    """
    p, q = np.asarray(p), np.asarray(q)
    if platform.connections:
        pair, link, beta = _over_connections(platform, np.minimum(p, q), np.maximum(p, q))
    else:
        pair, link, beta = _over_levels(platform, p, q)
    order = np.argsort(pair, kind="stable")
    starts = np.searchsorted(pair[order], np.arange(p.size + 1))
    return SharedRoutes(starts, link[order].astype(np.int32), beta)


def shared_names(platform: Platform) -> list[str]:
    """Return the name of each shared link, in order: "n0 - network", "a - switch"."""
    if platform.connections:
        network = platform.network
        ends = np.array([divmod(int(key), len(network.names)) for key in network.keys])
        return [
            f"{network.names[a]} - {network.names[b]}"
            for (a, b), shared in zip(ends.tolist(), network.shared, strict=True)
            if shared and a < b
        ]
    names = []
    for depth, level in enumerate(platform.levels):
        if level.shared:
            codes = _children(platform, depth)
            first = np.unique(codes, return_index=True)[1]
            names += [f"{_place(platform, int(b), depth)} - {level.name}" for b in first]
    return names


def _over_levels(
    platform: Platform, p: IntArray, q: IntArray
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return pairs, the shared links they pass, and the links' beta: two links per level."""
    pairs: list[IntArray] = [_NOTHING]
    links: list[IntArray] = [_NOTHING]
    betas: list[FloatArray] = [np.empty(0)]
    before = 0
    for depth, level in enumerate(platform.levels):
        if not level.shared:
            continue
        codes = _children(platform, depth)
        apart = np.flatnonzero(codes[p] != codes[q])
        for end in (p, q):
            pairs.append(apart)
            links.append(before + codes[end[apart]])
        count = int(codes.max()) + 1
        betas.append(np.full(count, level.link.beta))
        before += count
    return np.concatenate(pairs), np.concatenate(links), np.concatenate(betas)


def _children(platform: Platform, depth: int) -> IntArray:
    """Return the child of a level to which each device belongs, (k,); at the last level, itself."""
    last = depth == len(platform.levels) - 1
    return np.arange(platform.k) if last else platform.places[depth]


def _place(platform: Platform, b: int, depth: int) -> str:
    device = platform.devices[b]
    parts = [part for part in device.at.split("/") if part]
    is_child = depth < len(platform.levels) - 1 and len(parts) > depth
    return "/".join(parts[: depth + 1]) if is_child else device.name


def _over_connections(
    platform: Platform, p: IntArray, q: IntArray
) -> tuple[IntArray, IntArray, FloatArray]:
    """Like _over_levels, along the cheapest routes from q to p; sources in groups."""
    from scipy.sparse.csgraph import dijkstra

    network = platform.network
    size = len(network.names)
    a, b = np.divmod(network.keys, size)
    counted = network.shared & (a < b)
    number = np.cumsum(counted) - 1  # of a shared link, by its key with the smaller place first
    pairs, links = [_NOTHING], [_NOTHING]
    sources = np.unique(p)
    step = max(ROUTE_ENTRIES // size, 1)
    for start in range(0, sources.size, step) if counted.any() else ():
        chunk = sources[start : start + step]
        previous = dijkstra(network.usual, indices=network.home[chunk], return_predecessors=True)[1]
        mine = np.flatnonzero((p >= chunk[0]) & (p <= chunk[-1]))
        row, place = np.searchsorted(chunk, p[mine]), network.home[q[mine]].astype(np.int64)
        while mine.size:
            ahead = previous[row, place].astype(np.int64)
            under_way = ahead >= 0
            mine, row = mine[under_way], row[under_way]
            place, ahead = place[under_way], ahead[under_way]
            key = np.minimum(place, ahead) * size + np.maximum(place, ahead)
            at = np.searchsorted(network.keys, key)
            passed = network.shared[at]
            pairs.append(mine[passed])
            links.append(number[at[passed]])
            place = ahead
    return np.concatenate(pairs), np.concatenate(links), network.costs[counted, 1]


_NOTHING = np.empty(0, np.int64)
