"""Device, Link, Platform: what the machine is."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import BoolArray, FloatArray, IntArray
from evener.errors import InputError
from evener.models import Constant, SpeedModel, fit_device
from evener.samples import DeviceSpeeds

FREE_ALPHA, FREE_BETA = 0.0, 0.0
# So that a small file cannot ask for more memory than a laptop has: about 0.5 GB of devices.
MAX_DEVICES = 2_000_000
ROUTE_ENTRIES = 1 << 20  # places x sources routed at once


def _is_number(value: object) -> bool:
    if isinstance(value, float | int) and not isinstance(value, bool):
        return abs(value) <= sys.float_info.max  # false for NaN, and for whole numbers beyond it
    return isinstance(value, np.integer | np.floating) and bool(np.isfinite(value))


@dataclass(frozen=True, slots=True)
class Device:
    """One processor that gets a block of its own.

    speed [units/s]: work done per second, a unit being one of vertex weight.
    memory [B] and memory_units [units] cap the block, either or both; None: no cap.
    kind: "cpu", "cuda" or the user's own word. at: its place in the tree, "site/node/socket",
    one part for each level below the root. capabilities: named numbers, e.g. {"mips": 1e4}.
    curve: samples of its speed at each load; `speed` is then that at the load it is to have.
    fixed_seconds [s]: what an iteration costs whatever the load. cost_per_hour: of using it, in
    any money; watts: its power when busy [W], idle_watts: while it waits; None: not known.

    Raises InputError for an empty name, kind or part of a place, numbers that are not finite and
    above zero, capabilities that are not finite, costs and powers that are negative.
    """

    name: str
    speed: float
    kind: str = "cpu"
    memory: float | None = None
    memory_units: float | None = None
    at: str = ""
    capabilities: dict[str, float] = field(default_factory=dict)
    curve: DeviceSpeeds | None = None
    fixed_seconds: float = 0.0
    cost_per_hour: float | None = None
    watts: float | None = None
    idle_watts: float | None = None

    def __post_init__(self) -> None:
        if not self.name or self.name != self.name.strip():
            raise InputError(f"a device name must not be empty or padded, as {self.name!r} is")
        if not (_is_number(self.speed) and self.speed > 0):
            raise self._refused("speed", self.speed)
        if self.memory is not None and not (_is_number(self.memory) and self.memory > 0):
            raise self._refused("memory", self.memory)
        units = self.memory_units
        if units is not None and not (_is_number(units) and units > 0):
            raise self._refused("memory_units", units)
        if not self.kind:
            raise InputError(f"the kind of device {self.name!r} must not be empty")
        if self.at and not all(part.strip() for part in self.at.split("/")):
            raise InputError(f"device {self.name!r} is at {self.at!r}, where a part is empty")
        for key, value in self.capabilities.items():
            if not _is_number(value):
                raise InputError(f"{key} of device {self.name!r} must be finite, not {value}")
        for key in ("fixed_seconds", "cost_per_hour", "watts", "idle_watts"):
            value = getattr(self, key)
            if value is not None and not (_is_number(value) and value >= 0):
                raise InputError(
                    f"{key} of device {self.name!r} must be finite and not negative, not {value}"
                )

    def _refused(self, key: str, value: object) -> InputError:
        return InputError(
            f"{key} of device {self.name!r} must be finite and above zero, not {value}"
        )

    @property
    def model(self) -> SpeedModel:
        """Speed as a function of load."""
        return Constant(self.speed) if self.curve is None else fit_device(self.curve)


@dataclass(frozen=True)
class Link:
    """Hockney's cost of a message: alpha [s] + beta [s/B] x bytes. Raises on negative numbers."""

    alpha: float = FREE_ALPHA
    beta: float = FREE_BETA

    def __post_init__(self) -> None:
        for key in ("alpha", "beta"):
            value = getattr(self, key)
            if not (_is_number(value) and value >= 0):
                raise InputError(f"{key} of a link must be finite and not negative, not {value}")


@dataclass(frozen=True)
class Level:
    """One level of the tree, from the root down: its name and the link between its children.

    shared: each child has one link to the level's switch, which carries everything that leaves or
    enters that child; otherwise each pair of devices has a link to itself.
    """

    name: str
    link: Link = Link()
    shared: bool = False

    def __post_init__(self) -> None:
        if not self.name:
            raise InputError("a level needs a name")


@dataclass(frozen=True)
class Connection:
    """A link of an arbitrary graph, between two places or devices, named.

    shared: all routes over it share its bandwidth; otherwise each has it to itself.
    """

    between: tuple[str, str]
    link: Link
    shared: bool = False

    def __post_init__(self) -> None:
        a, b = self.between
        if not (a and b) or a == b:
            raise InputError(f"a link joins two different places, not {a!r} and {b!r}")


class Network(NamedTuple):
    """Places joined by links: usual costs between them, sparse (size, size) [s]; sorted keys
    a x size + b (m,) of the joined ones, with alpha and beta (m, 2), and whether shared (m,); each
    device's place (k,); the places' names (size,).
    """

    usual: Any
    keys: IntArray
    costs: FloatArray
    shared: BoolArray
    home: IntArray
    names: tuple[str, ...]


class Fault(NamedTuple):
    """What is wrong with a platform, and in which of its "device", "level" or "link" entries."""

    message: str
    kind: str
    number: int


@dataclass(frozen=True)
class Platform:
    """Devices as leaves of a tree of levels, or joined by any graph of links.

    With levels, two devices use the link of the deepest level they share: all share level 0; two
    whose `at` agree in the first i parts share level i. With connections, the endpoints are
    devices' names, places (`at`) at which devices sit without cost, or switches, which join two
    or more links; the route is the one of least alpha + beta x 1 KiB. With neither,
    communication is free.

    Raises InputError for no device, duplicate names, places deeper than the levels, connections
    to unknown places, pairs of devices that nothing joins, and levels given beside connections.
    """

    devices: tuple[Device, ...]
    levels: tuple[Level, ...] = ()
    connections: tuple[Connection, ...] = ()
    name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "devices", tuple(self.devices))
        object.__setattr__(self, "levels", tuple(self.levels))
        object.__setattr__(self, "connections", tuple(self.connections))
        fault = find_fault(self.devices, self.levels, self.connections)
        if fault is not None:
            raise InputError(fault.message)

    @property
    def k(self) -> int:
        """Number of devices."""
        return len(self.devices)

    @property
    def names(self) -> list[str]:
        """The devices' names, in order."""
        return [device.name for device in self.devices]

    @property
    def has_links(self) -> bool:
        """Whether communication costs anything is stated."""
        return bool(self.levels or self.connections)

    @cached_property
    def has_curves(self) -> bool:
        """Whether the speed of some device depends on its load; see evener.curved_platforms."""
        return any(device.curve is not None for device in self.devices)

    @cached_property
    def has_shared(self) -> bool:
        """Whether some link is shared by several pairs; see evener.shared_links."""
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
        if self.connections:
            alpha, beta = self._routed(p, q, self.network.costs.T, (np.add, np.maximum))
            return alpha, beta
        links = [[level.link.alpha, level.link.beta] for level in self.levels]
        costs = np.array([*links, [0, 0]], np.float64)
        level = self.shared_level(p, q)
        return costs[level, 0], costs[level, 1]

    def distances(self) -> FloatArray:
        """(k, k) seconds that a message of 1 KiB takes between each pair; by links of their own."""
        from scipy.sparse.csgraph import dijkstra

        home = self.network.home
        return np.asarray(dijkstra(self.network.usual, indices=home)[:, home])

    def hops(self, p: IntArray, q: IntArray) -> FloatArray:
        """Links between each pair of devices p[i], q[i]: on the route, or up the tree and down."""
        if self.connections:
            (count,) = self._routed(p, q, np.ones((1, self.network.keys.size)), (np.add,))
            return count
        hops = 2.0 * (len(self.levels) - self.shared_level(p, q))
        return np.where(np.equal(p, q), 0.0, hops)

    @cached_property
    def places(self) -> npt.NDArray[np.int64]:
        """(levels - 1, k): equal numbers where `at` agrees in the first 1, 2, ... parts."""
        parts = [_parts(device.at) for device in self.devices]
        codes = np.empty((max(len(self.levels) - 1, 0), self.k), np.int64)
        for depth, row in enumerate(codes, start=1):
            seen: dict[tuple[str, ...], int] = {}
            for i, place in enumerate(parts):
                # A device that sits higher up shares nothing this deep with anyone.
                key = tuple(place[:depth]) if len(place) >= depth else ("", str(i))
                row[i] = seen.setdefault(key, len(seen))
        return codes

    def _routed(
        self, p: IntArray, q: IntArray, costs: FloatArray, joined: Sequence[np.ufunc]
    ) -> list[FloatArray]:
        """Join each row of costs (c, links), by its ufunc, over the cheapest routes.

        Routes are the same both ways; some sources at a time.
        """
        from scipy.sparse.csgraph import dijkstra

        network, keys, home = self.network.usual, self.network.keys, self.network.home
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

    @cached_property
    def network(self) -> Network:
        """The places and the links between them; without connections, none."""
        from scipy.sparse import coo_array

        places = self._places
        size = len(places)
        best: dict[int, Connection] = {}
        for connection in self.connections:
            a, b = (places[end] for end in connection.between)
            for key in (a * size + b, b * size + a):
                if key not in best or _usual_cost(connection.link) < _usual_cost(best[key].link):
                    best[key] = connection
        keys = np.array(sorted(best), np.int64)
        taken = [best[key] for key in keys.tolist()]
        links = [connection.link for connection in taken]
        # A free link costs a trifle, so that the sparse graph keeps it.
        usual = np.array([max(_usual_cost(link), 1e-30) for link in links])
        network = coo_array((usual, np.divmod(keys, size)), (size, size)).tocsr()
        home = np.array([places[self._end(device)] for device in self.devices])
        costs = np.array([[link.alpha, link.beta] for link in links]).reshape(-1, 2)
        shared = np.array([connection.shared for connection in taken], np.bool_)
        return Network(network, keys, costs, shared, home, tuple(places))

    @cached_property
    def _places(self) -> dict[str, int]:
        names = list(dict.fromkeys(end for c in self.connections for end in c.between))
        return {name: i for i, name in enumerate(names)}

    def _end(self, device: Device) -> str:
        return device.name if device.name in self._places else device.at

    @classmethod
    def flat(cls, speeds: Sequence[float], *, memory: float | None = None) -> Platform:
        """Devices dev0, dev1, ... with these speeds [units/s] and free communication."""
        return cls(tuple(Device(f"dev{i}", float(s), memory=memory) for i, s in enumerate(speeds)))


def _parts(at: str) -> list[str]:
    return [part for part in at.split("/") if part]


def _or_infinite(values: list[float | None]) -> FloatArray:
    return np.array([np.inf if value is None else value for value in values], dtype=np.float64)


def _usual_cost(link: Link) -> float:
    return link.alpha + link.beta * 1024


def _joined_to_root(
    previous: IntArray, keys: IntArray, costs: FloatArray, join: np.ufunc
) -> FloatArray:
    """Join costs over each route. previous (k, size): the place before each on the way from the
    k-th root, negative at the root; keys (m,) of the links, sorted, and their costs (m,). Every
    place doubles its stride towards the root until all are there: log2(longest route) rounds.
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


def find_fault(
    devices: Sequence[Device], levels: Sequence[Level], connections: Sequence[Connection]
) -> Fault | None:
    """Return the first thing that keeps these from being a Platform, or None."""
    if not devices:
        return Fault("a platform needs at least one device", "device", 0)
    if levels and connections:
        return Fault("a platform has levels or links of its own, not both", "link", 0)
    return (
        _duplicate([device.name for device in devices], "device")
        or _duplicate([level.name for level in levels], "level")
        or (_too_deep(devices, len(levels)) if levels else None)
        or (_disconnected(devices, connections) if connections else None)
    )


def _duplicate(names: list[str], kind: str) -> Fault | None:
    if len(set(names)) == len(names):
        return None
    seen: set[str] = set()
    for index, name in enumerate(names):
        if name in seen:
            return Fault(f"two {kind}s are called {name!r}", kind, index)
        seen.add(name)
    return None


def _too_deep(devices: Sequence[Device], depth: int) -> Fault | None:
    for index, device in enumerate(devices):
        if len(_parts(device.at)) >= depth:
            message = (
                f"device {device.name!r} is at {device.at!r}: {depth} level(s) allow "
                f"{depth - 1} part(s), one a level below the root"
            )
            return Fault(message, "device", index)
    return None


def _disconnected(devices: Sequence[Device], connections: Sequence[Connection]) -> Fault | None:
    """Find a place that nothing explains, or a device that no chain of links joins to the first."""
    ends = [end for connection in connections for end in connection.between]
    known = {device.name for device in devices} | {device.at for device in devices}
    times = Counter(ends)
    for i, end in enumerate(ends):
        if end not in known and times[end] == 1:
            message = f"unknown place {end!r}: no device has this name or is there"
            return Fault(f"{message}, and no other link leads on from it", "link", i // 2)
    leader = {end: end for end in ends}

    def find(end: str) -> str:
        while leader[end] != end:
            leader[end] = leader[leader[end]]
            end = leader[end]
        return end

    for connection in connections:
        a, b = connection.between
        leader[find(a)] = find(b)
    homes = [device.name if device.name in leader else device.at for device in devices]
    for index, (device, home) in enumerate(zip(devices, homes, strict=True)):
        if home not in leader:
            message = f"no link reaches device {device.name!r} or its place"
            return Fault(message, "device", index)
        if find(home) != find(homes[0]):
            message = f"no chain of links joins device {device.name!r} to {devices[0].name!r}"
            return Fault(message, "device", index)
    return None
