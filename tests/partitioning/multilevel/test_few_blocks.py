"""Few blocks: never worse than what rivals find on grids, combined partitions, any threads."""

import numpy as np
import pytest

import evener as ev
from evener.graphs.generating.delaunay import delaunay
from evener.graphs.generating.grid import grid as generated
from evener.graphs.graph import Graph
from evener.partitioning.levels.levels import finest
from evener.partitioning.multilevel.few_blocks import combined
from evener.partitioning.multilevel.level_state import MultilevelTask
from evener.partitioning.multilevel.multilevel import edge_weights, multilevel_blocks
from evener.partitioning.multilevel.presets import PRESETS
from tests.partitioning.multilevel.test_multilevel import contract_for, cut

SPEEDS = {
    "1,1": [1, 1],
    "2,1": [2, 1],
    "1,4": [1, 4],
    "1,1,4": [1, 1, 4],
    "1,2,4": [1, 2, 4],
    "1,1,1,1": [1, 1, 1, 1],
    "8,1,1,1": [8, 1, 1, 1],
    "1,1,2,2,4,4": [1, 1, 2, 2, 4, 4],
}
RIVALS = ("rcb", "metis", "metis-recursive")


def torus(*shape):
    """A grid whose opposite sides are neighbours."""
    index = np.arange(np.prod(shape)).reshape(shape)
    pairs = [(index.ravel(), np.roll(index, -1, axis).ravel()) for axis in range(len(shape))]
    coords = np.stack(np.unravel_index(index.ravel(), shape), 1).astype(float)
    return Graph.from_edges(
        index.size, np.concatenate([a for a, _ in pairs]), np.concatenate([b for _, b in pairs]),
        coords=coords,
    )  # fmt: skip


GRAPHS = {
    "plane": generated([90, 70]),
    "box": generated([18, 15, 12]),
    "periodic": torus(14, 12, 10),
}


@pytest.mark.parametrize("speeds", SPEEDS)
@pytest.mark.parametrize("name", GRAPHS)
def test_never_above_the_best_rival_on_grids(name, speeds):
    """At most 1 % more cut than the best of three others that keep the same contract."""
    graph, speeds = GRAPHS[name], SPEEDS[speeds]
    own = ev.plan(graph, speeds, objective="cut").evaluation.edge_cut
    others = [
        ev.plan(graph, speeds, objective="cut", tool=tool).evaluation.edge_cut for tool in RIVALS
    ]
    assert own <= 1.01 * min(others)


def test_two_planes_divide_a_periodic_box():
    plan = ev.plan(torus(15, 15, 15), [2, 1], objective="cut")
    assert plan.evaluation.edge_cut == 2 * 15 * 15


@pytest.mark.parametrize("coordinates", [True, False])
def test_the_same_blocks_whatever_the_threads(coordinates):
    graph = delaunay(40_000, seed=5)
    graph = graph if coordinates else graph.with_(coords=None)
    contract = contract_for(graph, np.array([1.0, 2.0, 4.0]))
    parts = [multilevel_blocks(graph, contract, threads=threads).part for threads in (1, 3)]
    assert (parts[0] == parts[1]).all()


@pytest.mark.parametrize("seed", range(3))
def test_combined_partitions_cut_no_more_than_the_better_one(seed):
    graph = delaunay(6_000, seed=seed).with_(coords=None)
    contract = contract_for(graph, np.array([1.0, 1.0, 2.0, 3.0]))
    one, other = (
        multilevel_blocks(graph, contract, seed=turn, preset="fast").part for turn in (1, 2)
    )
    assert (one != other).any()
    level = finest(graph, np.arange(graph.n), None, edge_weights(graph), 1)
    task = MultilevelTask(contract, PRESETS["default"], seed, 1)
    found = combined(level, one, other, task)
    assert cut(graph, found) <= min(cut(graph, one), cut(graph, other))
    weight = np.bincount(found, minlength=4)
    assert ((weight >= contract.low) & (weight <= contract.high)).all()


@pytest.mark.parametrize("shares", [[1, 0], [1, 0, 3], [0, 0, 1, 1]])
def test_targets_may_be_zero(shares):
    graph = generated([30, 30]).with_(coords=None)
    part = multilevel_blocks(graph, contract_for(graph, np.array(shares, float))).part
    assert set(np.unique(part)) <= set(np.flatnonzero(shares))


@pytest.mark.parametrize("speeds", ["2,1", "1,1,4", "8,1,1,1"])
@pytest.mark.parametrize("name", ["plane", "scattered"])
def test_strong_is_never_above_default(name, speeds):
    graph = generated([50, 40]) if name == "plane" else delaunay(2_000, seed=3)
    cuts = [
        ev.plan(graph, SPEEDS[speeds], objective="cut", preset=preset).evaluation.edge_cut
        for preset in ("default", "strong")
    ]
    assert cuts[1] <= cuts[0]
