"""Plans of graphs in slices: certified, confirmed by a recount of the whole graph."""

import numpy as np
import pytest

import evener as ev
from evener.errors import InfeasibleError, NotFoundError, UsageError
from evener.graphs.generating.delaunay import delaunay
from evener.graphs.generating.grid import grid
from evener.graphs.generating.random_graphs import barabasi_albert, rmat
from evener.graphs.graph import Graph
from evener.planning import slice_blocks
from evener.planning.evaluate import misstated
from evener.planning.options import PlanOptions
from evener.planning.plan_slices import plan_slices, refuse_whole
from evener.planning.slice_blocks import collected
from evener.plans.workload import WORKLOADS
from evener.platforms.device import Device
from evener.platforms.platform import Level, Link, Platform
from evener.running.comm import run_threads
from evener.sliced.blocks import SlicedOptions
from evener.sliced.distributed import DistributedGraph
from evener.sliced.rows import InMemoryGraph
from tests.sliced.rank_rows import random_graph, ranges_of, rows_of

UNEQUAL = Platform.flat([4.0, 2.0, 1.0, 1.0, 2.0, 3.0])


def planned(graph, platform=UNEQUAL, **options):
    return plan_slices(InMemoryGraph(graph), platform, PlanOptions(**options)).plan


@pytest.mark.parametrize("workload", ["weights", "spmv"])
@pytest.mark.parametrize("objective", ["cut", "total_volume", "max_volume"])
def test_every_figure_is_confirmed_by_a_recount_of_the_whole_graph(workload, objective):
    graph = delaunay(3000, 2)
    plan = planned(graph, workload=WORKLOADS[workload], objective=objective)
    assert plan.certificate.all_hold
    assert misstated(plan, graph) == []
    in_memory = ev.plan(graph, UNEQUAL, workload=workload, objective=objective)
    assert list(plan.sizes) == list(in_memory.sizes)
    assert np.isclose(plan.prediction.bound, in_memory.prediction.bound)
    assert dict(plan.graph) == dict(in_memory.graph)


def test_weights_of_vertices_and_edges():
    graph = random_graph(2000, 5000, 3, weighted=True, coords=True)
    plan = planned(graph)
    assert plan.certificate.all_hold
    assert misstated(plan, graph) == []


@pytest.mark.parametrize("capped", [False, True])
def test_uneven_degrees(capped):
    graph = rmat(10, 3, 8)
    memory = 0.4 * graph.total_bytes if capped else None
    platform = Platform([Device(f"d{i}", 1.0 + i % 2, memory=memory) for i in range(5)])
    plan = planned(graph, platform)
    assert plan.certificate.all_hold
    assert misstated(plan, graph) == []


@pytest.mark.parametrize("n", [1, 2, 5, 70, 130])
def test_small_graphs(n):
    graph = grid([n, 1])
    platform = Platform.flat([1.0] * min(n, 4))
    plan = planned(graph, platform)
    assert misstated(plan, graph) == []


def test_memories_are_kept_where_bytes_differ_from_place_to_place():
    rng = np.random.default_rng(5)
    points = rng.random((4000, 2)) ** [2, 1]  # denser on one side
    graph = delaunay(4000, 5).with_(coords=points)
    total = graph.total_bytes
    devices = [
        Device("a", 8.0, memory=0.3 * total),
        Device("b", 4.0, memory=0.21 * total),
        Device("c", 1.0),
        Device("d", 1.0),
    ]
    plan = planned(graph, Platform(devices))
    assert plan.certificate.all_hold
    assert list(plan.saturated) == [True, True, False, False]
    assert (plan.certificate.bytes <= plan.certificate.contract.caps).all()
    assert misstated(plan, graph) == []


def test_too_little_memory_is_refused():
    graph = grid([40, 40])
    devices = [Device(name, 1.0, memory=0.4 * graph.total_bytes) for name in "ab"]
    with pytest.raises(InfeasibleError, match="short"):
        planned(graph, Platform(devices))


@pytest.mark.parametrize("objective", ["cut", "seconds"])
def test_memories_two_per_cent_above_the_shares(objective):
    """Weights from 0 to 5 say little of bytes, which limits on weights stand for at first."""
    rng = np.random.default_rng(4)
    graph = random_graph(1500, 4500, 4).with_(vwgt=rng.integers(0, 6, 1500))
    speeds = np.array([1e6, 2e6, 3e6, 5e6])
    memories = 1.02 * graph.total_bytes * speeds / speeds.sum()
    devices = [
        Device(f"d{i}", s, memory=m) for i, (s, m) in enumerate(zip(speeds, memories, strict=True))
    ]
    platform = Platform(devices, (Level("net", Link(1e-6, 1e-9)),))
    plan = planned(graph, platform, objective=objective)
    assert plan.certificate.all_hold
    assert misstated(plan, graph) == []


@pytest.mark.parametrize("tool", ["ldg", "fennel"])
def test_a_simple_way_that_breaks_limits_is_refused(tool):
    graph = grid([40, 40]).with_(vwgt=1 + np.arange(1600) % 9)
    with pytest.raises(NotFoundError, match=f"no plan by {tool}: .* the limit"):
        planned(graph, UNEQUAL, tool=tool, epsilon=1e-4)


def test_blocks_are_mapped_onto_devices_where_links_are_known():
    levels = Level("net", Link(2e-6, 1e-9)), Level("node", Link(5e-7, 2.5e-11))
    devices = [Device(f"d{i}", 1e6, at=f"n{i % 4}") for i in range(12)]
    platform = Platform(devices, levels)
    graph = grid([60, 60])
    plan = planned(graph, platform, objective="cut")
    assert plan.mapping is not None
    assert misstated(plan, graph) == []
    still = planned(graph, platform, mapping=False, objective="cut")
    assert still.mapping is None


@pytest.mark.parametrize("ranks", [2, 3])
def test_the_same_blocks_on_ranks(ranks):
    whole = delaunay(2500, 7)
    sliced = SlicedOptions(groups=2)
    alone = plan_slices(InMemoryGraph(whole), UNEQUAL, PlanOptions(), sliced).plan
    bounds = ranges_of(2500, ranks)

    def work(comm):
        mine = range(bounds[comm.rank], bounds[comm.rank + 1])
        graph = DistributedGraph.from_local(comm, **rows_of(whole, mine), vtxdist=bounds)
        return plan_slices(graph, UNEQUAL, PlanOptions(), sliced)

    found = run_threads(ranks, work)
    assert [one.plan is not None for one in found] == [True] + [False] * (ranks - 1)
    assert (found[0].plan.partition.part == alone.partition.part).all()
    assert (np.concatenate([one.blocks for one in found]) == alone.partition.part).all()
    assert misstated(found[0].plan, whole) == []


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"tool": "metis"}, "not graphs in slices"),
        ({"connected": True}, "connected"),
        ({"shares": "speed,memory"}, "one weight per vertex"),
    ],
)
def test_options_that_need_the_whole_graph_are_refused(options, why):
    with pytest.raises(UsageError, match=why):
        planned(grid([9, 9]), **options)


def test_what_to_do_instead_is_what_can_be_done_there():
    for options in (PlanOptions(tool="metis"), PlanOptions(connected=True)):
        with pytest.raises(UsageError) as in_a_file:
            refuse_whole(options)
        with pytest.raises(UsageError) as on_ranks:
            refuse_whole(options, ranks=True)
        assert "--memory" in in_a_file.value.hint
        assert "mpiexec" in on_ranks.value.hint
        assert "ldg" not in on_ranks.value.hint  # which needs one process


def test_progress_tells_of_passes_and_bytes():
    told = []
    plan_slices(
        InMemoryGraph(grid([50, 50])),
        UNEQUAL,
        PlanOptions(),
        progress=lambda *one: told.append(one),
    )
    steps = [step for step, _ in told]
    assert steps[-1] == "done"
    assert any(step.startswith("certifying: pass ") and "read" in step for step in steps)
    fractions = [fraction for _, fraction in told]
    assert fractions == sorted(fractions)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ranks", [1, 3])
def test_the_graph_is_whole_again(weighted, ranks):
    graph = random_graph(300, 900, 2, weighted=weighted)
    bounds = ranges_of(graph.n, ranks)

    def work(comm):
        rows = rows_of(graph, range(bounds[comm.rank], bounds[comm.rank + 1]))
        return collected(DistributedGraph.from_local(comm, **rows), 3.0, 5.0)

    found, *others = [*run_threads(ranks, work), collected(InMemoryGraph(graph), 3.0, 5.0)]
    assert others[:-1] == [None] * (ranks - 1)
    for one in (found, others[-1]):
        assert (one.xadj == graph.xadj).all()
        assert (one.adjncy == graph.adjncy).all()
        assert (one.weights() == graph.weights()).all()
        assert (one.edge_weights() == graph.edge_weights()).all()
        assert one.weights().dtype == graph.weights().dtype
        assert (one.bytes_per_vertex, one.bytes_per_edge) == (3.0, 5.0)


def test_weights_that_are_not_whole_stay_as_they_are():
    graph = random_graph(100, 300, 2).with_(vwgt=np.arange(100) + 0.5)
    assert (collected(InMemoryGraph(graph)).weights() == graph.weights()).all()


def with_hubs(seed):
    """Two hubs with most of the vertices each, and random edges."""
    rng = np.random.default_rng(seed)
    u, v = rng.integers(2, 1500, (2, 2500))
    leaves = np.arange(2, 1500)
    u, v = np.concatenate([u, leaves, leaves]), np.concatenate([v, leaves * 0, leaves * 0 + 1])
    return Graph.from_edges(1500, u, v)


@pytest.fixture
def _slice_by_slice(monkeypatch):
    monkeypatch.setattr(slice_blocks, "most_whole", lambda *_: 0)


@pytest.mark.parametrize("capped", [False, True])
def test_what_one_process_can_hold_is_divided_as_in_memory(capped):
    for graph in (rmat(9, 3), barabasi_albert(600, 2)):
        memory = 0.3 * graph.total_bytes if capped else None
        platform = Platform([Device(f"d{i}", 1.0 + i % 2, memory=memory) for i in range(5)])
        expected = ev.plan(graph, platform).partition.part
        plan = plan_slices(InMemoryGraph(graph), platform, PlanOptions()).plan
        assert (plan.partition.part == expected).all()
        assert misstated(plan, graph) == []


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("share", [1.02, 1.3])
def test_tight_memories_end_in_a_plan_where_one_in_memory_does(seed, share):
    graph = rmat(10, seed)
    devices = [Device(f"d{i}", 1.0, memory=share * graph.total_bytes / 4) for i in range(4)]
    plan = plan_slices(InMemoryGraph(graph), Platform(devices), PlanOptions()).plan
    assert plan.certificate.all_hold


@pytest.mark.usefixtures("_slice_by_slice")
@pytest.mark.parametrize("speeds", [[1.0] * 16, [16.0, 1.0, 1.0, 1.0]])
def test_hubs_in_slices(speeds):
    # Cells around a hub once weighed more than any block may, and the plan ended in an error.
    for graph in (with_hubs(1), barabasi_albert(1500, 2)):
        plan = plan_slices(InMemoryGraph(graph), Platform.flat(speeds), PlanOptions()).plan
        assert plan.certificate.all_hold
        assert misstated(plan, graph) == []


@pytest.mark.parametrize("whole", [True, False])
def test_the_same_uneven_blocks_on_ranks(whole, monkeypatch):
    if not whole:
        monkeypatch.setattr(slice_blocks, "most_whole", lambda *_: 0)
    graph, platform = barabasi_albert(1500, 5), Platform.flat([4.0, 2.0, 1.0, 1.0])
    expected = plan_slices(InMemoryGraph(graph), platform, PlanOptions()).plan
    bounds = ranges_of(graph.n, 3)

    def work(comm):
        rows = rows_of(graph, range(bounds[comm.rank], bounds[comm.rank + 1]))
        held = DistributedGraph.from_local(comm, **rows)
        return held.back(plan_slices(held, platform, PlanOptions()).blocks)

    found = np.concatenate(run_threads(3, work))
    assert (found == expected.partition.part).all()
