"""`evener sizes` with speed curves: for all devices at once, or level by level (--hierarchical).

With --matrix N, sizes of a matrix over nodes and their devices (INPA, IDPA).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from evener.cli.graph_options import LoadOptions, load_of
from evener.cli.machines import (
    MAX_ROWS,
    CurvedDevices,
    MachineOptions,
    curved_devices,
    equal_runs,
    run_name,
)
from evener.cli.options import option
from evener.errors import UsageError
from evener.wording import duration, percent, plural, units

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.platforms.platform import Platform
    from evener.sizing.layered import LayeredSizes
    from evener.sizing.nested import NestedTiling
    from evener.sizing.solving import SpeedSizes
    from evener.sizing.subsets import Subset


@dataclass(frozen=True)
class CurveOptions:
    """How curves become sizes.

    Limits and seconds are texts: one number for all devices, or one per device.
    """

    method: str = option(
        "how curves become sizes: constant, gpa, npa, exact or auto (default auto)", metavar="NAME"
    )
    low: str | None = option(
        "minimum size: one number for all devices, or one per device (default 0)", metavar="U,U,..."
    )
    high: str | None = option(
        "maximum size: one number for all devices, or one per device (default: the capacity)",
        metavar="U,U,...",
    )
    fixed_seconds: str | None = option(
        "seconds that an iteration costs a device in use at any size: one number for all devices, "
        "or one per device (default 0)",
        metavar="S,S,...",
    )
    shared_seconds: str | None = option(
        "seconds that each device in use costs all devices in an iteration; devices not worth this "
        "cost are left out (default 0)",
        metavar="S,S,...",
    )
    explain: bool = option(
        "add a column that says why a device gets nothing, or no more", default=False
    )
    epsilon: float = 0.03

    def terms(self, devices: CurvedDevices, n: int) -> Terms:
        """Return the options as numbers, one per device.

        If no fixed seconds are given, they come from the curves.
        """
        k, fixed = len(devices.models), devices.fixed
        if self.fixed_seconds is not None:
            fixed = _numbers(self.fixed_seconds, "--fixed-seconds", k, "seconds", 0.0)
        shared = _numbers(self.shared_seconds, "--shared-seconds", k, "seconds", 0.0)
        low, high = limit_of(self.low, "--low", k, 0), limit_of(self.high, "--high", k, n)
        return Terms(low, high, fixed, shared)


class Terms(NamedTuple):
    """Limits on sizes (k) [units], and the fixed and shared time that a device in use costs [s]."""

    low: list[int]
    high: list[int]
    fixed: list[float]
    shared: list[float]


def run_curves(
    machine: MachineOptions, load_options: LoadOptions, options: CurveOptions, out: Output
) -> int:
    """Print the sizes for devices of a speeds file, with or without a machine."""
    from evener.sizing.solving import explain_sizes, solve_sizes

    if machine.machine is None and load_options.says_bytes:
        raise UsageError(
            "--edges and bytes work only with a machine; a file of curves has capacities"
        )
    devices = curved_devices(machine, out)
    load = load_of(load_options, out)
    devices = devices.holding(load.bytes_per_unit)
    terms = options.terms(devices, load.n)
    models, fixed = devices.models, terms.fixed
    chosen = _subset(devices, load.n, terms)
    low, high = terms.low, terms.high
    if chosen is not None and any(terms.shared):
        high = [most if used else 0 for most, used in zip(high, chosen.used, strict=True)]
    found = solve_sizes(
        models, load.n, options.method, low, high, fixed_seconds=fixed, names=devices.names
    )
    reasons = []
    if options.explain:
        reasons = explain_sizes(models, found, low=low, high=high, fixed_seconds=fixed)
        reasons = _unused_said(reasons, chosen, terms.shared)
    found = replace(found, notes=(*found.notes, *_extrapolated(devices, found.sizes.tolist())))
    _show(devices, found, reasons, out)
    _show_subset(chosen, found.makespan, out)
    out.result(_result(devices, found, reasons, chosen))
    return 0


def _extrapolated(devices: CurvedDevices, sizes: list[int]) -> list[str]:
    """Return a note for each device whose size lies outside its samples."""
    from evener.sizing.curved import curve_notes

    return curve_notes(devices.curves, sizes)


def limit_of(text: str | None, option: str, k: int, default: int) -> list[int]:
    """Parse integer limits (k): one number for all devices, or one per device."""
    values = _numbers(text, option, k, "whole units", float(default))
    if any(value != int(value) for value in values):
        raise UsageError(f"{option} takes whole units, not {text!r}")
    return [int(value) for value in values]


def _numbers(text: str | None, option: str, k: int, unit: str, default: float) -> list[float]:
    """Parse numbers (k): one for all devices, or one per device; text None: the default."""
    if text is None:
        return [default] * k
    try:
        values = [float(word) for word in text.split(",")]
    except ValueError:
        values = [math.nan]
    if not all(0 <= value < 2.0**63 for value in values):
        raise UsageError(f"{option} takes {unit}, zero or above, such as 1 or 0,1,1, not {text!r}")
    if len(values) not in (1, k):
        raise UsageError(
            f"{option} takes one number, or {k} numbers, one per device; {len(values)} are given"
        )
    return values * k if len(values) == 1 else values


def _subset(devices: CurvedDevices, n: int, terms: Terms) -> Subset | None:
    """Return the devices worth using; None if using a device costs no time."""
    from evener.sizing.subsets import best_subset

    if not (any(terms.fixed) or any(terms.shared)):
        return None
    return best_subset(
        devices.models,
        n,
        fixed_seconds=terms.fixed,
        shared_seconds=terms.shared,
        low=terms.low,
        high=terms.high,
    )


def _unused_said(reasons: list[str], chosen: Subset | None, shared: list[float]) -> list[str]:
    """Return the reasons; devices left out for their shared cost get that cost as the reason."""
    if chosen is None or not any(shared):
        return reasons
    return [
        reason if used or not cost else f"not worth the {duration(cost)} that it costs all others"
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
    """Print a row for each device, or for each group of neighbours with equal numbers."""
    if out.is_silent:
        return
    names, models = devices.names, devices.models
    sizes, seconds = found.sizes.tolist(), found.seconds.tolist()
    speeds = [model.speed(float(size)) for model, size in zip(models, sizes, strict=True)]
    capacities = [float(model.capacity) for model in models]
    why = reasons or [""] * len(names)
    numbers = list(zip(sizes, speeds, capacities, seconds, why, strict=True))
    runs = equal_runs(numbers)
    rows = [[run_name(names[a:b]), *_cells(*numbers[a])] for a, b in runs]
    header = ["device", "size", "speed", "capacity", "time", "why"]
    width = 6 if reasons else 5
    out.table(header[:width], [row[:width] for row in rows], most=MAX_ROWS, what="groups")
    for note in found.notes:
        out.say(note)
    used = sum(size > 0 for size in sizes)
    unused = len(sizes) - used
    idle = f", {unused:,} get{'s' * (unused == 1)} nothing" if unused else ""
    out.say(
        f"{units(sum(sizes))} units on {plural(used, 'device')}{idle}: "
        f"all done after {duration(found.makespan)} (method {found.method})"
    )


def _show_subset(chosen: Subset | None, makespan: float, out: Output) -> None:
    """Print the gain from leaving devices out, and the time of an iteration with shared costs."""
    if chosen is None:
        return
    if chosen.used.all():
        if chosen.makespan > makespan:
            out.say(
                f"With the time that devices cost all others: {duration(chosen.makespan)} an "
                "iteration"
            )
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


class Place(NamedTuple):
    """A location in the machine's tree, "site/node", and the numbers of the devices in it."""

    name: str
    devices: list[int]


def run_by_level(
    machine: MachineOptions, load_options: LoadOptions, options: CurveOptions, out: Output
) -> int:
    """Compute sizes level by level down the machine's tree; print locations and devices."""
    from evener.sizing.layered import layered_sizes, model_times, tree_of
    from evener.sizing.solving import solve_sizes

    if options.shared_seconds or options.explain:
        raise UsageError("--shared-seconds and --explain do not work with --hierarchical")
    if options.epsilon == 0:
        raise UsageError("--hierarchical needs an --epsilon above zero: times must agree within it")
    devices = curved_devices(machine, out)
    platform = devices.platform
    places = [] if platform is None else _places(platform)
    if platform is None or not places:
        raise UsageError(
            "the method hierarchical needs the machine's tree, but no device has a place in it",
            hint="Give --machine FILE, whose devices have places: at = 'node0'.",
        )
    load = load_of(load_options, out)
    devices = devices.holding(load.bytes_per_unit)
    low, high, fixed, _ = options.terms(devices, load.n)
    method, models = options.method, devices.models
    at_once = solve_sizes(
        models, load.n, method, low, high, fixed_seconds=fixed, names=devices.names
    )
    most = [min(own, int(min(m.capacity, load.n))) for own, m in zip(high, models, strict=True)]
    found = layered_sizes(
        tree_of(platform), load.n, model_times(models, fixed),
        epsilon=options.epsilon, method=method, low=low, high=most,
    )  # fmt: skip
    _show_places(devices, found, places, out)
    for note in _extrapolated(devices, found.sizes.tolist()):
        out.say(note)
    done = f"balanced to {options.epsilon:g}" if found.converged else "the best found"
    out.say(
        f"{units(load.n)} units on {plural(len(models), 'device')}, level by level: all done after "
        f"{duration(found.makespan)}, {done} after {found.measurements:,} measurements of groups; "
        f"all devices at once: {duration(at_once.makespan)}"
    )
    out.result(_places_result(devices, found, places) | {"at_once_makespan": at_once.makespan})
    return 0


def _places(platform: Platform) -> list[Place]:
    """Return the locations with devices, parents first, in the order of the machine file."""
    found: dict[str, list[int]] = {}
    for i, device in enumerate(platform.devices):
        parts = [part for part in device.at.split("/") if part]
        for depth in range(1, len(parts) + 1):
            found.setdefault("/".join(parts[:depth]), []).append(i)
    return [Place(name, own) for name, own in found.items()]


def _show_places(
    devices: CurvedDevices, found: LayeredSizes, places: list[Place], out: Output
) -> None:
    """Print the locations with their sizes, then the devices."""
    if out.is_silent:
        return
    rows = []
    for place in places:
        size = int(found.sizes[place.devices].sum())
        last = float(found.seconds[place.devices].max())
        rows.append([place.name, len(place.devices), size, duration(last)])
    out.table(["place", "devices", "size", "time"], rows, most=MAX_ROWS, what="places")
    pairs = zip(devices.models, found.sizes.tolist(), strict=True)
    speeds = [float(model.speed(float(size))) for model, size in pairs]
    at = [device.at for device in devices.platform.devices] if devices.platform else []
    keys = list(zip(at, found.sizes.tolist(), speeds, found.seconds.tolist(), strict=True))
    runs = equal_runs(keys)
    cells = [
        [run_name(devices.names[a:b]), keys[a][0], units(keys[a][1]),
         f"{keys[a][2]:.6g}", duration(keys[a][3])]
        for a, b in runs
    ]  # fmt: skip
    out.table(["device", "at", "size", "speed", "time"], cells, most=MAX_ROWS, what="groups")


def _places_result(
    devices: CurvedDevices, found: LayeredSizes, places: list[Place]
) -> dict[str, object]:
    return {
        "devices": devices.names,
        "sizes": found.sizes,
        "seconds": found.seconds,
        "makespan": found.makespan,
        "converged": found.converged,
        "measurements": found.measurements,
        "places": [
            {
                "name": place.name,
                "devices": [devices.names[i] for i in place.devices],
                "size": int(found.sizes[place.devices].sum()),
                "seconds": float(found.seconds[place.devices].max()),
            }
            for place in places
        ],
    }


@dataclass(frozen=True)
class MatrixNode:
    """A node: the name of its location, and the numbers of its devices."""

    name: str
    devices: list[int]


def run_matrix(
    machine: MachineOptions, side: int, block: int, options: CurveOptions, out: Output
) -> int:
    """Divide a matrix of side x side entries over nodes, then over the devices of each node."""
    from evener.sizing.nested import nested_tiling, slice_times

    for given, name in ((options.low, "--low"), (options.high, "--high"),
                        (options.shared_seconds, "--shared-seconds"),
                        (options.explain, "--explain")):  # fmt: skip
        if given:
            raise UsageError(f"{name} does not work with --matrix")
    if options.epsilon == 0:
        raise UsageError("--matrix needs an --epsilon above zero: times must agree within it")
    devices = curved_devices(machine, out)
    nodes = _nodes(devices)
    fixed = options.terms(devices, 1).fixed
    found = nested_tiling(
        [node.devices for node in nodes], (side, side), block,
        slice_times(devices.models, block, fixed), epsilon=options.epsilon,
        method="gpa" if options.method == "auto" else options.method,
    )  # fmt: skip
    spans = found.spans((side, side)).tolist()
    _show_matrix(devices, nodes, found, spans, out)
    done = f"balanced to {options.epsilon:g}" if found.converged else "the best found"
    out.say(
        f"{side:,} x {side:,} entries in blocks of {block} on {plural(len(nodes), 'node')}: a step "
        f"takes {duration(found.makespan)}. Sizes: {done} after "
        f"{plural(len(found.rounds), 'round')} and {found.measurements:,} measurements of devices."
    )
    out.result(_matrix_result(devices, nodes, found, spans))
    return 0


def _nodes(devices: CurvedDevices) -> list[MatrixNode]:
    """Return devices grouped by the first part of `at`; a device without `at` is one node."""
    at = [device.at for device in devices.platform.devices] if devices.platform else []
    if not any(at):
        raise UsageError(
            "--matrix needs the machine's tree, but no device has a place in it",
            hint="Give --machine FILE, whose devices have places: at = 'node0'.",
        )
    found: dict[str, list[int]] = {}
    for i, (place, name) in enumerate(zip(at, devices.names, strict=True)):
        found.setdefault(place.split("/")[0] if place else name, []).append(i)
    return [MatrixNode(name, own) for name, own in found.items()]


def _show_matrix(
    devices: CurvedDevices,
    nodes: list[MatrixNode],
    found: NestedTiling,
    spans: list[list[int]],
    out: Output,
) -> None:
    """Print the rectangle of each node, then the slice of each device."""
    if out.is_silent:
        return
    tiling = found.nodes
    sides = zip(tiling.height.tolist(), tiling.width.tolist(), strict=True)
    rows = [
        [node.name, len(node.devices), f"{height} x {width}", duration(own.makespan)]
        for node, (height, width), own in zip(nodes, sides, found.slices, strict=True)
    ]
    out.table(["node", "devices", "blocks", "time"], rows, most=MAX_ROWS, what="nodes")
    seconds = [s for own in found.slices for s in own.seconds.tolist()]
    order = [(i, node.name) for node in nodes for i in node.devices]
    cells = [
        [devices.names[i], name, f"{end - top:,} x {right - left:,}", duration(time)]
        for (i, name), (top, end, left, right), time in zip(order, spans, seconds, strict=True)
    ]
    out.table(["device", "node", "entries", "time"], cells, most=MAX_ROWS, what="devices")


def _matrix_result(
    devices: CurvedDevices, nodes: list[MatrixNode], found: NestedTiling, spans: list[list[int]]
) -> dict[str, Any]:
    order = [i for node in nodes for i in node.devices]
    tiling = found.nodes
    return {
        "devices": [devices.names[i] for i in order],
        "spans": spans,
        "seconds": [s for own in found.slices for s in own.seconds.tolist()],
        "makespan": found.makespan,
        "converged": found.converged,
        "measurements": found.measurements,
        "rounds": [
            {"areas": one.nodes.areas, "seconds": one.seconds} for one in found.rounds
        ],
        "nodes": [
            {"name": node.name, "top": top, "left": left, "height": height, "width": width,
             "seconds": own.makespan}
            for node, top, left, height, width, own in zip(
                nodes, tiling.top.tolist(), tiling.left.tolist(), tiling.height.tolist(),
                tiling.width.tolist(), found.slices, strict=True,
            )
        ],
    }  # fmt: skip
