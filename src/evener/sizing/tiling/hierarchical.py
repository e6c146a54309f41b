"""Rectangles along the platform's tree: nodes first, then the devices in each, at any depth.

The devices of a node fill one rectangle, so they share what the node receives ([Cla14]_, 5.2:
inter-node by columns, inter-device within). Within a node devices get columns as well, or slices
over its full height, as in [Cla14]_.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.plans.tiling import Tiling
from evener.sizing.tiling.columns import best_columns, columns_half_perimeter
from evener.sizing.tiling.whole import Allowed, whole_columns

Place = tuple[str, ...]


def upright_or_lying(
    targets: FloatArray, allowed: Allowed, shape: tuple[int, int], block: int = 1
) -> Tiling:
    """Return BR's columns, or rows where these have the lesser half-perimeter, in whole blocks.

    targets (p,) [blocks], zero for devices that get nothing.
    """
    used = np.flatnonzero(targets > 0)
    ways = []
    for sides in (shape, shape[::-1]):
        columns = [used[column] for column in best_columns(targets[used], sides)]
        ways.append((columns_half_perimeter(targets, columns, sides), columns, sides))
    lying = ways[1][0] < ways[0][0] * (1 - 1e-12)
    _, columns, sides = ways[lying]
    tiling = whole_columns(columns, targets, allowed, sides, block)
    return tiling.transposed() if lying else tiling


def along_the_tree(
    targets: FloatArray,
    allowed: Allowed,
    shape: tuple[int, int],
    places: Sequence[Place],
    *,
    slices: bool = False,
    block: int = 1,
) -> Tiling:
    """Return a tiling in which devices of one place fill one rectangle, place in place.

    places: of each device, from the top of the tree down, as ("node0", "socket1"). slices: cut the
    rectangle of devices of one lowest place into columns of one device each. Other arguments as for
    `whole_columns`. Raises InfeasibleError as it does.
    """
    boxes = np.zeros((4, targets.size), np.int64)
    devices = np.flatnonzero(targets > 0)
    _divide(devices, 0, (0, 0, *shape), boxes, _TreeTiling(targets, allowed, places, slices))
    top, left, height, width = boxes
    return Tiling(shape, top, left, height, width, block)


class _TreeTiling(NamedTuple):
    """Arguments of along_the_tree that are the same at every depth."""

    targets: FloatArray
    allowed: Allowed
    places: Sequence[Place]
    slices: bool


def _divide(
    devices: npt.NDArray[np.int64],
    depth: int,
    box: tuple[int, int, int, int],
    boxes: npt.NDArray[np.int64],
    task: _TreeTiling,
) -> None:
    """Fill `boxes` (4, k) of these devices: top, left, height and width within `box`."""
    top, left, height, width = box
    if height * width == 0:
        return
    groups = _groups(devices, depth, task.places)
    while len(groups) == 1 and devices.size > 1 and groups[0].size > 1:
        depth += 1
        groups = _groups(devices, depth, task.places)
    wanted = np.array([task.targets[group].sum() for group in groups])
    wanted *= height * width / wanted.sum()

    def allowed(scale: float) -> FloatArray:
        blocks = np.floor(task.allowed(scale))
        return np.array([blocks[group].sum() for group in groups])

    sides = (height, width)
    if task.slices and all(group.size == 1 for group in groups):
        columns = [np.array([g]) for g in range(len(groups))]
        inner = whole_columns(columns, wanted, allowed, sides)
    else:
        inner = upright_or_lying(wanted, allowed, sides)
    parts = np.stack([inner.top + top, inner.left + left, inner.height, inner.width])
    for group, part in zip(groups, parts.T.tolist(), strict=True):
        if group.size == 1:
            boxes[:, group[0]] = part if part[2] * part[3] else 0
        else:
            _divide(group, depth + 1, (part[0], part[1], part[2], part[3]), boxes, task)


def _groups(
    devices: npt.NDArray[np.int64], depth: int, places: Sequence[Place]
) -> list[npt.NDArray[np.int64]]:
    """Return devices grouped by their place at this depth; one placed higher up is alone."""
    found: dict[object, list[int]] = {}
    for device in devices.tolist():
        place = places[device]
        found.setdefault(place[depth] if depth < len(place) else device, []).append(device)
    return [np.array(group) for group in found.values()]
