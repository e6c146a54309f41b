"""Connected blocks wherever the graph is, as SciPy counts pieces; what cannot be is named."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from evener.errors import InfeasibleError
from evener.graphs.generating.grid import grid
from evener.partitioning.enforce import enforce
from evener.plans.partition import Partition
from tests.examples import with_examples
from tests.partitioning.by_hand import GRAPHS, faults, graph_of, path, star, unit_contract


def broken_blocks(graph, part, k):
    """Blocks with two pieces in one component of the graph, or a piece beside a larger one
    that is not a whole component."""
    ones = np.ones(graph.adjncy.size)
    whole = csr_array((ones, graph.adjncy, graph.xadj), shape=(graph.n, graph.n))
    _, component = connected_components(whole, directed=False)
    found = set()
    for b in range(k):
        members = np.flatnonzero(part == b)
        count, piece = connected_components(whole[members][:, members], directed=False)
        sizes = np.bincount(piece, minlength=count)
        partial = [
            p
            for p in range(count)
            if sizes[p] < (component == component[members[piece == p][0]]).sum()
        ]
        largest = [p for p in partial if sizes[p] == sizes.max()]
        if len(partial) > 1 or (partial and not largest):
            found.add(b)
    return found


@pytest.mark.slow
@given(
    st.integers(4, 60), st.integers(2, 6), st.sampled_from(sorted(GRAPHS)), st.integers(0, 9),
    st.sampled_from([0.03, 0.3]),
)  # fmt: skip
@with_examples(150)
def test_what_is_not_in_one_piece_is_named(n, k, kind, seed, epsilon):
    graph = GRAPHS[kind](n)
    k = min(k, n)
    contract = unit_contract(n, [1] * k, epsilon)
    part = np.random.default_rng(seed).integers(0, k, n)
    result = enforce(graph, Partition(part, k), contract, connected=True)
    assert faults(graph, result.partition.part, contract) == []
    assert broken_blocks(graph, result.partition.part, k) <= set(result.disconnected)


@pytest.mark.parametrize("k", [2, 5, 16])
def test_scraps_are_joined_on_a_grid(k):
    graph = grid((60, 60))
    part = np.arange(graph.n) * k // graph.n
    scraps = np.random.default_rng(k).choice(graph.n, 60, replace=False)
    part[scraps] = (part[scraps] + 1) % k
    contract = unit_contract(graph.n, [1] * k, 0.03)
    assert broken_blocks(graph, part, k)
    result = enforce(graph, Partition(part, k), contract, connected=True)
    assert result.disconnected == ()
    assert broken_blocks(graph, result.partition.part, k) == set()
    assert faults(graph, result.partition.part, contract) == []


def test_connected_from_equal_to_unequal_blocks():
    graph, k = grid((64, 64)), 8
    contract = unit_contract(graph.n, [16, 16, 1, 1, 1, 1, 1, 1], 0.03)
    part = np.arange(graph.n) * k // graph.n
    result = enforce(graph, Partition(part, k), contract, connected=True)
    assert broken_blocks(graph, result.partition.part, k) == set(result.disconnected)
    assert len(result.disconnected) <= 2


def test_a_star_names_all_blocks_but_the_hubs():
    part = np.arange(12) % 3
    result = enforce(star(12), Partition(part, 3), unit_contract(12, [1] * 3, 0), connected=True)
    hub = result.partition.part[0]
    assert set(result.disconnected) == {0, 1, 2} - {hub}


def test_whole_components_count_as_connected():
    graph = graph_of(6, [(0, 1), (2, 3), (4, 5)])
    part = np.array([0, 0, 1, 1, 0, 0])
    contract = unit_contract(6, [2, 1], 0)
    result = enforce(graph, Partition(part, 2), contract, connected=True)
    assert result.moved == 0
    assert result.disconnected == ()


def test_a_fine_partition_stays_as_it_is():
    part = np.repeat([0, 1, 2], 10)
    result = enforce(path(30), Partition(part, 3), unit_contract(30, [1] * 3, 0), connected=True)
    assert result.moved == 0
    assert result.disconnected == ()


def test_without_the_wish_nothing_is_named_or_moved():
    part = np.arange(30) % 3
    result = enforce(path(30), Partition(part, 3), unit_contract(30, [1] * 3, 0))
    assert (result.moved, result.disconnected) == (0, ())


def test_more_blocks_than_vertices_is_refused():
    with pytest.raises(InfeasibleError):
        enforce(
            path(3), Partition(np.arange(3), 4), unit_contract(3, [1] * 4, 0.03), connected=True
        )
