"""Rounds of sizes go by the halos that blocks have."""

import numpy as np

from evener.graphs.generating.delaunay import delaunay
from evener.planning.makespan.candidates import candidate_of
from evener.planning.makespan.problem import MakespanProblem
from evener.planning.makespan.size_rounds import law_through
from evener.planning.makespan.slabs import Slabs
from evener.plans.workload import WEIGHTS
from evener.platforms.examples import tree

CLUSTER = tree([3, 4], fast=1, speed=16e8, slow_speed=1e8)


def test_the_law_goes_through_the_blocks_it_is_made_of_and_grows():
    graph = delaunay(2000, seed=5)
    problem = MakespanProblem.of(graph, CLUSTER, WEIGHTS)
    one = candidate_of(problem, Slabs(problem).blocks(np.full(12, graph.n / 12)))
    exchange, masks = law_through(one, problem, 0.5), np.ones((1, 12), bool)
    seconds, border = exchange(one.loads[None], masks)
    assert np.allclose(seconds[0], one.prediction.communicate)
    assert np.allclose(border[0], one.quotient.boundary / one.sizes)
    more, thinner = exchange(4 * one.loads[None], masks)
    assert (more > seconds).all()
    assert np.allclose(thinner, border / 2)
