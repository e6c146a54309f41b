"""The thesis's rule of shape: what it keeps rises, concave, then falls."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from evener.platforms.models.fitting import fit_model, kept_by_shape
from evener.platforms.models.samples import Sample


@settings(max_examples=200)
@given(st.lists(st.tuples(st.integers(1, 30), st.integers(1, 50)), min_size=1, max_size=25))
def test_kept_points_have_the_shape(steps):
    loads = np.cumsum([step for step, _ in steps]).astype(float)
    speeds = np.array([speed for _, speed in steps], dtype=float)
    kept = kept_by_shape(loads, speeds)
    x, s = loads[kept], speeds[kept]
    top = int(np.argmax(s))
    assert s[top] == speeds.max()
    assert (np.diff(s[: top + 1]) >= 0).all()
    slopes = np.diff(np.append(0.0, s[: top + 1])) / np.diff(np.append(0.0, x[: top + 1]))
    assert (np.diff(slopes) <= 1e-12).all()
    assert (np.diff(s[top:]) <= 0).all()
    # What the shape is for: time never falls.
    model = fit_model([Sample(a, a / b) for a, b in zip(loads, speeds, strict=True)], "shaped")
    assert (np.diff(model.time(np.linspace(0, loads[-1] * 1.2, 400))) >= -1e-12).all()
    # Points that have the shape stay.
    assert kept_by_shape(x, s).all()


def test_by_hand():
    """Speeds 4 3 6 9 8 8.5 2: 3 is below 4; 8.5 is above 8; 6 lies under the line from 4 to 9."""
    loads = np.arange(1.0, 8.0)
    speeds = np.array([4, 3, 6, 9, 8, 8.5, 2])
    assert kept_by_shape(loads, speeds).tolist() == [True, False, False, True, True, False, True]
    model = fit_model([Sample(x, x / s) for x, s in zip(loads, speeds, strict=True)], "shaped")
    assert [s.load for s in model.dropped] == [2.0, 3.0, 6.0]
