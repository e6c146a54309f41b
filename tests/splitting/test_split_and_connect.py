"""Split-and-connect: its definition, and its theorems on tiny graphs drawn at random.

papers/spac/theorems.py tries all graphs of up to six vertices.
"""

from itertools import product

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from evener.graphs.edge_list import EdgeList
from evener.graphs.graph import Graph
from evener.plans.partition import Contract
from evener.splitting import split_and_connect
from evener.splitting.methods import split_with
from evener.splitting.split_and_connect import (
    DOMINANT_WEIGHT,
    blocks_of_edges,
    clone_graph,
    contracted_graph,
    dominant_weight,
    order_by,
)
from evener.splitting.splits import PRESETS
from tests.examples import with_examples
from tests.graphs.test_edge_list import edge_lists
from tests.plans.test_edge_partition import slow_copies

TWO = np.array([1.0, 1.0])


def slow_links(edges, incidence, *, closed):
    """Pairs of entries that follow each other at a vertex, those of rings too."""
    found = []
    for v in range(edges.n):
        at = range(incidence.offsets[v], incidence.offsets[v + 1])
        found += [(i, i + 1) for i in at[:-1]]
        if closed and len(at) > 2:
            found.append((at[0], at[-1]))
    return found


def weights_of(graph):
    """{(u, v): weight} of a graph's edges u < v."""
    entries = list(zip(graph.adjncy, graph.edge_weights(), strict=True))
    return {
        (u, int(v)): int(w)
        for u in range(graph.n)
        for v, w in entries[graph.xadj[u] : graph.xadj[u + 1]]
        if u < v
    }


@given(edge_lists(weighted=True), st.booleans())
def test_the_graph_of_clones_is_that_of_the_definition(edges, closed):
    made = clone_graph(edges, closed=closed)
    incidence = edges.incidence
    wanted = dict.fromkeys(slow_links(edges, incidence, closed=closed), 1)
    for e in range(edges.m):
        i, j = made.slots[e]
        assert incidence.edges[i] == incidence.edges[j] == e
        assert incidence.offsets[edges.tails[e]] <= i < incidence.offsets[edges.tails[e] + 1]
        assert incidence.offsets[edges.heads[e]] <= j < incidence.offsets[edges.heads[e] + 1]
        wanted[min(i, j), max(i, j)] = DOMINANT_WEIGHT
    assert weights_of(made.graph) == wanted
    assert made.graph.vwgt.tolist() == edges.weights[incidence.edges].tolist()


@given(edge_lists(), st.booleans())
def test_the_contracted_graph_has_the_auxiliary_edges_alone(edges, closed):
    wanted = {}
    incidence = edges.incidence
    for i, j in slow_links(edges, incidence, closed=closed):
        pair = tuple(sorted((int(incidence.edges[i]), int(incidence.edges[j]))))
        wanted[pair] = wanted.get(pair, 0) + 1
    assert weights_of(contracted_graph(edges, closed=closed)) == wanted


@st.composite
def simple_graphs(draw):
    """An even number of edges, up to six, without parallel ones."""
    edges = draw(edge_lists(most=6, edges=9))
    graph = Graph.from_edges(edges.n, edges.tails, edges.heads)
    assume(2 <= graph.m <= 6 and graph.m % 2 == 0)
    return EdgeList.of_graph(graph)


def halves(m):
    """All blocks 0 and 1 of m vertices, equally many in each."""
    return [part for part in product((0, 1), repeat=m) if 2 * sum(part) == m]


def cut_of(graph, part):
    return sum(w for (u, v), w in weights_of(graph).items() if part[u] != part[v])


def least_cut_of_clones(graph):
    """The least cut of blocks of equally many clones each, those that cut dominant edges too."""
    parts = np.array(halves(graph.n))
    ends = np.array(list(weights_of(graph)))
    cut = parts[:, ends[:, 0]] != parts[:, ends[:, 1]]
    return int((cut @ np.array(list(weights_of(graph).values()))).min())


@with_examples(40)
@given(simple_graphs(), st.booleans(), st.integers(2, 3), st.randoms())
def test_theorem_3_4_copies_are_at_most_the_cut(edges, closed, k, random):
    """Of any blocks of clones: a dominant edge that is cut counts once, as an auxiliary one."""
    made = clone_graph(edges, closed=closed)
    part = [random.randrange(k) for _ in range(made.graph.n)]
    found, cut = blocks_of_edges(np.array(part), made, np.ones(k))
    links = weights_of(made.graph)
    assert cut == sum(part[u] != part[v] for u, v in made.slots)
    assert slow_copies(edges, found) <= sum(part[u] != part[v] for u, v in links)
    contracted = contracted_graph(edges, closed=closed)
    assert slow_copies(edges, found) <= cut_of(contracted, found)


@with_examples(20)
@given(simple_graphs())
def test_theorem_3_5_some_order_of_clones_has_the_optimum_of_the_edges(edges):
    best = min(halves(edges.m), key=lambda part: slow_copies(edges, part))
    # The order of the proof: a vertex's clones by the block of their edge.
    offsets, listed = edges.incidence
    grouped = listed.copy()
    for v in range(edges.n):
        own = slice(offsets[v], offsets[v + 1])
        grouped[own] = sorted(listed[own], key=lambda e: best[e])
    incidence = edges.incidence._replace(edges=grouped)
    dual = contracted_graph(edges, incidence=incidence)
    assert min(cut_of(dual, part) for part in halves(edges.m)) == slow_copies(edges, best)
    clones = clone_graph(edges, incidence=incidence).graph
    assert least_cut_of_clones(clones) == slow_copies(edges, best)


@with_examples(20)
@given(simple_graphs(), st.booleans(), st.randoms())
def test_theorem_3_6_any_order_is_within_the_largest_degree_of_the_optimum(edges, closed, random):
    """Less one of a path; of a ring d_max, as one more edge closes it."""
    position = list(range(edges.n))
    random.shuffle(position)
    incidence = edges.incidence_by(np.array(position))
    graph = contracted_graph(edges, closed=closed, incidence=incidence)
    least_cut = min(cut_of(graph, part) for part in halves(edges.m))
    clones = clone_graph(edges, closed=closed, incidence=incidence).graph
    assert least_cut_of_clones(clones) == least_cut
    least_copies = min(slow_copies(edges, part) for part in halves(edges.m))
    degree = int(edges.degrees.max())
    assert least_copies <= least_cut <= (degree if closed else degree - 1) * least_copies


@with_examples(30)
@given(simple_graphs(), st.booleans(), st.randoms())
def test_corollary_3_7_blocks_are_as_near_the_optimum_as_the_cut_and_the_degree_say(
    edges, closed, random
):
    """A cut of r times the least: at most r (d_max - 1) times the fewest copies; ring: r d_max."""
    position = list(range(edges.n))
    random.shuffle(position)
    graph = contracted_graph(edges, closed=closed, incidence=edges.incidence_by(np.array(position)))
    part = random.choice(halves(edges.m))
    least_cut = min(cut_of(graph, one) for one in halves(edges.m))
    least_copies = min(slow_copies(edges, one) for one in halves(edges.m))
    degree = int(edges.degrees.max()) - (not closed)
    assert slow_copies(edges, part) * least_cut <= cut_of(graph, part) * degree * least_copies


def test_figure_1_three_copies_as_given_and_one_at_best():
    """Edges e1 to e6: three in a path, of which e4 meets a triangle of the others."""
    edges = EdgeList(6, [0, 1, 4, 2, 5, 4], [1, 2, 5, 3, 3, 3])
    assert slow_copies(edges, [0, 0, 0, 1, 1, 1]) == 3
    assert slow_copies(edges, [0, 0, 1, 0, 1, 1]) == 1
    assert min(slow_copies(edges, part) for part in halves(6)) == 1
    contract = Contract(3 * TWO, 3 * TWO, 3 * TWO)
    for preset in PRESETS:
        found = split_with("spac", edges, contract, preset=preset).partition
        assert slow_copies(edges, found.part) == 1


def test_a_cut_dominant_edge_goes_to_the_block_farther_below_its_target():
    edges = EdgeList(4, [0, 1, 2], [1, 2, 3])
    made = clone_graph(edges)
    part = np.zeros(6, np.int32)
    part[made.slots[2]] = 0, 1
    found, cut = blocks_of_edges(part, made, TWO)
    assert (found.tolist(), cut) == ([0, 0, 1], 1)
    found, _ = blocks_of_edges(part, made, np.array([5.0, 1e-12]))
    assert found.tolist() == [0, 0, 1]  # nothing is in block 1 as yet
    part[:] = 0
    part[made.slots[1]], part[made.slots[2]] = (1, 1), (0, 1)
    found, _ = blocks_of_edges(part, made, np.array([2.0, 1.0]))
    assert found.tolist() == [0, 1, 0]


def test_dominant_edges_weigh_less_where_sums_would_pass_32_bits(monkeypatch):
    assert dominant_weight(10) == DOMINANT_WEIGHT
    assert clone_graph(EdgeList(3, [0, 1], [1, 2])).notes == ()
    assert dominant_weight(500_000_000) == 2
    m = 4_000_000
    assert 2 * m * dominant_weight(m) + 4 * m <= 2**31 - 1
    monkeypatch.setattr(split_and_connect, "LARGEST_SUM", 48)
    made = clone_graph(EdgeList(3, [0, 1], [1, 2]))
    assert sorted(weights_of(made.graph).values()) == [1, 10, 10]
    (note,) = made.notes
    assert "weighs 10, not 1,000" in note


def test_order_by_a_key():
    assert order_by(np.array([3, 1, 3, 0])).tolist() == [2, 1, 3, 0]
