"""Vertex programs on many devices: values, supersteps and arcs looked at are those of one."""

import numpy as np
import pytest

from evener.errors import InputError, ToolError, UsageError
from evener.graphs.graph import Graph
from evener.plans.partition import Partition
from evener.running.apps import bfs, pagerank, sssp, wcc
from evener.running.engine.engine import Engine
from evener.running.engine.program import VertexProgram
from evener.running.executing import run_program
from evener.running.failures import Names
from evener.running.on_device import RunWatch
from tests.examples import seeds
from tests.running.engine.parts import random_graph


def divided(graph, k, seed=0):
    return Partition(np.random.default_rng(seed).integers(0, k, graph.n).astype(np.int32), k)


@pytest.mark.parametrize("seed", seeds(16))
def test_bfs_is_the_same_on_any_number_of_devices(seed):
    draw = np.random.default_rng(seed)
    n = int(draw.integers(1, 250))
    graph = random_graph(n, int(draw.integers(0, 8 * n)), seed, directed=bool(seed % 2))
    source = {"source": int(draw.integers(n))}
    alone = run_program(bfs.PROGRAM, graph, divided(graph, 1), parameters=source)
    for k in (2, 3, 6):
        found = run_program(bfs.PROGRAM, graph, divided(graph, k, seed), parameters=source)
        assert np.array_equal(found.values, alone.values)
        assert found.supersteps == alone.supersteps
    assert bfs.verify(graph, alone.values, source["source"])


@pytest.mark.parametrize("seed", seeds(10))
def test_components_and_paths_are_those_of_scipy_on_any_number_of_devices(seed):
    draw = np.random.default_rng(seed)
    n = int(draw.integers(1, 200))
    graph = random_graph(n, int(draw.integers(0, 3 * n)), seed, directed=bool(seed % 2), weights=30)
    for k in (1, 2, 5):
        partition = divided(graph, k, seed)
        assert wcc.verify(graph, run_program(wcc.PROGRAM, graph, partition).values)
        assert sssp.verify(graph, run_program(sssp.PROGRAM, graph, partition).values)


@pytest.mark.parametrize("seed", seeds(8))
def test_pagerank_is_that_of_scipy_on_any_number_of_devices(seed):
    n = 5 + 40 * seed
    graph = random_graph(n, 4 * n, seed, directed=bool(seed % 2))
    for k in (1, 2, 5):
        found = run_program(pagerank.PROGRAM, graph, divided(graph, k, seed), most=7)
        assert pagerank.verify(graph, found.values, 7)
        arcs = graph.arcs_in().adjncy.size
        assert found.supersteps == 7
        assert found.edges == 7 * arcs


def test_halt_sees_the_change_of_all_devices():
    graph = random_graph(200, 1000)
    runs = [
        run_program(pagerank.PROGRAM, graph, divided(graph, k), parameters={"tolerance": 1e-3})
        for k in (1, 4)
    ]
    assert runs[0].supersteps == runs[1].supersteps > 2


def test_a_device_receives_at_most_one_message_for_a_vertex_from_each_other():
    graph, k = random_graph(300, 3000), 4
    partition = divided(graph, k)
    owned = np.bincount(partition.part, minlength=k)
    found = run_program(bfs.PROGRAM, graph, partition)
    received = found.of_devices("received")
    pushed = found.of_devices("sent") >= 0
    assert (received <= (k - 1) * np.maximum(owned, 300 - owned))[pushed].all()
    assert received.sum() > 0


def test_blocks_without_vertices_and_more_blocks_than_vertices():
    graph = random_graph(5, 8)
    for k in (2, 7):
        partition = Partition(np.zeros(5, np.int32), k)
        found = run_program(bfs.PROGRAM, graph, partition)
        assert bfs.verify(graph, found.values)
        assert pagerank.verify(
            graph, run_program(pagerank.PROGRAM, graph, partition, most=3).values, 3
        )


def test_what_each_superstep_took():
    graph = random_graph(400, 4000)
    found = run_program(pagerank.PROGRAM, graph, divided(graph, 3), most=4)
    for name in ("computing", "packing", "waiting", "unpacking"):
        spent = found.of_devices(name)
        assert spent.shape == (4, 3)
        assert (spent >= 0).all()
    parts = sum(found.of_devices(name) for name in ("computing", "packing", "waiting", "unpacking"))
    assert parts.sum(axis=0).max() <= found.seconds
    assert (found.of_devices("sent") > 0).all()


def test_wrong_numbers_of_devices_and_wrong_parameters_are_refused():
    graph = random_graph(20, 40)
    with pytest.raises(UsageError, match="has 1 device, but the plan has 2 blocks"):
        run_program(pagerank.PROGRAM, graph, divided(graph, 2), devices=[[0]], most=1)
    with pytest.raises(InputError, match="no parameter damp"):
        run_program(pagerank.PROGRAM, graph, divided(graph, 2), most=1, parameters={"damp": 1})


def test_a_program_that_does_not_compile_ends_the_run_on_all_devices():
    def init(vertex):
        return vertex.nothing

    program = VertexProgram(init=init, combine="min", dtype="int32")
    graph = random_graph(20, 40)
    with pytest.raises(InputError, match="init"):
        run_program(program, graph, divided(graph, 2))


def test_a_device_that_fails_in_mid_run_is_named(monkeypatch):
    advance, calls = Engine.advance, []

    def failing(engine, most):
        calls.append(engine)
        if len(calls) == 3:
            raise MemoryError("no room")
        advance(engine, most)

    monkeypatch.setattr(Engine, "advance", failing)
    graph, watch = random_graph(60, 200), RunWatch(names=Names(("a", "b", "c")))
    with pytest.raises(ToolError, match=r"rank \d \([abc]\) has run out of memory: no room"):
        run_program(pagerank.PROGRAM, graph, divided(graph, 3), most=50, watch=watch)


@pytest.mark.slow
def test_a_ghost_that_changes_twice_in_a_superstep_is_sent_once():
    """One that is settled by its second change; every ghost does so, and there is room for each."""

    def init(vertex):
        return 39 - vertex if vertex < 40 else np.iinfo(np.int32).max

    def settled(value):
        return value == 0

    program = VertexProgram(init=init, settled=settled, combine="min", dtype="int32")
    tails, heads = np.meshgrid(np.arange(40), np.arange(40, 80))
    others = np.meshgrid(np.arange(80, 280), np.arange(80, 280))  # arcs enough for a push
    ends = [np.append(one, other) for one, other in zip((tails, heads), others, strict=True)]
    graph = Graph.from_edges(280, *ends)
    blocks = np.where((np.arange(280) >= 40) & (np.arange(280) < 80), 1, 0)
    found = run_program(program, graph, Partition(blocks, 2))
    assert not found.values[40:80].any()
    assert found.of_devices("received").max() == 40
