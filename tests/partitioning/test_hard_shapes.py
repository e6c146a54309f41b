"""Shapes that break partitioners, at every preset and objective: the contract holds, or an error
says why; and every gain that a search acts on is what the objective falls by.
"""

import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from evener.errors import InfeasibleError, NotFoundError
from evener.graphs.graph import Graph
from evener.partitioning.enforce import enforce
from evener.partitioning.registry import partition_with
from evener.partitioning.requests import OBJECTIVES, PRESETS, Request
from evener.plans.partition import Partition
from tests.assertions import grid
from tests.partitioning.by_hand import clique, faults, islands, path, star, unit_contract
from tests.partitioning.by_hand import real_contract as contract_of

pytestmark = pytest.mark.slow

RNG = np.random.default_rng(8_128)


def huge_vertex():
    weights = np.ones(400)
    weights[123] = 1e6
    return grid(20, 20, vwgt=weights)


def heavy_vertex():
    weights = np.ones(400)
    weights[123] = 60
    return grid(20, 20, vwgt=weights)


def two_squares():
    one = grid(15, 15)
    u = np.repeat(np.arange(225), one.degrees)
    v = one.adjncy.astype(np.int64)
    return Graph.from_edges(450, np.r_[u, u + 225], np.r_[v, v + 225])


SHAPES = {
    "disconnected": two_squares,
    "star": lambda: star(300),
    "path": lambda: path(300),
    "clique": lambda: clique(40),
    "islands": lambda: islands(300),
    "no edges": lambda: Graph.from_edges(200, [], []),
    "one heavy vertex": heavy_vertex,
    "one huge vertex": huge_vertex,
    "vertices of no weight": lambda: grid(20, 20, vwgt=np.arange(400) % 3),
    "edges of no weight": lambda: grid(20, 20, weights=np.arange(760) % 2),
    "all edges of no weight": lambda: grid(20, 20, weights=np.zeros(760)),
    "one place": lambda: grid(20, 20, coords=np.zeros((400, 2))),
    "on a line": lambda: grid(20, 20, coords=np.outer(np.arange(400) % 20, np.ones(3))),
    "few places": lambda: grid(20, 20, coords=RNG.integers(0, 3, (400, 2)).astype(float)),
}
SPEEDS = np.array([1.0, 1, 2, 4])


def kept_or_refused(graph, contract, preset, objective):
    """Partition and repair; None where an error of ours says that it cannot be."""
    request = Request(
        contract.targets, objective=objective, preset=preset, low=contract.low, high=contract.high
    )
    part = partition_with("evener", graph, request).part
    try:
        kept = enforce(graph, Partition(part, contract.k), contract).partition
    except (InfeasibleError, NotFoundError):
        return None
    assert faults(graph, kept.part, contract) == []
    return kept.part


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(shape, preset, objective):
    graph = SHAPES[shape]()
    make = unit_contract if graph.is_unit else contract_of
    contract = make(graph.n if graph.is_unit else graph.total_weight, SPEEDS, 0.05)
    part = kept_or_refused(graph, contract, preset, objective)
    assert (part is None) == (shape == "one huge vertex")


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("coordinates", [True, False])
def test_extreme_machines(coordinates, preset, objective):
    """One block, as many as vertices, and one device that takes 99 %."""
    graph = grid(16, 16) if coordinates else grid(16, 16, coords=None)
    for speeds in (np.ones(1), np.ones(256), np.r_[99.0, np.full(4, 0.25)]):
        contract = unit_contract(256, speeds, 0.03)
        assert kept_or_refused(graph, contract, preset, objective) is not None


@pytest.mark.parametrize("places", [1, 2, 5, 30])
def test_coordinates_that_say_little_do_no_harm(places):
    """Where few points are distinct, the cut is as good as without any."""
    spots = np.random.default_rng(places).random((places, 2))
    at = np.random.default_rng(5).integers(0, places, 2500)
    contract = unit_contract(2500, [1, 1, 2, 4], 0.03)
    cuts = []
    for coords in (spots[at], None):
        graph = grid(50, 50, coords=coords)
        part = kept_or_refused(graph, contract, "default", "cut")
        ends = np.repeat(part, graph.degrees)
        cuts.append((ends != part[graph.adjncy]).sum() / 2)
    assert cuts[0] <= 1.05 * cuts[1]


STEPPED = """
    import numpy as np
    from evener.partitioning.initial.bisection import cut_of
    from evener.partitioning.refinement import fm_kernels, volumes_kernels
    from evener.partitioning.refinement.fm import (FMEffort, boundary_flags, refine_level)
    from evener.partitioning.refinement.fm_kernels import BlockState, WeightLimits
    from evener.partitioning.levels.levels import finest
    from evener.partitioning.multilevel.multilevel import edge_weights
    from evener.partitioning.refinement.volumes import AIMS, connectivity_tables, refine_volumes
    from tests.partitioning.by_hand import priced_cut
    from tests.partitioning.by_hand import any_contract, any_graph, any_k, any_part

    np.seterr(all="ignore")
    looked, moved = 0, 0
    best_move, move = fm_kernels.best_move, volumes_kernels.move

    def checked_best_move(graph, blocks, group_of, group, v, *more):
        global looked
        gain, to = best_move(graph, blocks, group_of, group, v, *more)
        part = blocks.part
        if to >= 0:
            after = part.copy()
            after[v] = to
            fallen = priced_cut(level, part, price) - priced_cut(level, after, price)
            assert fallen == gain, (seed, v, to, gain, fallen)
            looked += 1
        return gain, to

    def checked_move(tables, v, q):
        global moved
        size = move(tables, v, q)
        part = tables.part.copy()
        again = connectivity_tables(level, part, k, boundary_flags(level, part, 1))
        for name in ("volumes", "sent"):
            assert (getattr(tables, name) == getattr(again, name)).all(), (seed, v, q, name)
        moved += 1
        return size

    fm_kernels.best_move, volumes_kernels.move = checked_best_move, checked_move
    for seed in range(60):
        graph = any_graph(seed, most=14)
        k = max(2, any_k(graph, seed))
        part, contract = any_part(graph, k, seed), any_contract(graph, k, seed)
        level = finest(graph, np.arange(graph.n), graph.weights(), edge_weights(graph), 1)
        price = np.random.default_rng(seed).integers(8, 20, k)
        slack = np.maximum(0.1 * contract.targets, level.vwgt.max())
        low, high = contract.low, contract.high
        limits = WeightLimits(low, high, low - slack, high + slack)
        weight = np.bincount(part, level.vwgt, k).astype(float)
        flag = boundary_flags(level, part, 1)
        blocks = BlockState(part, weight, price, limits)
        refine_level(level, blocks, flag, 2, FMEffort(), seed, 1)
        part = any_part(graph, k, seed + 1000)
        weight = np.bincount(part, level.vwgt, k).astype(float)
        for aim in AIMS.values():
            flag = boundary_flags(level, part, 1)
            refine_volumes(level, part, weight, limits, aim, flag, seed)
    print(looked, moved)
"""


def test_every_gain_is_exact_step_by_step():
    """The searches run as plain Python, with a full count after every look and every move."""
    environment = {"NUMBA_DISABLE_JIT": "1", "PATH": "/usr/bin:/bin"}
    root = Path(__file__).parents[2]
    environment["PYTHONPATH"] = f"{root / 'src'}:{root}"
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(STEPPED)],
        capture_output=True, text=True, check=False, env=environment, timeout=250,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    looked, moved = map(int, done.stdout.split())
    assert looked > 500
    assert moved > 100
