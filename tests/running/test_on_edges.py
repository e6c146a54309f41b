"""Programs on blocks of edges: the same answers as with blocks of vertices, and SciPy's."""

import gc

import numpy as np
import pytest

from evener.errors import InputError, UsageError
from evener.plans.edge_partition import EdgePartition, edge_metrics
from evener.plans.partition import Partition
from evener.running.apps import bfs, pagerank, sssp, wcc
from evener.running.apps.laplacian import CG
from evener.running.apps.spmv import SPMV, verify_products
from evener.running.checkpoints import Checkpoints
from evener.running.devices import Cuda
from evener.running.distributed import write_distributed
from evener.running.edge_shares import DividedEdges, edge_shares
from evener.running.engine.engine import Engine
from evener.running.engine.program import VertexProgram
from evener.running.executing import run_program
from evener.running.on_device import RunWatch
from tests.running.edge_cases import divided, drawn, edges_of, star

CASES = [(0, "graph", 2, None), (1, "graph", 3, None), (2, "arcs", 3, 2), (3, "arcs", 2, None),
         (4, "graph", 5, 4), (5, "arcs", 1, None)]  # fmt: skip


def alone(program, graph, **more):
    """Return the run on one device."""
    return run_program(program, graph, Partition(np.zeros(graph.n, np.int32), 1), **more)


@pytest.mark.parametrize(("seed", "of", "k", "used"), CASES)
def test_answers_are_those_of_scipy(seed, of, k, used):
    graph, source = drawn(seed), {"source": seed % 3}
    given = divided(graph, k, of, seed, used)
    ranks = run_program(pagerank.PROGRAM, graph, given, most=7)
    assert pagerank.verify(graph, ranks.values, 7)
    assert ranks.edges == 7 * graph.arcs_in().adjncy.size
    assert wcc.verify(graph, run_program(wcc.PROGRAM, graph, given).values)
    paths = run_program(sssp.PROGRAM, graph, given, parameters=source)
    assert sssp.verify(graph, paths.values, source["source"])
    products = run_program(SPMV, graph, given, most=3)
    assert verify_products(graph, products.values, 3)
    levels = run_program(bfs.PROGRAM, graph, given, parameters=source)
    assert bfs.verify(graph, levels.values, source["source"])
    assert levels.supersteps == alone(bfs.PROGRAM, graph, parameters=source).supersteps


def test_a_superstep_sends_a_value_each_way_for_each_copy():
    graph = drawn(4)
    given = divided(graph, 4)
    copies = edge_metrics(edges_of(graph, "graph"), given.partition).copies
    run = run_program(pagerank.PROGRAM, graph, given, most=4)
    item = np.dtype(pagerank.PROGRAM.dtype).itemsize
    each = [item * copies, *[2 * item * copies] * 3]  # mirrors make the first payloads themselves
    assert run.of_devices("sent").sum(axis=1).tolist() == each
    assert run.of_devices("received").sum(axis=1).tolist() == [size / item for size in each]
    least = run_program(bfs.PROGRAM, graph, given)
    assert least.of_devices("received").sum() <= 2 * copies  # each copy changes once, at most


def test_pulling_and_pushing_find_the_same_levels():
    middle = star(400)
    given = DividedEdges(EdgePartition.of(np.arange(400) % 3, 3))
    run = run_program(bfs.PROGRAM, middle, given, parameters={"source": 7})
    assert run.values[:9].tolist() == [1, 2, 2, 2, 2, 2, 2, 0, 2]
    assert run.supersteps == 3


def emit(value: float) -> float:
    """Return the value."""
    return value


def summed(combined: float) -> float:
    """Return the sum."""
    return combined


def first(vertex: int) -> float:
    """Return 1e16, 1 and -1e16 for the leaves of a star."""
    return 1e16 * (vertex == 1) + 1.0 * (vertex == 2) - 1e16 * (vertex == 3)


SUM = VertexProgram(init=first, emit=emit, apply=summed, dtype="float64", name="sum")


@pytest.mark.parametrize(("blocks", "total"), [([0, 1, 2], 0.0), ([0, 2, 1], 1.0)])
def test_sums_are_a_devices_own_then_those_of_others_by_rising_number(blocks, total):
    given = DividedEdges(EdgePartition.of(blocks, 3))
    assert run_program(SUM, star(3), given, most=1).values[0] == total


def test_values_do_not_depend_on_threads():
    graph = drawn(4, weights=None)
    given = divided(graph, 2)
    one = run_program(pagerank.PROGRAM, graph, given, most=5)
    two = run_program(pagerank.PROGRAM, graph, given, most=5, devices=[[0, 1], [0, 1]])
    assert np.array_equal(one.values, two.values)


def largest(vertex: int) -> int:
    """Return the number of the vertex."""
    return vertex


LARGEST = VertexProgram(init=largest, combine="max", dtype="int64", name="largest")


def test_programs_of_all_vertices_at_once_push_and_pull():
    graph = drawn(2)
    found = run_program(LARGEST, graph, divided(graph, 3))
    assert np.array_equal(found.values, alone(LARGEST, graph).values)


def engines():
    """Return the engines in memory; the type of a dead weak proxy is asked, not its class."""
    return [one for one in gc.get_objects() if issubclass(type(one), Engine)]


@pytest.mark.parametrize("program", [pagerank.PROGRAM, bfs.PROGRAM])
def test_a_run_leaves_no_engine_in_memory(program):
    graph = drawn(4)
    gc.collect()
    before = engines()
    gc.disable()
    try:
        run_program(program, graph, divided(graph, 2), most=2)
        assert engines() == before
    finally:
        gc.enable()


def test_a_program_that_does_not_compile_leaves_no_engine_in_memory():
    """Numba keeps the error that it raised, and would keep what its traceback refers to."""

    def init(vertex):
        return vertex.nothing

    graph = drawn(4)
    gc.collect()
    before = engines()
    with pytest.raises(InputError, match="init"):
        run_program(
            VertexProgram(init=init, combine="min", dtype="int32"), graph, divided(graph, 2)
        )
    gc.collect()
    assert engines() == before


def test_halt_sees_the_change_of_all_devices():
    graph = drawn(4)
    parameters = {"tolerance": 1e-3}
    found = run_program(pagerank.PROGRAM, graph, divided(graph, 3), parameters=parameters)
    assert found.supersteps == alone(pagerank.PROGRAM, graph, parameters=parameters).supersteps


def test_what_edges_are_not_run_with_is_refused(tmp_path):
    graph = drawn(2)
    given = divided(graph, 2)
    with pytest.raises(UsageError, match="cg runs on blocks of vertices only"):
        run_program(CG, graph, given)
    with pytest.raises(UsageError, match="do not run on CUDA devices"):
        run_program(bfs.PROGRAM, graph, given, devices=[[0], Cuda(0)])
    with pytest.raises(UsageError, match="spmv has no checkpoints"):
        watch = RunWatch(checkpoints=Checkpoints(tmp_path, 1, None))
        run_program(SPMV, graph, given, watch=watch)
    with pytest.raises(UsageError, match="locality does not work with blocks of edges"):
        run_program(bfs.PROGRAM, graph, given, watch=RunWatch(locality="on"))
    with pytest.raises(UsageError, match="parts of divided vertices, not of divided edges"):
        write_distributed(tmp_path / "parts", list(edge_shares(graph, given).values()))
    with pytest.raises(UsageError, match="has 1 device, but the plan has 2 blocks"):
        run_program(bfs.PROGRAM, graph, given, devices=[[0]])
    with pytest.raises(InputError, match="has no parameter"):
        run_program(bfs.PROGRAM, graph, given, parameters={"sauce": 1})
