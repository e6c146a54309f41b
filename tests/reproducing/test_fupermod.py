"""The thesis's statements hold on the emulated machines, and all of it is written whole."""

import json

import numpy as np
import pytest

from evener.cli import main
from evener.generating.speed_curves import curve_set
from evener.reproducing.fupermod import EXPERIMENTS
from evener.reproducing.fupermod_balancing import converged_after, played, traditional
from tests.choosing import slow_but


def test_the_traditional_balancer_by_hand_never_ends_on_cluster_2():
    models = [curve.model for curve in curve_set("cluster2")]
    seconds, sizes = played(models, 11000, traditional, 30)
    assert (sizes.sum(axis=1) == 11000).all()
    assert converged_after(seconds, sizes) is None
    # To and fro: what P1 has one iteration it has again two later.
    assert sizes[-1, 0] == pytest.approx(sizes[-3, 0], rel=0.01)
    assert abs(sizes[-1, 0] - sizes[-2, 0]) > 1000


def test_convergence_is_when_sizes_stay():
    sizes = np.array([[5, 5], [7, 3], [7, 3], [6, 4], [6, 4], [6, 4], [6, 4]])
    assert converged_after(sizes, sizes) == 4
    assert converged_after(sizes[:5], sizes[:5]) is None
    assert converged_after(sizes[:1].repeat(9, axis=0), sizes[:1].repeat(9, axis=0)) == 1


@pytest.mark.parametrize("name", slow_but(EXPERIMENTS))
def test_statements_hold(name):
    result = EXPERIMENTS[name](True)
    assert [finding.paper for finding in result.findings if not finding.holds] == []
    for plot in result.plots:
        for panel in plot.panels:
            assert all(len(values) == len(panel.x) for values in panel.lines.values())


@pytest.mark.slow
def test_the_command_writes_everything(tmp_path, capsys):
    folder = tmp_path / "fupermod"
    assert main(["reproduce", "fupermod", "--fast", "-o", str(folder), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert sorted(path.name for path in folder.iterdir()) == sorted(found["written"])
    assert all((folder / name).stat().st_size > 100 for name in found["written"])
    rows = [json.loads(line) for line in (folder / "numbers.jsonl").read_text().splitlines()]
    assert {row["table"] for row in rows} == {"findings", *found["tables"]}
    assert main(["reproduce", "fupermod", "--fast", "-o", str(folder / "no" / "such")]) == 3
