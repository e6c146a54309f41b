"""Triangles refined along curves: three neighbours each, small where the curve is."""

import numpy as np
import pytest
from scipy.spatial import cKDTree

from evener.errors import UsageError
from evener.graphs.generating.adaptive import bubbles_dual, trace_dual


@pytest.mark.parametrize("make", [trace_dual, bubbles_dual])
def test_cells_have_three_neighbours_and_crowd_along_a_curve(make, in_one_piece):
    graph = make(3000, 17)
    assert 5800 < graph.n < 6000  # about 2n
    assert graph.degrees.max() == 3
    assert graph.degrees.mean() == pytest.approx(3.0, abs=0.05)
    assert in_one_piece(graph)
    # Spacings, by the nearest other centre: the finest tenth is far finer than the coarsest.
    apart = cKDTree(graph.coords).query(graph.coords, k=2)[0][:, 1]
    fine, coarse = np.quantile(apart, [0.1, 0.95])
    assert coarse > 5 * fine
    # A curve, not a spot: fine cells lie all over the square, in few of its parts.
    cells = np.unique((graph.coords[apart <= fine] * 20).astype(int), axis=0)
    assert 20 < len(cells) < 250


def test_too_few_points_are_refused():
    with pytest.raises(UsageError, match="n must be at least 4, not 3"):
        trace_dual(3, 1)
