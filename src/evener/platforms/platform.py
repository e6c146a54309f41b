"""Platform: a machine of devices and links. The classes of device.py can be imported here."""

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
SPMV_SPEEDS = "rows of spmv a second"  # end of a platform's name if it has such speeds


@dataclass(frozen=True)
class Platform:
    """Devices as leaves of a tree of levels, or joined by any graph of links.

    With levels, two devices use the link of the deepest level they share: all share level 0; two
    devices whose `at` agree in the first i parts share level i. With connections, the endpoints are
    names of devices, places (`at`), which their devices reach without cost, or switches, which join
    two or more links; messages take the route with the smallest alpha + beta x 1 KiB. With neither,
    communication is free. A device with a host, but without a place or link of its own, is located
    at its host; it is always in its host's computer. Raises InputError for no device, duplicate
    names, places deeper than the levels, connections to unknown places, unconnected pairs of
    devices, levels together with connections, computers with the name of a device of another
    computer, and devices in another computer than their host.
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
        memory = f"memory stated for {capped:,}" if capped else "no memory stated"
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
        """The devices' names, in order; do not change the list."""
        return [device.name for device in self.devices]

    @property
    def has_links(self) -> bool:
        """Whether links are stated, so that communication has a cost."""
        return bool(self.levels or self.connections)

    def relative_ideal(self, work: float) -> float | None:
        """Return the time of `work` at the total speed of all devices, if speeds are relative.

        Returns None if they are not. Speeds are relative if nothing states a time, that is, there
        is no link, curve or fixed seconds, and no speed is above RELATIVE: on real devices no unit
        takes a hundredth of a second. Seconds then have no meaning, but their ratio to this time
        does.
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
        """Whether several pairs share some link; see evener.platforms.shared_links."""
        return any(one.shared for one in self.levels) or any(one.shared for one in self.connections)

    @cached_property
    def fixed_seconds(self) -> FloatArray:
        """Seconds per iteration of each device at any load, (k,) [s]."""
        return np.array([device.fixed_seconds for device in self.devices])

    @cached_property
    def speeds(self) -> FloatArray:
        """Speeds, (k,) [units/s]."""
        return np.array([device.speed for device in self.devices])

    @cached_property
    def memories(self) -> FloatArray:
        """Memories, (k,) [B], infinity if there is no limit."""
        return _or_infinite([device.memory for device in self.devices])

    @cached_property
    def memory_units(self) -> FloatArray:
        """Memories, (k,) [units], infinity if there is no limit."""
        return _or_infinite([device.memory_units for device in self.devices])

    @cached_property
    def high_units(self) -> FloatArray:
        """Largest possible block sizes, (k,) [units]: by memory_units and the user's limits."""
        own = _or_infinite([device.high_units for device in self.devices])
        return np.minimum(own, self.memory_units)

    @cached_property
    def low_units(self) -> FloatArray:
        """Smallest sizes of non-empty blocks, by the user's limits, (k,) [units]."""
        return np.array([device.low_units or 0.0 for device in self.devices])

    def shared_level(self, p: IntArray, q: IntArray) -> IntArray:
        """Return the deepest level that p[i] and q[i] share; the number of levels if equal."""
        shared = np.zeros(np.shape(p), np.int64)
        for level, codes in enumerate(self.places, start=1):
            shared += (shared == level - 1) & (codes[p] == codes[q])
        return np.where(np.equal(p, q), len(self.levels), shared)

    def link_costs(self, p: IntArray, q: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return alpha [s] and beta [s/B] between each pair of devices p[i], q[i]; zero if equal.

        For a route over several links, alpha is the sum, and beta is that of the slowest link:
        bytes flow over all links at the same time.
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
        """Alpha and beta of all pairs, (k, k), cached because they are used for every candidate."""
        alpha, beta = self._routed(*np.divmod(np.arange(self.k**2), self.k))
        return alpha.reshape(self.k, self.k), beta.reshape(self.k, self.k)

    def distances(self) -> FloatArray:
        """Seconds of a message of 1 KiB between each pair, (k, k); only with connections."""
        from scipy.sparse.csgraph import dijkstra

        home = self.network.home
        return np.asarray(dijkstra(self.network.usual, indices=home)[:, home])

    def hops(self, p: IntArray, q: IntArray) -> FloatArray:
        """Return the number of links between devices p[i] and q[i], on the route or in the tree."""
        if self.connections:
            (count,) = self.network.routed(p, q, np.ones((1, self.network.keys.size)), (np.add,))
            return count
        hops = 2.0 * (len(self.levels) - self.shared_level(p, q))
        return np.where(np.equal(p, q), 0.0, hops)

    @cached_property
    def places(self) -> npt.NDArray[np.int64]:
        """Codes (levels - 1, k); in row i, equal if `at` agrees in the first i + 1 parts."""
        parts = [parts_of(device.at) for device in self.devices]
        codes = np.empty((max(len(self.levels) - 1, 0), self.k), np.int64)
        before = np.zeros(self.k, np.int64)
        for depth, row in enumerate(codes, start=1):
            seen: dict[tuple[int, str], int] = {}
            for i, place in enumerate(parts):
                # A device at a higher level shares nothing at this depth.
                key = (int(before[i]), place[depth - 1]) if len(place) >= depth else (-1 - i, "")
                row[i] = seen.setdefault(key, len(seen))
            before = row
        return codes

    @cached_property
    def network(self) -> Network:
        """The places and the links between them; empty without connections."""
        return network_of(self.devices, self.connections)

    @classmethod
    def flat(cls, speeds: Sequence[float], *, memory: float | None = None) -> Platform:
        """Return devices dev0, dev1, ... with these speeds [units/s] and free communication."""
        return cls(tuple(Device(f"dev{i}", float(s), memory=memory) for i, s in enumerate(speeds)))


def _or_infinite(values: list[float | None]) -> FloatArray:
    return np.array([np.inf if value is None else value for value in values], dtype=np.float64)


def with_only(platform: Platform, devices: Sequence[int]) -> Platform:
    """Return the platform with only the devices of these indices, ascending.

    Links that lead only to omitted devices are omitted as well. Raises InputError for no device.
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
    """Return the connections without dead ends: places without a device or another connection."""
    known = {device.name for device in devices} | {device.at for device in devices}
    left = list(connections)
    while True:
        times = Counter(end for one in left for end in one.between)
        led = [one for one in left if all(e in known or times[e] > 1 for e in one.between)]
        if len(led) == len(left):
            return tuple(left)
        left = led
