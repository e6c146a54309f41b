"""`evener sizes --speeds FILE`: how much each device gets by its speed curve."""

from __future__ import annotations

import argparse
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from evener.cli.graph_options import load_of
from evener.cli.machines import MAX_ROWS, CurvedDevices, curved_devices, equal_runs, run_name
from evener.errors import UsageError
from evener.wording import duration, units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evener.cli.output import Output
    from evener.platforms.models.fitting import SpeedModel
    from evener.sizing import SpeedSizes, Subset


def run_curves(args: argparse.Namespace, out: Output) -> int:
    """Compute and show the sizes for devices of a file of speed curves, on a machine or not."""
    from evener.sizing import explain_sizes, solve_sizes

    if args.machine is None and (
        args.edges or args.bytes_per_vertex is not None or args.bytes_per_edge is not None
    ):
        raise UsageError("--edges and bytes go with a machine; a file of curves has capacities")
    devices = curved_devices(args, out)
    load = load_of(args, out)
    devices = devices.holding(load.bytes_per_unit)
    low, high, fixed, shared = asked_of(args, devices, load.n)
    models, n = devices.models, load.n
    chosen = _subset(models, n, fixed, shared, (low, high))
    if chosen is not None and any(shared):
        high = [most if used else 0 for most, used in zip(high, chosen.used, strict=True)]
    found = solve_sizes(
        models, n, args.method or "auto", low, high, fixed_seconds=fixed, names=devices.names
    )
    reasons = []
    if args.explain:
        reasons = explain_sizes(models, found, low=low, high=high, fixed_seconds=fixed)
        reasons = _unused_said(reasons, chosen, shared)
    found = replace(found, notes=(*found.notes, *guessed(devices, found.sizes.tolist())))
    _show(devices, found, reasons, out)
    _show_subset(chosen, found.makespan, out)
    out.result(_result(devices, found, reasons, chosen))
    return 0


class Asked(NamedTuple):
    """Whole limits on sizes, and the seconds that taking part costs a device and all of them."""

    low: list[int]
    high: list[int]
    fixed: list[float]
    shared: list[float]


def asked_of(args: argparse.Namespace, devices: CurvedDevices, n: int) -> Asked:
    """Return the limits and costs that the options say; costs else from the curves."""
    k, fixed = len(devices.models), devices.fixed
    if args.fixed_seconds is not None:
        fixed = _numbers(args.fixed_seconds, "--fixed-seconds", k, "seconds", 0.0)
    shared = _numbers(args.shared_seconds, "--shared-seconds", k, "seconds", 0.0)
    low, high = _units(args.low, "--low", k, 0), _units(args.high, "--high", k, n)
    return Asked(low, high, fixed, shared)


def guessed(devices: CurvedDevices, sizes: list[int]) -> list[str]:
    """Say which loads nobody has measured."""
    from evener.sizing import beyond_samples

    return beyond_samples(devices.curves, sizes)


def _units(text: str | None, option: str, k: int, default: int) -> list[int]:
    """Whole limits, one for all devices or one each."""
    values = _numbers(text, option, k, "whole units", float(default))
    if any(value != int(value) for value in values):
        raise UsageError(f"{option} takes whole units, not {text!r}")
    return [int(value) for value in values]


def _numbers(text: str | None, option: str, k: int, unit: str, default: float) -> list[float]:
    """One number for all devices, or one each; the default where the option is not given."""
    if text is None:
        return [default] * k
    try:
        values = [float(word) for word in text.split(",")]
    except ValueError:
        values = [math.nan]
    if not all(0 <= value < 2.0**63 for value in values):
        raise UsageError(f"{option} takes {unit}, zero or above, as 1 or 0,1,1; not {text!r}")
    if len(values) not in (1, k):
        raise UsageError(f"{option} takes one number or {k}, one a device; {len(values)} are given")
    return values * k if len(values) == 1 else values


def _subset(
    models: Sequence[SpeedModel],
    n: int,
    fixed: list[float],
    shared: list[float],
    limits: tuple[list[int], list[int]],
) -> Subset | None:
    """The devices worth using, where taking part costs time."""
    from evener.sizing import best_subset

    if not (any(fixed) or any(shared)):
        return None
    low, high = limits
    return best_subset(models, n, fixed_seconds=fixed, shared_seconds=shared, low=low, high=high)


def _unused_said(reasons: list[str], chosen: Subset | None, shared: list[float]) -> list[str]:
    """Say of devices left out for shared costs that it is for these."""
    if chosen is None or not any(shared):
        return reasons
    return [
        reason if used or not cost else f"not worth the {duration(cost)} that it costs all"
        for reason, used, cost in zip(reasons, chosen.used.tolist(), shared, strict=True)
    ]


def _result(
    devices: CurvedDevices, found: SpeedSizes, reasons: list[str], chosen: Subset | None
) -> dict[str, Any]:
    result: dict[str, Any] = {
        "devices": devices.names,
        "sizes": found.sizes,
        "seconds": found.seconds,
        "makespan": found.makespan,
        "method": found.method,
        "converged": found.converged,
        "notes": list(found.notes),
        "bound": found.bound,
    }
    if reasons:
        result["reasons"] = reasons
    if chosen is not None:
        result["gain"] = chosen.gain
    return result


def _show(
    devices: CurvedDevices,
    found: SpeedSizes,
    reasons: list[str],
    out: Output,
) -> None:
    """Print a row per device, or per group of neighbours with the same numbers."""
    from evener.reporting.numbers import plural

    if out.is_json or out.is_quiet:
        return
    names, models = devices.names, devices.models
    sizes, seconds = found.sizes.tolist(), found.seconds.tolist()
    speeds = [model.speed(float(size)) for model, size in zip(models, sizes, strict=True)]
    capacities = [float(model.capacity) for model in models]
    why = reasons or [""] * len(names)
    numbers = list(zip(sizes, speeds, capacities, seconds, why, strict=True))
    runs = equal_runs(numbers)
    rows = [[run_name(names[a:b]), *_cells(*numbers[a])] for a, b in runs[:MAX_ROWS]]
    if len(runs) > MAX_ROWS:
        rows.append([f"... and {len(runs) - MAX_ROWS:,} more groups", *[""] * 5])
    header = ["device", "size", "speed", "capacity", "time", "why"]
    width = 6 if reasons else 5
    out.table(header[:width], [row[:width] for row in rows])
    for note in found.notes:
        out.say(note)
    used = sum(size > 0 for size in sizes)
    idlers = len(sizes) - used
    idle = f", {idlers:,} get{'s' * (idlers == 1)} nothing" if used < len(sizes) else ""
    out.say(
        f"{units(sum(sizes))} units on {plural(used, 'device')}{idle}: "
        f"all done after {duration(found.makespan)} (method {found.method})"
    )


def _show_subset(chosen: Subset | None, makespan: float, out: Output) -> None:
    """Say what leaving devices out gains, or what an iteration takes with what all wait for."""
    from evener.reporting.numbers import percent

    if chosen is None:
        return
    if chosen.used.all():
        if chosen.makespan > makespan:
            out.say(f"With what taking part costs all: {duration(chosen.makespan)} an iteration")
        return
    used, k = int(chosen.used.sum()), chosen.used.size
    if math.isinf(chosen.makespan_of_all):
        out.say(
            f"{used:,} of {k:,} devices are worth using: {duration(chosen.makespan)} an iteration"
        )
        return
    out.say(
        f"{used:,} of {k:,} devices are worth using: {duration(chosen.makespan)} an iteration "
        f"in place of {duration(chosen.makespan_of_all)} with all ({percent(chosen.gain)} saved)"
    )


def _cells(size: int, speed: float, capacity: float, seconds: float, why: str) -> list[str]:
    most = "" if capacity == float("inf") else units(capacity)
    return [units(size), f"{speed:.6g}", most, duration(seconds), why]
