"""Panels of lines: long names stand upright, and no two lines look alike."""

import numpy as np

from papers.drawing import draw_lines
from papers.findings import Panel


def panel(names, lines=2):
    return Panel(
        "title",
        "",
        "y",
        range(len(names)),
        {f"line {i}": [1.0 + i] * len(names) for i in range(lines)},
        x_names=names,
    )


def test_long_names_stand_upright_above_the_legend():
    short, long = (draw_lines([panel(names)]) for names in
                   (["a", "b"], [f"t1_f16_fs{i}" for i in range(6)]))  # fmt: skip
    assert [one.axes[0].get_xticklabels()[0].get_rotation() for one in (short, long)] == [0, 90]
    assert long.get_figheight() > short.get_figheight()
    long.draw_without_rendering()
    (axes,) = long.axes
    names = min(label.get_window_extent().y0 for label in axes.get_xticklabels())
    assert axes.get_legend().get_window_extent().y1 < names


def test_every_line_has_a_look_of_its_own_and_its_mark_is_inside():
    figure = draw_lines([panel(["a", "b"], lines=11)])
    (axes,) = figure.axes
    looks = {(line.get_color(), line.get_marker()) for line in axes.lines}
    assert len(looks) == 11
    assert axes.get_ylim()[1] > 11.0
    draw_lines([Panel("empty", "", "y", (0,), {"none": [np.nan]}, x_names=["a"])])
