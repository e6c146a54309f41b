"""`evener measure`: speeds of this computer's devices at many loads, each with its certainty."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from evener.cli.commands.measure_options import SIDE, add_arguments, grid_of, settings_of
from evener.cli.commands.measured import show_links, show_records
from evener.cli.commands.tracing import from_traces
from evener.errors import UsageError

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.measuring.session import Settings
    from evener.running.comm import Comm

__all__ = ["add_arguments", "run"]


def run(args: argparse.Namespace, out: Output) -> int:
    """Measure, show, write."""
    from evener.cli.output import Output
    from evener.files.writing import is_stdout, refuse_unwritable
    from evener.measuring.ranks import n_ranks, one_rank, world

    refuse_unwritable(args.output)
    if is_stdout(args.output) and not args.trace and args.kernel != "link":
        raise UsageError(
            "a measurement keeps a journal beside its file: stdout has no place for one",
            hint="Name a file with -o.",
        )
    if (args.kernel is None) != bool(args.trace):
        raise UsageError("either a KERNEL is measured or a --trace FILE is read")
    if args.trace:
        return from_traces(args, out)
    comm = world() if n_ranks() > 1 else one_rank()
    if comm.rank > 0:
        out = Output(quiet=True)  # rank 0 speaks for all
    if args.kernel == "link":
        return _links(args, comm, out)
    return _speeds(args, comm, out)


def _speeds(args: argparse.Namespace, comm: Comm, out: Output) -> int:
    from evener.measuring.session import measure

    settings = settings_of(args, comm)
    if args.second is not None:
        return _surfaces(args, settings, comm, out)
    with out.progress(f"Measuring {args.kernel}") as progress:
        records = measure(settings, args.output, progress, comm)
    show_records(records, args.kernel, args.output, out)
    return 0


def _surfaces(args: argparse.Namespace, settings: Settings, comm: Comm, out: Output) -> int:
    from evener.cli.commands.measured_surfaces import show_surfaces
    from evener.measuring.loads import range_of
    from evener.measuring.rectangles import measure_surfaces

    widths = grid_of(args)(*range_of(args.second, "--second"), args.points or SIDE)
    with out.progress(f"Measuring {args.kernel}") as progress:
        found = measure_surfaces(settings, widths, args.output, progress, comm)
    show_surfaces(found, args.kernel, args.output, out)
    return 0


def _links(args: argparse.Namespace, comm: Comm, out: Output) -> int:
    from evener.io.machines.speeds import write_speeds
    from evener.measuring.devices import cores, devices_of
    from evener.measuring.linking import measure_links

    between = args.between or ("ranks" if comm.size > 1 else "cores")
    if args.device is None:
        ends = [core.cpu for core in cores()] if between == "cores" else [0]
    else:
        devices = devices_of(args.device)
        ends = [d.index if between == "gpu" else d.cpus[0] for d in devices]
    with out.progress("Measuring links") as progress:
        links = measure_links(between, ends, comm, progress=progress)
    if comm.rank == 0:
        write_speeds(args.output, [link.speeds for link in links])
        show_links(links, args.output, out)
    return 0
