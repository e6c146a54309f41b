"""tile: divides a matrix by any of METHODS: KL, BR, 1.5D, FPM-KL ([Cla14]_), guillotine, tree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, as_numbers
from evener.errors import InputError, UsageError, one_of
from evener.plans.tiling import MAX_SIDE, Tiling
from evener.platforms.models.fitting import Constant, SpeedModel, SpeedSurface
from evener.sizing.problems import checked_seconds
from evener.sizing.solving import solve_sizes
from evener.sizing.tiling.cuts import MAX_DEVICES, good_cuts, grid_columns, ordered_columns
from evener.sizing.tiling.grids import OfArea, TimeSurface, grid_of_surfaces
from evener.sizing.tiling.whole import (
    MAX_AREA,
    MAX_BLOCKS,
    Allowed,
    Place,
    along_the_tree,
    proportional,
    upright_or_lying,
    whole_columns,
    whole_cuts,
)
from evener.wording import brief, meant

# `auto` uses cuts if devices x (blocks per side) is at most this, which takes about a second.
MAX_CUT_WORK = 1 << 18

Made: TypeAlias = tuple[Tiling, tuple[str, ...]]  # a tiling, and notes for the user
NumberOfColumns: TypeAlias = "int | Sequence[int] | None"


@dataclass(frozen=True, eq=False)
class TilingDevices:
    """The speeds of k devices: speed models by area [blocks], and optional speed surfaces.

    surfaces: speeds by height and width, for all devices or none. fixed: (k,) or one number [s],
    added to the time of each device that has blocks.
    """

    models: Sequence[SpeedModel]
    surfaces: Sequence[SpeedSurface] = ()
    fixed: float | FloatArray = 0.0

    @property
    def constant(self) -> bool:
        """Whether every speed is constant, and there are no capacities and no fixed times."""
        endless = all(np.isinf(m.capacity) for m in self.models)
        return self.one_speed_each and endless and not np.any(self.fixed)

    @property
    def one_speed_each(self) -> bool:
        """Whether every speed is constant; capacities and fixed times are permitted."""
        return all(isinstance(m, Constant) for m in self.models)

    def seconds(self, height: npt.NDArray[np.int64], width: npt.NDArray[np.int64]) -> FloatArray:
        """Return the predicted seconds (k,) for rectangles of these sides (k,) [blocks]."""
        sides = list(zip(height.tolist(), width.tolist(), strict=True))
        if self.surfaces:
            times = [
                s.time(float(h), float(w)) for s, (h, w) in zip(self.surfaces, sides, strict=True)
            ]
        else:
            times = [m.time(float(h * w)) for m, (h, w) in zip(self.models, sides, strict=True)]
        return np.where(height * width > 0, np.array(times, np.float64) + self.fixed, 0.0)


@dataclass(frozen=True, eq=False)
class TilingRequest:
    """The arguments of a method.

    shape, targets (k,) [blocks]. allowed: see whole.Allowed. places, n_columns, slices: see `tile`.
    """

    devices: TilingDevices
    shape: tuple[int, int]
    block: int
    targets: FloatArray
    allowed: Allowed
    places: Sequence[Place]
    n_columns: NumberOfColumns = None
    slices: bool = False


@dataclass(frozen=True, eq=False)
class Tiled:
    """A tiling with its targets and predicted seconds.

    targets (k,) [blocks]: the ideal areas, before rounding. seconds (k,) [s]: predicted times of
    one update of all blocks, for the areas of the tiling. method: a key of METHODS. notes:
    sentences for the user.
    """

    tiling: Tiling
    targets: FloatArray
    seconds: FloatArray
    method: str
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return brief(self)

    @property
    def makespan(self) -> float:
        """Predicted time of the slowest device [s]."""
        return float(self.seconds.max())

    @property
    def half_perimeter(self) -> int:
        """Sum of all half-perimeters [blocks]."""
        return int(self.tiling.half_perimeters.sum())

    @property
    def ratio(self) -> float:
        """(Sum of half-perimeters) / (sum of the half-perimeters of squares of the same areas)."""
        return self.half_perimeter / self.tiling.bound()

    @property
    def imbalance(self) -> float:
        """Largest area / target - 1, the effect of rounding to whole blocks."""
        used = self.targets > 0
        return float((self.tiling.areas[used] / self.targets[used]).max() - 1)


def tile(  # noqa: PLR0913 - public: options of several methods
    devices: npt.ArrayLike | Sequence[SpeedModel | SpeedSurface],
    shape: tuple[int, int],
    *,
    method: str = "auto",
    block: int = 1,
    places: Sequence[Place] = (),
    n_columns: NumberOfColumns = None,
    slices: bool = False,
    sizes: str = "exact",
    fixed_seconds: npt.ArrayLike | None = None,
) -> Tiled:
    """Return a tiling of a matrix of shape = (rows, columns) [elements], a rectangle per device.

    devices: k speeds [blocks/s]; or k speed models whose load is a number of blocks of `block` x
    `block` elements; or k speed surfaces of height and width in blocks. method: one of METHODS, or
    "auto". places: place of each device in the machine's tree, for "hierarchical"; with `slices`,
    this method cuts the rectangles of the lowest places into columns. n_columns: for kl and fpm-kl,
    the number of columns, or the number of devices in each column. sizes: the method that computes
    areas from models: "exact", or "gpa" or "npa" as in [Cla14]_. fixed_seconds: (k,) or one number
    [s], added to the time of each device that has blocks.

    kl and br use one speed per device, that of its model at an even share; in the other methods
    areas are computed from the models ([Cla14]_, 5.1 and 5.2). Without n_columns, kl chooses the
    columns of least half-perimeter with devices in their order, and fpm-kl the grid nearest to a
    square.

    Raises UsageError for an unknown method, or an option that the method does not take, InputError
    for speeds that are not above zero, InfeasibleError if the devices cannot take the matrix.
    """
    blocks = blocks_of(shape, block)
    own = devices_of(devices)
    k = len(own.models)
    own = replace(own, fixed=checked_seconds(fixed_seconds, k, "fixed_seconds"))
    method = _chosen(method, own, blocks)
    one_of("sizes", sizes, SIZES)
    chosen = sizes != "exact"
    _refuse_unused(method, n_columns=n_columns is not None, slices=slices, sizes=chosen)
    if places and len(places) != k:
        raise InputError(f"there are {len(places):,} places but {k:,} devices")
    one_speed = own.constant or (method in CONSTANT and not own.one_speed_each)
    total = blocks[0] * blocks[1]
    if one_speed and not chosen:
        targets, allowed = areas_by_constant(own, total)
    else:
        targets, allowed = areas_by_models(own, total, sizes)
    request = TilingRequest(
        own, blocks, block, targets, allowed, places or [()] * k, n_columns, slices
    )
    tiling, notes = METHODS[method](request)
    return Tiled(tiling, targets, own.seconds(tiling.height, tiling.width), method, notes)


def _refuse_unused(method: str, **given: bool) -> None:
    """Raise UsageError for an option that the method does not take."""
    for name, methods in TAKEN_BY.items():
        if given[name] and method not in methods:
            raise UsageError(
                f"method {method} does not take {name}",
                hint=f"These methods do: {', '.join(methods)}.",
            )


def devices_of(given: npt.ArrayLike | Sequence[SpeedModel | SpeedSurface]) -> TilingDevices:
    """Return TilingDevices from speeds, speed models or speed surfaces, all of the same kind.

    Raises InputError for speeds that are not above zero, for no devices, and for mixed kinds.
    """
    if isinstance(given, Sequence) and any(isinstance(one, SpeedSurface) for one in given):
        surfaces = [one for one in given if isinstance(one, SpeedSurface)]
        if len(surfaces) < len(given):
            raise InputError("give a speed surface for every device or for none")
        return TilingDevices([surface.of_squares() for surface in surfaces], surfaces)
    if isinstance(given, Sequence) and any(hasattr(one, "max_load") for one in given):
        if not all(hasattr(one, "max_load") for one in given):
            raise InputError("give a speed model for every device or for none")
        return TilingDevices(list(given))  # type: ignore[arg-type]
    speeds = as_numbers(given, "speeds")  # type: ignore[arg-type]
    if speeds.size == 0:
        raise InputError("a tiling needs at least one device")
    return TilingDevices([Constant(float(speed)) for speed in speeds])


def blocks_of(shape: tuple[int, int], block: int) -> tuple[int, int]:
    """Return the numbers of rows and columns of blocks that cover `shape` [elements].

    Raises InputError if shape or block is below 1, or there are more than MAX_SIDE blocks per side.
    """
    if block < 1 or min(shape) < 1 or -(-max(shape) // block) > MAX_SIDE:
        raise InputError(
            f"a matrix of {shape[0]:,} x {shape[1]:,} elements cannot be divided into blocks of "
            f"{block}"
        )
    return -(-shape[0] // block), -(-shape[1] // block)


def areas_by_constant(devices: TilingDevices, total: int) -> tuple[FloatArray, Allowed]:
    """Return target areas and `allowed` by one speed per device, limited by capacities.

    The speed of a device is that of its model at an even share.
    """
    even = total / len(devices.models)
    speeds = np.array([float(m.speed(min(even, m.capacity))) for m in devices.models])
    # Divide by a power of two, which changes no digit, as sums of speeds near 1e308 are infinite.
    speeds = np.ldexp(speeds, -int(np.frexp(speeds.max())[1]))
    targets = speeds * (total / speeds.sum())
    return targets, proportional(targets, np.array([m.capacity for m in devices.models]))


def areas_by_models(
    devices: TilingDevices, total: int, sizes: str = "exact"
) -> tuple[FloatArray, Allowed]:
    """Return target areas with which all devices finish together, and `allowed`, by their models.

    sizes: the method of `solve_sizes` that computes the targets.
    """
    method = "auto" if sizes == "exact" else sizes
    solved = solve_sizes(devices.models, total, method, fixed_seconds=devices.fixed)
    fixed = np.broadcast_to(devices.fixed, len(devices.models)).tolist()

    def allowed(scale: float) -> FloatArray:
        seconds = scale * solved.makespan
        left = [max(seconds - own, 0.0) for own in fixed]
        pairs = zip(devices.models, left, strict=True)
        return np.minimum([float(m.max_load(own)) for m, own in pairs], MAX_AREA)

    return solved.sizes.astype(np.float64), allowed


def _chosen(method: str, devices: TilingDevices, blocks: tuple[int, int]) -> str:
    if method == "auto":
        k, side = len(devices.models), max(blocks)
        few = k <= MAX_DEVICES and side <= MAX_BLOCKS and k * side <= MAX_CUT_WORK
        return "guillotine" if few else ("br" if devices.constant else "1.5d")
    if method not in METHODS:
        near = meant(method, METHODS)
        raise UsageError(
            f"there is no tiling method {method!r}{near}", hint=f"{', '.join(METHODS)}."
        )
    return method


def _kl(request: TilingRequest) -> Made:
    if isinstance(request.n_columns, Sequence):
        columns = grid_columns(request.targets.size, request.n_columns)
    else:
        columns = ordered_columns(request.targets, request.shape, request.n_columns)
    tiling = whole_columns(columns, request.targets, request.allowed, request.shape, request.block)
    return tiling, ()


def _br(request: TilingRequest) -> Made:
    return upright_or_lying(request.targets, request.allowed, request.shape, request.block), ()


def _guillotine(request: TilingRequest) -> Made:
    """Return guillotine cuts, or columns (br) if the cuts have no smaller half-perimeter."""
    columns, _ = _br(request)
    used = np.flatnonzero(request.targets > 0)
    tree, _ = good_cuts(request.targets, request.shape, used)
    cuts = whole_cuts(tree, request.targets, request.allowed, request.shape, request.block)
    fewer = cuts.half_perimeters.sum() < columns.half_perimeters.sum()
    return (
        (cuts, ())
        if fewer
        else (columns, ("columns were used: guillotine cuts have no smaller half-perimeter",))
    )


def _along_the_tree(request: TilingRequest) -> Made:
    tiling = along_the_tree(
        request.targets,
        request.allowed,
        request.shape,
        request.places,
        slices=request.slices,
        block=request.block,
    )
    return tiling, ()


def _fpm_kl(request: TilingRequest) -> Made:
    devices = request.devices
    by_area = [OfArea(model) for model in devices.models]
    surfaces: Sequence[TimeSurface] = devices.surfaces or by_area
    grid = grid_of_surfaces(
        surfaces, request.shape, n_columns=request.n_columns, block=request.block
    )
    notes = [] if devices.surfaces else ["fpm-kl: the speed models depend on area alone"]
    if not grid.converged:
        notes.append("fpm-kl did not converge: this is the best of its rounds")
    return grid.tiling, tuple(notes)


CONSTANT = ("kl", "br")  # methods that use one speed per device
# For each option that not all methods take, the methods that take it.
TAKEN_BY = {
    "n_columns": ("kl", "fpm-kl"),
    "slices": ("hierarchical",),
    "sizes": ("1.5d", "guillotine", "hierarchical"),
}
SIZES = ("exact", "gpa", "npa")
METHODS: Mapping[str, Callable[[TilingRequest], Made]] = {
    "kl": _kl,
    "br": _br,
    "1.5d": _br,
    "fpm-kl": _fpm_kl,
    "guillotine": _guillotine,
    "hierarchical": _along_the_tree,
}
