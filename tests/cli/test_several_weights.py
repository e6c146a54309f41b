"""Several weights a vertex through the commands: plan, evaluate, compare, replay, report."""

import json

import numpy as np
import pytest

from evener.io import read, write_graph
from evener.io.plans.plan import read_plan, write_plan
from evener.plans.plan import Certificate
from evener.reporting.certificates import COLUMNS, certificate_columns, certificate_rows
from evener.reporting.tables import PLAN_COLUMNS, plan_rows
from tests.assertions import grid


@pytest.fixture
def several(tmp_path):
    graph = grid(20, 20)
    weights = np.stack([np.ones(400, int), 1 + np.arange(400) % 3], axis=1)
    path = tmp_path / "several.graph"
    write_graph(path, graph.with_(vwgt=weights))
    return path


@pytest.fixture
def machine(tmp_path):
    path = tmp_path / "machine.toml"
    path.write_text(
        '[[device]]\nname = "fast"\nspeed = 3\nmemory_GiB = 1\n'
        '[[device]]\nname = "roomy"\nspeed = 2\nmemory_GiB = 2\n'
    )
    return path


def test_plan_evaluate_replay(evener, several, machine, tmp_path):
    plan, page = tmp_path / "a.plan", tmp_path / "a.html"
    options = ("--machine", machine, "--epsilon", 0.05)
    code, out, _ = evener("plan", several, *options, "-o", plan, "--report", page)
    assert code == 0
    assert "2 weights per vertex, divided by speed, speed (see --constraints)" in out
    assert "off 1" in out
    certificate = read_plan(plan).certificate
    assert certificate.all_hold
    assert np.allclose(certificate.contract.further[0].targets, [0.6 * 799, 0.4 * 799])
    assert certificate.further.sum() == 799
    assert "off target 1" in page.read_text()
    code, out, _ = evener("evaluate", several, plan, *options)
    assert "weight 1: smallest / target" in out
    assert evener("replay", plan, several)[0] == 0
    _, out, _ = evener("evaluate", several, plan, *options, "--json")
    block = json.loads(out)["blocks"][0]["further"][0]
    assert block["low"] < block["weight"] < block["high"]
    assert block["shared_by"] == "speed"


def test_by_memory(evener, several, machine, tmp_path):
    """Weights that go together cannot be shared apart; a wide epsilon makes room for both."""
    plan = tmp_path / "a.plan"
    options = ("--machine", machine, "--constraints", "speed,memory", "-o", plan)
    code, _, err = evener("plan", several, *options)
    assert code == 4
    assert "found no partition" in err or "same vertices have both weights" in err
    assert evener("plan", several, *options, "--epsilon", 0.2)[0] == 0
    kept = read_plan(plan)
    assert np.allclose(kept.certificate.contract.further[0].targets, [799 / 3, 1598 / 3])
    assert kept.options["shares"] == "speed,memory"
    assert evener("replay", plan, several)[0] == 0


def test_wrong_shares(evener, several, machine):
    code, _, err = evener("plan", several, "--machine", machine, "--constraints", "speed")
    assert code == 2
    assert "1 shares (speed) for 2 weights per vertex" in err
    code, _, err = evener("plan", several, "--machine", machine, "--connected")
    assert code == 2
    assert "--constraint I selects one weight" in err


def test_compare_shows_those_that_can(evener, several, machine):
    code, out, _ = evener("compare", several, "--machine", machine, "--json")
    assert code == 0
    tools = {row["tool"]: row for row in json.loads(out)["tools"]}
    assert "evener" in tools
    assert not {"scotch", "rcb", "hilbert"} & set(tools)
    assert all(row["holds"] for row in tools.values())
    assert tools["evener"]["held_before"]


def test_columns_follow_the_weights(evener, several, machine, tmp_path):
    evener("plan", several, "--machine", machine, "-o", tmp_path / "a.plan")
    plan = read_plan(tmp_path / "a.plan")
    columns = certificate_columns(plan)
    assert len(columns) == len(COLUMNS) + 5
    assert all(len(row) == len(columns) for row in certificate_rows(plan))
    header, rows = plan_rows(plan)
    assert header == [*PLAN_COLUMNS[:4], "off 1", *PLAN_COLUMNS[4:]]
    assert all(len(row) == len(header) for row in rows)
    write_plan(tmp_path / "b.plan", plan)
    assert (tmp_path / "a.plan").read_bytes() == (tmp_path / "b.plan").read_bytes()


def test_one_of_the_weights_alone(evener, several, machine, tmp_path):
    plan = tmp_path / "a.plan"
    assert evener("plan", several, "--machine", machine, "--constraint", 1, "-o", plan)[0] == 0
    assert read_plan(plan).certificate.contract.further == ()
    assert read(several, constraint=1).graph.n_constraints == 1
    assert isinstance(read_plan(plan).certificate, Certificate)
