"""Maps blocks along the tree of a machine from the root down.

This is dual recursive bipartitioning [PR96]_ on the quotient graph. The devices are divided into
two halves between groups of the tree, and the blocks likewise, with few bytes between the halves;
each half then again. A half receives as many blocks of every kind as it has devices of that kind.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evener.arrays import IntVector
from evener.partitioning.initial import halving_kernels as kernels
from evener.partitioning.initial.trees import Tree, leaf_order
from evener.partitioning.mapping.mapping_kernels import MappingProblem

PASSES = 8  # of Kernighan-Lin improvement of a division
# Divisions tried: TRIES_WORK over the number of blocks squared, within these limits.
TRIES_WORK, MIN_TRIES, MAX_TRIES = 1 << 22, 3, 12


def multisection(problem: MappingProblem, tree: Tree, alike: IntVector) -> IntVector:
    """Return the device (k,) of every block, one that is like the device of its own number.

    alike (k,): equal numbers for devices that may take each other's blocks.
    """
    order = leaf_order(tree)
    device = np.arange(order.size)
    everyone = np.arange(order.size)
    waiting = [(order, 0, everyone)]
    while waiting:
        devices, depth, blocks = waiting.pop()
        # Levels at which all of these devices are in one group are skipped.
        while depth < len(tree) and np.ptp(tree[depth, devices]) == 0:
            depth += 1
        if depth == len(tree):
            device[blocks] = _one_to_one(devices, blocks, alike)
            continue
        half = _half(tree[depth, devices])
        blocks_of = _halved(problem, devices[:half], blocks, alike)
        waiting.append((devices[:half], depth, blocks_of[0]))
        waiting.append((devices[half:], depth, blocks_of[1]))
    return device


def _half(groups: IntVector) -> int:
    """Return where the devices are divided: between two groups, nearest to the middle."""
    ends = np.flatnonzero(np.diff(groups)) + 1
    return int(ends[np.abs(ends - groups.size / 2).argmin()])


def _one_to_one(devices: IntVector, blocks: IntVector, alike: IntVector) -> IntVector:
    """Return devices (m,) for these blocks, each like the device of the block's own number."""
    result = np.empty_like(blocks)
    by_kind = np.argsort(alike[blocks], kind="stable")
    result[by_kind] = np.sort(devices)[np.argsort(alike[np.sort(devices)], kind="stable")]
    return result


def _halved(
    problem: MappingProblem, first: IntVector, blocks: IntVector, alike: IntVector
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
    starts += _grown(problem, blocks, kind, room)
    best, least = given, np.inf
    for side in starts:
        bytes_between = kernels.improve(
            problem.starts, problem.other, problem.n_bytes, blocks, kind, names.size, PASSES, side
        )
        if bytes_between < least:
            best, least = side, bytes_between
    return blocks[best[blocks] == 0], blocks[best[blocks] == 1]


def _grown(
    problem: MappingProblem, blocks: IntVector, kind: IntVector, room: IntVector
) -> list[npt.NDArray[np.int8]]:
    """Return halves (k,) grown from several blocks, 0 for the first, 1 for the rest, -1 outside.

    Every second one starts at the block that the one before reached last, which lies at the rim.
    """
    tries = int(np.clip(TRIES_WORK // blocks.size**2, MIN_TRIES, MAX_TRIES))
    tie = np.empty(kind.size)
    grown: list[npt.NDArray[np.int8]] = []
    first = int(blocks[0])
    for turn in range(tries):
        side = np.full(kind.size, -1, np.int8)
        side[blocks] = 1
        last = kernels.grow(
            problem.starts, problem.other, problem.n_bytes, blocks, kind, room.copy(), first, side,
            tie,
        )  # fmt: skip
        grown.append(side)
        first = int(last) if turn % 2 == 0 else int(blocks[turn * blocks.size // tries])
    return grown
