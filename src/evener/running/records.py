"""Converts the times of a run's supersteps to samples of the devices' speeds, and to a trace.

Samples can be written by evener.io.machines.speeds and read by `evener plan --speeds FILE`. A trace
is in Chrome's Trace Event Format, which Perfetto and chrome://tracing open (docs/running.md).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evener.arrays import FloatArray
from evener.errors import UsageError
from evener.files.writing import write_text
from evener.plans.edge_plan import EdgePlan
from evener.plans.plan import Plan
from evener.platforms.models.samples import DeviceSpeeds, Sample
from evener.platforms.platform import Device
from evener.running.engine.recording import Superstep, VertexMove
from evener.running.program_run import ProgramRun

CONFIDENCE = 0.95  # of the samples' intervals, the default of `evener measure`
MICROSECOND = 1e-6  # [s], the unit of time in a trace


def samples_of(
    run: ProgramRun, plan: Plan | EdgePlan, loads: FloatArray | None = None
) -> tuple[DeviceSpeeds, ...]:
    """Return a sample per device: its load [units] and the computing time of a superstep [s].

    loads (k,): by default, the loads of the plan.

    The time is the median if a device visits equally many arcs in all supersteps, because the
    median ignores interruptions by other processes; otherwise it is the mean.

    A device without a block gets its stated speed, times the ratio of measured to stated speed of
    all devices that computed; its notes say so.

    Raises UsageError if no device computed anything.
    """
    if loads is None:
        loads = plan.metrics.loads if isinstance(plan, EdgePlan) else plan.certificate.weights
    seconds = run.of_devices("computing")
    means = _typical(seconds, run.of_devices("edges"))
    known = (loads > 0) & (means > 0)
    if not known.any():
        raise UsageError("no superstep was computed, so there are no speeds to write")
    stated = plan.platform.speeds
    ratio = float((loads[known] / means[known]).sum() / stated[known].sum())
    found = []
    for b, device in enumerate(plan.platform.devices):
        if known[b]:
            sample = Sample(
                float(loads[b]), float(means[b]), _half_width(seconds[:, b]), len(seconds)
            )
            notes = {"source": f"{len(seconds)} supersteps of a run"}
        else:
            sample = Sample(1.0, 1.0 / (ratio * float(stated[b])))
            notes = {"source": f"not measured: its stated speed times {ratio:.3g}"}
        found.append(DeviceSpeeds(device.name, (sample,), _capacity(device), notes=notes))
    return tuple(found)


def _typical(seconds: FloatArray, edges: FloatArray) -> FloatArray:
    """Return the median or mean of each device's times (supersteps, k), as (k,).

    The result is 0 without supersteps.
    """
    if not len(seconds):
        return np.zeros(seconds.shape[1])
    alike = (edges == edges[0]).all(axis=0)
    return np.where(alike, np.median(seconds, axis=0), seconds.mean(axis=0))


def _half_width(seconds: FloatArray) -> float:
    """Return the half width of the mean's confidence interval [s]; 0 for a single value."""
    from scipy.special import stdtrit

    if seconds.size < 2:
        return 0.0
    quantile = float(stdtrit(seconds.size - 1, 0.5 + CONFIDENCE / 2))
    return quantile * float(seconds.std(ddof=1)) / float(np.sqrt(seconds.size))


def _capacity(device: Device) -> float:
    return np.inf if device.curve is None else device.curve.capacity


def trace_of(
    run: ProgramRun, names: Sequence[str], machines: Sequence[str] | None = None
) -> dict[str, Any]:
    """Return the trace of a run: a track for each device, grouped by machine.

    Moves of vertices between devices are events on all tracks. names (k,): of the devices. machines
    (k,): the machine of each device; None: all on one.
    """
    of = list(machines or ["devices"] * len(names))
    numbers = {name: i + 1 for i, name in enumerate(dict.fromkeys(of))}
    events = [named("process", numbers[name], 0, name) for name in numbers]
    for device, (name, steps) in enumerate(zip(names, run.steps, strict=True)):
        place = {"pid": numbers[of[device]], "tid": device + 1}
        events += [named("thread", place["pid"], place["tid"], name), sorted_by(place, device)]
        for number, step in enumerate(steps):
            events += _events(run.first + number, step, place)
        events += [_moved(move, place) for move in run.moves]
    return {"traceEvents": events, "displayTimeUnit": "ms"}


def write_trace(path: str | Path, trace: Mapping[str, Any]) -> None:
    """Write a trace as JSON."""
    write_text(path, json.dumps(trace, separators=(",", ":")))


def _events(number: int, step: Superstep, place: Mapping[str, int]) -> list[dict[str, Any]]:
    """Return complete events, one for each time span of a superstep."""
    told = {"superstep": number, "sent": step.sent, "received": step.received, "edges": step.edges}
    return [
        {"name": name, "cat": "superstep", "ph": "X", "ts": round(began / MICROSECOND, 3),
         "dur": round(seconds / MICROSECOND, 3), **place, "args": told}
        for name, began, seconds in step.spans
    ]  # fmt: skip


def _moved(move: VertexMove, place: Mapping[str, int]) -> dict[str, Any]:
    """Return the event for a move of vertices."""
    told = {"superstep": move.step, "vertices": move.vertices, "kind": move.kind}
    return {"name": "rebalancing", "cat": "rebalancing", "ph": "X",
            "ts": round(move.began / MICROSECOND, 3), "dur": round(move.seconds / MICROSECOND, 3),
            **place, "args": told}  # fmt: skip


def named(what: str, pid: int, tid: int, name: str) -> dict[str, Any]:
    """Return the event that names a process or thread."""
    return {"name": f"{what}_name", "ph": "M", "pid": pid, "tid": tid, "args": {"name": name}}


def sorted_by(place: Mapping[str, int], order: int) -> dict[str, Any]:
    """Return the event that sets the position of a thread in the display."""
    return {"name": "thread_sort_index", "ph": "M", **place, "args": {"sort_index": order}}
