"""Machines: which devices of a platform make up a machine, and which of them are GPUs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.errors import UsageError
from evener.platforms.platform import Platform

CPU = "cpu"  # of kind; a device of any other kind counts as a GPU


@dataclass(frozen=True, eq=False)
class Machines:
    """The two levels that policies know: machines, and in each of them CPUs and GPUs.

    machine (k,) int64: of each device, from 0, in the order of their first devices. gpu (k,) bool.
    speeds (k,), relative to the mean CPU, or to the mean GPU where there is no CPU; memories (k,)
    [B], infinity where there is no cap. names: of the devices.
    """

    machine: npt.NDArray[np.int64]
    gpu: npt.NDArray[np.bool_]
    speeds: FloatArray
    memories: FloatArray
    names: tuple[str, ...]

    @property
    def k(self) -> int:
        """Number of devices."""
        return len(self.names)

    @property
    def n_machines(self) -> int:
        """Number of machines."""
        return int(self.machine.max()) + 1

    def devices(self, machine: int | None = None, *, gpu: bool | None = None) -> list[int]:
        """Return the numbers of the devices of one machine, or of all; of one side, or of both."""
        chosen = np.ones(self.k, bool) if machine is None else self.machine == machine
        if gpu is not None:
            chosen &= self.gpu == gpu
        return np.flatnonzero(chosen).tolist()


def machines_of(platform: Platform, *, level: str | None = None) -> Machines:
    """Return the machines of a platform: the parts of its deepest level that has both kinds.

    level: the name of another level, whose parts are machines. Without levels, devices of one place
    (`at`) are a machine. Where no level has both kinds, it is the deepest. Raises UsageError for a
    level that does not exist.
    """
    gpu = np.array([device.kind != CPU for device in platform.devices])
    speeds = platform.speeds / platform.speeds[~gpu if (~gpu).any() else gpu].mean()
    groups = _groups(platform, level, gpu)
    _, first, machine = np.unique(groups, return_index=True, return_inverse=True)
    rank = np.empty(first.size, np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    return Machines(rank[machine], gpu, speeds, platform.memories, tuple(platform.names))


def _groups(
    platform: Platform, level: str | None, gpu: npt.NDArray[np.bool_]
) -> npt.NDArray[np.int64]:
    """Return (k,) equal numbers for devices of one machine."""
    places = _places(platform)
    if level is not None:
        names = [one.name for one in platform.levels]
        if level not in names:
            known = f"There are: {', '.join(names)}." if names else "It has none."
            raise UsageError(f"the platform has no level {level!r}", hint=known)
        return places[names.index(level)]
    for groups in places[::-1]:
        if any(np.unique(gpu[groups == group]).size == 2 for group in np.unique(groups)):
            return groups
    return places[-1]


def _places(platform: Platform) -> list[npt.NDArray[np.int64]]:
    """Return for each level, from the root down, the part (k,) that each device is in."""
    whole = np.zeros(platform.k, np.int64)
    if platform.levels:
        return [whole, *platform.places]
    places = [device.at for device in platform.devices]
    if not any(places):
        alike = len({device.kind for device in platform.devices}) == 1
        return [whole, np.arange(platform.k) if alike else whole]
    return [whole, np.unique(places, return_inverse=True)[1].astype(np.int64)]
