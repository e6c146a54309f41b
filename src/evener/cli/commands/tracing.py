"""`evener measure --trace`: samples from what a program's run took, in place of a kernel."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from evener.cli.commands.measured import show_records
from evener.cli.machines import speeds_of as numbers_of

if TYPE_CHECKING:
    from evener.cli.output import Output


def add_trace_options(parser: argparse.ArgumentParser) -> None:
    """Add --trace and what its files do not say."""
    group = parser.add_argument_group("from a run, in place of a kernel")
    group.add_argument(
        "--trace", action="append", default=[], metavar="FILE",
        help="times that a program took: CSV, JSON lines, Paraver's .prv; again for another file",
    )  # fmt: skip
    group.add_argument(
        "--loads", action="append", default=[], metavar="L,L,...", help="of a .prv's ranks"
    )
    group.add_argument("--iterations", type=int, metavar="I", help="that a .prv holds (default 1)")
    group.add_argument(
        "--event", type=int, metavar="TYPE", help="that begins an iteration in a .prv"
    )


def from_traces(args: argparse.Namespace, out: Output) -> int:
    """Read the trace files, write their devices' samples, show them."""
    from evener.io.machines.speeds import write_speeds
    from evener.measuring.campaign import Record
    from evener.measuring.outcomes import Point
    from evener.measuring.traces import read_traces

    loads = [numbers_of(text, "--loads") for text in args.loads]
    trace = read_traces(
        args.trace,
        loads,
        iterations=args.iterations,
        event=args.event,
        confidence=args.confidence,
    )
    for note in trace.notes:
        out.note(note)
    write_speeds(args.output, trace.devices)
    records = [Record(d.name, [Point(s) for s in d.samples]) for d in trace.devices]
    show_records(records, args.kernel, args.output, out)
    return 0
