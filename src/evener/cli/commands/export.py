"""`evener export`: write a plan's partition in a solver's format."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from evener.cli.edge_files import edge_file_options_from, export_edges
from evener.cli.graph_options import (
    add_rereading_options,
    is_its_input,
    read_again,
    read_options_from,
    recorded_reading,
)
from evener.cli.stream_files import export_filters, stream_file_options_from
from evener.cli.values import refuse_outputs

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.io import Reading


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("plan", metavar="PLAN", help="a plan file")
    parser.add_argument(
        "mesh",
        nargs="?",
        metavar="MESH",
        help="the file it was made from (vtu, openfoam and lists need it)",
    )
    parser.add_argument("--to", required=True, metavar="FORMAT", help=_formats())
    parser.add_argument("-o", "--output", required=True, metavar="FILE")
    add_rereading_options(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Write `part[v]`, the index of v's device in the machine's order, as asked."""
    from evener.io.plans.edge_exports import LISTS
    from evener.io.plans.partitions import write_part
    from evener.io.plans.plan import read_plan
    from evener.io.plans.promises import promise_of, promise_to_dict
    from evener.planning.evaluate import refuse_forged

    edges = edge_file_options_from(args, args.mesh)
    if args.to != LISTS:  # which is a folder
        refuse_outputs([args.output], [args.plan, args.mesh, args.coords])
    filters = stream_file_options_from(args, args.mesh)
    if filters is not None:
        return export_filters(filters, args.to, args.output, out)
    if edges is not None:
        return export_edges(edges, args.to, args.output, out)
    plan = read_plan(args.plan)
    reading = None
    if args.mesh is not None:
        reading = read_again(args.mesh, plan, read_options_from(args), out, args.plan)
    if reading is not None:
        plan.partition.checked_for(reading.graph.n)
        if is_its_input(plan, reading.inputs):
            refuse_forged(plan, reading.undirected, args.plan)
    write_part(
        args.output,
        plan.partition.part,
        args.to,
        mesh=None if reading is None else reading.mesh,
        graph=None if reading is None else reading.undirected,
        by=recorded_reading(plan).get("by", "cells"),
        devices=plan.platform.names,
        terms=promise_to_dict(promise_of(plan)),
    )
    if reading is not None and not is_its_input(plan, reading.inputs):
        out.note(f"note: not recounted: the plan was not made from {args.mesh}")
    out.say(f"Written: {args.output}")
    if args.to == "vtu" and reading is not None and _has_polyhedra(reading):
        out.note(
            f"note: {args.output} holds polyhedra: ParaView and VTK read them; meshio mixes up or "
            "refuses polyhedra of different shapes"
        )
    out.result({"written": args.output, "format": args.to, "vertices": plan.partition.n})
    return 0


def _has_polyhedra(reading: Reading) -> bool:
    from evener.graphs.polymesh import PolyMesh

    return isinstance(reading.mesh, PolyMesh)


def _formats() -> str:
    from evener.io.dataflow.placed import NUMBERS, PLACED
    from evener.io.plans.edge_exports import EDGE_EXPORTS, LISTS
    from evener.io.plans.partitions import EXPORTS

    edges, filters = ", ".join((*EDGE_EXPORTS, LISTS)), ", ".join((*PLACED, *NUMBERS))
    return f"{', '.join(EXPORTS)}; of an edge plan {edges}; of a stream plan {filters}"
