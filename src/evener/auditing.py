"""What a plan says of its partition, beside what its graph says: every field, counted anew."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from evener.errors import InputError
from evener.evaluating import evaluate
from evener.graphs import Graph
from evener.plans import Evaluation, Plan

SLACK = 1e-9  # relative: sums of real numbers depend on their order in the last digits


def misstated(plan: Plan, graph: Graph) -> list[str]:
    """Return what the plan says of its partition of `graph` and is not so, one place each.

    graph: what the plan was made from, as it was read. The contract is the plan's own. Raises
    InputError where the partition is none of the graph.
    """
    counts = {"vertices": graph.n, "edges": graph.m}
    wrong = [
        f"graph.{name} is {plan.graph[name]!r}, counted {count}"
        for name, count in counts.items()
        if plan.graph[name] != count
    ]
    contract = plan.certificate.contract
    judged = evaluate(graph, plan.partition, plan.platform, contract, workload=plan.workload)
    told = plan.evaluation
    if not told.prediction.interior.any():
        # Plans of an evener that did not know it have none; nothing else follows from it.
        judged = _without_interior(judged)
    return wrong + list(differing(told, judged, ""))


def refuse_forged(plan: Plan, graph: Graph, file: str) -> None:
    """Raise InputError where the plan, which `file` holds, says of its partition what is not so."""
    wrong = misstated(plan, graph)
    if wrong:
        more = f", and {len(wrong) - 1:,} more differ" if len(wrong) > 1 else ""
        raise InputError(
            f"says of its partition what is not so: {wrong[0]}{more}",
            file=file,
            hint="It was changed, or made by another version. Make it again with `evener plan`.",
        )


def differing(told: Any, counted: Any, name: str) -> Iterator[str]:
    """Yield where two objects of one kind differ: dataclasses, arrays, tuples and plain values."""
    if is_dataclass(told):
        for field in fields(told):
            place = f"{name}.{field.name}" if name else field.name
            yield from differing(getattr(told, field.name), getattr(counted, field.name), place)
    elif isinstance(told, np.ndarray):
        yield from _differing_arrays(told, np.asarray(counted), name)
    elif isinstance(told, tuple) and len(told) == len(counted):
        for i, (one, other) in enumerate(zip(told, counted, strict=True)):
            yield from differing(one, other, f"{name}[{i}]")
    elif isinstance(told, float) and isinstance(counted, float):
        yield from _differing_arrays(np.array([told]), np.array([counted]), name, places=False)
    elif told != counted:
        yield f"{name} is {told!r}, counted {counted!r}"


def _differing_arrays(
    told: np.ndarray[Any, Any], counted: np.ndarray[Any, Any], name: str, *, places: bool = True
) -> Iterator[str]:
    if told.shape != counted.shape:
        yield f"{name} has the shape {told.shape}, counted {counted.shape}"
        return
    if told.dtype.kind == counted.dtype.kind == "f":
        wrong = ~np.isclose(told, counted, rtol=SLACK, atol=0)
    else:
        wrong = told != counted
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        place = f"{name}[{', '.join(map(str, at))}]" if places else name
        yield f"{place} is {told[at]:g}, counted {counted[at]:g}"


def _without_interior(judged: Evaluation) -> Evaluation:
    nothing = np.zeros_like(judged.prediction.interior)
    return replace(judged, prediction=replace(judged.prediction, interior=nothing))
