"""Ranks of one computer that exchange inside kernels; here they are threads."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.errors import ToolError
from evener.plans.edge_partition import EdgePartition
from evener.plans.partition import Partition
from evener.running.apps import bfs, pagerank, sssp, wcc
from evener.running.comm import run_threads
from evener.running.edge_shares import DividedEdges
from evener.running.engine import Engine, ThreadPool, VertexProgram
from evener.running.engine.atomics_kernels import DIRECTION
from evener.running.engine.fronts_kernels import PUSH
from evener.running.engine.near import NearLinks
from evener.running.engine.supersteps import SuperstepLoop
from evener.running.executing import run_program
from evener.running.failures import Names
from evener.running.on_device import RunWatch
from tests.examples import with_examples
from tests.running.engine.parts import ADDING, line, loop, parts, random_graph
from tests.running.random_runs import random_case

LARGEST = VertexProgram(init=lambda vertex: vertex, combine="max", dtype="int64", name="largest")


def run(program, graph, partition, threads=1, most=1 << 40, **parameters):
    """Values by vertex, and the loops' supersteps of each device."""
    locals_ = parts(graph, partition.part, partition.k)

    def share(comm):
        with ThreadPool(threads) as pool:
            engine = Engine(program, locals_[comm.rank], pool, parameters)
            return SuperstepLoop(comm, locals_[comm.rank], engine).run(most)

    runs = run_threads(partition.k, share)
    values = np.empty(graph.n, program.dtype)
    for local, one in zip(locals_, runs, strict=True):
        values[local.owned] = one.values
    return values, [one.steps for one in runs]


@with_examples(6)
@given(st.integers(0, 10**6), st.integers(1, 2))
def test_values_are_those_of_one_device(seed, threads):
    graph, partition, source = random_case(seed)
    partition = Partition(partition.part, partition.k + 1)
    alone = Partition(np.zeros(graph.n, np.int32), 1)
    for program, given_ in (
        (bfs.PROGRAM, {"source": source}),
        (sssp.program_for(graph), {"source": source}),
        (LARGEST, {}),
        (wcc.PROGRAM, {}),
    ):
        values, _ = run(program, graph, partition, threads, **given_)
        expected = run_program(program, graph, alone, parameters=given_).values
        assert np.array_equal(values, expected), program.name


HALTING = VertexProgram(
    init=lambda n: 1.0 / n,
    emit=lambda value, degree: value / degree if degree > 0 else 0.0,
    apply=lambda combined, n: 0.15 / n + 0.85 * combined,
    halt=lambda change: change < 1e-6,
    combine="sum", dtype="float64", name="halting",
)  # fmt: skip


@with_examples(6)
@given(st.integers(0, 10**6), st.integers(1, 2))
def test_a_run_is_that_between_separate_computers(seed, threads):
    graph, partition, source = random_case(seed)
    devices = [list(range(threads))] * partition.k
    for program, most, given_ in (
        (pagerank.PROGRAM, 5, {}),
        (HALTING, None, {}),
        (bfs.PROGRAM, None, {"source": source}),
    ):
        near, apart = (
            run_program(
                program, graph, partition, most=most, parameters=given_, devices=devices,
                watch=RunWatch(is_apart=is_apart),
            )
            for is_apart in (False, True)
        )  # fmt: skip
        assert np.array_equal(near.values, apart.values), program.name
        assert near.supersteps == apart.supersteps
        counts = ["edges"] if program is bfs.PROGRAM else ["edges", "sent", "received"]
        for count in counts:
            assert np.array_equal(near.of_devices(count), apart.of_devices(count)), count


@pytest.mark.parametrize("is_apart", [False, True])
def test_messages_of_other_devices_belong_to_the_superstep_that_sent_them(is_apart):
    program = VertexProgram(
        init=lambda vertex: 0 if vertex == 0 else 9223372036854775807,  # only 0 pushes
        apply=lambda old, combined, step: min(old, step + 1) if combined < old else old,
        combine="min", dtype="int64", name="reached in superstep",
    )  # fmt: skip
    blocks = Partition(np.arange(20) // 5 % 2, 2)
    found = run_program(program, loop(20), blocks, watch=RunWatch(is_apart=is_apart))
    assert found.values[[1, 19]].tolist() == [1, 1]  # on this device, and on the other one


@pytest.mark.parametrize("program", ADDING, ids=lambda program: program.schedule)
@pytest.mark.parametrize("divided", ["near", "apart", "edges"])
def test_a_message_is_applied_once_by_the_device_that_sends_it(program, divided):
    halves, edges = Partition(np.arange(400) // 200, 2), EdgePartition.of(np.arange(399) // 200, 2)
    blocks = DividedEdges(edges) if divided == "edges" else halves
    found = run_program(program, line(400), blocks, watch=RunWatch(is_apart=divided == "apart"))
    assert np.array_equal(found.values, 101 * np.arange(400))


def test_a_device_that_does_not_come_is_named(monkeypatch):
    advance = Engine.advance

    def late(engine, most):
        if engine.sizes.n_owned == 3:
            time.sleep(1)
        advance(engine, most)

    monkeypatch.setattr(Engine, "advance", late)
    blocks = Partition(np.array([0] * 17 + [1] * 3), 2)
    watch = RunWatch(timeout=0.2, names=Names(("fast", "late")))
    with pytest.raises(ToolError, match=r"rank 1 \(late\) has not answered for 0.2"):
        run_program(bfs.PROGRAM, loop(20), blocks, watch=watch)


def test_supersteps_are_recorded_as_they_were():
    graph = loop(900)  # longer than the log; pulled near the end alone
    blocks = (np.arange(900) // 50 % 2).astype(np.int32)
    program = VertexProgram(
        init=bfs.init, along=bfs.along, combine="min", dtype="int32", parameters={"source": 0},
    )  # fmt: skip
    values, (one, other) = run(program, graph, Partition(blocks, 2))
    assert values.max() == 450
    assert len(one) == len(other) == 451
    edges = [a.edges + b.edges for a, b in zip(one, other, strict=True)]
    assert edges[:400] == [2] + [4] * 399
    received, sent = (
        sum(step.received for step in one[:400]),
        sum(step.sent for step in other[:400]),
    )
    assert received == sent // 8 > 0
    assert all(step.computing > 0 for step in one)


def test_ranks_join_the_same_trees_and_leave_out_most_arcs():
    graph = random_graph(3000, 60_000, 1)
    values, steps = run(wcc.PROGRAM, graph, Partition(np.arange(3000) % 3, 3))
    assert wcc.verify(graph, values)
    assert [len(own) for own in steps] == [1, 1, 1]
    assert sum(step.edges for own in steps for step in own) < 2.1 * graph.n
    assert not any(step.sent for own in steps for step in own)


def test_as_many_supersteps_as_asked_for():
    values, (steps, _) = run(bfs.PROGRAM, loop(90), Partition(np.arange(90) % 2, 2), most=7)
    assert len(steps) == 7
    assert np.count_nonzero(values <= 7) == np.count_nonzero(values < 10**6) == 15


class GivesUp:
    """Waits of a rank that ends them."""

    def until(self, *_):
        raise ToolError("rank 1 has not answered")


@pytest.mark.parametrize("program", [bfs.PROGRAM, wcc.PROGRAM], ids=lambda program: program.name)
def test_a_wait_for_a_rank_that_never_comes_is_ended(program):
    local = parts(loop(20), np.arange(20) % 2, 2)

    def share(comm):
        engine = Engine(program, local[comm.rank], ThreadPool(1))
        engine.compile()
        links = NearLinks(comm, local[comm.rank], engine)
        if comm.rank == 1:
            return True
        links._waits = GivesUp()
        with pytest.raises(ToolError, match="not answered"), links:
            engine.control[DIRECTION] = PUSH
            links.advance(5, None)
        return True

    assert run_threads(2, share) == [True, True]
