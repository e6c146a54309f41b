"""The bucket schedule and shortest paths, against slow references."""

import math

import numpy as np
import pytest

from evener.errors import InputError
from evener.graphs.graph import Graph
from evener.plans.partition import Partition
from evener.running.apps import sssp
from evener.running.engine import ThreadPool, VertexProgram
from evener.running.engine.buckets_kernels import CHUNK
from evener.running.engine.engine import Engine, run_on
from evener.running.executing import run_program
from tests.examples import seeds
from tests.running.engine.parts import loop, random_graph, whole


@pytest.fixture(scope="module", params=[1, 2], ids=["1 thread", "2 threads"])
def pool(request):
    with ThreadPool(request.param) as made:
        yield made


def slow_distances(graph, source):
    arcs = graph.arcs_out()
    tails = np.repeat(np.arange(graph.n), np.diff(arcs.xadj))
    found = np.full(graph.n, np.iinfo(np.int32).max, np.int64)
    found[source] = 0
    for _ in range(graph.n):
        np.minimum.at(found, arcs.adjncy, found[tails] + arcs.adjwgt)
        found = np.minimum(found, np.iinfo(np.int32).max)
    return found


@pytest.mark.parametrize("seed", seeds(20))
@pytest.mark.parametrize("delta", [1, 8, 1000])
def test_paths_of_random_graphs(pool, seed, delta):
    draw = np.random.default_rng(seed)
    n = int(draw.integers(1, 200))
    largest = int(draw.choice([1, 50, 5000]))  # far more than there are buckets, too
    graph = random_graph(n, int(draw.integers(0, 5 * n)), seed, bool(seed % 2), weights=largest)
    source = int(draw.integers(n))
    ran = run_on(sssp.PROGRAM, whole(graph), pool, source=source, delta=delta)
    assert np.array_equal(ran.values, slow_distances(graph, source))
    assert sssp.verify(graph, ran.values, source)


def test_paths_of_loops_of_all_sizes(pool):
    for n in range(1, 201):
        ran = run_on(sssp.PROGRAM, whole(loop(n)), pool, source=n // 2, delta=4)
        away = np.abs(np.arange(n) - n // 2)
        assert np.array_equal(ran.values, np.minimum(away, n - away)), n


def test_each_arc_is_looked_at_once_where_buckets_are_exact():
    """With weights of 1 and buckets of width 1 a vertex is handled once, as by breadth first."""
    graph = random_graph(500, 1500, 3)
    ran = run_on(sssp.PROGRAM, whole(graph), 1, source=0, delta=1)
    reached = ran.values < np.iinfo(np.int32).max
    assert ran.edges == np.diff(graph.xadj)[reached].sum()


@pytest.mark.parametrize("chunks", [1, 3])
def test_vertices_without_a_place_in_a_bucket_are_handled_later(pool, chunks):
    graph = random_graph(3000, 9000, 4, weights=200)
    engine = Engine(sssp.PROGRAM, whole(graph), pool, {"delta": 2})
    room = np.empty((pool.threads, chunks), np.int64)
    assert chunks * int(CHUNK) < graph.n / 3
    engine.work = engine.work._replace(following=room)
    engine.advance(1)
    assert sssp.verify(graph, engine.values)


@pytest.mark.slow
def test_types_follow_the_weights():
    graph = random_graph(50, 100, 1, weights=9)
    assert sssp.program_for(graph) is sssp.PROGRAM
    heavy = random_graph(50, 100, 1, weights=2**40)
    assert sssp.program_for(heavy).dtype == "int64"
    ran = run_on(sssp.program_for(heavy), whole(heavy), 1, delta=2**35)
    assert sssp.verify(heavy, ran.values)
    halves = type(graph)(graph.xadj, graph.adjncy, adjwgt=graph.adjwgt / 2)
    assert sssp.program_for(halves).dtype == "float64"
    ran = run_on(sssp.program_for(halves), whole(halves), 1)
    assert sssp.verify(halves, ran.values)
    with pytest.raises(InputError, match="values of int32, but the arcs have weights of float64"):
        run_on(sssp.PROGRAM, whole(halves))


def test_a_wrong_distance_is_found():
    graph = random_graph(100, 150, 2, weights=9)
    right = run_on(sssp.PROGRAM, whole(graph), 1).values
    for vertex in (0, 50):
        wrong = right.copy()
        wrong[vertex] -= 1
        assert not sssp.verify(graph, wrong)


def init(vertex):
    return 1000 if vertex == 0 else 0


def along(payload):
    return payload - 1


FALLING = VertexProgram(
    init=init, along=along, priority=lambda value: value, combine="max", dtype="int32",
    name="falling",
)  # fmt: skip


@pytest.mark.parametrize(("weight", "dtype"), [(0.5, "float64"), (5, "int32")])
def test_values_are_of_the_type_of_weights_though_no_edge_is_left(weight, dtype):
    graph = Graph.from_edges(5, [0], [0], weights=np.array([weight]))
    assert graph.m == 0
    assert sssp.program_for(graph).dtype == dtype


@pytest.mark.parametrize("priority", [math.nan, 1e300, -math.inf])
def test_a_priority_that_is_no_bucket_is_refused(pool, priority):
    """Of one vertex is enough: it was handled out of order, or not at all."""
    program = VertexProgram(
        init=lambda vertex: vertex, along=lambda payload, weight: payload + weight,
        priority=lambda value, wrong: wrong if value > 8 else value, combine="min",
        dtype="float64", parameters={"wrong": priority}, name="wrong",
    )  # fmt: skip
    with pytest.raises(InputError, match=r"wrong: priority\(\) must return a number from -2"):
        run_on(program, whole(loop(20)), pool)


@pytest.mark.parametrize(("schedule", "combine"), [("frontier", "min"), ("bucket", "max")])
def test_a_value_that_is_no_number_ends_the_run(schedule, combine):
    """NaN is unlike itself: it was sent for ever."""
    how = {"priority": lambda value: 0} if schedule == "bucket" else {}
    program = VertexProgram(
        init=lambda vertex: np.nan if vertex == 3 else vertex, along=lambda payload: payload,
        combine=combine, dtype="float64", schedule=schedule, name="odd", **how,
    )  # fmt: skip
    with pytest.raises(InputError, match="odd: a vertex has the value NaN"):
        run_program(program, loop(20), Partition(np.arange(20, dtype=np.int32) // 10, 2))


def test_messages_of_a_lower_bucket_are_refused(pool):
    with pytest.raises(InputError, match="falling: a message had a lower priority"):
        run_on(FALLING, whole(loop(20)), pool)
