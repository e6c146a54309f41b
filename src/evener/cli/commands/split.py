"""`evener split`: divide the edges of a graph, or the entries of a matrix, over devices."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from evener.cli.graph_options import add_reading_options, read_options_from, read_workload
from evener.cli.machines import add_machine_options, machine_of, machine_options_from
from evener.cli.values import positive_finite, refuse_outputs

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.plans.edge_plan import EdgePlan

SHOWN = 40  # devices in the table


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
        help="spac (default), spac-path, spac-ring, order, random, dbh, greedy, hdrf",
    )
    parser.add_argument("--preset", default="default", choices=("fast", "default", "strong"))
    parser.add_argument(
        "--epsilon", type=positive_finite, default=0.03, help="tolerance (default 0.03)"
    )
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument(
        "--as",
        dest="of",
        choices=("graph", "arcs"),
        default="graph",
        help="divide each edge once (graph, default), or each arc of a directed graph",
    )
    add_machine_options(parser)
    add_reading_options(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Read, divide the edges, write the plan; print a row for each device and the verdict."""
    from evener.files.writing import refuse_binary
    from evener.graphs.edge_list import EdgeList
    from evener.io.plans.edge_plan import write_edge_plan
    from evener.planning.split import SplitOptions, split

    platform = machine_of(machine_options_from(args), out)
    options = SplitOptions(args.method, args.preset, args.epsilon, args.seed)
    output = Path(args.output or f"{Path(args.graph).name.split('.')[0]}.plan")
    refuse_binary(output)
    refuse_outputs([output], [args.graph, args.machine, args.coords])
    reading = read_workload(args.graph, read_options_from(args), out)
    if args.of == "arcs":
        edges = EdgeList.of_arcs(reading.graph)
    else:
        edges = EdgeList.of_graph(reading.undirected)
    with out.progress("Splitting") as progress:
        progress(options.method, 0.1)
        made = split(
            edges, platform, options, of=args.of, inputs=reading.inputs, notes=reading.notes
        )
    write_edge_plan(output, made)
    _say(made, str(output), out)
    return 0


def _say(plan: EdgePlan, output: str, out: Output) -> None:
    from evener.wording import percent

    relative, metrics = plan.relative_loads, plan.metrics
    rows = [
        [name, f"{metrics.loads[b]:,.0f}", percent(relative[b] - 1), f"{metrics.vertices[b]:,}"]
        for b, name in enumerate(plan.platform.names)
    ]
    out.table(("device", "edges", "of target", "vertices"), rows, most=SHOWN, what="devices")
    for note in plan.notes:
        out.note(f"note: {note}")
    out.say(plan.verdict())
    out.say(f"Written: {output}")
    out.result({
        "copies": metrics.copies, "replication": metrics.replication,
        "smallest": float(relative.min()), "largest": float(relative.max()),
        "vertices": metrics.vertices.tolist(), "loads": metrics.loads.tolist(),
        "method": plan.options["method"], "cpu_seconds": plan.cpu_seconds,
        "verdict": plan.verdict(), "notes": list(plan.notes), "written": output,
    })  # fmt: skip
