"""The partitioner answers each way in which DOLFINx, from 0.5 to 0.12, has called such functions.

0.5 and 0.11 themselves run in test_dolfinx.py and test_dolfinx_newest.py; here a stub of the
package stands in for all versions, with the arguments that their sources and the migration guide of
pull request 4403 document.
"""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import evener as ev
from evener.errors import InputError, ToolError, UsageError
from evener.graphs.generating.grid import grid
from evener.integrations import dolfinx as ours
from tests.integrations.one_rank import OneRank

TRIANGLE = SimpleNamespace(name="triangle")
NONE, SHARED = SimpleNamespace(name="none"), SimpleNamespace(name="shared_facet")


class AdjacencyList:
    """The members that DOLFINx's lists have in all versions."""

    def __init__(self, data, offsets):
        assert data.dtype in (np.int32, np.int64)
        assert offsets.dtype == np.int32
        self.array, self.offsets, self.num_nodes = data, offsets, offsets.size - 1

    def links(self, i):
        return self.array[self.offsets[i] : self.offsets[i + 1]].tolist()


class ThreeRanks(OneRank):
    """One of three ranks that holds all cells."""

    size = 3

    def allgather(self, value):
        return [value, 0, 0]


GRAPH = grid((4, 5))
PART = np.random.default_rng(6).integers(0, 3, GRAPH.n).astype(np.int32)
DUAL = AdjacencyList(GRAPH.adjncy.astype(np.int64), GRAPH.xadj.astype(np.int32))
CELLS = AdjacencyList(np.zeros(3 * GRAPH.n, np.int64), np.arange(0, 61, 3, dtype=np.int32))
FLAT = [np.zeros(3 * GRAPH.n, np.int64)]


def stub(build_dual_graph):
    graph = SimpleNamespace(AdjacencyList_int32=AdjacencyList)
    mesh = SimpleNamespace(build_dual_graph=build_dual_graph, cell_num_vertices=lambda _: 3)
    return SimpleNamespace(cpp=SimpleNamespace(graph=graph, mesh=mesh))


def by_dimension(comm, cells, tdim):
    assert (cells, tdim) == (CELLS, 2)
    return DUAL


def by_type(comm, kind, cells):
    assert (kind, cells) == (TRIANGLE, CELLS)
    return DUAL


def by_types(comm, types, cells):
    assert (types, cells) == ([TRIANGLE], FLAT)
    return DUAL


def by_types_and_links(comm, types, cells, max_facet_to_cell_links):
    assert max_facet_to_cell_links == 2
    return by_types(comm, types, cells)


def never(*_):
    raise AssertionError("the dual graph is given")


# Version: its build_dual_graph, what it calls a partitioner with, and the ghost mode that a user
# gives the partitioner, for no ghosts and for shared facets.
CALLS = {
    "0.5": (by_dimension, lambda mode: (2, CELLS, mode), None),
    "0.6": (by_dimension, lambda _: (2, CELLS), "ours"),
    "0.8": (by_type, lambda _: (TRIANGLE, CELLS), "ours"),
    "0.9": (by_types, lambda _: ([TRIANGLE], FLAT), "ours"),
    "0.10": (by_types_and_links, lambda _: ([TRIANGLE], FLAT), "ours"),
    "4403": (never, lambda mode: (DUAL, mode is SHARED), None),
    "0.12": (never, lambda mode: (DUAL, None, None, mode is SHARED), None),
}


@pytest.mark.parametrize("version", CALLS)
@pytest.mark.parametrize("mode", [NONE, SHARED], ids=["no ghosts", "ghosts"])
def test_owner_first_then_ranks_beyond_a_facet(monkeypatch, version, mode):
    build, arguments, whose = CALLS[version]
    monkeypatch.setitem(sys.modules, "dolfinx", stub(build))
    partitioner = ours.partitioner(PART, mode if whose == "ours" else None)
    ranks = partitioner(ThreeRanks(), 3, *arguments(mode))
    assert ranks.num_nodes == GRAPH.n
    for v in range(GRAPH.n):
        neighbours = GRAPH.adjncy[GRAPH.xadj[v] : GRAPH.xadj[v + 1]]
        others = set(PART[neighbours].tolist()) - {int(PART[v])} if mode is SHARED else set()
        assert ranks.links(v) == [PART[v], *sorted(others)]


def test_cells_in_another_order_are_noticed(monkeypatch):
    monkeypatch.setitem(sys.modules, "dolfinx", stub(never))
    plan = ev.plan(GRAPH, 3)
    given = (ThreeRanks(), 3, DUAL, None, None, False)
    assert np.array_equal(ours.partitioner(plan)(*given).array, plan.partition.part)
    order = np.random.default_rng(1).permutation(GRAPH.n)
    places = np.argsort(order)
    degrees = np.diff(GRAPH.xadj)[order]
    neighbours = [places[GRAPH.adjncy[GRAPH.xadj[v] : GRAPH.xadj[v + 1]]] for v in order]
    offsets = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int32)
    shuffled = AdjacencyList(np.concatenate(neighbours), offsets)
    given = (ThreeRanks(), 3, shuffled, None, None, False)
    with pytest.raises(InputError, match="cells are in another order") as raised:
        ours.partitioner(plan)(*given)
    assert "compare_cut=False" in raised.value.hint
    assert ours.partitioner(plan, compare_cut=False)(*given).num_nodes == GRAPH.n


def test_a_facet_that_is_listed_twice_counts_once(monkeypatch):
    monkeypatch.setitem(sys.modules, "dolfinx", stub(never))
    plan = ev.plan(GRAPH, 3)
    twice = np.concatenate([np.tile(GRAPH.adjncy[a:b], 2) for a, b in
                            zip(GRAPH.xadj[:-1], GRAPH.xadj[1:], strict=True)])  # fmt: skip
    dual = AdjacencyList(twice.astype(np.int64), (2 * GRAPH.xadj).astype(np.int32))
    ours.partitioner(plan)(ThreeRanks(), 3, dual, None, None, False)


def test_refusals(monkeypatch):
    monkeypatch.setitem(sys.modules, "dolfinx", stub(never))
    types = ([TRIANGLE, TRIANGLE], [FLAT[0], FLAT[0]])
    wrong = [
        (None, (*types,), InputError, "2 types of cells"),
        (None, (2, CELLS, SimpleNamespace(name="shared_vertex")), UsageError, "'shared_vertex'"),
        ("none", (2, CELLS, SHARED), UsageError, "none for the partitioner and shared_facet for"),
        (SHARED, (DUAL, False), UsageError, "shared_facet for the partitioner and none for"),
    ]
    for mode, given, error, words in wrong:
        with pytest.raises(error) as raised:
            ours.partitioner(PART, mode)(ThreeRanks(), 3, *given)
        assert words in str(raised.value)
    with pytest.raises(UsageError, match="no ghost mode 'shared'"):
        ours.partitioner(PART, "shared")


def test_without_dolfinx(monkeypatch):
    monkeypatch.setitem(sys.modules, "dolfinx", None)
    with pytest.raises(ToolError, match="cannot import dolfinx") as raised:
        ours.partitioner(PART)(ThreeRanks(), 3, DUAL, False)
    assert "python3-dolfinx" in raised.value.hint


def test_the_check_compares_the_cells_that_a_rank_owns():
    mine = np.flatnonzero(PART == 0)

    def mesh(origins, n=GRAPH.n):
        cells = SimpleNamespace(size_local=mine.size, size_global=n)
        topology = SimpleNamespace(dim=2, index_map={2: cells}.get, original_cell_index=origins)
        return SimpleNamespace(comm=ThreeRanks(), topology=topology)

    ghosts = np.flatnonzero(PART != 0)
    assert ours.check(mesh(np.concatenate([mine[::-1], ghosts])), PART) == mine.size
    with pytest.raises(InputError, match="1 of 20 cells are on a rank other than the plan's"):
        ours.check(mesh(np.concatenate([mine[1:], ghosts])), PART)
    with pytest.raises(InputError, match="the program has 7 cells"):
        ours.check(mesh(mine, n=7), PART)
