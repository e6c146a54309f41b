"""Joined graphs: weights, edges and memory of groups, against a slow reference; blocks of plans."""

import itertools

import numpy as np
import pytest

import evener as ev
from evener.graphs.joined import groups_in_order, groups_of_pairs, joined, split_groups
from evener.platforms.platform import Level, Link, Platform

LINKED = Platform(
    (ev.Device("fast", 3e6, memory=1e9), ev.Device("slow", 1e6, memory=1e9)),
    levels=(Level("net", Link(1e-6, 1e-9)),),
)


def grid_of(n: int, *, closed: bool = False) -> ev.Graph:
    """Return an n x n grid; closed: with edges from the last column to the first."""
    at = np.arange(n * n).reshape(n, n)
    pairs = [(at[:, :-1], at[:, 1:]), (at[:-1], at[1:])]
    if closed:
        pairs.append((at[:, -1:], at[:, :1]))
    u, v = (np.concatenate([pair[i].ravel() for pair in pairs]) for i in (0, 1))
    return ev.Graph.from_edges(n * n, u, v, coords=np.argwhere(at >= 0).astype(float))


def opposite(n: int) -> np.ndarray:
    """Return the pairs of the first and last column of an n x n grid."""
    return np.column_stack([np.arange(n) * n, np.arange(n) * n + n - 1])


def random_case(seed: int, columns: int) -> ev.Graph:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 25))
    u, v = rng.integers(0, n, (2, 3 * n))
    apart = u != v
    graph = ev.Graph.from_edges(
        n, u[apart], v[apart], bytes_per_vertex=5.0, bytes_per_edge=3.0, coords=rng.random((n, 2))
    )
    pairs = {}
    for i, j in zip(np.repeat(np.arange(n), graph.degrees), graph.adjncy, strict=True):
        pairs[min(i, j), max(i, j)] = len(pairs) + 1
    ends = np.array(list(pairs))
    weights = rng.integers(1, 9, (n, columns)) if columns > 1 else rng.random(n)
    return ev.Graph.from_edges(
        n, *ends.T, weights=rng.integers(1, 9, len(ends)), vwgt=weights, coords=graph.coords,
        bytes_per_vertex=5.0, bytes_per_edge=3.0, together=rng.integers(-2, n // 2, n),
    )  # fmt: skip


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("seed", range(12))
def test_a_joined_graph_equals_the_slow_sums(seed, columns):
    graph = random_case(seed, columns)
    made = joined(graph)
    groups: dict[int, list[int]] = {}
    for v, number in enumerate(graph.together.tolist()):
        groups.setdefault(number if number >= 0 else -1 - graph.n - v, []).append(v)
    members = list(groups.values())  # in the order of their first vertices
    assert [made.of[one].tolist() for one in members] == [
        [i] * len(one) for i, one in enumerate(members)
    ]
    small = made.graph
    assert small.together is None
    for i, one in enumerate(members):
        weight = (graph.weights()[:, None] if columns == 1 else graph.vwgt)[one].sum(axis=0)
        np.testing.assert_allclose(np.atleast_1d(small.vwgt[i]), weight)
        np.testing.assert_array_equal(small.coords[i], graph.coords[one[0]])
        degree = sum(int(graph.degrees[v]) for v in one)
        assert small.vertex_bytes()[i] == 5 * len(one) + 3 * degree
    between: dict[tuple[int, int], int] = {}
    for v in range(graph.n):
        for e in range(graph.xadj[v], graph.xadj[v + 1]):
            ends = int(made.of[v]), int(made.of[graph.adjncy[e]])
            if ends[0] != ends[1]:
                between[ends] = between.get(ends, 0) + int(graph.adjwgt[e])
    found = {
        (v, int(small.adjncy[e])): int(small.adjwgt[e])
        for v in range(small.n)
        for e in range(small.xadj[v], small.xadj[v + 1])
    }
    assert found == between
    assert small.total_bytes == graph.total_bytes
    order = np.random.default_rng(seed).permutation(small.n)
    again = small.renumbered(order, *_renumbered(small, order))
    np.testing.assert_array_equal(again.vertex_bytes(), small.vertex_bytes()[order])


def _renumbered(graph, order):
    place = np.argsort(order)
    lists = [place[graph.adjncy[graph.xadj[v] : graph.xadj[v + 1]]] for v in order]
    xadj = np.concatenate([[0], np.cumsum([len(one) for one in lists])])
    return xadj.astype(np.int64), np.concatenate([*lists, []]).astype(np.int32)


@pytest.mark.parametrize(
    ("pairs", "groups"),
    [
        ([], [-1] * 6),
        ([(0, 3)], [0, -1, -1, 0, -1, -1]),
        ([(0, 3), (3, 5), (2, 1)], [0, 1, 1, 0, -1, 0]),
        ([(4, 4)], [-1, -1, -1, -1, 4, -1]),
    ],
)
def test_pairs_make_groups(pairs, groups):
    found = groups_of_pairs(6, np.array(pairs, np.int64).reshape(-1, 2))
    first, expected = groups_in_order(np.array(groups))
    np.testing.assert_array_equal(groups_in_order(found)[1], expected)
    assert first.tolist() == sorted(first.tolist())


def test_without_groups_the_graph_stays():
    graph = grid_of(4)
    made = joined(graph)
    assert made.graph is graph
    part = np.zeros(16, np.int32)
    assert made.spread(part) is part


@pytest.mark.parametrize(
    "options",
    [
        {"objective": "cut"},
        {"objective": "cut", "tool": "metis"},
        {"objective": "total_volume"},
        {"objective": "seconds"},
        {"objective": "seconds", "workload": "spmv"},
        {"objective": "cut", "preset": "strong", "workload": "spmv"},
    ],
    ids=str,
)
def test_plans_keep_groups_together(options):
    graph = grid_of(40)
    pairs = opposite(40)
    bound = graph.with_(together=groups_of_pairs(graph.n, pairs))
    plan = ev.plan(bound, LINKED, **options)
    part = plan.partition.part
    np.testing.assert_array_equal(part[pairs[:, 0]], part[pairs[:, 1]])
    assert plan.certificate.all_hold
    assert plan.graph["groups"] == 40 * 39
    # The recount of the whole graph agrees with the plan.
    judged = ev.evaluate(graph, part, plan.platform, plan.certificate.contract,
                         workload=plan.workload)  # fmt: skip
    assert judged.edge_cut == plan.evaluation.edge_cut
    np.testing.assert_array_equal(judged.certificate.bytes, plan.certificate.bytes)
    free = ev.plan(graph, LINKED, **options)
    assert "groups" not in free.graph


def test_memory_counts_all_vertices_of_a_group():
    graph = grid_of(30)
    bound = graph.with_(together=groups_of_pairs(graph.n, opposite(30)))
    room = 0.34 * graph.total_bytes  # the fast device could have 3/4
    machine = ev.Platform((ev.Device("fast", 3.0, memory=room), ev.Device("slow", 1.0)))
    plan = ev.plan(bound, machine, objective="cut")
    assert plan.certificate.all_hold
    assert plan.certificate.bytes[0] <= room
    assert plan.certificate.bytes[0] > 0.9 * room
    assert split_groups(plan.partition.part, bound.together) == 0


def test_small_cases_are_optimal():
    """On a 3 x 4 grid whose opposite columns are together, against all divisions into two."""
    at = np.arange(12).reshape(3, 4)
    u = np.concatenate([at[:, :-1].ravel(), at[:-1].ravel()])
    v = np.concatenate([at[:, 1:].ravel(), at[1:].ravel()])
    together = groups_of_pairs(12, np.column_stack([at[:, 0], at[:, -1]]))
    graph = ev.Graph.from_edges(12, u, v, together=together)
    plan = ev.plan(graph, 2, objective="cut", preset="strong")
    group = groups_in_order(together)[1]
    best = min(
        int((np.array(side)[group][u] != np.array(side)[group][v]).sum())
        for side in itertools.product([0, 1], repeat=group.max() + 1)
        if abs(np.bincount(np.array(side)[group], minlength=2) - 6).max() == 0
    )
    assert plan.evaluation.edge_cut == best


def test_compare_and_advise_keep_groups():
    graph = grid_of(20, closed=True)
    bound = graph.with_(together=groups_of_pairs(graph.n, opposite(20)))
    results = ev.compare(bound, LINKED, ["evener", "metis"])
    assert all(one.kept is not None for one in results)
    assert ev.advise(bound, LINKED).best is not None


def test_what_cannot_keep_groups_refuses_them():
    graph = grid_of(8)
    bound = graph.with_(together=groups_of_pairs(64, opposite(8)))
    with pytest.raises(ev.UsageError, match="do not support groups"):
        ev.partition_with("evener", bound, ev.PlanOptions().request(
            ev.plan(graph, 2, objective="cut").certificate.contract))  # fmt: skip
    plan = ev.plan(bound, 2, objective="cut")
    with pytest.raises(ev.UsageError, match="rebalancing moves single vertices"):
        ev.Rebalancer(plan, bound)
    with pytest.raises(ev.InputError, match="no groups"):
        ev.tuned(plan, [1.0, 2.0], graph)
    again = ev.tuned(plan, [1.0, 2.0], bound)
    assert split_groups(again.partition.part, bound.together) == 0


@pytest.mark.parametrize(
    ("together", "said"),
    [([0, 1], "entries for 64"), ([0.5] * 64, "whole"), ([[0] * 64], "dimension|shape")],
)
def test_wrong_groups_are_refused(together, said):
    with pytest.raises(ev.InputError, match=said):
        grid_of(8).with_(together=together)
