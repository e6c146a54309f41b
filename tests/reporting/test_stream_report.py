"""The page of a stream plan: its figures, charts against counting, forged plans, many devices."""

from dataclasses import replace

import numpy as np
import pytest

from evener.errors import InputError
from evener.graphs.stream_graph import StreamGraph
from evener.planning.stream import MapOptions, map_filters, problem_of
from evener.reporting.stream_report import write_stream_report
from evener.wording import duration
from tests.reporting.pages import parse, table_of
from tests.streams.twins import slow_loads, small_case


def page_of(plan, folder):
    write_stream_report(folder / "x.html", plan)
    return (folder / "x.html").read_text()


@pytest.fixture(scope="module")
def plan():
    problem = small_case(5, n=9, k=4)
    return map_filters(
        problem.graph, problem.processors.platform, MapOptions("greedy"), notes=("odd <thing>",)
    )


def test_the_page_has_the_figures(plan, tmp_path):
    page = page_of(plan, tmp_path)
    root = parse(page)
    for text in (plan.verdict(), duration(plan.period), duration(plan.bound), "odd <thing>",
                 "placed by greedy", "What limits it"):  # fmt: skip
        assert text in root.text, text
    assert page == page_of(plan, tmp_path)
    loads = slow_loads(problem_of(plan), plan.part)
    headings, rows = table_of(root, "devices-table")
    assert [row[0][0] for row in rows] == list(plan.platform.names)
    seconds = np.array([[float(cell[1]) for cell in row[2:5]] for row in rows])
    np.testing.assert_allclose(seconds, np.column_stack([loads, loads.sum(axis=1)]))
    headings, rows = table_of(root, "filters-table")
    assert headings[:3] == ["filter", "device", "takes"]
    assert [(row[0][0], row[1][0]) for row in rows] == [
        (name, plan.platform.names[p]) for name, p in zip(plan.names, plan.part, strict=True)
    ]
    taken = np.bincount(plan.part, [float(row[2][1]) for row in rows], plan.platform.k)
    np.testing.assert_allclose(taken, loads[:, 0])


def test_a_plan_that_says_another_period_has_no_page(plan, tmp_path):
    with pytest.raises(InputError, match="states a period of"):
        write_stream_report(tmp_path / "x.html", replace(plan, period=plan.period / 2))
    assert not (tmp_path / "x.html").exists()


def test_many_devices_have_bars_for_some_and_rows_for_all(tmp_path):
    machine = small_case(1, n=2, k=40).processors.platform
    ends = np.arange(699)
    graph = StreamGraph(
        tuple(map(str, range(700))), ends[[0] * 700] + 9, np.ones(700), ends, ends + 1, ends
    )
    plan = map_filters(graph, machine, MapOptions("round-robin"))
    page = page_of(plan, tmp_path)
    root = parse(page)
    assert page.count('class="communicate"') == 24
    assert "too many to draw" in root.text
    assert len(list(root.all("circle"))) == 40  # devices as discs in place of filters
    assert len(table_of(root, "devices-table")[1]) == 40
    assert len(table_of(root, "filters-table")[1]) == 700
