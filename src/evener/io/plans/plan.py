"""Reads and writes plan files, which plain NumPy can open.

A plan file is an `.npz` archive: `part` (n,) int32, the exchange's three arrays, and `manifest`,
JSON text with everything else. Members have a fixed date, so that equal plans give equal bytes. The
same checks of numbers apply when a plan is read and when it is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.errors import EvenerError, InputError
from evener.io.archives import Arrays
from evener.io.plans.archived import read_archived, write_archived
from evener.io.plans.manifest import (
    EDGE_FORMAT,
    FORMAT,
    FORMAT_VERSION,
    STREAM_FORMAT,
    manifest,
    plan_of,
)
from evener.plans.plan import Certificate, Exchange, Plan, Prediction
from evener.plans.rank_plan import RankPlan


def check_numbers(plan: Plan) -> None:
    """Raise InputError if a number of `plan`, its workload or its reading options is invalid."""
    try:
        plan.workload  # noqa: B018 - made from the options when it is asked for
    except InputError as error:
        raise InputError(f"has an invalid workload: {error.message}") from error
    if not isinstance(plan.options.get("reading", {}), Mapping):
        raise InputError("has reading options that are not a table")
    wrong = next(_wrong(plan), None)
    if wrong is not None:
        raise InputError(f"contains impossible values: {wrong}")


def _wrong(plan: Plan) -> Iterator[str]:
    """Yield a sentence for each invalid number."""
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
    counted = np.zeros(k, np.int64)
    for first in range(0, plan.partition.n, _AT_ONCE):
        counted += np.bincount(plan.partition.part[first : first + _AT_ONCE], minlength=k)
    if not np.array_equal(counted, judged.certificate.vertices):
        b = int(np.argmax(counted != judged.certificate.vertices))
        yield (
            f"block {b} has {counted[b]:,} vertices, "
            f"but its certificate states {judged.certificate.vertices[b]:,}"
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
            yield f"{name} in its exchange is not a block"
    if (exchange.sender == exchange.receiver).any():
        yield "a block sends to itself"
    if exchange.values.size and exchange.values.min() < 0:
        yield f"the exchange sends {exchange.values.min()} values"


_AT_ONCE = 1 << 20  # vertices counted at a time: each takes 8 bytes temporarily
_BIG_ARRAYS = ("part", "sender", "receiver", "values")
_AGAIN = "`evener plan ... -o X.plan` makes a plan file."


def write_plan(path: str | Path, plan: Plan | RankPlan) -> None:
    """Write the plan, whole or not at all; equal plans give equal bytes.

    In an MPI program, all ranks may call this with their RankPlan: rank 0, which has the plan,
    writes the file; the other ranks do nothing. Raises InputError for invalid numbers, as read_plan
    does.
    """
    if isinstance(plan, RankPlan):
        if plan.plan is not None:
            write_plan(path, plan.plan)
        return
    check_numbers(plan)
    exchange = plan.evaluation.exchange
    arrays: dict[str, npt.NDArray[Any]] = {
        "part": plan.partition.part,
        "sender": exchange.sender.astype(np.int64),
        "receiver": exchange.receiver.astype(np.int64),
        "values": exchange.values.astype(np.int64),
    }
    try:
        write_archived(path, arrays, manifest(plan))
    except (TypeError, ValueError) as error:
        raise InputError(f"the plan cannot be written: {error}") from error


def read_plan(path: str | Path) -> Plan:
    """Read a plan file. Raises InputError if it is not one, damaged or inconsistent."""
    return read_archived(path, _BIG_ARRAYS, _plan_from, "a plan", _AGAIN)


def _plan_from(arrays: Arrays, data: dict[str, Any]) -> Plan:
    plan = plan_of(arrays, _checked(data))
    check_numbers(plan)
    return plan


def manifest_in(path: str | Path) -> dict[str, Any]:
    """Return the manifest of a plan file, unchecked. Raises InputError for other files."""
    return read_archived(path, (), lambda _, data: _checked(data), "a plan", _AGAIN)


def plan_in(path: str | Path) -> Plan | None:
    """Return the plan if a partition file is a plan file; None for other files."""
    try:
        return read_plan(path)
    except EvenerError:
        return None


def _checked(data: dict[str, Any]) -> dict[str, Any]:
    """Return the manifest of a plan that divides vertices. Raises InputError for other plans."""
    if data.get("format") == EDGE_FORMAT:
        raise InputError(
            "is a plan that divides edges; a plan that divides vertices is needed",
            hint="`evener plan` divides vertices. For plans of edges, use `evener run`, or "
            "`evener export --to lists`, which writes a file for each device.",
        )
    if data.get("format") == STREAM_FORMAT:
        raise InputError(
            "is a plan of a stream graph; a plan that divides vertices is needed",
            hint="`evener plan` divides vertices. For plans of stream graphs, use `evener run "
            "--stream`, or `evener report`, `evaluate`, `export` and `replay`.",
        )
    if data.get("format") != FORMAT:
        raise InputError("is not a plan file")
    if data["format_version"] > FORMAT_VERSION:
        raise InputError(
            f"has plan format {data['format_version']}, newer than this Evener reads "
            f"({FORMAT_VERSION})",
            hint="Update evener.",
        )
    return data
