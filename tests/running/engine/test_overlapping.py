"""Supersteps that compute while messages flow: the same bits, and chosen by what they take."""

import numpy as np
import pytest

from evener.graphs.generating.grid import grid
from evener.running.apps import pagerank
from evener.running.comm import run_threads
from evener.running.engine import Engine, ThreadPool, VertexProgram
from evener.running.engine.overlapping import (
    LEAST_INTERIOR,
    TRIALS,
    OverlapChoice,
    interior_share,
)
from evener.running.engine.supersteps import SuperstepLoop
from tests.running.engine.parts import parts, random_graph


def init(vertex):
    return 1.0 / (vertex + 1)


def weighed(payload, weight):
    return payload * weight


def halved(old, combined):
    return 0.5 * old + 1e-4 * combined


def still(change, least):
    return change < least


WEIGHED = VertexProgram(
    init=init, along=weighed, apply=halved, halt=still, combine="sum", dtype="float64",
    direction="both", parameters={"least": 1e-3}, name="weighed",
)  # fmt: skip
IN_PLACE = VertexProgram(
    init=init, apply=halved, combine="sum", dtype="float32", in_place=True, name="in_place"
)


def run(program, local, comm, overlap, most, threads=1):
    with ThreadPool(threads) as pool:
        loop = SuperstepLoop(comm, local, Engine(program, local, pool), overlap=overlap)
        found = loop.run(most)
        return found.values.copy(), [step.edges for step in found.steps], loop.overlap


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("program", [pagerank.PROGRAM, WEIGHED, IN_PLACE])
def test_values_and_supersteps_are_the_same_bit_for_bit(program, directed):
    graph = random_graph(900, 2700, 3, directed=directed, weights=9)
    k = 3
    blocks = np.sort(np.random.default_rng(4).integers(0, k, graph.n))
    made = parts(graph, blocks, k)
    found = [
        run_threads(k, lambda comm, way=way: run(program, made[comm.rank], comm, way, 40))
        for way in (True, False, None)
    ]
    for device in range(k):
        values, edges, _ = found[0][device]
        for other, same_edges, _ in (found[1][device], found[2][device]):
            assert np.array_equal(values, other)
            assert edges == same_edges


def test_threads_make_no_difference():
    graph = grid([60, 50])
    made = parts(graph, np.arange(graph.n) * 2 // graph.n, 2)
    found = [
        run_threads(2, lambda comm, t=t: run(WEIGHED, made[comm.rank], comm, True, 30, t)[0])
        for t in (1, 2)
    ]
    assert all(np.array_equal(one, two) for one, two in zip(*found, strict=True))


def chosen(with_overlap, apart):
    """Whether devices overlap after trials that took so long on each [s]."""

    class Fake(OverlapChoice):
        def __init__(self, comm):
            self._comm, self._chosen, self._seconds = comm, None, []
            self._sums, self.halves = comm.rank == 1, "halves"

    def work(comm):
        choice = Fake(comm)
        for turn in range(2 * TRIALS + 1):
            seconds = with_overlap[comm.rank] if choice.now else apart[comm.rank]
            choice.note(9.0 if turn == 0 else seconds)
        assert (choice.halves is None) is (not choice.now and comm.rank == 0)
        return choice.now

    return run_threads(2, work)


def test_all_devices_choose_what_the_slowest_of_them_takes_less_time_for():
    assert chosen((1.0, 2.0), (1.5, 2.5)) == [True, True]
    assert chosen((1.0, 2.6), (1.5, 2.5)) == [False, False]
    assert chosen((1.0, 2.49), (1.0, 2.5)) == [False, False]  # within noise


def test_nothing_is_tried_where_few_arcs_are_interior():
    graph = random_graph(400, 4000)
    made = parts(graph, np.random.default_rng(1).integers(0, 2, graph.n), 2)

    def work(comm):
        local = made[comm.rank]
        with ThreadPool(1) as pool:
            engine = Engine(pagerank.PROGRAM, local, pool)
            choices = [OverlapChoice(comm, engine, asked) for asked in (None, True, False)]
            apart = OverlapChoice(comm, None, None)
            return interior_share(engine), [c.is_possible for c in (*choices, apart)]

    for share, possible in run_threads(2, work):
        assert share < LEAST_INTERIOR
        assert possible[0] is possible[3] is False
