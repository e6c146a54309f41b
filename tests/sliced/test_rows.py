"""The same slices of every graph, shared by ranks in order."""

from itertools import pairwise

import pytest

from evener.sliced.rows import N_SLICES, share_of, slice_ends


@pytest.mark.parametrize("ranks", [1, 2, 3, 7, 64, 100])
def test_ranks_share_all_slices_in_order(ranks):
    shares = [share_of(rank, ranks) for rank in range(ranks)]
    assert shares[0].start == 0
    assert shares[-1].stop == N_SLICES
    assert all(one.stop == other.start for one, other in pairwise(shares))


@pytest.mark.parametrize("n", [0, 1, 63, 64, 1000])
def test_slices_differ_by_a_vertex_at_most(n):
    ends = slice_ends(n)
    assert (ends[0], ends[-1]) == (0, n)
    sizes = ends[1:] - ends[:-1]
    assert sizes.max() - sizes.min() <= 1
