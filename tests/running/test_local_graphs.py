"""What a part of a graph says of itself."""

import numpy as np
import pytest

import evener as ev
from evener.plans.partition import Partition
from evener.running.distributing import distribute
from evener.running.local_graphs import UNSIGNED, signed, unsigned


def test_bytes_are_those_of_the_arrays():
    graph = ev.DirectedGraph.from_arcs(4, [0, 1, 2], [1, 2, 3], weights=[1.0, 2.0, 3.0])
    local = distribute(graph, Partition([0, 0, 1, 1], 2), want="both")[0]
    arrays = [local.numbers, local.ghost_starts, local.degrees, *local.sends.values()]
    assert local.nbytes == sum(a.nbytes for a in (*arrays, *local.out, *local.into))
    undirected = distribute(graph.undirected(), Partition([0, 0, 1, 1], 2))[0]
    assert undirected.nbytes == (
        sum(a.nbytes for a in (undirected.numbers, undirected.ghost_starts))
        + undirected.degrees.nbytes + undirected.sends[1].nbytes
        + sum(a.nbytes for a in undirected.out)
    )  # fmt: skip


@pytest.mark.parametrize("count", [0, UNSIGNED // 2 - 1, UNSIGNED // 2, UNSIGNED - 1, UNSIGNED])
def test_types_hold_what_they_count(count):
    assert np.iinfo(signed(count)).max >= count
    assert np.iinfo(unsigned(count)).max >= count


@pytest.mark.parametrize("want", ["out", "into"])
def test_a_whole_graph_keeps_neither_numbers_nor_degrees_that_its_arcs_tell(want):
    graph = ev.DirectedGraph.from_arcs(4, [0, 1, 2, 2], [1, 2, 3, 0])
    local = distribute(graph, Partition([0] * 4, 1), want=want)[0]
    assert local.numbers.tolist() == local.owned.tolist() == [0, 1, 2, 3]
    assert local.degrees.tolist() == [1, 1, 2, 0]
    kept = 0 if want == "out" else local.degrees.nbytes
    arcs = local.out if want == "out" else local.into
    assert local.nbytes == arcs.nbytes + local.ghost_starts.nbytes + kept
