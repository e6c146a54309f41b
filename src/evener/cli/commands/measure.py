"""`evener measure`: measure the speeds of this computer's devices at many loads."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from evener.cli.commands.measure_options import (
    MeasureOptions,
    RatioOptions,
    TraceOptions,
    add_arguments,
    measure_options_from,
)
from evener.cli.commands.measured import show_links, show_records, show_surfaces
from evener.cli.machines import speeds_of
from evener.cli.options import options_from
from evener.errors import UsageError

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.graphs.graph import Graph
    from evener.measuring.ratio import Timed
    from evener.measuring.session import Settings
    from evener.running.comm import Comm

__all__ = ["add_arguments", "run"]


def run(args: argparse.Namespace, out: Output) -> int:
    """Measure a kernel or links, or read trace files; write the samples and print them."""
    from evener.cli.output import Output
    from evener.files.writing import is_stdout, refuse_unwritable
    from evener.measuring.together import one_rank
    from evener.running.launching import n_ranks, world

    refuse_unwritable(args.output)
    if is_stdout(args.output) and not args.trace and args.kernel != "link":
        raise UsageError(
            "a measurement writes a journal next to its file, so the file cannot be stdout",
            hint="Name a file with -o.",
        )
    if (args.kernel is None) != bool(args.trace):
        raise UsageError("give either a KERNEL or --trace FILE")
    if args.trace:
        return _read_traces(options_from(args, TraceOptions), args.output, out)
    if args.ratio:
        return _measure_ratio(options_from(args, RatioOptions), out)
    if args.machine is not None or args.fast:
        raise UsageError("--machine and --fast work with --ratio only")
    options = measure_options_from(args)
    comm: Comm = world() if n_ranks() > 1 else one_rank()
    if comm.rank > 0:
        out = Output(quiet=True)  # rank 0 prints for all ranks
    if options.kernel == "link":
        return _measure_links(options, comm, out)
    return _measure_speeds(options, comm, out)


def _read_traces(options: TraceOptions, output: str, out: Output) -> int:
    """Write the samples in trace files, and print them."""
    from evener.io.machines.speeds import write_speeds
    from evener.measuring.campaign import DeviceRecord
    from evener.measuring.outcomes import Point
    from evener.measuring.traces import read_traces

    trace = read_traces(
        options.trace,
        [speeds_of(text, "--loads") for text in options.loads or ()],
        iterations=options.iterations,
        event=options.event,
        confidence=options.confidence,
    )
    for note in trace.notes:
        out.note(note)
    write_speeds(output, trace.devices)
    records = [DeviceRecord(d.name, [Point(s) for s in d.samples]) for d in trace.devices]
    show_records(records, None, output, out)
    return 0


def _measure_speeds(options: MeasureOptions, comm: Comm, out: Output) -> int:
    """Measure speed curves, or with --second speed surfaces."""
    from evener.measuring.rectangles import measure_surfaces
    from evener.measuring.session import measure

    settings = _settings(options, comm)
    if options.second is not None:
        widths = options.widths()
        with out.progress(f"Measuring {options.kernel}") as progress:
            found = measure_surfaces(settings, widths, options.output, progress, comm)
        show_surfaces(found, options.kernel, options.output, out)
        return 0
    with out.progress(f"Measuring {options.kernel}") as progress:
        records = measure(settings, options.output, progress, comm)
    show_records(records, options.kernel, options.output, out)
    return 0


def _measure_ratio(options: RatioOptions, out: Output) -> int:
    """Fit r, as a function of arcs, to PageRank times, here or emulated; print and write it."""
    from evener.measuring.ratio import FEW_SCALES, SCALES, fit_ratio, ratio_points, write_ratio

    if options.kernel != "pagerank":
        raise UsageError(f"--ratio works with pagerank only, not with {options.kernel}")
    timed, names, how = _two_devices(options)
    with out.progress("Measuring r") as progress:
        points = ratio_points(timed, FEW_SCALES if options.fast else SCALES, tell=progress)
    fit = fit_ratio(points)
    write_ratio(options.output, fit, points, names, how)
    rows = [(p.scale, f"{p.arcs:,.0f}", f"{p.r:.2f}", f"{p.deviation:.2f}") for p in points]
    out.table(("scale", "arcs", "r", "deviation"), rows)
    a, b = fit.ends
    out.say(f"r, the speed of {names[1]} over that of {names[0]}, {how}: up to {a:,.0f} arcs "
            f"{fit.offset:.3g} + {1e6 * fit.slope:.3g} per million arcs; up to {b:,.0f} arcs "
            f"{fit.middle:.3g}; above, {fit.large:.3g}.")  # fmt: skip
    out.say(f"Written: {options.output}")
    out.result({"written": options.output, "kernel": "pagerank", "devices": names, "how": how,
                "fit": asdict(fit), "points": [asdict(point) for point in points]})  # fmt: skip
    return 0


def _two_devices(options: RatioOptions) -> tuple[Timed, list[str], str]:
    """Return the timer of the CPU and the GPU, their names, and whether they are emulated."""
    from evener.measuring.devices import devices_of
    from evener.measuring.ratio import emulated_timer, timer_here
    from evener.running.devices import Cuda

    if options.machine is not None:
        from evener.io.machines.platforms import read_platform

        if options.device is not None:
            raise UsageError("--device does not work with --machine, which is emulated")
        platform = read_platform(options.machine)
        return emulated_timer(platform), list(platform.names), "emulated"
    devices = devices_of(options.device)
    if len(devices) != 2:
        raise UsageError(
            "--ratio without --machine needs two devices, such as --device cpu0,cuda0",
            hint="Or emulate a CPU and a GPU by --machine FILE.",
        )
    ends = [Cuda(d.index) if d.kind == "cuda" else d.cpus for d in devices]
    return timer_here(ends), [d.name for d in devices], "here"


def _measure_links(options: MeasureOptions, comm: Comm, out: Output) -> int:
    """Measure latency and bandwidth between cores, threads, ranks, or host and GPU."""
    from evener.io.machines.speeds import write_speeds
    from evener.measuring.devices import devices_of
    from evener.measuring.links import measure_links
    from evener.measuring.this_computer import cores

    between = options.between or ("ranks" if comm.size > 1 else "cores")
    if options.device is None:
        ends = [core.cpu for core in cores()] if between == "cores" else [0]
    else:
        devices = devices_of(options.device)
        ends = [d.index if between == "gpu" else d.cpus[0] for d in devices]
    with out.progress("Measuring links") as progress:
        links = measure_links(between, ends, comm, progress=progress)
    if comm.rank == 0:
        write_speeds(options.output, [link.speeds for link in links])
        show_links(links, options.output, out)
    return 0


def _settings(options: MeasureOptions, comm: Comm) -> Settings:
    """Return what this rank measures."""
    from evener.measuring.devices import devices_here, memory_here
    from evener.measuring.kernels import blas_of
    from evener.measuring.session import Settings

    adaptive, loads = options.loads()
    devices = devices_here(options.device, comm, options.processes_for(options.kernel))
    graph, source = _graph(options)
    memory = options.own.memory
    return Settings(
        options.kernel,
        tuple(devices),
        tuple(loads),
        options.precision,
        memory_here(comm, len(devices)) if memory is None else float(memory),
        options.own.given_to(options.kernel)
        | blas_of(options.kernel, [device.kind for device in devices]),
        together=options.together,
        graph=graph,
        source=source,
        adaptive=adaptive,
        total=options.n,
        tolerance=options.tolerance,
    )


def _graph(options: MeasureOptions) -> tuple[Graph | None, str]:
    """Return the matrix of --graph, and the name of its file."""
    if options.graph is None:
        return None, ""
    from evener.io import read_graph
    from evener.measuring.kernels import KERNELS

    if "matrix" not in getattr(KERNELS.get(options.kernel), "takes", ()):
        raise UsageError(f"--graph: kernel {options.kernel} has no matrix")
    graph = read_graph(options.graph)
    if graph.n == 0:
        raise UsageError(f"--graph: {options.graph} has no vertices")
    return graph, Path(options.graph).name
