"""The page of a stream program's run: its figures are the run's, what it says is of this run."""

import time
from dataclasses import replace

import numpy as np
import pytest

from evener.planning.stream import evaluate_filters
from evener.platforms.platform import Device, Platform
from evener.reporting.stream_run_report import findings, verdict, write_stream_run
from evener.running.streams.executing import StreamWatch, run_stream
from evener.streams.emulating import emulate_stream
from evener.wording import duration
from tests.reporting.pages import parse, table_of
from tests.running.streams.programs import chain

ITERATIONS = 12
CORES = Platform(tuple(Device(f"core{i}", 1.0, capabilities={"mips": 1000.0}) for i in range(2)))


@pytest.fixture(scope="module")
def case():
    """A slow filter behind a quick one, as planned."""

    def slow(x):
        time.sleep(3e-3)
        return x[0]

    program = chain(lambda i: np.full(2, float(i)), slow)
    plan = evaluate_filters(program.costing(np.array([1e-4, 1e-3])), CORES, np.array([0, 1]))
    return program, plan, run_stream(program, plan, ITERATIONS, watch=StreamWatch(trace=True))


def page_of(folder, program, plan, run):
    write_stream_run(folder / "x.html", run, program, plan)
    return parse((folder / "x.html").read_text())


def test_the_page_has_the_figures_of_the_run(case, tmp_path):
    program, _, run = case
    root = page_of(tmp_path, *case)
    assert verdict(run) in root.text
    assert f"longer than predicted ({duration(1e-3)})" in root.text
    headings, rows = table_of(root, "filters-table")
    for row, one in zip(rows, run.filters, strict=True):
        assert (row[0][0], row[1][0]) == (one.name, run.names[one.processor])
        seconds = [float(cell[1]) * ITERATIONS for cell in row[2:4]]
        np.testing.assert_allclose(seconds, [one.seconds, one.cpu])
    assert headings[2:5] == ["an iteration", "on a core", "predicted"]
    assert [row[4][0] for row in rows] == [duration(1e-4), duration(1e-3)]
    _, rows = table_of(root, "channels-table")
    assert [cell[0] for cell in rows[0][:4]] == [
        "f0 \N{RIGHTWARDS ARROW} f1",
        "core0",
        "core1",
        "16 B",
    ]
    full = float(rows[0][7][1]) * ITERATIONS
    assert full == pytest.approx(run.filters[0].no_room)
    assert full > 3e-3
    assert list(
        root.all("rect")
    )  # how many turns the picture has room for depends on other programs
    assert f"f0 waits longest with no room, {duration(full / ITERATIONS)}" in root.text
    assert program.name in root.text


def test_what_takes_long_is_said(case):
    _, plan, run = case
    # What filters took on a core differs on a busy computer.
    took = zip(run.filters, (1e-4, 1.5e-3), strict=True)
    run = replace(run, filters=tuple(replace(one, cpu=ITERATIONS * each) for one, each in took))
    own = np.array([1e-4, 1e-3])
    said = findings(run, plan, own, [])
    assert said[0].startswith("core1 is busiest")
    assert "had a core for" in said[1]
    assert "The filter furthest from the plan is f1" in said[2]
    close = replace(run, predicted=run.period)
    assert len(findings(close, plan, own, [])) == 2


def test_emulated_runs_and_short_ones_have_pages(case, tmp_path):
    program, plan, _ = case
    root = page_of(tmp_path, program, plan, emulate_stream(program, plan, ITERATIONS))
    assert "on an emulated machine" in root.text
    assert "Period 1.00 ms, as predicted." in root.text
    root = page_of(tmp_path, program, plan, emulate_stream(program, plan, 1))
    assert "Too few iterations for a period" in root.text
    assert not list(root.all("rect"))
