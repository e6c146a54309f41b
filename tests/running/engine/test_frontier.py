"""The frontier schedule and BFS: values and arcs looked at, against slow references."""

import numpy as np
import pytest

from evener.running.apps import bfs
from evener.running.engine import ThreadPool, VertexProgram
from evener.running.engine.atomics_kernels import DIRECTION
from evener.running.engine.engine import Engine, run_on
from tests.examples import seeds
from tests.running.engine.parts import LARGEST_FILE, loop, random_graph, whole

FAR = np.iinfo(np.int32).max
PUSH, PULL = 0, 1


@pytest.fixture(scope="module", params=[1, 2], ids=["1 thread", "2 threads"])
def pool(request):
    with ThreadPool(request.param) as made:
        yield made


def slow_levels(graph, source):
    arcs = graph.arcs_out()
    found, frontier = {source: 0}, [source]
    while frontier:
        following = []
        for v in frontier:
            for w in arcs.adjncy[arcs.xadj[v] : arcs.xadj[v + 1]].tolist():
                if w not in found:
                    found[w] = found[v] + 1
                    following.append(w)
        frontier = following
    return np.array([found.get(v, FAR) for v in range(graph.n)])


def slow_pulled(graph, levels):
    """Return how many arcs are looked at if every superstep pulls."""
    arcs = graph.arcs_in()
    last = max(level for level in levels if level < FAR)
    examined = 0
    for level in range(last + 1):
        for v in np.flatnonzero(levels > level):
            for w in arcs.adjncy[arcs.xadj[v] : arcs.xadj[v + 1]]:
                examined += 1
                if levels[w] == level:
                    break
    return examined


def forced(program, graph, pool, direction, **parameters):
    engine = Engine(program, whole(graph), pool, parameters)
    engine.compile()
    engine.control[DIRECTION] = direction
    engine.advance(1 << 40)
    return engine


@pytest.mark.parametrize("seed", seeds(24))
def test_bfs_of_random_graphs(pool, seed):
    draw = np.random.default_rng(seed)
    n = int(draw.integers(1, 300))
    graph = random_graph(n, int(draw.integers(0, 6 * n)), seed, directed=bool(seed % 2))
    source = int(draw.integers(n))
    expected = slow_levels(graph, source)
    ran = run_on(bfs.PROGRAM, whole(graph), pool, source=source)
    assert np.array_equal(ran.values, expected)
    assert bfs.verify(graph, ran.values, source)
    assert ran.supersteps == expected[expected < FAR].max() + 1
    degrees = np.diff(graph.arcs_out().xadj)
    pushed = forced(bfs.PROGRAM, graph, pool, PUSH, source=source)
    assert np.array_equal(pushed.values, expected)
    assert pushed.edges == degrees[expected < FAR].sum()
    pulled = forced(bfs.PROGRAM, graph, pool, PULL, source=source)
    assert np.array_equal(pulled.values, expected)
    assert pulled.edges == slow_pulled(graph, expected)


def test_bfs_of_loops_of_all_sizes(pool):
    for n in range(1, 201):
        ran = run_on(bfs.PROGRAM, whole(loop(n)), pool, source=n // 3)
        away = np.abs(np.arange(n) - n // 3)
        assert np.array_equal(ran.values, np.minimum(away, n - away)), n


def test_large_frontiers_are_pulled(pool):
    """Fewer arcs are looked at than there are, however many supersteps."""
    graph = random_graph(4000, 60_000, 1)
    ran = run_on(bfs.PROGRAM, whole(graph), pool, source=7)
    assert bfs.verify(graph, ran.values, 7)
    assert ran.edges < graph.adjncy.size / 2


def test_wrong_levels_are_found():
    graph = random_graph(100, 200, 4)
    right = run_on(bfs.PROGRAM, whole(graph), 1, source=5).values
    assert bfs.verify(graph, right, 5)
    assert bfs.levels(right).min() == bfs.UNREACHED
    for vertex, level in ((5, 1), (0, right[0] + 1), (0, 0), (9, FAR), (9, right[9] - 1)):
        wrong = right.copy()
        wrong[vertex] = level
        assert not bfs.verify(graph, wrong, 5), vertex


def test_some_steps_at_a_time_give_the_same(pool):
    part = whole(random_graph(500, 1500, 9))
    once = run_on(bfs.PROGRAM, part, pool, source=1)
    engine = Engine(bfs.PROGRAM, part, pool, {"source": 1})
    for _ in range(100):
        if not engine.has_ended:
            engine.advance(1)
    assert engine.supersteps == once.supersteps
    assert (engine.values == once.values).all()
    assert engine.edges == once.edges


# Programs without traits: smallest label, shortest paths, largest label, sets of sources. Each that
# is compiled takes seconds: `largest` is that of a file which `evener run` is tested with, and
# PATHS finds levels, too, where all weights are one.


@pytest.fixture(scope="module")
def largest(tmp_path_factory):
    file = tmp_path_factory.mktemp("programs") / "largest.py"
    file.write_text(LARGEST_FILE)
    return VertexProgram.from_file(file)


def smallest(combined, old):
    return min(combined, old)


PATHS = VertexProgram(
    init=lambda vertex, infinity: 0 if vertex == 0 else infinity,
    along=lambda payload, weight: payload + weight,
    apply=smallest, combine="min", dtype="float64", name="paths",
)  # fmt: skip
LABELS = VertexProgram(init=lambda vertex: vertex, combine="min", dtype="uint32", name="labels")
SETS = VertexProgram(
    init=lambda vertex: 1 << vertex if vertex < 20 else 0, combine="or", dtype="int64",
    direction="both", name="sets",
)  # fmt: skip


def closure(graph):
    """Return whether a path leads from v to w, (n, n)."""
    reached = np.eye(graph.n, dtype=bool)
    arcs = graph.arcs_out()
    reached[np.repeat(np.arange(graph.n), np.diff(arcs.xadj)), arcs.adjncy] = True
    for v in range(graph.n):
        reached |= np.outer(reached[:, v], reached[v])
    return reached


def every_way(test):
    """Run a test on six graphs, pushed, pulled and as the engine chooses."""
    by_seed = pytest.mark.parametrize("seed", range(6))
    return by_seed(pytest.mark.parametrize("direction", [-1, PUSH, PULL])(test))


def example(seed):
    return random_graph(70, 40 + 20 * seed, seed, directed=bool(seed % 2), weights=9)


@every_way
def test_smallest_and_largest_numbers(pool, seed, direction, largest):
    graph = example(seed)
    reached, numbers = closure(graph), np.arange(graph.n)
    for program, best in ((largest, np.max), (LABELS, np.min)):
        found = forced(program, graph, pool, direction).values
        assert np.array_equal(found, [best(numbers[to]) for to in reached.T])


@pytest.mark.slow
@every_way
def test_sets_along_arcs_of_both_directions(pool, seed, direction):
    graph = example(seed)
    both = closure(graph if not seed % 2 else graph.undirected())
    bits = 1 << np.arange(20)
    expected = [np.bitwise_or.reduce(bits[to[:20]], initial=0) for to in both.T]
    assert np.array_equal(forced(SETS, graph, pool, direction).values, expected)


@pytest.mark.slow
@every_way
def test_paths_and_levels(pool, seed, direction):
    graph = example(seed)
    assert np.allclose(forced(PATHS, graph, pool, direction).values, slow_paths(graph))
    alike = type(graph)(graph.xadj, graph.adjncy, adjwgt=np.ones_like(graph.adjwgt))
    levels = forced(PATHS, alike, pool, direction).values
    assert np.array_equal(np.where(np.isinf(levels), FAR, levels), slow_levels(graph, 0))


def slow_paths(graph):
    arcs = graph.arcs_out()
    found = np.full(graph.n, np.inf)
    found[0] = 0
    for _ in range(graph.n):
        for v in range(graph.n):
            for j in range(arcs.xadj[v], arcs.xadj[v + 1]):
                found[arcs.adjncy[j]] = min(found[arcs.adjncy[j]], found[v] + arcs.adjwgt[j])
    return found
