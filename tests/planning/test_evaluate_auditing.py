"""What a plan says of its partition is counted again: whatever was changed is named."""

from dataclasses import fields, replace

import numpy as np
import pytest

import evener as ev
from evener.errors import InputError
from evener.planning.evaluate import misstated, refuse_forged
from tests.assertions import grid


@pytest.fixture(scope="module")
def case():
    graph = grid(9, 10)
    platform = ev.Platform.flat([1.0, 2.0, 3.0])
    return graph, ev.plan(graph, platform, ev.PlanOptions(objective="cut"))


def test_an_honest_plan(case):
    graph, plan = case
    assert misstated(plan, graph) == []
    refuse_forged(plan, graph, "x.plan")


@pytest.mark.parametrize("part", ["certificate", "prediction", "exchange"])
def test_every_array_that_was_changed_is_named(case, part):
    graph, plan = case
    of = getattr(plan.evaluation, part)
    tried = 0
    for field in fields(of):
        values = getattr(of, field.name)
        if not isinstance(values, np.ndarray) or not values.size:
            continue
        changed = values.copy()
        changed[0] = not values[0] if values.dtype.kind == "b" else values[0] + 1
        if field.name == "interior":
            changed[:] = 0.5
        forged = replace(
            plan,
            evaluation=replace(plan.evaluation, **{part: replace(of, **{field.name: changed})}),
        )
        found = misstated(forged, graph)
        assert any(one.startswith(f"{part}.{field.name}[0] is ") for one in found), field.name
        with pytest.raises(InputError, match=r"x\.plan: says of its partition what is not so"):
            refuse_forged(forged, graph, "x.plan")
        tried += 1
    assert tried >= 3


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"edge_cut": 1.0}, "edge_cut is 1, counted "),
        ({"imbalance": 0.25}, "imbalance is 0.25, counted "),
    ],
)
def test_numbers(case, changes, said):
    graph, plan = case
    forged = replace(plan, evaluation=replace(plan.evaluation, **changes))
    assert any(one.startswith(said) for one in misstated(forged, graph))


def test_another_graph_of_as_many_vertices(case):
    _, plan = case
    assert misstated(plan, grid(10, 9))


@pytest.mark.parametrize("words", [["report"], ["export", "--to", "csv"]])
def test_commands_refuse_a_forged_plan(tmp_path, monkeypatch, capsys, case, words):
    from evener.cli import main
    from evener.io.graphs.write import write_graph
    from evener.io.plans.plan import read_plan, write_plan

    monkeypatch.chdir(tmp_path)
    write_graph(tmp_path / "g.graph", case[0])
    assert main(["plan", "g.graph", "--k", "3", "-o", "x.plan", "--quiet"]) == 0
    command, *more = words
    assert main([command, "x.plan", "g.graph", *more, "-o", "out", "--quiet"]) == 0
    plan = read_plan("x.plan")
    volumes = plan.certificate.volumes // 2
    certificate = replace(plan.certificate, volumes=volumes)
    write_plan(
        "x.plan", replace(plan, evaluation=replace(plan.evaluation, certificate=certificate))
    )
    capsys.readouterr()
    assert main([command, "x.plan", "g.graph", *more, "-o", "new"]) == 3
    said = capsys.readouterr().err
    assert f"what is not so: certificate.volumes[0] is {volumes[0]}, counted " in said
    assert not (tmp_path / "new").exists()


def test_a_page_without_a_graph_says_so(tmp_path, monkeypatch, capsys, case):
    from evener.reporting.html import report

    graph, plan = case
    assert "Not recounted: no graph given." in report(plan)
    assert "Not recounted" not in report(plan, graph)
