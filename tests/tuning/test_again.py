"""Plans at the speeds that a program measured by itself."""

from types import SimpleNamespace

import numpy as np
import pytest

import evener as ev
from evener.cli import main
from evener.errors import InputError
from evener.platforms.models.samples import DeviceSpeeds, Sample
from evener.tuning.again import speeds_of_blocks
from evener.tuning.measured import joined
from tests.assertions import grid

COSTS = np.array([2e-4, 2e-4, 6e-4])  # seconds a unit


def test_blocks_follow_the_measured_speeds():
    graph = grid(20, 30)
    plan = ev.plan(graph, 3)
    new = ev.tuned(plan, plan.certificate.weights * COSTS, graph)
    np.testing.assert_allclose(new.certificate.weights, [257, 257, 86], rtol=0.02)
    assert {key: new.options[key] for key in plan.options} == plan.options | {"epsilon": 0.01}
    names = [device.name for device in plan.platform.devices]
    samples = [
        DeviceSpeeds(name, (Sample(speed, 1.0),))
        for name, speed in zip(names, [300.0, 100.0, 100.0], strict=True)
    ]
    slow = ev.tuned(plan, samples, graph)
    np.testing.assert_allclose(slow.certificate.weights, [360, 120, 120], rtol=0.02)


def test_blocks_that_cannot_be_as_even():
    """Vertices of 20 of 100 units allow no tolerance of 1 %."""
    graph = grid(1, 10, vwgt=np.full(10, 20.0))
    plan = ev.plan(graph, 2, epsilon=0.15)
    new = ev.tuned(plan, [1.0, 1.2], graph)
    assert new.options["epsilon"] == 0.15
    assert any("No blocks within 1%" in note for note in new.notes)


def test_a_tuned_plan_can_be_repeated(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["generate", "triangles", "--n", "900", "-o", "m.su2", "--quiet"]) == 0
    plan = ev.plan("m.su2", 3)
    new = ev.tuned(plan, plan.certificate.weights * COSTS, "m.su2")
    assert new.inputs == plan.inputs
    ev.write_plan("new.plan", new)
    assert main(["replay", "new.plan", "m.su2"]) == 0


def test_a_device_without_a_block():
    """It keeps its stated speed relative to the others."""
    units = np.array([40.0, 0.0, 60.0])
    plan = SimpleNamespace(
        certificate=SimpleNamespace(weights=units), platform=ev.Platform.flat([10.0, 5.0, 10.0])
    )
    samples = speeds_of_blocks(plan, units / 2e4)
    assert [one.samples[0].speed for one in samples] == pytest.approx([2e4, 1e4, 2e4])
    assert [len(one.samples) for one in joined(samples, samples)] == [1, 1, 1]


@pytest.mark.parametrize(
    ("seconds", "rows", "reason"),
    [
        ([1.0, 1.0], 10, "there are 2 times, and the plan has 3 devices"),
        ([1.0, 0.0, 1.0], 10, "needs its seconds per iteration, above zero"),
        ([1.0, np.nan, 1.0], 10, "needs its seconds per iteration, above zero"),
        ([1.0, 1.0, 1.0], 11, "110 vertices"),
    ],
)
def test_what_does_not_belong_to_the_plan(seconds, rows, reason):
    plan = ev.plan(grid(10, 10), 3)
    with pytest.raises(InputError, match=reason):
        ev.tuned(plan, seconds, grid(rows, 10))


def test_other_weights_than_the_plans():
    plan = ev.plan(grid(10, 10), 3)
    with pytest.raises(InputError, match="weights of the graph are not those of the plan"):
        ev.tuned(plan, [1, 1, 1], grid(10, 10, vwgt=np.full(100, 2.0)))
