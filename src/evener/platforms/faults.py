"""Finds inconsistencies between the parts of a platform: names, hosts, places, links."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from evener.platforms.device import Connection, Device, Level, parts_of


class Fault(NamedTuple):
    """An error in a platform: its text, the "device", "level" or "link" entry, and a hint."""

    message: str
    kind: str
    number: int
    hint: str | None = None


def find_fault(
    devices: Sequence[Device], levels: Sequence[Level], connections: Sequence[Connection]
) -> Fault | None:
    """Return the first error in the parts of a platform, or None."""
    if not devices:
        return Fault("a platform needs at least one device", "device", 0)
    if levels and connections:
        message = "a platform has either levels or its own links, not both"
        return Fault(message, "link", 0, "Remove the levels or the links.")
    return (
        _duplicate([device.name for device in devices], "device")
        or _hostless(devices)
        or _misplaced(devices)
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
            return Fault(f"two {kind}s have the name {name!r}", kind, index)
        seen.add(name)
    return None


def _hostless(devices: Sequence[Device]) -> Fault | None:
    """Return the error for a host that is not a device, or that has a host itself."""
    if not any(device.host for device in devices):
        return None
    has_host = {device.name: bool(device.host) for device in devices}
    for index, device in enumerate(devices):
        if device.host and has_host.get(device.host, True):
            what = "has a host itself" if device.host in has_host else "is not a device"
            message = f"the host of device {device.name!r}, {device.host!r}, {what}"
            return Fault(message, "device", index)
    return None


def _misplaced(devices: Sequence[Device]) -> Fault | None:
    """Return the error if a computer is not the host's, or has the name of a device elsewhere."""
    nodes = {device.name: device.node for device in devices}
    if not any(nodes.values()):
        return None
    # Also without their number, because machine files use such names for tables of devices. A host
    # device's name must not be taken for a computer's name.
    elsewhere = {one: name for name, node in nodes.items() for one in (name, _unnumbered(name))
                 if one != node}  # fmt: skip
    for index, device in enumerate(devices):
        if device.host and device.node not in ("", nodes[device.host]):
            return _parted(device, nodes[device.host], index)
        if not device.host and device.node in elsewhere:
            return _called_as(device, elsewhere[device.node], index)
    return None


def _parted(device: Device, node: str, index: int) -> Fault:
    message = (
        f"device {device.name!r} is in {device.node!r}, but its host {device.host!r} is in "
        + (f"{node!r}" if node else "no stated computer")
    )
    return Fault(
        message,
        "device",
        index,
        "Both must be in one computer: state the computer only for the host.",
    )


def _called_as(device: Device, other: str, index: int) -> Fault:
    message = (
        f"device {device.name!r} has the host {device.node!r}, which is also the name of "
        f"device {other!r}, but no host_GB_per_s"
    )
    hint = (
        "If that device is its host, state host_GB_per_s; otherwise rename the computer or "
        "that device."
    )
    return Fault(message, "device", index, hint)


def _unnumbered(name: str) -> str:
    return name.rstrip("0123456789")


def _too_deep(devices: Sequence[Device], depth: int) -> Fault | None:
    for index, device in enumerate(devices):
        if len(parts_of(device.at)) >= depth:
            message = (
                f"device {device.name!r} is at {device.at!r}: {depth} level(s) allow "
                f"{depth - 1} part(s), one for each level below the root"
            )
            hint = f"Add a level, or shorten the place of {device.name!r}."
            return Fault(message, "device", index, hint)
    return None


def _disconnected(devices: Sequence[Device], connections: Sequence[Connection]) -> Fault | None:
    """Return the error for an unknown place, or for a device without a route to the first one."""
    ends = [end for connection in connections for end in connection.between]
    known = {device.name for device in devices} | {device.at for device in devices}
    times = Counter(ends)
    for i, end in enumerate(ends):
        if end not in known and times[end] == 1:
            message = (
                f"unknown place {end!r}: no device has this name or is there, and no other "
                "link ends there"
            )
            hint = "Name a device, the place of a device, or a switch at which two links end."
            return Fault(message, "link", i // 2, hint)
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
            return Fault(message, "device", index, f"Add a link that ends at {device.name!r}.")
        if find(home) != find(homes[0]):
            message = f"no chain of links joins device {device.name!r} to {devices[0].name!r}"
            hint = "Add a link that connects the two parts of the network."
            return Fault(message, "device", index, hint)
    return None
