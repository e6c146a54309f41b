"""Multisection: groups of devices get blocks that belong together, each device one of its kind."""

import numpy as np

from evener.partitioning.mapping.device_search import multisection
from evener.partitioning.mapping.mapping_kernels import MappingProblem
from evener.plans import metrics
from evener.plans.partition import Partition
from tests.assertions import grid


def quotient_of(rows, columns):
    """A grid of blocks, each of 3 x 3 vertices."""
    graph = grid(3 * rows, 3 * columns)
    y, x = graph.coords[:, 1] // 3, graph.coords[:, 0] // 3
    part = Partition((y * columns + x).astype(int), rows * columns)
    return metrics.quotient(graph, part)


def between_by_hand(q, side):
    ends = side[q.block] != side[q.other]
    return q.sent[ends].sum() / 2


def scene_for(q):
    k = q.k
    ones, nothing = np.ones(k), np.empty((0, 0), np.int32)
    return MappingProblem(
        q.starts, q.other, 16.0 * q.sent, ones[:, None], ones, ones, ones[:, None],
        ones[:, None], ones,
        np.empty((0, k), np.int64), nothing, ones[:1], ones[:1], ones[:1],
    )  # fmt: skip


def test_groups_get_blocks_that_belong_together():
    q = quotient_of(8, 8)
    tree = np.array([np.arange(64) % 4, np.arange(64) % 16])  # four quarters of four groups
    device = multisection(scene_for(q), tree, np.zeros(64, int))
    assert sorted(device) == list(range(64))
    assert between_by_hand(q, tree[0][device]) <= 1.3 * (3 * 16)
    assert between_by_hand(q, tree[1][device]) <= 1.3 * (3 * 48)


def test_blocks_go_to_devices_of_their_kind():
    q = quotient_of(6, 6)
    rng = np.random.default_rng(12)
    alike = rng.integers(0, 3, 36)
    row = rng.integers(0, 5, 36)
    device = multisection(scene_for(q), np.array([row]), alike)
    assert sorted(device) == list(range(36))
    assert (alike[device] == alike).all()
