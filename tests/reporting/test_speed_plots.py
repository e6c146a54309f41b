"""Fits side by side: samples of odd shapes are drawn, the most disputed devices are chosen."""

from evener.platforms.models.examples import emulated_speeds
from evener.platforms.models.samples import DeviceSpeeds, Sample
from evener.reporting.plots import figure_bytes
from evener.reporting.speed_plots import DeviceFits, draw_fits, most_disputed


def test_the_most_disputed_in_their_order():
    fits = [DeviceFits(device) for device in emulated_speeds("grenoble", points=8, noise=0.05)]
    shares = sorted((one.worst().share for one in fits), reverse=True)
    chosen = most_disputed(fits, 5)
    assert [fits.index(one) for one in chosen] == sorted(fits.index(one) for one in chosen)
    assert sorted((one.worst().share for one in chosen), reverse=True) == shares[:5]
    assert most_disputed(fits[:3], 5) == fits[:3]


def test_one_sample_agrees_with_itself():
    fits = DeviceFits(DeviceSpeeds("one", (Sample(10, 2.0),)))
    assert fits.worst().share == 0.0
    assert fits.dropped == ()


def test_names_and_samples_of_all_kinds_are_drawn():
    """Signs that matplotlib would take for formulas, stopped samples, a capacity within reach."""
    devices = [
        DeviceSpeeds("$a$ _b^ {", (Sample(3, 1.0, 0.99), Sample(9, 1.0, 2.0))),
        DeviceSpeeds("stopped", (Sample(5, 1.0, status="slower"),), capacity=4.0),
        DeviceSpeeds("\u4e2d", (Sample(1e-6, 1.0), Sample(1e12, 1.0))),
    ]
    figure = draw_fits([DeviceFits(device) for device in devices[:2]], {"stopped": [2.0]})
    assert [axes.get_title() for axes in figure.axes] == [r"\$a\$ _b^ {", "stopped"]
    drawn = figure_bytes(figure, "svg")
    assert b"<!-- $a$ _b^ { -->" in drawn
    assert b"<!-- stopped -->" in drawn
    assert all(axes.lines and axes.collections for axes in figure.axes), "curves and samples"
