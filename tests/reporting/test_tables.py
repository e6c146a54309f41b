"""The short table, the certificate, the bars and the exchange say what the plan says."""

from dataclasses import replace

import numpy as np
import pytest

from evener.durations import duration
from evener.reporting import bars
from evener.reporting.certificates import COLUMNS, certificate_rows, in_pieces
from evener.reporting.matrices import exchange_matrix
from evener.reporting.networks import HEIGHT, WIDTH, draw_network
from evener.reporting.tables import PLAN_COLUMNS, plan_rows, time_remarks
from tests.assertions import grid
from tests.reporting.conftest import machine, plan_of, stripes


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
    plan = replace(plan, platform=replace(plan.platform, levels=()))
    columns, rows = plan_rows(plan)
    work, talks = float(plan.certificate.weights.sum()), columns.index("talks")
    ideal = work / plan.platform.speeds.sum()
    assert [row[talks] for row in rows] == ["–"] * 4
    assert [row[-1] for row in rows] == [f"{s / ideal:.2f}x" for s in plan.prediction.seconds]
    said = time_remarks(plan.platform, work)
    assert len(said) == 2
    assert "communication is not predicted" in said[0]


def test_speeds_of_real_devices_give_seconds():
    plan = plan_with(4, speeds=(1e6,))
    for links, remarks in ((plan.platform.levels, 0), ((), 1)):
        platform = replace(plan.platform, levels=links)
        _, rows = plan_rows(replace(plan, platform=platform))
        assert rows[0][-1] == duration(float(plan.prediction.seconds[0]))
        assert (rows[0][-2] == "–") == (remarks == 1)
        assert len(time_remarks(platform, 1.0)) == remarks


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
        "sends": certificate.volumes, "time": plan.prediction.seconds,
    }.items():  # fmt: skip
        assert [cell.value for cell in by_title[title]] == values.tolist()
    assert [cell.text for cell in by_title["holds"]] == ["yes"] * 4


def test_blocks_in_pieces_are_named():
    graph = grid(1, 12)
    plan = plan_of(graph, [0, 1, 0, 1, 1, 0, 2, 2, 2, 2, 0, 1], machine(3), epsilon=0.9)
    assert in_pieces(plan) == "dev0 (4), dev1 (3)"


def test_bars_are_to_scale(small_plan):
    plan, _ = small_plan
    found = bars.load_bars(plan, np.arange(4))
    weights = plan.certificate.weights
    for b, bar in enumerate(found):
        assert bar.bar / found[0].bar == pytest.approx(weights[b] / weights[0], abs=1e-3)
        assert bar.low <= bar.target <= bar.high <= 100
        assert bar.filled == pytest.approx(100 * plan.certificate.bytes[b] / 1e6, abs=0.01)
        assert bar.cap is None
    times, bound = bars.time_bars(plan, np.arange(4))
    longest = plan.prediction.makespan
    assert [bar.is_last for bar in times].index(True) == plan.prediction.bottleneck
    for b, bar in enumerate(times):
        share = (bar.compute + bar.communicate) / bound
        assert share == pytest.approx(plan.prediction.seconds[b] / plan.prediction.bound, rel=1e-3)
        assert bar.compute + bar.communicate <= 100
    assert bound == pytest.approx(100 / 1.02 * plan.prediction.bound / longest, abs=0.01)


def test_where_in_its_range_a_load_lies():
    plan = plan_of(grid(1, 100), [0] * 55 + [1] * 45, machine(2), epsilon=0.1)
    assert plan.certificate.contract.low.tolist() == [45, 45]
    assert [bar.within for bar in bars.load_bars(plan, np.arange(2))] == [100, 0]


def test_of_many_devices_those_that_press_are_shown():
    plan = plan_with(200, columns=410, speeds=(1.0, 2.0, 3.0))
    chosen = bars.tightest(plan)
    assert chosen.size == bars.MAX_BARS // 2
    broken = np.flatnonzero(~plan.certificate.holds)
    assert broken.size > chosen.size
    assert set(chosen.tolist()) <= set(broken.tolist())
    last = bars.latest(plan)
    assert last[0] == plan.prediction.bottleneck
    assert (np.diff(plan.prediction.seconds[last]) <= 0).all()


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


def assert_network_is_drawn(network, k):
    assert len(network.nodes) == k
    for node in network.nodes:
        assert node.radius <= node.x <= WIDTH - node.radius
        assert node.radius <= node.y <= HEIGHT - node.radius
    for i, a in enumerate(network.nodes):
        for b in network.nodes[:i]:
            assert np.hypot(a.x - b.x, a.y - b.y) > a.radius + b.radius


@pytest.mark.parametrize("k", [2, 5, 24, 96])
def test_discs_of_a_chain_stand_apart(k):
    network = draw_network(plan_with(k, speeds=(4.0, 1.0, 1.0)))
    assert_network_is_drawn(network, k)
    assert sum(path.count("L") for _, path in network.lines) == k - 1


def test_pieces_apart_are_drawn_too():
    graph = grid(1, 40)
    joined = np.delete(np.arange(39), [9, 19, 29])
    from evener.graphs import Graph

    graph = Graph.from_edges(40, joined, joined + 1)
    network = draw_network(plan_of(graph, np.arange(40) // 5, machine(8)))
    assert_network_is_drawn(network, 8)
    assert sum(path.count("L") for _, path in network.lines) == 4


def test_names_that_would_move_the_cursor_are_shown_as_such():
    plan = plan_of(grid(2, 2), [0, 0, 1, 1], machine(2, names=["a\x1b[2J", "b"]))
    assert plan_rows(plan)[1][0][0] == repr("a\x1b[2J")
