"""Halos against what a loop over all entries finds; what one rank sends, another has room for."""

import numpy as np
import pytest
import scipy.sparse as sp

from evener.errors import InputError
from evener.plans.partition import Partition
from evener.running.halos import halo_of, local_rows


def test_a_path_by_hand():
    # 0 - 1 - 2 - 3 in blocks {0, 2} and {1, 3}: all of one block is needed by the other.
    A = sp.csr_array(np.diag(np.ones(3), 1) + np.diag(np.ones(3), -1))
    first, second = (halo_of(A.indptr, A.indices, Partition([0, 1, 0, 1], 2), r) for r in (0, 1))
    assert (first.owned.tolist(), first.ghosts.tolist()) == ([0, 2], [1, 3])
    assert first.sends[1].tolist() == [0, 1]
    assert first.receives == {1: (0, 2)}
    assert local_rows(A, first).todense().tolist() == [[0, 0, 1, 0], [0, 0, 1, 1]]
    assert (second.ghosts.tolist(), second.size) == ([0, 2], 4)


@pytest.mark.parametrize("k", [1, 3, 7])
def test_random_patterns_that_are_not_symmetric(k):
    rng = np.random.default_rng(61)
    n = 40
    A = sp.csr_array(sp.random_array((n, n), density=0.06, rng=rng))
    part = rng.integers(0, max(k - 1, 1), n)  # the last block is empty
    halos = [halo_of(A.indptr, A.indices, Partition(part, k), rank) for rank in range(k)]
    dense = A.toarray()
    for rank, halo in enumerate(halos):
        needed = {j for i, j in zip(*np.nonzero(dense), strict=True) if part[i] == rank}
        assert set(halo.ghosts.tolist()) == {j for j in needed if part[j] != rank}
        for q, (a, b) in halo.receives.items():
            assert halos[q].owned[halos[q].sends[rank]].tolist() == halo.ghosts[a:b].tolist()
        assert sum(len(other.sends.get(rank, ())) for other in halos) == halo.ghosts.size
        columns = np.concatenate([halo.owned, halo.ghosts])
        assert np.array_equal(local_rows(A, halo).toarray(), dense[halo.owned][:, columns])


def test_what_does_not_fit_is_refused():
    A = sp.csr_array(np.eye(3))
    with pytest.raises(InputError, match="4 entries"):
        halo_of(A.indptr, A.indices, Partition([0, 0, 0, 0], 1), 0)
    with pytest.raises(InputError, match="rank 2 has no block"):
        halo_of(A.indptr, A.indices, Partition([0, 0, 1], 2), 2)
