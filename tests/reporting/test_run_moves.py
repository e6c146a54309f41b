"""What the page of a run says of its rebalancings."""

from dataclasses import replace

from evener.reporting.runs import advice_of, move_rows, move_spans, write_run
from evener.running.engine.recording import VertexMove
from tests.reporting.pages import parse
from tests.reporting.test_runs import made

MOVE = VertexMove(1, "diffused", 1234, began=4e-3, seconds=2e-3, saving=5e-4, cost=1e-3)


def test_a_row_for_each_move():
    _, run, _ = made()
    assert move_rows(run) == []
    (row,) = move_rows(replace(run, moves=(MOVE,)))
    assert (row.after, row.vertices, row.seconds, row.predicted) == (
        "1", "1,234", "2.00 ms", "500 µs",
    )  # fmt: skip
    assert row.before == row.then


def test_supersteps_that_became_slower_are_said_to_have():
    _, run, _ = made()
    slower = replace(run.steps[0][1], spans=[("computing", 8e-3, 7e-3)])
    steps = ((run.steps[0][0], slower), *run.steps[1:])
    (row,) = move_rows(replace(run, steps=steps, moves=(MOVE,)))
    assert row.then == "7.00 ms"
    assert row.saving.startswith("-2.99")


def test_the_page_has_them_in_the_timeline_and_a_table(tmp_path):
    plan, run, breakdown = made()
    moved, advice = replace(run, moves=(MOVE,)), advice_of(breakdown, plan.platform.names, {})
    write_run(tmp_path / "p.html", moved, plan.platform, breakdown, advice, "pagerank")
    root = parse((tmp_path / "p.html").read_text())
    (mark,) = [one for one in root.all("rect") if one.attributes.get("class") == "moving"]
    ((x, width, text),) = move_spans(moved, 96.0, 1000.0)
    assert (x, width) == (100.0, 2.0)
    assert "1,234 vertices changed device in 2.00 ms" in text
    assert float(mark.attributes["width"]) > 1
    assert "Rebalancings" in [one.text for one in root.all("h2")]
    assert "Since vertices last changed device: 1 superstep." in root.text
