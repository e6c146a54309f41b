"""Plans of graphs of uneven degrees in slices: by one process, or slice by slice."""

import numpy as np
import pytest

import evener as ev
from evener.graphs.generating.random_graphs import barabasi_albert, rmat
from evener.graphs.graph import Graph
from evener.planning import slice_blocks
from evener.planning.evaluate import misstated
from evener.planning.options import PlanOptions
from evener.planning.plan_slices import plan_slices
from evener.platforms.device import Device
from evener.platforms.platform import Platform
from evener.running.comm import run_threads
from evener.sliced.distributed import DistributedGraph
from evener.sliced.whole import InMemoryGraph
from tests.sliced.rank_rows import ranges_of, rows_of


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
def test_the_same_blocks_on_ranks(whole, monkeypatch):
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
