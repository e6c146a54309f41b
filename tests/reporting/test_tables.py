"""The short table, the certificate, the bars and the exchange say what the plan says."""

import html
import re
from dataclasses import replace

import numpy as np
import pytest

import evener as ev
from evener.reporting.certificates import COLUMNS, certificate_rows, in_pieces
from evener.reporting.comparisons import row_of
from evener.reporting.exchange_matrix import exchange_matrix
from evener.reporting.html import report, write_comparison
from evener.reporting.networks import draw_network
from evener.reporting.tables import MIXED, OF_PRODUCTS, PLAN_COLUMNS, plan_rows, time_remarks
from evener.wording import duration
from tests.assertions import grid
from tests.reporting.conftest import machine, plan_of, stripes, without_links


def plan_with(k, columns=400, **more):
    graph = grid(3, columns)
    return plan_of(graph, stripes(3, columns, k), machine(k, **more), epsilon=0.5)


def test_a_row_a_device(small_plan):
    plan, _ = small_plan
    columns, rows = plan_rows(plan)
    assert columns == PLAN_COLUMNS
    assert [row[0] for row in rows] == ["dev0", "dev1", "dev2", "dev3"]
    assert [row[1] for row in rows] == ["192", "96", "96", "96"]
    assert all(len(row) == len(columns) for row in rows)


def test_equal_neighbours_share_a_row():
    _, rows = plan_rows(plan_with(40))
    assert len(rows) == 1
    assert rows[0][0] == "dev0 .. dev39 (40)"


def test_of_many_different_devices_the_last_are_shown():
    plan = plan_with(40, speeds=(1.0, 2.0))
    _, rows = plan_rows(plan)
    assert len(rows) == 9
    assert rows[0][0] == plan.platform.names[plan.prediction.bottleneck]
    assert rows[-1][0] == "... and 32 devices that finish earlier"


def test_relative_speeds_give_no_seconds_and_unstated_links_no_exchange():
    plan = plan_with(4, speeds=(1.0, 2.0))
    plan = without_links(plan)
    columns, rows = plan_rows(plan)
    work, talks = float(plan.certificate.weights.sum()), columns.index("exchange")
    ideal = work / plan.platform.speeds.sum()
    assert [row[talks] for row in rows] == ["–"] * 4
    assert [row[-1] for row in rows] == [f"{s / ideal:.2f}x" for s in plan.prediction.ends]
    said = time_remarks(plan.platform, work)
    assert len(said) == 2
    assert "communication is not predicted" in said[0]


@pytest.mark.parametrize(("speeds", "ends"), [((1, 2), "x"), ((1e6, 2e6), "s")])
def test_relative_speeds_never_become_seconds(speeds, ends, tmp_path):
    """The same time in a plan, its evaluation, a comparison, advice, and the plan read again."""
    graph = grid(9, 10)
    plan = ev.plan(graph, list(speeds))
    ev.write_plan(tmp_path / "x.plan", plan)
    again, advice = ev.read_plan(tmp_path / "x.plan"), ev.advise(graph, list(speeds))
    (metis,) = ev.compare(graph, list(speeds), "metis")
    shown = plan, plan.evaluation, plan.prediction, again, again.prediction, metis, advice
    times = re.compile(r"([\d.]+)( ?[mµn]?s|x)\b")
    for text in [repr(one) for one in shown] + [
        e._repr_html_() for e in (again.evaluation, advice)
    ]:
        found = times.findall(re.sub(r"src=\S+", "", text))
        assert found, text
        assert {unit.strip()[-1] for _, unit in found} == {ends}, text
    page = tmp_path / "x.html"
    write_comparison(page, [row_of(metis)], graph, plan.platform, options={}, inputs={})
    assert f"predicted fastest ({plan.prediction.clock(metis.kept.prediction.makespan)})" in (
        page.read_text()
    )


def test_speeds_of_real_devices_give_seconds():
    plan = plan_with(4, speeds=(1e6,))
    for links, remarks in ((plan.platform.levels, 0), ((), 1)):
        platform = replace(plan.platform, levels=links)
        _, rows = plan_rows(replace(plan, platform=platform))
        assert rows[0][-1] == duration(float(plan.prediction.ends[0]))
        assert (rows[0][-2] == "–") == (remarks == 1)
        assert len(time_remarks(platform, 1.0)) == remarks


def test_what_an_iteration_is_where_speeds_are_rows_of_a_product():
    """On the screen and on the page; not where the speeds are the user's own."""
    plan = plan_with(4, speeds=(1e6,))
    assert OF_PRODUCTS not in time_remarks(plan.platform, 1.0)
    assert OF_PRODUCTS not in report(plan)
    described = replace(plan.platform, name="box: guessed rows of spmv a second")
    assert time_remarks(described, 1.0) == [OF_PRODUCTS]
    assert OF_PRODUCTS in html.unescape(report(replace(plan, platform=described)))


def test_slow_devices_beside_real_links_are_questioned():
    for speed, questioned in ((1.0, True), (100.0, True), (101.0, False)):
        assert (time_remarks(machine(2, speeds=(speed,)), 9.0) == [MIXED]) == questioned


def test_the_certificate_has_every_number(small_plan):
    plan, _ = small_plan
    rows = certificate_rows(plan)
    assert all(len(row) == len(COLUMNS) for row in rows)
    by_title = {column.title: [row[i] for row in rows] for i, column in enumerate(COLUMNS)}
    certificate = plan.certificate
    for title, values in {
        "low": certificate.contract.low, "target": certificate.contract.targets,
        "high": certificate.contract.high, "weight": certificate.weights,
        "memory": certificate.bytes, "cap": certificate.contract.caps,
        "vertices": certificate.vertices, "boundary": certificate.boundary,
        "pieces": certificate.components, "neighbours": certificate.neighbours,
        "sends": certificate.volumes, "time": plan.prediction.ends,
    }.items():  # fmt: skip
        assert [cell.value for cell in by_title[title]] == values.tolist()
    assert [cell.text for cell in by_title["holds"]] == ["yes"] * 4


def test_blocks_in_pieces_are_named():
    graph = grid(1, 12)
    plan = plan_of(graph, [0, 1, 0, 1, 1, 0, 2, 2, 2, 2, 0, 1], machine(3), epsilon=0.9)
    assert in_pieces(plan) == "dev0 (4), dev1 (3)"
    said = (
        "In more than one connected piece: dev0 (4), dev1 (3); --connected requests one piece each"
    )
    assert report(plan).index(said) < report(plan).index("</header>")


def test_the_exchange_cell_by_cell(small_plan):
    plan, _ = small_plan
    matrix = exchange_matrix(plan)
    # Stripes of a grid of 12 rows: neighbours send 12 values each way.
    assert {(c.row, c.column, c.text) for c in matrix.cells} == {
        (a, b, "12") for a in range(4) for b in range(4) if abs(a - b) == 1
    }
    assert matrix.n_pairs == 6
    assert matrix.largest[0].size == "96 B"
    assert matrix.pairs == []  # ten at most are all among the largest


@pytest.mark.parametrize(("k", "kind"), [(32, "numbers"), (100, "cells"), (300, "image")])
def test_the_matrix_stays_legible(k, kind):
    matrix = exchange_matrix(plan_with(k))
    assert matrix.n_pairs == 2 * (k - 1)
    assert (matrix.uri is not None) == (kind == "image")
    assert bool(matrix.cells) == (kind != "image")
    assert all(bool(cell.text) == (kind == "numbers") for cell in matrix.cells)
    assert len(matrix.ticks) <= 50
    assert len(matrix.pairs) == 2 * (k - 1)


def test_shades_follow_the_values():
    weights = np.r_[np.ones(3), 40, 900].astype(int)
    graph = grid(900, 6)
    part = np.repeat(np.arange(6), 900).reshape(6, 900).T.ravel()
    plan = plan_of(graph, part, machine(6), epsilon=0.9)
    exchange = plan.evaluation.exchange
    sender, receiver = exchange.sender[:5], exchange.receiver[:5]
    from dataclasses import replace

    changed = replace(exchange, sender=sender, receiver=receiver, values=weights)
    plan = replace(plan, evaluation=replace(plan.evaluation, exchange=changed))
    matrix = exchange_matrix(plan)
    levels = [cell.level for cell in matrix.cells]
    assert levels == [0, 0, 0, 1, 7]
    assert matrix.ranges[0] == "1 to 15"
    assert matrix.ranges[-1].endswith("900")


def test_nothing_is_sent_by_one_block():
    plan = plan_of(grid(3, 3), [0] * 9, machine(1))
    matrix = exchange_matrix(plan)
    assert (matrix.n_pairs, matrix.cells, matrix.ranges) == (0, [], [])
    network = draw_network(plan)
    assert len(network.nodes) == 1
    assert network.lines == []


def test_names_that_would_move_the_cursor_are_shown_as_such():
    plan = plan_of(grid(2, 2), [0, 0, 1, 1], machine(2, names=["a\x1b[2J", "b"]))
    assert plan_rows(plan)[1][0][0] == r"a\x1b[2J"
