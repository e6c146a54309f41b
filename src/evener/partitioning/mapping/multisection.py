"""Blocks onto the tree of a machine from the root down: halves of blocks onto halves of devices.

As dual recursive bipartitioning [PR96]_, on the quotient graph: the devices below a place are
halved between its groups, and so are the blocks, as many of every kind as there are devices of
that kind, with few bytes between the halves.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evener.arrays import IntVector
from evener.partitioning.initial import halving_kernels as kernels
from evener.partitioning.initial.trees import Tree, leaf_order
from evener.partitioning.mapping.cost_kernels import Scene

PASSES = 8
TRIES_WORK, LEAST_TRIES, MOST_TRIES = 1 << 22, 3, 12


def multisection(scene: Scene, tree: Tree, alike: IntVector) -> IntVector:
    """Return the device (k,) of every block, which is one like that of its own number.

    alike (k,): equal for devices that take each other's blocks.
    """
    order = leaf_order(tree)
    device = np.arange(order.size)
    everyone = np.arange(order.size)
    waiting = [(order, 0, everyone)]
    while waiting:
        devices, depth, blocks = waiting.pop()
        # Where the groups of this level do not divide these devices, those of the next may.
        while depth < len(tree) and np.ptp(tree[depth, devices]) == 0:
            depth += 1
        if depth == len(tree):
            device[blocks] = _one_to_one(devices, blocks, alike)
            continue
        half = _half(tree[depth, devices])
        blocks_of = _halved(scene, devices[:half], blocks, alike)
        waiting.append((devices[:half], depth, blocks_of[0]))
        waiting.append((devices[half:], depth, blocks_of[1]))
    return device


def _half(groups: IntVector) -> int:
    """Return where devices are halved: between two groups, as near to the middle as can be."""
    ends = np.flatnonzero(np.diff(groups)) + 1
    return int(ends[np.abs(ends - groups.size / 2).argmin()])


def _one_to_one(devices: IntVector, blocks: IntVector, alike: IntVector) -> IntVector:
    """Return devices (m,) for these blocks, each like that of its own number, in order."""
    result = np.empty_like(blocks)
    by_kind = np.argsort(alike[blocks], kind="stable")
    result[by_kind] = np.sort(devices)[np.argsort(alike[np.sort(devices)], kind="stable")]
    return result


def _halved(
    scene: Scene, first: IntVector, blocks: IntVector, alike: IntVector
) -> tuple[IntVector, IntVector]:
    """Return the blocks for the `first` devices, and for the rest."""
    k = alike.size
    kind = np.zeros(k, np.int64)
    names, kind[blocks] = np.unique(alike[blocks], return_inverse=True)
    room = np.bincount(np.searchsorted(names, alike[first]), minlength=names.size)
    here = np.zeros(k, np.bool_)
    here[first] = True
    given = np.full(k, -1, np.int8)
    given[blocks] = np.where(here[blocks], 0, 1)
    starts = (
        [given]
        if (np.bincount(kind[blocks[here[blocks]]], minlength=names.size) == room).all()
        else []
    )
    starts += _grown(scene, blocks, kind, room)
    best, least = given, np.inf
    for side in starts:
        bytes_between = kernels.improve(
            scene.starts, scene.other, scene.n_bytes, blocks, kind, names.size, PASSES, side
        )
        if bytes_between < least:
            best, least = side, bytes_between
    return blocks[best[blocks] == 0], blocks[best[blocks] == 1]


def _grown(
    scene: Scene, blocks: IntVector, kind: IntVector, room: IntVector
) -> list[npt.NDArray[np.int8]]:
    """Return halves grown from several blocks: from those at the rim, and from some between."""
    tries = int(np.clip(TRIES_WORK // blocks.size**2, LEAST_TRIES, MOST_TRIES))
    tie = np.empty(kind.size)
    grown: list[npt.NDArray[np.int8]] = []
    first = int(blocks[0])
    for turn in range(tries):
        side = np.full(kind.size, -1, np.int8)
        side[blocks] = 1
        last = kernels.grow(
            scene.starts, scene.other, scene.n_bytes, blocks, kind, room.copy(), first, side, tie
        )
        grown.append(side)
        # From where the last one ended, then from blocks spread over all.
        first = int(last) if turn % 2 == 0 else int(blocks[turn * blocks.size // tries])
    return grown
