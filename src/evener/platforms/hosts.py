"""Machines whose GPUs can be reached only through their hosts."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

from evener.errors import InputError
from evener.platforms.device import Connection, Link
from evener.platforms.platform import Platform

MOST_PAIRED = 1024  # max. devices of levels, because each pair becomes a link


def behind_hosts(platform: Platform) -> Platform:
    """Return the machine with every device that has a `host` joined only to this host.

    All messages of such a device then pass its `host_link`, and then the links of its host; the
    device's other links are left out. Levels are replaced by links between each pair of the other
    devices, at the same costs. Raises InputError if no device has a host, for shared levels, levels
    of more than MOST_PAIRED devices, and if the remaining links do not connect all devices.
    """
    if not any(device.host for device in platform.devices):
        raise InputError(
            "no device of this machine has a host",
            hint='State host = "NAME" and host_GB_per_s for each GPU in the machine file.',
        )
    kept, home = _links_of_others(platform), dict[str, str]()
    ends = {end for connection in kept for end in connection.between}
    for device in platform.devices:
        home[device.name] = device.name if device.name in ends else device.at or device.name
    own = [
        Connection((home[device.host], device.name), device.host_link)
        for device in platform.devices
        if device.host_link is not None
    ]
    devices = tuple(
        replace(device, host="", host_link=None, at="" if device.host else device.at)
        for device in platform.devices
    )
    try:
        return Platform(devices, (), (*kept, *own), platform.name)
    except InputError as error:
        raise InputError(
            f"devices behind their hosts: {error.message}",
            hint="A device with a host exchanges values only through the link to its host.",
        ) from error


def _links_of_others(platform: Platform) -> list[Connection]:
    """Return the links that do not end at a device with a host."""
    hosted = {device.name for device in platform.devices if device.host}
    if platform.connections:
        return [one for one in platform.connections if not hosted.intersection(one.between)]
    numbers = [i for i, device in enumerate(platform.devices) if not device.host]
    names = platform.names
    if not platform.levels:
        return [Connection((names[numbers[0]], names[i]), Link()) for i in numbers[1:]]
    if platform.has_shared or len(numbers) > MOST_PAIRED:
        raise InputError(
            "devices behind their hosts need links between pairs, but the machine has "
            + ("shared levels" if platform.has_shared else f"levels of {len(numbers):,} devices"),
            hint="State its links one by one, as [[link]] or [[network]].",
        )
    pairs = np.array(list(combinations(numbers, 2)), np.int64).reshape(-1, 2)
    alpha, beta = platform.link_costs(pairs[:, 0], pairs[:, 1])
    return [
        Connection((names[p], names[q]), Link(a, b))
        for (p, q), a, b in zip(pairs.tolist(), alpha.tolist(), beta.tolist(), strict=True)
    ]


def hosts_of(names: list[str], host: str, known: dict[str, int]) -> list[str]:
    """Return the host of each device of one table; `names`: the names of these devices.

    known: a count by name: 0 for a single device, the number of devices for a table. A single
    device is the host of all; the devices of a table are hosts of equally many each. Raises
    InputError for other names, and if the numbers are not divisible.
    """
    count = known.get(host)
    if count is None:
        raise InputError(f"the host of device {names[0]!r}, {host!r}, is not a device")
    if count == 0:
        return [host] * len(names)
    if len(names) % count:
        raise InputError(
            f"{len(names):,} devices {names[0]!r}, ... cannot be divided equally among {count:,} "
            "hosts"
        )
    return [f"{host}{i * count // len(names)}" for i in range(len(names))]
