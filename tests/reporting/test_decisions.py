"""The report of decisions holds what the file holds; the commands read the file by themselves."""

import json
import re

import numpy as np
import pytest

from evener.cli import main
from evener.errors import InputError
from evener.rebalancing.decision_log import read_decisions
from evener.rebalancing.row_rebalancer import RowRebalancer
from evener.reporting.decisions import (
    MAX_POINTS,
    Course,
    course_of,
    draw_course,
    move_rows,
    verdict_of,
    write_decisions,
)
from evener.wording import duration
from tests.reporting.pages import parse


@pytest.fixture
def told(tmp_path):
    """Forty iterations of two ranks; the second becomes half as fast at the twentieth."""
    path = tmp_path / "decisions.jsonl"
    rows = RowRebalancer([60, 60], log=path)
    for i in range(40):
        times = rows.sizes * np.array([1e-3, 2e-3 if i >= 20 else 1e-3])
        if rows.observe([*times[:1], None if i > 28 else times[1]]) is not None:
            rows.moved(0.04)
            rows.moved(0.05)  # replaces it
    rows.close()
    return path


def test_moves_are_foretold_and_obtained(told):
    read = read_decisions(told)
    course, rows = course_of(read), move_rows(read)
    assert len(rows) == len(course.moves) >= 1
    assert course.times.shape == (40, 2)
    assert np.isnan(course.times[-1, 1])
    assert rows[0].kind == "sizes"
    assert rows[0].took == "50.0 ms"
    took = duration(0.05 * len(rows))
    assert f", {took} in total" in verdict_of(read, course)
    assert course.span[course.moves[0] - 1] > course.span[-1]


@pytest.mark.slow
def test_the_page_says_it_and_is_the_same_each_time(told, tmp_path):
    verdict = write_decisions(tmp_path / "a.html", read_decisions(told))
    write_decisions(tmp_path / "b.html", read_decisions(told))
    page = (tmp_path / "a.html").read_bytes()
    assert page == (tmp_path / "b.html").read_bytes()
    root = parse(page.decode())
    (heading,) = root.all("h1")
    assert heading.text.strip() == verdict
    assert "all decisions are identical, to the last bit" in page.decode()
    assert "No recent measurement from: rank1" in page.decode()


def test_the_lines_are_where_the_times_are(told):
    read = read_decisions(told)
    course = course_of(read)
    charts = draw_course(read.names, course)
    chart = charts.times
    assert [line.name for line in chart.lines] == list(read.names)
    assert len({line.kind for line in (*chart.lines, *charts.lost.lines)}) == 4
    points = np.array([float(v) for v in re.findall(r"[\d.]+", chart.lines[0].path)])
    x, y = points.reshape(-1, 2).T
    assert x[0] == chart.left
    assert x[-1] == chart.right
    zero = next(place for place, text in chart.y_ticks if text == "0 s")
    heights = zero - y
    expected = course.times[:, 0] / course.times[0, 0]
    assert heights / heights[0] == pytest.approx(expected, rel=0.01)
    # The second one tells nothing from iteration 29 on.
    assert len(re.findall("[ML]", chart.lines[1].path)) == 29
    assert [x[i] for i in course.moves] == pytest.approx(chart.moves)


def test_long_courses_keep_their_peaks():
    times = np.ones((20_000, 1))
    times[12_345] = 7.0
    zeros = np.zeros(20_000)
    chart = draw_course(["a"], Course(times, times[:, 0], zeros, zeros, [])).times
    assert len(re.findall("[ML]", chart.lines[0].path)) <= MAX_POINTS
    lowest = min(float(y) for y in re.findall(r"[\d.]+ ([\d.]+)", chart.lines[0].path))
    (one,) = [place for place, text in chart.y_ticks if text == "6.00 s"]
    assert lowest < one


def test_a_file_without_decisions_has_a_page(tmp_path):
    path = tmp_path / "d.jsonl"
    rows = RowRebalancer([3, 3], log=path)
    rows.observe([1.0, 1.0])
    rows.close()
    head = path.read_text().splitlines()[0]
    path.write_text(head + "\n")
    assert "nothing was moved" in write_decisions(tmp_path / "a.html", read_decisions(path))


def test_the_commands_know_the_file(told, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["replay", "decisions.jsonl"]) == 0
    assert "Identical: 40 decisions" in capsys.readouterr().out
    assert main(["report", "decisions.jsonl", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["written"] == "decisions.html"
    assert (tmp_path / "decisions.html").exists()
    for words in (["replay", "decisions.jsonl", "g"], ["report", "decisions.jsonl", "g"]):
        assert main(words) == 2
    lines = told.read_text().splitlines()
    row = json.loads(lines[30])
    row["decided"]["regret"] += 1.0
    told.write_text("\n".join([*lines[:30], json.dumps(row), *lines[31:]]) + "\n")
    assert main(["replay", "decisions.jsonl"]) == 5
    assert "line 31: regret" in capsys.readouterr().err
    for broken in ({"decided": {}}, {"choice": 99}):
        told.write_text("\n".join([*lines[:25], json.dumps({**row, **broken}), ""]))
        assert main(["replay", "decisions.jsonl"]) in (3, 5)
        capsys.readouterr()
    told.write_text(lines[0] + "\n" + json.dumps({"took": 1.0}) + "\n")
    assert main(["replay", "decisions.jsonl"]) == 3
    with pytest.raises(InputError):
        read_decisions(tmp_path / "decisions.html")
