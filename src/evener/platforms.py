"""Device, Link, Platform: what the machine is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.errors import InputError
from evener.models import Constant, SpeedModel

FREE_ALPHA, FREE_BETA = 0.0, 0.0


@dataclass(frozen=True)
class Device:
    """One processor that gets a block of its own.

    speed [units/s]: work done per second, a unit being one of vertex weight.
    memory [B] and memory_units [units] cap the block, either or both; None: no cap.
    kind: "cpu", "cuda" or the user's own word. at: its place in the tree, "site/node/socket",
    one part for each level below the root. capabilities: named numbers, e.g. {"mips": 1e4}.

    Raises InputError for an empty name, and numbers that are not finite and above zero.
    """

    name: str
    speed: float
    kind: str = "cpu"
    memory: float | None = None
    memory_units: float | None = None
    at: str = ""
    capabilities: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.name or self.name != self.name.strip():
            raise InputError(f"a device name must not be empty or padded, as {self.name!r} is")
        for key in ("speed", "memory", "memory_units"):
            value = getattr(self, key)
            if value is not None and not (np.isfinite(value) and value > 0):
                raise InputError(
                    f"{key} of device {self.name!r} must be finite and above zero, not {value}"
                )

    @property
    def model(self) -> SpeedModel:
        """Speed as a function of load."""
        return Constant(self.speed)


@dataclass(frozen=True)
class Link:
    """Hockney's cost of a message: alpha [s] + beta [s/B] x bytes. Raises on negative numbers."""

    alpha: float = FREE_ALPHA
    beta: float = FREE_BETA

    def __post_init__(self) -> None:
        for key in ("alpha", "beta"):
            value = getattr(self, key)
            if not (np.isfinite(value) and value >= 0):
                raise InputError(f"{key} of a link must be finite and not negative, not {value}")


@dataclass(frozen=True)
class Level:
    """One level of the tree, from the root down: its name and the link between its children."""

    name: str
    link: Link = Link()


@dataclass(frozen=True)
class Connection:
    """A link of an arbitrary graph, between two places or devices, named."""

    between: tuple[str, str]
    link: Link


@dataclass(frozen=True)
class Platform:
    """Devices as leaves of a tree of levels, or joined by any graph of links.

    With levels, two devices use the link of the deepest level they share: all share level 0; two
    whose `at` agree in the first i parts share level i. With connections, the endpoints are
    devices' names, or places (`at`) at which devices sit without cost; the route is the one of
    least alpha + beta x 1 KiB. With neither, communication is free.

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
        if not self.devices:
            raise InputError("a platform needs at least one device")
        _refuse_duplicates([device.name for device in self.devices], "device")
        _refuse_duplicates([level.name for level in self.levels], "level")
        if self.levels and self.connections:
            raise InputError("a platform has levels or connections, not both")
        if self.levels:
            _check_places(self.devices, len(self.levels))
        if self.connections:
            self._check_connections()

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
        for level, codes in enumerate(self._place_codes, start=1):
            shared += (shared == level - 1) & (codes[p] == codes[q])
        return np.where(np.equal(p, q), len(self.levels), shared)

    def link_costs(self, p: IntArray, q: IntArray) -> tuple[FloatArray, FloatArray]:
        """Alpha [s] and beta [s/B] between each pair of devices p[i], q[i]; zero with itself."""
        if self.connections:
            alpha, beta = self._routed
            return alpha[p, q], beta[p, q]
        costs = np.array([[level.link.alpha, level.link.beta] for level in self.levels] + [[0, 0]])
        level = self.shared_level(p, q)
        return costs[level, 0], costs[level, 1]

    @cached_property
    def _place_codes(self) -> IntArray:
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

    @cached_property
    def _routed(self) -> tuple[FloatArray, FloatArray]:
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import dijkstra

        places = self._places
        ends = [(places[c.between[0]], places[c.between[1]], c.link) for c in self.connections]
        best: dict[tuple[int, int], Link] = {}
        for a, b, link in ends:
            for pair in ((a, b), (b, a)):
                if pair not in best or _usual_cost(link) < _usual_cost(best[pair]):
                    best[pair] = link
        pairs = np.array(list(best), np.int64).reshape(-1, 2)
        # A free link costs a trifle, so that the sparse graph keeps it.
        costs = np.array([max(_usual_cost(link), 1e-30) for link in best.values()])
        size = len(places)
        matrix = coo_array((costs, (pairs[:, 0], pairs[:, 1])), (size, size)).tocsr()
        home = np.array([places[self._end(device)] for device in self.devices])
        _, previous = dijkstra(matrix, indices=home, return_predecessors=True)
        alpha, beta = np.zeros((self.k, self.k)), np.zeros((self.k, self.k))
        for p in range(self.k):
            for q in range(self.k):
                alpha[p, q], beta[p, q] = _along(previous[p], home[p], home[q], best)
        return alpha, beta

    @cached_property
    def _places(self) -> dict[str, int]:
        names = list(dict.fromkeys(end for c in self.connections for end in c.between))
        return {name: i for i, name in enumerate(names)}

    def _check_connections(self) -> None:
        """Refuse devices that no link reaches, or that no chain of links joins to the first."""
        group = {name: name for name in self._places}
        for connection in self.connections:
            a, b = (group[end] for end in connection.between)
            group = {name: a if label == b else label for name, label in group.items()}
        first = self.devices[0]
        for device in self.devices:
            if device.name not in group and device.at not in group:
                raise InputError(f"no link reaches device {device.name!r} or its place")
            if group[self._end(device)] != group[self._end(first)]:
                raise InputError(
                    f"no chain of links joins device {device.name!r} to {first.name!r}"
                )

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


def _along(
    previous: np.ndarray, source: int, target: int, links: dict[tuple[int, int], Link]
) -> tuple[float, float]:
    """Sum alpha and beta over the links of the route from source to target."""
    alpha = beta = 0.0
    while target != source:
        before = int(previous[target])
        link = links[before, int(target)]
        alpha, beta, target = alpha + link.alpha, beta + link.beta, before
    return alpha, beta


def _refuse_duplicates(names: list[str], what: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(f"two {what}s are called {name!r}")
        seen.add(name)


def _check_places(devices: tuple[Device, ...], depth: int) -> None:
    for device in devices:
        if len(_parts(device.at)) > max(depth - 1, 0):
            raise InputError(
                f"device {device.name!r} is at {device.at!r}: {depth} level(s) allow "
                f"{max(depth - 1, 0)} part(s), one a level below the root"
            )
