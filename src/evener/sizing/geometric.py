"""gpa: the geometric partitioning algorithm, a line through the origin that cuts all speed curves.

In the plane of load and speed, the points on a line through the origin take the same time, the
inverse of its slope. Curves that keep the shape rule (concave while they rise, then falling) are
cut once by each line, and the loads at the cuts grow as the line becomes less steep: wanted is the
slope at which they add up ([Cla14]_, 4.1). Here it is the steepest line whose loads, rounded down,
still suffice, which makes the whole sizes optimal; [Cla14]_ adds what rounding down loses to the
largest loads.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evener.errors import UsageError
from evener.platforms.models.akima import Akima
from evener.platforms.models.fitting import Constant, SpeedModel, kept_by_shape
from evener.platforms.models.piecewise import Piecewise
from evener.sizing.least_time import handed_back, least_time
from evener.sizing.problems import Problem, Solution
from evener.sizing.segments import Segments


def solve_gpa(problem: Problem) -> Solution:
    """Return whole sizes of least makespan for the curves after the shape rule.

    Akima models are replaced by their points. Raises UsageError for models without points.
    """
    models = tuple(in_shape(model, problem.name(i)) for i, model in enumerate(problem.models))
    loads = Segments(replace(problem, models=models))
    least = least_time(loads)
    sizes = handed_back(loads, least)
    pairs = list(zip(models, problem.models, strict=True))
    if all(model is given for model, given in pairs):
        return Solution(sizes, bound=max(least.seconds, loads.needed()))
    dropped = [n for n in (_dropped(model, given) for model, given in pairs) if n]
    samples = f"{sum(dropped):,} sample{'s' * (sum(dropped) > 1)}"
    devices = f"{len(dropped):,} device{'s' * (len(dropped) > 1)}"
    note = f"gpa: the rule of shape drops {samples} of {devices}"
    return Solution(sizes, True, (note,) if dropped else ())


def in_shape(model: SpeedModel, name: str) -> SpeedModel:
    """Return the model if it keeps the shape rule, else the Piecewise of the points that do."""
    if isinstance(model, Constant):
        return model
    points = model.points if isinstance(model, Akima) else model
    if not isinstance(points, Piecewise):
        raise UsageError(
            f"gpa needs the points of a curve; the model of {name} has none",
            hint="exact takes models of any kind.",
        )
    if _keeps_shape(points):
        return points
    kept = kept_by_shape(points.loads, points.speeds)
    return Piecewise(points.loads[kept], points.speeds[kept], points.capacity)


def _keeps_shape(model: Piecewise) -> bool:
    """Return whether the shape rule would drop no point."""
    top = int(np.argmax(model.speeds))
    rise = np.diff(model.speeds, prepend=0.0)
    slope = rise[: top + 1] / np.diff(model.loads[: top + 1], prepend=0.0)
    concave = (slope[1:] <= slope[:-1]).all() and (rise[: top + 1] >= 0).all()
    return bool(concave and (rise[top + 1 :] <= 0).all())


def _dropped(model: SpeedModel, given: SpeedModel) -> int:
    points = given.points if isinstance(given, Akima) else given
    if not (isinstance(model, Piecewise) and isinstance(points, Piecewise)):
        return 0
    return int(points.loads.size - model.loads.size)
