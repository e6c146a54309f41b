"""Stream programs run: the outputs of a slow twin, whatever the mapping; failures are named."""

import sys
import threading
import time

import numpy as np
import pytest

import evener as ev
from evener.errors import InputError, ToolError, UsageError
from evener.running.streams.executing import StreamWatch, run_stream
from evener.running.streams.in_turn import filter_seconds, measure_filters, run_in_turn
from evener.running.streams.program import StreamChannel, StreamFilter, StreamProgram
from evener.running.streams.stages import PipelineStages
from tests.running.streams.programs import chain, drawn_program, plan_of, slow_outputs

ITERATIONS = 12


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    for name in expected:
        assert np.array_equal(found[name], expected[name]), name


@pytest.mark.parametrize("seed", range(6))
def test_outputs_are_those_of_a_slow_twin_whatever_the_mapping(seed):
    rng = np.random.default_rng(900 + seed)
    for n in (1, 2, 5, 9):
        program = drawn_program(rng, n)
        expected = slow_outputs(program, ITERATIONS)
        assert_same(run_in_turn(program, ITERATIONS), expected)
        for k in (1, 2, 4):
            plan = plan_of(program, rng.integers(0, k, n))
            watch = StreamWatch(slots=int(rng.integers(2, 5)))
            assert_same(run_stream(program, plan, ITERATIONS, watch=watch).outputs, expected)


def test_a_filter_is_a_stage_behind_those_of_other_processors():
    """0 -> 1 -> 2 and 0 -> 2 on processors 0, 1, 0: 2 is two stages behind, so 0 -> 2 has three
    slots: two that are passed over, one more to be filled.
    """
    program = StreamProgram(
        tuple(StreamFilter(f"f{i}", lambda *_: np.zeros(1)) for i in range(3)),
        tuple(StreamChannel(*ends, (1,)) for ends in (("f0", "f1"), ("f1", "f2"), ("f0", "f2"))),
    )
    stages = PipelineStages(program, np.array([0, 1, 0]))
    assert stages.of_filters.tolist() == [0, 1, 2]
    assert stages.of_channels.tolist() == [2, 2, 3]
    assert stages.depth == 4
    assert stages.last.tolist() == [2]
    with pytest.raises(UsageError, match="2 slots, not 1"):
        PipelineStages(program, np.zeros(3), 1)


def test_iterations_overlap():
    """Each firing of the second filter waits for one of the first, of the next iteration."""
    both = threading.Barrier(2)

    def first(iteration):
        if iteration > 0:
            both.wait(5)
        return np.full(2, float(iteration))

    def second(x):
        if x[0] < 8:
            both.wait(5)

    program = chain(first, second)
    run = run_stream(program, plan_of(program, [0, 1], period=0.5), 9)
    assert run.period > 0
    assert run.throughput == 1 / run.period
    assert run.predicted == 0.5
    assert repr(run).startswith("StreamRun(9 iterations")


def test_the_wait_is_that_of_the_filter_which_lacks_data_or_room():
    def slow(*_):
        time.sleep(4e-3)
        return np.zeros(2)

    def quick(*_):
        return np.zeros(2)

    fed, full = chain(slow, quick), chain(quick, slow)
    run = run_stream(fed, plan_of(fed, [0, 1]), 10)
    assert run.no_input[1] > 0 == run.no_room[1]
    assert run.no_input[0] == 0
    assert run.busy[0] > 10 * 4e-3 > run.cpu[0]
    run = run_stream(full, plan_of(full, [0, 1]), 10)
    assert run.no_room[0] > 0 == run.no_input[0]


def test_channels_are_bounded():
    """While the second filter stands still, the first fills the slots between them, no more."""
    made, gate = [], threading.Event()

    def source(iteration):
        made.append(iteration)
        return np.zeros(2)

    def held(_):
        gate.wait(0.1)

    program = chain(source, held)
    threading.Timer(0.05, lambda: (ahead.append(len(made)), gate.set())).start()
    ahead = []
    run_stream(program, plan_of(program, [0, 1]), 9)
    assert ahead == [2]
    assert len(made) == 9


def raises(*_):
    raise ValueError("bad luck")


@pytest.mark.parametrize(
    ("work", "said"),
    [
        (raises, r"filter 'f1' on p1 failed in iteration 0: ValueError: bad luck"),
        (lambda _: sys.exit(7), "filter 'f1' on p1 failed in iteration 0: SystemExit: 7"),
        (lambda _: np.zeros(3), r"'f1' on p1 returned float64 \(3,\).* carries float64 \(2,\).* 0"),
        (lambda _: np.zeros(2, "f4"), r"'f1' on p1 returned float32 \(2,\)"),
        (lambda _: None, r"'f1' on p1 returned None"),
        (lambda _: (np.zeros(2), np.zeros(2)), "'f1' on p1 returned 2 arrays for 1 channels"),
        (lambda x: x / (x[0] - 5), r"'f1' on p1 failed in iteration 5: RuntimeWarning"),
    ],
)
def test_a_filter_that_fails_ends_the_run_and_is_named(work, said):
    program = chain(lambda i: np.full(2, float(i)), work, lambda x: x.sum())
    began = time.monotonic()
    with pytest.raises((ToolError, InputError), match=said) as caught:
        run_stream(program, plan_of(program, [0, 1, 2]), 1000)
    assert time.monotonic() - began < 2
    assert work is not raises or caught.value.file.endswith("test_streams.py")


def test_a_filter_that_hangs_ends_the_run_and_is_named():
    done = threading.Event()

    def hang(x):
        if x[0] == 3:
            done.wait(30)
        return x

    program = chain(lambda i: np.full(2, float(i)), hang, lambda x: x)
    began = time.monotonic()
    with pytest.raises(ToolError, match=r"'f1' on p1 has not ended iteration 3 within 0.2 s"):
        run_stream(program, plan_of(program, [0, 1, 0]), 9, watch=StreamWatch(timeout=0.2))
    assert time.monotonic() - began < 2
    done.set()


def test_what_a_program_gives_is_alike_in_all_iterations():
    program = chain(lambda i: np.full(2, i), lambda x: np.zeros(2 + x[0] // 3), dtype="int64")
    assert run_stream(program, plan_of(program, [0, 0]), 3).outputs["f1"].shape == (3, 2)
    with pytest.raises(InputError, match=r"'f1' on p0 returned float64 \(3,\), but .* iteration 3"):
        run_stream(program, plan_of(program, [0, 0]), 4)


def test_state_is_the_runs_own():
    counting = StreamFilter("count", lambda state, _: state.__iadd__(1), np.zeros(1))
    program = StreamProgram((counting,), ())
    plan = plan_of(program, [0])
    for _ in range(2):
        assert run_stream(program, plan, 3).outputs["count"].tolist() == [[1], [2], [3]]


def test_the_last_outputs_can_be_kept_alone_and_all_spans():
    program = chain(lambda i: np.full(2, float(i)), lambda x: x[0])
    watch = StreamWatch(keep=2, trace=True)
    run = run_stream(program, plan_of(program, [0, 1]), 5, watch=watch)
    assert run.outputs["f1"].tolist() == [3, 4]
    assert [len(one.spans) for one in run.filters] == [5, 5]
    assert run.period is None or run.period > 0


def test_costs_are_measured_in_seconds_of_this_computer():
    program = chain(lambda i: np.zeros(2), lambda x: x + sum(range(20_000)))
    for busy in (1, 3):
        seconds = filter_seconds(program, 3, busy=busy)
        assert seconds[1] > 5 * seconds[0] > 0
    with pytest.raises(UsageError, match="at least 1, not 0"):
        filter_seconds(program, busy=0)
    graph = measure_filters(program, 1)
    assert graph.names == ("f0", "f1")
    assert graph.scalar[1] > 1e4  # instructions at 10^9 a second
    with pytest.raises(UsageError, match="at least 1, not 0"):
        measure_filters(program, 0)


def test_the_graph_has_bytes_tokens_state_and_needs():
    program = StreamProgram(
        (
            StreamFilter("a", print, scalar=5, vector=8, needs={"ram": 2}),
            StreamFilter("b", print, np.zeros(1)),
        ),
        (
            StreamChannel("a", "b", (3, 2), "float32"),
            StreamChannel("b", "a", (), "int64", [np.int64(1)]),
        ),
    )
    graph = program.graph
    assert graph.nbytes.tolist() == [24, 8]
    assert graph.tokens.tolist() == [0, 1]
    assert graph.stateful.tolist() == [False, True]
    assert (graph.scalar.tolist(), graph.vector.tolist()) == ([5, 1], [8, 1])
    assert graph.needs["ram"].tolist() == [2, 0]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: StreamProgram((), ()), "has no filters"),
        (lambda: StreamProgram((StreamFilter("a", 3),), ()), "filter 'a' .* has no function"),
        (
            lambda: StreamChannel("a", "b", (2,), "object"),
            "from 'a' to 'b' must carry arrays of num",
        ),
        (lambda: StreamChannel("a", "b", (-1,)), "from 'a' to 'b'"),
        (lambda: StreamChannel("a", "b", "x"), "invalid shape"),
        (lambda: StreamChannel("a", "b", (2,), initial=[np.zeros(3)]), "initial array"),
        (
            lambda: StreamProgram((StreamFilter("a", print),), (StreamChannel("a", "b", (1,)),)),
            "has no filter 'b'",
        ),
        (
            lambda: StreamProgram(
                (StreamFilter("a", print), StreamFilter("b", print)),
                (StreamChannel("a", "b", (1,)), StreamChannel("b", "a", (1,))),
            ),
            "wait for each other",
        ),
    ],
)
def test_what_no_program_is(make, said):
    with pytest.raises(InputError, match=said):
        make()


def test_what_is_refused():
    program = chain(print, print)
    with pytest.raises(UsageError, match=r"the plan has 1 filter \(f0\), but .* has 2"):
        run_stream(program, plan_of(chain(print), [0]), 1)
    with pytest.raises(UsageError, match="at least 1, not 0"):
        run_stream(program, plan_of(program, [0, 0]), 0)
    with pytest.raises(UsageError, match="has 2 devices, but 1 was given"):
        run_stream(program, plan_of(program, [0, 1]), 1, watch=StreamWatch(devices=[[0]]))
    program = chain(lambda i: np.zeros(2), lambda x: x)
    gpu = plan_of(program, [0, 1], kind="cuda")
    with pytest.raises(UsageError, match="but no CUDA device is given"):
        run_stream(program, gpu, 1)
    run = run_stream(program, gpu, 1, watch=StreamWatch(devices=[[0], [0]]))
    assert run.filters[1].firings == 1


def test_files_hold_programs(tmp_path):
    text = """
import numpy as np
import evener as ev

def program(n=3):
    return ev.StreamProgram((ev.StreamFilter("a", lambda i: np.full(n, i)),), ())
"""
    (tmp_path / "own.py").write_text(text)
    found = ev.StreamProgram.from_file(tmp_path / "own.py", {"n": 2})
    assert run_in_turn(found, 2)["a"].tolist() == [[0, 0], [1, 1]]
    with pytest.raises(InputError, match="own has no parameter m"):
        ev.StreamProgram.from_file(tmp_path / "own.py", {"m": 2})
    (tmp_path / "none.py").write_text("PROGRAM = 3\n")
    with pytest.raises(InputError, match="has neither a StreamProgram named PROGRAM"):
        ev.StreamProgram.from_file(tmp_path / "none.py")
    (tmp_path / "bad.py").write_text("\n1 / 0\n")
    with pytest.raises(InputError, match="ZeroDivisionError") as caught:
        ev.StreamProgram.from_file(tmp_path / "bad.py")
    assert caught.value.line == 2
