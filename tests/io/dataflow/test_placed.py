"""Filters with their devices in files of other programs; the commands' tests read them back."""

import json

import numpy as np
import pytest

from evener.errors import UsageError
from evener.io.dataflow.placed import write_placed
from evener.planning.stream import evaluate_filters
from tests.streams.twins import small_case


def test_files_name_filters_and_devices(tmp_path):
    problem = small_case(2, n=3, k=2)
    plan = evaluate_filters(problem.graph, problem.processors.platform, np.array([1, 0, 1]))
    write_placed(tmp_path / "x.csv", plan, "csv")
    assert (tmp_path / "x.csv").read_text() == "filter,block,device\nf0,1,p1\nf1,0,p0\nf2,1,p1\n"
    write_placed(tmp_path / "x.json", plan, "json")
    content = json.loads((tmp_path / "x.json").read_text())
    assert (content["part"], content["devices"]) == ([1, 0, 1], ["p0", "p1"])
    assert content["period"] == plan.period
    write_placed(tmp_path / "x.dot", plan, "dot")
    assert "fillcolor" not in (tmp_path / "x.dot").read_text()
    write_placed(tmp_path / "x.dot", plan, "dot", ["#111111", "#222222"])
    assert (tmp_path / "x.dot").read_text().count(
        'device="p1" style=filled fillcolor="#222222"'
    ) == 2
    with pytest.raises(UsageError, match="filters cannot be exported"):
        write_placed(tmp_path / "x", plan, "vtu")
