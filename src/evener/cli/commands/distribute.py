"""`evener distribute`: write each device's part of a graph that a plan divides."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evener.cli.graph_options import (
    ReadOptions,
    add_rereading_options,
    read_again,
    read_options_of,
    refuse_other_input,
)
from evener.cli.options import add_options, option, options_from

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.plans.plan import Plan
    from evener.running.local_graphs import Want

SHOWN = 40  # devices in the table


@dataclass(frozen=True)
class DistributeOptions:
    """Options of `evener distribute`: inputs, output folder, which arcs to write, how to read."""

    plan: str = option("a plan file", "plan", metavar="PLAN")
    mesh: str = option("the file that the plan was made from", "mesh", metavar="GRAPH")
    output: str = option(
        "the folder to write, which must not exist", "-o", "--output", required=True, metavar="DIR"
    )
    want: Want = option(  # noqa: RUF009 - a field
        "arcs of a directed graph: those that leave a device's vertices (out), those "
        "that reach them (into), or both (default out)",
        choices=("out", "into", "both"),
        default="out",
    )
    force: bool = option(
        "replace a folder that `evener distribute` has written; others are never replaced",
        default=False,
    )
    out_of_core: bool = option(
        "read the graph in pieces and keep it in files: for graphs larger than the memory",
        default=False,
    )
    reading: ReadOptions = field(default_factory=ReadOptions)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_options(parser, DistributeOptions)
    add_options(parser, ReadOptions, ["directed"])
    add_rereading_options(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Divide the graph as in the plan, and write a file for each device."""
    from evener.io.plans.plan import read_plan
    from evener.running.distributed import refuse_folder

    options = options_from(args, DistributeOptions)
    refuse_folder(options.output, force=options.force)
    plan = read_plan(options.plan)
    write = _out_of_core if options.out_of_core else _in_memory
    _say(write(options, plan, out), options.output, out)
    return 0


def _in_memory(options: DistributeOptions, plan: Plan, out: Output) -> dict[str, Any]:
    """Write the parts of a graph that is read whole."""
    from evener.running.distributed import write_distributed
    from evener.running.distributing import distribute

    reading = read_again(options.mesh, plan, options.reading, out, options.plan)
    refuse_other_input(plan, reading.inputs, options.mesh)
    with out.progress(f"Distributing {options.mesh}") as progress:
        progress("parts", 0.0)
        parts = distribute(reading.graph, plan, want=options.want)
        progress("files", 0.3)
        return write_distributed(
            options.output,
            parts,
            names=plan.platform.names,
            inputs=reading.inputs,
            force=options.force,
        )


def _out_of_core(options: DistributeOptions, plan: Plan, out: Output) -> dict[str, Any]:
    """Write the parts without holding the graph in memory.

    Raises UsageError if a file of this format must be read whole.
    """
    from evener.errors import UsageError
    from evener.io.graphs.streams import WholeNeeded
    from evener.io.streaming import digest_of, open_stream
    from evener.running.out_of_core import distribute_file

    how_read = read_options_of(plan, options.reading, options.plan)
    try:
        stream = open_stream(options.mesh, plan.partition.n, how_read)
        inputs = {stream.source.name: digest_of(options.mesh)}
        refuse_other_input(plan, inputs, options.mesh)
        with out.progress(f"Distributing {options.mesh}") as progress:
            progress("pieces", 0.0)
            index = distribute_file(
                options.output,
                stream,
                plan.partition,
                want=options.want,
                names=plan.platform.names,
                inputs=inputs,
                force=options.force,
            )
    except WholeNeeded as reason:
        raise UsageError(
            f"{options.mesh} cannot be read in pieces: {reason}",
            hint="Leave out --out-of-core to read it whole, or convert it to .graph with `evener "
            "convert`.",
        ) from None
    for note in stream.notes:
        out.note(f"note: {note}")
    return index


def _say(index: dict[str, Any], folder: str, out: Output) -> None:
    """Print a row for each device, or the content of index.json as JSON."""
    from evener.wording import plural

    rows = [
        [
            device["name"],
            f"{device['owned']:,}",
            f"{device['interior']:,}",
            f"{device['ghosts']:,}",
            f"{device['arcs']:,}",
            f"{device['bytes'] / 1e6:,.1f} MB",
        ]
        for device in index["devices"]
    ]
    columns = ("device", "vertices", "interior", "ghosts", "arcs", "memory")
    out.table(columns, rows, most=SHOWN, what="devices")
    out.say(f"Written: {folder}: {plural(index['k'], 'device')}")
    names = {"n": "vertices", "arcs": "arcs", "directed": "directed", "devices": "devices"}
    out.result({"written": folder, **{names[key]: index[key] for key in names}})
