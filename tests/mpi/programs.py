"""What tests/mpi runs under mpiexec: `python -m tests.mpi.programs NAME...`.

Rank 0 prints "NAME is fine" after each. A name may be followed by words: NAME:WORD:WORD.
"""

import sys
import time

import numpy as np
import pytest

import evener as ev
from evener.errors import InfeasibleError, InputError
from evener.graphs.generating.delaunay import triangle_mesh
from evener.plans.partition import Partition
from evener.platforms.models.fitting import Constant
from evener.running.apps import bfs, jacobi, matmul, pagerank, spmv
from evener.running.comm import run_threads
from evener.running.distributing import distribute, local_graph
from evener.running.emulation import EmulatedMachine
from evener.running.executing import run_program
from evener.running.halos import Halo
from evener.running.hybrid import devices_of_process, run_hybrid
from evener.running.mpi_comm import MpiComm
from evener.running.spreading import HeldRows
from evener.running.streams.executing import run_stream
from tests.rebalancing.test_rank_data import K, Program, same, slowed_then_not
from tests.running.edge_cases import divided, drawn
from tests.running.halo_cases import OPS, TYPES, exchanged, reduced, some_to_owners, values_of
from tests.running.random_runs import APPS, MOVING, is_right, moving, random_case
from tests.running.streams.programs import chain, copied_plan, drawn_program, plan_of, slow_outputs
from tests.sliced.rank_rows import expected, put_together, random_graph, ranges_of, rows_of

N = 42


def jacobi_with_rows_that_move(comm):
    """The same sizes, the same steps and the same x as on threads, and LAPACK's."""

    def work(own):
        machine = EmulatedMachine([Constant(1.0 + r) for r in range(own.size)])
        sizes = np.full(own.size, N // own.size)
        return jacobi.run(own, rows, sizes, ev.Balancer((), sizes), machine=machine)

    rows = jacobi.dominant_rows(N)
    found, expected = work(comm), run_threads(comm.size, work)[comm.rank]
    assert found.moved == expected.moved > 0
    assert np.array_equal(found.sizes, expected.sizes)
    assert np.array_equal(found.x, expected.x)
    assert jacobi.verify(*rows(0, N), found)
    rows_apart(comm)


def rows_apart(comm):
    """Rows move as they should where ranks share memory, and where each is thought to be alone."""

    class Alone(MpiComm):
        def beside(self):
            return self.rank, self.rank + 1

    rng = np.random.default_rng(74)
    whole, sizes = rng.random((N, 3)), rng.multinomial(N, rng.dirichlet(np.ones(comm.size)), 9)
    for own in (comm, Alone()):
        first = int(sizes[0][: comm.rank].sum())
        held = HeldRows(own, whole[first : first + sizes[0][comm.rank]], sizes[0], ready=True)
        for new in sizes[1:]:
            held.move(new)
            first = int(new[: comm.rank].sum())
            assert np.array_equal(held.rows, whole[first : first + new[comm.rank]])
        held.free()


def random_runs(comm, first="0", end="12"):
    """Apps on random graphs, a rank with one device or up to three; words: first and end seed."""
    for seed in range(int(first), int(end)):
        draw = np.random.default_rng(seed)
        graph, partition, source = random_case(seed, most_blocks=3 * comm.size)
        k = int(draw.integers(comm.size, 3 * comm.size + 1))
        partition = Partition((partition.part % k).astype(np.int32), k)
        for app in APPS:
            assert is_right(app, (graph, partition, source), comm=comm), (app, seed)


def random_moves(comm, first="0", end="6"):
    """The same with vertices that change device after each superstep, of one or two devices."""
    for seed in range(int(first), int(end)):
        graph, partition, source = random_case(seed, most_blocks=2 * comm.size)
        k = comm.size * (1 + seed % 2)
        partition = Partition((partition.part % k).astype(np.int32), k)
        for app in MOVING:
            case, watch = (graph, partition, source), moving(graph, k, seed=seed)
            assert is_right(app, case, comm=comm, watch=watch), (app, seed)


def hybrid_messages(comm):
    """What devices of several processes say arrives, as between threads."""
    k = 2 * comm.size + 1

    def work(own):
        sent = own.exchange([(own.rank, to) for to in range(own.size)])
        parts = {q: np.full(3, 10.0 * own.rank + q) for q in range(k) if q != own.rank}
        found = {q: np.empty(3) for q in parts}
        swap = own.swap(parts, found)
        for _ in range(3):
            swap.start()
            swap.finish()
        buffer = bytearray(4)
        if own.rank == 0:
            for to in range(1, k):
                own.send(bytearray(b"four"), to)
        received = own.receive(buffer, 0) if own.rank else 4
        own.rest()
        own.barrier()
        return (own.allgather(own.rank), own.bcast(own.rank, root=k - 1), sent, received,
                {q: one.tolist() for q, one in found.items()})  # fmt: skip

    for device, found in zip(devices_of_process(comm, k), run_hybrid(comm, k, work), strict=True):
        everyone, root, sent, received, swapped = found
        assert everyone == list(range(k))
        assert (root, received) == (k - 1, 4)
        assert sent == [(q, device) for q in range(k)]
        assert swapped == {q: [10.0 * q + device] * 3 for q in range(k) if q != device}


def runs_on_edges(comm):
    """Blocks of edges, as many as ranks and more: values and bytes as of threads of a process."""
    for k, program in ((comm.size, pagerank.PROGRAM), (comm.size + 1, bfs.PROGRAM)):
        graph, given = drawn(k), divided(graph=drawn(k), k=k)
        found = run_program(program, graph, given, comm=comm, most=6)
        threads = run_program(program, graph, given, most=6)
        assert np.array_equal(found.values, threads.values), (k, program.name)
        for name in ("sent", "received", "edges"):
            assert np.array_equal(found.of_devices(name), threads.of_devices(name)), (k, name)


def matmul_over_a_tiling(comm):
    tiling = ev.tile(np.arange(comm.size) + 1.0, (N, N), block=3).tiling
    A, B = np.random.default_rng(71).random((2, N, N))
    found = matmul.run(
        comm, lambda a, b, c, d: A[a:b, c:d], lambda a, b, c, d: B[a:b, c:d], N, tiling
    )
    assert matmul.verify(A, B, found.C)
    assert np.allclose(found.C, A @ B)
    assert found.received.tolist() == matmul.traffic(tiling, N).tolist()


def products_with_ghosts(comm):
    """Waiting awake and asleep; the last block is empty."""
    graph = ev.Graph.from_edges(N, np.arange(N - 1), np.arange(1, N))
    A, x = spmv.averaging_matrix(graph), np.random.default_rng(72).random(N)
    partition = ev.Partition(np.random.default_rng(73).integers(0, comm.size - 1, N), comm.size)
    for rest in (0.0, 1e-5):
        assert spmv.verify(A, x, spmv.run(comm, A, partition, x, 5, rest=rest))


def values_of_ghosts(comm):
    """What tests/running/test_halos.py does on threads; over a communicator of mpi4py, too."""
    from mpi4py import MPI

    rng = np.random.default_rng(74)
    graph = ev.DirectedGraph.from_arcs(N, *rng.integers(0, N, (2, 3 * N)))
    for blocks in (comm.size, comm.size - 1):  # the last one is empty, or not
        partition = ev.Partition(rng.integers(0, blocks, N), comm.size)
        parts = distribute(graph, partition, want="both", threads=1)
        local = local_graph(graph, partition, comm.rank, want="both", threads=1)
        for dtype in TYPES:
            for tail in ((), (3,)):
                assert exchanged(comm, local, values_of(N, dtype, tail)), dtype
        for op, dtype in OPS:
            assert reduced(comm, parts, op, dtype), (op, dtype)
            assert reduced(MPI.COMM_WORLD, parts, op, dtype, (2,)), (op, dtype)
        for dtype in ("f8", "i4", "u2"):
            assert some_to_owners(comm, parts, dtype), dtype
    with pytest.raises(ev.InputError, match="which expects 0"):
        Halo(comm, 2, {1: [0]} if comm.rank == 0 else {}, {})


def a_rank_that_fails(comm):
    if comm.rank == 1:
        raise ValueError("rank 1 fails on purpose")
    comm.barrier()  # for ever, if nobody ended it


def stream_programs(comm):
    """What a slow twin gives, a processor on each rank and several; long messages, too."""
    rng = np.random.default_rng(75)
    for n in (1, 4, 7):
        program = drawn_program(rng, n)
        expected = slow_outputs(program, 9)
        for k in (comm.size, comm.size + 3):
            plan = plan_of(program, [*rng.integers(0, k, n - 1), k - 1])
            found = run_stream(program, plan, 9, comm=comm)
            assert [one.firings for one in found.filters] == [9] * n
            for name, values in expected.items():
                assert np.array_equal(found.outputs[name], values), name
        found = run_stream(program, copied_plan(rng, program, comm.size + 1), 9, comm=comm)
        for name, values in expected.items():
            assert np.array_equal(found.outputs[name], values), name
    size = 1 << 17
    long = chain(lambda i: np.full(size, i), lambda x: 2 * x, np.sum, shape=(size,), dtype="int64")
    found = run_stream(long, plan_of(long, [0, comm.size - 1, 0]), 9, comm=comm)
    assert np.array_equal(found.outputs["f2"], 2 * size * np.arange(9))


def graphs_in_slices(comm):
    """What tests/sliced/test_distributed.py does on threads, over a communicator of mpi4py."""
    from mpi4py import MPI

    whole = random_graph(90, 300, 6, weighted=True, coords=True)
    held = np.random.default_rng(6).permutation(90)[comm.rank :: comm.size]
    bounds = ranges_of(90, comm.size, np.random.default_rng(7))
    for vertices, which in (
        (held, {"numbers": held}),
        (range(bounds[comm.rank], bounds[comm.rank + 1]), {"vtxdist": bounds}),
    ):
        graph = ev.DistributedGraph.from_local(MPI.COMM_WORLD, **rows_of(whole, vertices), **which)
        assert put_together(comm, graph) == expected(whole)
        assert (graph.back(np.arange(graph.n_own) + graph.first) == vertices).all()
    given = rows_of(whole, held)
    given["adjwgt"][comm.rank == comm.size - 1 :][:1] += 1
    with pytest.raises(ev.InputError, match="the edge between vertices"):
        ev.DistributedGraph.from_local(comm, **given, numbers=held)


def an_error_of_one_rank(comm):
    """Of `ev.plan` in a program: raised on all ranks, named, and soon; then all goes on."""
    from mpi4py import MPI

    from evener.sliced import blocks

    whole = random_graph(200, 600, 6, coords=True)
    bounds = ranges_of(200, comm.size)
    mine = range(bounds[comm.rank], bounds[comm.rank + 1])
    divided = blocks.clusters_in_slices

    def fails(*given):
        if comm.rank == comm.size - 1:
            raise ZeroDivisionError("on purpose")
        return divided(*given)

    blocks.clusters_in_slices = fails
    graph = ev.DistributedGraph.from_local(MPI.COMM_WORLD, **rows_of(whole, mine))
    began = time.monotonic()
    last = comm.rank == comm.size - 1
    kind, words = (ZeroDivisionError, "on purpose") if last else (ev.ToolError, "on purpose")
    with pytest.raises(kind, match=words) as error:
        ev.plan(graph, 2, epsilon=0.3)
    assert last or f"rank {comm.size - 1} failed" in str(error.value)
    assert time.monotonic() - began < 5
    blocks.clusters_in_slices = divided
    graph = ev.DistributedGraph.from_local(MPI.COMM_WORLD, **rows_of(whole, mine))
    assert ev.plan(graph, 2, epsilon=0.3).certificate.all_hold


def rows_that_are_rebalanced(comm):
    """The moves of threads, rows that go with them; an error of one rank is one of all."""
    from mpi4py import MPI

    def work(own):
        program = Program(own, whole)
        with pytest.raises(InputError, match=r"negative|without a move"):
            if own.size == 1:
                program.rebalancer.moved(1.0)
            else:
                times = np.ones(K) * (-1 if own.rank == own.size - 1 else 1)
                program.rebalancer.observe(times)
        return slowed_then_not(program)

    whole = triangle_mesh(1500, 2).nodal_graph()
    found = work(comm)
    assert len(found) == 2
    same(found, run_threads(1, work)[0])

    def fails_at_the_last(old, graph, platform, workload):
        if comm.rank == comm.size - 1:
            raise InfeasibleError("on purpose")
        graph.comm.allgather(0)

    began = time.monotonic()
    with pytest.raises(InfeasibleError, match="on purpose"):
        slowed_then_not(Program(MPI.COMM_WORLD, whole, replan=fails_at_the_last))
    assert time.monotonic() - began < 10


PROGRAMS = {
    "told": an_error_of_one_rank,
    "slices": graphs_in_slices,
    "rebalanced": rows_that_are_rebalanced,
    "streams": stream_programs,
    "jacobi": jacobi_with_rows_that_move,
    "matmul": matmul_over_a_tiling,
    "spmv": products_with_ghosts,
    "halo": values_of_ghosts,
    "failing": a_rank_that_fails,
    "hybrid": hybrid_messages,
    "random": random_runs,
    "moves": random_moves,
    "edges": runs_on_edges,
}

if __name__ == "__main__":
    for called in sys.argv[1:]:
        name, *words = called.split(":")
        with MpiComm() as world:
            PROGRAMS[name](world, *words)
            world.barrier()
            if world.rank == 0:
                print(f"{name} is fine", flush=True)
