"""Processors: the capabilities of a platform's devices, and the cost of a byte between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.errors import InputError
from evener.graphs.stream_graph import MOST, StreamGraph
from evener.platforms.platform import Device, Platform
from evener.streams import routes_kernels as kernels
from evener.streams.routes_kernels import Roads
from evener.threads import in_slices, slice_ends

MILLION = 1e6  # instructions per second of one MIPS
WIDTH = "vector_length"
MIPS = "mips"
SLICES = 8
MOST_PROCESSORS = 1 << 14  # largest number for which routes are stored: a table of 2 GiB


@dataclass(frozen=True, eq=False)
class Processors:
    """The devices of a platform as processors of filters.

    platform: its devices have the capabilities "mips" and "vector_length" (1 by default); other
    capabilities limit the processors of filters with needs of that name. Raises InputError for
    devices without mips, for values that are not above zero, and if there are too many devices to
    store routes.
    """

    platform: Platform

    def __post_init__(self) -> None:
        for device in self.platform.devices:
            if MIPS not in device.capabilities:
                raise InputError(
                    f"device {device.name!r} has no mips, but filters count instructions",
                    hint=f"State {MIPS} and {WIDTH} of each [[device]] in the machine file.",
                )
            for name in (MIPS, WIDTH):
                value = device.capabilities.get(name, 1.0)
                if not value > 0:
                    raise InputError(f"{name} of device {device.name!r} must be above zero")
                if not 1 / MOST <= value <= MOST:
                    raise InputError(
                        f"{name} of device {device.name!r} must lie between {1 / MOST:g} and "
                        f"{MOST:g}, not {value:g}"
                    )
        betas = [level.link.beta for level in self.platform.levels]
        betas += [one.link.beta for one in self.platform.connections]
        slowest = max(betas, default=0.0)
        if slowest > MOST:
            raise InputError(f"a link takes {slowest:g} s for a byte, more than {MOST:g} s")
        if self.k > MOST_PROCESSORS:
            most = f"{MOST_PROCESSORS:,}"
            raise InputError(f"filters can be mapped to at most {most} processors, not {self.k:,}")

    @property
    def k(self) -> int:
        """Number of processors."""
        return self.platform.k

    @cached_property
    def rate(self) -> FloatArray:
        """(k,) instructions per second, R0 x 10^6."""
        return MILLION * np.array([d.capabilities[MIPS] for d in self.platform.devices])

    @cached_property
    def width(self) -> FloatArray:
        """(k,) largest number of data per instruction, R1."""
        widths = [d.capabilities.get(WIDTH, 1.0) for d in self.platform.devices]
        return np.array(widths, np.float64)

    @cached_property
    def roads(self) -> Roads | None:
        """The network of individual links; None if the platform has levels, or no links."""
        if not self.platform.connections:
            return None
        network = self.platform.network
        size = len(network.names)
        tails, heads = np.divmod(network.keys, size)
        offsets = np.concatenate([[0], np.cumsum(np.bincount(tails, minlength=size))])
        home = network.home.astype(np.int64)
        return Roads(offsets, heads.astype(np.int32), network.costs[:, 1].copy(), home)

    @cached_property
    def routes(self) -> tuple[FloatArray, npt.NDArray[np.int32]]:
        """Costs of the fastest routes, and the places on them.

        table (k, k) [s/B]: the sum over a route's links. previous (k, places): the place before
        each place on the routes from each processor, empty if links are not a graph.
        """
        if self.roads is None:
            return self._of_levels(), np.empty((0, 0), np.int32)
        places = self.roads.offsets.size - 1
        table, previous = np.empty((self.k, self.k)), np.empty((self.k, places), np.int32)
        self._fill(self.roads, table, previous, least=False)
        return table, previous

    def seconds_per_byte(self, *, least: bool = False) -> FloatArray:
        """Return the time per byte [s/B] along the fastest routes (k, k): the sum over their links.

        least: whether to use only the slowest link of a route.
        """
        if not least or self.roads is None:
            return self.routes[0]
        table, previous = np.empty((self.k, self.k)), np.empty_like(self.routes[1])
        self._fill(self.roads, table, previous, least=True)
        return table

    def like(self, devices: Sequence[Device]) -> Processors:
        """Return as many other devices on the same links; routes are not computed again."""
        other = Processors(replace(self.platform, devices=tuple(devices)))
        vars(other).update(roads=self.roads, routes=self.routes)
        return other

    def _fill(
        self, roads: Roads, table: FloatArray, previous: npt.NDArray[np.int32], *, least: bool
    ) -> None:
        ends = np.array(slice_ends(self.k, SLICES), np.int64)
        in_slices(
            lambda i: kernels.route_from(ends[i : i + 2], roads, least, table, previous), SLICES, 2
        )
        kernels.mirror(table)

    def _of_levels(self) -> FloatArray:
        if not self.platform.has_links:
            return np.zeros((self.k, self.k))
        p, q = np.divmod(np.arange(self.k**2), self.k)
        return self.platform.link_costs(p, q)[1].reshape(self.k, self.k)

    def allowed(self, graph: StreamGraph) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.uint8]]:
        """Return groups (n,) of filters with equal needs, and the processors for each (groups, k).

        Raises InputError if no processor can run a filter; the message names the filter.
        """
        if not graph.needs:
            return np.zeros(graph.n, np.int32), np.ones((1, self.k), np.uint8)
        wanted = np.column_stack(list(graph.needs.values()))
        distinct, group = np.unique(wanted, axis=0, return_inverse=True)
        devices = self.platform.devices
        able = np.array(
            [[d.capabilities.get(key, float(key == WIDTH)) for key in graph.needs] for d in devices]
        )
        fits = np.array([(row <= able).all(axis=1) for row in distinct], np.uint8)
        nowhere = fits.sum(axis=1) == 0
        if nowhere.any():
            i = int(np.flatnonzero(nowhere[group.ravel()])[0])
            needed = [(key, value[i]) for key, value in graph.needs.items() if value[i] > 0]
            asked = ", ".join(f"{key} {value:g}" for key, value in needed)
            most = dict(zip(graph.needs, able.max(axis=0).tolist(), strict=True))
            there = ", ".join(f"{key} {most[key]:g}" for key, _ in needed)
            raise InputError(
                f"no processor can run filter {graph.names[i]!r}, which needs {asked}",
                hint=f"The largest capabilities of devices: {there}. State capabilities in the "
                "machine file.",
            )
        return group.ravel().astype(np.int32), fits
