"""What `evener measure` is asked for, from its options: loads, devices, memory, kernel."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evener.cli.commands.tracing import add_trace_options
from evener.cli.values import count, share
from evener.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from evener.graphs.graph import Graph
    from evener.measuring.devices import Measured
    from evener.measuring.outcomes import Precision
    from evener.measuring.session import Settings
    from evener.running.comm import Comm


# The options of `evener measure`: kernel, devices, loads, precision.


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the kernel, the devices, the loads, and the precision."""
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
        help="of link: what sends messages (default cores; ranks under mpiexec)",
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--together", action="store_true", help="devices of a computer at once (the default)"
    )
    how.add_argument("--alone", action="store_true", help="one device after the other")
    _add_loads(parser)
    _add_precision(parser)
    _add_kernel_options(parser)
    add_trace_options(parser)


def _add_loads(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("loads")
    group.add_argument(
        "--range", default="1e3:1e6", metavar="LOW:HIGH", help="in units (default 1e3:1e6)"
    )
    group.add_argument(
        "--second", metavar="LOW:HIGH",
        help="surfaces: --range are heights, these widths, as evener tile wants them",
    )  # fmt: skip
    group.add_argument(
        "--points",
        type=int,
        metavar="P",
        help=f"how many (default {POINTS}); with --adaptive at most (default {MOST}); with "
        f"--second, of heights and of widths each (default {SIDE})",
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
        "--tolerance", type=share, default=0.02, metavar="T",
        help="adaptive: ends when sizes change by less than this share (default 0.02)",
    )  # fmt: skip
    group.add_argument(
        "--even", action="store_true", help="evenly spaced (default: each by the same factor)"
    )


def _add_precision(parser: argparse.ArgumentParser) -> None:
    from evener.measuring.outcomes import Precision

    default = Precision()
    group = parser.add_argument_group("when a point is measured well enough")
    group.add_argument(
        "--precision", type=share, default=default.precision, metavar="P",
        help="half the confidence interval's width over the mean (default 0.025)",
    )  # fmt: skip
    group.add_argument(
        "--confidence",
        type=share,
        default=default.confidence,
        metavar="C",
        help="of that interval (default 0.95)",
    )
    group.add_argument(
        "--repetitions",
        type=int,
        default=default.repetitions,
        metavar="R",
        help="at most (default 100)",
    )
    group.add_argument(
        "--time-limit", type=float, default=default.seconds, metavar="S",
        help="for one point's repetitions (default 5); what takes longer once is stopped",
    )  # fmt: skip
    group.add_argument(
        "--slowest", type=float, default=default.slowest, metavar="SPEED",
        help="units/s below which a repetition is stopped (default none)",
    )  # fmt: skip


def _add_kernel_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("kernel")
    group.add_argument(
        "--graph", metavar="FILE", help="of spmv, jacobi, pagerank: the matrix (default: made)"
    )
    group.add_argument(
        "--block", type=int, default=64, metavar="B", help="of gemm: width (default 64)"
    )
    group.add_argument(
        "--no-transfers", action="store_true", help="a GPU's operands and results stay there"
    )
    group.add_argument(
        "--memory",
        type=float,
        metavar="GIB",
        help="a device may take (default: its share of what is free)",
    )


POINTS, MOST, SIDE = 13, 20, 6  # of a grid; adaptive; of heights and of widths


def settings_of(args: argparse.Namespace, comm: Comm) -> Settings:
    """Return what is to be measured on this rank."""
    from evener.measuring.session import Settings

    adaptive, loads = _loads(args)
    devices = _devices(args, comm)
    graph, source = _graph(args)
    return Settings(
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


def _loads(args: argparse.Namespace) -> tuple[int, list[int]]:
    """Return how many loads are chosen adaptively, 0 for none; and the loads of the grid."""
    from evener.measuring.loads import range_of

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
    return points if adaptive else 0, grid_of(args)(*range_of(args.range), points)


def grid_of(args: argparse.Namespace) -> Callable[[int, int, int], list[int]]:
    """Return what spaces loads: (low, high, how many) -> loads."""
    from evener.measuring.loads import fixed_grid, geometric_grid

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
    from evener.io import read
    from evener.measuring.kernels import KERNELS

    if "matrix" not in getattr(KERNELS.get(args.kernel), "takes", ()):
        raise UsageError(f"--graph: kernel {args.kernel} has no matrix")
    graph = read(args.graph).graph
    if graph.n == 0:
        raise UsageError(f"--graph: {args.graph} has no vertices")
    return graph, Path(args.graph).name
