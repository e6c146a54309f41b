"""What `evener measure` is asked for, from its options: loads, devices, memory, kernel."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evener.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from evener.graphs import Graph
    from evener.measuring.devices import Measured
    from evener.measuring.outcomes import Precision
    from evener.measuring.settings import Settings
    from evener.running.comm import Comm

POINTS, MOST, SIDE = 13, 20, 6  # of a grid; adaptive; of heights and of widths


def settings_of(args: argparse.Namespace, comm: Comm) -> Settings:
    """Return what is to be measured on this rank."""
    from evener.measuring.settings import Settings

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
    return points if adaptive else 0, grid_of(args)(*range_of(args.range), points)


def grid_of(args: argparse.Namespace) -> Callable[[int, int, int], list[int]]:
    """Return what spaces loads: (low, high, how many) -> loads."""
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
