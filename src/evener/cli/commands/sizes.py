"""`evener sizes`: how much each device gets, optimal under speed and memory.

This file handles devices with one speed each. sizes_by_curves.py handles speed curves,
--hierarchical and matrices; sizes_by_measuring.py measures devices while it computes sizes.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from evener.cli.commands.sizes_by_curves import CurveOptions, run_by_level, run_curves
from evener.cli.commands.sizes_by_measuring import (
    add_measuring_options,
    matrix_block_from,
    measuring_options_from,
)
from evener.cli.graph_options import (
    LoadOptions,
    add_reading_options,
    graph_to_divide,
    read_workload,
)
from evener.cli.machines import (
    MAX_ROWS,
    MachineOptions,
    add_machine_options,
    equal_runs,
    is_speeds_file,
    machine_of,
    run_name,
)
from evener.cli.options import add_options, options_from
from evener.cli.values import count, share_below_one
from evener.errors import UsageError
from evener.wording import plural, time_of, units

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.platforms.platform import Platform
    from evener.sizing.memory_capped import Sizes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the machine, and the load: a number of vertices, or a graph."""
    add_machine_options(parser)
    add_options(parser.add_argument_group("load (--n or --graph)"), LoadOptions)
    parser.add_argument(
        "--epsilon",
        type=share_below_one,
        default=0.03,
        metavar="E",
        help="tolerance around each size; with --hierarchical, nodes are balanced if their times "
        "differ by at most this share, the devices of a node by at most half of it (default "
        "0.03)",
    )
    parser.add_argument(
        "--hierarchical",
        action="store_true",
        help="size the levels of the machine's tree in turn: nodes (INPA), then devices (IDPA)",
    )
    parser.add_argument(
        "--matrix",
        type=count,
        metavar="N",
        help="with --hierarchical, in place of --n: a matrix of N x N entries in blocks of --block",
    )
    add_reading_options(parser)
    add_options(parser.add_argument_group("with --speeds FILE"), CurveOptions)
    add_measuring_options(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Compute and show the sizes."""
    machine = options_from(args, MachineOptions)
    measuring = measuring_options_from(args)
    if measuring is not None:
        from evener.cli.commands.sizes_by_measuring import run_measuring

        return run_measuring(measuring, machine, options_from(args, LoadOptions), out)
    options = options_from(args, CurveOptions, method=args.method or "auto")
    if args.matrix is not None:
        from evener.cli.commands.sizes_by_curves import run_matrix

        return run_matrix(machine, args.matrix, matrix_block_from(args), options, out)
    load = options_from(args, LoadOptions)
    if args.hierarchical or is_speeds_file(args.speeds):
        run_sizes = run_by_level if args.hierarchical else run_curves
        return run_sizes(machine, load, options, out)
    for option in ("method", "low", "high", "fixed_seconds", "shared_seconds", "explain"):
        if getattr(args, option):
            name = option.replace("_", "-")
            raise UsageError(f"--{name} works only with --speeds FILE, a file of speed curves")
    platform = machine_of(machine)
    sizes = _sizes(load, platform, args.epsilon, out)
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


def _sizes(load: LoadOptions, platform: Platform, epsilon: float, out: Output) -> Sizes:
    """Return the sizes for a number of units, or for a graph."""
    from evener.sizing.contracts import contract_for
    from evener.sizing.memory_capped import target_sizes

    if load.graph is None:
        n, per_unit = load.of_units()
        return target_sizes(platform, n, epsilon=epsilon, bytes_per_unit=per_unit)
    graph = graph_to_divide(read_workload(load.graph, load.reading, out), out)
    return contract_for(graph, platform, epsilon)[1]


def _show(platform: Platform, sizes: Sizes, out: Output) -> None:
    """Print a row for each device, or for each group of neighbours with equal numbers."""
    if out.is_silent:
        return
    from evener.reporting.tables import RELATIVE_TIMES

    columns = (platform.speeds, sizes.low, sizes.sizes, sizes.targets, sizes.high, sizes.saturated,
               sizes.seconds)  # fmt: skip
    numbers = list(zip(*(column.tolist() for column in columns), strict=True))
    # Rounding makes equal devices differ by one unit: a long table ignores that.
    runs = equal_runs(numbers)
    if len(runs) > MAX_ROWS:
        runs = equal_runs([(speed, round(t, 6), full) for speed, _, _, t, _, full, _ in numbers])
    names, total = platform.names, sizes.sizes.sum().item()
    ideal = platform.relative_ideal(total)
    clock = partial(time_of, ideal=ideal)
    rows = [_row(run_name(names[a:b]), numbers[a:b], clock) for a, b in runs]
    header = ["device", "speed", "low", "size", "target", "high", "saturated", "time"]
    out.table(header, rows, most=MAX_ROWS, what="groups")
    full = int(sizes.saturated.sum())
    filled = f", {full:,} filled to memory" if full else ""
    out.say(
        f"{units(total)} units on {plural(platform.k, 'device')}{filled}: "
        f"all done after {clock(sizes.makespan)}"
    )
    if ideal is not None:
        out.say(RELATIVE_TIMES)


def _row(name: str, rows: list[tuple[float, ...]], clock: Callable[[float], str]) -> list[str]:
    """Return the row of one device, or of several devices, with ranges of their numbers."""
    speed, low, size, target, high, full, seconds = zip(*rows, strict=True)
    return [
        name,
        _range(speed),
        _range(low),
        _range(size),
        units(round(target[0], 2)),
        _range(high),
        "yes" if full[0] else "",
        clock(max(seconds)),
    ]


def _range(values: tuple[float, ...]) -> str:
    least, most = min(values), max(values)
    return units(least) if least == most else f"{units(least)}-{units(most)}"
