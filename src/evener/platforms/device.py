"""Device, Link, Level, Connection: the parts of a platform."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from evener.errors import InputError
from evener.platforms.homes import check_gpu, check_node, checked_cores
from evener.platforms.models.fitting import Constant, SpeedModel, fit_device
from evener.platforms.models.samples import DeviceSpeeds

FREE_ALPHA, FREE_BETA = 0.0, 0.0


def _is_number(value: object) -> bool:
    if isinstance(value, float | int) and not isinstance(value, bool):
        return abs(value) <= sys.float_info.max  # false for NaN, and for larger whole numbers
    return isinstance(value, np.integer | np.floating) and bool(np.isfinite(value))


@dataclass(frozen=True, slots=True)
class Device:
    """One processor that gets its own block.

    speed [units/s]: work per second; a unit of work is a unit of vertex weight.
    memory [B] and memory_units [units] limit the block, either or both; None: no limit.
    low_units, high_units [units]: the user's limits on a non-empty block; None: none.
    kind: "cpu", "cuda" or the user's own word. at: its place in the tree, "site/node/socket",
    one part for each level below the root. capabilities: named numbers, e.g. {"mips": 1e4}.
    curve: samples of its speed at several loads; `speed` is then the speed at its expected load.
    fixed_seconds [s]: cost of an iteration at any load. cost_per_hour: of using it, in
    any currency; watts: its power when busy [W], idle_watts: while it waits; None: not known.
    host, host_link: the device through which it is reached and the link to it, such as a GPU's CPU
    and bus; used only with `behind_hosts` (evener.platforms.hosts).
    node: the computer that contains it, by the name that launchers know; cores: its own
    processors, in Linux's numbering; gpu: its index in nvidia-smi's order, or its UUID.

    Raises InputError for an empty name, kind or part of a place, numbers that are not finite and
    above zero, capabilities that are not finite, negative costs and powers, low_units above
    high_units or the memory, a host without a link or a link without a host, and invalid names of a
    computer, cores or GPU.
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
    low_units: float | None = None
    high_units: float | None = None
    host: str = ""
    host_link: Link | None = None
    node: str = ""
    cores: tuple[int, ...] = ()
    gpu: int | str | None = None

    def __post_init__(self) -> None:
        if not self.name or self.name != self.name.strip():
            raise InputError(f"a device name must not be empty or padded, unlike {self.name!r}")
        if any("\ud800" <= c <= "\udfff" for c in self.name):
            raise InputError(f"a device name must be valid UTF-8, unlike {self.name!r}")
        if not (_is_number(self.speed) and self.speed > 0):
            raise self._refused("speed", self.speed)
        if self.memory is not None and not (_is_number(self.memory) and self.memory > 0):
            raise self._refused("memory", self.memory)
        for key in ("memory_units", "low_units", "high_units"):
            units = getattr(self, key)
            if units is not None and not (_is_number(units) and units > 0):
                raise self._refused(key, units)
        self._refuse_crossed()
        if self.host == self.name or bool(self.host) != (self.host_link is not None):
            raise InputError(
                f"device {self.name!r} needs another device as host, and the link to it"
            )
        if not self.kind:
            raise InputError(f"the kind of device {self.name!r} must not be empty")
        if self.at and not all(part.strip() for part in self.at.split("/")):
            raise InputError(
                f"device {self.name!r} is at {self.at!r}, but the parts between slashes must not "
                "be empty"
            )
        for key, value in self.capabilities.items():
            if not _is_number(value):
                raise InputError(f"{key} of device {self.name!r} must be finite, not {value}")
        for key in ("fixed_seconds", "cost_per_hour", "watts", "idle_watts"):
            value = getattr(self, key)
            if value is not None and not (_is_number(value) and value >= 0):
                raise InputError(
                    f"{key} of device {self.name!r} must be finite and not negative, not {value}"
                )
        self._check_home()

    def _check_home(self) -> None:
        if not (self.node or self.cores or self.gpu is not None):
            return
        try:
            if self.node:
                check_node(self.node)
            if self.gpu is not None:
                check_gpu(self.gpu)
            object.__setattr__(self, "cores", checked_cores(self.cores))
        except InputError as error:
            raise InputError(f"device {self.name!r}: {error.message}") from error

    def _refuse_crossed(self) -> None:
        for key in ("high_units", "memory_units"):
            most = getattr(self, key)
            if self.low_units is not None and most is not None and self.low_units > most:
                raise InputError(
                    f"device {self.name!r} must have at least {self.low_units:,.12g} units, but "
                    f"its {key} allows {most:,.12g}"
                )

    def _refused(self, key: str, value: object) -> InputError:
        return InputError(
            f"{key} of device {self.name!r} must be finite and above zero, not {value}"
        )

    @property
    def model(self) -> SpeedModel:
        """The device's speed model: speed as a function of load."""
        return Constant(self.speed) if self.curve is None else fit_device(self.curve)


@dataclass(frozen=True)
class Link:
    """Hockney's cost of a message: alpha [s] + beta [s/B] x bytes.

    Raises InputError for negative numbers.
    """

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

    shared: each child has one link to the level's switch, which carries all traffic that leaves or
    enters that child; otherwise each pair of devices has its own link.
    """

    name: str
    link: Link = Link()
    shared: bool = False

    def __post_init__(self) -> None:
        if not self.name:
            raise InputError("a level needs a name")


@dataclass(frozen=True)
class Connection:
    """A link of an arbitrary graph, between two named places or devices.

    shared: all routes over it share its bandwidth; otherwise each route has the full bandwidth.
    """

    between: tuple[str, str]
    link: Link
    shared: bool = False

    def __post_init__(self) -> None:
        a, b = self.between
        if not (a and b) or a == b:
            raise InputError(f"a link joins two different places, not {a!r} and {b!r}")


def parts_of(at: str) -> list[str]:
    """Return the parts of a place, "site/node/socket", from the root down."""
    return [part for part in at.split("/") if part]


def beside_hosts(
    devices: Sequence[Device], connections: Sequence[Connection]
) -> tuple[Device, ...]:
    """Return the devices, with each device that has a host placed in its host's computer.

    A device with a host but without a place or link is also placed at the host.
    """
    if not any(device.host for device in devices):
        return tuple(devices)
    ends = {end for connection in connections for end in connection.between}
    by_name = {device.name: device for device in devices}

    def placed(device: Device) -> Device:
        host = by_name.get(device.host)
        if host is None:
            return device
        device = replace(device, node=device.node or host.node)
        if device.at or device.name in ends:
            return device
        return replace(device, at=host.name if host.name in ends else host.at)

    return tuple(placed(device) if device.host else device for device in devices)
