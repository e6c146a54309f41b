"""What a plan's numbers must be, whether it is read or written: one check for both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from evener.errors import InputError
from evener.plans import Certificate, Exchange, Plan, Prediction


def check_numbers(plan: Plan) -> None:
    """Raise InputError where a number of `plan`, its workload or its reading cannot be."""
    try:
        plan.workload  # noqa: B018 - made from the options when it is asked for
    except InputError as error:
        raise InputError(f"holds a workload that is none: {error.message}") from error
    if not isinstance(plan.options.get("reading", {}), Mapping):
        raise InputError("holds options of reading that are none")
    wrong = next(_wrong(plan), None)
    if wrong is not None:
        raise InputError(f"holds what no plan can: {wrong}")


def _wrong(plan: Plan) -> Iterator[str]:
    """Yield what is wrong, one sentence each."""
    judged, k = plan.evaluation, plan.platform.k
    yield from _below_zero("certificate", judged.certificate)
    yield from _below_zero("prediction", judged.prediction)
    if not 0 <= judged.prediction.makespan < np.inf:
        yield f"its makespan is {judged.prediction.makespan}"
    if not 0 < judged.prediction.bound < np.inf:
        yield f"its bound is {judged.prediction.bound}"
    if not 0 <= judged.edge_cut < np.inf:
        yield f"its edge cut is {judged.edge_cut}"
    if not judged.imbalance >= -1:
        yield f"its imbalance is {judged.imbalance}"
    counted = np.bincount(plan.partition.part, minlength=k)
    if not np.array_equal(counted, judged.certificate.vertices):
        b = int(np.argmax(counted != judged.certificate.vertices))
        yield (
            f"block {b} has {counted[b]:,} vertices, "
            f"its certificate says {judged.certificate.vertices[b]:,}"
        )
    yield from _wrong_exchange(judged.exchange, k)
    stages = [*plan.stages, *(plan.rival.stages if plan.rival else ())]
    for stage in stages:
        for field in fields(stage):
            value = getattr(stage, field.name)
            if isinstance(value, int | float) and not 0 <= value < np.inf:
                yield f"{field.name} of the stage {stage.name!r} is {value}"
    seconds = None if plan.rival is None else plan.rival.seconds
    if seconds is not None and not 0 <= seconds < np.inf:
        yield f"its rival takes {seconds} seconds"


def _below_zero(name: str, of: Certificate | Prediction) -> Iterator[str]:
    for field in fields(of):
        values: Any = getattr(of, field.name)
        if isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
            bad = ~((values >= 0) & (values < np.inf))
            if bad.any():
                yield f"{field.name} of the {name} has {values[bad].flat[0]}"


def _wrong_exchange(exchange: Exchange, k: int) -> Iterator[str]:
    for name in ("sender", "receiver"):
        blocks = getattr(exchange, name)
        if blocks.size and not (blocks.min() >= 0 and blocks.max() < k):
            yield f"{name} in its exchange is no block"
    if (exchange.sender == exchange.receiver).any():
        yield "a block sends to itself"
    if exchange.values.size and exchange.values.min() < 0:
        yield f"{exchange.values.min()} values are sent"
