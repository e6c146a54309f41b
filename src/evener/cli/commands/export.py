"""`evener export`: write a plan's partition in a solver's format."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evener.cli.edges import edge_file_options_from, export_edges
from evener.cli.filters import export_filters, stream_file_options_from
from evener.cli.graph_options import (
    ReadOptions,
    add_rereading_options,
    is_its_input,
    read_again,
    recorded_reading,
)
from evener.cli.options import options_from
from evener.cli.values import refuse_outputs
from evener.errors import UsageError

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.io import Reading
    from evener.plans.plan import Plan


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("plan", metavar="PLAN", help="a plan file")
    parser.add_argument(
        "mesh",
        nargs="?",
        metavar="MESH",
        help="the file that the plan was made from, or OpenFOAM's case (some formats need it)",
    )
    parser.add_argument("--to", required=True, metavar="FORMAT", help=_formats())
    parser.add_argument(
        "-o",
        "--output",
        metavar="TARGET",
        help="file or folder (default for openfoam and pyfr: MESH)",
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="replace existing files",
    )
    add_rereading_options(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Write `part[v]`, the index of v's device in the machine's order, in the requested format."""
    from evener.integrations.exports import EXPORTERS
    from evener.io.plans.edge_exports import LISTS

    edges = edge_file_options_from(args, args.mesh)
    filters = stream_file_options_from(args, args.mesh)
    options = options_from(args, PartFileOptions)
    if edges is None and filters is None and args.to in EXPORTERS:
        return export_to_program(options, out)
    if args.output is None:
        raise UsageError("the following arguments are required: -o/--output")
    if args.to != LISTS:  # which is a folder
        refuse_outputs([args.output], [args.plan, args.mesh, args.coords])
    if filters is not None:
        return export_filters(filters, args.to, args.output, out)
    if edges is not None:
        return export_edges(edges, args.to, args.output, out)
    return export_part(options, args.output, out)


def _formats() -> str:
    from evener.integrations.exports import EXPORTERS
    from evener.io.dataflow.placed import NUMBERS, PLACED
    from evener.io.plans.edge_exports import EDGE_EXPORTS, LISTS
    from evener.io.plans.partitions import EXPORTS

    edges, filters = ", ".join((*EDGE_EXPORTS, LISTS)), ", ".join((*PLACED, *NUMBERS))
    vertices = ", ".join(dict.fromkeys((*EXPORTS, *EXPORTERS)))
    return f"{vertices}; of an edge plan {edges}; of a stream plan {filters}"


NAMED = 4  # files that are named one by one


@dataclass(frozen=True)
class PartFileOptions:
    """The file of a plan, the file that the plan was made from (or None), and the outputs."""

    plan: str
    mesh: str | None
    to: str
    output: str | None
    force: bool
    reading: ReadOptions = field(default_factory=ReadOptions)


def export_to_program(options: PartFileOptions, out: Output) -> int:
    """Write the input of another program: one file, several files, or files in its case folder."""
    from evener.integrations.exports import export
    from evener.integrations.requests import ExportRequest

    plan, reading = _read(options, out)
    source, target = (None if p is None else Path(p) for p in (options.mesh, options.output))
    if target is not None and not target.is_dir():
        refuse_outputs([target], [options.plan, options.mesh, options.reading.coords])
    written = export(ExportRequest(plan, reading, source, target), options.to, force=options.force)
    paths = written.paths if len(written.paths) <= NAMED else written.paths[-1:]
    for path in paths:
        out.say(f"Written: {path}")
    if len(paths) < len(written.paths):
        out.say(f"Written: {len(written.paths) - 1:,} more files in {written.folder}")
    for note in written.notes:
        out.note(f"note: {note}")
    result: dict[str, Any] = {"written": options.output or str(written.folder)}
    result |= {"files": [str(path) for path in written.paths], "format": options.to}
    out.result(result | {"vertices": plan.partition.n, "notes": list(written.notes)})
    return 0


def export_part(options: PartFileOptions, output: str, out: Output) -> int:
    """Write the block of each vertex to the file `output`."""
    from evener.io.plans.partitions import write_part
    from evener.io.plans.promises import promise_of, promise_to_dict
    from evener.planning.evaluate import refuse_forged

    plan, reading = _read(options, out)
    is_its = reading is not None and is_its_input(plan, reading.inputs)
    if reading is not None:
        plan.partition.checked_for(reading.graph.n)
        if is_its:
            refuse_forged(plan, reading.undirected, options.plan)
    write_part(
        output,
        plan.partition.part,
        options.to,
        mesh=None if reading is None else reading.mesh,
        graph=None if reading is None else reading.undirected,
        by=recorded_reading(plan).get("by", "cells"),
        devices=plan.platform.names,
        terms=promise_to_dict(promise_of(plan)),
        first=plan.graph.get("first_label", 0),
    )
    if reading is not None and not is_its:
        out.note(
            f"note: figures are not recounted, because the plan was not made from {options.mesh}"
        )
    out.say(f"Written: {output}")
    if options.to == "vtu" and reading is not None and _has_polyhedra(reading):
        out.note(
            f"note: {output} holds polyhedra: ParaView and VTK read them; meshio mixes up or "
            "refuses polyhedra of different shapes"
        )
    out.result({"written": output, "format": options.to, "vertices": plan.partition.n})
    return 0


def _read(options: PartFileOptions, out: Output) -> tuple[Plan, Reading | None]:
    from evener.io.plans.plan import read_plan

    plan = read_plan(options.plan)
    if (idle := idle_devices(plan)) is not None:
        out.note(idle)
    if options.mesh is None:
        return plan, None
    return plan, read_again(options.mesh, plan, options.reading, out, options.plan)


def idle_devices(plan: Plan) -> str | None:
    """Return a note on devices without a block; each of them would nevertheless have a rank."""
    from evener.wording import ranges

    unused = [plan.platform.names[b] for b in (plan.certificate.vertices == 0).nonzero()[0]]
    if not unused:
        return None
    whose = "its rank has" if len(unused) == 1 else "their ranks have"
    return (
        f"note: {ranges(unused)}: no block assigned, so {whose} nothing to do; `evener plan "
        "--only-used` leaves out such devices"
    )


def _has_polyhedra(reading: Reading) -> bool:
    from evener.graphs.polymesh import PolyMesh

    return isinstance(reading.mesh, PolyMesh)
