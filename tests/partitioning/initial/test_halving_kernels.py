"""Halves of a small graph: as many of every kind as asked, near what an exhaustive search finds."""

import itertools

import numpy as np
import pytest

from evener.partitioning.initial import halving_kernels as kernels
from tests.partitioning.mapping.test_device_search import between_by_hand, quotient_of


def halves(q, kind, room, first):
    k = q.k
    side = np.ones(k, np.int8)
    n_bytes = q.sent.astype(float)
    everyone = np.arange(k)
    kernels.grow(q.starts, q.other, n_bytes, everyone, kind, room.copy(), first, side, np.empty(k))
    assert np.bincount(kind[side == 0], minlength=room.size).tolist() == room.tolist()
    grown = between_by_hand(q, side)
    found = kernels.improve(q.starts, q.other, n_bytes, everyone, kind, room.size, 8, side)
    assert found == pytest.approx(between_by_hand(q, side))
    assert found <= grown
    assert np.bincount(kind[side == 0], minlength=room.size).tolist() == room.tolist()
    return found


@pytest.mark.parametrize("seed", range(4))
def test_halves_are_nearly_the_best(seed):
    rng = np.random.default_rng(seed)
    q = quotient_of(3, 4)
    kind = rng.integers(0, 2, 12)
    room = np.bincount(kind, minlength=2) // 2
    best = np.inf
    for chosen in itertools.combinations(range(12), int(room.sum())):
        side = np.ones(12, int)
        side[list(chosen)] = 0
        if np.bincount(kind[side == 0], minlength=2).tolist() == room.tolist():
            best = min(best, between_by_hand(q, side))
    assert min(halves(q, kind, room, first) for first in range(12)) <= 1.2 * best
