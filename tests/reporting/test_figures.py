"""Plan.plot: a matplotlib Figure with the blocks and the devices' times."""

import io

import numpy as np
import pytest
from PIL import Image

import evener as ev
from evener.errors import InputError
from evener.reporting.plots import figure_bytes
from tests.assertions import grid
from tests.reporting.conftest import machine, plan_of, quads, stripes


def bars_of(axes):
    return {group.get_label(): [bar.get_width() for bar in group] for group in axes.containers}


def test_bars_are_the_prediction():
    plan = plan_of(grid(12, 12), stripes(12, 12, 3), machine(3))
    _, right = plan.plot().axes
    assert bars_of(right)["computing"] == pytest.approx(plan.prediction.compute.tolist())
    ends = sum(np.array(widths) for widths in bars_of(right).values())
    assert ends == pytest.approx(plan.prediction.ends)
    assert [text.get_text() for text in right.get_yticklabels()] == plan.platform.names


def test_relative_times_are_multiples():
    plan = plan_of(grid(12, 12), stripes(12, 12, 2), ev.Platform.flat([1.0, 1.0]))
    _, right = plan.plot().axes
    assert bars_of(right)["computing"] == pytest.approx([1.0, 1.0])
    assert right.xaxis.get_major_formatter()(0.5, 0) == "0.50x"


def test_blocks_are_shown_where_they_are():
    mesh = quads(12, 12)
    plan = plan_of(mesh.dual_graph(), stripes(12, 12, 3), machine(3))
    left, _ = plan.plot(mesh).axes
    (image,) = left.get_images()
    pixels = np.asarray(image.get_array())
    row = pixels[len(pixels) // 2]
    width = len(row)
    thirds = [tuple(row[int(width * share)][:3]) for share in (0.12, 0.37, 0.62, 0.87)]
    assert len(set(thirds)) >= 3
    assert {text.get_text() for text in left.texts} == {"dev0", "dev1", "dev2"}


def test_blocks_without_places_are_discs():
    names = ["a$b", "_c", "d"]
    bare = grid(12, 12).with_(coords=None)
    plan = plan_of(bare, stripes(12, 12, 3), machine(3, names=names))
    left, right = plan.plot().axes
    assert len(left.patches) == 3
    assert right.get_yticklabels()[0].get_text() == r"a\$b"
    assert figure_bytes(plan.plot(), "png")  # no name is read as a formula


def test_of_many_devices_the_slowest():
    plan = plan_of(grid(12, 12), stripes(12, 12, 12).repeat(1), ev.Platform.flat([1.0] * 12))
    assert len(bars_of(plan.plot().axes[1])["computing"]) == 12
    many = plan_of(grid(40, 40), stripes(40, 40, 40), ev.Platform.flat([1.0] * 40))
    _, right = many.plot().axes
    assert len(bars_of(right)["computing"]) == 24
    assert "24 slowest of 40 devices" in right.get_title(loc="left")


def test_another_graph_is_refused():
    plan = plan_of(grid(12, 12), stripes(12, 12, 3), machine(3))
    with pytest.raises(InputError):
        plan.plot(grid(5, 5))


def test_the_figure_shows_itself_without_pyplot():
    plan = plan_of(grid(6, 6), stripes(6, 6, 2), machine(2))
    assert Image.open(io.BytesIO(plan.plot()._repr_png_())).format == "PNG"
