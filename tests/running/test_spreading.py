"""Rows of arrays move between ranks, and only what moves is copied."""

from itertools import pairwise

import numpy as np
import pytest

from evener.running.comm import run_threads
from evener.running.spreading import HeldRows, starts_of


@pytest.mark.parametrize("seed", range(5))
def test_held_rows_are_where_the_sizes_say_after_any_moves(seed):
    rng = np.random.default_rng(seed)
    p, n = int(rng.integers(1, 5)), 23
    whole = rng.random((n, 3))
    sizes = [rng.multinomial(n, np.full(p, 1 / p)) for _ in range(6)]

    def work(comm):
        first = int(starts_of(sizes[0])[comm.rank])
        held = HeldRows(whole[first : first + sizes[0][comm.rank]], first, room=seed % 2 == 0)
        for old, new in pairwise(sizes):
            held.move(comm, old, new)
            a, b = starts_of(new)[comm.rank : comm.rank + 2]
            assert (held.first, held.end) == (a, b)
            assert np.array_equal(held.rows, whole[a:b])
        return True

    assert all(run_threads(p, work))
