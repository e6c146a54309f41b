"""Networks: places joined by links, and the cheapest routes over them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from evener.arrays import BoolArray, FloatArray, IntArray
from evener.platforms.device import Connection, Device, Link

ROUTE_ENTRIES = 1 << 20  # max. places x sources whose routes are computed at a time


class Network(NamedTuple):
    """Places joined by links.

    usual: usual costs between places, sparse (size, size) [s]. keys (m,): sorted keys a x size + b
    of the joined pairs. costs (m, 2): alpha and beta; shared (m,): whether the link is shared. home
    (k,): each device's place. names (size,): the places' names.
    """

    usual: Any
    keys: IntArray
    costs: FloatArray
    shared: BoolArray
    home: IntArray
    names: tuple[str, ...]

    def routed(
        self, p: IntArray, q: IntArray, costs: FloatArray, joined: Sequence[np.ufunc]
    ) -> list[FloatArray]:
        """Combine each row of costs (c, links) along the cheapest routes, by its ufunc.

        Routes are the same both ways; sources are processed in groups.
        """
        from scipy.sparse.csgraph import dijkstra

        network, keys, home = self.usual, self.keys, self.home
        p, q = np.minimum(p, q), np.maximum(p, q)
        results = [np.zeros(np.shape(p)) for _ in joined]
        sources = np.unique(p)
        step = max(ROUTE_ENTRIES // network.shape[0], 1)
        for start in range(0, sources.size, step):
            chunk = sources[start : start + step]
            _, previous = dijkstra(network, indices=home[chunk], return_predecessors=True)
            mine = np.flatnonzero((p >= chunk[0]) & (p <= chunk[-1]))
            row, column = np.searchsorted(chunk, p[mine]), home[q[mine]]
            for result, cost, join in zip(results, costs, joined, strict=True):
                result[mine] = _joined_to_root(previous, keys, cost, join)[row, column]
        return results


def network_of(devices: Sequence[Device], connections: Sequence[Connection]) -> Network:
    """Return the places that connections join, the places of devices, and the costs of links."""
    from scipy.sparse import coo_array

    ends = (end for connection in connections for end in connection.between)
    places = {name: i for i, name in enumerate(dict.fromkeys(ends))}
    size = len(places)
    best: dict[int, Connection] = {}
    for connection in connections:
        a, b = (places[end] for end in connection.between)
        for key in (a * size + b, b * size + a):
            if key not in best or _usual_cost(connection.link) < _usual_cost(best[key].link):
                best[key] = connection
    keys = np.array(sorted(best), np.int64)
    taken = [best[key] for key in keys.tolist()]
    links = [connection.link for connection in taken]
    # A free link gets a tiny cost, because a sparse graph drops zeros.
    usual = np.array([max(_usual_cost(link), 1e-30) for link in links])
    network = coo_array((usual, np.divmod(keys, size)), (size, size)).tocsr()
    home = np.array([places[d.name if d.name in places else d.at] for d in devices])
    costs = np.array([[link.alpha, link.beta] for link in links]).reshape(-1, 2)
    shared = np.array([connection.shared for connection in taken], np.bool_)
    return Network(network, keys, costs, shared, home, tuple(places))


def _usual_cost(link: Link) -> float:
    return link.alpha + link.beta * 1024


def _joined_to_root(
    previous: IntArray, keys: IntArray, costs: FloatArray, join: np.ufunc
) -> FloatArray:
    """Combine costs along each route.

    previous (k, size): the previous place on the route from the k-th root, negative at the root;
    keys (m,) of the links, sorted, and their costs (m,). Every place doubles its stride towards the
    root until all have reached it: log2(longest route) rounds.
    """
    k, size = previous.shape
    own = np.broadcast_to(np.arange(size), (k, size))
    at_root = previous < 0
    ahead = np.where(at_root, own, previous)
    place = np.searchsorted(keys, ahead.astype(np.int64) * size + own)
    total = np.where(at_root, 0.0, costs[np.minimum(place, costs.size - 1)])
    while True:
        further = np.take_along_axis(ahead, ahead, axis=1)
        if (further == ahead).all():
            return total
        total = join(total, np.take_along_axis(total, ahead, axis=1))
        ahead = further
