"""The page of an edge plan: its figures, charts of copies against counting, many devices."""

import re
from dataclasses import replace

import numpy as np
import pytest

from evener.graphs.edge_list import EdgeList
from evener.graphs.generating.random_graphs import barabasi_albert
from evener.planning.split import split
from evener.reporting.edge_report import copies_charts, edge_report, write_edge_report

EDGES = EdgeList.of_graph(barabasi_albert(300, 1, 3))


@pytest.fixture(scope="module")
def plan():
    return split(EDGES, [1, 2, 3], preset="fast", notes=("odd <thing>",))


def test_the_page_has_the_figures(plan, tmp_path):
    page = edge_report(plan, EDGES)
    metrics = plan.metrics
    for text in (plan.verdict(), f"{metrics.copies:,}", f"{metrics.replication:.3f}", "dev2",
                 "odd &lt;thing&gt;", "Copied vertices", "all vertices"):  # fmt: skip
        assert text in re.sub("\N{NO-BREAK SPACE}", " ", page), text
    write_edge_report(tmp_path / "x.html", plan, EDGES)
    assert (tmp_path / "x.html").read_text() == page
    assert "Copied vertices" not in edge_report(plan)
    assert "blocks by" not in edge_report(replace(plan, options={}))  # of another tool's blocks


def test_copies_are_counted(plan):
    charts = copies_charts(EDGES, plan)
    part, at = plan.partition.part, [set() for _ in range(EDGES.n)]
    for u, v, b in zip(EDGES.tails, EDGES.heads, part, strict=True):
        at[u].add(b)
        at[v].add(b)
    counts = np.array([len(blocks) for blocks in at])
    assert [int(bar.text.replace(",", "")) for bar in charts.blocks] == [
        int((counts == 1).sum()), int((counts == 2).sum()), int((counts > 2).sum())
    ]  # fmt: skip
    few = counts[(EDGES.degrees > 2) & (EDGES.degrees <= 4)]
    assert {bar.name: bar.text for bar in charts.degrees}["3 to 4"] == f"{few.mean():.2f}"
    assert max(bar.bar for bar in charts.degrees) == 100


def test_many_devices_have_bars_for_some_and_rows_for_all():
    page = edge_report(split(EDGES, 60, preset="fast"))
    assert page.count('class="off"') == 24
    assert page.count('<th scope="row">dev') >= 60
    assert "farthest from their targets" in page
