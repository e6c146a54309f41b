"""No mapping of the plan of least cut falls below the bound by which it is left unmapped."""

from itertools import permutations

import numpy as np
import pytest

from evener.graphs.generating.delaunay import delaunay
from evener.planning.makespan.baselines import least_seconds_on, may_be_mapped_below
from evener.planning.makespan.candidates import candidate_of
from evener.planning.makespan.problem import MakespanProblem
from evener.plans import metrics
from evener.plans.partition import Contract, Partition
from evener.plans.workload import WEIGHTS
from evener.platforms.platform import Connection, Device, Link, Platform


def unlike_pairs():
    """Two old devices, three new ones: near ones and far ones."""
    devices = [Device(f"d{i}", speed) for i, speed in enumerate([1e6, 1e6, 2e6, 2e6, 2e6])]
    links = [
        Connection((f"d{i}", f"d{j}"), Link(1e-6 * (i + j), 1e-8 * (1 + i * j)))
        for i in range(5)
        for j in range(i)
    ]
    return Platform(tuple(devices), connections=tuple(links))


@pytest.mark.parametrize("seed", range(3))
def test_no_mapping_is_done_sooner_than_the_bound_says(seed):
    rng, platform, graph = np.random.default_rng(seed), unlike_pairs(), delaunay(300, seed=seed)
    part = rng.choice(5, 300, p=platform.speeds / platform.speeds.sum()).astype(np.int32)
    problem = MakespanProblem.of(graph, platform, WEIGHTS)
    one = candidate_of(problem, part)
    targets = 300 * platform.speeds / platform.speeds.sum()
    contract = Contract(targets, 0.7 * targets, 1.3 * targets)
    bound, makespans = least_seconds_on(problem, one, contract), []
    for device in permutations(range(5)):
        fits = [np.isfinite(bound[b, d]) for b, d in enumerate(device)]
        if all(fits):
            moved = Partition(np.array(device, np.int32)[part], 5)
            made = metrics.predicted_seconds(graph, moved, platform, WEIGHTS)
            taken = made.seconds[list(device)]
            assert (bound[np.arange(5), device] <= taken * (1 + 1e-12)).all()
            makespans.append(made.makespan)
    best = min(makespans)
    assert len(makespans) > 1
    assert may_be_mapped_below(best * (1 + 1e-9), problem, one, contract)
    assert not may_be_mapped_below(0.2 * best, problem, one, contract)
