"""Platforms of some of a machine's devices, with the links that these still need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from evener.platforms.platform import Connection, Device, Platform


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
