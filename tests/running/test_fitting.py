"""Bytes counted in advance against those of the arrays that are made."""

import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evener as ev
from evener.graphs.generating.grid import grid
from evener.graphs.generating.random_graphs import rmat
from evener.running.apps import triangles
from evener.running.apps.registry import APPS
from evener.running.apps.triangles import AT_ONCE
from evener.running.comm import ThreadComm, run_threads
from evener.running.edge_copies import copies_of
from evener.running.edge_shares import dealt_edges, edge_shares
from evener.running.engine import generating
from evener.running.engine.engine import Engine
from evener.running.engine.pool import ThreadPool
from evener.running.engine.program import VertexProgram
from evener.running.engine.supersteps import SuperstepLoop
from evener.running.executing import run_on_parts
from evener.running.fitting import Held, RunBytes, bytes_of_program, bytes_of_run, bytes_on_edges
from evener.running.on_device import wanted_arcs
from tests.running.edge_cases import divided, drawn
from tests.running.engine.parts import random_graph
from tests.running.test_distributing import cases

ARRAYS = [
    Held("f8", exchanged=True),
    Held("f8", exchanged=True),
    Held("f4", 3, exchanged=True, reduced=True),
    Held("i8", reduced=True),
    Held("u1", ghosts=False),
]


@given(cases(), st.sets(st.integers(0, 4)))
def test_bytes_are_those_of_what_is_made(case, chosen):
    check(*case, [ARRAYS[i] for i in sorted(chosen)])


def test_lists_of_numbers_count():
    rng = np.random.default_rng(4)
    graph = ev.Graph.from_edges(300, *rng.integers(0, 300, (2, 200)), weights=rng.random(200))
    consecutive = check(graph, ev.Partition(rng.integers(0, 3, 300), 3), "out", ARRAYS)
    assert consecutive == [0, 0, 0]


def check(graph, partition, want, arrays):
    expected = bytes_of_run(graph, partition, arrays, want=want, threads=1)
    parts = ev.distribute(graph, partition, want=want, threads=1)
    found = run_threads(len(parts), lambda comm: made(comm, parts[comm.rank], arrays))
    for part, before, (values, halo, _) in zip(parts, expected, found, strict=True):
        assert before.graph == part.nbytes
        assert before.arrays == values
        if any(held.exchanged or held.reduced for held in arrays):
            assert before.halo == halo
        assert before.total == before.graph + before.arrays + before.halo
    return [consecutive for *_, consecutive in found]


def made(comm, local, arrays):
    """Bytes of the arrays and of the halo after exchanges; of lists that the halo need not keep."""
    halo = ev.Halo.of(comm, local)
    before = halo.nbytes
    kept = []
    for held in arrays:
        rows = local.n_local if held.ghosts else local.n_owned
        shape = rows if held.columns == 1 else (rows, held.columns)
        kept.append(np.zeros(shape, held.dtype))
        for _ in range(3 * held.exchanged):
            halo.exchange(kept[-1])
        if held.reduced:
            halo.reduce(kept[-1])
    lists = sum(own.size * 8 for own in local.sends.values())
    return sum(array.nbytes for array in kept), halo.nbytes, lists - before


def test_of_a_plan_and_without_arrays():
    graph = grid([30, 30])
    plan = ev.plan(graph, [1, 3])
    found = bytes_of_run(graph, plan)
    assert [one.graph for one in found] == [part.nbytes for part in ev.distribute(graph, plan)]
    assert all(one[1:] == (0, 0) for one in found)
    assert RunBytes(1, 2, 4).total == 7


PROGRAMS = [name for name, app in APPS.items() if isinstance(app.program, VertexProgram)]
SOLVERS = [name for name in APPS if name not in PROGRAMS]


@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize(("directed", "weighted"), [(False, False), (True, False), (True, True)])
@pytest.mark.parametrize("app", PROGRAMS)
def test_bytes_of_a_program_are_what_its_run_holds(app, directed, weighted, k):
    graph = random_graph(3000, 24000, 5, directed=directed, weights=9 if weighted else None)
    partition = ev.Partition(np.random.default_rng(1).integers(0, k, graph.n), k)
    program = APPS[app].program_for(graph) if APPS[app].program_for else APPS[app].program
    pools = [1, 2, 1, 1][:k]
    expected = bytes_of_program(graph, partition, program, cores=pools)
    parts = ev.distribute(graph, partition, want=wanted_arcs(program))
    found = run_threads(
        k,
        lambda comm: held(comm, parts[comm.rank], program, pools[comm.rank]),
        computers=range(k),  # else they exchange inside kernels, by less memory
    )
    for before, (part, arrays, halo) in zip(expected, found, strict=True):
        assert before.graph == part
        assert before.arrays == arrays
        assert before.halo == halo
        assert before.total == pytest.approx(part + arrays + halo, rel=0.03)


def held(comm, local, program, threads):
    """Bytes of the arrays that the part, the engine, the loop and the halo hold after a run."""
    with ThreadPool(threads) as pool:
        engine = Engine(program, local, pool)
        loop = SuperstepLoop(comm, local, engine)
        loop.run(4)
        made = [engine.values, engine.control, engine.sync, loop.exchange._flags]
        made.append(engine.work[0].base)  # the block in which all of them lie
        made += engine._taken or ()
        known = [local.numbers, local.degrees]
        known += [array for arcs in (local.out, local.into) if arcs for array in arcs]
        made += [array for arcs in (engine.out, engine.into, engine.vertices) for array in arcs]
        own = {
            id(array): array.nbytes for array in made if not any(array is other for other in known)
        }
        return local.nbytes, sum(own.values()), loop.steps.halo.nbytes


@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("graph", [grid((90, 90)), rmat(12, 8), grid((4, 2000))])
def test_bytes_of_a_search_are_those_it_allocates(graph, k):
    """Whether it pulls or not, as on the last, of which the front never has many vertices."""
    partition = ev.Partition(np.arange(graph.n) * k // graph.n, k)
    program = APPS["bfs"].program
    parts = ev.distribute(graph, partition, want=wanted_arcs(program))
    found = run_threads(
        k, lambda comm: held(comm, parts[comm.rank], program, 1), computers=range(k)
    )
    for before, made in zip(bytes_of_program(graph, partition, program), found, strict=True):
        assert before.total == pytest.approx(sum(made), rel=0.03)


@pytest.mark.parametrize("app", ["cg", "jacobi", "spmv"])
@pytest.mark.parametrize("weights", [None, 9])
def test_bytes_of_a_solver_are_what_it_holds(app, weights):
    """Arrays that live when a superstep ends, as Python counts them."""
    graph = random_graph(20000, 100000, 5, weights=weights)
    solver = APPS[app].program
    (before,) = bytes_of_program(graph, ev.Partition(np.zeros(graph.n, np.int32), 1), solver)
    (part,) = ev.distribute(graph, ev.Partition(np.zeros(graph.n, np.int32), 1))
    found = []
    with ThreadPool(1) as pool:

        def work(comm):
            solver.solve(comm, part, pool, most=2)  # compiled
            tracemalloc.start()
            tell = lambda _: found.append(tracemalloc.get_traced_memory()[0])  # noqa: E731
            solver.solve(comm, part, pool, tell, most=2)
            tracemalloc.stop()

        run_threads(1, work)
    assert found[-1] == pytest.approx(before.arrays, rel=0.03)


def test_bytes_of_core_numbers_are_those_ever_allocated():
    graph = rmat(14, 5)
    solver = APPS["kcore"].program
    (before,) = bytes_of_program(graph, ev.Partition(np.zeros(graph.n, np.int32), 1), solver)
    (part,) = ev.distribute(graph, ev.Partition(np.zeros(graph.n, np.int32), 1))
    peaks = []
    with ThreadPool(1) as pool:

        def work(comm):
            solver.solve(comm, part, pool)  # compiled
            tracemalloc.start()
            solver.solve(comm, part, pool)
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()

        run_threads(1, work)
    assert before.arrays == pytest.approx(peaks[0], rel=0.1)


@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize(
    ("app", "blocks"),
    [(app, "in order") for app in SOLVERS] + [(app, "random") for app in ("pagerank", *SOLVERS)],
)
def test_bytes_on_all_devices(app, k, blocks, monkeypatch):
    """Of all devices together, as Python counts them when the first has ended a superstep.

    All devices have made their arrays by then, in one of as many supersteps as there are devices,
    since each waits for its neighbours. Triangles take one, and hold most while lists are sent,
    though not all devices at the same time.
    """
    copy_what_is_exchanged(monkeypatch)
    graph = grid([400, 400])
    of = np.arange(graph.n) * k // graph.n
    partition = ev.Partition(
        of if blocks == "in order" else np.random.default_rng(1).permutation(of), k
    )
    solver = APPS[app].program
    before = bytes_of_program(graph, partition, solver)
    parts = ev.distribute(graph, partition, want=wanted_arcs(solver))
    found = []

    def work(comm):
        tell = lambda _: found.append(tracemalloc.get_traced_memory()[0])  # noqa: E731
        given = parts[comm.rank]
        with ThreadPool(1) as pool:
            if app == "pagerank":
                first = tell if comm.rank == 0 else None
                SuperstepLoop(comm, given, Engine(solver, given, pool), first).run(6)
            else:
                solver.solve(comm, given, pool, tell if comm.rank == 0 else None, most=6)

    apart = range(k)  # on one computer they exchange inside kernels, by less memory
    run_threads(k, work, computers=apart)  # compiled
    found.clear()
    tracemalloc.start()
    run_threads(k, work, computers=apart)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    of_parts, counted = sum(part.nbytes for part in parts), sum(one.total for one in before)
    if app == "triangles":
        assert 0.88 * counted < of_parts + most < 1.03 * counted
    else:
        assert of_parts + max(found) == pytest.approx(counted, rel=0.03)


def copy_what_is_exchanged(monkeypatch):
    """Let threads copy what they send and what others send, as ranks of MPI do."""
    exchange = ThreadComm.exchange

    def copied(comm, parts):
        own = [pickle.dumps(one) for one in parts]
        whole = [bytearray(one) for one in exchange(comm, own)]
        comm.barrier()
        del own
        return [pickle.loads(one) for one in whole]

    monkeypatch.setattr(ThreadComm, "exchange", copied)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("blocks", ["in order", "random", "unequal"])
@pytest.mark.parametrize("at_once", [AT_ONCE, 1 << 13])
def test_bytes_of_triangles_are_those_ever_allocated(at_once, blocks, k, monkeypatch):
    """By degree: many entries of ghosts' lists are no vertices of the device that they come to."""
    copy_what_is_exchanged(monkeypatch)
    monkeypatch.setattr(triangles, "AT_ONCE", at_once)
    graph = rmat(14, 5)
    of = np.arange(graph.n) * k // graph.n
    given = {"in order": of, "random": np.random.default_rng(1).permutation(of)}
    given["unequal"] = (np.arange(graph.n) / graph.n * k * k) ** 0.5 // 1
    partition = ev.Partition(given[blocks].astype(np.int32), k)
    solver = APPS["triangles"].program
    parts = ev.distribute(graph, partition, want=wanted_arcs(solver))

    def work(comm):
        with ThreadPool(1) as pool:
            solver.solve(comm, parts[comm.rank], pool)

    run_threads(k, work)  # compiled
    tracemalloc.start()
    run_threads(k, work)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    counted = sum(one.total for one in bytes_of_program(graph, partition, solver))
    assert 0.92 * counted < sum(part.nbytes for part in parts) + most < 1.02 * counted


class CountingDevice:
    """Stands for a CUDA device: counts the bytes that are allocated there."""

    def __init__(self):
        self.n_bytes = 0

    def put(self, array):
        self.n_bytes += array.nbytes
        return array

    def empty(self, size, dtype):
        made = np.zeros(max(int(size), 1), dtype)
        self.n_bytes += made.nbytes
        return made

    def pinned(self, size, dtype):
        return np.zeros(max(int(size), 1), dtype)[: int(size)]

    def pair(self, size, dtype):
        return self.empty(size, dtype), self.pinned(size, dtype)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("app", ["pagerank", "bfs", "wcc", "sssp"])
@pytest.mark.parametrize("weights", [None, 9])
def test_bytes_on_cuda_devices_are_what_their_engines_allocate(app, directed, weights, monkeypatch):
    cuda_engine = pytest.importorskip("evener.running.engine.cuda_engine")
    monkeypatch.setattr(generating, "module_of", lambda *_: None)
    graph = random_graph(3000, 24000, 5, directed=directed, weights=weights)
    partition = ev.Partition(np.random.default_rng(1).integers(0, 3, graph.n), 3)
    program = APPS[app].program_for(graph) if APPS[app].program_for else APPS[app].program
    kinds = {"dense": cuda_engine.CudaDense, "union": cuda_engine.CudaUnion}
    engine = kinds.get(program.schedule, cuda_engine.CudaFrontier)
    expected = bytes_of_program(graph, partition, program, cores=[0, 0, 0])
    for part, before in zip(
        ev.distribute(graph, partition, want=wanted_arcs(program)), expected, strict=True
    ):
        device = CountingDevice()
        engine(program, part, device)
        # Parts of arcs are counted from above, starts of no ghosts not at all.
        assert 0.97 <= device.n_bytes / before.total <= 1.001


def counted(graph, given, program):
    """Return the bytes of each device."""
    dealt = dealt_edges(graph, given)
    arcs = graph.arcs_out().adjncy.size
    return bytes_on_edges(*dealt, copies_of(*dealt), program, arcs)


@pytest.mark.parametrize(("seed", "of"), [(2, "graph"), (2, "arcs"), (3, "arcs"), (1, "graph")])
def test_bytes_of_shares_are_those_that_are_made(seed, of):
    graph = drawn(seed)
    given = divided(graph, 4, of, seed, used=3)
    needed = counted(graph, given, APPS["pagerank"].program)
    shares = edge_shares(graph, given)
    assert [one.graph for one in needed] == [shares[d].nbytes for d in range(4)]
    alone = divided(graph, 1, of, seed)
    (needed,) = counted(graph, alone, APPS["pagerank"].program)
    assert needed.graph == edge_shares(graph, alone)[0].nbytes


@pytest.mark.parametrize("app", ["pagerank", "bfs", "wcc", "spmv"])
def test_bytes_of_runs_are_those_that_are_allocated(app):
    graph, program = rmat(11, seed=5), APPS[app].program
    given = divided(graph, 2)
    parts = list(edge_shares(graph, given).values())
    run_on_parts(program, parts, most=2)  # compiles
    tracemalloc.start()
    run_on_parts(program, parts, most=2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    needed = sum(one.arrays + one.halo for one in counted(graph, given, program))
    # Beside them: results of the run, and what NumPy makes for a moment.
    assert 0.75 * needed < peak < 1.5 * needed + 16 * graph.n
