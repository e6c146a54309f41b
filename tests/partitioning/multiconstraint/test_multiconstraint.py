"""Several weights a vertex: every limit is kept on meshes, whatever the weights; hard inputs."""

import numpy as np
import pytest

from evener.graphs.generating.delaunay import delaunay
from evener.graphs.graph import Graph
from evener.partitioning.multiconstraint.loads import loads_of
from evener.partitioning.multiconstraint.multiconstraint import several_blocks
from evener.partitioning.registry import partition_with
from evener.partitioning.requests import Request
from tests.assertions import grid, path
from tests.choosing import slow_but
from tests.examples import seeds
from tests.partitioning.by_hand import (
    any_graph,
    assert_is_partition,
    contract_of,
    cut,
    holds,
    weighted,
)

TOPO = np.r_[np.ones(10), np.full(2, 4.0), 16.0]


@pytest.fixture(scope="module")
def mesh():
    return delaunay(8000, seed=99)


@pytest.mark.parametrize("c", slow_but([2, 3]))
@pytest.mark.parametrize("shares", [np.ones(2), np.ones(9), TOPO])
@pytest.mark.parametrize("coordinates", [True, False])
def test_all_limits_hold(mesh, c, shares, coordinates):
    graph = weighted(mesh, 5, c)
    contract = contract_of(graph, shares)
    if not coordinates:
        graph = graph.with_(coords=None)
    part = several_blocks(graph, contract, preset="fast")
    assert_is_partition(graph, part, shares.size)
    assert holds(graph, part, contract)


def test_like_weights_start_from_kmeans(mesh):
    """Degrees are spread as vertices are: compact blocks, little more cut than with one weight."""
    graph = mesh.with_(vwgt=np.stack([np.ones(mesh.n, int), mesh.degrees], axis=1))
    contract = contract_of(graph, TOPO)
    part = several_blocks(graph, contract)
    assert holds(graph, part, contract)
    alone = partition_with("evener", mesh, Request(TOPO)).part
    assert cut(mesh, part) < 1.25 * cut(mesh, alone)


def test_a_weight_of_one_corner_reaches_every_block():
    """A phase that runs on a tenth of the graph: every block has its share of that tenth."""
    graph = grid(60, 60)
    active = (graph.coords.sum(axis=1) < 27).astype(int)
    graph = graph.with_(vwgt=np.stack([np.ones(graph.n, int), active], axis=1))
    contract = contract_of(graph, np.ones(4), 0.05)
    assert holds(graph, several_blocks(graph, contract), contract)


@pytest.mark.parametrize("preset", ["fast", "default", "strong"])
def test_threads_change_nothing(mesh, preset):
    graph = weighted(mesh, 3)
    contract = contract_of(graph, TOPO)
    one, two = (several_blocks(graph, contract, preset=preset, threads=t) for t in (1, 2))
    assert (one == two).all()


def test_seed_decides():
    graph = weighted(grid(40, 40), 3).with_(coords=None)
    contract = contract_of(graph, np.ones(5))
    first, again, other = (several_blocks(graph, contract, seed=s) for s in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()


@pytest.mark.parametrize("seed", seeds(60))
def test_any_small_graph(seed):
    """Stars, pieces, zero, huge and real weights: blocks for all vertices, nothing hangs."""
    graph = any_graph(seed, coords=seed % 2 == 0)
    rng = np.random.default_rng(seed)
    c = int(rng.integers(2, 4))
    columns = [rng.choice([0.0, 1, 2, 50, 1e9, 0.1], graph.n) for _ in range(c)]
    graph = graph.with_(vwgt=np.stack(columns, axis=1))
    k = int(rng.integers(1, min(graph.n, 6) + 1))
    part = several_blocks(graph, contract_of(graph, rng.choice([1.0, 16], k)))
    assert_is_partition(graph, part, k)


@pytest.mark.parametrize("make", [lambda: path(50), lambda: Graph.from_edges(50, [], [])])
def test_paths_and_no_edges(make):
    graph = make()
    graph = graph.with_(vwgt=np.stack([np.ones(50, int), np.arange(50) % 2], axis=1))
    contract = contract_of(graph, np.ones(5), 0.0)
    assert holds(graph, several_blocks(graph, contract), contract)


def test_one_huge_vertex():
    """What it weighs fits nowhere: the rest is divided all the same."""
    graph = grid(20, 20)
    heavy = np.ones(graph.n, int)
    heavy[37] = 10_000
    graph = graph.with_(vwgt=np.stack([np.ones(graph.n, int), heavy], axis=1))
    part = several_blocks(graph, contract_of(graph, np.ones(4)))
    assert np.bincount(part, minlength=4).min() > 0


def test_as_many_blocks_as_vertices():
    graph = grid(4, 4).with_(vwgt=np.ones((16, 2), int))
    part = several_blocks(graph, contract_of(graph, np.ones(16)))
    assert sorted(part) == list(range(16))


def test_bytes_and_empty_blocks_are_columns():
    graph = grid(6, 6).with_(vwgt=np.ones((36, 2)))
    contract = contract_of(graph, np.ones(3))
    assert loads_of(graph, contract)[0].shape == (36, 2)
    capped = type(contract)(
        contract.targets, contract.low * 0, contract.high, np.array([1e4, np.inf, np.inf]),
        tuple(type(one)(one.targets, one.low * 0, one.high) for one in contract.further),
    )  # fmt: skip
    loads, bounds = loads_of(graph, capped)
    assert loads.shape == (36, 4)
    assert bounds.asked == 2
    assert np.isinf(bounds.high[1:, 2]).all()
    assert (bounds.low[:, 3] == 1).all()
