"""Predicted times of a plan as text: seconds, or multiples where speeds are relative."""

from __future__ import annotations

from collections.abc import Callable

from evener.plans.plan import Plan
from evener.wording import time_of

Clock = Callable[[float], str]


def clock_of(plan: Plan) -> Clock:
    """Return what turns seconds of this plan's devices into text; see Platform.relative_ideal."""
    ideal = plan.platform.relative_ideal(float(plan.certificate.weights.sum()))
    return lambda seconds: time_of(float(seconds), ideal)


def is_relative(plan: Plan) -> bool:
    """Whether the machine's speeds are relative, so that times are multiples."""
    return plan.platform.relative_ideal(float(plan.certificate.weights.sum())) is not None
