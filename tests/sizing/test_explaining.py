"""Why a device gets nothing, is full, or ends last."""

import numpy as np
import pytest

from evener.platforms.models.fitting import Constant
from evener.platforms.models.piecewise import Piecewise
from evener.sizing import explain_sizes, solve_sizes
from tests.sizing.test_exact import Veiled

FAST, SLOW = Constant(10.0), Constant(0.1)
LATE = Piecewise([1.0, 10.0], [0.05, 5.0])  # 20 s for a unit, 2 s for ten


@pytest.mark.parametrize("kind", [lambda model: model, Veiled])
@pytest.mark.parametrize(
    ("models", "n", "limits", "reasons"),
    [
        ([FAST, SLOW], 20, {}, ["ends last", "one unit takes it 10.0 s; all is done after 2.00 s"]),
        ([FAST, FAST], 1, {}, ["ends last", "not needed: all is done after 100 ms without it"]),
        ([Constant(10.0, 5.0), FAST], 20, {}, ["full: its capacity", "ends last"]),
        ([Constant(10.0, 0.5), FAST], 20, {}, ["no room for a unit", "ends last"]),
        ([FAST, FAST], 20, {"high": [3, 20]}, ["at its upper limit", "ends last"]),
        ([FAST, FAST], 20, {"high": [0, 20]}, ["its upper limit is zero", "ends last"]),
        ([FAST, Constant(50.0)], 20, {"low": [18, 1]}, ["ends last", ""]),
        ([FAST, SLOW], 20, {"low": [0, 1]}, ["", "ends last"]),
        ([FAST, SLOW], 20, {"fixed_seconds": [0, 9]},
         ["ends last", "taking part costs it 9.00 s; all is done after 2.00 s"]),
        ([FAST, LATE], 15, {},
         ["ends last", "its quickest load, 10 units, takes it 2.00 s; all is done after 1.50 s"]),
    ],
)  # fmt: skip
def test_reasons(kind, models, n, limits, reasons):
    models = [kind(model) for model in models]
    found = solve_sizes(models, n, **limits)
    said = explain_sizes(models, found, **limits)
    assert said == reasons


def test_by_a_method_that_is_not_the_best():
    found = solve_sizes([Piecewise([1.0, 8.0], [9.0, 1.0]), FAST], 16, "constant")
    assert np.argmax(found.seconds) == explain_sizes([LATE, FAST], found).index("ends last")
