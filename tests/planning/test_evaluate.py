"""Partitions are judged independently of who made them; what plans misstate is named."""

from dataclasses import fields, replace

import numpy as np
import pytest

import evener as ev
from evener.errors import InputError
from evener.planning.evaluate import evaluate, misstated, refuse_forged
from evener.planning.in_memory import describe
from evener.plans.partition import Contract, Partition
from evener.plans.plan import arcs_remark
from evener.platforms.platform import Platform
from evener.sizing.contracts import contract_for
from tests.assertions import grid, path, printed_by


def judged(part, k=2, **limits):
    graph = path(len(part))
    fields = {"targets": np.full(k, len(part) / k), "low": np.ones(k), "high": np.full(k, 99.0)}
    return evaluate(graph, Partition(part, k), Platform.flat([1] * k), Contract(**fields | limits))


@pytest.mark.parametrize(
    ("degrees", "workload", "said"),
    [
        ([0, 9], "weights", "dev0 has 0 arcs per vertex, dev1 9: "),
        ([4, 9], "weights", "dev0 has 4 arcs per vertex, dev1 9: "),
        ([5, 9], "weights", ""),  # less than twice as many
        ([0, 9], "pagerank", ""),  # the workload states what an arc costs
        ([0, 9], "own weights", ""),
    ],
)
def test_blocks_of_unlike_degrees_are_mentioned(degrees, workload, said):
    """Two cliques, or vertices alone, on two equal devices: what computing by arcs would take."""
    sizes = [10 if d == 0 else d + 1 for d in degrees]
    edges = [
        (first + u, first + v)
        for first, size, d in zip((0, sizes[0]), sizes, degrees, strict=True)
        for u in range(size)
        for v in range(u * (d > 0))
    ]
    graph = ev.Graph.from_edges(sum(sizes), *np.array(edges).T)
    if workload == "own weights":
        graph, workload = replace(graph, vwgt=np.arange(1, graph.n + 1)), "weights"
    part, kernel = np.repeat([0, 1], sizes), ev.find_workload(workload)
    platform = Platform.flat([1, 1])
    made = evaluate(graph, Partition(part, 2), platform, workload=kernel)
    remark = arcs_remark(made, platform, kernel, describe(graph))
    if not said:
        assert remark == ""
        return
    arcs = np.array(sizes) * degrees
    times = arcs.max() / sizes[arcs.argmax()] / (arcs.sum() / sum(sizes))
    assert remark.startswith(said)
    assert f"takes {times:.2f} times as long; --weights degree or --kernel pagerank" in remark


@pytest.mark.parametrize(
    ("part", "limits", "holds"),
    [
        ([0, 0, 1, 1], {}, [True, True]),
        ([0, 0, 0, 0], {}, [True, False]),
        ([0, 0, 0, 0], {"low": [0, 0]}, [True, False]),  # nothing is asked, but empty
        ([0, 0, 0, 1], {"high": [2, 9]}, [False, True]),
        ([0, 1, 1, 1], {"low": [2, 1]}, [False, True]),
        # Ends cost 24 + 12 bytes, the others 24 + 2 x 12.
        ([0, 0, 1, 1], {"caps": [84, 83.9]}, [True, False]),
    ],
)
def test_each_clause_of_the_contract(part, limits, holds):
    assert judged(part, **limits).certificate.holds.tolist() == holds
    assert judged(part, **limits).certificate.all_hold == all(holds)


def test_a_broken_partition_is_judged_all_the_same():
    graph, platform = grid(6, 6), Platform.flat([1, 2, 3])
    contract, _ = contract_for(graph, platform)
    found = evaluate(graph, Partition(np.arange(36) % 2, 3), platform, contract)
    assert not found.certificate.all_hold
    assert found.certificate.components.tolist() == [3, 3, 0]
    assert found.certificate.vertices.tolist() == [18, 18, 0]
    assert found.imbalance == pytest.approx(2.0)
    assert found.prediction.compute.tolist() == [18, 9, 0]


def test_pieces_of_a_striped_grid():
    graph, platform = grid(4, 6), Platform.flat([1, 1])
    contract, _ = contract_for(graph, platform)
    found = evaluate(graph, Partition(np.tile([0, 1], 12), 2), platform, contract)
    assert found.certificate.components.tolist() == [3, 3]
    assert found.edge_cut == 4 * 5
    assert found.certificate.boundary.tolist() == [12, 12]
    assert found.total_volume == 24
    assert found.max_volume == 12


@pytest.mark.parametrize("speed", [1e-308, 5e-324])
def test_seconds_beyond_all_numbers(speed):
    graph, platform = path(3, vwgt=[1e12, 1, 1]), Platform.flat([1, speed])
    contract = Contract([1.0, 1.0], [0.0, 0.0], [1e13, 1e13])
    with pytest.raises(InputError, match="'dev1' takes too long"):
        evaluate(graph, Partition([1, 1, 0], 2), platform, contract)


def test_the_judge_shares_no_code_with_the_partitioners():
    code = (
        "import evener.planning.evaluate, sys; "
        "print([m for m in sys.modules if m.startswith('evener.partitioning')])"
    )
    assert printed_by(code) == "[]\n"


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
        with pytest.raises(InputError, match=r"x\.plan: stored figures do not match the graph"):
            refuse_forged(forged, graph, "x.plan")
        tried += 1
    assert tried >= 3


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"edge_cut": 1.0}, "edge_cut is 1, but the count is "),
        ({"imbalance": 0.25}, "imbalance is 0.25, but the count is "),
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
    from evener.io.plans.plan import read_plan, write_plan
    from evener.io.write import write_graph

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
    assert f"match the graph: certificate.volumes[0] is {volumes[0]}, but the count is " in said
    assert not (tmp_path / "new").exists()


def test_a_page_without_a_graph_says_so(tmp_path, monkeypatch, capsys, case):
    from evener.reporting.html import report

    graph, plan = case
    assert "They are not recounted, because no graph is given." in report(plan)
    assert "not recounted" not in report(plan, graph)
