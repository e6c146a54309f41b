"""Networks: places joined by links, the cheapest routes over them, and common topologies."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np

from evener.arrays import BoolArray, FloatArray, IntArray
from evener.errors import InputError
from evener.platforms.device import Connection, Device, Link

ROUTE_ENTRIES = 1 << 20  # max. places x sources whose routes are computed at a time


class Network(NamedTuple):
    """Places joined by links.

    usual: cost of a message of 1 KiB between joined places, sparse (size, size) [s]. keys (m,):
    sorted keys a x size + b of the joined pairs. costs (m, 2): alpha and beta; shared (m,): whether
    the link is shared. home (k,): each device's place. names (size,): the places' names.
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
        """Combine costs along the cheapest routes from p to q: row i of (c, links) by ufunc i.

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
    """Combine costs along the route from each place to its root.

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


KINDS = ("mesh", "torus", "star", "fat-tree")


def mesh_links(
    names: Sequence[str], shape: Sequence[int], link: Link, *, wrap: bool = False
) -> list[Connection]:
    """Return the links between neighbours in a mesh of this shape, with the last dimension fastest.

    wrap: also between the first and the last of each row of three or more, which makes it a torus.
    Raises InputError if the number of places in the shape differs from the number of names.
    """
    if prod(shape) != len(names):
        said = "x".join(map(str, shape))
        raise InputError(
            f"a mesh of {said} has {prod(shape):,} places, but there are {len(names):,} devices"
        )
    place_of = {place: i for i, place in enumerate(product(*map(range, shape)))}
    links = []
    for place, i in place_of.items():
        for axis, extent in enumerate(shape):
            ahead = place[axis] + 1
            if ahead == extent and not (wrap and extent > 2):
                continue
            other = place_of[(*place[:axis], ahead % extent, *place[axis + 1 :])]
            links.append(Connection((names[i], names[other]), link))
    return links


def star_links(names: Sequence[str], link: Link, switch: str) -> list[Connection]:
    """Return a link from each device to one switch. Raises the errors of `fat_tree_links`."""
    _refuse_taken(names, [switch])
    return [Connection((name, switch), link) for name in names]


def fat_tree_links(names: Sequence[str], arity: int, link: Link, switch: str) -> list[Connection]:
    """Return the links of a fat tree [Leiserson85]_ with `arity` devices or switches per switch.

    An upward link has the total bandwidth of all devices below it. Switch names begin with
    `switch`: switch1.0 at the lowest level, switch2.0 above. Raises InputError if a device has such
    a name, and for an arity below 2.
    """
    if arity < 2:
        raise InputError(f"the arity of a fat tree must be >= 2, not {arity}")
    below, sizes, links, level = list(names), [1] * len(names), list[Connection](), 0
    while level == 0 or len(below) > 1:
        level += 1
        groups = range(0, len(below), arity)
        above = [f"{switch}{level}.{i}" for i in range(len(groups))]
        _refuse_taken(names, above)
        for i, (one, size) in enumerate(zip(below, sizes, strict=True)):
            fat = Link(link.alpha, link.beta / size)
            links.append(Connection((one, above[i // arity]), fat))
        below, sizes = above, [sum(sizes[first : first + arity]) for first in groups]
    return links


def _refuse_taken(names: Sequence[str], switches: Sequence[str]) -> None:
    taken = set(names).intersection(switches)
    if taken:
        raise InputError(
            f"a switch and a device both have the name {min(taken)!r}",
            hint="Give the network another name: its switches are named after it.",
        )
