"""Predictions beside measured iterations: the arithmetic by hand, the processes in a short run."""

import threading
import time

import numpy as np
import pytest

from evener.errors import ToolError
from evener.measuring.outcomes import Precision
from evener.measuring.this_computer import Core, cores
from evener.platforms.models.fitting import Constant
from papers import here_pair
from papers.cla14 import experiments as fupermod
from papers.command import main
from papers.here import (
    PredictionTrial,
    Program,
    cases_of,
    error_rows,
    found_here,
    larger_of_two,
    predicted_and_measured,
    spread,
)
from papers.here_pair import GATE_BYTES, Gate, rivalled_pair, two_cores

SOON = Precision(precision=0.5, repetitions=3, seconds=5.0, least=0.0, outliers=0.0)


def trial(measured=0.1, predicted=0.11, again=0.1, n=30, share=0.95, program="spmv"):
    return PredictionTrial(program, n, 20, n - 20, 0, 8, 0.12, 0.1, predicted, measured, again,
                 share, share / 2, 1.0)  # fmt: skip


def test_the_larger_of_two_is_the_mean_over_all_pairs():
    rng = np.random.default_rng(3)
    first, second = rng.random(5), rng.random(7)
    expected = np.mean([max(a, b) for a in first for b in second])
    assert larger_of_two(first, second) == pytest.approx(expected, rel=1e-14)
    assert larger_of_two([2.0], [3.0]) == 3.0


def test_sizes_are_those_at_which_both_take_as_long_as_asked():
    cases = cases_of(Program("spmv", 10, ()), [Constant(1000.0), Constant(500.0)], (0.02, 0.1))
    assert [case.n for case in cases] == [30, 150]
    assert [case.sizes for case in cases] == [(20, 10), (100, 50)]
    assert cases[1].model_s == pytest.approx(0.1)


def test_errors_of_sizes_of_programs_and_of_undisturbed_trials():
    trials = [trial(predicted=p) for p in (0.1, 0.12, 0.07)]
    trials += [trial(predicted=0.105, again=0.2, n=40, share=0.5), trial(program="gemm", share=0.2)]
    rows = error_rows(trials)
    assert [(row["program"], row["units"], row["trials"]) for row in rows] == [
        ("spmv", "30", 3), ("spmv", "40", 1), ("spmv", "all", 4), ("spmv", "all, undisturbed", 3),
        ("gemm", "30", 1), ("gemm", "all", 1),
    ]  # fmt: skip
    assert rows[0]["predicted_median"] == pytest.approx(0.2)  # of 0, 0.2 and -0.3
    assert rows[0]["bias"] == pytest.approx(0.0)
    assert rows[1]["null_median"] == pytest.approx(1.0)
    assert rows[2]["model_median"] == pytest.approx(0.2)
    found = found_here(trials)
    assert [finding.verdict for finding in found.findings] == ["not tried", "held"]
    assert [len(panel.x) for panel in found.plots[0].panels] == [4, 1]
    assert len(found.tables["trials"]) == 5


def test_the_interval_holds_the_median():
    found = spread(np.random.default_rng(1).normal(0, 0.1, 60))
    assert found["low"] < found["median"] < found["high"] < found["p90"]
    assert spread(np.array([-0.3])) == pytest.approx(dict.fromkeys(found, 0.3))


def test_two_meet_as_often_as_both_come(tmp_path):
    path = tmp_path / "gate"
    path.write_bytes(bytes(GATE_BYTES))
    soon = time.perf_counter() + 20.0
    other = Gate(path, 1)
    thread = threading.Thread(target=lambda: [other.meet(soon) for _ in range(3)])
    thread.start()
    mine = Gate(path, 0)
    for _ in range(3):
        mine.meet(soon)
    thread.join()
    with pytest.raises(TimeoutError):
        mine.meet(time.perf_counter() + 0.01)


def test_one_core_is_refused(monkeypatch, capsys):
    monkeypatch.setattr(here_pair, "cores", lambda: [Core(0, 0)])
    assert main(fupermod.REPRODUCTION, ["--here"]) == 2
    assert "two devices need two cores" in capsys.readouterr().err


needs_two = pytest.mark.skipif(len(cores()) < 2, reason="one core: two devices need two")


@pytest.mark.slow
@needs_two
def test_a_lost_process_is_said(monkeypatch):
    monkeypatch.setattr(here_pair, "RIVAL", ("triad", 1000))
    with rivalled_pair(two_cores()) as pair, pytest.raises(ToolError, match="no-such"):
        pair.prepare("no-such", (5, 5), 1)


@needs_two
@pytest.mark.slow
def test_a_short_run_measures_what_it_says(monkeypatch):
    monkeypatch.setattr(here_pair, "RIVAL", ("triad", 100_000))
    programs = [Program("spmv", 2, (100, 1000)), Program("gemm", 1, (4, 16))]
    trials = predicted_and_measured(
        2, programs=programs, iterations=(1e-3,), window=0.02, point=SOON
    )
    assert sorted(t.program for t in trials) == ["gemm", "gemm", "spmv", "spmv"]
    for found in trials:
        assert found.first_units + found.second_units == found.n
        assert min(found.first_units, found.second_units) >= 1
        assert found.predicted_s >= (1 - 1e-9) * found.means_s > 0
        assert min(found.measured_s, found.again_s, found.model_s) > 0
        assert 0 < found.second_share <= 1.05
    assert len(error_rows(trials)) >= 4
