"""Every tool keeps its targets on small graphs; what it cannot do is refused; one can be added."""

from dataclasses import replace

import numpy as np
import pytest

import evener as ev
from evener.errors import InfeasibleError, InputError, ToolError, UsageError
from evener.graphs.graph import Graph
from evener.partitioning import registry, requests
from evener.partitioning.external.children import Outcome
from evener.partitioning.registry import choose_tool, partition_with
from evener.partitioning.requests import Request
from evener.partitioning.tools import TOOLS, Tool, find_tool
from tests.partitioning.by_hand import cut

EXTERNAL = [name for name, tool in TOOLS.items() if tool.family == "external"]
BY_EDGES = [name for name in EXTERNAL if not TOOLS[name].needs_coordinates]
UNEQUAL = np.array([16.0, 16, 2, 2, 1, 1, 1])


def tools(names, fast=("metis",)):
    """Those named; of external ones, each call of which starts a process, few are `fast`."""
    return [pytest.param(name, marks=_marks(name, name in fast)) for name in names]


def _marks(name, fast):
    missing = pytest.mark.skipif(bool(TOOLS[name].available()), reason="not installed")
    return [missing] if fast or name not in EXTERNAL else [missing, pytest.mark.slow]


def grid(rows, columns, **fields):
    ids = np.arange(rows * columns).reshape(rows, columns)
    u = np.concatenate([ids[:, :-1].ravel(), ids[:-1].ravel()])
    v = np.concatenate([ids[:, 1:].ravel(), ids[1:].ravel()])
    coords = np.argwhere(ids >= 0).astype(float)
    return Graph.from_edges(rows * columns, u, v, coords=coords, **fields)


def fullness(graph, part, targets):
    """Weight over target of every block, the targets scaled to the graph's weight."""
    weights = np.bincount(part, weights=graph.weights(), minlength=targets.size)
    return weights / (targets * weights.sum() / targets.sum())


@pytest.mark.parametrize("name", tools(TOOLS, fast=EXTERNAL))
def test_unequal_targets(name):
    graph = grid(60, 50)
    result = partition_with(name, graph, Request(UNEQUAL))
    assert result.part.dtype == np.int32
    assert result.part.shape == (graph.n,)
    assert result.tool == name
    assert result.cpu_seconds >= 0
    assert fullness(graph, result.part, UNEQUAL).max() <= 1.03 + 1e-9
    # A random division of this grid into these shares would cut two edges of three.
    assert cut(graph, result.part) < 0.1 * graph.m


@pytest.mark.parametrize("name", tools(TOOLS))
def test_real_weights(name):
    graph = grid(40, 30)
    graph = graph.with_(vwgt=np.random.default_rng(8123).random(graph.n) * 1e-4)
    result = partition_with(name, graph, Request(np.array([5.0, 3, 1, 1])))
    assert fullness(graph, result.part, np.array([5.0, 3, 1, 1])).max() <= 1.03 + 1e-4


@pytest.mark.parametrize("name", tools(TOOLS))
@pytest.mark.parametrize("preset", ["fast", "strong"])
def test_presets_and_repeatability(name, preset):
    graph = grid(30, 30)
    request = Request(np.array([4.0, 2, 1]), preset=preset, seed=90210)
    first, second = (partition_with(name, graph, request).part for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert fullness(graph, first, request.targets).max() <= 1.03 + 1e-9


@pytest.mark.parametrize("name", tools(["metis", "scotch", "mtkahypar"]))
def test_the_seed_matters(name):
    graph = grid(60, 60)
    parts = [partition_with(name, graph, Request(UNEQUAL, seed=s)).part for s in (12, 13)]
    assert (parts[0] != parts[1]).any()


@pytest.mark.parametrize("name", tools(["mtkahypar"]))
def test_two_threads_repeat_themselves(name):
    graph = grid(40, 40)
    request = Request(UNEQUAL, threads=2)
    first, second = (partition_with(name, graph, request) for _ in range(2))
    np.testing.assert_array_equal(first.part, second.part)
    assert "DETERMINISTIC" in first.notes[0]


@pytest.mark.parametrize("name", tools(["kaminpar"]))
def test_varying_results_are_said(name):
    result = partition_with(name, grid(20, 20), Request(np.array([2.0, 1]), threads=2))
    assert "may differ from run to run" in " ".join(result.notes)


@pytest.mark.parametrize("name", tools(BY_EDGES))
def test_edge_weights_steer_the_cut(name):
    # A 3 x 20 strip, two blocks of three columns in ten: every rung between columns 9 and 10
    # weighs 1, all others 1000, so that the middle is the only place worth cutting.
    rows, columns = 3, 20
    ids = np.arange(rows * columns).reshape(rows, columns)
    u = np.concatenate([ids[:, :-1].ravel(), ids[:-1].ravel()])
    v = np.concatenate([ids[:, 1:].ravel(), ids[1:].ravel()])
    weights = np.where((v - u == 1) & (u % columns == 9), 0.001, 1.0)
    graph = Graph.from_edges(rows * columns, u, v, weights=weights)
    part = partition_with(name, graph, Request(np.array([1.0, 1.0]), epsilon=0.1)).part
    source = np.repeat(np.arange(graph.n), graph.degrees)
    cut_weight = graph.adjwgt[part[source] != part[graph.adjncy]].sum() / 2
    assert cut_weight == pytest.approx(0.003)


@pytest.mark.parametrize("name", tools(EXTERNAL))
def test_free_edges(name):
    graph = grid(12, 12)
    graph = graph.with_(adjwgt=np.zeros(graph.adjncy.size, np.int64))
    part = partition_with(name, graph, Request(np.array([2.0, 1.0]))).part
    assert fullness(graph, part, np.array([2.0, 1.0])).max() <= 1.03


@pytest.mark.parametrize("name", tools(BY_EDGES))
@pytest.mark.parametrize("n_edges", [0, 150])
def test_disconnected_and_isolated(name, n_edges):
    rng = np.random.default_rng(7741)
    u, v = rng.integers(0, 300, (2, n_edges))
    graph = Graph.from_edges(300, u, v)
    part = partition_with(name, graph, Request(np.array([3.0, 2, 1]))).part
    assert fullness(graph, part, np.array([3.0, 2, 1])).max() <= 1.05


@pytest.mark.parametrize("name", tools(TOOLS))
def test_as_many_blocks_as_vertices(name):
    graph = grid(4, 4)
    part = partition_with(name, graph, Request(np.ones(16))).part
    assert part.shape == (16,)  # METIS k-way leaves blocks empty here: `enforce` fills them


@pytest.mark.parametrize("name", tools(TOOLS))
def test_one_block_and_unused_blocks(name):
    graph = grid(6, 5)
    assert not partition_with(name, graph, Request(np.array([3.0]))).part.any()
    lonely = partition_with(name, graph, Request(np.array([0.0, 2.0, 0.0]))).part
    assert (lonely == 1).all()
    some = partition_with(name, graph, Request(np.array([0.0, 2.0, 0.0, 1.0]), epsilon=0.05)).part
    assert set(some.tolist()) == {1, 3}


def test_total_volume():
    graph = grid(30, 30)
    request = Request(np.array([3.0, 2, 1]), objective="total_volume")
    for name in ("metis", "mtkahypar"):
        if TOOLS[name].available() is None:
            part = partition_with(name, graph, request).part
            assert fullness(graph, part, request.targets).max() <= 1.03
            assert cut(graph, part) < 0.1 * graph.m


@pytest.mark.parametrize("name", ["scotch", "kaminpar", "metis-recursive", "hilbert"])
def test_objective_refused(name, monkeypatch):
    monkeypatch.setitem(TOOLS, name, replace(TOOLS[name], missing=lambda: None))
    request = Request(UNEQUAL, objective="total_volume")
    with pytest.raises(UsageError, match=f"{name} minimises .*, not total_volume") as caught:
        partition_with(name, grid(9, 9), request)
    assert "These can: evener, hierarchical, metis, mtkahypar" in caught.value.hint


@pytest.mark.parametrize("name", ["hilbert", "rcb", "rib"])
def test_coordinates_needed(name):
    graph = grid(9, 9).with_(coords=None)
    with pytest.raises(UsageError, match=f"{name} needs coordinates, and the graph has none"):
        partition_with(name, graph, Request(UNEQUAL))


def test_targets_refused(monkeypatch):
    kahip = replace(TOOLS["metis"], name="kahip", targets=False)
    monkeypatch.setitem(TOOLS, "kahip", kahip)
    with pytest.raises(UsageError, match="kahip cannot make blocks of unequal targets") as caught:
        partition_with("kahip", grid(9, 9), Request(UNEQUAL))
    assert "metis" in caught.value.hint
    assert "kahip" not in caught.value.hint


def test_constraints_refused():
    graph = grid(6, 6).with_(vwgt=np.ones((36, 2)))
    with pytest.raises(UsageError, match="rcb balances one weight per vertex, not 2") as caught:
        partition_with("rcb", graph, Request(np.array([2.0, 1])))
    assert caught.value.hint.startswith("These can: evener")
    request = Request(np.array([2.0, 1]), objective="max_volume")
    with pytest.raises(UsageError, match="with several weights, not max_volume") as caught:
        partition_with("evener", graph, request)
    assert caught.value.hint.startswith("--constraint I selects one weight")


def test_auto_takes_our_own_for_several_weights():
    graph = grid(6, 6).with_(vwgt=np.ones((36, 2)))
    result = partition_with("auto", graph, Request(np.array([2.0, 1])))
    assert result.tool == "evener"
    assert result.notes[0].endswith("(minimises the cut within limits on every weight)")
    assert np.bincount(result.part).tolist() == [24, 12]


def test_absent_tool_says_how_to_get_it(monkeypatch):
    gone = replace(TOOLS["mtkahypar"], missing=lambda: "pip install mtkahypar")
    monkeypatch.setitem(TOOLS, "mtkahypar", gone)
    with pytest.raises(UsageError, match=r"mtkahypar is not installed: pip install mtkahypar"):
        partition_with("mtkahypar", grid(4, 4), Request(np.array([2.0, 1])))


def test_unknown_tool():
    with pytest.raises(UsageError, match="no partitioner 'mettis'") as caught:
        find_tool("mettis")
    assert "metis-recursive" in caught.value.hint


def test_more_blocks_than_vertices():
    with pytest.raises(InfeasibleError, match="there are 5 blocks but only 4 vertices"):
        partition_with("metis", grid(2, 2), Request(np.ones(5)))


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (np.zeros(3, np.int64), r"returned \(3,\) int64 for 4 vertices"),
        (np.zeros(4), r"returned \(4,\) float64"),
        (np.array([0, 1, 2, 0]), "returned block numbers 0 to 2 for 2"),
        (np.array([0, -1, 1, 0]), "returned block numbers -1 to 1 for 2"),
    ],
)
def test_nonsense_is_caught(monkeypatch, part, said):
    liar = replace(TOOLS["metis"], run=lambda graph, request: Outcome(part, 0.0, "liar 1"))
    monkeypatch.setitem(TOOLS, "metis", liar)
    with pytest.raises(ToolError, match=said):
        partition_with("metis", grid(2, 2), Request(np.array([2.0, 1])))


@pytest.mark.parametrize(
    "fields",
    [
        {"targets": []},
        {"targets": [0.0, 0.0]},
        {"targets": [1.0, -1.0]},
        {"epsilon": -0.1},
        {"epsilon": float("nan")},
        {"threads": 0},
        {"seed": -1},
        {"time_limit": 0.0},
        {"objective": "beauty"},
        {"preset": "ultra"},
    ],
)
def test_bad_requests(fields):
    with pytest.raises(UsageError):
        Request(**({"targets": [1.0, 2.0]} | fields))


def test_targets_must_be_finite():
    with pytest.raises(InputError, match="targets must be finite"):
        Request(np.array([1.0, np.inf]))


@pytest.mark.parametrize("coordinates", [True, False])
def test_auto_takes_ours_and_says_so(coordinates):
    graph = grid(10, 10) if coordinates else grid(10, 10).with_(coords=None)
    assert choose_tool(graph, Request(UNEQUAL))[0] == "evener"
    result = partition_with("auto", graph, Request(UNEQUAL))
    assert result.tool == "evener"
    assert result.notes[0].startswith("Partitioner: evener (minimises the cut within limits)")


def star(n):
    return Graph.from_edges(n, np.zeros(n - 1, np.int64), np.arange(1, n))


def test_auto_takes_ours_on_power_laws():
    for objective in ("cut", "total_volume", "max_volume"):
        assert choose_tool(star(200), Request(UNEQUAL, objective=objective))[0] == "evener"


def test_auto_without_ours(monkeypatch):
    graph = star(200)
    for other in ("evener", "metis", "metis-recursive", "scotch", "mtkahypar", "kaminpar"):
        monkeypatch.setitem(TOOLS, other, replace(TOOLS[other], missing=lambda: "get it"))
        if other == "evener":
            name, why = choose_tool(graph, Request(UNEQUAL))
            assert (name, "evener is not installed" in why) == ("metis", True)
    with pytest.raises(UsageError, match="no partitioner can do this"):
        choose_tool(graph.with_(coords=None), Request(UNEQUAL))


def test_both_limits_reach_our_partitioner():
    graph = grid(10, 10)
    targets = np.array([25.0, 75.0])
    narrow = Request(targets, low=np.array([30.0, 65.0]), high=np.array([35.0, 70.0]))
    size = np.bincount(partition_with("evener", graph, narrow).part)
    assert 30 <= size[0] <= 35


def slices(graph, request):
    """As docs/partitioner.md adds a partitioner: vertices in order, block after block."""
    contract = request.contract(graph)
    ends = np.cumsum(contract.targets) * (1 - 1e-12)
    part = np.searchsorted(ends, np.cumsum(graph.weights()) - graph.weights(), side="right")
    return Outcome(part, 0.0, "slices 1", ("vertices in order",))


def test_a_partitioner_is_added_by_a_function_and_an_entry(monkeypatch):
    tool = Tool("slices", "geometric", slices, objectives=("cut",))
    monkeypatch.setitem(TOOLS, tool.name, tool)
    graph, platform = grid(12, 12), ev.Platform.flat([2.0, 1.0, 1.0])
    result = partition_with("slices", graph, Request(np.array([2.0, 1.0, 1.0])))
    assert result.part.tolist() == [0] * 72 + [1] * 36 + [2] * 36
    assert (result.tool, result.notes) == ("slices", ("vertices in order",))
    with pytest.raises(UsageError, match="slices minimises cut, not max_volume"):
        partition_with("slices", graph, Request(np.ones(3), objective="max_volume"))
    plan = ev.plan(graph, platform, tool="slices", objective="cut")
    assert plan.tool == "slices"
    assert plan.certificate.all_hold
    found = ev.compare(graph, platform, ["slices", "rcb"], ev.PlanOptions())
    assert [row.tool for row in found] == ["slices", "rcb"]


def test_every_entry_is_complete():
    for name, tool in TOOLS.items():
        assert tool.name == name
        assert tool.family in ("multilevel", "external", "geometric")
        assert set(tool.objectives) <= set(requests.OBJECTIVES)
        assert tool.available() is None or name in tool.available()
    assert set(registry.AUTO_ORDER) <= set(TOOLS)
