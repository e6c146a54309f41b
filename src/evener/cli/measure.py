"""`evener measure`: speeds of this computer's devices at many loads, each with its certainty."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evener.cli.counting import count
from evener.cli.measured import show_links, show_records
from evener.cli.tracing import add_trace_options, from_traces
from evener.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from evener.cli.output import Output
    from evener.graphs import Graph
    from evener.measuring.devices import Measured
    from evener.measuring.outcomes import Precision
    from evener.measuring.settings import Settings
    from evener.running.comm import Comm

POINTS, MOST, SIDE = 13, 20, 6  # of a grid; adaptive; of heights and of widths


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the kernel, the devices, the loads, and the precision."""
    from evener.measuring.outcomes import Precision

    parser.add_argument(
        "kernel",
        metavar="KERNEL",
        nargs="?",
        help="spmv, jacobi, pagerank, axpy, triad, gemm, or your own as module:name; or link",
    )
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="where to write")
    parser.add_argument(
        "--device", metavar="D,D,...", help="as cpu0,cpu1 or cpu0-3,cuda0 (default: each core)"
    )
    parser.add_argument(
        "--between",
        choices=("cores", "threads", "ranks", "gpu"),
        help="of link: what sends messages (cores; ranks under mpiexec)",
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--together", action="store_true", help="devices of a computer at once (the default)"
    )
    how.add_argument("--alone", action="store_true", help="one device after the other")
    _add_loads(parser)
    default = Precision()
    group = parser.add_argument_group("when a point is measured well enough")
    group.add_argument(
        "--precision", type=float, default=default.precision, metavar="P",
        help="half the confidence interval's width over the mean (0.025)",
    )  # fmt: skip
    group.add_argument(
        "--confidence", type=float, default=default.confidence, metavar="C", help="(0.95)"
    )
    group.add_argument(
        "--repetitions", type=int, default=default.repetitions, metavar="R", help="at most (100)"
    )
    group.add_argument(
        "--time-limit", type=float, default=default.seconds, metavar="S",
        help="for one point's repetitions (5); what takes longer once is stopped",
    )  # fmt: skip
    group.add_argument(
        "--slowest", type=float, default=default.slowest, metavar="SPEED",
        help="units/s below which a repetition is stopped (none)",
    )  # fmt: skip
    _add_kernel_options(parser)
    add_trace_options(parser)


def _add_loads(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("loads")
    group.add_argument("--range", default="1e3:1e6", metavar="LOW:HIGH", help="in units (1e3:1e6)")
    group.add_argument(
        "--second", metavar="LOW:HIGH",
        help="surfaces: --range are heights, these widths, as evener tile wants them",
    )  # fmt: skip
    group.add_argument(
        "--points",
        type=int,
        metavar="P",
        help=f"({POINTS}; with --adaptive at most: {MOST}; with --second, of each: {SIDE})",
    )
    group.add_argument(
        "--adaptive", action="store_true", help="each where the model is least certain"
    )
    group.add_argument(
        "--n",
        type=count,
        metavar="N",
        help="adaptive, about the sizes that N units are divided into",
    )
    group.add_argument(
        "--tolerance", type=float, default=0.02, metavar="T",
        help="adaptive: ends when sizes change by less than this share (0.02)",
    )  # fmt: skip
    group.add_argument(
        "--even", action="store_true", help="evenly spaced (default: each by the same factor)"
    )


def _add_kernel_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("kernel")
    group.add_argument(
        "--graph", metavar="FILE", help="of spmv, jacobi, pagerank: the matrix (default: made)"
    )
    group.add_argument("--block", type=int, default=64, metavar="B", help="of gemm: width (64)")
    group.add_argument(
        "--no-transfers", action="store_true", help="a GPU's operands and results stay there"
    )
    group.add_argument(
        "--memory", type=float, metavar="GIB", help="a device may take (its share of what is free)"
    )


def run(args: argparse.Namespace, out: Output) -> int:
    """Measure, show, write."""
    from evener.cli.output import Output
    from evener.measuring.ranks import n_ranks, one_rank, world
    from evener.writing import refuse_unwritable

    refuse_unwritable(args.output)
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
    from evener.measuring.settings import Settings

    adaptive, loads = _loads(args)
    devices = _devices(args, comm)
    graph, source = _graph(args)
    settings = Settings(
        args.kernel,
        tuple(devices),
        tuple(loads),
        _precision(args),
        _memory(args, comm, len(devices)),
        _options(args),
        together=not args.alone,
        graph=graph,
        source=source,
        adaptive=adaptive,
        total=args.n,
        tolerance=args.tolerance,
    )
    if args.second is not None:
        return _surfaces(args, settings, comm, out)
    with out.progress(f"Measuring {args.kernel}") as progress:
        records = measure(settings, args.output, progress, comm)
    show_records(records, args.kernel, args.output, out)
    return 0


def _surfaces(args: argparse.Namespace, settings: Settings, comm: Comm, out: Output) -> int:
    from evener.cli.measured_surfaces import show_surfaces
    from evener.measuring.grids import range_of
    from evener.measuring.rectangles import measure_surfaces

    widths = _grid(args)(*range_of(args.second, "--second"), args.points or SIDE)
    with out.progress(f"Measuring {args.kernel}") as progress:
        found = measure_surfaces(settings, widths, args.output, progress, comm)
    show_surfaces(found, args.kernel, args.output, out)
    return 0


def _links(args: argparse.Namespace, comm: Comm, out: Output) -> int:
    from evener.filing.speeds import write_speeds
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


def _loads(args: argparse.Namespace) -> tuple[int, list[int]]:
    """Return how many loads are chosen adaptively, 0 for none; and the loads of the grid."""
    from evener.measuring.grids import range_of

    adaptive = args.adaptive or args.n is not None
    if adaptive and args.second is not None:
        raise UsageError("--second measures a grid: neither --adaptive nor --n goes with it")
    usual = MOST if adaptive else POINTS if args.second is None else SIDE
    points = args.points if args.points is not None else usual
    if not 1 <= points <= 10_000:
        raise UsageError(f"--points must lie between 1 and 10,000, not {args.points}")
    if args.n is not None and args.n < 1:
        raise UsageError(f"--n must be one or more, not {args.n}")
    if not 0 < args.tolerance < 1:
        raise UsageError(f"--tolerance must lie in (0, 1), not {args.tolerance}")
    return points if adaptive else 0, _grid(args)(*range_of(args.range), points)


def _grid(args: argparse.Namespace) -> Callable[[int, int, int], list[int]]:
    from evener.measuring.grids import fixed_grid, geometric_grid

    return fixed_grid if args.even else geometric_grid


def _devices(args: argparse.Namespace, comm: Comm) -> list[Measured]:
    from evener.measuring.devices import cores, devices_of
    from evener.measuring.ranks import devices_of_rank

    if comm.size == 1:
        return devices_of(args.device)
    return devices_of_rank(args.device, comm, [core.cpu for core in cores()])


def _memory(args: argparse.Namespace, comm: Comm, n_devices: int) -> float:
    """Return what each device of this rank may take [B]."""
    import socket

    from evener.measuring.devices import memory_share

    if args.memory is not None:
        if not 0 < args.memory < math.inf:
            raise UsageError(f"--memory must be above zero, not {args.memory}")
        return float(args.memory) * 2.0**30
    hosts = comm.allgather([socket.gethostname()] * n_devices)
    return memory_share(sum(own.count(socket.gethostname()) for own in hosts))


def _options(args: argparse.Namespace) -> dict[str, Any]:
    options: dict[str, Any] = {"block": args.block} if args.kernel == "gemm" else {}
    return options | ({"transfers": False} if args.no_transfers else {})


def _precision(args: argparse.Namespace) -> Precision:
    from evener.measuring.outcomes import Precision

    return Precision(
        args.precision,
        args.confidence,
        args.repetitions,
        args.time_limit,
        slowest=args.slowest,
    )


def _graph(args: argparse.Namespace) -> tuple[Graph | None, str]:
    if args.graph is None:
        return None, ""
    from evener.filing import read
    from evener.measuring.kernels import KERNELS

    if "matrix" not in getattr(KERNELS.get(args.kernel), "takes", ()):
        raise UsageError(f"--graph: kernel {args.kernel} has no matrix")
    graph = read(args.graph).graph
    if graph.n == 0:
        raise UsageError(f"--graph: {args.graph} has no vertices")
    return graph, Path(args.graph).name
