"""Runs that change the order of vertices: the values are those without."""

import numpy as np
import pytest

from evener.errors import UsageError
from evener.graphs.generating.grid import grid
from evener.plans.partition import Partition
from evener.running.apps.registry import APPS
from evener.running.engine.recording import StepRecorder
from evener.running.executing import run_program
from evener.running.locality import adapting, ordering
from evener.running.locality.adapting import Agent
from evener.running.locality.ordering import is_bad_order
from evener.running.on_device import RunWatch
from tests.running.engine.parts import random_graph, whole

STEPS = {"pagerank": 40, "jacobi": 60, "spmv": 40}
BAD_LINES = ordering.BAD_LINES
GRAPH = random_graph(900, 2700, 5, weights=9)


def run(name, k, locality):
    app = APPS[name]
    program = app.program if app.program_for is None else app.program_for(GRAPH)
    partition = Partition((np.arange(GRAPH.n) * k // GRAPH.n).astype(np.int32), k)
    most = {"most": STEPS[name]} if name in STEPS else {}
    return run_program(program, GRAPH, partition, watch=RunWatch(locality=locality), **most)


@pytest.fixture(autouse=True)
def any_order_is_bad(monkeypatch):
    monkeypatch.setattr(ordering, "BAD_LINES", 0.0)


def assert_same(found, plain):
    if plain.values.dtype.kind == "f":
        np.testing.assert_allclose(found.values, plain.values, rtol=1e-6, atol=1e-12)
    else:
        assert np.array_equal(found.values, plain.values)


@pytest.mark.parametrize("name", sorted(set(APPS) - {"wcc"}))
def test_ordered_before_the_run(name):
    for k in (1, 3):
        plain, found, again = (run(name, k, how) for how in ("off", "on", "on"))
        assert_same(found, plain)
        assert np.array_equal(found.values, again.values)
        assert [one.step for one in found.reorderings] == [0] * k
        assert plain.reorderings == ()


class Ready(Agent):
    """An agent that has ended after the first superstep."""

    def __init__(self, local, cores=None):
        super().__init__(local, cores)
        self.worth_after = 0.0

    def begin_after(self, spent):
        super().begin_after(spent)
        if self._thread is not None:
            self._thread.join()


@pytest.mark.parametrize("is_slower", [False, True])
@pytest.mark.parametrize("name", ["bfs", "cg", "jacobi", "pagerank", "spmv"])
def test_ordered_while_it_runs(name, is_slower, monkeypatch):
    monkeypatch.setattr(adapting, "Agent", Ready)
    monkeypatch.setattr(adapting, "WORTH", 1e9)
    monkeypatch.setattr(adapting, "BETWEEN", 1)
    monkeypatch.setattr(adapting, "MOST_SLOWER", 0.0 if is_slower else 1e9)
    for k in (1, 3):
        plain, found = run(name, k, "off"), run(name, k, "auto")
        assert_same(found, plain)
        assert [one.step for one in found.reorderings] == [1] * k
        is_compared = name in ("cg", "jacobi", "pagerank", "spmv")
        assert all(one.is_kept != (is_slower and is_compared) for one in found.reorderings)
        assert abs(found.supersteps - plain.supersteps) <= (name == "cg")


def test_a_good_order_is_left_alone(monkeypatch):
    monkeypatch.setattr(ordering, "BAD_LINES", BAD_LINES)
    local = whole(grid((90, 90)))
    assert not is_bad_order(local)
    agent = Ready(local)
    agent.begin_after(0.0)
    assert agent.found is None and agent.has_ended
    assert adapting.ordered(local)[0] is local


def test_an_agent_ends_when_it_is_stopped():
    local = whole(random_graph(200_000, 400_000, 1))
    assert is_bad_order(local)
    agent = Agent(local)
    agent.begin_after(1.0)
    agent.stop()
    assert agent.has_ended and agent.found is None


def test_an_agent_begins_once_enough_was_spent():
    least = adapting.LEAST_SPENT
    agent = Agent(whole(GRAPH))
    agent.begin_after(0.99 * least)
    agent.stop()
    assert not agent.has_ended and agent.seconds == 0.0
    agent = Agent(whole(GRAPH))
    agent.begin_after(least)
    agent.begin_after(least)
    agent.stop()
    assert agent.has_ended and agent.seconds > 0.0


def test_short_runs_go_without_a_search_and_ask_ever_less_often(monkeypatch):
    monkeypatch.setattr(adapting, "LEAST_SPENT", 1e9)
    monkeypatch.setitem(STEPS, "spmv", 200)
    asked, gathered = [], StepRecorder.gathered

    def counted(steps, value):
        asked.append(len(steps.steps))
        return gathered(steps, value)

    monkeypatch.setattr(StepRecorder, "gathered", counted)
    found = run("spmv", 2, "auto")
    assert [(one.step, one.seconds) for one in found.reorderings] == [(None, 0.0)] * 2
    every_eighth = list(range(8, 72, 8))
    assert sorted(asked)[::2] == [*every_eighth, 72, 81, 91, 102, 114, 128, 144, 162, 182]


def test_errors_of_an_agent_are_raised(monkeypatch):
    def fails(*_):
        raise MemoryError("no room")

    monkeypatch.setattr(adapting, "locality_order", fails)
    agent = Ready(whole(GRAPH))
    agent.begin_after(0.0)
    with pytest.raises(MemoryError, match="no room"):
        agent.stop()


def test_what_cannot_be_done_is_refused():
    with pytest.raises(UsageError, match="triangles cannot change its order"):
        run("triangles", 1, "auto")
    with pytest.raises(UsageError, match="wcc needs its vertices in ascending order"):
        run("wcc", 1, "on")
    with pytest.raises(UsageError, match="locality"):
        run("bfs", 1, "always")
