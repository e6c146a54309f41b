"""Surfaces of emulated devices: every height at every width, what is missing, what is resumed."""

from contextlib import contextmanager

import numpy as np
import pytest

from evener.errors import NotFoundError
from evener.io.machines.surfaces import read_surfaces
from evener.measuring import session
from evener.measuring.devices import MeasuredDevice
from evener.measuring.kernels import make_kernel
from evener.measuring.outcomes import Gap, Point, Precision
from evener.measuring.rectangles import measure_surfaces
from evener.measuring.session import Settings
from evener.platforms.models.samples import Sample

HEIGHTS, WIDTHS = (1, 4, 16), (2, 8)


def seconds(height, width):
    return (height * width + height) / 100.0


class Shaped:
    """Two devices whose time depends on height and width; `trouble` answers for some of them."""

    names, groups, agreed = ["d0", "d1"], ["here", "here"], False

    def __init__(self, width, trouble, asked):
        self.width, self.trouble, self.asked = width, trouble, asked

    def has_company(self, name):
        return True

    def measure(self, loads):
        self.asked.append((self.width, *loads))
        return [self.one(name, h) for name, h in zip(self.names, loads, strict=True)]

    def one(self, name, height):
        found = self.trouble(name, height, self.width) if height else None
        return found or (height and Point(Sample(height, seconds(height, self.width))))


@pytest.fixture
def measured(monkeypatch, tmp_path):
    """Measure with some trouble; return rectangles, the file's surfaces, what was asked."""
    asked = []

    def run(trouble=lambda name, height, width: None):
        @contextmanager
        def emulated(settings, comm):
            yield Shaped(settings.options["width"], trouble, asked)

        monkeypatch.setattr(session, "bench_of", emulated)
        devices = (MeasuredDevice("d0", cpus=(0,)), MeasuredDevice("d1", cpus=(1,)))
        settings = Settings("own:one", devices, HEIGHTS, Precision(), 1e9)
        file = tmp_path / "s.toml"
        found = measure_surfaces(settings, WIDTHS, file, lambda step, done: None)
        return found, read_surfaces(file), asked

    run.file = tmp_path / "s.toml"
    return run


def test_every_height_at_every_width(measured):
    found, surfaces, asked = measured()
    assert asked == [(w, h, h) for w in WIDTHS for h in HEIGHTS]
    assert list(surfaces) == ["d0", "d1"]
    surface = surfaces["d1"]
    heights, widths = np.meshgrid(HEIGHTS, WIDTHS, indexing="ij")
    assert surface.time(heights, widths) == pytest.approx(seconds(heights, widths))
    assert surface.capacity == np.inf
    assert found[0].surface()[1] == []
    assert measured.file.read_text().startswith("# kernel own:one")


def test_what_does_not_fit_is_too_slow_or_fails(measured):
    def trouble(name, height, width):
        if name == "d0" and height * width > 30:
            return Gap(height, "memory", "out of memory")
        if name == "d1" and (height, width) == (4, 2):
            return Point(Sample(height, 5.0, status="slower"))
        return Gap(height, "raised", "no") if (name, height, width) == ("d1", 1, 8) else None

    found, surfaces, _ = measured(trouble)
    assert surfaces["d0"].capacity == 8
    assert surfaces["d1"].speed(4.0, 2.0) == pytest.approx(8 / 5.0 / 5)
    assert surfaces["d1"].speed(1.0, 8.0) == pytest.approx(32 / seconds(4, 8))
    assert found[1].surface()[1] == ["16 x 2", "1 x 8"]
    said = measured.file.read_text()
    assert "# not measured; the file repeats the next speed: 16 x 2, 1 x 8" in said
    assert "# stopped early, seconds multiplied by 5: 4 x 2" in said
    assert "# area 8 (raised): no" in said


def test_nothing_at_all_is_an_error(measured):
    with pytest.raises(NotFoundError, match="at 1 units: no"):
        measured(lambda name, height, width: Gap(height, "raised", "no"))
    assert not measured.file.exists()


def test_a_device_of_which_nothing_is_known_is_left_out(measured):
    found, surfaces, _ = measured(
        lambda name, height, width: Gap(height, "raised", "no") if name == "d0" else None
    )
    assert list(surfaces) == ["d1"]
    assert found[0].heights == ()


def test_after_a_kill_it_goes_on(measured):
    class Killed(BaseException):
        pass

    def kill(name, height, width):
        if width == 8 and height == 4:
            raise Killed

    with pytest.raises(Killed):
        measured(kill)
    asked = measured()[2]
    assert asked.count((2, 1, 1)) == asked.count((8, 1, 1)) == 1
    assert asked.count((8, 4, 4)) == 2


def test_gemm_of_a_given_width():
    kernel = make_kernel("gemm", options={"block": 2, "width": 3})
    kernel.initialize(5)
    kernel.execute()
    assert kernel.result.shape == (10, 6)
    assert kernel.complexity(5) == 2.0 * 10 * 6 * 2
