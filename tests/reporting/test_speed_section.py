"""The report's section on curves: as many panels and rows as a page bears, the slowest first."""

import base64

import numpy as np
import pytest

from evener.planning.in_memory import plan
from evener.planning.options import PlanOptions
from evener.platforms.models.examples import emulated_speeds
from evener.platforms.platform import Platform
from evener.platforms.with_curves import platform_of, seconds_at
from evener.reporting.speed_plots import MAX_PANELS, MAX_ROWS, speed_section
from tests.assertions import grid


@pytest.mark.slow
def test_of_many_devices_those_that_compute_longest():
    platform = platform_of(emulated_speeds("grenoble", points=6, noise=0.02))
    made = plan(grid(30, 40), platform, PlanOptions(tool="rcb"))
    section = speed_section(made)
    assert (section.curves, section.drawn, section.devices) == (75, MAX_PANELS, 75)
    assert len(section.rows) == MAX_ROWS
    latest = np.argsort(-made.prediction.compute, kind="stable")[:MAX_ROWS]
    assert [row.name for row in section.rows] == [platform.names[b] for b in np.sort(latest)]
    picture = base64.b64decode(section.picture.removeprefix("data:image/png;base64,"))
    assert picture.startswith(b"\x89PNG")
    assert len(picture) < 700_000
    weights = made.certificate.weights
    np.testing.assert_allclose(made.prediction.compute, seconds_at(platform, weights))


def test_none_without_curves():
    assert (
        speed_section(plan(grid(3, 4), Platform.flat([1.0, 2.0]), PlanOptions(tool="rcb"))) is None
    )
