"""Areas that follow speed models: 1.5D, FPM-KL, capacities."""

import numpy as np
import pytest

from evener.errors import InfeasibleError, InputError
from evener.platforms.models.fitting import Constant, Piecewise, SpeedSurface, fit_model
from evener.platforms.models.samples import Sample
from evener.sizing.solving import solve_sizes
from evener.sizing.tiling.grids import grid_of_surfaces
from evener.sizing.tiling.methods import tile
from evener.sizing.tiling.whole import nearest_whole


def cliff(peak, memory):
    """Speed that falls twentyfold where an area leaves the memory."""
    return Piecewise(np.array([1.0, memory, memory * 1.1]), np.array([peak, peak, peak / 20]))


MACHINE = [cliff(8.0, 350.0), cliff(6.0, 700.0), cliff(4.0, 2000.0), cliff(4.0, 2000.0)]


def test_constant_models_are_speeds():
    speeds = [3.0, 2.0, 2.0, 1.0]
    by_speeds = tile(speeds, (32, 32), method="br").tiling
    by_models = tile([Constant(s) for s in speeds], (32, 32), method="1.5d").tiling
    assert by_speeds.areas.tolist() == by_models.areas.tolist()


@pytest.mark.parametrize("method", ["1.5d", "guillotine", "hierarchical"])
@pytest.mark.parametrize("sizes", ["gpa", "npa"])
def test_areas_are_those_of_the_sizing_asked_for(method, sizes):
    places = [("a",), ("a",), ("b",), ("b",)]
    devices = [fit_model([Sample(a, a / s) for a, s in zip(m.loads, m.speeds, strict=True)],
                         "akima" if sizes == "npa" else "shaped") for m in MACHINE]  # fmt: skip
    tiled = tile(devices, (36, 36), method=method, places=places, sizes=sizes)
    assert tiled.targets.tolist() == solve_sizes(devices, 36 * 36, sizes).sizes.tolist()
    assert tiled.tiling.areas.sum() == 36 * 36


@pytest.mark.parametrize("method", ["1.5d", "guillotine", "hierarchical"])
def test_models_keep_devices_before_their_cliffs(method):
    places = [("a",), ("a",), ("b",), ("b",)]
    one_speed = tile(MACHINE, (36, 36), method="br")
    by_models = tile(MACHINE, (36, 36), method=method, places=places)
    assert by_models.tiling.areas[0] <= 386
    assert by_models.makespan < 0.4 * one_speed.makespan
    assert by_models.seconds == pytest.approx(
        [m.time(float(a)) for m, a in zip(MACHINE, by_models.tiling.areas, strict=True)]
    )


def test_fpm_kl_on_surfaces_evens_out():
    # Wide rectangles are slow on the first two devices.
    sides = np.array([1.0, 40.0])
    slow_wide = SpeedSurface(sides, sides, np.array([[8.0, 2.0], [8.0, 2.0]]))
    plain = SpeedSurface(sides, sides, np.full((2, 2), 3.0))
    grid = grid_of_surfaces([slow_wide, slow_wide, plain, plain], (40, 40))
    assert grid.converged
    assert grid.seconds.max() <= 1.1 * grid.seconds.min()
    assert grid.tiling.n_columns == 2
    tiled = tile([slow_wide, slow_wide, plain, plain], (40, 40), method="fpm-kl")
    assert tiled.makespan <= tile([plain] * 4, (40, 40), method="kl").makespan * 1.05
    heights = tiled.tiling.height, tiled.tiling.width
    assert tiled.seconds[0] == pytest.approx(
        slow_wide.time(float(heights[0][0]), float(heights[1][0]))
    )


def test_fpm_kl_on_models_says_that_area_alone_counts():
    tiled = tile(MACHINE, (36, 36), method="fpm-kl")
    assert any("area alone" in note for note in tiled.notes)
    assert tiled.makespan < tile(MACHINE, (36, 36), method="kl").makespan


def test_fpm_kl_ends_where_whole_blocks_allow_no_more():
    # A row of 16 is a tenth of what the slower one has: no heights agree to five hundredths.
    tiled = tile([3.1, 1.6], (16, 16), method="fpm-kl")
    assert tiled.seconds.max() > 1.05 * tiled.seconds.min()
    assert tiled.tiling.height.tolist() == [11, 5]
    assert not any("converge" in note for note in tiled.notes)


def test_capacities_bind():
    models = [Constant(10.0, capacity=200.0), Constant(1.0), Constant(1.0)]
    tiled = tile(models, (20, 20), method="1.5d")
    assert tiled.tiling.areas[0] <= 200
    full = [Constant(1.0, capacity=30.0)] * 3
    for method in ("1.5d", "fpm-kl", "kl", "guillotine"):
        with pytest.raises(InfeasibleError):
            tile(full, (20, 20), method=method)


def test_sorts_are_not_mixed():
    surface = SpeedSurface(np.array([1.0]), np.array([1.0]), np.array([[1.0]]))
    with pytest.raises(InputError, match="a speed surface for every device"):
        tile([surface, Constant(1.0)], (4, 4))
    with pytest.raises(InputError, match="places"):
        tile([1.0, 2.0], (4, 4), places=[("a",)])


def test_whole_widths_sum_up():
    assert nearest_whole(np.array([10 / 3] * 3), 10, 10).tolist() == [4, 3, 3]
    assert nearest_whole(np.array([0.0, 3.0]), 3, 3).tolist() == [0, 3]
