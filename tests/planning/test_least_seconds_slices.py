"""Plans of least seconds of graphs in slices: certified, as fast as those in memory, anywhere."""

from dataclasses import replace

import numpy as np
import pytest

import evener as ev
from evener.errors import MemoryShortError, UsageError
from evener.graphs.generating.delaunay import delaunay
from evener.graphs.generating.grid import grid
from evener.graphs.generating.random_graphs import rmat
from evener.planning.evaluate import misstated
from evener.planning.makespan.baselines import LEAST_CUT
from evener.planning.makespan.border_search import BorderSearch
from evener.planning.makespan.search import solve_seconds
from evener.planning.options import PlanOptions
from evener.planning.plan_slices import plan_slices
from evener.plans import metrics
from evener.plans.plan import CHOSEN_STAGE, CUT_STAGE
from evener.plans.workload import WORKLOADS
from evener.platforms.device import Device
from evener.platforms.platform import Level, Link, Platform
from evener.running.comm import run_threads
from evener.sliced.blocks import SlicedOptions
from evener.sliced.distributed import DistributedGraph
from evener.sliced.memory import IMPORTS
from evener.sliced.rows import InMemoryGraph
from tests.sliced.rank_rows import random_graph, ranges_of, rows_of

# Light, medium and heavy: a value costs little of, as much as, or most of what a vertex computes.
BETAS = {"light": 1e-10, "medium": 1e-9, "heavy": 1e-8}


def machine(regime="medium", **more):
    beta = BETAS[regime]
    levels = Level("net", Link(4e-6, beta)), Level("node", Link(5e-7, beta / 10))
    speeds = [4e8, 1e8, 1e8, 1e8]
    devices = [
        Device(f"d{node}.{i}", speed, at=f"n{node}", **more)
        for node in range(3)
        for i, speed in enumerate(speeds)
    ]
    return Platform(devices, levels)


SLICE_BY_SLICE = SlicedOptions(whole=0)


def planned(graph, platform, sliced=SLICE_BY_SLICE, **options):
    return plan_slices(InMemoryGraph(graph), platform, PlanOptions(**options), sliced).plan


@pytest.mark.slow
@pytest.mark.parametrize("regime", BETAS)
def test_about_as_fast_as_plans_in_memory(regime):
    ratios = []
    for seed in (3, 4):
        graph = delaunay(20_000, seed)
        platform = machine(regime)
        plan = planned(graph, platform)
        assert plan.options["objective"] == "seconds"
        assert misstated(plan, graph) == []
        in_memory = ev.plan(graph, platform)
        ratios.append(plan.prediction.makespan / in_memory.prediction.makespan)
    # Issue 21: 1.03, 1.05 and 1.10 of the in-memory makespan.
    assert np.mean(ratios) < {"light": 1.03, "medium": 1.05, "heavy": 1.10}[regime]


@pytest.mark.parametrize("memory", [1e3, 1.3])
def test_what_one_process_can_hold_is_searched_as_in_memory(memory):
    graph = delaunay(3000, 2)
    platform = machine(memory=memory * graph.total_bytes / 12)
    plan = planned(graph, platform, SlicedOptions())
    alone = solve_seconds(graph, platform, PlanOptions(), with_metis=False)
    assert (plan.partition.part == alone.part).all()
    assert plan.stages == alone.stages
    assert plan.certificate.all_hold
    assert misstated(plan, graph) == []


def test_one_process_holds_what_its_memory_allows():
    graph = delaunay(3000, 2)
    little, enough = (SlicedOptions(memory=IMPORTS + each * graph.n) for each in (500.0, 1000.0))
    whole = planned(graph, machine(), SlicedOptions())
    assert planned(graph, machine(), enough).stages == whole.stages
    assert planned(graph, machine(), little).stages != whole.stages


@pytest.mark.parametrize("kernel", ["weights", "spmv"])
def test_every_figure_is_confirmed_by_a_recount_of_the_whole_graph(kernel):
    graph = delaunay(3000, 2)
    workload = replace(WORKLOADS[kernel], bytes_per_value=16.0)
    plan = planned(graph, machine(), workload=workload)
    assert plan.certificate.all_hold
    assert misstated(plan, graph) == []
    cut = planned(graph, machine(), workload=workload, objective="cut")
    assert plan.prediction.makespan <= cut.prediction.makespan * (1 + PlanOptions().alike)


def test_weights_overlap_and_shared_links():
    graph = random_graph(2000, 5000, 3, weighted=True, coords=True)
    platform = machine()
    shared = replace(
        platform, levels=(replace(platform.levels[0], shared=True), platform.levels[1])
    )
    workload = replace(WORKLOADS["weights"], overlap=True, fixed_seconds=1e-6)
    plan = planned(graph, shared, workload=workload)
    assert plan.certificate.all_hold
    assert misstated(plan, graph) == []


def test_memories_are_kept():
    graph = delaunay(4000, 5)
    each = graph.total_bytes / 12
    plan = planned(graph, machine(memory=1.2 * each))
    assert plan.certificate.all_hold
    assert (plan.certificate.bytes <= 1.2 * each).all()
    assert plan.saturated.any()
    assert misstated(plan, graph) == []


def test_plans_whose_borders_need_too_much_memory_are_left_out(monkeypatch):
    turn = BorderSearch.turn

    def short(search, name, blocks, **how):
        if LEAST_CUT not in name:
            raise MemoryShortError("too little memory")
        return turn(search, name, blocks, **how)

    monkeypatch.setattr(BorderSearch, "turn", short)
    graph = delaunay(2000, 6)
    within = SlicedOptions(memory=2**30, whole=0)
    plan = plan_slices(InMemoryGraph(graph), machine(), PlanOptions(), within).plan
    assert plan.certificate.all_hold
    assert LEAST_CUT in plan.stages[-1].name
    assert any("left out" in note for note in plan.notes)


def test_the_least_cut_where_memory_is_too_little_to_lower_seconds():
    graph = delaunay(4000, 6)
    within = SlicedOptions(memory=IMPORTS + 10e6, whole=0)
    made = {
        objective: plan_slices(
            InMemoryGraph(graph), machine(), PlanOptions(objective=objective), within
        ).plan
        for objective in ("seconds", "cut")
    }
    np.testing.assert_array_equal(made["seconds"].partition.part, made["cut"].partition.part)
    assert any("not least predicted seconds" in note for note in made["seconds"].notes)
    assert not any("not least predicted seconds" in note for note in made["cut"].notes)
    assert made["seconds"].certificate.all_hold


def test_a_least_cut_whose_borders_do_not_fit_is_counted_from_the_rows(monkeypatch):
    turn = BorderSearch.turn
    seconds = []

    def short(search, name, blocks, **how):
        if LEAST_CUT not in name:
            raise MemoryShortError("too little memory")
        seconds.append(turn(search, name, blocks, refine=False).seconds)
        raise MemoryShortError("too little memory")

    monkeypatch.setattr(BorderSearch, "turn", short)
    graph = delaunay(2000, 6)
    within = SlicedOptions(memory=2**30, whole=0)
    plan = plan_slices(InMemoryGraph(graph), machine(), PlanOptions(), within).plan
    (cut,) = (one for one in plan.stages if one.role == CUT_STAGE)
    assert cut.seconds == pytest.approx(seconds[0])
    assert plan.prediction.makespan == pytest.approx(cut.seconds)
    assert misstated(plan, graph) == []


def test_devices_that_would_make_it_slower_are_left_out():
    graph = grid([40, 40])
    plan = planned(
        graph, Platform([Device("a", 1e9), Device("b", 1e9)], [Level("net", Link(1e-3, 1e-6))])
    )
    assert plan.certificate.vertices.min() == 0
    assert any("Unused" in note for note in plan.notes)
    assert misstated(plan, graph) == []


def test_plans_that_were_counted_are_recorded():
    graph = delaunay(3000, 4)
    plan = planned(graph, machine())
    *others, last = plan.stages
    (cut,) = (one for one in others if one.role == CUT_STAGE)
    assert last.role == CHOSEN_STAGE
    assert last.seconds <= cut.seconds * (1 + PlanOptions().alike)
    assert last.seconds == pytest.approx(plan.prediction.makespan)
    between = metrics.quotient(graph, plan.partition)
    assert last.edge_cut == metrics.edge_cut(between)
    assert last.total_volume == between.sent.sum()
    assert last.neighbours == metrics.neighbours(between).max()


# Slices of the second are a layer each: clusters are made across them.
@pytest.mark.parametrize("whole", [delaunay(2500, 7), grid([64, 7, 7])], ids=["mesh", "layers"])
@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("sliced", [SLICE_BY_SLICE, SlicedOptions()], ids=["slices", "whole"])
def test_the_same_blocks_on_ranks(ranks, whole, sliced):
    alone = planned(whole, machine(), sliced)
    bounds = ranges_of(whole.n, ranks)

    def work(comm):
        mine = range(bounds[comm.rank], bounds[comm.rank + 1])
        graph = DistributedGraph.from_local(comm, **rows_of(whole, mine), vtxdist=bounds)
        return plan_slices(graph, machine(), PlanOptions(), sliced)

    found = run_threads(ranks, work)
    assert (found[0].plan.partition.part == alone.partition.part).all()
    assert (np.concatenate([one.blocks for one in found]) == alone.partition.part).all()
    assert found[0].plan.stages == alone.stages
    assert misstated(found[0].plan, whole) == []


def test_graphs_of_uneven_degrees_are_divided_for_least_cut():
    graph = rmat(10, 8, 3)
    assert planned(graph, machine()).options["objective"] == "cut"
    with pytest.raises(UsageError, match="degrees differ"):
        planned(graph, machine(), objective="seconds")
