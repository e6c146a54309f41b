"""A platform with some of its devices only: what remains of a machine when others are left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from evener.platforms import Connection, Device, Platform


def only(platform: Platform, devices: Sequence[int]) -> Platform:
    """Return the platform of the devices with these indices, ascending, all links kept.

    A link that leads only to devices left out goes with them. Raises InputError for no device.
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
    """Leave out connections to places where there is no device, and none leads on."""
    known = {device.name for device in devices} | {device.at for device in devices}
    left = list(connections)
    while True:
        times = Counter(end for one in left for end in one.between)
        led = [one for one in left if all(e in known or times[e] > 1 for e in one.between)]
        if len(led) == len(left):
            return tuple(left)
        left = led
