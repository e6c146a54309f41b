"""Machines: which devices of a platform form a machine, and which of them are GPUs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.errors import UsageError
from evener.platforms.platform import Platform

CPU = "cpu"  # of kind; a device of any other kind counts as a GPU
ALIKE = 0.05  # relative difference of speeds up to which machines are of one kind


@dataclass(frozen=True, eq=False)
class Machines:
    """The two levels that policies use: machines, and in each machine its CPUs and GPUs.

    machine (k,) int64: the machine of each device, numbered from 0 by first devices. gpu (k,) bool.
    speeds (k,): relative to the mean CPU, or to the mean GPU if there is no CPU. memories (k,) [B]:
    infinity if there is no limit. names: of the devices.
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

    @cached_property
    def kinds(self) -> npt.NDArray[np.int64]:
        """The kind of each machine (n_machines,) with CPUs and GPUs, from 0; -1 for other machines.

        Machines of one kind have equal numbers of CPUs and GPUs, with equal speeds.
        """
        known: list[tuple[npt.NDArray[np.bool_], FloatArray]] = []
        found = np.full(self.n_machines, -1)
        for i in range(self.n_machines):
            own = self.devices(i)
            gpu, speeds = self.gpu[own], self.speeds[own]
            if gpu.all() or not gpu.any():
                continue
            order = np.lexsort((speeds, gpu))
            gpu, speeds = gpu[order], speeds[order]
            alike = [np.array_equal(gpu, other) and np.allclose(speeds, some, rtol=ALIKE)
                     for other, some in known]  # fmt: skip
            if not any(alike):
                known.append((gpu, speeds))
                alike.append(True)
            found[i] = alike.index(True)
        return found

    @property
    def n_kinds(self) -> int:
        """Number of ratios r: one for each kind of machine, or one for all devices."""
        return max(int(self.kinds.max()) + 1, 1)

    def arcs_of_kinds(self, arcs: float) -> list[float]:
        """Return how many of a graph's arcs a machine of each kind gets by the stated speeds."""
        if self.n_kinds == 1:
            return [arcs / self.n_machines]
        whole = self.speeds.sum()
        first = [int(np.argmax(self.kinds == kind)) for kind in range(self.n_kinds)]
        return [arcs * float(self.speeds[self.devices(i)].sum() / whole) for i in first]

    def weights(self, ratios: Sequence[float] | None) -> FloatArray:
        """Return the speed of each device (k,), relative to the mean CPU, for these ratios r.

        ratios: CPU seconds / GPU seconds for equal arcs in a machine of each kind; None for the
        speeds that the platform states. Speeds of GPUs in machines without a CPU keep their stated
        ratio to other GPUs.
        """
        if ratios is None or self.gpu.all() or not self.gpu.any():
            return self.speeds.copy()
        weights = self.speeds.copy()
        if self.kinds.max() < 0:
            weights[self.gpu] *= ratios[0] / self.speeds[self.gpu].mean()
            return weights
        mixed = np.zeros(self.k, np.bool_)
        for i, kind in enumerate(self.kinds.tolist()):
            if kind >= 0:
                cpus, gpus = self.devices(i, gpu=False), self.devices(i, gpu=True)
                r_stated = self.speeds[gpus].mean() / self.speeds[cpus].mean()
                weights[gpus] *= ratios[kind] / r_stated
                mixed[gpus] = True
        scale = float((weights[mixed] / self.speeds[mixed]).mean())
        weights[self.gpu & ~mixed] *= scale
        return weights

    def devices(self, machine: int | None = None, *, gpu: bool | None = None) -> list[int]:
        """Return the numbers of the devices of one machine, or of all.

        gpu: True for only GPUs, False for only CPUs, None for both.
        """
        chosen = np.ones(self.k, bool) if machine is None else self.machine == machine
        if gpu is not None:
            chosen &= self.gpu == gpu
        return np.flatnonzero(chosen).tolist()


def machines_of(platform: Platform, *, level: str | None = None) -> Machines:
    """Return the machines of a platform: the parts of its deepest level that has both kinds.

    level: name of another level, whose parts are machines; if no level has both kinds, the deepest
    is used. Without levels, devices at one place (`at`) form a machine. Raises UsageError for a
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
    """Return (k,) numbers that are equal for devices of the same machine."""
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
    """Return for each level, from the root down, the part (k,) that contains each device."""
    whole = np.zeros(platform.k, np.int64)
    if platform.levels:
        return [whole, *platform.places]
    places = [device.at for device in platform.devices]
    if not any(places):
        alike = len({device.kind for device in platform.devices}) == 1
        return [whole, np.arange(platform.k) if alike else whole]
    return [whole, np.unique(places, return_inverse=True)[1].astype(np.int64)]
