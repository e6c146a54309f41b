"""What a tiling is asked for: the devices, the matrix in blocks, the areas to aim at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, as_numbers
from evener.errors import InputError
from evener.plans.tiling import MAX_SIDE
from evener.platforms.models.fitting import Constant, SpeedModel, SpeedSurface
from evener.sizing.solving import solve_sizes
from evener.sizing.tiling.hierarchical import Place
from evener.sizing.tiling.whole import MOST, Allowed, proportional


@dataclass(frozen=True, eq=False)
class Devices:
    """Models of k devices by area [blocks]; surfaces by height and width, where given.

    fixed: (k,) or one [s], what an update costs a device that has anything, beside its blocks.
    """

    models: Sequence[SpeedModel]
    surfaces: Sequence[SpeedSurface] = ()
    fixed: float | FloatArray = 0.0

    @property
    def constant(self) -> bool:
        """Whether every speed is one number, and nothing caps the areas."""
        endless = all(np.isinf(m.capacity) for m in self.models)
        return self.one_speed_each and endless and not np.any(self.fixed)

    @property
    def one_speed_each(self) -> bool:
        """Whether every speed is one number, up to a capacity."""
        return all(isinstance(m, Constant) for m in self.models)

    def seconds(self, height: npt.NDArray[np.int64], width: npt.NDArray[np.int64]) -> FloatArray:
        """(k,) predicted time of each device [s] for rectangles of these sides [blocks]."""
        sides = list(zip(height.tolist(), width.tolist(), strict=True))
        if self.surfaces:
            times = [
                s.time(float(h), float(w)) for s, (h, w) in zip(self.surfaces, sides, strict=True)
            ]
        else:
            times = [m.time(float(h * w)) for m, (h, w) in zip(self.models, sides, strict=True)]
        return np.where(height * width > 0, np.array(times, np.float64) + self.fixed, 0.0)


@dataclass(frozen=True, eq=False)
class Request:
    """What a method gets. shape [blocks]; targets (k,) [blocks]; allowed: blocks at a scale."""

    devices: Devices
    shape: tuple[int, int]
    block: int
    targets: FloatArray
    allowed: Allowed
    places: Sequence[Place]
    n_columns: int | None = None
    slices: bool = False


def devices_of(given: npt.ArrayLike | Sequence[SpeedModel | SpeedSurface]) -> Devices:
    """Return devices from speeds, speed models or speed surfaces, all of one sort.

    Raises InputError for speeds that are not above zero, for none, and for mixtures.
    """
    if isinstance(given, Sequence) and any(isinstance(one, SpeedSurface) for one in given):
        surfaces = [one for one in given if isinstance(one, SpeedSurface)]
        if len(surfaces) < len(given):
            raise InputError("devices are all surfaces or none is")
        return Devices([surface.of_squares() for surface in surfaces], surfaces)
    if isinstance(given, Sequence) and any(hasattr(one, "max_load") for one in given):
        if not all(hasattr(one, "max_load") for one in given):
            raise InputError("devices are all speeds or all speed models, not some of each")
        return Devices(list(given))  # type: ignore[arg-type]
    speeds = as_numbers(given, "speeds")  # type: ignore[arg-type]
    if speeds.size == 0:
        raise InputError("a tiling needs at least one device")
    return Devices([Constant(float(speed)) for speed in speeds])


def blocks_of(shape: tuple[int, int], block: int) -> tuple[int, int]:
    """Rows and columns of blocks that cover shape [elements]; InputError where there are none."""
    if block < 1 or min(shape) < 1 or -(-max(shape) // block) > MAX_SIDE:
        raise InputError(
            f"a matrix of {shape[0]:,} x {shape[1]:,} elements cannot be divided into blocks of "
            f"{block}"
        )
    return -(-shape[0] // block), -(-shape[1] // block)


def areas_by_constant(devices: Devices, total: int) -> tuple[FloatArray, Allowed]:
    """Areas by one speed a device, the model's at an even share; capped by capacities."""
    even = total / len(devices.models)
    speeds = np.array([float(m.speed(min(even, m.capacity))) for m in devices.models])
    targets = speeds * (total / speeds.sum())
    return targets, proportional(targets, np.array([m.capacity for m in devices.models]))


def areas_by_models(devices: Devices, total: int) -> tuple[FloatArray, Allowed]:
    """Areas at which all finish together, and what any multiple of that time allows."""
    solved = solve_sizes(devices.models, total, fixed_seconds=devices.fixed)
    fixed = np.broadcast_to(devices.fixed, len(devices.models)).tolist()

    def allowed(scale: float) -> FloatArray:
        seconds = scale * solved.makespan
        left = [max(seconds - own, 0.0) for own in fixed]
        pairs = zip(devices.models, left, strict=True)
        return np.minimum([float(m.max_load(own)) for m, own in pairs], MOST)

    return solved.sizes.astype(np.float64), allowed
