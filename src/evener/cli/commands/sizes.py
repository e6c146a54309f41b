"""`evener sizes`: how much each device gets, optimal under speed and memory.

With a file of speed curves the way is another, as it is level by level: see speed_sizes.py and
layered_sizes.py.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from evener.cli.graph_options import add_reading_options, bytes_per_unit, check_load, read_workload
from evener.cli.machines import (
    MAX_ROWS,
    SPEEDS_HELP,
    add_machine_options,
    equal_runs,
    is_speeds_file,
    machine_of,
    run_name,
)
from evener.cli.values import count, share_below_one
from evener.errors import UsageError
from evener.wording import duration, units

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.platforms.platform import Platform
    from evener.sizing import Sizes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the machine, and the load: a number of vertices, or a graph."""
    add_machine_options(parser, SPEEDS_HELP)
    load = parser.add_argument_group("load (--n or --graph)")
    load.add_argument("--n", type=count, metavar="N", help="vertices, each of weight 1")
    load.add_argument("--edges", type=count, default=0, metavar="M", help="their edges, for memory")
    load.add_argument("--graph", metavar="FILE", help="take vertices, edges and weights from it")
    parser.add_argument(
        "--epsilon",
        type=share_below_one,
        default=0.03,
        metavar="E",
        help="tolerance about each size, both ways (default 0.03)",
    )
    parser.add_argument(
        "--hierarchical",
        action="store_true",
        help="level by level of the machine's tree: nodes (INPA), then the devices of each (IDPA)",
    )
    add_reading_options(parser)
    curves = parser.add_argument_group("with --speeds FILE")
    curves.add_argument(
        "--method", metavar="NAME", help="how: constant, gpa, npa, exact or auto (default auto)"
    )
    curves.add_argument(
        "--low", metavar="U,U,...", help="least size, one for all or one each (default 0)"
    )
    curves.add_argument(
        "--high", metavar="U,U,...", help="largest size, the same; beside capacities"
    )
    curves.add_argument(
        "--fixed-seconds", metavar="S,S,...", help="what taking part costs a device, one or each"
    )
    curves.add_argument(
        "--shared-seconds", metavar="S,S,...", help="what a device taking part costs all of them"
    )
    curves.add_argument(
        "--explain", action="store_true", help="say why a device gets nothing, or no more"
    )


def run(args: argparse.Namespace, out: Output) -> int:
    """Compute and show the sizes."""
    if args.hierarchical:
        from evener.cli.commands.layered_sizes import run_layered

        return run_layered(args, out)
    if is_speeds_file(args.speeds):
        from evener.cli.commands.speed_sizes import run_curves

        return run_curves(args, out)
    for option in ("method", "low", "high", "fixed_seconds", "shared_seconds", "explain"):
        if getattr(args, option):
            name = option.replace("_", "-")
            raise UsageError(f"--{name} goes with --speeds FILE, a file of speed curves")
    check_load(args)
    platform = machine_of(args)
    sizes = _sizes_of_graph(args, platform, out) if args.graph else _sizes_of_count(args, platform)
    _show(platform, sizes, out)
    out.result(
        {
            "devices": platform.names,
            "sizes": sizes.sizes,
            "low": sizes.low,
            "high": sizes.high,
            "saturated": sizes.saturated,
            "seconds": sizes.seconds,
            "targets": sizes.targets,
            "makespan": sizes.makespan,
        }
    )
    return 0


def _sizes_of_count(args: argparse.Namespace, platform: Platform) -> Sizes:
    from evener.sizing import target_sizes

    per_unit = bytes_per_unit(args)
    return target_sizes(platform, args.n, epsilon=args.epsilon, bytes_per_unit=per_unit)


def _sizes_of_graph(args: argparse.Namespace, platform: Platform, out: Output) -> Sizes:
    from evener.sizing import contract_for

    graph = read_workload(args.graph, args, out).graph
    return contract_for(graph, platform, args.epsilon)[1]


def _show(platform: Platform, sizes: Sizes, out: Output) -> None:
    """Print a row per device, or per group of neighbours with the same numbers."""
    if out.is_json or out.is_quiet:
        return
    from evener.reporting.numbers import plural

    columns = (platform.speeds, sizes.low, sizes.sizes, sizes.targets, sizes.high, sizes.saturated,
               sizes.seconds)  # fmt: skip
    numbers = list(zip(*(column.tolist() for column in columns), strict=True))
    # Units left over by rounding make neighbours differ by one: only few rows can tell them apart.
    runs = equal_runs(numbers)
    if len(runs) > MAX_ROWS:
        runs = equal_runs([(speed, round(t, 6), full) for speed, _, _, t, _, full, _ in numbers])
    names = platform.names
    rows = [_row(run_name(names[a:b]), numbers[a:b]) for a, b in runs[:MAX_ROWS]]
    if len(runs) > MAX_ROWS:
        rows.append([f"... and {len(runs) - MAX_ROWS:,} more groups", *[""] * 7])
    header = ["device", "speed", "low", "size", "target", "high", "saturated", "time"]
    out.table(header, rows)
    total = sizes.sizes.sum().item()
    full = int(sizes.saturated.sum())
    filled = f", {full:,} filled to memory" if full else ""
    out.say(
        f"{units(total)} units on {plural(platform.k, 'device')}{filled}: "
        f"all done after {duration(sizes.makespan)}"
    )


def _row(name: str, rows: list[tuple[float, ...]]) -> list[str]:
    """One device, or several: their range where they differ."""
    speed, low, size, target, high, full, seconds = zip(*rows, strict=True)
    return [
        name,
        _range(speed),
        _range(low),
        _range(size),
        units(round(target[0], 2)),
        _range(high),
        "yes" if full[0] else "",
        duration(max(seconds)),
    ]


def _range(values: tuple[float, ...]) -> str:
    least, most = min(values), max(values)
    return units(least) if least == most else f"{units(least)}-{units(most)}"
