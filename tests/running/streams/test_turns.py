"""Copies of filters run iterations in turn, as many as their share, and give what one gives."""

from dataclasses import replace

import numpy as np
import pytest

from evener.errors import UsageError
from evener.platforms.platform import Platform
from evener.running.streams.executing import StreamWatch, run_stream
from evener.running.streams.turns import FilterTurns, places
from tests.running.streams.programs import chain, copied_plan, drawn_program, plan_of, slow_outputs

ITERATIONS = 25


@pytest.mark.parametrize("seed", range(4))
def test_outputs_with_copies_are_those_of_a_slow_twin(seed):
    rng = np.random.default_rng(950 + seed)
    for n in (2, 5, 9):
        program = drawn_program(rng, n)
        expected = slow_outputs(program, ITERATIONS)
        plan = copied_plan(rng, program, 3)
        run = run_stream(program, plan, ITERATIONS)
        assert run.outputs.keys() == expected.keys()
        for name, values in expected.items():
            assert np.array_equal(run.outputs[name], values), name
        assert [one.name for one in run.filters] == list(plan.names)
        fired = np.bincount(plan.copy_of, [one.firings for one in run.filters])
        assert (fired == ITERATIONS).all()


def in_three(shares=(1.0, 2.0, 5.0)):
    """A filter in copies of these shares between two others."""
    program = chain(lambda i: np.full(2, float(i)), lambda x: x + 1, lambda x: x[0])
    program = replace(program, filters=tuple(replace(one, vector=8) for one in program.filters))
    names = ("f0", "f1 1/3", "f1 2/3", "f1 3/3", "f2")
    graph = replace(program.graph, names=("f0", "f1", "f2"))
    of = np.array([0, 1, 1, 1, 2])
    wide = replace(
        graph, names=names, scalar=np.ones(5), vector=np.array([8, *shares, 8]),
        tails=np.array([0, 0, 0, 1, 2, 3]), heads=np.array([1, 2, 3, 4, 4, 4]),
        nbytes=np.ones(6), stateful=np.zeros(5, bool), tokens=np.zeros(6),
    )  # fmt: skip
    return program, replace(plan_of(program, [0, 0, 1, 2, 0]), graph=wide, copy_of=of)


def test_copies_have_iterations_by_their_share_at_even_intervals():
    program, plan = in_three()
    turns = FilterTurns(program, plan, 8000)
    own = [turns.of_copy(c) for c in (1, 2, 3)]
    assert np.array_equal(np.sort(np.concatenate(own)), np.arange(8000))
    assert [len(one) for one in own] == pytest.approx([1000, 2000, 5000], abs=3)
    assert [int(np.diff(one).max()) for one in own] == [13, 5, 2]  # three gaps at most
    assert turns.ahead.tolist() == [8, 8]  # the least share is an eighth
    known = Platform(
        tuple(replace(one, capabilities={"mips": 1.0}) for one in plan.platform.devices)
    )
    # An iteration of 8 x 1 instructions at 10^6 a second, over a period of 3 us; and one more.
    plan = replace(plan, platform=known, period=3e-6)
    assert FilterTurns(program, plan, 9).ahead.tolist() == [4, 4]
    assert turns.of_copy(0) == range(8000)
    assert np.array_equal(places(-3, 5)[3:], places(0, 5))


def test_the_last_outputs_of_copies_are_kept_in_order():
    program, plan = in_three()
    last = replace(
        plan.graph, names=("f0", "f1", "f2 1/3", "f2 2/3", "f2 3/3"),
        vector=np.array([8.0, 8, 1, 2, 5]),
        tails=np.array([0, 1, 1, 1]), heads=np.array([1, 2, 3, 4]), nbytes=np.ones(4),
        tokens=np.zeros(4),
    )  # fmt: skip
    plan = replace(plan, graph=last, copy_of=np.array([0, 1, 2, 2, 2]))
    run = run_stream(program, plan, 40, watch=StreamWatch(keep=3, trace=True))
    assert run.outputs["f2"].tolist() == [38, 39, 40]
    assert run.period > 0
    turns = [one.turns for one in run.filters[2:]]
    assert [len(one.spans) for one in run.filters[2:]] == [len(one) for one in turns]


def test_copies_that_cannot_run_are_refused():
    program, plan = in_three()
    stateful = [replace(one, state=np.zeros(1), vector=1) for one in program.filters]
    with pytest.raises(UsageError, match="'f1' has state, so it cannot have 3 copies"):
        run_stream(replace(program, filters=tuple(stateful)), plan, 3)
    for of in ([0, 0, 1, 1, 2], [0, 1, 1, 2, 2], [1, 0, 1, 1, 2], [0, 1, 1, 1, 9]):
        with pytest.raises(UsageError, match=r"the plan has 5 filters \(f0, f1 1/3"):
            run_stream(program, replace(plan, copy_of=np.array(of)), 3)
