"""Vertices change device while a run goes on: values are those without."""

import time

import numpy as np
import pytest

import evener.running.moving as moving_module
from evener.errors import UsageError
from evener.graphs.generating.grid import grid
from evener.plans.partition import Partition
from evener.running.apps import pagerank
from evener.running.apps.registry import APPS
from evener.running.checkpoints import Checkpoints, read_checkpoint
from evener.running.comm import run_threads
from evener.running.distributing import distribute
from evener.running.engine.program import Solver
from evener.running.engine.states import RunState
from evener.running.executing import run_on_parts, run_program
from evener.running.moving import Rebalancing, moved_state
from evener.running.on_device import RunWatch
from tests.examples import seeds
from tests.running import random_runs
from tests.running.random_runs import RandomMoves, is_right, moving, random_case

STEPS = {"pagerank": 12, "jacobi": 30, "spmv": 8}
GRAPH = grid((23, 17))


def halves(graph, k=2):
    return Partition((np.arange(graph.n) * k // graph.n).astype(np.int32), k)


def run(name, k, watch=None, graph=GRAPH):
    app = APPS[name]
    program = app.program if app.program_for is None else app.program_for(graph)
    most = {"most": STEPS[name]} if name in STEPS else {}
    return run_program(program, graph, halves(graph, k), watch=watch or RunWatch(), **most)


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("name", ["bfs", "cg", "jacobi", "pagerank", "spmv", "sssp", "wcc"])
def test_values_are_those_without_moves(name, k):
    """All schedules, and solvers: moves after each superstep."""
    mover = RandomMoves(GRAPH.n, k)
    alone, moved = run(name, k), run(name, k, RunWatch(rebalancing=Rebalancing(mover, every=1)))
    if alone.values.dtype.kind == "f" and name != "sssp":
        np.testing.assert_allclose(moved.values, alone.values, rtol=1e-6)
    else:
        assert np.array_equal(moved.values, alone.values)
    assert len(moved.moves) == len(mover.parts) > 0
    assert np.array_equal(moved.part, mover.parts[-1])
    if name not in ("wcc", "sssp"):  # which join, or settle, what they can reach on a device
        assert moved.supersteps == alone.supersteps


@pytest.mark.parametrize("seed", seeds(12))
def test_random_graphs_and_moves(seed):
    """Directed and undirected graphs, blocks that become empty, isolated vertices."""
    graph, partition, source = random_case(seed)
    for app in random_runs.MOVING:
        watch = moving(graph, partition.k, seed=seed)
        assert is_right(app, (graph, partition, source), watch=watch), app


def test_what_is_recorded_of_moves():
    mover = RandomMoves(GRAPH.n, 2, after=(3, 7))
    found = run("pagerank", 2, RunWatch(rebalancing=Rebalancing(mover, every=1)))
    assert [move.step for move in found.moves] == [3, 7]
    before = [halves(GRAPH).part, mover.parts[0]]
    for move, old, new in zip(found.moves, before, mover.parts, strict=True):
        assert move.vertices == np.count_nonzero(old != new)
        assert (move.kind, move.saving, move.cost) == ("random", 0.5, 0.25)
        assert 0 < move.seconds < found.seconds
    assert found.moves[0].began < found.moves[1].began < found.seconds
    assert len(mover.took) == 2
    assert sum(seen.supersteps for seen in mover.seen) == STEPS["pagerank"] - 1
    assert [seen.left for seen in mover.seen] == list(range(11, 0, -1))
    assert 0 < found.asking < found.seconds
    for steps in found.steps:  # on one clock, in order, also over moves
        begins = [began for step in steps for _, began, _ in step.spans]
        assert begins == sorted(begins)
        assert begins[-1] < found.seconds


class SlowAtFirst:
    """Prepares itself for long when it is first asked; moves nothing."""

    def __init__(self):
        self.steps = []

    def observe(self, seen):
        if not self.steps:
            time.sleep(0.2)
        self.steps.append(seen.step)


def test_a_slow_first_answer_delays_no_question(monkeypatch):
    monkeypatch.setattr(moving_module, "LEAST_SECONDS", 0.0)
    adviser = SlowAtFirst()
    run("pagerank", 2, RunWatch(rebalancing=Rebalancing(adviser)))
    assert adviser.steps[:2] == [1, 2]


def test_a_run_that_is_not_rebalanced_has_no_moves():
    found = run("pagerank", 2)
    assert (found.moves, found.part, found.asking) == ((), None, 0.0)


def test_checkpoints_beside_moves(tmp_path):
    """What is kept after a move continues with the same values."""
    kept = Checkpoints(tmp_path / "kept", steps=8)
    rebalancing = Rebalancing(RandomMoves(GRAPH.n, 2, after=(3, 7)), every=1)
    found = run("pagerank", 2, RunWatch(checkpoints=kept, rebalancing=rebalancing))
    again = run("pagerank", 3, RunWatch(resume=read_checkpoint(tmp_path / "kept")))
    assert again.first == 8
    np.testing.assert_allclose(again.values, found.values, rtol=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_each_device_gets_the_state_of_its_vertices(seed):
    """Against rows picked from those of all vertices; some devices have none before or after."""
    draw, n, k = np.random.default_rng(seed), 50, 4
    whole = RunState(3, draw.random((n, 2)), draw.random(n), draw.integers(0, 2, n, np.uint8))
    old = draw.integers(0, k - seed % 2, n).astype(np.int32)
    new = draw.integers(seed % 3, k, n).astype(np.int32)
    owned = [draw.permutation(np.flatnonzero(new == rank)) for rank in range(k)]

    def work(comm):
        before = np.flatnonzero(old == comm.rank)
        return moved_state(comm, whole.of(before), before, new, owned[comm.rank])

    for numbers, found in zip(owned, run_threads(k, work), strict=True):
        for name in ("values", "payloads", "active"):
            expected = getattr(whole, name)[numbers]
            assert getattr(found, name).shape == expected.shape
            assert np.array_equal(getattr(found, name), expected)
            assert getattr(found, name).dtype == expected.dtype


def test_asking_is_bounded():
    """Of supersteps that take no time, the adviser hears seldom."""
    mover = RandomMoves(GRAPH.n, 2, after=())
    program = APPS["pagerank"].program
    watch = RunWatch(rebalancing=Rebalancing(mover))
    found = run_program(program, GRAPH, halves(GRAPH), most=400, watch=watch)
    assert len(mover.seen) < 100
    assert np.array_equal(found.values, run_program(program, GRAPH, halves(GRAPH), most=400).values)


def test_what_cannot_be_rebalanced():
    watch = RunWatch(rebalancing=Rebalancing(RandomMoves(GRAPH.n, 2)))
    with pytest.raises(UsageError, match="need the whole graph: call run_program"):
        run_on_parts(pagerank.PROGRAM, distribute(GRAPH, halves(GRAPH), want="both"), watch=watch)
    own = Solver("own", lambda *_, **__: None, lambda *_: 0)
    with pytest.raises(UsageError, match="own cannot be rebalanced"):
        run_program(own, GRAPH, halves(GRAPH), watch=watch)
