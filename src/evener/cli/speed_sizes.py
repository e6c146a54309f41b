"""`evener sizes --speeds FILE`: how much each device gets by its speed curve."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from evener.cli.machines import equal_runs, run_name
from evener.cli.sizes import MAX_ROWS, shown_number
from evener.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evener.cli.output import Output
    from evener.models import SpeedModel
    from evener.sizing import SpeedSizes


def run_curves(args: argparse.Namespace, out: Output) -> int:
    """Compute and show the sizes for the devices of a file of speed curves."""
    from evener.filing.speeds import read_speeds
    from evener.models import fit_device
    from evener.sizing import solve_sizes

    _check(args)
    devices = read_speeds(args.speeds)
    models = [fit_device(device) for device in devices]
    names = [device.name for device in devices]
    found = solve_sizes(models, args.n, args.method or "auto", names=names)
    _show(names, models, found, out)
    out.result(
        {
            "devices": names,
            "sizes": found.sizes,
            "seconds": found.seconds,
            "makespan": found.makespan,
            "method": found.method,
            "converged": found.converged,
            "notes": list(found.notes),
            "bound": found.bound,
        }
    )
    return 0


def _check(args: argparse.Namespace) -> None:
    """Refuse what does not go with a file of curves."""
    if args.machine is not None or args.k is not None:
        raise UsageError(
            "--speeds FILE says what the devices are; --machine and --k do not go along"
        )
    if args.graph is not None or args.n is None:
        raise UsageError("with --speeds FILE the load is --n N")
    if args.n < 1:
        raise UsageError(f"--n must be above zero, not {args.n}")
    if args.edges or args.bytes_per_vertex is not None or args.bytes_per_edge is not None:
        raise UsageError("--edges and bytes go with a machine; a file of curves has capacities")


def _show(
    names: Sequence[str], models: Sequence[SpeedModel], found: SpeedSizes, out: Output
) -> None:
    """Print a row per device, or per group of neighbours with the same numbers."""
    if out.is_json or out.is_quiet:
        return
    sizes, seconds = found.sizes.tolist(), found.seconds.tolist()
    speeds = [model.speed(float(size)) for model, size in zip(models, sizes, strict=True)]
    capacities = [float(model.capacity) for model in models]
    numbers = list(zip(sizes, speeds, capacities, seconds, strict=True))
    runs = equal_runs(numbers)
    rows = [[run_name(names[a:b]), *_cells(*numbers[a])] for a, b in runs[:MAX_ROWS]]
    if len(runs) > MAX_ROWS:
        rows.append([f"... and {len(runs) - MAX_ROWS:,} more groups", *[""] * 4])
    out.table(["device", "size", "speed", "capacity", "seconds"], rows)
    for note in found.notes:
        out.say(note)
    used = sum(size > 0 for size in sizes)
    idle = f", {len(sizes) - used:,} get nothing" if used < len(sizes) else ""
    out.say(
        f"{shown_number(sum(sizes))} units on {used:,} devices{idle}: "
        f"all done after {found.makespan:.6g} s (method {found.method})"
    )


def _cells(size: int, speed: float, capacity: float, seconds: float) -> list[str]:
    most = "" if capacity == float("inf") else shown_number(capacity)
    return [shown_number(size), f"{speed:.6g}", most, f"{seconds:.6g}"]
