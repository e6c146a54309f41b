"""Engines of several devices, exchanging by hand, give what one device gives."""

from dataclasses import replace

import numpy as np
import pytest

from evener.errors import InputError
from evener.running.apps import bfs, pagerank, sssp, wcc
from evener.running.engine import ThreadPool, atomics_kernels
from evener.running.engine.atomics_kernels import DIRECTION
from evener.running.engine.engine import Engine, check_part, run_on
from tests.examples import seeds
from tests.running.engine.parts import parts, random_graph, whole

PUSH, PULL = 0, 1
SEVERAL = {"bfs": bfs.PROGRAM, "sssp": sssp.PROGRAM, "wcc": wcc.PROGRAM}


@pytest.fixture(scope="module")
def pool():
    with ThreadPool(2) as made:
        yield made


def case(seed):
    draw = np.random.default_rng(seed)
    n, k = int(draw.integers(2, 150)), int(draw.integers(1, 5))
    graph = random_graph(n, int(draw.integers(0, 4 * n)), seed, bool(seed % 2), weights=20)
    return graph, parts(graph, draw.integers(0, k, n).astype(np.int32), k)


def gathered(graph, engines, arrays):
    found = np.empty(graph.n, arrays[0].dtype)
    for engine, array in zip(engines, arrays, strict=True):
        own, numbers = engine.sizes.n_owned, engine.vertices.numbers
        found[numbers[:own] if numbers.size else slice(own)] = array[:own]
    return found


def exchanged(graph, engines, arrays):
    found = gathered(graph, engines, arrays)
    for engine, array in zip(engines, arrays, strict=True):
        owned = engine.sizes.n_owned
        array[owned:] = found[engine.vertices.numbers[owned:]]


def reduced(graph, locals_, engines):
    """Give changed ghosts to their owners; return how many."""
    owner, place = np.empty(graph.n, int), np.empty(graph.n, np.uint32)
    for local in locals_:
        owner[local.owned], place[local.owned] = local.rank, np.arange(local.n_owned)
    messages = [engine.take_marked() for engine in engines]
    for engine, (places, sent) in zip(engines, messages, strict=True):
        numbers = engine.vertices.numbers[places]
        for q in range(len(engines)):
            to_q = owner[numbers] == q
            engines[q].deliver(place[numbers[to_q]], sent[to_q])
    return sum(places.size for places, _ in messages)


@pytest.mark.parametrize("name", SEVERAL)
@pytest.mark.parametrize("seed", seeds(12))
def test_pushing_over_devices(pool, name, seed):
    program = SEVERAL[name]
    graph, locals_ = case(seed)
    engines = [Engine(program, local, pool) for local in locals_]
    for engine in engines:
        engine.control[DIRECTION] = PUSH
    for _ in range(10 * graph.n):
        for engine in engines:
            engine.advance(1)
        if reduced(graph, locals_, engines) == 0 and all(e.has_ended for e in engines):
            break
    values = gathered(graph, engines, [engine.values for engine in engines])
    assert np.array_equal(values, run_on(program, whole(graph), pool).values)
    assert len({engine.supersteps for engine in engines}) == 1


@pytest.mark.parametrize("seed", seeds(8))
def test_pulling_over_devices(pool, seed):
    graph, locals_ = case(seed)
    engines = [Engine(bfs.PROGRAM, local, pool) for local in locals_]
    flags = [np.zeros(local.n_local, np.uint8) for local in locals_]
    for engine in engines:
        engine.control[DIRECTION] = PULL
        engine.advance(0)
    for _ in range(graph.n):
        for engine, own in zip(engines, flags, strict=True):
            engine.kernels.show(engine.sizes, engine.work, engine.control, own)
        exchanged(graph, engines, flags)
        exchanged(graph, engines, [engine.values for engine in engines])
        for engine, own in zip(engines, flags, strict=True):
            engine.kernels.see(engine.sizes, engine.work, engine.control, own)
            engine.advance(1)
    values = gathered(graph, engines, [engine.values for engine in engines])
    assert np.array_equal(values, run_on(bfs.PROGRAM, whole(graph), pool).values)


@pytest.mark.parametrize("seed", seeds(8))
def test_ranks_over_devices(pool, seed):
    graph, locals_ = case(seed)
    engines = [Engine(pagerank.PROGRAM, local, pool) for local in locals_]
    for engine in engines:
        engine.advance(0)
    for _ in range(6):
        exchanged(graph, engines, [engine.payloads for engine in engines])
        for engine in engines:
            engine.advance(1)
    values = gathered(graph, engines, [engine.values for engine in engines])
    assert pagerank.verify(graph, values, 6)


CONTROL = (
    "STEP", "MOST_STEPS", "EDGES", "ENDED", "FORM", "LENGTH", "SCOUTED", "LEFT", "SHRANK",
    "FLIPPED", "DIRECTION", "MARKED", "SHARED", "MISSED", "FAILED", "LARGEST",
    "TOTALS", "LOGGED", "ASLEEP", "ABORTED",
)  # fmt: skip


def test_no_two_numbers_of_control_share_a_place():
    found = [int(getattr(atomics_kernels, name)) for name in CONTROL]
    found += [int(atomics_kernels.TOTALS) + i for i in range(1, 4)]
    assert sorted(found) == list(range(atomics_kernels.CONTROL_SIZE))


def with_arcs(local, **changed):
    arcs = local.out._replace(**changed)
    return replace(local, out=arcs, into=arcs)


def of_two():
    return parts(random_graph(30, 80), np.arange(30, dtype=np.int32) % 2, 2)[0]


WRONG = {
    "numbers": lambda _: replace(of_two(), numbers=np.arange(2)),
    "degrees": lambda _: replace(of_two(), degrees=np.arange(2)),
    "ghost_starts": lambda part: replace(part, ghost_starts=np.array([0, 1])),
    "rank": lambda part: replace(part, rank=1),
    "types of out": lambda part: with_arcs(part, ends=part.out.ends.astype(np.int64)),
    "offsets of out": lambda part: with_arcs(part, offsets=part.out.offsets[::-1].copy()),
    "offsets of out ": lambda part: with_arcs(part, ends=part.out.ends[:-1]),
    "ends of out": lambda part: with_arcs(part, ends=part.out.ends + np.uint32(30)),
    "weights of out": lambda part: with_arcs(part, weights=np.ones(3)),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_part_that_does_not_hold_together_is_refused(what):
    part = WRONG[what](whole(random_graph(30, 80)))
    with pytest.raises(InputError, match=f"is inconsistent: .*{what.strip()}"):
        run_on(wcc.PROGRAM, part)


@pytest.mark.parametrize("directed", [False, True])
def test_what_distribute_makes_holds_together(directed):
    for n in (0, 1, 40):
        graph = random_graph(n, 90, 3, directed)
        for part in parts(graph, np.arange(n, dtype=np.int32) % 3, 3):
            check_part(part)
