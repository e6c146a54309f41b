"""Local graphs against a slow twin that follows the definition, on graphs of every kind."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evener as ev
from evener.errors import InputError, UsageError
from evener.graphs.generating.grid import grid
from evener.plans.partition import Partition
from evener.running import building
from evener.running.distributing import distribute, local_graph, part_sizes

WANTS = ("out", "into", "both")


def slow(graph, part, k, want):
    """The parts by their definition, as plain lists; arcs are (tail, head, weight)."""
    tails = np.repeat(np.arange(graph.n), np.diff(graph.xadj))
    weights = np.ones(graph.adjncy.size) if graph.adjwgt is None else graph.adjwgt
    arcs = list(zip(tails.tolist(), graph.adjncy.tolist(), weights.tolist(), strict=True))
    crossing = {v for t, h, _ in arcs if part[t] != part[h] for v in (t, h)}
    parts = []
    for p in range(k):
        mine = [v for v in range(graph.n) if part[v] == p]
        owned = [v for v in mine if v not in crossing] + [v for v in mine if v in crossing]
        lists = {
            "out": {v: [(h, w) for t, h, w in arcs if t == v] for v in owned},
            "into": {v: sorted((t, w) for t, h, w in arcs if h == v) for v in owned},
        }
        held = {name: lists[name] for name in lists if graph.symmetric or want in (name, "both")}
        ends = {w for of in held.values() for entries in of.values() for w, _ in entries}
        ghosts = sorted((part[w], w) for w in ends if part[w] != p)
        parts.append((owned, [w for _, w in ghosts], len(set(mine) - crossing), held))
    return parts


def check(graph, part, k, want, found):
    expected = slow(graph, part, k, want)
    degrees = np.diff(graph.xadj)
    assert len(found) == k
    for p, (local, (owned, ghosts, n_interior, held)) in enumerate(
        zip(found, expected, strict=True)
    ):
        assert (local.rank, local.k, local.n_global) == (p, k, graph.n)
        assert (local.n_owned, local.n_local) == (len(owned), len(owned) + len(ghosts))
        assert local.owned.tolist() == owned
        assert local.ghosts.tolist() == ghosts
        assert local.n_interior == n_interior
        starts = [sum(part[w] < q for w in ghosts) for q in range(k + 1)]
        assert local.ghost_starts.tolist() == starts
        numbers = owned + ghosts
        assert local.degrees.tolist() == degrees[numbers].tolist()
        for name in ("out", "into"):
            check_arcs(getattr(local, name), held.get(name), owned, numbers, graph)
        assert (local.into is local.out) == graph.symmetric
        received = {q: [numbers[i] for i in range(*ends)] for q, ends in local.receives.items()}
        assert received == {
            q: [w for w in ghosts if part[w] == q] for q in {part[w] for w in ghosts}
        }
    for local in found:  # what is sent is what is received
        there = {
            q: found[q].ghosts[found[q].ghost_starts[local.rank] :][: sent.size].tolist()
            for q, sent in local.sends.items()
        }
        assert there == {q: local.owned[sent].tolist() for q, sent in local.sends.items()}
        assert list(local.sends) == sorted(local.sends)
        assert sum(local.sends[q].size for q in local.sends) == sum(
            int(np.diff(other.ghost_starts)[local.rank]) for other in found
        )


def check_arcs(arcs, lists, owned, numbers, graph):
    if lists is None:
        assert arcs is None
        return
    assert arcs.offsets.dtype == arcs.ends.dtype == np.uint32
    for i, v in enumerate(owned):
        row = slice(arcs.offsets[i], arcs.offsets[i + 1])
        assert [numbers[j] for j in arcs.ends[row]] == [w for w, _ in lists[v]]
        if graph.adjwgt is not None:
            assert arcs.weights[row].tolist() == [w for _, w in lists[v]]
    assert arcs.offsets.size == len(owned) + 1
    assert arcs.ends.size == sum(len(entries) for entries in lists.values())
    assert (arcs.weights is None) == (graph.adjwgt is None)


@st.composite
def cases(draw):
    """Graphs with isolated vertices, in pieces, of one vertex or none; blocks that are empty."""
    n, k = draw(st.integers(0, 14)), draw(st.sampled_from([1, 2, 3, 20]))
    seed = draw(st.integers(0, 2**31))
    rng = np.random.default_rng(seed)
    m = draw(st.integers(0, 3 * n))
    u, v = rng.integers(0, max(n, 1), (2, m))
    weights = [None, rng.integers(1, 9, m), rng.random(m)][draw(st.integers(0, 2))]
    if draw(st.booleans()):
        graph = ev.DirectedGraph.from_arcs(n, u, v, weights=weights)
    else:
        graph = ev.Graph.from_edges(n, u, v, weights=weights)
    blocks = rng.permutation(k)[: rng.integers(1, k + 1)]  # the others stay empty
    return graph, Partition(rng.choice(blocks, n), k), draw(st.sampled_from(WANTS))


def same(one, other):
    """Whether two local graphs hold the same numbers in the same types."""
    arrays = [
        (getattr(one, name), getattr(other, name))
        for name in ("numbers", "ghost_starts", "degrees")
    ]
    for arcs in ("out", "into"):
        both = getattr(one, arcs), getattr(other, arcs)
        assert (both[0] is None) == (both[1] is None)
        arrays += zip(*both, strict=True) if both[0] is not None else []
    assert list(one.sends) == list(other.sends)
    arrays += [(one.sends[q], other.sends[q]) for q in one.sends]
    for a, b in arrays:
        assert (a is None and b is None) or (a.dtype == b.dtype and np.array_equal(a, b))
    for name in ("rank", "k", "n_global", "n_interior", "n_owned"):
        assert getattr(one, name) == getattr(other, name)
    return True


@given(cases())
def test_parts_are_those_of_the_definition(case):
    graph, partition, want = case
    found = distribute(graph, partition, want=want, threads=1)
    check(graph, partition.part, partition.k, want, found)
    sizes = part_sizes(graph, partition, want=want, threads=1)
    for local, size in zip(found, sizes, strict=True):
        arcs = {id(one): one.ends.size for one in (local.out, local.into) if one is not None}
        ghosts = {q: last - first for q, (first, last) in local.receives.items()}
        sent = {q: own.size for q, own in local.sends.items()}
        boundary, has_out = local.n_owned - local.n_interior, local.out is not None
        ranges = {q for q, own in local.sends.items() if (np.diff(own.astype(int)) == 1).all()}
        held = tuple(arcs.values()), ghosts, sent, boundary, has_out, ranges
        assert size == (local.k, local.n_owned, local.ghosts.size, *held)
    for rank in {0, partition.k // 2, partition.k - 1}:
        assert same(found[rank], local_graph(graph, partition, rank, want=want, threads=1))


@pytest.mark.parametrize("directed", [False, True])
def test_slices_and_threads_change_nothing(directed, monkeypatch):
    """Devices of very unequal size, and more of them than have their ghosts found at a time."""
    rng = np.random.default_rng(8)
    n, k = 4000, 40
    u, v = rng.integers(0, n, (2, 3 * n))
    make = ev.DirectedGraph.from_arcs if directed else ev.Graph.from_edges
    graph = make(n, u, v, weights=rng.random(u.size))
    partition = Partition((k * rng.random(n) ** 3).astype(np.int32), k)
    plain = distribute(graph, partition, want="both", threads=1)
    assert plain[3].ghosts.size > 0
    monkeypatch.setattr(building, "SLICE", 50)
    monkeypatch.setattr(building, "slices_for", lambda n: 7)
    for threads in (1, 3):
        sliced = distribute(graph, partition, want="both", threads=threads)
        assert all(same(a, b) for a, b in zip(plain, sliced, strict=True))
    alone = local_graph(graph, partition, 1, want="both", threads=2)
    assert same(plain[1], alone)


def test_a_graph_that_is_not_divided_keeps_its_arrays():
    graph = grid([5, 4])
    (local,) = distribute(graph, Partition(np.zeros(20), 1))
    assert np.shares_memory(local.out.ends, graph.adjncy)
    assert local.into is local.out
    assert local.n_interior == local.n_owned == local.n_local == 20
    assert (local.sends, local.receives) == ({}, {})


def test_plans_and_their_files_divide_as_well(tmp_path):
    graph = grid([6, 6])
    plan = ev.plan(graph, [1, 2, 1])
    ev.write_plan(tmp_path / "x.plan", plan)
    for divided in (plan, tmp_path / "x.plan"):
        found = ev.distribute(graph, divided)
        assert [local.n_owned for local in found] == np.bincount(plan.partition.part).tolist()
    assert repr(found[0]).startswith("LocalGraph(device 0 of 3, 9 vertices, ")


def test_what_does_not_fit_is_refused():
    graph = grid([2, 2])
    with pytest.raises(InputError, match="3 entries"):
        distribute(graph, Partition([0, 0, 1], 2))
    with pytest.raises(InputError, match="rank 2 has no block"):
        local_graph(graph, Partition([0, 0, 1, 1], 2), 2)
    with pytest.raises(UsageError, match="inside"):
        distribute(graph, Partition([0, 0, 1, 1], 2), want="inside")
