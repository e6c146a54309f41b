"""`evener advise`: which devices of a machine are worth using for a graph."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from evener.cli.graph_options import (
    ReadOptions,
    add_reading_options,
    graph_to_divide,
    read_workload,
)
from evener.cli.judged import WorkloadOptions, finite
from evener.cli.machines import MachineOptions, add_machine_options, machine_of
from evener.cli.options import add_options, options_from
from evener.cli.plan_options import add_effort_options
from evener.cli.values import refuse_picture

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.plans.advice import Advice, Choice

MAX_ROWS = 40
NAMED = 4  # ranges of device names in a cell


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("graph", metavar="GRAPH", help="a mesh, matrix or graph file")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="draw time over the number of devices, as .png or .svg",
    )
    add_machine_options(parser)
    add_effort_options(
        parser, "number of sets of devices for which a plan is made, and effort of each plan"
    )
    add_options(parser, WorkloadOptions)
    add_reading_options(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Print the best set of devices of each size, with predicted times; draw them if requested."""
    from evener.planning.advise.advise import advise
    from evener.planning.options import PlanOptions

    platform = machine_of(options_from(args, MachineOptions), out)
    if args.output:
        refuse_picture(args.output, [args.graph, args.machine])
    workload = options_from(args, WorkloadOptions).workload()
    options = options_from(args, PlanOptions, workload=workload)
    reading = read_workload(args.graph, options_from(args, ReadOptions), out)
    graph = graph_to_divide(reading, out)
    options = options.sending(reading.exchange)
    with out.progress("Advising") as progress:
        advice = advise(graph, platform, options, progress=progress)
    _print(advice, out)
    written = []
    if args.output:
        from evener.reporting.plots import save_figure
        from evener.reporting.scaling_plots import draw_scaling

        save_figure(args.output, draw_scaling(advice))
        written.append(args.output)
        out.say(f"Written: {args.output}")
    out.result(_to_dict(advice) | {"notes": list(reading.notes), "written": written})
    return 0


def _print(advice: Advice, out: Output) -> None:
    from evener.reporting.tables import RELATIVE_TIMES
    from evener.wording import percent

    shown = _thinned(advice.choices, advice)
    out.table(
        _columns("devices", shown),
        [[f"{c.devices.size:,}", *_cells(advice, c, shown)] for c in shown],
    )
    if advice.nodes:
        rows = _thinned(advice.nodes, advice)
        out.say("")
        out.table(
            _columns("nodes", rows), [[f"{c.nodes:,}", *_cells(advice, c, rows)] for c in rows]
        )
    if advice.ideal is not None:
        out.say(RELATIVE_TIMES)
    out.say(advice.verdict())
    knee, best = advice.knee, advice.best
    if knee.devices.size < best.devices.size:
        more = knee.seconds / best.seconds - 1
        out.say(
            f"{knee.devices.size:,} of them ({_names(advice, knee)}) take "
            f"{percent(more)} more time."
        )
    if not all(choice.planned for choice in shown):
        out.say(
            "~ marks times estimated without a partition; other times are predicted from a "
            "partition."
        )


def _thinned(choices: tuple[Choice, ...], advice: Advice) -> list[Choice]:
    """Return at most MAX_ROWS choices, including the knee and all that were planned."""
    if len(choices) <= MAX_ROWS:
        return list(choices)
    marked = [c for c in choices if c.planned or c is advice.knee]
    others = [c for c in choices if not (c.planned or c is advice.knee)]
    step = -(-len(others) // max(MAX_ROWS - len(marked), 1))
    return sorted([*marked, *others[::step]], key=lambda c: c.devices.size)


def _columns(first: str, rows: list[Choice]) -> list[str]:
    return [first, "which", "predicted", "speed-up", "efficiency", *_price_columns(rows), ""]


def _price_columns(rows: list[Choice]) -> list[str]:
    money = ["cost of 1,000"] if any(c.cost is not None for c in rows) else []
    return money + (["J of 1,000"] if any(c.energy is not None for c in rows) else [])


def _cells(advice: Advice, choice: Choice, rows: list[Choice]) -> list[str]:
    from evener.wording import NOTHING, count, percent, time_of

    cells = [
        _names(advice, choice),
        ("" if choice.planned else "~") + time_of(choice.seconds, advice.ideal),
        f"{choice.speed_up:.2f}" if finite(choice.speed_up) else NOTHING,  # no device holds all
        percent(choice.efficiency),
    ]
    for key in ("cost", "energy"):
        if any(getattr(c, key) is not None for c in rows):
            value = finite(getattr(choice, key))
            cells.append(NOTHING if value is None else count(value))
    return [*cells, ", ".join(_marks(advice, choice))]


def _marks(advice: Advice, choice: Choice) -> list[str]:
    same = [("best", advice.best), ("knee", advice.knee)]
    return [word for word, one in same if one.devices.tolist() == choice.devices.tolist()]


def _names(advice: Advice, choice: Choice) -> str:
    from evener.wording import ranges

    if choice.devices.size == advice.platform.k:
        return "all"
    names = advice.platform.names
    return ranges([names[i] for i in choice.devices.tolist()], NAMED)


def _to_dict(advice: Advice) -> dict[str, Any]:
    return {
        "verdict": advice.verdict(),
        "ideal_seconds": advice.ideal,
        "choices": [_choice(advice, one) for one in advice.choices],
        "nodes": [_choice(advice, one) for one in advice.nodes],
        "best": _choice(advice, advice.best),
        "knee": _choice(advice, advice.knee),
        "all": None if advice.everyone is None else _choice(advice, advice.everyone),
        "left_out": advice.left_out,
        "gain": finite(advice.gain),
        "complete": advice.complete,
    }


def _choice(advice: Advice, choice: Choice) -> dict[str, Any]:
    names = advice.platform.names
    return {
        "n_devices": int(choice.devices.size),
        "n_nodes": choice.nodes,
        "devices": [names[i] for i in choice.devices.tolist()],
        "seconds": choice.seconds,
        "planned": choice.planned,
        "speed_up": finite(choice.speed_up),
        "efficiency": finite(choice.efficiency),
        "cost_per_1000": finite(choice.cost),
        "joules_per_1000": finite(choice.energy),
    }
