"""Fluxes along edges and by staged blocks: those of a slow twin."""

import numpy as np
import pytest

from evener.plans.edge_partition import edge_metrics
from evener.running.locality.fluxes import BlockFluxes, fluxes
from tests.running.locality.staged_cases import interactions, slow_fluxes


@pytest.mark.parametrize("k", [1, 4])
def test_fluxes_are_those_of_a_slow_twin(k):
    edges, partition, blocks = interactions(k=k)
    rng = np.random.default_rng(1)
    areas, values = rng.random(edges.m), 1 + rng.random((edges.n, 4))
    expected = slow_fluxes(edges, areas, values.T).T
    for schedule in (None, blocks.edges, rng.permutation(edges.m)):
        np.testing.assert_allclose(fluxes(edges, areas, values, schedule), expected, atol=1e-12)
    staged = BlockFluxes(blocks, areas)
    np.testing.assert_allclose(staged(values), expected, atol=1e-12)
    assert staged.loads == edge_metrics(edges, partition).copies + np.count_nonzero(edges.degrees)
    np.testing.assert_allclose(staged(values).sum(axis=0), 0, atol=1e-11)  # nothing is lost
