"""Emulated devices: speed curves of the kind that the thesis measured ([Cla14]_), by name.

The data of its figures are not published; these devices behave similarly: speed falls when the work
exceeds a cache, collapses when the work exceeds the memory and the device pages, and a GPU is slow
for small loads. Every number below is from the thesis's tables of hardware, or a round number close
to it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from evener.arrays import FloatArray
from evener.errors import UsageError
from evener.platforms.models.fitting import Piecewise
from evener.platforms.models.samples import DeviceSpeeds, Sample

KNOTS, CLIFF_KNOTS = 160, 41  # of the whole curve, and near the load that fills the memory
GB = 1e9
HALF_WIDTH = 1.96  # standard errors: 95 % confidence
CLUSTERS = {"cluster1": "P1 P3 P4 P5", "cluster2": "P1 P2 P3 P4"}  # table 2.1
SHOWN_UNKNOWNS = 11_000  # of figures 2.4 to 2.7


@dataclass(frozen=True)
class SpeedCurve:
    """A device whose speed at each load is known exactly.

    peak [units/s]: its speed out of cache. launch [s]: of each call, at any load.
    caches: (load [units], gain) of each; well below this load, speed is `gain` times higher.
    memory [units]: beyond it the device pages, and every unit takes `paging` times as long.
    capacity [units]: the largest possible load. low, high [units]: the range that is sampled.
    """

    name: str
    peak: float
    low: float
    high: float
    launch: float = 0.0
    caches: tuple[tuple[float, float], ...] = ()
    memory: float = np.inf
    paging: float = 25.0
    capacity: float = np.inf

    def speed(self, load: FloatArray) -> FloatArray:
        """Speed [units/s] at loads [units] above zero."""
        cost = np.full_like(load, 1 / self.peak)
        for size, gain in self.caches:
            cost *= 1 - (1 - 1 / gain) * _below(load, size, 4.0)
        cost *= 1 + (self.paging - 1) * (1 - _below(load, self.memory, 60.0))
        return 1 / (cost + self.launch / load)

    @cached_property
    def model(self) -> Piecewise:
        """Return the curve as a model, with dense points where it bends."""
        loads = np.geomspace(self.low, self.high, KNOTS)
        if self.low < self.memory < self.high:
            around = self.memory * np.linspace(0.9, 1.1, CLIFF_KNOTS)
            loads = np.union1d(loads, around[around < self.high])
        return Piecewise(loads, self.speed(loads), self.capacity)


class CurveSet(NamedTuple):
    """Devices that work together, the unit of their loads, and what is emulated."""

    curves: Callable[[], tuple[SpeedCurve, ...]]
    unit: str
    purpose: str


def curve_set(name: str) -> tuple[SpeedCurve, ...]:
    """Return the devices of one of CURVE_SETS. Raises UsageError for another name."""
    if name not in CURVE_SETS:
        raise UsageError(
            f"there are no emulated curves {name!r}",
            hint=f"Sets of curves: {', '.join(CURVE_SETS)}.",
        )
    return CURVE_SETS[name].curves()


def emulated_speeds(
    curves: str, points: int = 20, noise: float = 0.0, repetitions: int = 5, seed: int = 7
) -> tuple[DeviceSpeeds, ...]:
    """Return samples of emulated devices at geometrically spaced loads.

    curves: a name of CURVE_SETS. points: samples of each device. noise: the relative standard
    deviation of a single time; a sample is the mean of `repetitions` times, with the half width of
    the 95 % confidence interval. Loads are whole numbers, so fewer points may result. Raises
    UsageError for numbers out of range.
    """
    if not 1 <= points <= 10_000:
        raise UsageError(f"points must lie between 1 and 10,000, not {points}")
    if not 0 <= noise <= 0.5:
        raise UsageError(f"noise must lie between 0 and 0.5, not {noise}")
    if not 1 <= repetitions <= 1_000:
        raise UsageError(f"repetitions must lie between 1 and 1,000, not {repetitions}")
    rng = np.random.default_rng(seed)
    return tuple(
        DeviceSpeeds(
            curve.name,
            _samples(curve, points, noise, repetitions, rng),
            capacity=curve.capacity,
            notes={"emulated": curves, "unit": CURVE_SETS[curves].unit},
        )
        for curve in curve_set(curves)
    )


def _samples(
    curve: SpeedCurve, points: int, noise: float, repetitions: int, rng: np.random.Generator
) -> tuple[Sample, ...]:
    high = min(curve.high, curve.capacity)
    grid = np.geomspace(curve.low, high, points) if points > 1 else np.array([high])
    loads = np.unique(np.clip(np.rint(grid), 1, np.floor(high)))
    seconds = curve.model.time(loads)
    # Lognormal: never near zero, and long delays are likelier than equally large gains.
    drawn = seconds[:, None] * rng.lognormal(0.0, noise, (loads.size, repetitions))
    mean, spread = drawn.mean(axis=1), drawn.std(axis=1, ddof=min(1, repetitions - 1))
    half_widths = HALF_WIDTH * spread / np.sqrt(repetitions)
    return tuple(
        Sample(load, second, half_width, repetitions)
        for load, second, half_width in zip(loads, mean, half_widths, strict=True)
    )


def _below(load: FloatArray, size: float, sharpness: float) -> FloatArray:
    """Return 1 well below a size, 0 well above it, 1/2 at it."""
    with np.errstate(over="ignore"):
        return 1 / (1 + (load / size) ** sharpness)


def jacobi_servers(cluster: str, unknowns: int) -> tuple[SpeedCurve, ...]:
    """Return the servers of a cluster of table 2.1 for Jacobi's method; a unit is a row.

    cluster: "cluster1" or "cluster2". 250 MFLOPS per GHz; a row takes 2 operations and 8 bytes for
    each of the unknowns; the system uses 40 MB.
    """
    hardware = {"P1": (3.6, 256), "P2": (3.0, 256), "P3": (3.4, 512), "P4": (3.4, 1024),
                "P5": (3.4, 1024)}  # fmt: skip
    curves = []
    for name in CLUSTERS[cluster].split():
        ghz, megabytes = hardware[name]
        peak = ghz * 250e6 / (2 * unknowns)
        memory = (megabytes - 40) * 1e6 / (8 * unknowns)
        curves.append(SpeedCurve(name, peak, 1, unknowns, caches=((12, 1.6),), memory=memory))
    return tuple(curves)


def _grenoble() -> tuple[SpeedCurve, ...]:
    """Return the 75 nodes of table 4.1 for one step of a matrix product; a unit is an element of C.

    A step uses a block 16 wide: 32 operations per unit, 8.5 GFLOPS per core; an element takes 8
    bytes, and the system and the pivots take a quarter of a GB.
    """
    counts = {1: (4, 2, 2, 4), 2: (4, 2, 2, 4), 4: (4, 2, 2, 4), 6: (4, 2, 2, 4), 8: (4, 2, 2, 5),
              12: (2, 1, 1, 2), 24: (2, 2, 2, 2)}  # fmt: skip
    curves = []
    for gigabytes, row in counts.items():
        for cores, count in zip((2, 4, 6, 8), row, strict=True):
            for i in range(count):
                clock = 2.5 / 2.27 if i % 2 and gigabytes <= 8 else 1.0  # Genepi's has 8 GB
                curves.append(_node(f"{gigabytes}GB-{cores}c-{i}", cores, gigabytes, clock))
    return tuple(curves)


def _node(name: str, cores: int, gigabytes: float, clock: float) -> SpeedCurve:
    # Eight cores share a memory bus, so they do not reach eight times the speed.
    peak = clock * 8.5e9 / 32 * cores**0.95
    memory = (gigabytes - 0.25) * GB / 8
    return SpeedCurve(name, peak, 1e4, 4e9, launch=2e-4, caches=((1e6, 1.15),), memory=memory)


def _lille() -> tuple[SpeedCurve, ...]:
    """Return the four kinds of nodes of table 5.2; a unit is an element of C, as in `grenoble`."""
    hardware = [("opteron", 4, 4, 2.6), ("xeon", 8, 8, 2.83), ("xeon-16", 8, 16, 2.4),
                ("xeon-8", 8, 8, 2.4)]  # fmt: skip
    return tuple(_node(name, cores, gb, ghz / 2.27) for name, cores, gb, ghz in hardware)


def _hybrid() -> tuple[SpeedCurve, ...]:
    """Return the thesis's nodes (table 5.3), one per kind and number of cores; unit: a 128^2 block.

    A block takes 4.2 MFLOP and 131 kB. Cores of Adonis and Edel have 8 GFLOPS, cores of Genepi 8.8.
    """
    curves = [_with_gpu(f"adonis-{cores}c-gpu", cores) for cores in (0, 2, 5, 7)]
    for name, gigabytes, gflops in (("edel", 24, 8.0), ("genepi", 8, 8.8)):
        for cores in (1, 2, 4, 8):
            peak = gflops * cores**0.95 * 1e9 / 4.2e6
            memory = (gigabytes - 0.5) * GB / 131e3
            curves.append(SpeedCurve(f"{name}-{cores}c", peak, 4, 250_000, 5e-4, memory=memory))
    return tuple(curves)


def _with_gpu(name: str, cores: int) -> SpeedCurve:
    """Return a Tesla GPU of 60 GFLOPS and 4 GB with its cores; starting a step takes 20 ms."""
    peak = (60 + 8.0 * cores**0.95 * (cores > 0)) * 1e9 / 4.2e6
    beyond = 1.3  # data that exceed the GPU's memory are sent in every step
    return SpeedCurve(name, peak / beyond, 4, 250_000, launch=0.02,
                      caches=((3.6 * GB / 131e3, beyond),), memory=23.5 * GB / 131e3)  # fmt: skip


def _workstation() -> tuple[SpeedCurve, ...]:
    """Return a core, a core that competes for the memory bus, and a GPU of 8 GB.

    A unit is a row of 12 entries.
    """
    row = 12 * 12 + 16  # bytes of a sparse matrix row and of its vector entries
    cache, memory = 8e6 / row, 8e9 / row
    return (
        SpeedCurve("core0", 9e6, 100, 1e8, launch=1e-6, caches=((cache, 2.2),)),
        SpeedCurve("core1", 6e6, 100, 1e8, launch=1e-6, caches=((cache / 2, 3.0),)),
        SpeedCurve("gpu", 3e8, 100, 1e8, launch=3e-5, capacity=float(int(memory))),
    )


CURVE_SETS = {
    "cluster1": CurveSet(
        lambda: jacobi_servers("cluster1", SHOWN_UNKNOWNS), "row", "4 servers, one short of memory"
    ),
    "cluster2": CurveSet(
        lambda: jacobi_servers("cluster2", SHOWN_UNKNOWNS),
        "row",
        "4 servers, two short of memory (figure 2.5)",
    ),
    "grenoble": CurveSet(_grenoble, "element", "75 nodes, 2-8 cores, 1-24 GB (figure 4.5)"),
    "hybrid": CurveSet(_hybrid, "block", "12 nodes, some with a GPU (figure 5.8)"),
    "lille": CurveSet(_lille, "element", "4 kinds of nodes (figure 5.3)"),
    "workstation": CurveSet(_workstation, "row", "two cores and a GPU working on a sparse matrix"),
}
