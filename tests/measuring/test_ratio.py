"""r by arcs: of emulated devices as their terms say; the fit; its file."""

import pytest

from evener.cli import main
from evener.errors import InputError
from evener.measuring.ratio import (
    RatioFit,
    RatioPoint,
    emulated_timer,
    fit_ratio,
    ratio_points,
    read_ratio,
    timer_here,
    write_ratio,
)
from evener.platforms.platform import Device, Platform


def two(**gpu):
    return Platform((Device("cpu", 1e7), Device("gpu", 8e7, "cuda", **gpu)))


def test_r_of_speeds_alone_is_their_ratio():
    points = ratio_points(emulated_timer(two()), (6, 8), seeds=2)
    assert len(points) == 20
    assert [point.arcs for point in points] == sorted(point.arcs for point in points)
    assert all(point.r == pytest.approx(8, rel=0.05) for point in points if point.scale == 8)


def test_r_rises_where_the_gpu_has_fixed_seconds():
    fit = fit_ratio(ratio_points(emulated_timer(two(fixed_seconds=1e-4)), (7, 8, 9), seeds=2))
    assert fit.slope > 0
    assert fit.at(0) < fit.middle < fit.large < 8


def test_the_fit_of_the_papers_points():
    said = [(5, 10.3), (30, 15.3), (50, 19.3), (60, 19.5), (125, 19.5), (200, 23.7), (350, 23.7)]
    points = [RatioPoint(20, e * 1e6, r, 0.0) for e, r in said]
    fit = fit_ratio(points)
    assert fit.offset == pytest.approx(9.3)
    assert fit.slope == pytest.approx(0.2e-6)
    assert (fit.middle, fit.large) == pytest.approx((19.5, 23.7))
    assert [fit.at(e * 1e6) for e in (10, 60, 300)] == pytest.approx([11.3, 19.5, 23.7])
    with pytest.raises(InputError, match="two measured points"):
        fit_ratio(points[:1])


def test_the_file_holds_the_fit(tmp_path):
    fit = RatioFit(9.3, 2e-7, (5e7, 1.25e8), 19.5, 23.7)
    write_ratio(tmp_path / "r.toml", fit, [RatioPoint(20, 5e6, 10.3, 0.1)], ["a", 'b"'], "here")
    assert read_ratio(tmp_path / "r.toml") == fit
    (tmp_path / "other.toml").write_text("[ratio]\noffset = 1\n")
    for name in ("other.toml", "absent.toml"):
        with pytest.raises(InputError):
            read_ratio(tmp_path / name)


def test_two_devices_are_needed():
    with pytest.raises(InputError, match="has 1"):
        emulated_timer(Platform((Device("cpu", 1.0),)))
    with pytest.raises(InputError, match="1 are given"):
        timer_here([[0]])


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["spmv", "--ratio"], "--ratio works with pagerank"),
        (["pagerank", "--fast"], "work with --ratio"),
        (["pagerank", "--ratio", "--device", "cpu0"], "two devices"),
    ],
)
def test_wrong_words_are_refused(tmp_path, capsys, words, reason):
    assert main(["measure", *words, "-o", str(tmp_path / "r.toml")]) == 2
    assert reason in capsys.readouterr().err
