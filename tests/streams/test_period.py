"""The period: as a slow twin's, in all readings; the paper's own examples."""

import numpy as np
import pytest

from evener.errors import InputError, UsageError
from evener.graphs.stream_graph import StreamGraph
from evener.platforms.device import Connection, Level, Link
from evener.platforms.platform import Platform
from evener.streams.bounds import bounds_of
from evener.streams.period import StreamProblem, period_of, seconds_of
from evener.streams.readings import CostReading, reading_of
from tests.streams.twins import processor, slow_loads, slow_period, small_case

READINGS = [
    "", "literal", "max1", "sender", "least", "transit", "overlap", "literal,sender,least",
    "transit,overlap",
]  # fmt: skip


@pytest.mark.parametrize("words", READINGS)
def test_loads_are_those_of_loops_over_filters_and_edges(words):
    for seed in range(8):
        problem = small_case(seed, reading_of(words), k=1 + seed % 5)
        part = np.random.default_rng(seed).integers(0, problem.k, problem.n).astype(np.int32)
        slow, period = slow_loads(problem, part), period_of(problem, part)
        assert np.allclose(period.computing, slow[:, 0], rtol=1e-12)
        assert np.allclose(period.communicating, slow[:, 1], rtol=1e-12)
        assert period.seconds == pytest.approx(slow_period(problem, part), rel=1e-12)
        assert seconds_of(problem, part) == pytest.approx(period.seconds, rel=1e-12)
        assert period.loads[period.bottleneck] == period.seconds
        assert bounds_of(problem).best <= period.seconds * (1 + 1e-12)


def jacobi():
    """Figure 1: statements 1 and 2 feed 3, 3 feeds 4. T0 and T1 of 4 are the paper's."""
    return StreamGraph(
        ("1", "2", "3", "4"), [999, 999, 1000, 999], [998001, 998001, 1, 998001],
        [0, 1, 2], [2, 2, 3], [8e6, 8e6, 8e6],
    )  # fmt: skip


def test_statement_4_of_jacobi_takes_its_instructions_where_all_its_data_fit():
    """ "998001 / 998001 x 999" instructions, over the MIPS of the processor."""
    wide = Platform((processor("gpu", 10.0, 998001.0),))
    problem = StreamProblem.of(jacobi(), wide)
    part = np.zeros(4, np.int32)
    assert period_of(problem, part).seconds == pytest.approx((999 * 3 + 1000) / 10e6)


def test_table_1_the_period_is_that_of_the_processors_which_are_busy_all_the_time():
    """Filters 2 and 3 on P1 take two steps, as does 4 on P3; 1 takes one on P0 and one on P2.

    The text has the copies of statement 1 on P0 and P1, the table on P0 and P2: the table counts
    here. Its steps match no T0 and T1 of the loops: "some arbitrary value" of latencies.
    """
    names = ("1a", "1b", "2", "3", "4")
    graph = StreamGraph(names, [1e6, 1e6, 1e6, 1e6, 2e6], np.ones(5), [], [], [])
    platform = Platform(tuple(processor(f"P{i}", 1.0) for i in range(4)))
    period = period_of(StreamProblem.of(graph, platform), [0, 2, 1, 1, 3])
    assert period.computing.tolist() == [1.0, 2.0, 1.0, 2.0]
    assert period.seconds == 2.0


def test_processors_differ_in_kind_unless_the_reading_is_literal():
    graph = StreamGraph(("scalar", "vector"), [1e6, 1.0], [1.0, 1e6], [], [], [])
    cpu, gpu = processor("cpu", 1.0, 1.0), processor("gpu", 0.1, 1e6)
    best = [np.array(part) for part in ([0, 1], [1, 0])]
    for words, kept in (("", True), ("literal", False)):
        problem = StreamProblem.of(graph, Platform((cpu, gpu)), reading_of(words))
        right, wrong = (seconds_of(problem, part.astype(np.int32)) for part in best)
        assert (right < wrong) == kept


def test_what_is_known_of_links_and_bottlenecks():
    devices = tuple(processor(name, 1.0) for name in "abc")
    links = Connection(("a", "b"), Link(0, 1e-6)), Connection(("b", "c"), Link(0, 3e-6))
    graph = StreamGraph(("x", "y", "z"), [0, 0, 0], [1, 1, 1], [0, 1], [2, 2], [10.0, 5.0])
    period = period_of(StreamProblem.of(graph, Platform(devices, (), links)), [0, 1, 2])
    assert dict(zip(period.link_names, period.links, strict=True)) == pytest.approx(
        {"a - b": 10e-6, "b - c": 45e-6}
    )
    assert period.seconds == pytest.approx(10 * 4e-6 + 5 * 3e-6)
    assert period.bottleneck == 2


def test_levels_and_machines_without_links():
    graph = StreamGraph(("x", "y"), [0, 0], [1, 1], [0], [1], [10.0])
    devices = processor("a", 1.0), processor("b", 1.0)
    alone = StreamProblem.of(graph, Platform(devices))
    assert period_of(alone, [0, 1]).seconds == 0
    joined = StreamProblem.of(graph, Platform(devices, (Level("net", Link(1.0, 1e-3)),)))
    assert period_of(joined, [0, 1]).seconds == pytest.approx(1e-2)


def test_needs_limit_where_a_filter_may_be():
    graph = StreamGraph(("x",), [1e6], [1], [], [], [], needs={"memory_MB": [64.0]})
    small, large = processor("small", 9.0), processor("large", 1.0, memory_MB=64.0)
    problem = StreamProblem.of(graph, Platform((small, large)))
    assert period_of(problem, [1]).seconds == 1.0
    with pytest.raises(InputError, match="device 'small' lacks what filter 'x' needs"):
        period_of(problem, [0])
    with pytest.raises(InputError, match="no processor can run filter 'x', which needs memory_MB"):
        _ = StreamProblem.of(graph, Platform((small,))).machine


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("cail", "unknown reading 'cail'"),
        ("ceil,max1", "contradict each other"),
        ("transit,sender", "transit"),
    ],
)
def test_readings_that_cannot_be(words, said):
    with pytest.raises(UsageError, match=said):
        reading_of(words)


def test_readings_by_their_words():
    assert reading_of("") == CostReading()
    assert reading_of(" least, overlap").words == ["least", "overlap"]


@pytest.mark.parametrize("part", [[0], [0, 3], [0, -1], [0.5, 0]])
def test_mappings_that_do_not_fit(part):
    graph = StreamGraph(("x", "y"), [1, 1], [1, 1], [], [], [])
    with pytest.raises(InputError):
        period_of(StreamProblem.of(graph, Platform((processor("a", 1.0),))), part)


def test_devices_without_mips():
    graph = StreamGraph(("x",), [1], [1], [], [], [])
    with pytest.raises(InputError, match="no mips"):
        StreamProblem.of(graph, Platform.flat([1.0]))


@pytest.mark.parametrize("words", ["both", "sender"])
def test_kernels_get_the_same_types_without_edges(words):
    graph = StreamGraph(("x", "y"), [1e4, 10], [100, 1], [], [], [])
    machine = Platform((processor("a", 1.0), processor("b", 2.0)))
    filters = StreamProblem.of(graph, machine, reading_of(words)).filters
    assert {filters.here.dtype, filters.there.dtype} == {np.dtype(np.float64)}
    assert filters.ends.size == 0
