"""What the fuzzer found, each once: refused as bad input, or used without a bug."""

import json

import numpy as np
import pytest

from evener.errors import InputError
from evener.graphs.graph import Graph
from evener.io import read_graph
from evener.io.machines.surfaces import read_surfaces
from evener.io.plans.plan import read_plan, write_plan
from evener.measuring.journal import Journal
from evener.measuring.traces import read_paraver, read_traces
from evener.platforms.platform import Device
from evener.rebalancing.decision_log import read_decisions
from evener.sizing.tiling.cuts import best_cuts
from tests.io.plan_samples import npy, repacked, small_plan, with_manifest


@pytest.fixture(scope="module")
def plan_file(tmp_path_factory):
    file = tmp_path_factory.mktemp("plan") / "a.plan"
    write_plan(file, small_plan())
    return file


@pytest.mark.parametrize(
    "content", ["device,load,seconds\na\rb,1,1\n", "device,load,seconds\n" + "x" * 200_000]
)
def test_traces_that_are_no_csv(tmp_path, content):
    (tmp_path / "t.csv").write_text(content, newline="")
    with pytest.raises(InputError, match=r"t\.csv:\d+: is not CSV"):
        read_traces([tmp_path / "t.csv"])


def test_a_trace_of_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr("evener.measuring.traces.LONGEST_LINE", 100)
    (tmp_path / "t.prv").write_text("#Paraver\n" + "1:" * 200 + "\n")
    with pytest.raises(InputError, match="a line is too long"):
        read_paraver(tmp_path / "t.prv")


def test_a_number_that_no_float_holds(tmp_path):
    text = f'[[surface]]\nname = "a"\nheights = [1, {10**400}]\nwidths = [1]\nspeeds = [[1], [1]]\n'
    (tmp_path / "s.toml").write_text(text)
    with pytest.raises(InputError, match="heights"):
        read_surfaces(tmp_path / "s.toml")


HUGE = '{"settings": {}}\n{"device": "a", "point": {"sample": {"load": 1e999}}}'


@pytest.mark.parametrize("head", ['{"settings": [1]}', '{"settings": true}', "[" * 9000, HUGE])
def test_journals_of_nothing(tmp_path, head):
    (tmp_path / "j").write_text(f"{head}\n")
    with pytest.raises(InputError, match="journal"):
        Journal(tmp_path / "j", {"kernel": "spmv"})


def test_shares_too_small_for_a_box():
    areas = np.array([1e308, 1e-300, 1.0, 5.0])
    cuts, value = best_cuts(areas, (64, 64), np.arange(4))
    assert np.isfinite(value)
    assert cuts


def test_coordinates_whose_squares_are_none(tmp_path):
    (tmp_path / "g.graph").write_text("2 1\n2\n1\n")
    (tmp_path / "g.xyz").write_text("0 0\n1e200 1\n")
    with pytest.raises(InputError, match=r"exceed 1e\+100"):
        read_graph(tmp_path / "g.graph")
    assert Graph([0, 1, 2], [1, 0], coords=[[-1e100, 0], [1e100, 0]]).n == 2


def test_plans_that_send_less_than_nothing(plan_file, tmp_path):
    count = read_plan(plan_file).evaluation.exchange.values.size
    repacked(plan_file, tmp_path / "x.plan", {"values.npy": npy(np.full(count, -1))})
    with pytest.raises(InputError, match="a negative number of values"):
        read_plan(tmp_path / "x.plan")


@pytest.mark.parametrize("options", [{"reading": [1]}, {"workload": 7}, {"workload": {"name": 3}}])
def test_plans_with_invalid_options(plan_file, tmp_path, options):
    with_manifest(plan_file, tmp_path / "x.plan", lambda data: data["options"].update(options))
    with pytest.raises(
        InputError, match=r"reading options that are not a table|has an invalid workload"
    ):
        read_plan(tmp_path / "x.plan")


def test_plans_with_half_a_character(plan_file, tmp_path):
    with_manifest(plan_file, tmp_path / "x.plan", lambda data: data["notes"].append("\ud800"))
    with pytest.raises(InputError, match="an unpaired surrogate"):
        read_plan(tmp_path / "x.plan")
    with pytest.raises(InputError, match="UTF-8"):
        Device("a\ud800", 1.0)


def test_decisions_with_half_a_character(tmp_path):
    (tmp_path / "d.jsonl").write_text(json.dumps({"decisions": 1, "names": ["\ud800"]}) + "\n")
    with pytest.raises(InputError, match="an unpaired surrogate"):
        read_decisions(tmp_path / "d.jsonl")
