"""Advice on stream plans: a case by hand; every change against a machine that the test makes."""

import re
from dataclasses import replace

import numpy as np
import pytest

from evener.graphs.stream_graph import StreamGraph
from evener.planning.stream_advice import advise_on_stream, changes_of, divided
from evener.platforms.device import Connection, Level, Link
from evener.platforms.platform import Platform
from evener.streams.period import StreamProblem, period_of
from evener.streams.readings import CostReading
from tests.streams.twins import processor, shortest, slow_period, small_case


def hand():
    """x, 2 s and stateful, y and z, 1 s each, on a and b, which a link of 1 MB/s joins."""
    platform = Platform(
        (processor("a", 1), processor("b", 1), processor("slow", 0.1)),
        (),
        (Connection(("a", "b"), Link(0.0, 1e-6)), Connection(("b", "slow"), Link(0.0, 1e-6))),
    )
    graph = StreamGraph(
        ("x", "y", "z"), [2e6, 1e6, 1e6], [1, 1, 1], [0, 1], [1, 2], [5e5, 1e5],
        np.array([True, False, False]),
    )  # fmt: skip
    return StreamProblem.of(graph, platform), np.array([0, 0, 1], np.int32)


HEAVIEST = (
    "Filter x takes 2.00 s on a, 64.5 % of the period; no device is faster for it. It is "
    "stateful, so copies cannot share its work."
)
DEAREST = (
    "Traffic between y and z, 97.7 KiB per iteration, takes a 100 ms to or from b, 3.2 % of the "
    "period."
)


def advice_on(problem, part, bound=0.0):
    return advise_on_stream(problem, part, period_of(problem, part), bound)


def test_a_case_by_hand():
    """a works 3 s and sends for 0.1 s. Best is y on b: 2 s + 0.5 s on both."""
    advice = advice_on(*hand(), bound=3.0)
    assert advice.sentences == (
        "a is busiest: 96.8 % of the period computing, 3.2 % communicating.",
        HEAVIEST,
        DEAREST,
        "slow is idle: every filter of a would take at least 10.0 s there, 3.23 times the period.",
        "No mapping of these filters on this machine shortens the period by more than 3.2 %.",
    )
    found = {one.text: (one.seconds, one.moved) for one in advice.changes}
    assert found["the machine as it is"] == pytest.approx((3.1, 2.5))
    assert found["twice the mips of a"] == pytest.approx((1.6, 1.6))
    assert found["twice the bandwidth of all links"] == pytest.approx((3.05, 2.25))
    split = "x split in two (steps of half its instructions), one of them on b"
    assert found[split] == pytest.approx((3.1, 2.5))  # x' on b: 1 + 1 + 0.5 + 0.5 + 0.1
    assert [one.best for one in advice.changes] == sorted(one.best for one in advice.changes)


def test_idle_devices():
    problem, part = hand()
    wider = problem.processors.platform.devices
    wider = (*wider[:2], processor("slow", 10))
    quick = StreamProblem.of(
        problem.graph, replace(problem.processors.platform, devices=wider), problem.reading
    )
    # x there: 0.2 s + 1 s of two links; a has y: 1 s + 1 s + 0.1 s.
    said = advice_on(quick, part).sentences[-1]
    assert said == "slow is idle: the best single move, x of a to slow, makes the period 2.10 s."
    graph = replace(problem.graph, needs={"ram": [1, 1, 1]})
    able = tuple(
        replace(d, capabilities={**d.capabilities, "ram": float(d.name != "slow")}) for d in wider
    )
    narrow = StreamProblem.of(graph, replace(problem.processors.platform, devices=able))
    assert advice_on(narrow, part).sentences[-1] == "slow is idle: no filter of a may run there."


def test_an_optimum_is_told():
    problem, _ = hand()
    advice = advice_on(problem, np.array([0, 1, 1], np.int32), bound=2.5)
    assert (
        advice.sentences[-1] == "No mapping of these filters on this machine has a shorter period."
    )
    assert advice_on(problem, np.array([0, 1, 1], np.int32)).sentences[-1] != advice.sentences[-1]
    empty = StreamProblem.of(StreamGraph((), [], [], [], [], []), problem.processors.platform)
    assert (
        advice_on(empty, np.empty(0, np.int32)) == ((), ())
        or not advice_on(empty, np.empty(0, np.int32)).sentences
    )


def by_words(text, problem):
    """The machine that a change is of, made from its words."""
    platform = problem.processors.platform
    devices, links = list(platform.devices), list(platform.connections)
    if found := re.fullmatch(r"twice the (mips|vector length) of (.*)", text):
        key = found[1].replace(" ", "_")
        for i, device in enumerate(devices):
            if found[2] == device.name or found[2].endswith("p devices"):
                able = {**device.capabilities, key: 2 * device.capabilities[key]}
                devices[i] = replace(device, capabilities=able)
    elif found := re.fullmatch(r"twice the bandwidth of (.*)", text):
        for i, one in enumerate(links):
            if found[1] in ("all links", " - ".join(one.between)):
                links[i] = replace(one, link=Link(0.0, one.link.beta / 2))
    elif found := re.fullmatch(r"a link of (\S+) GB/s between (\S+) and (\S+)", text):
        beta = min(one.link.beta for one in links)
        assert float(found[1]) == pytest.approx(1e-9 / beta, rel=0.01)
        links.append(Connection((found[2], found[3]), Link(0.0, beta)))
    else:
        assert text == "the machine as it is"
    return Platform(tuple(devices), (), tuple(links))


@pytest.mark.parametrize("seed", range(4))
def test_every_change_is_what_it_says(seed):
    reading = (CostReading(), CostReading("literal", "sender", "least", overlap=True))[seed % 2]
    problem = small_case(seed, reading, n=4, k=4)
    part = np.random.default_rng(seed + 40).integers(0, 4, 4).astype(np.int32)
    texts = set()
    for text, changed, placed in changes_of(problem, part, period_of(problem, part)):
        if " split in two " not in text:
            own = StreamProblem.of(problem.graph, by_words(text, problem), reading)
            assert placed.tolist() == part.tolist()
            assert slow_period(changed, placed) == pytest.approx(slow_period(own, part)), text
        texts.add(re.sub(r"p\d|\d+(\.\d+)?", "*", text.split(" split")[-1]))
    assert texts >= {"twice the mips of *", "twice the vector length of all * p devices"}
    advice = advice_on(problem, part)
    everything = {
        text: (one, p) for text, one, p in changes_of(problem, part, period_of(problem, part))
    }
    for change in advice.changes:
        changed, placed = everything[change.text]
        assert change.seconds == pytest.approx(slow_period(changed, placed))
        assert change.moved <= change.seconds * (1 + 1e-12)
        assert change.best < 0.995 * slow_period(problem, part)
    own = next(one for one in advice.changes if one.text.startswith("twice the mips of all"))
    assert own.moved >= shortest(everything[own.text][0]) * (1 - 1e-12)


def test_levels_and_further_devices():
    devices = tuple(processor(name, 1) for name in ("a0", "a1"))
    platform = Platform(devices, (Level("net", Link(0.0, 1e-6)),))
    graph = StreamGraph(("x", "y", "z"), [1e6] * 3, [1] * 3, [0, 1], [1, 2], [2e5, 1e5])
    advice = advice_on(StreamProblem.of(graph, platform), np.array([0, 0, 1], np.int32))
    found = {one.text: (one.seconds, one.moved) for one in advice.changes}
    assert found["twice the bandwidth of level net"] == pytest.approx((2.05, 2.05))
    assert found["one more device like a0"] == pytest.approx((2.1, 1.3))


def test_a_divided_filter_does_the_same_work():
    graph = StreamGraph(
        ("x", "y", "y'"), [8, 6, 1], [1, 5, 1], [0, 1], [1, 2], [12, 4], tokens=[0, 2],
        needs={"ram": [0, 3, 0]},
    )  # fmt: skip
    copies = divided(graph, 1).graph
    assert copies.names[3] == "y''"
    assert (copies.vector[[1, 3]].tolist(), copies.scalar[[1, 3]].tolist()) == ([3, 2], [6, 6])
    edges = list(zip(copies.tails, copies.heads, copies.nbytes, copies.tokens, strict=True))
    assert edges == [(0, 1, 6, 0), (1, 2, 2, 2), (0, 3, 6, 0), (3, 2, 2, 2)]
    assert copies.needs["ram"].tolist() == [0, 3, 0, 3]
    steps = divided(graph, 0).graph
    assert steps.scalar[[0, 3]].tolist() == [4, 4]
    assert list(zip(steps.tails, steps.heads, steps.nbytes, strict=True)) == [
        (3, 1, 12), (1, 2, 4), (0, 3, 12)
    ]  # fmt: skip
