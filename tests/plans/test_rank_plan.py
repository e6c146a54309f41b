"""What a rank has of a plan says what the whole plan says."""

import numpy as np

import evener as ev
from evener.graphs.generating.grid import grid
from evener.plans.rank_plan import RankPlan


def test_figures_are_those_of_the_whole_plan():
    whole = ev.plan(grid((8, 8)), 2)
    own = RankPlan(np.zeros(3, np.int32), whole.platform, whole.evaluation, None, 12)
    assert own.verdict() == whole.verdict()
    assert own.certificate is whole.certificate
    assert own.prediction is whole.prediction
    assert "3 vertices, 2 devices" in repr(own)
