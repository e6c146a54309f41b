"""Stream programs on a virtual clock: outputs of a slow twin, and the period of the plan."""

from dataclasses import replace

import numpy as np
import pytest

from evener.errors import UsageError
from evener.graphs.stream_graph import StreamGraph
from evener.planning.stream import MapOptions, map_filters
from evener.platforms.platform import Connection, Device, Link, Platform
from evener.running.streams.program import StreamChannel, StreamFilter, StreamProgram
from evener.streams.emulating import emulate_stream
from evener.streams.period import StreamProblem, period_of
from evener.streams.readings import reading_of
from tests.running.streams.programs import copied_plan, drawn_program, slow_outputs

NEAR = 0.03  # of the period: what is promised of emulated processors


def machine(rng, k):
    """Unlike processors in a ring."""
    devices = [
        Device(f"p{i}", 1.0, capabilities={"mips": rng.uniform(1, 4), "vector_length": 8.0})
        for i in range(k)
    ]
    ring = [
        Connection((f"p{i}", f"p{(i + 1) % k}"), Link(0.0, rng.uniform(1, 5) * 1e-6))
        for i in range(k if k > 2 else k - 1)
    ]
    return Platform(tuple(devices), connections=tuple(ring))


def program_of(graph):
    """Filters that pass on nothing but the bytes."""
    channels = [
        StreamChannel(graph.names[u], graph.names[v], (int(n),), "uint8")
        for u, v, n in zip(graph.tails, graph.heads, graph.nbytes, strict=True)
    ]
    sends = set(graph.tails.tolist())
    filters = [
        StreamFilter(name, lambda *_: None, fills=i in sends) for i, name in enumerate(graph.names)
    ]
    return StreamProgram(tuple(filters), tuple(channels))


def drawn_graph(rng, n):
    ends = [(u, v) for v in range(1, n) for u in range(v) if rng.random() < 2.5 / n]
    tails, heads = zip(*ends, strict=True)
    return StreamGraph(
        tuple(f"f{i}" for i in range(n)), rng.lognormal(6, 1, n), rng.integers(1, 20, n), tails,
        heads, rng.integers(1, 400, len(ends)),
    )  # fmt: skip


def test_two_filters_by_hand():
    """2 ms, then 1 ms to send 1000 bytes; 1 ms to receive, then 3 ms: periods of 4 ms on p1.

    The last of 3 iterations ends at 3 + 3 x 4 ms. p0 fills its two slots until 6 ms, of which
    p1 has read the first at 7.
    """
    devices = [Device(name, 1.0, capabilities={"mips": 1.0}) for name in ("p0", "p1")]
    platform = Platform(tuple(devices), connections=(Connection(("p0", "p1"), Link(0.0, 1e-6)),))
    graph = StreamGraph(("a", "b"), [2000, 3000], [1, 1], [0], [1], [1000])
    plan = map_filters(graph, platform, MapOptions("round-robin"))
    assert plan.period == pytest.approx(4e-3)
    run = emulate_stream(program_of(graph), plan, 3)
    assert run.is_emulated
    assert run.seconds == pytest.approx(15e-3)
    assert run.busy.tolist() == pytest.approx([9e-3, 12e-3])
    assert run.no_input.tolist() == pytest.approx([0, 3e-3])
    assert run.no_room.tolist() == pytest.approx([1e-3, 0])
    assert emulate_stream(program_of(graph), plan, 20).period == pytest.approx(4e-3)


@pytest.mark.parametrize("words", ["", "overlap", "sender", "literal,least"])
def test_the_period_is_that_of_the_plan(words):
    rng = np.random.default_rng(41)
    for n, k in ((6, 2), (12, 5)):
        graph = drawn_graph(rng, n)
        for method in ("greedy", "round-robin"):
            plan = map_filters(graph, machine(rng, k), MapOptions(method), reading_of(words))
            run = emulate_stream(program_of(graph), plan, 80)
            assert run.period == pytest.approx(plan.period, rel=NEAR), (n, method)


def test_outputs_are_those_of_a_slow_twin_and_seconds_the_same_each_time():
    rng = np.random.default_rng(42)
    for n in (2, 5, 9):
        program = drawn_program(rng, n)
        plan = map_filters(program.graph, machine(rng, 3), MapOptions("random"))
        runs = [emulate_stream(program, plan, 8) for _ in range(2)]
        expected = slow_outputs(program, 8)
        assert runs[0].outputs.keys() == expected.keys()
        assert all(np.array_equal(runs[0].outputs[name], expected[name]) for name in expected)
        assert runs[0].seconds == runs[1].seconds > 0


def test_copies_take_turns():
    """Outputs of the slow twin; the busiest processor is as busy in an iteration as the plan says.

    Work and bytes of a copy's iterations are those of the plan in the mean, by the reading in which
    work is proportional to the data. Arrays that lie between copies at first shift whom they meet.
    """
    rng = np.random.default_rng(44)
    tried = 0
    while tried < 3:
        program = drawn_program(rng, 6)
        plan = copied_plan(rng, program, 3)
        copied = np.bincount(plan.copy_of) > 1
        between = [copied[ends].all() for ends in np.c_[program.graph.tails, program.graph.heads]]
        if any(program.graph.tokens[between]):
            continue
        tried += 1
        reading = reading_of("literal")
        plan = replace(plan, platform=machine(rng, 3), options=vars(reading))
        loads = period_of(StreamProblem.of(plan.graph, plan.platform, reading), plan.part).loads
        iterations = 600
        run = emulate_stream(program, plan, iterations)
        expected = slow_outputs(program, iterations)
        assert run.outputs.keys() == expected.keys()
        assert all(np.array_equal(run.outputs[name], expected[name]) for name in expected)
        assert run.busy / iterations == pytest.approx(loads, rel=0.02, abs=1e-9)


def test_what_is_refused():
    rng = np.random.default_rng(43)
    graph = drawn_graph(rng, 5)
    program, platform = program_of(graph), machine(rng, 2)
    plan = map_filters(graph, platform, MapOptions("greedy"), reading_of("transit"))
    with pytest.raises(UsageError, match="transit"):
        emulate_stream(program, plan, 3)
    plan = map_filters(graph, platform, MapOptions("greedy"))
    with pytest.raises(UsageError, match="at least 1, not 0"):
        emulate_stream(program, plan, 0)
    with pytest.raises(UsageError, match="for another graph"):
        emulate_stream(program, replace(plan, graph=drawn_graph(rng, 5)), 3)
