"""Blocks along a tree: contracts, any tree, any graph, near blocks on near devices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.errors import InputError
from evener.graphs.generating.delaunay import delaunay
from evener.graphs.generating.random_graphs import rmat
from evener.graphs.graph import Graph
from evener.partitioning.hierarchical import geohier_blocks, hierarchical_blocks
from evener.partitioning.initial.kmeans import kmeans_blocks
from evener.partitioning.initial.trees import device_tree
from evener.partitioning.multilevel.multilevel import multilevel_blocks
from evener.partitioning.registry import partition_with
from evener.partitioning.requests import Request
from evener.plans import metrics
from evener.plans.partition import Contract, Partition
from evener.platforms.examples import grid as grid_of_links
from tests.assertions import grid, path, random_graphs
from tests.choosing import slow_but
from tests.examples import with_examples
from tests.partitioning.by_hand import assert_is_partition

NONE = np.empty((0, 3), np.int64)
# Two nodes; one of two sockets of unlike size, one that has none; a device beside the nodes.
UNEQUAL = np.array([[0] * 7 + [1] * 4 + [2], [0] * 4 + [1] * 3 + [2, 3, 4, 5, 6]])
SHARES = np.array([4.0, 1, 1, 1, 8, 1, 1, 2, 2, 2, 2, 16])


def contract_for(graph, shares, epsilon=0.03):
    targets = graph.total_weight * shares / shares.sum()
    low, high = (1 - epsilon) * targets, (1 + epsilon) * targets
    if graph.is_unit:
        low = np.minimum(np.floor(targets), np.ceil(low))
        high = np.maximum(np.ceil(targets), np.floor(high))
    return Contract(targets, low, high)


def balanced_tree(*fan_outs):
    """Rows of a tree of these fan-outs, the devices in order."""
    k = int(np.prod(fan_outs))
    sizes = [k // int(np.prod(fan_outs[: i + 1])) for i in range(len(fan_outs) - 1)]
    return np.array([np.arange(k) // size for size in sizes]).reshape(len(sizes), k)


def between_groups(graph, part, row):
    """Edges between different groups."""
    ends = np.repeat(row[part], graph.degrees)
    return int((ends != row[part[graph.adjncy]]).sum()) // 2


@pytest.fixture(scope="module")
def mesh():
    return delaunay(12000, seed=99)


@pytest.mark.parametrize("coordinates", [True, False])
@pytest.mark.parametrize(
    ("tree", "shares"),
    [(balanced_tree(2, 3, 2), np.ones(12)), (UNEQUAL, SHARES), (NONE, np.array([1.0, 2, 4]))],
    ids=["balanced", "unequal", "none"],
)
@pytest.mark.parametrize("preset", slow_but(["fast", "default", "strong"], 1))
def test_contracts_hold(mesh, coordinates, tree, shares, preset):
    graph = mesh if coordinates else Graph(mesh.xadj, mesh.adjncy)
    contract = contract_for(graph, shares)
    part = hierarchical_blocks(graph, contract, tree, preset=preset)
    assert_is_partition(graph, part, shares.size)
    found = np.bincount(part, minlength=shares.size)
    assert contract.keeps(found, found, np.zeros(shares.size)).all()


@pytest.mark.slow
@pytest.mark.parametrize("coordinates", [True, False])
def test_less_crosses_the_upper_levels_than_without_the_tree(mesh, coordinates):
    graph = mesh if coordinates else Graph(mesh.xadj, mesh.adjncy)
    tree = balanced_tree(4, 3, 4)
    contract = contract_for(graph, np.ones(48))
    along = hierarchical_blocks(graph, contract, tree)
    flat = multilevel_blocks(graph, contract).part
    # Flat blocks are numbered by bisection where that wins: near numbers are neighbours too.
    # Without coordinates the flat blocks come from bisections too, and are near each other.
    for row, share in ((tree[0], 1.0), (tree[1], 0.85)):
        assert between_groups(graph, along, row) < share * between_groups(graph, flat, row)
    everyone = np.arange(48)
    assert between_groups(graph, along, everyone) < 1.1 * between_groups(graph, flat, everyone)


@pytest.mark.parametrize("coordinates", [True, False])
def test_threads_change_nothing(mesh, coordinates):
    graph = mesh if coordinates else Graph(mesh.xadj, mesh.adjncy)
    contract = contract_for(graph, SHARES)
    once = hierarchical_blocks(graph, contract, UNEQUAL, seed=3)
    assert (hierarchical_blocks(graph, contract, UNEQUAL, seed=3, threads=4) == once).all()


def test_uneven_degrees_without_coordinates():
    graph = rmat(12, seed=99)
    contract = contract_for(graph, SHARES)
    part = hierarchical_blocks(graph, contract, UNEQUAL)
    found = np.bincount(part, minlength=12)
    assert contract.keeps(found, found, np.zeros(12)).all()
    scattered = np.random.default_rng(5).permutation(part)
    assert between_groups(graph, part, UNEQUAL[0]) < between_groups(graph, scattered, UNEQUAL[0])


@pytest.mark.parametrize("objective", ["total_volume", "max_volume"])
def test_volumes_are_lowered_in_the_end(mesh, objective):
    contract = contract_for(mesh, SHARES)

    def volumes(goal):
        part = hierarchical_blocks(mesh, contract, UNEQUAL, objective=goal)
        return metrics.comm_volumes(metrics.quotient(mesh, Partition(part, 12)))

    plain, lowered = volumes("cut"), volumes(objective)
    if objective == "total_volume":
        assert lowered.sum() <= plain.sum()
    else:
        assert lowered.max() < plain.max()


@with_examples(60)
@given(data=st.data(), graph=random_graphs())
def test_any_graph_and_tree(data, graph):
    k = data.draw(st.integers(1, 6))
    row = np.array(data.draw(st.lists(st.integers(0, 2), min_size=k, max_size=k)))
    below = 3 * row + np.array(data.draw(st.lists(st.integers(0, 2), min_size=k, max_size=k)))
    shares = np.array(data.draw(st.lists(st.integers(1, 9), min_size=k, max_size=k)), float)
    if graph.total_weight == 0:
        graph = graph.with_(vwgt=None)
    contract = contract_for(graph, shares)
    assert_is_partition(graph, hierarchical_blocks(graph, contract, np.array([row, below])), k)


@pytest.mark.parametrize(
    "graph",
    [
        grid(4, 3),
        grid(4, 3, coords=None),
        path(12),
        Graph.from_edges(12, [], []),
        grid(4, 3, vwgt=np.r_[1000, np.ones(11)]),
        grid(4, 3, vwgt=np.r_[np.zeros(11), 5.0]),
        grid(4, 3, coords=np.zeros((12, 2))),
    ],
    ids=["grid", "plain", "path", "isolated", "huge", "one", "equal"],
)
def test_as_many_blocks_as_vertices(graph):
    part = hierarchical_blocks(graph, contract_for(graph, np.ones(12)), balanced_tree(2, 3, 2))
    assert_is_partition(graph, part, 12)


def test_by_name_with_blocks_unused(mesh):
    targets = SHARES.copy()
    targets[[0, 1, 2, 3, 11]] = 0  # a whole socket and the device beside the nodes
    result = partition_with("hierarchical", mesh, Request(targets, tree=UNEQUAL))
    assert set(np.unique(result.part)) == set(np.flatnonzero(targets).tolist())
    assert "2 > 5 > 7" in result.notes[-1]
    flat = partition_with("hierarchical", mesh, Request(np.ones(3)))
    assert "at one place" in flat.notes[-1]


def test_deep_trees_are_gone_along_in_larger_steps(mesh):
    """A grid of devices is halved six times; three divisions do."""
    tree = device_tree(grid_of_links((8, 8)))
    contract = contract_for(mesh, np.ones(64))
    part = hierarchical_blocks(mesh, contract, tree)
    found = np.bincount(part, minlength=64)
    assert contract.keeps(found, found, np.zeros(64)).all()
    shuffled = np.random.default_rng(4).permutation(64)[part]
    assert between_groups(mesh, part, tree[1]) < 0.5 * between_groups(mesh, shuffled, tree[1])


def cut_of(graph, part, k):
    return metrics.edge_cut(metrics.quotient(graph, Partition(part, k)))


@pytest.mark.parametrize("d", [2, 3])
def test_k_means_along_the_tree_is_smoothed_to_the_cut_of_flat_k_means(d):
    graph = delaunay(4000, 31, d)
    tree, contract = balanced_tree(4, 6), contract_for(graph, np.r_[np.ones(20), np.full(4, 3.0)])
    rough = geohier_blocks(graph, contract, tree, smooth=False)
    smooth = geohier_blocks(graph, contract, tree, threads=2)
    flat = kmeans_blocks(graph.coords, None, contract.targets)
    assert cut_of(graph, smooth, 24) < cut_of(graph, rough, 24)
    assert cut_of(graph, smooth, 24) < 1.06 * cut_of(graph, flat, 24)
    for part in (rough, smooth):
        assert_is_partition(graph, part, 24)
        assert np.bincount(part) == pytest.approx(contract.targets, rel=0.1)
    # Without smoothing, the blocks of a group make up a block of the first level.
    groups = geohier_blocks(
        graph, contract_for(graph, np.r_[6.0, 6, 6, 14]), NONE[:, :0], smooth=False
    )
    assert (tree[0][rough] == groups).mean() > 0.999
    again = geohier_blocks(graph, contract, tree)
    assert (again == smooth).all()


def test_k_means_along_the_tree_by_name():
    graph = delaunay(900, 5)
    request = Request(SHARES, tree=UNEQUAL)
    found = partition_with("geohier", graph, request)
    assert "follows the levels of the machine: 3 > 7 > 12" in found.notes[1]
    assert_is_partition(graph, found.part, 12)
    flat = partition_with("geohier", graph, Request(SHARES))
    assert "no levels to divide along" in flat.notes[1]


def test_k_means_along_the_tree_of_any_graph_and_tree():
    for seed, graph in enumerate(
        [grid(9, 9), path(30).with_(coords=np.zeros((30, 2))), grid(4, 4)]
    ):
        heavy = graph.with_(vwgt=1.0 + np.arange(graph.n) % 3)
        part = geohier_blocks(heavy, contract_for(heavy, SHARES), UNEQUAL)
        assert_is_partition(heavy, part, 12), seed
    with pytest.raises(InputError, match="needs coordinates"):
        geohier_blocks(grid(4, 4, coords=None), contract_for(grid(4, 4), np.ones(2)), NONE[:, :2])
