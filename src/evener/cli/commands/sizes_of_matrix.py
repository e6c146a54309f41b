"""`evener sizes --hierarchical --matrix N`: a matrix over nodes and their devices (INPA, IDPA)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evener.cli.commands.sizes_by_curves import CurveOptions
from evener.cli.machines import MAX_ROWS, CurvedDevices, MachineOptions, curved_devices, safe
from evener.errors import UsageError
from evener.wording import duration, plural

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.sizing.nested import NestedTiling


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
        raise UsageError("--matrix needs an --epsilon above zero, to which times must agree")
    devices = curved_devices(machine, out)
    nodes = _nodes(devices)
    fixed = options.terms(devices, 1).fixed
    found = nested_tiling(
        [node.devices for node in nodes], (side, side), block,
        slice_times(devices.models, block, fixed), epsilon=options.epsilon,
        method="gpa" if options.method == "auto" else options.method,
    )  # fmt: skip
    spans = found.spans((side, side)).tolist()
    _show(devices, nodes, found, spans, out)
    done = f"balanced to {options.epsilon:g}" if found.converged else "the best found"
    out.say(
        f"{side:,} x {side:,} entries in blocks of {block} on {plural(len(nodes), 'node')}: a step "
        f"takes {duration(found.makespan)}. Sizes: {done} after "
        f"{plural(len(found.rounds), 'round')} and {found.measurements:,} measurements of devices."
    )
    out.result(_result(devices, nodes, found, spans))
    return 0


def _nodes(devices: CurvedDevices) -> list[MatrixNode]:
    """Return devices by the first part of their locations; without a location, one is a node."""
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


def _show(
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
        [safe(node.name), len(node.devices), f"{height} x {width}", duration(own.makespan)]
        for node, (height, width), own in zip(nodes, sides, found.slices, strict=True)
    ]
    out.table(["node", "devices", "blocks", "time"], rows, most=MAX_ROWS, what="nodes")
    seconds = [s for own in found.slices for s in own.seconds.tolist()]
    order = [(i, node.name) for node in nodes for i in node.devices]
    cells = [
        [devices.names[i], safe(name), f"{end - top:,} x {right - left:,}", duration(time)]
        for (i, name), (top, end, left, right), time in zip(order, spans, seconds, strict=True)
    ]
    out.table(["device", "node", "entries", "time"], cells, most=MAX_ROWS, what="devices")


def _result(
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
