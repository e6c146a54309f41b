"""Options on stream graphs that commands share; the figures of a stream plan."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from evener.cli.values import positive_finite

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.planning.stream_advice import StreamAdvice
    from evener.plans.stream_plan import StreamPlan

SHOWN = 40  # devices in a table


def add_stream_reading(parser: argparse._ActionsContainer) -> None:
    """Add --reading."""
    parser.add_argument(
        "--reading",
        default="",
        metavar="WORD,...",
        help="how the cost of stream graphs is read: ceil (default), literal or max1; both "
        "(default) or sender pays; sum (default), least or transit; overlap",
    )


def add_search_seconds(parser: argparse._ActionsContainer) -> None:
    """Add --seconds."""
    parser.add_argument(
        "--seconds",
        type=positive_finite,
        metavar="S",
        help="search for so long at most (default: to its end, for results that depend on the "
        "seed alone)",
    )


def print_loads(plan: StreamPlan, out: Output) -> None:
    """Print a row for each device, notes, and the verdict."""
    from evener.wording import duration, percent

    counts = [0] * plan.platform.k
    for device in plan.part.tolist():
        counts[device] += 1
    loads = plan.loads
    rows = [
        [
            name,
            f"{counts[p]:,}",
            duration(float(plan.computing[p])),
            duration(float(plan.communicating[p])),
            percent(loads[p] / plan.period if plan.period > 0 else 0.0),
        ]
        for p, name in enumerate(plan.platform.names)
    ]
    columns = ("device", "filters", "computing", "communicating", "of period")
    out.table(columns, rows, most=SHOWN, what="devices")
    for note in plan.notes:
        out.note(f"note: {note}")
    out.say(plan.verdict())


def print_advice(advice: StreamAdvice, plan: StreamPlan, out: Output) -> None:
    """Print what limits a plan, and what would make it faster."""
    from evener.reporting.stream_report import advice_table

    for one in advice.sentences:
        out.say(one)
    columns, rows = advice_table(advice, plan.period)
    if rows:
        out.table(list(columns), [list(row) for row in rows])


def advice_to_dict(advice: StreamAdvice) -> dict[str, Any]:
    """Return what limits a plan, and every change that helps, for --json."""
    changes = [
        {"change": one.text, "seconds": one.seconds, "moved": one.moved} for one in advice.changes
    ]
    return {"limits": list(advice.sentences), "changes": changes}


def stream_figures(plan: StreamPlan) -> dict[str, Any]:
    """Return the figures of a stream plan for --json; lists have an entry for each device.

    copies has one for each of the application's filters; None where none has more than one.
    """
    of = None if plan.copy_of is None else plan.copy_of.tolist()
    return {
        "period": plan.period,
        "bound": plan.bound,
        "bottleneck": plan.bottleneck,
        "method": plan.options["method"],
        "start": plan.options["start"],
        "used": plan.used,
        "copies": None if of is None else [of.count(i) for i in range(max(of) + 1)],
        "computing": plan.computing.tolist(),
        "communicating": plan.communicating.tolist(),
        "links": dict(plan.links),
        "cpu_seconds": plan.cpu_seconds,
        "notes": list(plan.notes),
        "verdict": plan.verdict(),
    }
