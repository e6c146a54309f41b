"""Candidates made faster: refined by seconds, within limits, fixed vertices where they are."""

import numpy as np
import pytest

from evener.errors import InfeasibleError
from evener.planning.makespan.candidates import CandidateMaker
from evener.planning.makespan.improvements import refinements
from evener.planning.makespan.problem import EFFORTS, MakespanProblem
from evener.plans.workload import WEIGHTS
from evener.platforms.platform import Device, Level, Link, Platform
from tests.assertions import grid


def problem_of(graph, speeds, fixed, **more):
    devices = tuple(Device(f"d{b}", s, **more) for b, s in enumerate(speeds))
    platform = Platform(devices, levels=(Level("net", Link(1.0, 0.01)),))
    low, high = platform.low_units, platform.high_units
    return MakespanProblem(graph, platform, WEIGHTS, low, high, fixed)


@pytest.mark.parametrize("preset", EFFORTS)
def test_fixed_vertices_stay_while_a_plan_gets_faster(preset):
    graph = grid(24, 24)
    part = (np.arange(576) // 288).astype(np.int32)
    fixed = np.random.default_rng(3).random(576) < 0.2
    maker = CandidateMaker(problem_of(graph, [1.0, 3.0], fixed))
    first = maker.make("given", part)
    tried = refinements(first, maker, EFFORTS[preset], 7, 1)
    assert (tried[-1].part == part)[fixed].all()
    assert (first.part == part).all()
    assert tried[-1].seconds < 0.9 * first.seconds


def test_blocks_beyond_memory_give_only_vertices_that_may_move():
    graph = grid(24, 24)
    part = (np.arange(576) // 400).astype(np.int32)
    fixed = np.arange(576) < 200
    roomy = problem_of(graph, [1.0, 1.0], fixed, memory=0.6 * graph.total_bytes)
    kept = roomy.within_limits(part)
    assert (kept == part)[fixed].all()
    assert 200 < (kept == 0).sum() < 400
    tight = problem_of(graph, [1.0, 1.0], fixed, memory=0.3 * graph.total_bytes)
    with pytest.raises(InfeasibleError, match="vertices fixed there need"):
        tight.within_limits(part)
