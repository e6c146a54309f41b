"""Section 3.4 of [SPAC]_ on all small graphs: what is enumerated, and that criteria can fail."""

from collections import Counter
from math import comb

import numpy as np
import pytest

from evener.graphs.edge_list import EdgeList
from evener.splitting.split_and_connect import clone_graph
from papers.spac import theorems
from papers.spac.theorems import (
    BLOCKS,
    case_of,
    connected_graphs,
    copied,
    cuts,
    even_partitions,
    matching,
    path,
    ring,
)
from tests.choosing import slow_but
from tests.splitting.test_split_and_connect import cut_of, slow_copies


def test_all_connected_graphs_are_there_once():
    """As many as the encyclopaedia of integer sequences has (A001349)."""
    graphs = list(connected_graphs(6))
    vertices = Counter(max(max(edge) for edge in edges) + 1 for edges in graphs)
    assert vertices == {2: 1, 3: 2, 4: 6, 5: 21, 6: 112}


@pytest.mark.parametrize(
    ("m", "k", "most", "number"),
    [
        (6, 2, 3, comb(6, 3) / 2), (6, 3, 2, 15), (5, 2, 3, comb(5, 2)), (2, 3, 1, 1),
        (4, 2, 4, 8),  # all in one block too: epsilon = 1 for k = 2
    ],
)  # fmt: skip
def test_all_partitions_are_there_once(m, k, most, number):
    labels = even_partitions(m, k, most)
    assert len(np.unique(labels, axis=0)) == len(labels) == number
    assert all((labels == block).sum(axis=1).max() <= most for block in range(k))


def test_cuts_of_a_vertex_by_hand():
    """Clones of blocks 0, 1, 0, 1: one change where they are sorted, else up to three."""
    labels = np.array([[0, 1, 0, 1], [0, 0, 1, 2]], np.int8)
    assert [own.tolist() for own in cuts(labels, path)] == [[1, 2], [3, 3]]
    assert [own.tolist() for own in cuts(labels, ring)] == [[2, 3], [4, 4]]
    assert [own.tolist() for own in cuts(labels, matching)] == [[0, 1], [2, 2]]
    assert copied(labels).tolist() == [1, 2]


@pytest.mark.parametrize("connect", [path, ring])
def test_copies_and_cuts_are_those_of_the_graph_of_clones(connect):
    """Of which dominant edges are not cut. Clones are in the order of the vertex's edges."""
    graphs = [edges for edges in connected_graphs(4) if len(edges) > 2]
    assert len(graphs) == 7
    for edges in graphs:
        given = EdgeList(1 + max(map(max, edges)), *np.array(edges).T)
        clones = clone_graph(given, closed=connect is ring)
        case = case_of(edges, 2, connect)
        for i, part in enumerate(even_partitions(len(edges), 2, -(-len(edges) // 2))):
            of_clones = np.empty(2 * len(edges), np.int8)
            of_clones[clones.slots] = part[:, None]
            assert case.numbered[i] == cut_of(clones.graph, of_clones)
            assert case.copies[i] == slow_copies(given, part)
            assert case.least[i] <= case.numbered[i] <= case.most[i]


@pytest.mark.parametrize("most", slow_but((5, theorems.VERTICES)))
def test_the_theorems_hold_and_counter_examples_fail(most):
    found = {one.where: one for one in theorems.all_findings(most)}
    assert [one.verdict for one in found.values()] == ["held"] * 3 + ["partly", "held"]
    assert all(criterion.met for one in found.values() for criterion in one.criteria)
    assert all(one.counter.verdict in ("partly", "not held") for one in found.values())


def test_what_is_tried_is_said():
    trial = theorems.tried(4)
    assert len(trial.cases) == 9 * len(BLOCKS)
    assert "all 9 connected graphs of 2 to 4 vertices" in theorems.copies_within_cut(trial).tried
