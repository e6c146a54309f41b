"""`evener sizes --hierarchical`: nodes first (INPA), then the devices of each (IDPA), any depth."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, NamedTuple

from evener.cli.commands.speed_sizes import asked_of, guessed
from evener.cli.graph_options import load_of
from evener.cli.machines import MAX_ROWS, CurvedDevices, curved_devices, equal_runs, run_name, safe
from evener.errors import UsageError
from evener.wording import duration, units

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.platforms.platform import Platform
    from evener.sizing import LayeredSizes


class Place(NamedTuple):
    """A place of the machine's tree, "site/node", and the numbers of the devices in it."""

    name: str
    devices: list[int]


def run_layered(args: argparse.Namespace, out: Output) -> int:
    """Size the places of the machine's tree level by level, and show them and their devices."""
    from evener.sizing import layered_sizes, model_times, solve_sizes, tree_of

    if args.shared_seconds or args.explain:
        raise UsageError("--shared-seconds and --explain go with sizes for all devices at once")
    if args.epsilon == 0:
        raise UsageError("--hierarchical needs an --epsilon above zero: times agree to that")
    devices = curved_devices(args, out)
    platform = devices.platform
    places = [] if platform is None else _places(platform)
    if platform is None or not places:
        raise UsageError(
            "hierarchical goes along the machine's tree, and no device says where it is",
            hint="Give --machine FILE, whose devices have places: at = 'node0'.",
        )
    load = load_of(args, out)
    devices = devices.holding(load.bytes_per_unit)
    low, high, fixed, _ = asked_of(args, devices, load.n)
    method, models = args.method or "auto", devices.models
    at_once = solve_sizes(
        models, load.n, method, low, high, fixed_seconds=fixed, names=devices.names
    )
    most = [min(own, int(min(m.capacity, load.n))) for own, m in zip(high, models, strict=True)]
    found = layered_sizes(
        tree_of(platform), load.n, model_times(models, fixed),
        epsilon=args.epsilon, method=method, low=low, high=most,
    )  # fmt: skip
    _show(devices, found, places, out)
    for note in guessed(devices, found.sizes.tolist()):
        out.say(note)
    done = f"balanced to {args.epsilon:g}" if found.converged else "no better known"
    out.say(
        f"{units(load.n)} units on {len(models):,} devices, level by level: all done after "
        f"{duration(found.makespan)}, {done} after {found.measurements:,} looks at groups; "
        f"all devices at once: {duration(at_once.makespan)}"
    )
    out.result(_result(devices, found, places) | {"at_once_makespan": at_once.makespan})
    return 0


def _places(platform: Platform) -> list[Place]:
    """Every place from the top of the tree down that holds devices, as they follow in the file."""
    found: dict[str, list[int]] = {}
    for i, device in enumerate(platform.devices):
        parts = [part for part in device.at.split("/") if part]
        for depth in range(1, len(parts) + 1):
            found.setdefault("/".join(parts[:depth]), []).append(i)
    return [Place(name, own) for name, own in found.items()]


def _show(devices: CurvedDevices, found: LayeredSizes, places: list[Place], out: Output) -> None:
    """Print the places with what they get, then the devices."""
    if out.is_json or out.is_quiet:
        return
    rows = []
    for place in places[:MAX_ROWS]:
        size = int(found.sizes[place.devices].sum())
        last = float(found.seconds[place.devices].max())
        rows.append([safe(place.name), len(place.devices), size, duration(last)])
    if len(places) > MAX_ROWS:
        rows.append([f"... and {len(places) - MAX_ROWS:,} more", "", "", ""])
    out.table(["place", "devices", "size", "time"], rows)
    pairs = zip(devices.models, found.sizes.tolist(), strict=True)
    speeds = [float(model.speed(float(size))) for model, size in pairs]
    at = [device.at for device in devices.platform.devices] if devices.platform else []
    keys = list(zip(at, found.sizes.tolist(), speeds, found.seconds.tolist(), strict=True))
    runs = equal_runs(keys)
    cells = [
        [run_name(devices.names[a:b]), safe(keys[a][0]), units(keys[a][1]),
         f"{keys[a][2]:.6g}", duration(keys[a][3])]
        for a, b in runs[:MAX_ROWS]
    ]  # fmt: skip
    if len(runs) > MAX_ROWS:
        cells.append([f"... and {len(runs) - MAX_ROWS:,} more groups", "", "", "", ""])
    out.table(["device", "at", "size", "speed", "time"], cells)


def _result(devices: CurvedDevices, found: LayeredSizes, places: list[Place]) -> dict[str, object]:
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
