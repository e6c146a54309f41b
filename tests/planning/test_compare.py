"""Tools side by side: one contract for all, CPU time of each, failures told and not fatal."""

from dataclasses import replace

import numpy as np
import pytest

import evener as ev
from evener.errors import InfeasibleError
from evener.partitioning import tools
from evener.partitioning.external.children import Outcome
from evener.planning.compare import available_tools, compare, own_cpu_seconds, rival_of
from evener.planning.evaluate import stage_of
from evener.planning.in_memory import plan
from evener.planning.options import PlanOptions
from evener.platforms.examples import topo1
from evener.platforms.platform import Platform
from evener.sizing.contracts import contract_for
from tests.assertions import grid, path

PLATFORM = Platform.flat([1, 1, 4])


def fake(monkeypatch, run, name="fake"):
    tool = tools.TOOLS["rcb"]
    changed = {field: getattr(tool, field) for field in tool.__dataclass_fields__}
    changed |= {"name": name, "run": run, "needs_coordinates": False}
    monkeypatch.setitem(tools.TOOLS, name, tools.Tool(**changed))


def test_same_targets_and_contract_for_all(monkeypatch):
    graph = grid(16, 16)
    asked = []

    def run(graph, request):
        asked.append(request.targets)
        return Outcome(np.zeros(graph.n, np.int32), 1.25, "fake 1")

    fake(monkeypatch, run)
    results = ev.compare(graph, PLATFORM, ["rcb", "fake", "metis"], ev.PlanOptions())
    assert [result.tool for result in results] == ["rcb", "fake", "metis"]
    contract, _ = contract_for(graph, PLATFORM)
    assert asked[0].tolist() == contract.targets.tolist()
    for result in results:
        assert result.kept.certificate.all_hold
        for name in ("targets", "low", "high", "caps"):
            mine = getattr(result.kept.certificate.contract, name)
            assert mine.tolist() == getattr(contract, name).tolist()
        assert result.note == ""
        assert result.cpu_seconds > 0 or result.tool == "rcb"
    assert results[1].cpu_seconds == 1.25
    assert not results[1].raw.certificate.all_hold
    assert results[1].moved >= 256 // 3 - 5
    assert results[0].raw.certificate.all_hold
    assert results[0].moved == 0


def test_a_failing_tool_is_told_and_not_fatal(monkeypatch):
    def nonsense(graph, request):
        return Outcome(np.full(graph.n, 7), 0.1, "fake 1")

    fake(monkeypatch, nonsense)
    results = ev.compare(path(30), PLATFORM, ["rcb", "fake", "metis"], ev.PlanOptions())
    assert "needs coordinates" in results[0].note
    assert results[0].raw is results[0].kept is None
    assert "fake returned block numbers 7 to 7 for 3 blocks" in results[1].note
    assert results[2].kept.certificate.all_hold


def test_no_contract_found_keeps_the_raw_result():
    graph = path(6, vwgt=[10, 10, 10, 10, 10, 1])
    options = ev.PlanOptions(epsilon=0.0)
    (result,) = ev.compare(graph, Platform.flat([1, 1]), ["metis"], options)
    assert result.raw is not None
    assert result.kept is None
    assert result.note


def test_infeasible_for_all_is_an_error():
    with pytest.raises(InfeasibleError):
        ev.compare(path(2), PLATFORM, ["metis"], ev.PlanOptions())


def test_tools_that_can():
    assert "rcb" in available_tools(grid(3, 3), PLATFORM)
    assert "rcb" not in available_tools(path(3), PLATFORM)
    assert "metis" in available_tools(path(3), PLATFORM)
    assert "hierarchical" not in available_tools(path(3), PLATFORM)
    assert "hierarchical" in available_tools(path(3), topo1(48, 2, 4, links=True))


def test_progress_names_the_tools():
    told = []
    ev.compare(grid(8, 8), PLATFORM, ["rcb", "rib"], ev.PlanOptions(),
               progress=lambda *step: told.append(step))  # fmt: skip
    assert told == [("rcb", 0.0), ("rib", 0.5)]


def test_a_rival_gets_the_same_contract():
    graph, platform = grid(12, 12), Platform.flat([2.0, 1.0])
    rival = rival_of(graph, platform, "rcb", PlanOptions(objective="max_volume"))
    (row,) = compare(graph, platform, ["rcb"], PlanOptions())
    assert rival.stages[0] == stage_of("before repair", row.raw)
    assert rival.seconds == row.kept.prediction.makespan
    assert rival.note == "rcb minimises cut, not max_volume"


def test_a_rival_that_cannot_says_why():
    graph = grid(12, 12).with_(coords=None)
    rival = rival_of(graph, Platform.flat([2.0, 1.0]), "rcb", PlanOptions())
    assert rival.stages == ()
    assert "needs coordinates" in rival.note


def test_own_time_is_taken_again_without_loading_kernels():
    graph, platform = grid(12, 12), Platform.flat([2.0, 1.0])
    made = plan(graph, platform, PlanOptions(tool="rcb"))
    assert own_cpu_seconds(graph, platform, made, PlanOptions()) >= 0
    long = replace(made, cpu_seconds=1000.0)
    assert own_cpu_seconds(graph, platform, long, PlanOptions()) == 1000.0
    assert own_cpu_seconds(graph, platform, replace(made, cpu_seconds=None), PlanOptions()) is None
