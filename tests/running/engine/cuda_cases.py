"""Vertex programs on a CUDA device give what they give on a CPU. Run by test_cuda_engine.py."""

import contextlib
import io
import sys
import tempfile
from pathlib import Path

import numpy as np

from evener.cli import main
from evener.errors import InputError, UsageError
from evener.plans.partition import Partition
from evener.running.apps import bfs, pagerank, sssp, wcc
from evener.running.comm import run_threads
from evener.running.devices import Cuda, devices_of
from evener.running.distributing import distribute
from evener.running.engine import Engine, ThreadPool, VertexProgram, run_on
from evener.running.engine.cuda_engine import cuda_engine
from evener.running.engine.dense_cuda_kernels import ROOM
from evener.running.engine.device_cuda_kernels import THREADS, CudaDevice
from evener.running.engine.supersteps import SuperstepLoop
from evener.running.executing import run_program
from evener.running.on_device import RunWatch
from tests.running.engine.parts import ADDING, line, loop, random_graph, whole

APPS = pagerank.PROGRAM, bfs.PROGRAM, sssp.PROGRAM, wcc.PROGRAM
STEPS = 3


def init(vertex):
    return vertex % 7


def weighed(payload, weight, scale):
    return payload * weight * scale


LARGEST = VertexProgram(
    init=init, along=weighed, combine="max", dtype="float64", schedule="dense", direction="both",
    parameters={"scale": 0.25}, name="largest",
)  # fmt: skip


def bit(vertex):
    return 1 << (vertex % 20) if vertex < 20 else 0


BITS = VertexProgram(init=bit, combine="or", dtype="uint32", direction="both", name="bits")


def hub(n):
    """Return a star with a loop around it: one vertex with far more arcs than there are threads."""
    from evener.graphs.graph import Graph

    rim = np.arange(1, n)
    tails = np.concatenate([np.zeros(n - 1, np.int64), rim])
    return Graph.from_edges(n, tails, np.concatenate([rim, np.roll(rim, 1)]))


def agree(program, found, expected):
    if program.dtype.startswith("float"):
        assert np.allclose(found, expected, rtol=1e-5), program.name
    else:
        assert np.array_equal(found, expected), program.name


def on_one_device(graph, programs, compiles=False):
    part = whole(graph)
    for program in programs:
        most = STEPS if program.schedule == "dense" else 1 << 40
        expected = run_on(program, part, 1, most)
        engine = cuda_engine(program, part, CudaDevice(0))
        if compiles:
            engine.compile()
        engine.advance(most)
        agree(program, engine.values[: part.n_owned], expected.values)
        if program.schedule == "dense" or program is bfs.PROGRAM:
            assert engine.supersteps == expected.supersteps, program.name
        if program.schedule == "dense":
            assert engine.edges == expected.edges


def beside_a_cpu(graph, k, seed, programs):
    """Devices of both kinds together; two of three pretend to be the same GPU."""
    blocks = np.random.default_rng(seed).integers(0, k, graph.n).astype(np.int32)
    partition = Partition(blocks, k)
    devices = [[0] if rank == 1 else Cuda(0) for rank in range(k)]
    for program in programs:
        most = STEPS if program.schedule == "dense" else 1 << 40
        alone = run_program(program, graph, partition, most=most, watch=RunWatch(is_apart=True))
        found = run_program(program, graph, partition, most=most, devices=devices)
        agree(program, found.values, alone.values)
        if program.schedule == "dense" or program is bfs.PROGRAM:
            assert found.supersteps == alone.supersteps, program.name
        assert found.edges > 0
        if program.schedule == "bucket":  # each device has come to rest: the same is to be sent
            assert (found.of_devices("received") == alone.of_devices("received")).all()


def applied_once():
    halves = Partition(np.arange(60) // 30, 2)
    for program in ADDING:
        found = run_program(program, line(60), halves, devices=[[0], Cuda(0)])
        assert np.array_equal(found.values, 101 * np.arange(60)), program.name


def sums_are_the_same_twice():
    part = whole(random_graph(50, 600, 3))
    values = []
    for _ in range(2):
        engine = cuda_engine(pagerank.PROGRAM, part, CudaDevice(0))
        engine.advance(1)
        values.append(engine.values.copy())
    assert (values[0] == values[1]).all()


class ReadsDevices:
    """A rank, and what an MPI would do that takes arrays on devices."""

    takes_device_memory = True

    def __init__(self, comm):
        self._comm = comm

    def __getattr__(self, name):
        return getattr(self._comm, name)

    def swap(self, outgoing, incoming, **more):
        if not any(
            hasattr(one, "copy_to_host") for one in (*outgoing.values(), *incoming.values())
        ):
            return self._comm.swap(outgoing, incoming, **more)
        here, there = ({q: one.copy_to_host() for q, one in own.items()}
                       for own in (outgoing, incoming))  # fmt: skip
        return CopyingSwap(self._comm.swap(here, there), (outgoing, here), (incoming, there))


class CopyingSwap:
    def __init__(self, swap, outgoing, incoming):
        self._swap, self._outgoing, self._incoming = swap, outgoing, incoming

    def start(self):
        devices, here = self._outgoing
        for q, one in devices.items():
            one.copy_to_host(here[q])
        self._swap.start()

    def settle(self):
        self._swap.settle()

    def finish(self, rest=0.0):
        self._swap.finish(rest)
        devices, here = self._incoming
        for q, one in devices.items():
            one.copy_to_device(here[q])


def exchanged_on_the_device():
    """Two CUDA devices and a CPU between them, by an MPI that reads devices' memory."""
    graph, k = random_graph(40, 160, 6), 3
    partition = Partition(np.random.default_rng(1).integers(0, k, graph.n).astype(np.int32), k)
    parts = distribute(graph, partition, want="both", threads=1)
    alone = run_program(pagerank.PROGRAM, graph, partition, most=STEPS)

    def work(comm):
        local, direct = parts[comm.rank], ReadsDevices(comm)
        if comm.rank == 1:
            with ThreadPool(1) as pool:
                loop = SuperstepLoop(direct, local, Engine(pagerank.PROGRAM, local, pool))
                return loop.run(STEPS).values.copy(), True
        engine = cuda_engine(pagerank.PROGRAM, local, CudaDevice(0))
        loop = SuperstepLoop(direct, local, engine)
        found = loop.run(STEPS)
        exchanged = loop.steps.halo.times.sent == 0 < sum(step.sent for step in found.steps)
        return found.values.copy(), exchanged

    for part, (values, exchanged) in zip(parts, run_threads(k, work), strict=True):
        agree(pagerank.PROGRAM, values, alone.values[part.owned])
        assert exchanged


def it_halts():
    graph = random_graph(40, 150, 1)
    partition = Partition((np.arange(40) % 2).astype(np.int32), 2)
    given = {"parameters": {"tolerance": 2e-2}}
    alone = run_program(pagerank.PROGRAM, graph, partition, **given)
    found = run_program(pagerank.PROGRAM, graph, partition, devices=[Cuda(0), [0]], **given)
    assert found.supersteps == alone.supersteps > 2
    engine = cuda_engine(pagerank.PROGRAM, whole(graph), CudaDevice(0), given["parameters"])
    engine.advance(1000)
    assert (engine.supersteps, engine.has_ended) == (alone.supersteps, True)


def refused():
    assert devices_of("cpu:0,cuda:0") == [[0], Cuda(0)]
    for words, reason in (
        ("cuda:99", "CUDA device 99 does not exist"),
        ("cuda:0,cuda:0", "occurs twice"),
    ):
        try:
            devices_of(words)
        except UsageError as error:
            assert reason in error.message
        else:
            raise AssertionError(words)
    falling = VertexProgram(
        init=init, along=lambda payload: payload - 1, priority=lambda value: value,
        combine="min", dtype="int32", name="falling",
    )  # fmt: skip
    try:
        cuda_engine(falling, whole(loop(9)), CudaDevice(0)).advance(1)
    except InputError as error:
        assert "falling: a message had a lower priority" in error.message
    else:
        raise AssertionError


def by_command():
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        mesh, plan, values = (str(Path(folder) / name) for name in ("m.npz", "m.plan", "v.npy"))
        assert main(["generate", "grid", "--shape", "5x5", "-o", mesh]) == 0
        assert main(["plan", mesh, "--k", "2", "-o", plan]) == 0
        devices = ["--devices", "cpu:0,cuda:0"]
        assert main(["run", plan, mesh, "--app", "bfs", "--verify", *devices, "-o", values]) == 0
        levels = np.load(values).reshape(5, 5)
    assert (levels == np.add.outer(np.arange(5), np.arange(5))).all()


GROUPS = {
    "alone": lambda: on_one_device(
        random_graph(40, 170, 1, directed=True, weights=9), (*APPS, LARGEST, BITS), True
    ),
    "small": lambda: [
        on_one_device(hub(3 * ROOM), [pagerank.PROGRAM]),  # rows in pieces: dense schedules alone
        *(on_one_device(one, APPS) for one in (hub(2 * THREADS), loop(1), loop(2))),
    ],
    "both": lambda: [
        beside_a_cpu(random_graph(30, 90, 5, weights=9), 3, 5, (*APPS, BITS)),
        beside_a_cpu(random_graph(40, 400, 6, directed=True), 2, 6, (bfs.PROGRAM, LARGEST)),
    ],
    "more": lambda: [
        part()
        for part in (
            applied_once, sums_are_the_same_twice, exchanged_on_the_device, it_halts, refused,
            by_command,
        )
    ],
}  # fmt: skip
sys.setswitchinterval(1e-4)  # s: the simulator's threads wait for each other by turns
for group in sys.argv[1:] or GROUPS:
    GROUPS[group]()
print("all as on the CPU")
