"""`evener split`: divide the edges of a graph, or the entries of a matrix, over devices."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from evener.cli.edge_options import (
    add_edge_options,
    edge_figures,
    edge_options_from,
    print_blocks,
    read_edges_as,
)
from evener.cli.machines import add_machine_options, machine_of, machine_options_from
from evener.cli.values import positive_finite, refuse_outputs

if TYPE_CHECKING:
    from evener.cli.output import Output


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("graph", metavar="GRAPH", help="a mesh, matrix or graph file")
    parser.add_argument(
        "-o", "--output", metavar="X.plan", help="the plan file (default: the graph's name.plan)"
    )
    parser.add_argument(
        "--method",
        default="spac",
        metavar="NAME",
        help="spac (default), spac-path, spac-ring, ne, hep, stream, 2ps, hdrf, greedy, "
        "greedy-uncapped, dbh, random, order, wvp-greedy, wvp-random, bourse, mtkahypar",
    )
    parser.add_argument("--preset", default="default", choices=("fast", "default", "strong"))
    parser.add_argument(
        "--epsilon", type=positive_finite, default=0.03, help="tolerance (default 0.03)"
    )
    parser.add_argument("--seed", type=int, default=7)
    add_machine_options(parser)
    add_edge_options(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Read, divide the edges, write the plan; print a row for each device and the verdict."""
    from evener.files.writing import refuse_binary
    from evener.io.plans.edge_plan import write_edge_plan
    from evener.planning.split import SplitOptions, split

    platform = machine_of(machine_options_from(args), out)
    options = SplitOptions(args.method, args.preset, args.epsilon, args.seed)
    output = Path(args.output or f"{Path(args.graph).name.split('.')[0]}.plan")
    refuse_binary(output)
    refuse_outputs([output], [args.graph, args.machine, args.coords])
    reading = read_edges_as(args.graph, edge_options_from(args), out)
    with out.progress("Splitting") as progress:
        progress(options.method, 0.1)
        made = split(reading, platform, options)
    write_edge_plan(output, made)
    print_blocks(made, out)
    for note in made.notes[len(reading.notes) :]:
        out.note(f"note: {note}")
    out.say(made.verdict())
    out.say(f"Written: {output}")
    out.result({
        **edge_figures(made), "method": options.method, "cpu_seconds": made.cpu_seconds,
        "notes": list(made.notes), "written": str(output),
    })  # fmt: skip
    return 0
