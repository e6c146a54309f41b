"""Platform: a machine of devices and links. Their classes, of device.py, can be imported here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray
from evener.errors import InputError
from evener.platforms.device import (
    Connection,
    Device,
    Level,
    Link,
    beside_hosts,
    parts_of,
)
from evener.platforms.faults import find_fault
from evener.platforms.network import Network, network_of
from evener.wording import from_above, plural, spread, two_lines

__all__ = ["MAX_DEVICES", "RELATIVE", "Connection", "Device", "Level", "Link", "Platform"]

# Max. devices, about 0.5 GB of memory: a small file must not ask for more than a laptop has.
MAX_DEVICES = 2_000_000
MOST_TABLED = 1024  # max. devices for which the costs of all routes are kept in a table
RELATIVE = 100.0  # units/s; speeds up to this, on a machine without links, are taken as relative


@dataclass(frozen=True)
class Platform:
    """Devices as leaves of a tree of levels, or joined by any graph of links.

    With levels, two devices use the link of the deepest level they share: all share level 0; two
    whose `at` agree in the first i parts share level i. With connections, the endpoints are
    devices' names, places (`at`) at which devices sit without cost, or switches, which join two
    or more links; the route is the one of least alpha + beta x 1 KiB. With neither,
    communication is free. A device with a host, and without a place or link of its own, is where
    its host is; it is in its host's computer in any case.

    Raises InputError for no device, duplicate names, places deeper than the levels, connections
    to unknown places, pairs of devices that nothing joins, levels given beside connections, and
    computers called as a device of another one, or unlike that of the host.
    """

    devices: tuple[Device, ...]
    levels: tuple[Level, ...] = ()
    connections: tuple[Connection, ...] = ()
    name: str = ""

    def __post_init__(self) -> None:
        given = tuple(self.devices) if isinstance(self.devices, Iterable) else (self.devices,)
        if not all(isinstance(one, Device) for one in given):
            raise InputError(
                "a Platform is made of Device objects",
                hint="Platform.flat([1, 2, 4]) makes a platform from speeds.",
            )
        object.__setattr__(self, "devices", beside_hosts(given, self.connections))
        object.__setattr__(self, "levels", tuple(self.levels))
        object.__setattr__(self, "connections", tuple(self.connections))
        fault = find_fault(self.devices, self.levels, self.connections)
        if fault is not None:
            raise InputError(fault.message, hint=fault.hint)

    def __repr__(self) -> str:
        names = f"{self.names[0]!r} to {self.names[-1]!r}" if self.k > 1 else repr(self.names[0])
        links = plural(len(self.levels), "level") if self.levels else "no links"
        links = plural(len(self.connections), "link") if self.connections else links
        capped = int((np.isfinite(self.memories) | np.isfinite(self.memory_units)).sum())
        memory = f"memory of {capped:,} stated" if capped else "no memory stated"
        second = f"speeds {spread(self.speeds)}", memory, links
        return two_lines("Platform", [plural(self.k, "device"), names], second)

    def _repr_html_(self) -> str:
        html: str = from_above("evener.reporting.notebook:platform_html")(self)
        return html

    @property
    def k(self) -> int:
        """Number of devices."""
        return len(self.devices)

    @cached_property
    def names(self) -> list[str]:
        """The devices' names, in order; not to be changed."""
        return [device.name for device in self.devices]

    @property
    def has_links(self) -> bool:
        """Whether links are stated, so that communication has a cost."""
        return bool(self.levels or self.connections)

    def relative_ideal(self, work: float) -> float | None:
        """Return what `work` takes at the speed of all devices, if speeds are relative; else None.

        They are where nothing states a time, no link, curve or fixed seconds, and no speed is above
        RELATIVE: of real devices no unit takes a hundredth of a second. Seconds then mean nothing,
        but their ratio to this does.
        """
        timed = self.has_links or self.has_curves or bool(self.fixed_seconds.any())
        if timed or self.speeds.max() > RELATIVE or not work > 0:
            return None
        return work / float(self.speeds.sum())

    @cached_property
    def has_curves(self) -> bool:
        """Whether the speed of some device depends on its load (evener.platforms.with_curves)."""
        return any(device.curve is not None for device in self.devices)

    @cached_property
    def has_shared(self) -> bool:
        """Whether some link is shared by several pairs; see evener.platforms.shared_links."""
        return any(one.shared for one in self.levels) or any(one.shared for one in self.connections)

    @cached_property
    def fixed_seconds(self) -> FloatArray:
        """(k,) seconds that an iteration costs each device whatever its load [s]."""
        return np.array([device.fixed_seconds for device in self.devices])

    @cached_property
    def speeds(self) -> FloatArray:
        """(k,) speeds [units/s]."""
        return np.array([device.speed for device in self.devices])

    @cached_property
    def memories(self) -> FloatArray:
        """(k,) memory [B], infinity where there is no cap."""
        return _or_infinite([device.memory for device in self.devices])

    @cached_property
    def memory_units(self) -> FloatArray:
        """(k,) memory [units], infinity where there is no cap."""
        return _or_infinite([device.memory_units for device in self.devices])

    @cached_property
    def high_units(self) -> FloatArray:
        """(k,) most that a block may be [units]: memory_units and the user's own limit."""
        own = _or_infinite([device.high_units for device in self.devices])
        return np.minimum(own, self.memory_units)

    @cached_property
    def low_units(self) -> FloatArray:
        """(k,) least that a block may be, if it has anything, by the user's own limit [units]."""
        return np.array([device.low_units or 0.0 for device in self.devices])

    def shared_level(self, p: IntArray, q: IntArray) -> IntArray:
        """The deepest level each pair of devices p[i], q[i] shares; with itself, the depth."""
        shared = np.zeros(np.shape(p), np.int64)
        for level, codes in enumerate(self.places, start=1):
            shared += (shared == level - 1) & (codes[p] == codes[q])
        return np.where(np.equal(p, q), len(self.levels), shared)

    def link_costs(self, p: IntArray, q: IntArray) -> tuple[FloatArray, FloatArray]:
        """Alpha [s] and beta [s/B] between each pair of devices p[i], q[i]; zero with itself.

        Of a route over several links alpha is the sum, beta that of the narrowest: bytes flow
        over all of them at once.
        """
        if self.connections and self.k <= MOST_TABLED:
            alpha, beta = self._routes
            return alpha[p, q], beta[p, q]
        if self.connections:
            return self._routed(p, q)
        links = [[level.link.alpha, level.link.beta] for level in self.levels]
        costs = np.array([*links, [0, 0]], np.float64)
        level = self.shared_level(p, q)
        return costs[level, 0], costs[level, 1]

    def _routed(self, p: IntArray, q: IntArray) -> tuple[FloatArray, FloatArray]:
        alpha, beta = self.network.routed(p, q, self.network.costs.T, (np.add, np.maximum))
        return alpha, beta

    @cached_property
    def _routes(self) -> tuple[FloatArray, FloatArray]:
        """(k, k) alpha and beta of all pairs: they are asked for with every candidate."""
        alpha, beta = self._routed(*np.divmod(np.arange(self.k**2), self.k))
        return alpha.reshape(self.k, self.k), beta.reshape(self.k, self.k)

    def distances(self) -> FloatArray:
        """(k, k) seconds that a message of 1 KiB takes between each pair; by links of their own."""
        from scipy.sparse.csgraph import dijkstra

        home = self.network.home
        return np.asarray(dijkstra(self.network.usual, indices=home)[:, home])

    def hops(self, p: IntArray, q: IntArray) -> FloatArray:
        """Links between each pair of devices p[i], q[i]: on the route, or up the tree and down."""
        if self.connections:
            (count,) = self.network.routed(p, q, np.ones((1, self.network.keys.size)), (np.add,))
            return count
        hops = 2.0 * (len(self.levels) - self.shared_level(p, q))
        return np.where(np.equal(p, q), 0.0, hops)

    @cached_property
    def places(self) -> npt.NDArray[np.int64]:
        """(levels - 1, k): equal numbers where `at` agrees in the first 1, 2, ... parts."""
        parts = [parts_of(device.at) for device in self.devices]
        codes = np.empty((max(len(self.levels) - 1, 0), self.k), np.int64)
        before = np.zeros(self.k, np.int64)
        for depth, row in enumerate(codes, start=1):
            seen: dict[tuple[int, str], int] = {}
            for i, place in enumerate(parts):
                # A device that sits higher up shares nothing this deep with anyone.
                key = (int(before[i]), place[depth - 1]) if len(place) >= depth else (-1 - i, "")
                row[i] = seen.setdefault(key, len(seen))
            before = row
        return codes

    @cached_property
    def network(self) -> Network:
        """The places and the links between them; without connections, none."""
        return network_of(self.devices, self.connections)

    @classmethod
    def flat(cls, speeds: Sequence[float], *, memory: float | None = None) -> Platform:
        """Devices dev0, dev1, ... with these speeds [units/s] and free communication."""
        return cls(tuple(Device(f"dev{i}", float(s), memory=memory) for i, s in enumerate(speeds)))


def _or_infinite(values: list[float | None]) -> FloatArray:
    return np.array([np.inf if value is None else value for value in values], dtype=np.float64)


def with_only(platform: Platform, devices: Sequence[int]) -> Platform:
    """Return the platform with the devices of these indices alone, ascending.

    Links that lead only to devices left out are left out as well. Raises InputError for no device.
    """
    kept = tuple(platform.devices[i] for i in devices)
    if len(kept) == platform.k:
        return platform
    if len(kept) == 1:
        return replace(platform, devices=kept, connections=())
    return replace(platform, devices=kept, connections=_leading_on(platform.connections, kept))


def _leading_on(
    connections: Sequence[Connection], devices: Sequence[Device]
) -> tuple[Connection, ...]:
    """Return the connections without dead ends: places with no device and no further connection."""
    known = {device.name for device in devices} | {device.at for device in devices}
    left = list(connections)
    while True:
        times = Counter(end for one in left for end in one.between)
        led = [one for one in left if all(e in known or times[e] > 1 for e in one.between)]
        if len(led) == len(left):
            return tuple(left)
        left = led
